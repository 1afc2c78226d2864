"""Rows of a DataFrame are appended, put in place of others or of whole partitions, all or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed import Lake
from lakebed.convert.spark import from_spark
from lakebed.errors import SourceMismatchError, UnsupportedError, UsageError, WriteError
from lakebed.evolve.schema_changes import SetOption
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.model import Field, Int32, Int64, List, Map, Option, String, Struct
from lakebed.spark.table_writer import TableWriter
from lakebed.table import Table
from lakebed.write.write_result import WriteResult
from referees.client import Referees
from runtime.spark_settings import with_settings

Row = tuple[Any, ...]
COLUMNS = "k bigint, p string, v int"


@pytest.fixture(params=["plain", "keyed", "buckets"])
def table(lake: Lake, request: pytest.FixtureRequest) -> Table:
    fields = (Field("k", Int64()), Field("p", String()), Field("v", Option(Int32())))
    keys = ["p", "k"] if request.param == "keyed" else []
    options = {"plain": {}, "keyed": {"bucket": "2"}, "buckets": {"bucket": "2", "bucket-key": "k"}}[request.param]
    lake.tables.create_table("db", "t", fields, primary_keys=keys, partition_keys=["p"], options=options)
    return lake.table("db.t")


def frame(spark: SparkSession, *rows: Row, columns: str = COLUMNS) -> DataFrame:
    return spark.createDataFrame(list(rows), columns)


def found(spark: SparkSession, table: Table) -> list[Row]:
    return sorted(tuple(row) for row in table.read(spark).collect())


def on_disk(table: Table) -> set[str]:
    return {path.name for path in Path(table.table_path).glob("p=*/bucket-*/*")}


def test_the_rows_of_a_frame_are_computed_once_and_not_kept(spark: SparkSession, table: Table, tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()

    def note(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        (made / uuid4().hex).touch()
        yield from batches

    rows = frame(spark, (1, "a", 1), (2, "b", None)).coalesce(1).mapInArrow(note, COLUMNS)
    for write in (table.append, table.overwrite):
        write(rows)
        assert len(list(made.iterdir())) == 1
        assert not rows.storageLevel.useMemory
        for file in made.iterdir():
            file.unlink()


def test_rows_come_and_partitions_are_replaced(spark: SparkSession, table: Table) -> None:
    keyed = bool(table.schema().primary_keys)
    first = table.append(frame(spark, (1, "a", 1), (2, "b", None), (3, "c", 3)), properties={"why": "first"})
    assert (first.snapshot_id, first.rows_by_kind, first.rows_removed, first.files_added) == (1, {"+I": 3}, 0, 3)
    assert first.bytes_added == sum(path.stat().st_size for path in Path(table.table_path).glob("p=*/bucket-*/*"))
    assert (first.operation, first.partitions, first.repeated) == ("append", (), False)
    snapshot = table.snapshots.latest()
    assert snapshot is not None
    assert ((snapshot.properties or {})["why"], snapshot.operation) == ("first", "WRITE")
    table.append(frame(spark, ("again", 1), columns="p string, k bigint"))

    # The partitions of the new rows lose what they had.
    second = table.overwrite(frame(spark, (2, "b", 20), (9, "d", 9)))
    assert (second.rows_removed, second.files_removed, second.partitions) == (1, 1, ("p=b",))
    assert found(spark, table) == [(1, "a", 1), (1, "again", None), (2, "b", 20), (3, "c", 3), (9, "d", 9)]

    # Those that are named lose it, new rows or not.
    third = table.overwrite(frame(spark, (3, "c", 33)), partitions=["p=a", {"p": "c"}])
    assert third.partitions == ("p=a", "p=c")
    assert found(spark, table) == [(1, "again", None), (2, "b", 20), (3, "c", 33), (9, "d", 9)]
    before, outside = on_disk(table), frame(spark, (4, "a", 4), (5, "b", 5))
    with pytest.raises(WriteError, match="p=b") as error:
        table.overwrite(outside, partitions="p=a")
    assert error.value.code == "LB6511"
    assert on_disk(table) == before

    fourth = table.overwrite(frame(spark, (7, "z", None)), whole=True)
    assert (fourth.rows_removed, fourth.rows_added) == (4, 1)
    assert found(spark, table) == [(7, "z", None)]
    # Older snapshots have their rows still.
    assert table.read(spark, snapshot=first.snapshot_id).count() == 3
    if keyed:
        table.append(frame(spark, (7, "z", 1)))
        assert found(spark, table) == [(7, "z", 1)]


def test_an_overwrite_without_rows_removes_what_is_named_only(spark: SparkSession, table: Table) -> None:
    table.append(frame(spark, (1, "a", 1), (2, "b", 2)))
    none = frame(spark)
    assert table.append(none).snapshot_id is None
    assert table.overwrite(none).snapshot_id is None
    assert table.overwrite(none, partitions="p=a").rows_removed == 1
    assert found(spark, table) == [(2, "b", 2)]
    assert table.overwrite(none, whole=True).rows_removed == 1
    assert found(spark, table) == []


def test_one_bad_row_and_nothing_is_written(spark: SparkSession, table: Table) -> None:
    writes: list[Callable[[DataFrame], WriteResult]] = [table.append, table.overwrite]
    if table.schema().primary_keys:
        writes.append(table.upsert)
    for write in writes:
        with pytest.raises(BadRowsError, match="1 of 3 rows is bad"):
            write(frame(spark, (1, "a", 1), (None, "b", 2), (3, "c", 3)))
    assert table.snapshots.latest() is None
    assert on_disk(table) == set()
    assert not table.tables.exists("db.t__quarantine")


def test_files_that_hold_nothing_are_no_rows(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    fields = (Field("k", Option(Int64())), Field("v", Option(Int32())))
    lake.tables.create_table("db", "t", fields)
    table = lake.table("db.t")
    for name in ("nothing.csv", "nothing.json"):
        empty = str(tmp_path / name)
        Path(empty).touch()
        table.append(spark.sql("SELECT 1L AS k, 1 AS v"))
        before = table.snapshots.latest()
        merge = table.merge_from(spark, empty, on="t.k = s.k")
        assert merge.when_matched_update().when_not_matched_insert().execute().snapshot_id is None
        assert table.overwrite_from(spark, empty, partitions=None, whole=False).rows_removed == 1
        assert before is not None
        assert table.overwrite_from(spark, empty, where="k = 1").snapshot_id is None
    assert table.read(spark).count() == 0


@pytest.mark.parametrize("unknown", ["fail", "ignore"])
def test_keys_of_json_are_known_at_every_level_of_files_that_are_merged(
    spark: SparkSession, lake: Lake, tmp_path: Path, unknown: Any
) -> None:
    inner = Struct((Field("a", Option(Int32())),))
    fields = (Field("k", Option(Int64())), Field("s", Option(inner)), Field("l", Option(List(inner))))
    lake.tables.create_table("db", "t", fields)
    table = lake.table("db.t")
    table.append(spark.sql("SELECT 1L AS k, named_struct('a', 1) AS s, array(named_struct('a', 1)) AS l"))
    known = ['{"k": 1, "s": {"a": 2, "b": 3}}', '{"k": 1, "l": [{"a": 2}, {"b": 3}]}', '{"k": 1, "x": 2}']
    for number, text in enumerate([*known, '{"x": {"k": 1}}']):
        (file := tmp_path / f"{number}.json").write_text(text, encoding="utf-8")
        merge = table.merge_from(spark, str(file), on="t.k = s.k", unknown_columns=unknown)
        merge = merge.when_matched_update(set={"k": "s.k"})
        if unknown == "ignore" and text in known:
            assert merge.execute().rows_updated == 1
            continue
        with pytest.raises(SourceMismatchError) as caught:
            merge.execute()
        assert [d.code for d in caught.value.diagnostics] == ["LB6140" if unknown == "ignore" else "LB6112"]


def test_a_frame_without_columns_is_no_row(spark: SparkSession, lake: Lake) -> None:
    fields = (Field("k", Option(Int64())), Field("v", Option(Int32())))
    lake.tables.create_table("db", "t", fields)
    table, nothing = lake.table("db.t"), spark.sql("SELECT 1L AS k").select()
    for write in (table.append, table.overwrite, lambda frame: lake.ingest(spark, "db.t", frame)):
        with pytest.raises(SourceMismatchError) as caught:
            write(nothing)
        assert [d.code for d in caught.value.diagnostics] == ["LB6140"]
    assert table.snapshots.latest() is None


def test_a_table_that_is_no_longer_written_takes_nothing(
    spark: SparkSession, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = TableWriter.commit

    def commit(self: TableWriter, *parts: Any) -> Any:
        table.tables.alter_table("db", "t", [SetOption("data-file.external-paths", "s3://elsewhere/x")])
        return real(self, *parts)

    monkeypatch.setattr(TableWriter, "commit", commit)
    rows = frame(spark, (1, "a", 1))
    with pytest.raises(UnsupportedError) as error:
        table.append(rows)
    assert error.value.code == "LB5062"
    assert table.snapshots.latest() is None
    assert on_disk(table) == set()


def test_a_run_is_done_once(spark: SparkSession, table: Table) -> None:
    rows = frame(spark, (1, "a", 1), (2, "b", 2))
    first = table.append(rows, run_id="r")
    again = table.append(frame(spark, (3, "c", 3)), run_id="r")
    assert again.repeated
    assert (again.snapshot_id, again.rows_by_kind, again.files_added) == (1, first.rows_by_kind, first.files_added)
    assert found(spark, table) == [(1, "a", 1), (2, "b", 2)]
    with pytest.raises(UsageError) as error:
        table.overwrite(rows, run_id="r")
    assert error.value.code == "LB5105"
    # A run without rows is remembered too.
    assert table.append(frame(spark), run_id="empty").snapshot_id == 2
    assert table.append(rows, run_id="empty").repeated


def test_kinds_say_what_rows_do(spark: SparkSession, table: Table) -> None:
    columns = f"{COLUMNS}, what string"
    rows = frame(spark, (1, "a", 1, "+I"), (2, "b", 2, "+I"), (1, "a", None, "-D"), (2, "b", 3, "+U"), columns=columns)
    if not table.schema().primary_keys:
        with pytest.raises(UsageError) as error:
            table.upsert(rows, row_kinds="what")
        assert error.value.code == "LB6510"
        return
    result = table.upsert(rows, row_kinds="what", run_id="r")
    assert result.rows_by_kind == {"+I": 2, "+U": 1, "-D": 1}
    assert found(spark, table) == [(2, "b", 3)]
    assert table.upsert(rows, row_kinds="what", run_id="r").rows_by_kind == result.rows_by_kind


def test_rows_get_ids_for_life_where_the_table_tracks_them(
    spark: SparkSession, lake: Lake, tmp_path: Path, referees: Referees
) -> None:
    fields = (Field("k", Int64()), Field("v", Option(String())))
    lake.tables.create_table("db", "ids", fields, options={"row-tracking.enabled": "true"})
    table = lake.table("db.ids")
    for part in ([(1, "a"), (2, "b")], [(3, "c")]):
        table.append(spark.createDataFrame(part, "k bigint, v string").coalesce(1))
    seen = table.read(spark, metadata_columns=["_ROW_ID", "_SEQUENCE_NUMBER"]).collect()
    assert sorted(map(tuple, seen)) == [(1, "a", 0, 1), (2, "b", 1, 1), (3, "c", 2, 2)]
    snapshot = table.snapshots.latest()
    assert snapshot is not None
    assert snapshot.next_row_id == 3
    for reader in ("pypaimon", "rust"):
        assert sorted(referees.rows(reader, tmp_path / "warehouse", "db.ids")) == [[1, "a"], [2, "b"], [3, "c"]]
    table.overwrite(spark.createDataFrame([(9, "z")], "k bigint, v string"))
    assert [tuple(row) for row in table.read(spark, metadata_columns=["_ROW_ID"]).collect()] == [(9, "z", 3)]


def test_a_branch_takes_rows_of_its_own(spark: SparkSession, lake: Lake, table: Table) -> None:
    table.append(frame(spark, (1, "a", 1)))
    table.branches().create("dev")
    branch = lake.table("db.t@branch:dev")
    branch.append(frame(spark, (2, "b", 2)))
    branch.overwrite(frame(spark, (5, "a", 5)))
    assert found(spark, table) == [(1, "a", 1)]
    assert (5, "a", 5) in found(spark, branch)
    assert branch.append(frame(spark, (3, "b", 2))).table == "db.t@branch:dev"


@pytest.mark.parametrize("buckets", [False, True])
def test_sorted_files_have_ranges_of_their_own(spark: SparkSession, lake: Lake, tmp_path: Path, buckets: bool) -> None:
    fields = (Field("p", String()), Field("k", Int64()), Field("v", Option(Int32())))
    options = {"bucket": "2", "bucket-key": "k"} if buckets else {}
    lake.tables.create_table("db", "t", fields, partition_keys=["p"], options=options)
    table = lake.table("db.t")
    numbers = spark.range(0, 2000, 1, 4).selectExpr("'a' AS p", "id * 7919 % 2000 AS k", "cast(id % 3 AS int) AS v")
    rows = numbers.withColumn("v", F.when(F.col("k") % 2 == 0, F.col("v")))
    with with_settings(spark, {"spark.sql.shuffle.partitions": "3", "spark.sql.adaptive.enabled": "false"}):
        result = table.append(rows, order_by=["v", "k"])
    assert result.rows_by_kind == {"+I": 2000}
    files = [file for entry in Path(table.table_path).glob("p=a/bucket-*") for file in entry.iterdir()]
    assert len(files) == result.files_added == (2 if buckets else 3)
    found = [[(row["v"], row["k"]) for row in pq.read_table(file).to_pylist()] for file in files]
    # NULL is first.
    found = sorted([(-1 if v is None else v, k) for v, k in one] for one in found)
    assert all(one == sorted(one) for one in found)
    if not buckets:
        assert [row for one in found for row in one] == sorted(row for one in found for row in one)
    kept = table.overwrite(frame(spark, ("a", 5, 1), ("a", 1, 5), columns="p string, k bigint, v int"), order_by="k")
    assert (kept.rows_added, kept.rows_removed) == (2, 2000)
    source = tmp_path / "a.csv"
    source.write_text("p,k,v\nb,3,\nb,1,\nb,2,\n")
    lake.ingest(spark, "db.t", str(source), order_by=["p", "k"])
    table.overwrite_from(spark, str(source), order_by="k", partitions={"p": "b"})
    for file in Path(table.table_path).glob("p=b/bucket-*/*"):
        keys = pq.read_table(file).column("k").to_pylist()
        assert keys == sorted(keys)
        assert buckets or len(keys) == 3
    table.drop_partitions({"p": "b"})
    where = table.overwrite(frame(spark, ("a", 5, 0), columns="p string, k bigint, v int"), where="k = 5", order_by="v")
    assert (where.rows_deleted, where.rows_inserted) == (1, 1)
    assert sorted(tuple(row) for row in table.read(spark).collect()) == [("a", 1, 5), ("a", 5, 0)]


def test_files_along_a_curve_have_ranges_in_every_column(spark: SparkSession, lake: Lake) -> None:
    side = 48
    lake.tables.create_table("db", "t", [Field(name, Option(Int64())) for name in ("a", "b", "n")])
    cells = spark.range(side * side).selectExpr(f"id % {side} AS a", f"(id div {side}) * 1000000007 AS b", "id AS n")
    with with_settings(spark, {"spark.sql.shuffle.partitions": "16", "spark.sql.adaptive.enabled": "false"}):
        lake.table("db.t").append(cells.repartition(3, "n"), order_by="zorder(a, b)")
    ranges = []
    for file in Path(lake.table("db.t").table_path).glob("bucket-0/*"):
        read = pq.read_table(file)
        ranges.append([(min(values), max(values)) for values in (read[name].to_pylist() for name in ("a", "b"))])
    assert len(ranges) == 16
    for column, step in ((0, 1), (1, 1000000007)):
        opened = [sum(low <= i * step <= high for low, high in (r[column] for r in ranges)) for i in range(side)]
        # Sorted by one column after the other a filter on the second one would open them all.
        assert max(opened) <= 9
    assert lake.count("db.t") == side * side


def test_a_curve_of_every_type_loses_no_row(spark: SparkSession, lake: Lake) -> None:
    values = {
        "i": "int(id % 7)",
        "l": "CASE WHEN id = 3 THEN 9223372036854775807 ELSE id - 5 END",
        "d": "CASE id WHEN 1 THEN double('NaN') WHEN 2 THEN double('-inf') WHEN 3 THEN double('inf') ELSE id END",
        "m": "decimal(id) / 3",
        "s": "CASE id WHEN 1 THEN '' WHEN 2 THEN 'ä\\u0000' ELSE repeat(string(id), int(id % 9)) END",
        "y": "unhex(repeat('ff', int(id % 9)))",
        "t": "date_add(DATE'1969-12-30', int(id))",
        "z": "timestamp_micros(id * 999999 - 5000000)",
    }
    rows = spark.range(60).selectExpr("id", *(f"IF(id % 11 = 0, NULL, {text}) AS {n}" for n, text in values.items()))
    rows = rows.withColumn("m", F.col("m").cast("decimal(9,3)")).withColumn("o", F.col("id") % 2 == 0)
    with with_settings(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        for number, names in enumerate((["i", "d"], ["s", "y", "l"], ["t", "z", "m", "o"], list(values))):
            name = f"t{number}"
            lake.tables.create_table("db", name, from_spark(rows.schema)[0].fields)
            result = lake.table(f"db.{name}").append(rows, order_by=[f"zorder({', '.join(names)})"])
            assert (result.rows_added, lake.count(f"db.{name}")) == (60, 60)


@pytest.mark.parametrize(
    ("keys", "names", "said"),
    [
        ([], ["zorder(k)"], "2 to 8"),
        ([], ["zorder(k, nope)"], "no column 'nope'"),
        ([], ["zorder(k, m)"], "no order"),
        (["p", "k"], ["zorder(p, k)"], "primary key"),
        (["p", "k"], ["v"], "primary key"),
        ([], ["nope"], "no column 'nope'"),
        ([], ["k", "m"], "no order"),
    ],
)
def test_columns_that_do_not_sort_are_refused(
    spark: SparkSession, lake: Lake, keys: list[str], names: list[str], said: str
) -> None:
    fields = (Field("p", String()), Field("k", Int64()), Field("m", Option(Map(String(), Int32()))))
    lake.tables.create_table("db", "t", fields, primary_keys=keys, options={"bucket": "1"} if keys else {})
    table, rows = lake.table("db.t"), frame(spark, ("a", 1), columns="p string, k bigint")
    for write in (
        table.append,
        table.overwrite,
        lambda f, **k: table.overwrite(f, where="k = 1", **k),
        lambda f, **k: lake.ingest(spark, "db.t", f, **k),
    ):
        with pytest.raises(UsageError) as refused:
            write(rows, order_by=names)
        assert refused.value.code == "LB6512"
        assert said in str(refused.value)
    assert table.snapshots.latest() is None
