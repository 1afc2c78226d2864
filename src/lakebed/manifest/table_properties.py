"""The properties of a table beside its schema: keys and options, wherever an envelope puts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.diagnostics import Position, near_names
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode, clipped, is_empty, is_null
from lakebed.manifest.problems import FieldPath, Problems
from lakebed.manifest.properties import wrong_shape
from lakebed.model import LogicalType, Option

#: Options that Lakebed or the table format keeps for what a manifest says elsewhere.
_SAID_ELSEWHERE = {
    "lakebed.schema": "Leave it out: it holds the annotations, which are written from the schema.",
    "primary-key": "Write `primaryKeys`.",
    "partition": "Write `partitionKeys`.",
}
_NULLABLE_KEYS = "primary-key.nullable"


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column that is named as part of a key, and where."""

    name: str
    at: ScalarNode


def decode_keys(node: Node | None, what: str, problems: Problems) -> tuple[KeyColumn, ...]:
    """The names in a list of key columns; what is no name, or there twice, is noted and left out."""
    if node is None or is_null(node):
        return ()
    if not isinstance(node, SequenceNode):
        wrong_shape(problems, node, f"`{what}`", "a list of column names", remedy=f"Write for example `{what}: [id]`.")
        return ()
    keys: dict[str, KeyColumn] = {}
    for item in node.items:
        if not isinstance(item, ScalarNode) or is_empty(item):
            wrong_shape(problems, item, f"an entry of `{what}`", "a column name")
        elif item.text in keys:
            message = f"`{what}` names the column {clipped(item.text)} twice"
            problems.error("LB1081", message, item, path=item.text)
        else:
            keys[item.text] = KeyColumn(item.text, item)
    return tuple(keys.values())


def check_keys(
    primary: tuple[KeyColumn, ...],
    partition: tuple[KeyColumn, ...],
    columns: Mapping[str, LogicalType | None],
    options: Mapping[str, str],
    problems: Problems,
) -> None:
    """Note key columns that are not declared, and primary key columns that may be null."""
    for what, keys in (("primaryKeys", primary), ("partitionKeys", partition)):
        for key in keys:
            if key.name not in columns:
                problems.error(
                    "LB1080",
                    f"`{what}` names the column {clipped(key.name)}, which is not declared",
                    key.at,
                    path=key.name,
                    expected="one of " + ", ".join(columns) if columns else None,
                    found=key.name,
                    suggestions=near_names(key.name, columns),
                )
    if options.get(_NULLABLE_KEYS) == "true":
        return
    for key in primary:
        if isinstance(columns.get(key.name), Option):
            message = f"the primary key column {clipped(key.name)} is an Option; a key is never null"
            problems.error("LB1082", message, key.at, path=key.name, remedy="Take the Option off its type.")


def decode_text_map(node: Node | None, what: str, problems: Problems) -> dict[str, str]:
    """A mapping of text to text; numbers and truth values are taken as they are written."""
    if node is None or is_null(node):
        return {}
    if not isinstance(node, MappingNode):
        wrong_shape(problems, node, f"`{what}`", "a mapping of names to text")
        return {}
    options: dict[str, str] = {}
    for key, value in node.entries:
        if not isinstance(value, ScalarNode) or is_empty(value):
            remedy = 'Write "" for an empty text.' if is_null(value) else None
            wrong_shape(problems, value, f"`{what}.{key.text}`", "text", remedy=remedy)
        elif not key.text.strip():
            wrong_shape(problems, key, f"a name in `{what}`", "a name that is not blank")
        else:
            options[key.text] = value.text
    return options


def decode_options(node: Node | None, what: str, problems: Problems) -> dict[str, str]:
    """Table options; those that are said elsewhere in a manifest are refused."""
    options = decode_text_map(node, what, problems)
    if isinstance(node, MappingNode):
        for key, _ in node.entries:
            if key.text in _SAID_ELSEWHERE:
                message = f"the option {key.text} cannot be set in a manifest"
                problems.error("LB1084", message, key, remedy=_SAID_ELSEWHERE[key.text])
    return options


def option_positions(node: Node | None) -> dict[FieldPath, Position]:
    """Where each option stands, by `("options", key)`."""
    if not isinstance(node, MappingNode):
        return {}
    return {("options", key.text): key.position for key, _ in node.entries}
