"""Random tables and changes of them that pypaimon and Lakebed are both asked about; many are against a rule."""

from __future__ import annotations

from hypothesis import strategies as st

from evolve.random_edits import ATOMIC, NAMES, TYPES, edits, places
from lakebed.catalog.ids import assign
from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve.schema_changes import (
    AddColumn,
    Change,
    DropColumn,
    DropPrimaryKey,
    RemoveOption,
    RenameColumn,
    SetOption,
    UpdateColumnNullability,
    UpdateColumnPosition,
    UpdateColumnType,
)
from lakebed.physical import paimon_types as t

OPEN = "alter-column-null-to-not-null.disabled"
#: Options that mean something to a rule, with values that it allows and values that it does not.
VALUES = {
    "bucket": ["1", "2", "-1", "0"],
    "bucket-key": ["k", "v", "nope"],
    "sequence.field": ["v", "k", "nope", "v,v"],
    "merge-engine": ["deduplicate", "aggregation", "first-row", "nonsense"],
    "file.format": ["orc", "avro", "nonsense"],
    "fields.v.aggregate-function": ["max", "nonsense"],
    "type": ["format-table"],
    "owner": ["me"],
    OPEN: ["false", "true"],
    "disable-explicit-type-casting": ["true", "false"],
    "add-column-before-partition": ["true"],
}
SET = st.sampled_from(sorted(VALUES)).flatmap(lambda k: st.sampled_from(VALUES[k]).map(lambda v: SetOption(k, v)))


@st.composite
def tables(draw: st.DrawFn) -> TableSchema:
    """A table with or without a key and a partition; every rule of tables holds for it."""
    drawn = draw(st.lists(st.tuples(NAMES, TYPES, st.booleans()), max_size=4, unique_by=lambda c: c[0]))
    columns = [("k", t.Int(), False), ("p", t.STRING, True), ("v", draw(ATOMIC), True), *drawn]
    fields = [t.DataField(t.UNASSIGNED, n, t.with_nullability(x, nullable)) for n, x, nullable in columns]
    primary, partition = draw(st.sampled_from([(), ("k",), ("k", "p")])), draw(st.sampled_from([(), ("p",)]))
    required = [
        t.DataField(f.id, f.name, t.with_nullability(f.type, False)) if f.name in primary else f for f in fields
    ]
    identified, highest = assign(required, -1)
    options = {"bucket": "1"} if primary else {}
    if primary and set(partition) <= set(primary) and draw(st.booleans()):
        options["sequence.field"] = "v"
    if draw(st.booleans()):
        options[OPEN] = "false"
    return TableSchema(0, identified, highest, partition, primary, options)


@st.composite
def batches(draw: st.DrawFn, schema: TableSchema) -> list[Change]:
    """Changes that make one version; sometimes several in one batch."""
    changes = draw(edits(schema))
    if draw(st.integers(0, 3)) == 0:
        changes = [*changes, *draw(st.lists(_others(schema), min_size=1, max_size=2))]
    # REST has no form for a move within a struct, and pypaimon no default value of a column.
    return [c for c in changes if not (isinstance(c, UpdateColumnPosition) and c.parent)]


def _others(schema: TableSchema) -> st.SearchStrategy[Change]:
    paths = st.sampled_from([path for path, _ in places(schema.fields) if path])
    odd = st.tuples(paths, st.sampled_from(["zz", "key", "element", "value", "whatever"])).map(lambda p: (*p[0], p[1]))
    anywhere = paths | odd
    top = st.sampled_from(schema.field_names)
    odd_names = st.sampled_from(["_ROW_ID", "_KEY_k", "rowkind", "", " ", "K", "k"])
    return st.one_of(
        SET,
        st.sampled_from(sorted(VALUES)).map(RemoveOption),
        st.just(DropPrimaryKey()),
        st.tuples(top, odd_names).map(lambda p: RenameColumn((p[0],), p[1])),
        odd_names.map(lambda n: AddColumn((n,), t.Int())),
        odd.map(lambda path: AddColumn(path, t.Int())),
        st.tuples(anywhere, ATOMIC, st.booleans()).map(lambda p: UpdateColumnType(*p)),
        st.tuples(anywhere, st.booleans()).map(lambda p: UpdateColumnNullability(*p)),
        anywhere.map(DropColumn),
    )
