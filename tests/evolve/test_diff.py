"""The changes that a difference is made of, and what takes a change back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evolve.tables import ids, row, run, shape, table
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import ValidationError
from lakebed.evolve import diff, inverse
from lakebed.evolve.schema_changes import (
    AddColumn,
    Change,
    DropColumn,
    DropPrimaryKey,
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

INT, STRING, NEW = t.Int(), t.STRING, t.UNASSIGNED


def with_fields(base: TableSchema, *fields: t.DataField) -> TableSchema:
    return replace(base, fields=fields)


def renamed(field: t.DataField, name: str) -> t.DataField:
    return replace(field, name=name)


def test_a_swap_goes_through_one_temporary_name() -> None:
    base = table(("a", INT), ("b", STRING))
    a, b = base.fields
    changes = diff(base, with_fields(base, renamed(a, "b"), renamed(b, "a")))
    assert changes == (
        RenameColumn(("a",), "lakebed_1"),
        RenameColumn(("b",), "a"),
        RenameColumn(("lakebed_1",), "b"),
    )
    assert ids(run(base, *changes)) == {"b": 0, "a": 1}


def test_the_temporary_name_is_one_that_nobody_has() -> None:
    base = table(("a", INT), ("lakebed_1", INT), ("lakebed_2", INT))
    a, one, two = base.fields
    target = with_fields(base, renamed(a, "lakebed_1"), renamed(one, "a"), two, t.DataField(NEW, "lakebed_3", INT))
    assert shape(run(base, *diff(base, target))) == ["lakebed_1", "a", "lakebed_2", "lakebed_3"]


def test_a_chain_of_renames_starts_at_its_free_end() -> None:
    base = table(("a", INT), ("b", INT), ("c", INT))
    a, b, c = base.fields
    changes = diff(base, with_fields(base, renamed(a, "b"), renamed(b, "c"), renamed(c, "d")))
    assert changes == (RenameColumn(("c",), "d"), RenameColumn(("b",), "c"), RenameColumn(("a",), "b"))


@pytest.mark.parametrize("names", [("x",), ("x", "y"), ("new", "x")])
def test_a_struct_whose_members_are_all_replaced_never_is_empty(names: tuple[str, ...]) -> None:
    base = table(("k", INT), ("r", t.Array(row(("x", INT)))))
    members = tuple(t.DataField(NEW, n, STRING) for n in names)
    target = with_fields(base, base.fields[0], replace(base.fields[1], type=t.Array(t.Row(members))))
    changes = diff(base, target)
    assert isinstance(changes[0], AddColumn)
    assert isinstance(changes[1], DropColumn)
    new = run(base, *changes)
    inner = new.fields[1].type
    assert isinstance(inner, t.Array)
    assert isinstance(inner.element, t.Row)
    assert [f.name for f in inner.element.fields] == list(names)
    assert min(f.id for f in inner.element.fields) > 2


def test_drop_and_add_under_one_name_is_no_rename() -> None:
    base = table(("a", INT), ("b", INT))
    target = with_fields(base, t.DataField(NEW, "a", STRING), base.fields[1])
    assert diff(base, target) == (DropColumn(("a",)), AddColumn(("a",), STRING, None, Move.first("a")))


def test_only_columns_out_of_order_are_moved() -> None:
    base = table(*((n, INT) for n in "abcdef"))
    a, b, c, d, e, f = base.fields
    assert diff(base, with_fields(base, b, c, d, e, f, a)) == (UpdateColumnPosition(Move.after("a", "f")),)
    assert diff(base, with_fields(base, f, a, b, c, d, e)) == (UpdateColumnPosition(Move.first("f")),)
    assert len(diff(base, with_fields(base, f, e, d, c, b, a))) == 5


def test_a_default_gives_way_to_a_change_of_type() -> None:
    base = table(t.DataField(NEW, "a", STRING, None, "abc"), ("b", INT))
    target = with_fields(base, replace(base.fields[0], type=INT, default_value="5"), base.fields[1])
    assert diff(base, target) == (
        UpdateColumnDefaultValue(("a",), None),
        UpdateColumnType(("a",), INT),
        UpdateColumnDefaultValue(("a",), "5"),
    )
    assert run(base, *diff(base, target)).fields == target.fields


def test_relaxing_comes_before_a_cast_to_nullable_text() -> None:
    base = table(("a", t.Date(False)), ("b", INT))
    target = with_fields(base, replace(base.fields[0], type=STRING), base.fields[1])
    assert diff(base, target) == (UpdateColumnNullability(("a",), True), UpdateColumnType(("a",), STRING))


def test_gates_open_first_and_close_last() -> None:
    key = "alter-column-null-to-not-null.disabled"
    base = table(("a", INT))
    tight = replace(base, fields=(replace(base.fields[0], type=t.Int(False)),))
    assert diff(base, tight.with_options({key: "false"})) == (
        SetOption(key, "false"),
        UpdateColumnNullability(("a",), False),
    )
    opened = base.with_options({key: "false"})
    assert diff(opened, tight) == (UpdateColumnNullability(("a",), False), RemoveOption(key))
    required = with_fields(opened, *opened.fields, t.DataField(NEW, "b", t.Int(False)))
    assert run(opened, *diff(opened, required)).fields[1].type == t.Int(False)


def test_options_that_follow_a_rename_are_not_set_again() -> None:
    base = table(("a", INT), ("k", INT), primary=("k",), options={"sequence.field": "a"})
    target = with_fields(base, renamed(base.fields[0], "z"), base.fields[1]).with_options({"sequence.field": "z"})
    assert diff(base, target) == (RenameColumn(("a",), "z"),)


def test_keys() -> None:
    plain = table(("a", INT), ("b", INT))
    keyed = table(("a", INT), ("b", INT), primary=("a",), partition=("b",))
    changes = diff(plain, keyed)
    assert changes == (SetOption("primary-key", "a"), SetOption("partition", "b"))
    assert replace(run(plain, *changes), id=0, time_millis=0) == keyed
    assert DropPrimaryKey() in diff(keyed, replace(keyed, primary_keys=()))
    other = replace(keyed, primary_keys=("b", "a"))
    assert run(keyed, *diff(keyed, other)).primary_keys == ("b", "a")
    with pytest.raises(ValidationError) as caught:
        diff(keyed, replace(keyed, partition_keys=("a",)))
    assert caught.value.code == "LB4023"


def test_a_struct_cannot_lose_all_its_members() -> None:
    base = table(("k", INT), ("r", row(("x", INT))))
    with pytest.raises(ValidationError) as caught:
        diff(base, with_fields(base, base.fields[0], replace(base.fields[1], type=t.Row(()))))
    assert caught.value.code == "LB4023"
    empty = table(("k", INT), ("r", t.Row(())))
    filled = with_fields(empty, empty.fields[0], replace(empty.fields[1], type=row(("x", INT))))
    assert run(empty, *diff(empty, filled)).fields[1].type == t.Row((t.DataField(2, "x", INT),))


BASE = table(
    t.DataField(NEW, "a", INT, "text", "1"), ("b", STRING), ("k", t.Int(False)), options={"x": "1"}, comment="c"
)


@pytest.mark.parametrize(
    ("change", "back"),
    [
        (SetOption("x", "2"), SetOption("x", "1")),
        (SetOption("y", "2"), RemoveOption("y")),
        (RemoveOption("x"), SetOption("x", "1")),
        (UpdateComment(None), UpdateComment("c")),
        (AddColumn(("n",), INT), DropColumn(("n",))),
        (RenameColumn(("a",), "z"), RenameColumn(("z",), "a")),
        (DropColumn(("a",)), None),
        (UpdateColumnType(("a",), t.BigInt()), UpdateColumnType(("a",), INT)),
        (UpdateColumnNullability(("k",), True), UpdateColumnNullability(("k",), False)),
        (UpdateColumnComment(("a",), None), UpdateColumnComment(("a",), "text")),
        (UpdateColumnDefaultValue(("a",), "2"), UpdateColumnDefaultValue(("a",), "1")),
        (UpdateColumnPosition(Move.last("a")), UpdateColumnPosition(Move.first("a"))),
        (UpdateColumnPosition(Move.first("k")), UpdateColumnPosition(Move.after("k", "b"))),
        (SetOption("primary-key", "k"), DropPrimaryKey()),
        (SetOption("primary-key", "a"), None),
        (SetOption("type", "table"), None),
        (SetOption("partition", "a"), None),
    ],
)
def test_a_change_knows_its_inverse_where_there_is_one(change: Change, back: Change | None) -> None:
    assert inverse(change, BASE) == back


def test_a_cast_that_does_not_go_back_has_no_inverse() -> None:
    base = table(("a", t.Array(INT)), ("b", INT), primary=("b",))
    assert inverse(UpdateColumnType(("a",), STRING), base) is None
    assert inverse(DropPrimaryKey(), base) == SetOption("primary-key", "b")
