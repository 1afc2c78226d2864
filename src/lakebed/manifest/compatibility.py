"""Define compatibility modes and declared consumers of a table, and decode them.

`lakebed.evolve.judge_compatibility` judges changes by them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lakebed.diagnostics import Position, near_names, path_text
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode, clipped, is_empty, is_null
from lakebed.manifest.problems import Problems
from lakebed.manifest.properties import Properties, wrong_shape
from lakebed.model import Extra, Schema, Struct
from lakebed.model.differences import Party
from lakebed.model.extra import COMPATIBILITY, CONSUMERS
from lakebed.model.logical_tree import places_inside


class Compatibility(StrEnum):
    """What changes of a schema have to keep beside Lakebed's own rules, by the names of Confluent's Schema Registry.

    `BACKWARD`: rows of before can be read, and are allowed, under the new schema. `FORWARD`: who reads the table as
    before goes on to understand its rows. `FULL`: both. The transitive ones mean all versions of the table, not only
    the one before. `NONE` lets changes happen that would need leave. `ODF` is the rule of Open Data Fabric.
    """

    BACKWARD = "BACKWARD"
    FORWARD = "FORWARD"
    FULL = "FULL"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"
    NONE = "NONE"
    ODF = "ODF"

    @property
    def is_transitive(self) -> bool:
        """Whether all versions count, not only the one before."""
        return self.value.endswith("_TRANSITIVE")

    @property
    def protects(self) -> frozenset[Party]:
        """Who may not be broken: producers, and rows of before, by BACKWARD; consumers by FORWARD.

        `NONE` tells of both, and `ODF` has a rule of its own.
        """
        match self.value.removesuffix("_TRANSITIVE"):
            case "BACKWARD":
                return frozenset({Party.PRODUCER})
            case "FORWARD":
                return frozenset({Party.CONSUMER})
            case "ODF":
                return frozenset()
            case _:
                return frozenset(Party)


#: The modes of consumers; `ODF` is a rule for whole schemas.
CONSUMER_MODES = tuple(mode for mode in Compatibility if mode is not Compatibility.ODF)
_EXAMPLE = "{name: monthly report, owner: Finance, columns: [id, total]}"


@dataclass(frozen=True, slots=True)
class Consumer:
    """Somebody who reads a table: which columns, as texts of their paths, all where there are none, and in which mode.

    `owner` is the team to ask. `FORWARD`, the usual mode: it goes on as it is while the table changes. `BACKWARD`: it
    moves to the new schema first, and reads rows of before under it.
    """

    name: str
    columns: tuple[str, ...] = ()
    owner: str | None = None
    mode: Compatibility = Compatibility.FORWARD
    position: Position | None = field(default=None, compare=False)
    column_positions: Mapping[str, Position] = field(default_factory=dict, compare=False)

    @property
    def text(self) -> str:
        """The name, with the owner where there is one."""
        return self.name if self.owner is None else f"{self.name} ({self.owner})"

    def to_json(self) -> dict[str, Any]:
        """As it stands in a manifest."""
        out: dict[str, Any] = {"name": self.name}
        if self.owner is not None:
            out["owner"] = self.owner
        if self.columns:
            out["columns"] = list(self.columns)
        return out if self.mode is Compatibility.FORWARD else {**out, "mode": self.mode.value}


def decode_compatibility(node: Node | None, what: str, problems: Problems) -> Compatibility | None:
    """The mode that a scalar says; a faulty one is noted and left out."""
    if node is None or is_null(node):
        return None
    if not isinstance(node, ScalarNode):
        wrong_shape(problems, node, f"`{what}`", "the name of a mode", remedy=f"Write for example `{what}: FULL`.")
        return None
    table = Properties(MappingNode((), node.position), "the table", problems)
    chosen = table.chosen(node, "compatibility", [c.value for c in Compatibility], "LB1056")
    return None if chosen is None else Compatibility(chosen)


def decode_consumers(node: Node | None, what: str, problems: Problems) -> tuple[Consumer, ...]:
    """The consumers in a list; faulty ones are noted and left out."""
    if node is None or is_null(node):
        return ()
    if not isinstance(node, SequenceNode):
        wrong_shape(problems, node, f"`{what}`", "a list of consumers", remedy=f"Write for example `- {_EXAMPLE}`.")
        return ()
    found: dict[str, Consumer] = {}
    for item in node.items:
        consumer = _consumer(item, f"a consumer in `{what}`", problems)
        if consumer is not None and consumer.name in found:
            message = f"the consumer {clipped(consumer.name)} is declared twice"
            problems.error("LB1087", message, item, found=consumer.name, remedy="Put the columns of both into one.")
        elif consumer is not None:
            found[consumer.name] = consumer
    return tuple(found.values())


def _consumer(node: Node, what: str, problems: Problems) -> Consumer | None:
    given = Properties.of(node, what, problems)
    if given is None:
        return None
    name = given.name("name", "name: monthly report")
    owner = given.text("owner")
    columns = _columns(given.optional("columns"), problems)
    mode = given.choice("mode", [mode.value for mode in CONSUMER_MODES], "LB1056")
    given.close()
    if name is None:
        return None
    if not name.text.strip():
        wrong_shape(problems, name, f"`name` of {what}", "a text that is not blank")
        return None
    return Consumer(
        name.text, tuple(columns), owner, Compatibility(mode or Compatibility.FORWARD), node.position, columns
    )


def _columns(node: Node | None, problems: Problems) -> dict[str, Position]:
    """The texts of columns, and where they stand."""
    if node is None:
        return {}
    if not isinstance(node, SequenceNode) or not node.items:
        remedy = "Leave `columns` out where it reads all of them."
        wrong_shape(problems, node, "`columns` of a consumer", "a list of columns, with at least one", remedy=remedy)
        return {}
    names: dict[str, Position] = {}
    for item in node.items:
        if not isinstance(item, ScalarNode) or is_empty(item):
            wrong_shape(problems, item, "an entry of `columns`", "a column, or a path such as address.city")
        else:
            names.setdefault(item.text, item.position)
    return names


def check_consumers(consumers: Sequence[Consumer], schema: Schema, problems: Problems) -> None:
    """Note the columns of consumers that the schema has not."""
    known = [path_text(path) for path, _ in places_inside(Struct(schema.fields)) if path]
    for consumer in consumers:
        for column, position in consumer.column_positions.items():
            if column in known:
                continue
            problems.error(
                "LB1088",
                f"the consumer {clipped(consumer.name)} reads the column {clipped(column)}, which is not declared",
                position,
                path=column,
                expected="one of " + ", ".join(known[:20]) if known else None,
                found=column,
                suggestions=near_names(column, known),
                remedy="Name a declared column, or take it out here; the plan tells this consumer's team all the same "
                "where the stored table has that column.",
            )


def about_readers(compatibility: Compatibility | None, consumers: Sequence[Consumer]) -> dict[str, Any]:
    """Mode and consumers as attributes of a schema, each where there is one: so they are stored with the columns."""
    out: dict[str, Any] = {} if compatibility is None else {COMPATIBILITY: compatibility.value}
    return {**out, CONSUMERS: [c.to_json() for c in consumers]} if consumers else out


def stored_compatibility(extra: Extra) -> Compatibility | None:
    """What the attributes of a stored schema say; None where they say nothing that can be understood."""
    value = extra.get(COMPATIBILITY)
    return Compatibility(value) if value in list(Compatibility) else None


def stored_consumers(extra: Extra) -> tuple[Consumer, ...]:
    """The consumers that the attributes of a stored schema name, without what cannot be understood."""
    value = extra.get(CONSUMERS)
    found = [_stored(entry) for entry in value] if isinstance(value, list) else []
    return tuple(consumer for consumer in found if consumer is not None)


def _stored(value: Any) -> Consumer | None:
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
        return None
    columns, mode, owner = value.get("columns", []), value.get("mode", "FORWARD"), value.get("owner")
    if not isinstance(columns, list) or mode not in CONSUMER_MODES:
        return None
    return Consumer(value["name"], tuple(map(str, columns)), None if owner is None else str(owner), Compatibility(mode))
