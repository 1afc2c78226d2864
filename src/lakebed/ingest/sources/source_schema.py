"""Check values against the read schema of a source before they become the table's types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.catalog.node import Node
from lakebed.convert.paimon import carrier
from lakebed.convert.scan_types import scan_type
from lakebed.ingest.columns.checkers import Checker
from lakebed.ingest.columns.column_checks import CheckBuilder
from lakebed.ingest.sources.source_types import Clock, Entries, Items, Members, Plain, SourceType
from lakebed.model import LogicalType, required
from lakebed.model import types as logical
from lakebed.physical import paimon_types as physical
from lakebed.physical import with_nullability

_STORED_TIME_DIGITS = 3


@dataclass(frozen=True, slots=True)
class SourceSchema:
    """The types that a source declares, by column; columns that are not there have none."""

    types: Mapping[str, LogicalType]

    def node(self, name: str) -> Node | None:
        """A column as the source declares it. Raises `ConversionError` for a type that has no carrier."""
        type_ = self.types.get(name)
        return None if type_ is None else Node((name,), carrier(type_), type_)

    def checker(self, builder: CheckBuilder, node: Node, source: SourceType) -> Checker | None:
        """The checker of a column of the table, by way of the type that the source declares for it.

        None, and a problem noted, where one never becomes the other.
        """
        declared = self.node(node.path[0])
        if declared is None:
            return builder.checker(node, source)
        if required(declared.meant) == node.own:
            nullable = node.nullable and declared.nullable
            return builder.checker(replace(node, stored=with_nullability(node.stored, nullable)), source)
        first = builder.checker(declared, source)
        second = builder.checker(node, _values_of(declared))
        return None if first is None or second is None else ThenChecker(first, second)


@dataclass(frozen=True, slots=True)
class ThenChecker:
    """Two checkers, of which the second is given the values that the first has made."""

    first: Checker
    second: Checker

    def value(self, x: Column) -> Column:
        return self.second.value(self.first.value(x))

    def bad(self, x: Column, v: Column) -> Column:
        made = self.first.value(x)
        return F.coalesce(self.first.bad(x, made), F.lit(False)) | self.second.bad(made, v)

    def problems(self, x: Column, v: Column, path: Column) -> Column:
        made = self.first.value(x)
        bad = F.coalesce(self.first.bad(x, made), F.lit(False))
        return F.when(bad, self.first.problems(x, made, path)).otherwise(self.second.problems(made, v, path))


def _values_of(declared: Node) -> SourceType:
    """What the values of a checker are, for the next one."""

    def values(node: Node, inner: tuple[SourceType, ...]) -> SourceType:
        match node.stored, node.own:
            case physical.Row(fields=columns), _:
                return Members(tuple((column.name, part) for column, part in zip(columns, inner, strict=True)))
            case physical.Array(), _:
                return Items(inner[0])
            case physical.Map(), _:
                return Entries(inner[0], inner[1])
            case physical.Time(), _:
                return Clock(_STORED_TIME_DIGITS)
            case physical.BigInt(), logical.Time() as time:
                return Clock(time.effective_unit.digits)
            case _:
                return Plain(scan_type(node.stored))

    return declared.fold(values)
