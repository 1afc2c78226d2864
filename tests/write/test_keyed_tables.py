"""Rows with a primary key: every reader sees the newest row of each key, whatever was written in which order."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakebed import Lake
from lakebed.errors import UsageError
from lakebed.format.live_files import DataFile, plan_files
from lakebed.model import Date, Field, Float64, Int32, Int64, Option, String
from lakebed.spark.table_writer import TableWriter
from lakebed.table import Table
from read.keyed_tables import Record
from read.merge_oracle import merge
from referees.client import Referees
from referees.java import JavaReferee

COLUMNS = ("k", "v", "n")
KINDS = ("+I", "-U", "+U", "-D")
Row = tuple[str, int, str | None, int | None]


def create(lake: Lake, options: Mapping[str, str] | None = None, name: str = "t") -> None:
    fields = (Field("k", Int64()), Field("v", Option(String())), Field("n", Option(Int32())))
    lake.tables.create_table("db", name, fields, primary_keys=["k"], options={"bucket": "2", **(options or {})})


def history(seed: int, rounds: int, *, kinds: Sequence[str] = KINDS) -> list[list[Row]]:
    chance = random.Random(seed)

    def row() -> Row:
        value = chance.choice([None, "a", "b", "long text " * 3])
        return chance.choice(kinds), chance.randrange(12), value, chance.choice([None, 1, 2, 3])

    return [[row() for _ in range(chance.randrange(1, 20))] for _ in range(rounds)]


def expected(batches: Sequence[Sequence[Row]], options: Mapping[str, str]) -> list[tuple[Any, ...]]:
    by_key: dict[int, list[Record]] = {}
    ignored = ("-U", "-D") if "ignore-delete" in options else ()
    for number, (kind, *values) in enumerate(row for batch in batches for row in batch if row[0] not in ignored):
        record = Record(KINDS.index(kind), number, dict(zip(COLUMNS, values, strict=True)))
        by_key.setdefault(values[0], []).append(record)
    merged = (merge(records, COLUMNS, ["k"], options) for records in by_key.values())
    return sorted(tuple(row) for row in merged if row is not None)


def write(spark: SparkSession, lake: Lake, batches: Sequence[Sequence[Row]], name: str = "db.t") -> None:
    for batch in batches:
        frame = spark.createDataFrame(batch, "rowkind string, k bigint, v string, n int").coalesce(1)
        lake.ingest(spark, name, frame, row_kinds="rowkind")


def live_files(table: Table) -> tuple[DataFile, ...]:
    snapshot = table.snapshots.latest()
    assert snapshot is not None
    return plan_files(table.store, table.table_path, snapshot, table.schema())


ENGINES: Mapping[str, tuple[Mapping[str, str], Sequence[str]]] = {
    "deduplicate": ({}, KINDS),
    "sequence field": ({"sequence.field": "n"}, KINDS),
    "sequence field, descending": ({"sequence.field": "n", "sequence.field.sort-order": "descending"}, KINDS),
    "ignored deletes": ({"ignore-delete": "true"}, KINDS),
    "first row": ({"merge-engine": "first-row", "ignore-delete": "true"}, KINDS),
    "partial update": ({"merge-engine": "partial-update"}, ("+I", "+U")),
    "sequence group": ({"merge-engine": "partial-update", "fields.n.sequence-group": "v"}, ("+I", "+U")),
    "aggregation": (
        {
            "merge-engine": "aggregation",
            "fields.n.aggregate-function": "sum",
            "fields.v.aggregate-function": "last_non_null_value",
        },
        ("+I", "+U"),
    ),
}


@pytest.mark.parametrize("case", ENGINES)
def test_every_reader_merges_what_was_written_to_the_same_rows(
    spark: SparkSession, lake: Lake, tmp_path: Path, referees: Referees, java: JavaReferee, case: str
) -> None:
    options, kinds = ENGINES[case]
    create(lake, options)
    batches = history(len(case), 3, kinds=kinds)
    write(spark, lake, batches)
    wanted = expected(batches, options)
    assert sorted(tuple(row) for row in lake.read(spark, "db.t").collect()) == wanted
    warehouse = str(tmp_path / "warehouse")
    # pypaimon does not know sequence groups.
    readers = ("rust",) if case == "sequence group" else ("pypaimon", "rust")
    for reader in readers:
        assert sorted(map(tuple, referees.rows(reader, warehouse, "db.t"))) == wanted
    assert sorted(map(tuple, java.rows(warehouse, "db.t"))) == wanted


@pytest.mark.parametrize("format_", ["orc", "avro"])
def test_keys_of_several_columns_in_partitions_and_other_formats(
    spark: SparkSession, lake: Lake, tmp_path: Path, referees: Referees, format_: str
) -> None:
    fields = (Field("day", Date()), Field("k", String()), Field("n", Int32()), Field("x", Option(Float64())))
    options = {"bucket": "3", "file.format": format_, "rowkind.field": "kind"}
    kind = Field("kind", String())
    lake.tables.create_table(
        "db", "t", (*fields, kind), primary_keys=["day", "k", "n"], partition_keys=["day"], options=options
    )
    columns = (
        "date'2024-05-14' + cast(id % 2 as int) AS day",
        "concat('key ', id % 5) AS k",
        "cast(id % 3 as int) AS n",
    )
    first = spark.range(40).selectExpr(*columns, "id / 2 AS x", "'+I' AS kind")
    lake.ingest(spark, "db.t", first)
    lake.ingest(spark, "db.t", spark.range(3).selectExpr(*columns, "-1.5D AS x", "if(id = 0, '-D', '+U') AS kind"))
    found = {(row.day.day, row.k, row.n): row.x for row in lake.read(spark, "db.t").collect()}
    wanted = {(14 + i % 2, f"key {i % 5}", i % 3): i / 2 for i in range(40)}
    wanted |= {(15, "key 1", 1): -1.5, (14, "key 2", 2): -1.5}
    del wanted[14, "key 0", 0]
    assert found == wanted
    for reader in ("pypaimon", "rust"):
        rows = referees.rows(reader, tmp_path / "warehouse", "db.t")
        assert {(row[1], row[2]): row[3] for row in rows if str(row[0]).endswith("15")} == {
            (k, n): x for (day, k, n), x in wanted.items() if day == 15
        }


def test_rows_are_numbered_anew_where_another_writer_was_first(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(lake, {"file-index.bitmap.columns": "v", "file-index.in-manifest-threshold": "0 b"})
    ours, others = [("+I", 1, "ours", 1), ("+I", 2, "ours", 1)], [("+I", 1, "theirs", 1), ("+I", 3, "theirs", 1)]
    real = TableWriter.commit
    was_first: list[bool] = []

    def commit(self: TableWriter, *parts: Any) -> Any:
        if not was_first:
            was_first.append(True)
            write(spark, lake, [others])
        return real(self, *parts)

    monkeypatch.setattr(TableWriter, "commit", commit)
    write(spark, lake, [ours])
    assert sorted(tuple(row) for row in lake.read(spark, "db.t").collect()) == [
        (1, "ours", 1),
        (2, "ours", 1),
        (3, "theirs", 1),
    ]
    table = lake.table("db.t")
    names = {Path(path).name for file in live_files(table) for path in file.paths}
    assert any(name.endswith(".index") for name in names)
    on_disk = {path.name for path in Path(table.table_path).glob("bucket-*/*")}
    assert on_disk == names


def test_a_row_of_no_known_kind_is_bad(spark: SparkSession, lake: Lake) -> None:
    create(lake)
    frame = spark.createDataFrame([("+I", 1), ("upsert", 2), (None, 3)], "what string, k bigint")
    result = lake.ingest(spark, "db.t", frame, row_kinds="what")
    assert (result.rows_written, result.rows_quarantined) == (1, 2)
    assert [row.k for row in lake.read(spark, "db.t").collect()] == [1]


@pytest.mark.parametrize(
    ("table", "arguments"),
    [
        ("plain", {"row_kinds": "what"}),
        ("t", {"row_kinds": "k"}),
        ("t", {"row_kinds": "what", "merge_schema": "add"}),
        ("own", {"row_kinds": "what"}),
    ],
)
def test_a_column_of_row_kinds_that_means_nothing_is_refused(lake: Lake, table: str, arguments: dict[str, Any]) -> None:
    create(lake)
    create(lake, {"rowkind.field": "v"}, "own")
    lake.tables.create_table("db", "plain", (Field("k", Int64()),))

    def no_spark() -> SparkSession:
        raise AssertionError("Spark was started")

    with pytest.raises(UsageError) as caught:
        lake.ingest(no_spark, f"db.{table}", "source.csv", **arguments)
    assert caught.value.code == "LB6109"
