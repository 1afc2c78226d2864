"""Evaluation of changes: ids, guards, paths, and that every guard looks at the working copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from evolve.tables import ids, refused, row, run, shape, table, wide
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UnsupportedError, ValidationError
from lakebed.evolve.nested_paths import locate
from lakebed.evolve.possible_renames import resembling
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
from lakebed.physical.paimon_tree import walk_fields

INT, STRING = t.Int(), t.STRING


def test_a_new_version_counts_on_and_has_the_time_given() -> None:
    base = table(("a", INT), comment="old")
    new = run(base, UpdateComment("new"))
    assert (new.id, new.version, new.time_millis, new.comment) == (1, 3, 7, "new")
    assert run(base, UpdateComment(None)).comment is None
    assert run(base).id == 1


def test_a_later_file_format_is_not_written() -> None:
    base = table(("a", INT))
    with pytest.raises(UnsupportedError) as caught:
        run(TableSchema(0, base.fields, 0, version=4), SetOption("x", "y"))
    assert caught.value.code == "LB4022"


class TestIds:
    def test_column_first_then_nested_from_one_counter(self) -> None:
        base = wide()
        assert base.highest_field_id == 12
        new = run(base, AddColumn(("c1",), INT))
        assert (ids(new)["c1"], new.highest_field_id) == (13, 13)
        used = run(new, *(AddColumn((f"u{i}",), INT) for i in range(14, 19)))
        new = run(used, AddColumn(("c8",), row(("q", row(("z", INT))), ("w", INT))))
        assert {n: ids(new)[n] for n in ("c8", "z", "q", "w")} == {"c8": 19, "z": 20, "q": 21, "w": 22}
        new = run(new, AddColumn(("r", "c"), INT), AddColumn(("r", "d"), INT, move=Move.first("d")))
        assert [(f.name, f.id) for f in locate(new.fields, ("r",)).fields] == [("d", 24), ("a", 5), ("b", 6), ("c", 23)]  # type: ignore[union-attr]

    def test_a_name_that_comes_back_gets_a_new_id(self) -> None:
        base = table(("a", INT), ("c1", INT))
        new = run(run(base, DropColumn(("c1",))), AddColumn(("c1",), STRING))
        assert ids(new)["c1"] == 2

    def test_drop_and_add_in_one_batch(self) -> None:
        new = run(table(("a", INT), ("c", INT)), DropColumn(("c",)), AddColumn(("c",), STRING))
        assert ids(new) == {"a": 0, "c": 2}
        assert new.fields[1].type == STRING

    def test_the_counter_does_not_fall_when_an_added_column_goes_in_the_same_batch(self) -> None:
        new = run(table(("a", INT)), AddColumn(("b",), INT), DropColumn(("b",)))
        assert (shape(new), new.highest_field_id) == (["a"], 1)

    def test_ids_inside_the_given_type_are_not_used(self) -> None:
        given = t.Row((t.DataField(0, "x", INT),))
        assert ids(run(table(("a", INT)), AddColumn(("r",), given))) == {"a": 0, "r": 1, "x": 2}

    def test_a_counter_that_is_too_low_in_the_file_is_put_right(self) -> None:
        base = TableSchema(0, (t.DataField(5, "a", INT),), 2)
        assert ids(run(base, AddColumn(("b",), INT)))["b"] == 6


class TestPaths:
    @pytest.mark.parametrize(
        ("change", "path", "expected"),
        [
            (UpdateColumnType(("ai", "element"), t.BigInt()), ("ai", "element"), t.BigInt()),
            (UpdateColumnType(("ar", "element", "x"), t.BigInt()), ("ar", "element", "x"), t.BigInt()),
            (UpdateColumnType(("m", "value", "y"), t.BigInt()), ("m", "value", "y"), t.BigInt()),
            (UpdateColumnNullability(("r", "a"), True), ("r", "a"), INT),
            (AddColumn(("ar", "element", "z"), STRING), ("ar", "element", "z"), STRING),
            (AddColumn(("m", "value", "z"), STRING), ("m", "value", "z"), STRING),
            (RenameColumn(("ar", "element", "x"), "x2"), ("ar", "element", "x2"), INT),
            (RenameColumn(("m", "value", "y"), "y2"), ("m", "value", "y2"), INT),
        ],
    )
    def test_every_level_can_be_reached(self, change: Change, path: tuple[str, ...], expected: t.DataType) -> None:
        assert locate(run(wide(), change).fields, path) == expected

    def test_lists_of_maps_of_lists(self) -> None:
        base = table(("a", INT), ("d", t.Array(t.Map(STRING, t.Array(row(("x", INT)))))))
        path = ("d", "element", "value", "element")
        new = run(base, AddColumn((*path, "y"), INT), RenameColumn((*path, "x"), "z"), DropColumn((*path, "z")))
        assert [f.name for f in locate(new.fields, path).fields] == ["y"]  # type: ignore[union-attr]

    @pytest.mark.parametrize(
        "change",
        [
            AddColumn(("k", "zz"), INT),
            AddColumn(("ar", "x4"), INT),
            AddColumn(("ar", "element"), INT),
            AddColumn(("ai", "element", "x"), INT),
            DropColumn(("ai", "element")),
            RenameColumn(("m", "key"), "x"),
            UpdateColumnType(("m", "key"), t.Int()),
            UpdateColumnType(("ar", "whatever", "x"), t.BigInt()),
            UpdateColumnType(("ms", "element"), t.BigInt()),
            UpdateColumnComment(("ai", "element"), "c"),
            UpdateColumnDefaultValue(("ai", "element"), "1"),
            UpdateColumnPosition(Move.first("x"), ("ar",)),
        ],
    )
    def test_a_path_that_leads_nowhere(self, change: Change) -> None:
        assert refused(wide(), change) == ["LB4003"]

    def test_the_way_into_a_list_is_told(self) -> None:
        with pytest.raises(ValidationError) as caught:
            run(wide(), AddColumn(("ar", "x4"), INT))
        assert "ar.element" in (caught.value.diagnostics[0].remedy or "")

    @pytest.mark.parametrize(
        "change", [AddColumn((), INT), DropColumn(()), RenameColumn((), "x"), UpdateColumnType((), INT)]
    )
    def test_a_path_of_no_names(self, change: Change) -> None:
        assert refused(wide(), change) == ["LB4021"]

    @pytest.mark.parametrize(
        "change",
        [
            DropColumn(("nope",)),
            DropColumn(("r", "nope")),
            RenameColumn(("V",), "w"),
            UpdateColumnType(("r", "nope"), INT),
            UpdateColumnComment(("nope",), "c"),
            AddColumn(("nope", "x"), INT),
            AddColumn(("x",), INT, move=Move.after("x", "nope")),
            UpdateColumnPosition(Move.after("v", "nope")),
            UpdateColumnPosition(Move.first("nope")),
        ],
    )
    def test_a_name_that_is_not_there(self, change: Change) -> None:
        assert refused(wide(), change) == ["LB4001"]


class TestAdd:
    def test_required_columns_are_refused_at_every_level(self) -> None:
        assert refused(wide(), AddColumn(("x",), t.Int(False))) == ["LB4010"]
        assert refused(wide(), AddColumn(("ar", "element", "z"), t.Int(False))) == ["LB4010"]

    def test_members_of_a_new_row_may_be_required(self) -> None:
        new = run(wide(), AddColumn(("x",), row(("q", t.Int(False)))))
        assert locate(new.fields, ("x", "q")) == t.Int(False)

    def test_names_are_unique_among_siblings_with_case(self) -> None:
        base = table(("a", INT), ("r", row(("x", INT))))
        assert refused(base, AddColumn(("a",), INT)) == ["LB4002"]
        assert refused(base, AddColumn(("r", "x"), INT)) == ["LB4002"]
        assert shape(run(base, AddColumn(("A",), INT))) == ["a", "r", "A"]
        assert refused(base, AddColumn((" ",), INT)) == ["LB4004"]

    @pytest.mark.parametrize(
        ("move", "order"),
        [
            (None, "abx"),
            (Move.first("x"), "xab"),
            (Move.last("x"), "abx"),
            (Move.after("x", "a"), "axb"),
            (Move.before("x", "b"), "axb"),
            (Move.before("x", "a"), "xab"),
        ],
    )
    def test_place(self, move: Move | None, order: str) -> None:
        base = table(("a", INT), ("b", INT))
        assert "".join(shape(run(base, AddColumn(("x",), INT, "c", move)))) == order

    def test_before_the_partition_columns_where_an_option_says_so(self) -> None:
        base = table(("a", INT), ("p", INT), partition=("p",), options={"add-column-before-partition": "true"})
        assert shape(run(base, AddColumn(("x",), INT))) == ["a", "x", "p"]
        assert shape(run(base, AddColumn(("x",), INT, move=Move.last("x")))) == ["a", "p", "x"]

    def test_reserved_names_are_refused(self) -> None:
        for name in ("_ROW_ID", "_KEY_x", "rowkind"):
            assert refused(table(("a", INT)), AddColumn((name,), INT)) == ["LB3315"]
        assert run(table(("r", row(("x", INT)))), AddColumn(("r", "rowkind"), INT))

    def test_directives_make_blobs_and_vectors(self) -> None:
        base = table(("a", INT), options={"row-tracking.enabled": "true", "data-evolution.enabled": "true"})
        new = run(base, AddColumn(("b",), t.BYTES, "__BLOB_FIELD; a photo"))
        assert new.fields[1].type == t.Blob()
        assert (new.fields[1].description, new.options["blob-field"]) == ("a photo", "b")
        again = run(new, AddColumn(("v",), t.Array(t.Float()), "__VECTOR_FIELD;128"))
        assert again.fields[2].type == t.Vector(t.Float(), 128)
        assert again.options["field.v.vector-dim"] == "128"
        gone = run(again, DropColumn(("v",)), DropColumn(("b",)))
        assert gone.options == base.options
        assert refused(new, RenameColumn(("b",), "c")) == ["LB4008"]
        assert refused(new, UpdateColumnType(("b",), t.BYTES)) == ["LB4008"]

    @pytest.mark.parametrize(
        "comment", ["__BLOB", "__BLOB_FIELDS", "__VECTOR_FIELD", "__VECTOR_FIELD;0", "__BLOB_FIELD"]
    )
    def test_bad_directives(self, comment: str) -> None:
        assert refused(table(("a", INT)), AddColumn(("x",), INT, comment)) == ["LB4014"]
        assert refused(table(("a", INT)), UpdateColumnComment(("a",), comment)) == ["LB4014"]


class TestRename:
    def test_keeps_id_type_description_and_default(self) -> None:
        base = table(t.DataField(-1, "a", INT, "text", "1"), ("b", INT))
        assert run(base, RenameColumn(("a",), "c")).fields[0] == t.DataField(0, "c", INT, "text", "1")

    def test_a_primary_key_takes_the_key_list_along_also_in_a_chain(self) -> None:
        new = run(wide(), RenameColumn(("k",), "k3"), RenameColumn(("k3",), "k4"))
        assert new.primary_keys == ("k4", "p")
        assert new.options["bucket-key"] == "k4"

    def test_refusals(self) -> None:
        assert refused(wide(), RenameColumn(("p",), "q")) == ["LB4005"]
        assert refused(wide(), RenameColumn(("v",), "v")) == ["LB4002"]
        assert refused(wide(), RenameColumn(("v",), "n")) == ["LB4002"]
        assert refused(wide(), RenameColumn(("v",), " ")) == ["LB4004"]
        indexed = table(("a", INT), ("v", INT), options={"pk-btree.index.columns": "v"})
        assert refused(indexed, RenameColumn(("v",), "w"))[0] == "LB4007"
        assert refused(indexed, DropColumn(("v",)))[0] == "LB4007"
        assert refused(indexed, UpdateColumnType(("v",), t.BigInt()))[0] == "LB4007"

    def test_two_names_swap_through_a_third(self) -> None:
        base = table(("a", INT), ("b", STRING))
        new = run(base, RenameColumn(("a",), "t"), RenameColumn(("b",), "a"), RenameColumn(("t",), "b"))
        assert ids(new) == {"b": 0, "a": 1}


class TestDrop:
    def test_keys_and_last_columns_stay(self) -> None:
        assert refused(wide(), DropColumn(("k",))) == ["LB4006"]
        assert refused(wide(), DropColumn(("p",))) == ["LB4005"]
        assert refused(table(("a", INT)), DropColumn(("a",))) == ["LB4009"]
        assert refused(wide(), DropColumn(("ar", "element", "x"))) == ["LB4009"]

    def test_a_column_that_an_option_names(self) -> None:
        assert refused(wide(), DropColumn(("n",)))
        for batch in (
            (RemoveOption("sequence.field"), DropColumn(("n",))),
            (DropColumn(("n",)), RemoveOption("sequence.field")),
        ):
            assert "n" not in shape(run(wide(), *batch))


class TestType:
    def test_guards(self) -> None:
        assert refused(wide(), UpdateColumnType(("k",), t.BigInt(False))) == ["LB4006"]
        assert refused(wide(), UpdateColumnType(("p",), t.VarChar(3))) == ["LB4005"]
        assert run(wide(), UpdateColumnType(("v",), INT)).fields[2].type == INT
        assert run(wide(), UpdateColumnType(("n",), t.BigInt())).fields[3].type == t.BigInt()

    @pytest.mark.parametrize(
        ("old", "new", "allowed"),
        [
            (t.Array(INT), STRING, True),
            (row(("a", INT)), row(("b", INT)), False),
            (t.Multiset(INT), STRING, False),
            (INT, t.Date(), False),
            (INT, t.Timestamp(3), True),
            (t.Boolean(), t.Boolean(False), False),
            (t.Date(), t.VarChar(20), False),
            (t.Date(), STRING, True),
            (t.Time(0), t.Time(3), False),
            (t.VarChar(20), t.VarChar(3), True),
        ],
    )
    def test_the_matrix_decides(self, old: t.DataType, new: t.DataType, allowed: bool) -> None:
        base = table(("a", INT), ("c", old), options={"alter-column-null-to-not-null.disabled": "false"})
        if allowed:
            assert run(base, UpdateColumnType(("c",), new)).fields[1].type == new
        else:
            assert refused(base, UpdateColumnType(("c",), new)) == ["LB4012"]

    def test_nullability_comes_along_or_is_kept(self) -> None:
        base = table(("a", t.Int(False)), ("b", INT))
        assert run(base, UpdateColumnType(("a",), t.BigInt())).fields[0].type == t.BigInt()
        kept = run(base, UpdateColumnType(("a",), t.BigInt(), keep_nullability=True))
        assert kept.fields[0].type == t.BigInt(False)
        assert refused(base, UpdateColumnType(("b",), t.BigInt(False))) == ["LB4011"]
        opened = SetOption("alter-column-null-to-not-null.disabled", "false")
        assert run(base, opened, UpdateColumnType(("b",), t.BigInt(False))).fields[1].type == t.BigInt(False)

    def test_only_implicit_casts_where_explicit_ones_are_off(self) -> None:
        off = table(("a", t.BigInt()), ("b", INT), options={"disable-explicit-type-casting": "true"})
        assert refused(off, UpdateColumnType(("a",), INT)) == ["LB4012"]
        assert run(off, UpdateColumnType(("b",), t.BigInt())).fields[1].type == t.BigInt()
        assert run(off, RemoveOption("disable-explicit-type-casting"), UpdateColumnType(("a",), INT))

    def test_a_default_must_still_be_a_value(self) -> None:
        base = table(t.DataField(-1, "a", STRING, None, "abc"), ("b", INT))
        assert refused(base, UpdateColumnType(("a",), INT)) == ["LB4013"]
        new = run(base, UpdateColumnDefaultValue(("a",), "5"), UpdateColumnType(("a",), INT))
        assert new.fields[0] == t.DataField(0, "a", INT, None, "5")

    def test_files_of_earlier_versions_must_be_readable_too(self) -> None:
        first = table(("a", INT), ("x", t.BigInt()))
        second = run(first, UpdateColumnType(("x",), STRING), data=True, history=lambda: [first])
        with pytest.raises(ValidationError) as caught:
            run(second, UpdateColumnType(("x",), t.Date()), data=True, history=lambda: [first, second])
        assert [d.code for d in caught.value.diagnostics] == ["LB4025"]
        assert run(second, UpdateColumnType(("x",), t.Date()), history=lambda: [first, second])
        assert run(second, AddColumn(("y",), INT), data=True, history=lambda: [first, second])


class TestNullabilityDefaultPosition:
    def test_nullability(self) -> None:
        assert refused(wide(), UpdateColumnNullability(("k",), True)) == ["LB4006"]
        assert refused(wide(), UpdateColumnNullability(("v",), False)) == ["LB4011"]
        opened = SetOption("alter-column-null-to-not-null.disabled", "false")
        for path in (("v",), ("r",), ("ai", "element"), ("m", "value"), ("m", "value", "y")):
            new = run(wide(), opened, UpdateColumnNullability(path, False))
            assert not locate(new.fields, path).nullable
        assert run(table(("a", t.Int(False))), UpdateColumnNullability(("a",), True)).fields[0].type == INT

    def test_adding_and_then_requiring_does_not_get_past_the_guard(self) -> None:
        batch = AddColumn(("x",), INT), UpdateColumnNullability(("x",), False)
        assert refused(wide(), *batch) == ["LB4011"]

    def test_default(self) -> None:
        base = table(("n", INT), ("d", t.Decimal(3, 2)), ("v", t.Variant()), ("r", row(("x", INT))))
        assert refused(base, UpdateColumnDefaultValue(("n",), "abc")) == ["LB4013"]
        assert refused(base, UpdateColumnDefaultValue(("v",), "1")) == ["LB4013"]
        assert refused(base, UpdateColumnDefaultValue(("d",), "1234")) == ["LB4013"]
        assert run(base, UpdateColumnDefaultValue(("d",), "9.99")).fields[1].default_value == "9.99"
        new = run(base, UpdateColumnDefaultValue(("n",), "1.5"), UpdateColumnDefaultValue(("r", "x"), "2"))
        assert new.fields[0].default_value == "1.5"
        assert run(new, UpdateColumnDefaultValue(("n",), None)).fields[0].default_value is None

    @pytest.mark.parametrize(
        ("move", "order"),
        [
            (Move.first("c"), "cabd"),
            (Move.last("a"), "bcda"),
            (Move.after("a", "c"), "bcad"),
            (Move.after("d", "a"), "adbc"),
            (Move.before("a", "d"), "bcad"),
            (Move.before("d", "b"), "adbc"),
        ],
    )
    def test_position(self, move: Move, order: str) -> None:
        columns = [(n, INT) for n in "abcd"]
        assert "".join(shape(run(table(*columns), UpdateColumnPosition(move)))) == order
        nested = run(table(("k", INT), ("r", t.Array(row(*columns)))), UpdateColumnPosition(move, ("r", "element")))
        inner = locate(nested.fields, ("r", "element"))
        assert "".join(f.name for f in inner.fields) == order  # type: ignore[union-attr]

    @pytest.mark.parametrize("move", [Move.first("a"), Move.last("d"), Move.after("b", "b"), Move.before("b", "b")])
    def test_a_move_that_moves_nothing(self, move: Move) -> None:
        assert refused(table(*((n, INT) for n in "abcd")), UpdateColumnPosition(move)) == ["LB4015"]


class TestBatches:
    def test_all_refused_changes_are_told_at_once(self) -> None:
        batch = DropColumn(("nope",)), AddColumn(("x",), t.Int(False)), RenameColumn(("p",), "q")
        assert refused(wide(), *batch) == ["LB4001", "LB4010", "LB4005"]

    def test_options_are_compared_with_the_working_copy(self) -> None:
        base = table(("a", INT), primary=("a",), options={"bucket": "1"})
        new = run(base, SetOption("bucket", "5"), SetOption("bucket", "1"), data=True)
        assert new.options["bucket"] == "1"

    def test_keys_are_defined_where_there_are_none(self) -> None:
        base = table(("a", INT), ("b", INT))
        new = run(base, SetOption("primary-key", "a, b"), SetOption("partition", "b"))
        assert (new.primary_keys, new.partition_keys, dict(new.options)) == (("a", "b"), ("b",), {})
        assert not new.fields[0].type.nullable
        assert run(new, SetOption("primary-key", "a,b")).primary_keys == ("a", "b")
        assert refused(new, SetOption("primary-key", "b")) == ["LB4019"]
        assert refused(base, SetOption("partition", "b"), data=True) == ["LB4019"]

    def test_the_primary_key_is_dropped_without_data_only(self) -> None:
        base = table(("a", INT), ("b", INT), primary=("a",))
        new = run(base, DropPrimaryKey())
        assert (new.primary_keys, new.fields[0].type) == ((), t.Int(False))
        assert refused(base, DropPrimaryKey(), data=True) == ["LB4020"]
        bucketed = table(("a", INT), primary=("a",), options={"bucket": "2"})
        assert refused(bucketed, DropPrimaryKey())
        assert run(bucketed, DropPrimaryKey(), SetOption("bucket-key", "a")).options["bucket-key"] == "a"
        changed = run(base, DropPrimaryKey(), SetOption("primary-key", "b"))
        assert changed.primary_keys == ("b",)

    def test_snapshots_are_looked_for_only_where_a_rule_asks_and_once(self) -> None:
        from lakebed.evolve import evaluate

        asked: list[int] = []

        def ask() -> bool:
            asked.append(1)
            return True

        base = table(("a", INT), options={"bucket": "-1"})
        evaluate(base, [AddColumn(("b",), INT), SetOption("x", "y")], has_snapshots=ask, now=0)
        assert asked == []
        changes = [SetOption("merge-engine", "first-row"), SetOption("bucket", "3")]
        with pytest.raises(ValidationError):
            evaluate(base, changes, has_snapshots=ask, now=0)
        assert asked == [1]


class TestManyColumns:
    """A change costs what it touches, whatever else the table holds."""

    @staticmethod
    def visited(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
        seen = 0

        def counted(fields: Iterable[t.DataField]) -> Iterator[t.DataField]:
            nonlocal seen
            for field in walk_fields(fields):
                seen += 1
                yield field

        base = table(*((f"c{i}", t.Int()) for i in range(count)))
        monkeypatch.setattr("lakebed.evolve.working_copy.walk_fields", counted)
        run(base, *(UpdateColumnType((f"c{i}",), t.BigInt()) for i in range(count)))
        return seen

    def test_a_retype_of_all_columns_looks_at_each_a_few_times(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.visited(200, monkeypatch) <= 4 * 200

    def test_columns_of_one_name_are_refused_and_none_is_lost(self) -> None:
        base = table(("a", t.Int()), ("b", t.Int()))
        doubled = replace(base, fields=(*base.fields, replace(base.fields[0], id=2)), highest_field_id=2)
        assert refused(doubled, SetOption("x", "1")) == ["LB4002"]

    def test_possible_renames_among_very_many_columns(self) -> None:
        before = table(*((f"c_{i}", t.Int()) for i in range(300))).fields
        after = tuple(t.DataField(t.UNASSIGNED, f"C{i}", t.Int()) for i in reversed(range(300)))
        pairs = resembling(before, after)
        assert len(pairs) == 300
        assert all(old.name.replace("_", "").lower() == new.name.lower() for old, new in pairs)
        others = tuple(t.DataField(t.UNASSIGNED, f"z{i}", t.Date()) for i in range(300))
        assert resembling(before, others) == []
