"""Walk a stored type and what it means side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from lakebed.model import Extra, Field, LogicalType, required
from lakebed.model import types as logical
from lakebed.physical import DataField, DataType
from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_tree import ELEMENT, KEY, VALUE, Path

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Node:
    """One place of a schema: its path, how it is stored, what it means, and its attributes."""

    path: Path
    stored: DataType
    meant: LogicalType
    extra: Extra = Extra()

    @property
    def own(self) -> LogicalType:
        """The meaning without `Option`."""
        return required(self.meant)

    @property
    def nullable(self) -> bool:
        """Whether NULL is stored there."""
        return self.stored.nullable

    @property
    def row(self) -> physical.Row | None:
        """The ROW that is stored here and means a Struct; None where another type is."""
        return self.stored if isinstance(self.stored, physical.Row) and isinstance(self.own, logical.Struct) else None

    def children(self) -> tuple[Node, ...]:
        """The places one level down; none where the stored type and the meaning are of different shapes.

        The members of a ROW and of the Struct that declares it must be the same ones in the same order.
        """
        match self.stored, self.own:
            case physical.Row(fields=columns), logical.Struct(fields=members):
                return siblings(columns, members, self.path)
            case physical.Array(element=stored) | physical.Vector(element=stored), logical.List(item_type=item):
                return (Node((*self.path, ELEMENT), stored, item),)
            case physical.Multiset(element=stored), logical.Map(key_type=key):
                return (Node((*self.path, ELEMENT), stored, key),)
            case physical.Map(), logical.Map(key_type=key, value_type=value):
                return (
                    Node((*self.path, KEY), self.stored.key, key),
                    Node((*self.path, VALUE), self.stored.value, value),
                )
            case _:
                return ()

    def fold(self, combine: Callable[[Node, tuple[T, ...]], T]) -> T:
        """What `combine` makes of this place and of what it has made of the children, in their order."""
        return combine(self, tuple(child.fold(combine) for child in self.children()))

    def structs(self) -> Iterator[tuple[Path, physical.Row, logical.Struct]]:
        """The outermost ROWs of this place, itself or those in what it holds, each with the Struct that declares it."""
        match self.stored, self.own:
            case physical.Row() as row, logical.Struct() as struct:
                yield self.path, row, struct
            case _:
                for child in self.children():
                    yield from child.structs()


def siblings(columns: tuple[DataField, ...], members: tuple[Field, ...], parent: Path = ()) -> tuple[Node, ...]:
    """The places of one level, from columns and the fields that declare them, which must be the same in one order."""
    return tuple(
        Node((*parent, column.name), column.type, member.type, member.extra)
        for column, member in zip(columns, members, strict=True)
    )


def nodes_inside(nodes: Iterable[Node]) -> Iterator[Node]:
    """The places of columns and of the members of every Struct in them, parents before children, in order."""
    for node in nodes:
        yield node
        for path, row, struct in node.structs():
            yield from nodes_inside(siblings(row.fields, struct.fields, path))
