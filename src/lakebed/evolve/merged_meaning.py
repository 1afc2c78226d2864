"""What the columns of a merged table are declared to mean: as the table declares, and for new ones as the data does."""

from __future__ import annotations

from dataclasses import replace

from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve.merging import MergeRules, matched
from lakebed.evolve.nested import Fields
from lakebed.model import Field, LogicalType, Schema, required
from lakebed.model import types as logical
from lakebed.physical.types import Array, DataField, DataType, Map, Row


def merged_schema(target: TableSchema, data: Schema | None, highest_before: int, rules: MergeRules) -> Schema:
    """The declared schema of `target`; fields with ids above `highest_before` are new and mean what `data` says.

    `data` holds the columns that were given as logical ones, None where none was.
    """
    known = target.logical
    if data is None:
        return known
    return replace(known, fields=_Overlay(highest_before, rules).fields(target.fields, known.fields, data.fields))


class _Overlay:
    def __init__(self, highest_before: int, rules: MergeRules) -> None:
        self._highest_before = highest_before
        self._rules = rules

    def fields(self, columns: Fields, known: tuple[Field, ...], data: tuple[Field, ...]) -> tuple[Field, ...]:
        by_name: dict[str, Field] = {}
        names = [c.name for c in columns]
        for given in data:
            for name in matched(given.name, names, self._rules):
                by_name[name] = given
        pairs = zip(columns, known, strict=True)
        return tuple(self._field(column, member, by_name.get(column.name)) for column, member in pairs)

    def _field(self, column: DataField, member: Field, given: Field | None) -> Field:
        if given is None:
            return member
        if column.id > self._highest_before:
            return Field(member.name, logical.Option(required(given.type)), given.extra)
        return replace(member, type=self._type(column.type, member.type, given.type))

    def _type(self, stored: DataType, known: LogicalType, given: LogicalType) -> LogicalType:
        inside = self._inside(stored, required(known), required(given))
        return logical.Option(inside) if isinstance(known, logical.Option) else inside

    def _inside(self, stored: DataType, known: LogicalType, given: LogicalType) -> LogicalType:
        match stored, known, given:
            case Row(), logical.Struct(), logical.Struct():
                return replace(known, fields=self.fields(stored.fields, known.fields, given.fields))
            case Array(), logical.List(), logical.List():
                return replace(known, item_type=self._type(stored.element, known.item_type, given.item_type))
            case Map(), logical.Map(), logical.Map():
                return replace(known, value_type=self._type(stored.value, known.value_type, given.value_type))
            case _:
                return known
