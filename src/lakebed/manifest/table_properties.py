"""Decode the properties of a table beside its schema: keys, options, system columns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from lakebed.diagnostics import Position, near_names, path_text
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode, clipped, is_empty, is_null
from lakebed.manifest.problems import FieldPath, Problems
from lakebed.manifest.properties import Properties, wrong_shape
from lakebed.manifest.table_manifest import OdfDocument, SystemColumns, Vocabulary
from lakebed.model import Date, Field, Int32, Int64, LogicalType, Schema, Timestamp, UInt8, UInt64, required


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
            problems.error("LB1081", message, item, path=path_text((item.text,)) or None)
        else:
            keys[item.text] = KeyColumn(item.text, item)
    return tuple(keys.values())


def check_keys(what: str, keys: tuple[KeyColumn, ...], columns: Collection[str], problems: Problems) -> None:
    """Note key columns that are not among the declared columns."""
    for key in keys:
        if key.name not in columns:
            problems.error(
                "LB1080",
                f"`{what}` names the column {clipped(key.name)}, which is not declared",
                key.at,
                path=path_text((key.name,)) or None,
                expected="one of " + ", ".join(columns) if columns else None,
                found=key.name,
                suggestions=near_names(key.name, columns),
                remedy=f"Name one of {', '.join(columns)}, or declare it." if columns else "Declare the column.",
            )


def decode_text_map(node: Node | None, what: str, problems: Problems, lists: Collection[str] = ()) -> dict[str, str]:
    """A mapping of text to text; numbers and truth values are taken as they are written. Of the names in `lists`, in
    any case, a list of texts becomes one text, an item a line.
    """
    if node is None or is_null(node):
        return {}
    if not isinstance(node, MappingNode):
        wrong_shape(problems, node, f"`{what}`", "a mapping of names to text")
        return {}
    options: dict[str, str] = {}
    several = {name.lower() for name in lists}
    for key, value in node.entries:
        if isinstance(value, SequenceNode) and key.text.lower() in several:
            items = [item for item in value.items if isinstance(item, ScalarNode) and not is_empty(item)]
            if not items or len(items) < len(value.items):
                wrong_shape(problems, value, f"`{what}.{key.text}`", "a list of texts")
            options[key.text] = "\n".join(item.text for item in items)
        elif not isinstance(value, ScalarNode) or is_empty(value):
            remedy = 'Write "" for an empty text.' if is_null(value) else None
            wrong_shape(problems, value, f"`{what}.{key.text}`", "text", remedy=remedy)
        elif not key.text.strip():
            wrong_shape(problems, key, f"a name in `{what}`", "a name that is not blank")
        else:
            options[key.text] = value.text
    return options


def decode_patterns(node: Node | None, what: str, options: Collection[str], problems: Problems) -> tuple[str, ...]:
    """The names of options that others own, or patterns with `*`; one that is declared under `options` too is noted."""
    if node is None or is_null(node):
        return ()
    if not isinstance(node, SequenceNode):
        remedy = f"Write for example `{what}: [snapshot.*]`."
        wrong_shape(problems, node, f"`{what}`", "a list of names of options", remedy=remedy)
        return ()
    patterns: dict[str, None] = {}
    for item in node.items:
        if not isinstance(item, ScalarNode) or is_empty(item) or not item.text.strip():
            wrong_shape(problems, item, f"an entry of `{what}`", "the name of an option, or a pattern with `*`")
        elif item.text in options:
            message = f"the option {clipped(item.text)} is declared, and given up to others in `{what}`"
            remedy = "Leave it out of one of the two. A pattern leaves declared options alone."
            problems.error("LB1084", message, item, found=item.text, remedy=remedy)
        else:
            patterns.setdefault(item.text)
    return tuple(patterns)


def option_positions(node: Node | None) -> dict[FieldPath, Position]:
    """Where each option stands, by `("options", key)`."""
    if not isinstance(node, MappingNode):
        return {}
    return {("options", key.text): key.position for key, _ in node.entries}


#: The types that are a system column's: the first is what `spec` puts in, the second (or first) what `kamu` does.
_TYPES: dict[str, tuple[LogicalType, ...]] = {
    "offset": (UInt64(), Int64()),
    "op": (UInt8(), Int32()),
    "system_time": (Timestamp(),),
    "event_time": (Timestamp(),),
}
ROLES = tuple(_TYPES)
USUAL_NAMES = Vocabulary()
#: Put in the columns of the profile `kamu`.
AUTO = "auto"
VOCABULARY_KEYS = dict(zip(Vocabulary.KEYS, ROLES, strict=True))


def decode_system_columns(
    table: Properties, node: Node | None, problems: Problems
) -> tuple[SystemColumns | None, Vocabulary]:
    """`systemColumns`: a profile, `auto`, or a mapping of `profile` and names; None where nothing is put in."""
    choices = [AUTO, *(c.value for c in SystemColumns)]
    if not isinstance(node, MappingNode):
        chosen = table.choice("systemColumns", choices, "LB1056")
        return _profile(chosen), Vocabulary()
    inside = Properties(node, "`systemColumns`", problems)
    profile = _profile(inside.choice("profile", choices, "LB1056") or AUTO)
    given = {key: inside.text(key) for key in VOCABULARY_KEYS}
    inside.close()
    vocabulary = Vocabulary.of({k: v for k, v in given.items() if v is not None})
    names = [vocabulary.name(role) for role in ROLES]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        problems.error("LB6434", f"two system columns are called {twice!r}", node, found=twice)
        return None, Vocabulary()
    return profile, vocabulary


def _profile(chosen: str | None) -> SystemColumns | None:
    if chosen is None:
        return None
    return SystemColumns.KAMU if chosen == AUTO else SystemColumns(chosen)


def with_system_columns(schema: Schema, who: SystemColumns, vocabulary: Vocabulary = USUAL_NAMES) -> Schema:
    """The schema with the system columns that it lacks in front, in their usual order."""
    declared = {f.name for f in schema.fields}
    wanted = [(role, vocabulary.name(role)) for role in ROLES]
    missing = tuple(Field(name, _written(role, who)) for role, name in wanted if name not in declared)
    return replace(schema, fields=(*missing, *schema.fields))


def system_column_problem(role: str, type_: LogicalType) -> str | None:
    """What type a column of this role should have, if it is of another type; its optionality does not matter."""
    types = _TYPES.get(role)
    own = required(type_)
    if types is None or own in types:
        return None
    if role == "event_time":
        return None if isinstance(own, Timestamp | Date) else "a Timestamp or a Date"
    return " or ".join(t.kind for t in types)


def vocabulary_of(document: OdfDocument) -> Vocabulary:
    """The names of the newest `SetVocab` before the schema."""
    found = Vocabulary()
    for event in document.events[: document.schema_at]:
        if event.kind == "SetVocab":
            found = Vocabulary.of(event.to_json())
    return found


def _written(role: str, who: SystemColumns) -> LogicalType:
    return _TYPES[role][0 if who is SystemColumns.SPEC else -1]
