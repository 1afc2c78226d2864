"""Merges as new versions: one at a time, by the rules of every other change, and made up for when a race is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import lakebed
from evolve.tables import refused, row, table
from lakebed import model
from lakebed.catalog import PathFactory, TableManager
from lakebed.catalog.columns import to_columns
from lakebed.catalog.schema_manager import SchemaManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import ConflictError, LakebedError, RefusedError, UsageError, ValidationError
from lakebed.evolve.make_version import with_changes
from lakebed.evolve.merge_input import incoming_columns
from lakebed.evolve.merge_schema import SchemaMerge, merge_rules
from lakebed.evolve.schema_changes import RenameColumn, UpdateColumnType
from lakebed.lake import Lake
from lakebed.model import types as logical
from lakebed.physical import paimon_types as t
from lakebed.testing.memory_store import MemoryStore

INT, BIGINT = t.Int(), t.BigInt()


def merge(base: TableSchema, *columns: Any, types: str = "widen", allow: tuple[str, ...] = (), **parts: Any):
    made = SchemaMerge(incoming_columns(list(columns)), merge_rules(types, case_sensitive=True), frozenset(allow))
    return made.next_version(base, has_snapshots=lambda: parts.get("data", False), now=9, history=parts.get("history"))


def codes(base: TableSchema, *columns: Any, **parts: Any) -> list[str]:
    with pytest.raises(LakebedError) as caught:
        merge(base, *columns, **parts)
    return [d.code for d in caught.value.diagnostics]


def test_members_are_numbered_before_the_column_as_the_reference_does() -> None:
    base = table(("k", INT), ("r", row(("x", INT))), options={"x": "y"}, comment="c")
    assert base.highest_field_id == 2
    new = merge(base, ("n2", row(("q", t.Int(False)))), ("r", row(("m", row(("z", INT))))))
    assert new.fields[2] == t.DataField(6, "n2", t.Row((t.DataField(5, "q", t.Int(False)),)))
    inner = new.fields[1].type
    assert inner == t.Row((t.DataField(2, "x", INT), t.DataField(4, "m", t.Row((t.DataField(3, "z", INT),)))))
    assert (new.id, new.highest_field_id, new.time_millis) == (1, 6, 9)
    assert (new.options, new.comment, new.version) == (base.options, "c", 3)


def test_what_the_table_has_already_changes_nothing() -> None:
    base = table(("k", BIGINT), ("r", row(("x", INT))))
    assert merge(base, ("k", BIGINT)) is base
    assert merge(base, ("k", INT), types="add") is base


class TestLeave:
    BASE = table(("a", INT), ("c", t.Char(3)), ("d", t.Decimal(5, 2)))

    def test_safe_merges_need_none(self) -> None:
        new = merge(self.BASE, ("a", BIGINT), ("d", t.Decimal(9, 2)), ("new", t.Date()))
        assert [str(f.type) for f in new.fields] == ["BIGINT", "CHAR(3)", "DECIMAL(9, 2)", "DATE"]

    @pytest.mark.parametrize(
        ("column", "types", "code"),
        [
            (("a", t.Float()), "widen", "LB4206"),
            (("a", t.Decimal(4, 2)), "widen", "LB4206"),
            (("a", t.SmallInt()), "cast", "LB4206"),
            (("c", t.Char(5)), "widen", "LB4208"),
            (("A", INT), "widen", "LB4504"),
        ],
    )
    def test_others_do(self, column: Any, types: str, code: str) -> None:
        assert codes(self.BASE, column, types=types) == [code]
        for allow in (code, f"{code}:{column[0]}"):
            assert merge(self.BASE, column, types=types, allow=(allow,)).id == 1
        assert codes(self.BASE, column, types=types, allow=(f"{code}:other", "LB4203")) == [code]

    def test_all_are_told_at_once(self) -> None:
        assert codes(self.BASE, ("a", t.Float()), ("c", t.Char(5))) == ["LB4206", "LB4208"]


class TestGuards:
    def test_keys_and_partition_columns_stay(self) -> None:
        base = table(("k", INT), ("p", INT), primary=("k", "p"), partition=("p",), options={"bucket": "1"})
        assert codes(base, ("k", BIGINT)) == ["LB4006"]
        assert codes(base, ("p", BIGINT)) == ["LB4005"]
        assert merge(base, ("k", BIGINT), ("p", BIGINT), types="add") is base

    def test_reserved_names_and_formats(self) -> None:
        assert codes(table(("a", INT)), ("_ROW_ID", INT)) == ["LB3315"]
        avro = table(("a", INT), options={"file.format": "avro"})
        assert codes(avro, ("ts", t.Timestamp(9))) == ["LB3330"]

    def test_casts_that_no_reader_can_make(self) -> None:
        base = table(("d", t.Date(False)), ("m", t.Multiset(INT)))
        assert codes(base, ("d", t.VarChar(20)), types="cast", allow=("LB4206",)) == ["LB4012"]
        assert codes(base, ("d", t.STRING), types="cast", allow=("LB4206",)) == ["LB4012"]

    def test_files_of_earlier_versions_must_be_readable(self) -> None:
        first = table(("x", BIGINT))
        second = with_changes(first, [UpdateColumnType(("x",), t.STRING)], has_snapshots=lambda: True, now=0)
        found = codes(
            second, ("x", t.Date()), types="cast", allow=("LB4206",), data=True, history=lambda: [first, second]
        )
        assert found == ["LB4025"]

    def test_newer_files_and_unknown_types_are_not_written(self) -> None:
        later = TableSchema(0, (t.DataField(0, "a", INT),), 0, version=4)
        assert codes(later, ("b", INT)) == ["LB4022"]
        future = TableSchema(0, (t.DataField(0, "a", t.Unknown("TENSOR(3)")),), 0)
        assert codes(future, ("b", INT)) == ["LB4500"]
        assert refused(future, RenameColumn(("a",), "c")) == ["LB4500"]

    def test_a_directive_is_not_followed(self) -> None:
        assert codes(table(("a", INT)), t.DataField(-1, "b", t.BYTES, "__BLOB_FIELD")) == ["LB4014"]

    def test_a_first_version_file_goes_on(self) -> None:
        base = TableSchema(0, (t.DataField(0, "a", INT),), 0, options={"bucket": "1", "file.format": "orc"}, version=1)
        new = merge(base, ("b", INT))
        assert (new.version, dict(new.options)) == (3, {"bucket": "1", "file.format": "orc"})


def test_declared_meanings_come_along_and_the_tables_own_stay() -> None:
    option = logical.Option
    known = model.Schema((model.Field("u", option(logical.UInt8())), model.Field("s", option(struct("x", "y")))))
    fresh = model.Field(
        "n", logical.UInt64(), model.Extra({"example.org/unit": "m", model.extra.DESCRIPTION: "how far"})
    )
    lake = memory_lake()
    lake.tables.create_table("db", "t", known)
    data = model.Schema((model.Field("s", struct("y", "z", of=logical.UInt32())), fresh))
    found = lake.merge_schema("db.t", data).logical
    assert found.field("u") == known.fields[0]
    assert found.field("n") == model.Field("n", option(logical.UInt64()), fresh.extra)
    inner = model.required(found.field("s").type).fields
    assert [f.name for f in inner] == ["x", "y", "z"]
    assert [model.required(f.type) for f in inner] == [logical.UInt16(), logical.UInt16(), logical.UInt32()]


def struct(*names: str, of: logical.LogicalType | None = None) -> logical.Struct:
    own = {"z": of} if of else {}
    return logical.Struct(tuple(model.Field(n, logical.Option(own.get(n) or logical.UInt16())) for n in names))


def memory_lake(store: MemoryStore | None = None) -> Lake:
    store = store or MemoryStore()
    return Lake(TableManager(PathFactory("/wh"), store), store, time_zone="UTC", clock=lambda: 5)


@pytest.mark.parametrize(
    "data",
    [
        ["k BIGINT", "n INT"],
        [lakebed.Field("k", lakebed.DataType.LONG), ("n", "INT")],
        model.Schema((model.Field("k", logical.Int64()), model.Field("n", logical.Int32()))),
        table(("k", BIGINT), ("n", INT)),
    ],
)
def test_every_form_of_columns(data: Any) -> None:
    lake = memory_lake()
    lake.tables.create_table("db", "t", ["k INT"])
    new = lake.merge_schema("db.t", data)
    assert [str(f.type) for f in new.fields] == ["BIGINT", "INT"]
    assert (new.id, lake.merge_schema("db.t", data).id, lake.schema("db.t").id) == (1, 1, 1)


def test_the_schema_of_a_dataframe() -> None:
    from pyspark.sql import types as spark

    lake = memory_lake()
    lake.tables.create_table("db", "t", ["k INT", ("r", row(("x", INT)))])
    inner = spark.StructType([spark.StructField("y", spark.ShortType()), spark.StructField("v", spark.NullType())])
    struct_type = spark.StructType(
        [
            spark.StructField("k", spark.LongType(), False),
            spark.StructField("r", inner),
            spark.StructField("at", spark.TimestampNTZType()),
            spark.StructField("nothing", spark.ArrayType(spark.NullType())),
        ]
    )
    found = lake.merge_schema("db.t", struct_type)
    assert [(f.name, str(f.type)) for f in found.fields if f.name != "r"] == [("k", "BIGINT"), ("at", "TIMESTAMP(6)")]
    assert [f.name for f in found.fields[1].type.fields] == ["x", "y"]  # type: ignore[union-attr]


@pytest.mark.parametrize("data", ["k INT", 7, None, b""])
def test_what_says_no_columns(data: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        incoming_columns(data)
    assert caught.value.code == "LB4505"


def test_arguments_that_mean_nothing() -> None:
    lake = memory_lake()
    lake.tables.create_table("db", "t", ["k INT"])
    with pytest.raises(UsageError) as caught:
        lake.merge_schema("db.t", ["k INT"], types="widest")  # type: ignore[arg-type]
    assert caught.value.code == "LB4506"
    with pytest.raises(UsageError):
        lake.merge_schema("db.t", ["k INT"], allow=["LB99999"])


def test_one_version_a_merge_and_none_when_it_is_refused() -> None:
    lake = memory_lake()
    lake.tables.create_table("db", "t", ["k INT"])
    with pytest.raises(RefusedError):
        lake.merge_schema("db.t", ["k FLOAT", "a INT"])
    assert lake.schema("db.t").id == 0
    assert lake.merge_schema("db.t", ["k BIGINT", "a INT", "b INT"]).id == 1


@dataclass
class _Rival:
    """Somebody who is quicker, once: does `first` just before this side's version is published."""

    lake: Lake
    first: Any

    def __call__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        publish = SchemaManager.publish

        def late(manager: SchemaManager, schema: TableSchema) -> bool:
            monkeypatch.setattr(SchemaManager, "publish", publish)
            self.first(self.lake)
            return publish(manager, schema)

        monkeypatch.setattr(SchemaManager, "publish", late)


def test_a_lost_race_is_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    lake = memory_lake()
    lake.tables.create_table("db", "t", ["k INT"])
    _Rival(lake, lambda other: other.merge_schema("db.t", ["a INT", "b INT"]))(monkeypatch)
    new = lake.merge_schema("db.t", ["b BIGINT", "c INT"])
    assert (new.id, new.field_names) == (2, ("k", "a", "b", "c"))
    assert str(new.field("b").type) == "BIGINT"  # type: ignore[union-attr]


def test_the_same_merge_by_two_makes_one_version(monkeypatch: pytest.MonkeyPatch) -> None:
    lake = memory_lake()
    lake.tables.create_table("db", "t", ["k INT"])
    _Rival(lake, lambda other: other.merge_schema("db.t", ["a INT"]))(monkeypatch)
    assert lake.merge_schema("db.t", ["a INT"]).id == 1


def test_a_race_that_changes_what_a_name_means_is_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    lake = memory_lake()
    lake.tables.create_table("db", "t", ["k INT", "v INT"])

    def swap(other: Lake) -> None:
        steps = [("k", "x"), ("v", "k"), ("x", "v")]
        other.tables.alter_table("db", "t", [RenameColumn((a,), b) for a, b in steps])

    _Rival(lake, swap)(monkeypatch)
    with pytest.raises(ConflictError):
        lake.merge_schema("db.t", ["k BIGINT"])
    assert lake.schema("db.t").id == 1


def test_to_columns_is_what_is_merged() -> None:
    assert incoming_columns([t.DataField(5, "a", INT)]).fields == to_columns(["a INT"]).fields
