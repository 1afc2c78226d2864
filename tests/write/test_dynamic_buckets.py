"""Tables with a primary key and no number of buckets: an index says which bucket a key is in, and it is in one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakebed import Lake
from lakebed.errors import ConflictError, LakebedError, StoreError, UnsupportedError
from lakebed.format.bucket_hash import DEFAULT, hash_key
from lakebed.format.hash_index import find_hash_indexes, read_hashes
from lakebed.format.live_files import plan_files
from lakebed.format.table_storage import TableStorage
from lakebed.model import Field, Float64, Int64, Option, String
from lakebed.physical.paimon_types import BigInt
from lakebed.spark.table_writer import TableWriter
from lakebed.table import Table
from referees.client import Referees
from referees.java import JavaReferee

FEW = {"dynamic-bucket.target-row-num": "4"}


def create(lake: Lake, options: Mapping[str, str] = FEW, name: str = "t") -> Table:
    fields = (Field("p", String()), Field("k", Int64()), Field("v", Option(String())))
    lake.tables.create_table("db", name, fields, primary_keys=["p", "k"], partition_keys=["p"], options=options)
    return lake.table(f"db.{name}")


def storage_of(table: Table) -> TableStorage:
    return TableStorage(table.store, table.table_path, lambda: None)  # type: ignore[arg-type]


def frame(spark: SparkSession, first: int, last: int, v: str) -> DataFrame:
    return spark.range(first, last).selectExpr("if(id % 3 = 0, 'a', 'b') AS p", "id AS k", f"'{v}' AS v")


def rows_of(spark: SparkSession, table: Table) -> dict[int, str]:
    found = [tuple(row) for row in table.read(spark).collect()]
    by_key = {k: v for _, k, v in found}
    assert len(by_key) == len(found)
    return by_key


def expected(*writes: tuple[int, int, str]) -> dict[int, str]:
    return {k: v for first, last, v in writes for k in range(first, last)}


def check_indexes(table: Table) -> dict[tuple[str, int], int]:
    """How many keys each bucket has by its index, which has exactly those of its files; nothing else lies there."""
    snapshot, schema = table.snapshots.latest(), table.schema()
    assert snapshot is not None
    stored: dict[tuple[str, int], set[int]] = {}
    files = plan_files(table.store, table.table_path, snapshot, schema)
    for file in files:
        keys = read_keys(file.path)
        stored.setdefault((file.partition[0], file.bucket), set()).update(
            hash_key([BigInt()], [k], DEFAULT) for k in keys
        )
        assert file.total_buckets == -1
    indexes = find_hash_indexes(storage_of(table), schema, snapshot)
    indexed = {}
    for bucket, index in (pair for of_partition in indexes.files.values() for pair in of_partition.items()):
        hashes = read_hashes(table.store.read(index.path), index.path)
        assert len(set(hashes)) == len(hashes) == index.keys
        (partition,) = [p for (p, b), found in stored.items() if b == bucket and found <= set(hashes)]
        indexed[partition, bucket] = set(hashes)
    assert stored == indexed
    return {place: len(keys) for place, keys in indexed.items()}


def files_on_disk(table: Table) -> set[str]:
    return {str(path) for path in Path(table.table_path).rglob("*") if path.is_file()}


def check_disk(table: Table) -> None:
    """Every data file and index that lies there belongs to a snapshot."""
    named: set[str] = set()
    for snapshot in table.snapshots.newest_first():
        schema = table.schema()
        for file in plan_files(table.store, table.table_path, snapshot, schema):
            named.update(file.paths)
        indexes = find_hash_indexes(storage_of(table), schema, snapshot)
        named.update(index.path for of_partition in indexes.files.values() for index in of_partition.values())
    found = {path for path in files_on_disk(table) if "/bucket-" in path or "/index/" in path}
    assert found == named


def read_keys(path: str) -> list[int]:
    import pyarrow.parquet as pq

    keys: list[int] = pq.read_table(path, columns=["_KEY_k"]).column(0).to_pylist()
    return keys


def act_before(monkeypatch: pytest.MonkeyPatch, method: str, act: Callable[[], object]) -> None:
    """Have somebody else do something before the first call of a writer's method."""
    real, was_first = getattr(TableWriter, method), list[bool]()

    def call(self: TableWriter, *parts: Any) -> Any:
        if not was_first:
            was_first.append(True)
            act()
        return real(self, *parts)

    monkeypatch.setattr(TableWriter, method, call)


def test_every_key_keeps_its_bucket(spark: SparkSession, lake: Lake) -> None:
    table = create(lake)
    table.upsert(frame(spark, 0, 20, "first"))
    first = check_indexes(table)
    assert max(first.values()) <= 4
    assert sum(first.values()) == 20
    table.upsert(frame(spark, 10, 30, "second"))
    second = check_indexes(table)
    assert second.items() >= {place: keys for place, keys in first.items() if keys == 4}.items()
    assert sum(second.values()) == 30
    assert rows_of(spark, table) == expected((0, 20, "first"), (10, 30, "second"))
    table.upsert(frame(spark, 0, 30, "third"))
    assert check_indexes(table) == second
    table.delete(spark, where="k >= 15")
    table.compact(spark, full=True)
    assert rows_of(spark, table) == expected((0, 15, "third"))
    table.upsert(frame(spark, 14, 31, "fourth"))
    assert rows_of(spark, table) == expected((0, 14, "third"), (14, 31, "fourth"))
    # Indexes go with the snapshots that name them, and no sooner.
    assert table.orphan_files(min_age=timedelta(0)).files == ()
    table.expire(retain_min=1, retain_max=1)
    check_disk(table)
    assert rows_of(spark, table) == expected((0, 14, "third"), (14, 31, "fourth"))
    table.upsert(frame(spark, 0, 32, "fifth"))
    assert rows_of(spark, table) == expected((0, 32, "fifth"))


ENGINES: Mapping[str, Mapping[str, str]] = {
    "deduplicate": {"file.format": "orc"},
    "first row": {"merge-engine": "first-row"},
    "partial update": {"merge-engine": "partial-update", "dynamic-bucket.initial-buckets": "2"},
    "input changelog": {"changelog-producer": "input", "index-file-in-data-file-dir": "true"},
}


@pytest.mark.parametrize("case", ENGINES)
def test_every_reader_sees_the_same_rows(
    spark: SparkSession, lake: Lake, tmp_path: Path, referees: Referees, java: JavaReferee, case: str
) -> None:
    table = create(lake, FEW | ENGINES[case])
    table.upsert(frame(spark, 0, 14, "first"))
    table.upsert(frame(spark, 7, 21, "second"))
    wanted = expected((0, 14, "first"), (7, 21, "second"))
    if case == "first row":
        wanted = expected((7, 21, "second"), (0, 14, "first"))
    assert rows_of(spark, table) == wanted
    warehouse = str(tmp_path / "warehouse")
    for reader in ("pypaimon", "rust"):
        assert {row[1]: row[2] for row in referees.rows(reader, warehouse, "db.t")} == wanted
    assert {row[1]: row[2] for row in java.rows(warehouse, "db.t")} == wanted


def test_rows_are_placed_anew_where_another_writer_was_first(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create(lake)
    act_before(monkeypatch, "commit", lambda: table.upsert(frame(spark, 6, 18, "theirs")))
    table.upsert(frame(spark, 0, 12, "ours"))
    assert rows_of(spark, table) == expected((6, 18, "theirs"), (0, 12, "ours"))
    assert sum(check_indexes(table).values()) == 18
    check_disk(table)


def test_an_overwrite_places_its_rows_anew(spark: SparkSession, lake: Lake) -> None:
    table = create(lake)
    table.upsert(frame(spark, 0, 30, "first"))
    before = check_indexes(table)
    table.overwrite(frame(spark, 0, 30, "second").where("p = 'a'"))
    wanted = expected((0, 30, "first"), *((k, k + 1, "second") for k in range(0, 30, 3)))
    assert rows_of(spark, table) == wanted
    after = check_indexes(table)
    assert {place: n for place, n in after.items() if place[0] == "b"} == {
        place: n for place, n in before.items() if place[0] == "b"
    }
    assert sum(n for (p, _), n in after.items() if p == "a") == 10
    table.drop_partitions([{"p": "b"}])
    assert {p for p, _ in check_indexes(table)} == {"a"}
    table.overwrite(frame(spark, 5, 9, "third"), whole=True)
    assert rows_of(spark, table) == expected((5, 9, "third"))
    assert sum(check_indexes(table).values()) == 4


@pytest.mark.parametrize("fails", ["_look_for", "commit"])
def test_a_write_that_fails_leaves_nothing(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    table = create(lake)
    table.upsert(frame(spark, 0, 5, "old"))
    before = files_on_disk(table)
    if fails == "_look_for":

        def fail(self: TableWriter, entries: Any) -> None:
            raise StoreError.of("LB9999", "out of order", path="a")

        monkeypatch.setattr(TableWriter, fails, fail)
    else:
        monkeypatch.setattr("lakebed.spark.table_writer.refuse_unwritable", _refuse)
    with pytest.raises((StoreError, UnsupportedError), match="out of order"):
        table.upsert(frame(spark, 0, 9, "new"))
    assert files_on_disk(table) == before


def _refuse(schema: Any) -> None:
    raise UnsupportedError.of("LB9999", "out of order", path="a")


def test_without_its_index_a_bucket_takes_no_rows(spark: SparkSession, lake: Lake) -> None:
    table = create(lake)
    table.upsert(frame(spark, 0, 9, "old"))
    path = Path(table.table_path, "snapshot", "snapshot-1")
    kept = path.read_text(encoding="utf-8")
    path.write_text(json.dumps({k: v for k, v in json.loads(kept).items() if k != "indexManifest"}), encoding="utf-8")
    with pytest.raises(UnsupportedError) as caught:
        table.upsert(frame(spark, 0, 1, "new"))
    assert caught.value.code == "LB5099"
    with pytest.raises(LakebedError) as compaction:
        table.compact(spark, full=True)
    assert compaction.value.code == "LB5099"
    assert rows_of(spark, table) == expected((0, 9, "old"))
    # What the remedy says.
    table.overwrite(table.read(spark), whole=True)
    table.upsert(frame(spark, 8, 12, "new"))
    assert rows_of(spark, table) == expected((0, 8, "old"), (8, 12, "new"))
    assert sum(check_indexes(table).values()) == 12


def test_bad_rows_take_no_place(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    table = create(lake)
    source = tmp_path / "rows.csv"
    lines = [f"{'a' if k % 2 else 'b'},{k if k % 5 else 'x'},v" for k in range(20)]
    source.write_text("\n".join(["p,k,v", *lines]), encoding="utf-8")
    result = lake.ingest(spark, "db.t", str(source))
    assert (result.rows_written, result.rows_quarantined) == (16, 4)
    assert sum(check_indexes(table).values()) == 16


def test_first_rows_that_others_may_have_put_elsewhere_are_a_conflict(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create(lake, FEW | {"merge-engine": "first-row"})
    table.upsert(frame(spark, 0, 9, "old"))
    act_before(monkeypatch, "commit", lambda: table.upsert(frame(spark, 6, 30, "theirs")))
    with pytest.raises(ConflictError) as caught:
        table.upsert(frame(spark, 0, 40, "ours"))
    assert caught.value.code == "LB5097"
    check_disk(table)
    table.upsert(frame(spark, 0, 40, "ours"))
    assert rows_of(spark, table) == expected((0, 40, "ours"), (6, 30, "theirs"), (0, 9, "old"))
    check_indexes(table)


def test_after_a_roll_back_meanwhile_rows_are_placed_anew(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create(lake)
    table.upsert(frame(spark, 0, 9, "old"))
    table.upsert(frame(spark, 9, 20, "gone"))

    def act() -> None:
        table.roll_back(snapshot=1)
        table.upsert(frame(spark, 15, 30, "theirs"))

    act_before(monkeypatch, "commit", act)
    table.upsert(frame(spark, 5, 40, "ours"))
    assert rows_of(spark, table) == expected((0, 9, "old"), (15, 30, "theirs"), (5, 40, "ours"))
    assert sum(check_indexes(table).values()) == 40


def test_zeros_of_both_signs_are_partitions_with_indexes(spark: SparkSession, lake: Lake) -> None:
    fields = (Field("p", Float64()), Field("k", Int64()), Field("v", Option(String())))
    lake.tables.create_table("db", "t", fields, primary_keys=["p", "k"], partition_keys=["p"], options=FEW)
    table = lake.table("db.t")
    rows = spark.range(20).selectExpr("if(id % 2 = 0, 0.0D, -0.0D) AS p", "id AS k", "'a' AS v")
    for _ in range(2):
        table.upsert(rows)
    snapshot = table.snapshots.latest()
    assert snapshot is not None
    indexes = find_hash_indexes(storage_of(table), table.schema(), snapshot)
    assert sum(index.keys for buckets in indexes.files.values() for index in buckets.values()) == 20
    table.compact(spark, full=True)
    assert table.read(spark).count() == 20
    check_disk(table)


def test_indexes_go_too_where_rows_cannot_be_placed_anew(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create(lake)
    table.upsert(frame(spark, 0, 5, "old"))
    look_for, calls, real = TableWriter._look_for, list[int](), TableWriter.commit

    def commit(self: TableWriter, *parts: Any) -> Any:
        if not calls:
            calls.append(1)
            table.upsert(frame(spark, 4, 12, "theirs"))
            calls.append(2)
        return real(self, *parts)

    def fail(self: TableWriter, entries: Any) -> None:
        look_for(self, entries)
        if len(calls) == 2:
            raise StoreError.of("LB9999", "out of order", path="a")

    monkeypatch.setattr(TableWriter, "commit", commit)
    monkeypatch.setattr(TableWriter, "_look_for", fail)
    with pytest.raises(StoreError, match="out of order"):
        table.upsert(frame(spark, 0, 9, "ours"))
    assert rows_of(spark, table) == expected((0, 5, "old"), (4, 12, "theirs"))
    check_disk(table)


def test_a_partition_that_is_replaced_during_a_compaction_is_a_conflict_that_is_done_again(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create(lake)
    for v in "abc":
        table.upsert(frame(spark, 0, 9, v))
    act_before(monkeypatch, "write", lambda: table.overwrite(frame(spark, 20, 26, "new"), whole=True))
    table.compact(spark, full=True)
    assert rows_of(spark, table) == expected((20, 26, "new"))
    check_indexes(table)
