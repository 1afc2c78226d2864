"""Random schemas, and random edits of them that may or may not be legal."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from lakebed.catalog.ids import assign
from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve.schema_changes import (
    AddColumn,
    DropColumn,
    Move,
    RemoveOption,
    RenameColumn,
    SetOption,
    UpdateColumnComment,
    UpdateColumnDefaultValue,
    UpdateColumnNullability,
    UpdateColumnPosition,
    UpdateColumnType,
    UpdateComment,
)
from lakebed.physical import paimon_types as t

NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f g", "h.i", "ü", "element", "value", "lakebed_1"])
ATOMIC = st.sampled_from(
    [
        t.Int(),
        t.BigInt(),
        t.TinyInt(),
        t.Double(),
        t.STRING,
        t.VarChar(5),
        t.Char(3),
        t.Boolean(),
        t.Date(),
        t.Decimal(10, 2),
        t.Timestamp(3),
        t.LocalZonedTimestamp(6),
        t.BYTES,
    ]
)


def rows(inner: st.SearchStrategy[t.DataType]) -> st.SearchStrategy[t.DataType]:
    members = st.lists(st.tuples(NAMES, inner), min_size=1, max_size=4, unique_by=lambda m: m[0])
    return members.map(lambda ms: t.Row(tuple(t.DataField(t.UNASSIGNED, n, x) for n, x in ms)))


def containers(inner: st.SearchStrategy[t.DataType]) -> st.SearchStrategy[t.DataType]:
    return st.one_of(
        rows(inner),
        inner.map(t.Array),
        st.tuples(st.sampled_from([t.STRING, t.Int(False)]), inner).map(lambda kv: t.Map(*kv)),
    )


def with_any_nullability(type_: t.DataType, flags: list[bool]) -> t.DataType:
    return t.with_nullability(type_, flags.pop() if flags else True)


TYPES = st.recursive(ATOMIC, containers, max_leaves=6)
COLUMNS = st.lists(st.tuples(NAMES, TYPES, st.booleans()), min_size=1, max_size=5, unique_by=lambda c: c[0])
OPTIONS = st.dictionaries(
    st.sampled_from(["x", "y", "alter-column-null-to-not-null.disabled", "add-column-before-partition"]),
    st.sampled_from(["true", "false"]),
    max_size=3,
)


@st.composite
def schemas(draw: st.DrawFn) -> TableSchema:
    columns = draw(COLUMNS)
    fields = tuple(t.DataField(t.UNASSIGNED, n, t.with_nullability(x, nullable)) for n, x, nullable in columns)
    identified, highest = assign(fields, -1)
    partition = tuple(f.name for f in identified if isinstance(f.type, t.Int))[:1] if draw(st.booleans()) else ()
    return TableSchema(0, identified, highest, partition, (), draw(OPTIONS))


def places(fields: tuple[t.DataField, ...], parent: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], object]]:
    """(parent path, siblings) of every ROW, and (path, type) of every type, as edits need them."""
    found: list[tuple[tuple[str, ...], object]] = [(parent, fields)]
    for field in fields:
        found += inside(field.type, (*parent, field.name))
    return found


def inside(type_: t.DataType, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], object]]:
    found: list[tuple[tuple[str, ...], object]] = [(path, type_)]
    match type_:
        case t.Row():
            return found + places(type_.fields, path)
        case t.Array():
            return found + inside(type_.element, (*path, "element"))
        case t.Map():
            return found + inside(type_.value, (*path, "value"))
    return found


@st.composite
def edits(draw: st.DrawFn, schema: TableSchema) -> list:
    """Changes that may or may not be legal on `schema`."""
    path, what = draw(st.sampled_from(places(schema.fields)))
    if isinstance(what, tuple):
        return draw(sibling_edits(path, [f.name for f in what]))
    return [
        draw(
            st.one_of(
                ATOMIC.map(lambda x: UpdateColumnType(path, x, keep_nullability=True)),
                ATOMIC.map(lambda x: UpdateColumnType(path, x)),
                st.booleans().map(lambda n: UpdateColumnNullability(path, n)),
                st.sampled_from([None, "a text"]).map(lambda c: UpdateColumnComment(path, c)),
                st.sampled_from([None, "1", "x"]).map(lambda d: UpdateColumnDefaultValue(path, d)),
                st.sampled_from(["x", "y"]).map(RemoveOption),
                OPTIONS.filter(bool).map(lambda o: SetOption(*next(iter(o.items())))),
                st.sampled_from([None, "a table"]).map(UpdateComment),
            )
        )
    ]


@st.composite
def sibling_edits(draw: st.DrawFn, parent: tuple[str, ...], names: list[str]) -> list:
    name, new = draw(st.sampled_from(names)), draw(NAMES)
    kind = draw(st.sampled_from(["add", "add", "rename", "drop", "move", "swap", "again", "circle", "all"]))
    path = (*parent, name)
    match kind:
        case "add":
            move = draw(st.sampled_from([None, Move.first(new), Move.after(new, name), Move.before(new, name)]))
            return [AddColumn((*parent, new), draw(TYPES), draw(st.sampled_from([None, "text"])), move)]
        case "rename":
            return [RenameColumn(path, new)]
        case "drop":
            return [DropColumn(path)]
        case "move":
            other = draw(st.sampled_from(names))
            move = draw(st.sampled_from([Move.first(name), Move.last(name), Move.after(name, other)]))
            return [UpdateColumnPosition(move, parent)]
        case "swap":
            return rotation(parent, [name, draw(st.sampled_from(names))])
        case "circle":
            return rotation(parent, draw(st.permutations(names)))
        case "again":
            return [
                AddColumn((*parent, "tmp"), draw(TYPES)),
                DropColumn(path),
                RenameColumn((*parent, "tmp"), name),
            ]
        case _:
            fresh = [AddColumn((*parent, f"new {n}"), draw(ATOMIC)) for n in names]
            gone = [DropColumn((*parent, n)) for n in names]
            return [*fresh, *gone, *(RenameColumn((*parent, f"new {n}"), n) for n in names)]


def rotation(parent: tuple[str, ...], names: list[str]) -> list:
    """Each name goes to the next column of the circle."""
    if len(set(names)) < 2:
        return []
    steps = [RenameColumn((*parent, names[-1]), "between")]
    steps += [RenameColumn((*parent, a), b) for a, b in reversed(list(pairwise(names)))]
    return [*steps, RenameColumn((*parent, "between"), names[0])]
