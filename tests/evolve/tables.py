"""Tables for the tests of evolution, and the evaluation of changes on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from lakebed.catalog.ids import assign
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import LakebedError
from lakebed.evolve import Change, evaluate
from lakebed.physical import paimon_types as t
from lakebed.physical.paimon_tree import walk_fields

Column = tuple[str, t.DataType]


def row(*members: Column, nullable: bool = True) -> t.Row:
    return t.Row(tuple(t.DataField(t.UNASSIGNED, name, type_) for name, type_ in members), nullable)


def table(
    *columns: Column | t.DataField,
    primary: tuple[str, ...] = (),
    partition: tuple[str, ...] = (),
    options: dict[str, str] | None = None,
    comment: str | None = None,
) -> TableSchema:
    fields = [c if isinstance(c, t.DataField) else t.DataField(t.UNASSIGNED, *c) for c in columns]
    fields = [t.DataField(f.id, f.name, _key(f, primary), f.description, f.default_value) for f in fields]
    identified, highest = assign(fields, -1)
    return TableSchema(0, identified, highest, partition, primary, options or {}, comment)


def _key(field: t.DataField, primary: tuple[str, ...]) -> t.DataType:
    return t.with_nullability(field.type, False) if field.name in primary else field.type


def run(
    base: TableSchema,
    *changes: Change,
    data: bool = False,
    history: Callable[[], Iterable[TableSchema]] | None = None,
) -> TableSchema:
    """The next version; with `data` the table holds a snapshot."""
    return evaluate(base, changes, has_snapshots=lambda: data, now=7, history=history)


def refused(base: TableSchema, *changes: Change, data: bool = False) -> list[str]:
    """The codes with which the changes are refused."""
    with pytest.raises(LakebedError) as caught:
        run(base, *changes, data=data)
    return [d.code for d in caught.value.diagnostics]


def ids(schema: TableSchema) -> dict[str, int]:
    """Names of all levels to ids; names must be different."""
    return {f.name: f.id for f in walk_fields(schema.fields)}


def shape(schema: TableSchema) -> list[str]:
    return [f.name for f in schema.fields]


def wide() -> TableSchema:
    """The table of the reference's vectors: keys, a sequence field, and every kind of nesting."""
    return table(
        ("k", t.Int()),
        ("p", t.STRING),
        ("v", t.STRING),
        ("n", t.Int()),
        ("r", row(("a", t.Int()), ("b", t.STRING))),
        ("ar", t.Array(row(("x", t.Int())))),
        ("m", t.Map(t.VarChar(nullable=False), row(("y", t.Int())))),
        ("ai", t.Array(t.Int())),
        ("ms", t.Multiset(t.Int())),
        primary=("k", "p"),
        partition=("p",),
        options={"bucket": "2", "bucket-key": "k", "sequence.field": "n"},
    )
