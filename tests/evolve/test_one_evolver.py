"""The two ways to a table's managers make the same next version, or refuse it with the same codes.

One way is `TableManager(PathFactory(path))`, as the documentation of Python shows it, the other
`lakebed.open(path).tables`.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lakebed
from evolve.random_edits import COLUMNS, OPTIONS, TYPES, edits
from lakebed import PathFactory, SchemaManager, TableManager, TableSchema, testing
from lakebed.errors import LakebedError
from lakebed.evolve import Change, Move, diff
from lakebed.evolve.schema_changes import (
    AddColumn,
    DropColumn,
    DropPrimaryKey,
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

Fields = tuple[t.DataField, ...]
Edit = Callable[[Fields], Sequence[t.DataField]]

GATE = "alter-column-null-to-not-null.disabled"
MANY = settings(max_examples=30, suppress_health_check=list(HealthCheck))
_MILLIS = re.compile(rb'"timeMillis" ?: ?[0-9]+')


@dataclass(frozen=True)
class Start:
    """The first version of a table."""

    fields: Any
    primary: tuple[str, ...] = ()
    partition: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    #: Options that another engine has left in the schema file: they may be anything.
    foreign: Mapping[str, str] = field(default_factory=dict)


def new(name: str, type_: t.DataType, **parts: Any) -> t.DataField:
    return t.DataField(t.UNASSIGNED, name, type_, **parts)


def row(*members: tuple[str, t.DataType]) -> t.Row:
    return t.Row(tuple(new(*member) for member in members))


PLAIN = Start(
    (
        new("a", t.Int()),
        new("b", t.STRING),
        new("r", row(("x", t.Int()), ("y", t.STRING))),
        new("l", t.Array(row(("x", t.Int()), ("y", t.STRING)))),
        new("m", t.Map(t.Int(False), row(("x", t.Int()), ("y", t.STRING)))),
        new("s", t.Multiset(t.Int())),
        new("v", t.Vector(t.Float(), 3)),
        new("e", t.Array(t.Int())),
        new("q", t.Int(False)),
    )
)
KEYED = Start(
    (new("k", t.Int(False)), new("p", t.STRING), new("n", t.Int()), new("w", t.STRING)),
    primary=("k", "p"),
    partition=("p",),
    options={"bucket": "2", "bucket-key": "k", "sequence.field": "n"},
)
APPEND = Start((new("k", t.Int()), new("w", t.STRING)), options={"bucket": "2", "bucket-key": "k"})


class Way:
    """A warehouse with the table `d.t`, and the managers that one of the two ways gives for it."""

    def __init__(self, start: Start, tables: TableManager) -> None:
        self.tables = tables
        self.directory = Path(tables.table_path("d.t"), "schema")
        tables.create_database("d")
        tables.create_table("d", "t", start.fields, start.primary, start.partition, options=start.options)
        if start.foreign:
            path = self.directory / "schema-0"
            schema = json.loads(path.read_bytes())
            path.write_text(json.dumps(schema | {"options": schema["options"] | dict(start.foreign)}))

    @property
    def manager(self) -> SchemaManager:
        return self.tables.get_schema_manager("d", "t")

    @property
    def schema(self) -> TableSchema:
        return self.manager.get_current_schema()

    def outcome(self, act: Callable[[Way], object]) -> tuple[Any, ...]:
        """The bytes of all versions after `act`, without their times, or the codes with which it was refused."""
        try:
            act(self)
        except LakebedError as error:
            return (type(error).__name__, *sorted(d.code for d in error.diagnostics), *self.versions())
        return self.versions()

    def versions(self) -> tuple[bytes, ...]:
        return tuple(_MILLIS.sub(b"", path.read_bytes()) for path in sorted(self.directory.glob("schema-*")))


@contextmanager
def two_ways(start: Start) -> Iterator[tuple[Way, Way]]:
    with tempfile.TemporaryDirectory() as directory:
        plain, lake = f"{directory}/plain", f"{directory}/lake"
        Path(lake).mkdir()
        ways = (
            Way(start, TableManager(PathFactory(plain))),
            Way(start, lakebed.open(lake, layout="paimon").tables),
        )
        begin_the_same = ways[0].versions() == ways[1].versions()
        assert begin_the_same
        yield ways


def assert_same(ways: tuple[Way, Way], act: Callable[[Way], object]) -> None:
    plain, lake = ways
    found, other = plain.outcome(act), lake.outcome(act)
    # Compared here, for the texts are long and pytest would explain their difference for minutes.
    is_same = found == other
    assert is_same, f"{found[0]} or {other[0]}"


def with_columns(edit: Edit) -> Callable[[Way], object]:
    """The act that asks for other columns, made from the present ones."""

    def act(way: Way) -> object:
        base = way.schema
        return way.manager.create_new_schema_version(tuple(edit(base.fields)), base.primary_keys, base.partition_keys)

    return act


def with_changes(changes: Sequence[Change]) -> Callable[[Way], object]:
    """The act that makes a list of changes of the present version."""
    return lambda way: way.tables.alter_table("d", "t", changes)


def renamed(old: str, name: str) -> Edit:
    return lambda fields: [replace(f, name=name) if f.name == old else f for f in fields]


def retyped(name: str, type_: t.DataType | Callable[[Any], t.DataType]) -> Edit:
    def changed(old: t.DataType) -> t.DataType:
        return type_(old) if callable(type_) else type_

    return lambda fields: [replace(f, type=changed(f.type)) if f.name == name else f for f in fields]


def nullable(name: str, value: bool) -> Edit:
    return retyped(name, lambda old: t.with_nullability(old, value))


def dropped(*names: str) -> Edit:
    return lambda fields: [f for f in fields if f.name not in names]


def added(*fields: t.DataField) -> Edit:
    return lambda present: [*present, *fields]


def members(name: str, edit: Edit) -> Edit:
    """An edit of the members of a ROW, or of the ROWs in an ARRAY or in the values of a MAP."""

    def inside(type_: Any) -> t.DataType:
        match type_:
            case t.Row():
                return replace(type_, fields=tuple(edit(type_.fields)))
            case t.Array():
                return replace(type_, element=inside(type_.element))
        return replace(type_, value=inside(type_.value))

    return retyped(name, inside)


def gate(value: str | None) -> Start:
    return replace(PLAIN, foreign={} if value is None else {GATE: value})


@st.composite
def starts(draw: st.DrawFn) -> Start:
    """Any first version without annotations."""
    columns = draw(COLUMNS)
    fields = tuple(new(name, t.with_nullability(type_, nullable)) for name, type_, nullable in columns)
    partition = tuple(f.name for f in fields if isinstance(f.type, t.Int))[:1] if draw(st.booleans()) else ()
    return Start(fields, partition=partition, options=draw(OPTIONS))


def annotated_starts() -> st.SearchStrategy[Start]:
    """Any first version of logical columns; what Paimon's types do not say of them stands in annotations."""
    return st.builds(Start, testing.paimon_schemas(max_size=2))


@st.composite
def wanted(
    draw: st.DrawFn, fields: Fields, keys: Sequence[str] = (), *, harmless: bool, inside: bool = False
) -> Fields:
    """Other columns in place of these.

    `harmless` ones are dropped, renamed, moved, described, relaxed, and added at the top: below it ids differ.
    """
    kinds = ["keep", "keep", "describe", "relax", "inside", "rename", "drop"]
    kinds += [] if harmless else ["retype", "require", "default", "swap"]
    kept: list[t.DataField] = []
    for number, column in enumerate(fields):
        kind = "keep" if column.name in keys and harmless else draw(st.sampled_from(kinds))
        if kind != "drop" or (number == len(fields) - 1 and not kept):
            kept.append(draw(edited(column, kind, f"renamed {number}", harmless=harmless)))
    if draw(st.booleans()):
        kept = draw(st.permutations(kept))
    for name in draw(
        st.lists(st.sampled_from(["new 1", "new 2", "new 3"]), max_size=0 if harmless and inside else 2, unique=True)
    ):
        kept.insert(draw(st.integers(0, len(kept))), new(name, draw(TYPES)))
    return tuple(kept)


@st.composite
def edited(draw: st.DrawFn, column: t.DataField, kind: str, free_name: str, *, harmless: bool) -> t.DataField:
    match kind:
        case "describe":
            return replace(column, description=draw(st.sampled_from([None, "text"])))
        case "relax" | "require":
            return replace(column, type=t.with_nullability(column.type, kind == "relax"))
        case "rename":
            return replace(column, name=free_name)
        case "retype":
            return replace(column, type=draw(TYPES))
        case "default":
            return replace(column, default_value=draw(st.sampled_from([None, "1", "x"])))
        case "swap":
            return replace(column, id=draw(st.integers(0, 3)))
        case "inside":
            return replace(column, type=draw(edited_inside(column.type, harmless=harmless)))
    return column


@st.composite
def edited_inside(draw: st.DrawFn, type_: t.DataType, *, harmless: bool) -> t.DataType:
    match type_:
        case t.Row():
            return replace(type_, fields=draw(wanted(type_.fields, harmless=harmless, inside=True)))
        case t.Array():
            return replace(type_, element=draw(edited_inside(type_.element, harmless=harmless)))
        case t.Map():
            return replace(type_, value=draw(edited_inside(type_.value, harmless=harmless)))
    return type_


WANTED: dict[str, tuple[Start, Edit]] = {
    "nothing": (PLAIN, lambda fields: fields),
    "add": (PLAIN, added(new("z", t.Int()))),
    "add with description": (PLAIN, added(new("z", t.Int(), description="text"))),
    "add with default": (PLAIN, added(new("z", t.Int(), default_value="1"))),
    "add a ROW": (PLAIN, added(new("z", row(("i", t.Int()), ("j", row(("i", t.Int()))))))),
    "add first": (PLAIN, lambda fields: [new("z", t.Int()), *fields]),
    "add between and last": (PLAIN, lambda fields: [fields[0], new("z", t.Int()), *fields[1:], new("y", t.Int())]),
    "add required": (PLAIN, added(new("z", t.Int(False)))),
    "add twice": (PLAIN, added(new("a", t.Int()))),
    "add a blank name": (PLAIN, added(new(" ", t.Int()))),
    "add a name of the system": (PLAIN, added(new("_ROW_ID", t.BigInt()))),
    "add outside and inside": (
        PLAIN,
        lambda fields: [new("z", t.Int()), *members("r", added(new("z", t.Int())))(fields)],
    ),
    "drop": (PLAIN, dropped("a")),
    "drop many": (PLAIN, dropped("a", "r", "m")),
    "drop and add": (PLAIN, lambda fields: [*fields[1:], new("z", t.Int())]),
    "drop all": (PLAIN, lambda fields: [new("z", t.Int())]),
    "drop and make anew": (PLAIN, lambda fields: [new("z", t.Int()), *fields[2:]]),
    "rename": (PLAIN, renamed("a", "z")),
    "rename to a taken name": (PLAIN, renamed("a", "b")),
    "rename to another case": (PLAIN, renamed("a", "A")),
    "swap": (PLAIN, lambda fields: [replace(fields[0], name="b"), replace(fields[1], name="a"), *fields[2:]]),
    "rename and add under the old name": (
        PLAIN,
        lambda fields: [replace(fields[0], name="z"), *fields[1:], new("a", t.STRING)],
    ),
    "reorder": (PLAIN, lambda fields: [*fields[2:], *fields[:2]]),
    "reverse": (PLAIN, lambda fields: fields[::-1]),
    "describe": (PLAIN, lambda fields: [replace(fields[0], description="text"), *fields[1:]]),
    "default": (PLAIN, lambda fields: [replace(fields[0], default_value="1"), *fields[1:]]),
    "default of another type": (PLAIN, lambda fields: [replace(fields[0], default_value="x"), *fields[1:]]),
    "INT to BIGINT": (PLAIN, retyped("a", t.BigInt())),
    "INT to STRING": (PLAIN, retyped("a", t.STRING)),
    "INT to BOOLEAN": (PLAIN, retyped("a", t.Boolean())),
    "INT to DATE": (PLAIN, retyped("a", t.Date())),
    "STRING to INT": (PLAIN, retyped("b", t.Int())),
    "ROW to INT": (PLAIN, retyped("r", t.Int())),
    "elements INT to BIGINT": (PLAIN, retyped("e", t.Array(t.BigInt()))),
    "multiset INT to BIGINT": (PLAIN, retyped("s", t.Multiset(t.BigInt()))),
    "vector of another length": (PLAIN, retyped("v", t.Vector(t.Float(), 4))),
    "key of a map": (PLAIN, retyped("m", lambda old: replace(old, key=t.BigInt(False)))),
    "nullable key of a map": (PLAIN, retyped("m", lambda old: replace(old, key=t.Int()))),
    "NOT NULL to NULL": (PLAIN, nullable("q", True)),
    "elements NULL to NOT NULL": (PLAIN, retyped("e", t.Array(t.Int(False)))),
    "elements NULL to NOT NULL, allowed": (gate("false"), retyped("e", t.Array(t.Int(False)))),
    **{
        f"NULL to NOT NULL under {value!r}": (gate(value), nullable("a", False))
        for value in (None, "true", "TRUE", " true", "false", "FALSE", " false", "yes", "no", "1", "0", "")
    },
    **{
        f"{what} in {where}": (PLAIN, members(where, edit))
        for where in ("r", "l", "m")
        for what, edit in {
            "add": added(new("z", t.Int())),
            "add required": added(new("z", t.Int(False))),
            "drop": dropped("x"),
            "drop all": dropped("x", "y"),
            "rename": renamed("x", "z"),
            "reorder": lambda fields: fields[::-1],
            "INT to BIGINT": retyped("x", t.BigInt()),
            "describe": lambda fields: [replace(fields[0], description="text"), *fields[1:]],
            "NULL to NOT NULL": nullable("x", False),
        }.items()
    },
    "a key: rename what `bucket-key` names": (KEYED, renamed("k", "z")),
    "a key: rename what `bucket-key` names, no primary key": (APPEND, renamed("k", "z")),
    "a key: rename what `sequence.field` names": (KEYED, renamed("n", "z")),
    "a key: rename the partition": (KEYED, renamed("p", "z")),
    "a key: drop the primary key": (KEYED, dropped("k")),
    "a key: drop the partition": (KEYED, dropped("p")),
    "a key: drop what `bucket-key` names": (APPEND, dropped("k")),
    "a key: drop what `sequence.field` names": (KEYED, dropped("n")),
    "a key: type of the primary key": (KEYED, retyped("k", t.BigInt(False))),
    "a key: type of the partition": (KEYED, retyped("p", t.Int(False))),
    "a key: type of what `sequence.field` names": (KEYED, retyped("n", t.BigInt())),
    "a key: nullable primary key": (KEYED, nullable("k", True)),
    "a key: reorder": (KEYED, lambda fields: fields[::-1]),
    "a key: rename another column": (KEYED, renamed("w", "z")),
    "a key: add": (KEYED, added(new("z", t.Int()))),
    "two things that are refused": (
        PLAIN,
        lambda fields: [*dropped("a")(fields), new("z", t.Int(False)), new("b", t.Int())],
    ),
}

#: Lists of changes for the tables above.
CHANGES: dict[str, tuple[Start, list[Change]]] = {
    "no change": (PLAIN, []),
    "set option": (PLAIN, [SetOption("snapshot.time-retained", "2 h")]),
    "set option, not understood": (PLAIN, [SetOption("bucket", "many")]),
    "remove option": (KEYED, [RemoveOption("sequence.field")]),
    "remove option that is not there": (PLAIN, [RemoveOption("x")]),
    "change an immutable option": (KEYED, [SetOption("bucket-key", "w")]),
    "define the primary key": (PLAIN, [SetOption("primary-key", "q")]),
    "drop the primary key": (KEYED, [DropPrimaryKey()]),
    "comment": (PLAIN, [UpdateComment("text")]),
    "add": (PLAIN, [AddColumn(("z",), t.Int(), "text", Move.first("z"))]),
    "add inside": (PLAIN, [AddColumn(("l", "element", "z"), t.Int())]),
    "add required": (PLAIN, [AddColumn(("z",), t.Int(False))]),
    "drop": (PLAIN, [DropColumn(("a",)), DropColumn(("m", "value", "x"))]),
    "rename": (PLAIN, [RenameColumn(("a",), "z")]),
    "rename what `bucket-key` names": (KEYED, [RenameColumn(("k",), "z")]),
    "rename what `sequence.field` names": (KEYED, [RenameColumn(("n",), "z")]),
    "rename what is not there": (PLAIN, [RenameColumn(("A",), "z")]),
    "INT to BIGINT": (PLAIN, [UpdateColumnType(("a",), t.BigInt())]),
    "INT to DATE": (PLAIN, [UpdateColumnType(("a",), t.Date())]),
    "elements INT to BIGINT": (PLAIN, [UpdateColumnType(("e", "element"), t.BigInt(), keep_nullability=True)]),
    "NOT NULL to NULL": (PLAIN, [UpdateColumnNullability(("q",), True)]),
    **{
        f"NULL to NOT NULL under {value!r}": (gate(value), [UpdateColumnNullability(("a",), False)])
        for value in (None, "TRUE", " true", "false", "yes")
    },
    "open the gate first": (PLAIN, [SetOption(GATE, "false"), UpdateColumnNullability(("a",), False)]),
    "describe": (PLAIN, [UpdateColumnComment(("r", "x"), "text")]),
    "default": (PLAIN, [UpdateColumnDefaultValue(("a",), "1")]),
    "move": (PLAIN, [UpdateColumnPosition(Move.after("a", "r")), UpdateColumnPosition(Move.last("x"), ("r",))]),
}


@pytest.mark.parametrize("case", WANTED)
def test_wanted_columns(case: str) -> None:
    start, edit = WANTED[case]
    with two_ways(start) as ways:
        assert_same(ways, with_columns(edit))


@pytest.mark.parametrize("case", WANTED)
def test_the_changes_to_wanted_columns_make_the_same_version(case: str) -> None:
    """Where `create_new_schema_version` makes a version, `alter_table` makes it too, of the changes between the two."""
    start, edit = WANTED[case]
    with two_ways(start) as (asked, altered):
        base = asked.schema
        found = asked.outcome(with_columns(edit))
        if isinstance(found[0], bytes):
            assert altered.outcome(with_changes(diff(base, asked.schema))) == found


@pytest.mark.parametrize("case", CHANGES)
def test_lists_of_changes(case: str) -> None:
    start, changes = CHANGES[case]
    with two_ways(start) as ways:
        assert_same(ways, with_changes(changes))


@pytest.mark.parametrize("first", [starts(), annotated_starts()], ids=["plain", "annotated"])
@MANY
@given(data=st.data())
def test_generated_lists_of_changes(first: st.SearchStrategy[Start], data: st.DataObject) -> None:
    with two_ways(data.draw(first)) as ways:
        changes = data.draw(edits(ways[0].schema))
        assert_same(ways, with_changes(changes))


@pytest.mark.parametrize(
    ("first", "harmless"),
    [
        pytest.param(starts(), True, id="plain"),
        pytest.param(annotated_starts(), True, id="annotated"),
        pytest.param(starts(), False, id="plain-judged"),
        pytest.param(annotated_starts(), False, id="annotated-judged"),
    ],
)
@MANY
@given(data=st.data())
def test_generated_columns(first: st.SearchStrategy[Start], harmless: bool, data: st.DataObject) -> None:
    with two_ways(data.draw(first)) as ways:
        base = ways[0].schema
        columns = data.draw(wanted(base.fields, base.partition_keys, harmless=harmless))
        assert_same(ways, with_columns(lambda _: columns))
