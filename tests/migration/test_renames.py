"""Renames as text, and who is who from version to version."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakebed.catalog import TableName, TableSchema
from lakebed.catalog.validate import validate
from lakebed.errors import UsageError
from lakebed.evolve import with_fields
from lakebed.migration import Rename, infer
from lakebed.physical.paimon_types import (
    Array,
    BigInt,
    Boolean,
    DataField,
    DataType,
    Decimal,
    Double,
    Int,
    Map,
    Timestamp,
    VarChar,
    with_nullability,
)

TABLE = TableName("shop", "users")
NAMES = st.text("ab:=`. é", min_size=1, max_size=6).filter(lambda text: bool(text.strip()))


@given(NAMES.filter(lambda n: not n.startswith(".")), st.integers(1, 99), NAMES, NAMES)
def test_a_rename_is_read_as_it_is_written(table: str, version: int, old: str, new: str) -> None:
    rename = Rename(TableName("d", table), version, old, new)
    assert Rename.parse(str(rename)) == rename


@pytest.mark.parametrize(
    "text", ["", "shop.users", "shop.users:1", "shop.users:x:a=b", "s.t:1:a", "s.t:1:=b", "a:b:1:c=d"]
)
def test_what_is_no_rename(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        Rename.parse(text)
    assert caught.value.code == "LB3752"


def version(number: int, *columns: Any, pk: tuple[str, ...] = (), partition: tuple[str, ...] = ()) -> TableSchema:
    fields = tuple(DataField(i, name, type_) for i, (name, type_) in enumerate(columns))
    return TableSchema(number, fields, len(fields) - 1, partition, pk)


def ids(found: Any) -> list[dict[str, int]]:
    return [{f.name: f.id for f in v.fields} for v in found.versions]


def rename(number: int, old: str, new: str) -> Rename:
    return Rename(TABLE, number, old, new)


def test_names_are_identity_unless_a_rename_is_declared() -> None:
    versions = [
        version(0, ("a", Int()), ("b", VarChar())),
        version(1, ("b", VarChar()), ("c", Int())),
        version(3, ("a", Boolean()), ("c", BigInt())),
    ]
    found = infer(TABLE, versions, [rename(1, "a", "c")], ())
    assert ids(found) == [{"a": 0, "b": 1}, {"b": 1, "c": 0}, {"a": 2, "c": 0}]
    assert [v.id for v in found.versions] == [0, 1, 3]
    assert found.steps[1].renamed == (("a", "c"),)
    assert found.steps[2].retyped == (("c", "INT", "BIGINT"),)
    assert (found.steps[2].added, found.steps[2].dropped) == (("a",), ("b",))
    assert not found.problems
    assert ids(infer(TABLE, versions, [], ()))[1] == {"b": 1, "c": 2}


def test_a_swap_and_a_name_that_is_given_on() -> None:
    versions = [
        version(0, ("a", Int()), ("b", Int()), ("c", Int())),
        version(1, ("b", Int()), ("a", Int()), ("d", Int())),
    ]
    swap = [rename(1, "a", "b"), rename(1, "b", "a"), rename(1, "c", "d")]
    assert ids(infer(TABLE, versions, swap, ()))[1] == {"b": 0, "a": 1, "d": 2}
    on = [version(0, ("a", Int()), ("z", Int())), version(1, ("a", Int()), ("b", Int()), ("z", Int()))]
    assert ids(infer(TABLE, on, [rename(1, "a", "b")], ()))[1] == {"a": 2, "b": 0, "z": 1}


def test_look_alikes_are_asked_about_until_they_are_answered() -> None:
    versions = [version(0, ("id", Int()), ("town", VarChar())), version(1, ("id", Int()), ("city", VarChar()))]
    question = rename(1, "town", "city")
    assert infer(TABLE, versions, [], ()).steps[1].questions == (question,)
    for renames, denied in (((question,), ()), ((), (question,)), ((), None)):
        assert infer(TABLE, versions, renames, denied).steps[1].questions == ()
    other = [versions[0], version(1, ("id", Int()), ("flag", Boolean()))]
    assert infer(TABLE, other, [], ()).steps[1].questions == ()


@pytest.mark.parametrize(
    ("renames", "words"),
    [
        ([rename(2, "a", "c")], "no version 2"),
        ([rename(0, "a", "c")], "no version 0"),
        ([rename(1, "aa", "c")], "the version before has no column aa"),
        ([rename(1, "a", "cc")], "version 1 has no column cc"),
        ([rename(1, "a", "c"), rename(1, "a", "d")], "another rename"),
        ([rename(1, "a", "c"), rename(1, "b", "c")], "another rename"),
        ([rename(1, "a", "t")], "values of INT cannot be read as ARRAY<INT>"),
    ],
)
def test_renames_that_cannot_be_followed(renames: list[Rename], words: str) -> None:
    versions = [
        version(0, ("a", Int()), ("b", Int()), ("z", Int())),
        version(1, ("c", Int()), ("d", Int()), ("t", Array(Int())), ("z", Int())),
    ]
    problems = infer(TABLE, versions, renames, ()).problems
    assert [d.code for d in problems] == ["LB3752"]
    assert words in problems[0].message


def test_a_type_that_cannot_have_become_this_one_makes_a_new_column() -> None:
    found = infer(
        TABLE, [version(0, ("a", Int()), ("z", Int())), version(1, ("a", Map(Int(), Int())), ("z", Int()))], [], ()
    )
    assert ids(found) == [{"a": 0, "z": 1}, {"a": 2, "z": 1}]
    assert [n.code for n in found.notes] == ["LB3761"]
    assert not found.steps[1].questions


def test_columns_become_nullable_where_old_rows_may_have_no_value() -> None:
    required, optional = Int(nullable=False), Int()
    found = infer(
        TABLE,
        [
            version(0, ("id", optional), ("a", optional), ("b", required), pk=("id",)),
            version(1, ("id", optional), ("a", required), ("b", optional), ("c", required), pk=("id",)),
            version(2, ("id", required), ("a", optional), ("b", required), ("c", required), pk=("id",)),
        ],
        [],
        (),
    )
    assert not found.problems
    nullable = [{f.name: f.type.nullable for f in v.fields} for v in found.versions]
    assert nullable == [
        {"id": False, "a": True, "b": False},
        {"id": False, "a": True, "b": True, "c": True},
        {"id": False, "a": True, "b": True, "c": True},
    ]
    assert [n.code for n in found.notes] == ["LB3760"] * 5


@pytest.mark.parametrize(
    "second",
    [
        version(1, ("id", Int()), ("p", Int()), partition=("p",)),
        version(1, ("id", Int()), ("p", Int()), pk=("id", "p")),
        version(1, ("p", Int()), ("x", Int())),
        version(1, ("id", BigInt()), ("p", Int()), pk=("id",), partition=("p",)),
        version(1, ("x", Int()), ("y", Int())),
    ],
)
def test_keys_stay_what_they_are(second: TableSchema) -> None:
    first = version(0, ("id", Int()), ("p", Int()), pk=("id",), partition=("p",))
    found = infer(TABLE, [first, second, first], [], ())
    assert {d.code for d in found.problems} == {"LB3754"}
    assert len(found.versions) == 1
    assert "version 1" in found.problems[0].message


_TYPES = st.sampled_from(
    [
        Int(),
        BigInt(),
        VarChar(),
        Boolean(),
        Double(),
        Timestamp(),
        Decimal(9, 2),
        Array(Int()),
        Array(BigInt()),
        Map(VarChar(), Int()),
    ]
)
_COLUMNS = st.dictionaries(st.sampled_from("abcdef"), st.tuples(_TYPES, st.booleans()), min_size=1, max_size=5)


def _of(number: int, columns: dict[str, tuple[DataType, bool]]) -> TableSchema:
    fields = (("key", Int(nullable=False)), *((n, with_nullability(t, null)) for n, (t, null) in columns.items()))
    return version(number, *fields, pk=("key",))


@given(st.lists(_COLUMNS, min_size=1, max_size=4), st.randoms(use_true_random=False))
@example([{"a": (Timestamp(), False)}, {"a": (VarChar(), False)}], Random(0))
def test_every_history_becomes_one_that_a_paimon_table_may_have(histories: Any, random: Any) -> None:
    versions = [_of(number, columns) for number, columns in enumerate(histories)]
    declared = []
    for before, after in pairwise(versions):
        gone = [n for n in before.field_names if n not in after.field_names]
        new = [n for n in after.field_names if n not in before.field_names]
        if gone and new and random.random() < 0.5:
            declared.append(rename(after.id, random.choice(gone), random.choice(new)))
    found = infer(TABLE, versions, declared, None)
    assert {d.code for d in found.problems} <= {"LB3752"}
    assert [v.field_names for v in found.versions] == [v.field_names for v in versions]
    refused = {d.found for d in found.problems}
    for before, after in pairwise(found.versions):
        assert with_fields(before, after.fields, has_snapshots=lambda: True).fields == after.fields
        assert after.highest_field_id >= before.highest_field_id
    for old, made in zip(versions, found.versions, strict=True):
        assert not [d for d in validate(made) if d.severity == "error"]
        assert [with_nullability(f.type, True) for f in made.fields] == [
            with_nullability(f.type, True) for f in old.fields
        ]
        assert len({f.id for f in made.fields}) == len(made.fields)
    for r in declared:
        before, after = found.versions[r.version - 1], found.versions[r.version]
        kept = before.field(r.old).id == after.field(r.new).id
        assert kept == (str(r) not in refused)
