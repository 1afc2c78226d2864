"""Tables whose writers put down all rows that come: consumers of the changelog are told every change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from lakebed import Lake
from lakebed.errors import ConflictError, UnsupportedError
from lakebed.evolve.schema_changes import SetOption
from lakebed.format.live_files import DataFile, data_files, delta_manifests, entries_of
from lakebed.format.manifest import Kind, ManifestEntry, read_list
from lakebed.format.row_kinds import KINDS
from lakebed.format.snapshot import APPEND, OVERWRITE, Snapshot
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.model import Field, Int32, Int64, Option, String
from lakebed.spark.table_writer import TableWriter
from lakebed.table import Table
from referees.client import Referees
from referees.java import JavaReferee

FIELDS = (Field("p", String()), Field("k", Int64()), Field("v", Option(String())), Field("n", Option(Int32())))
NAMES = ("p", "k", "v", "n")
#: What a row does, and its values.
Row = tuple[str, str, int, str | None, int | None]
#: The number of a row, and the row.
Numbered = tuple[int, Row]


def create(lake: Lake, options: Mapping[str, str] | None = None) -> Table:
    every = {"bucket": "2", "changelog-producer": "input", **(options or {})}
    lake.tables.create_table("db", "t", FIELDS, primary_keys=["p", "k"], partition_keys=["p"], options=every)
    return lake.table("db.t")


def upsert(spark: SparkSession, table: Table, rows: Sequence[Row]) -> None:
    frame = spark.createDataFrame(rows, "rowkind string, p string, k bigint, v string, n int").coalesce(1)
    table.upsert(frame, row_kinds="rowkind")


def on_disk(table: Table) -> set[str]:
    return {str(path) for path in Path(table.table_path).glob("p=*/bucket-*/*")}


def rows_of(file: DataFile) -> list[Numbered]:
    """The rows of a file, as they stand there."""
    table: pa.Table = orc.read_table(file.path) if file.path.endswith("orc") else pq.read_table(file.path)
    found = [
        (row["_SEQUENCE_NUMBER"], (KINDS[row["_VALUE_KIND"]], *(row[name] for name in NAMES)))
        for row in table.to_pylist()
    ]
    numbers = [number for number, _ in found]
    assert (file.meta.row_count, file.meta.file_size) == (len(found), Path(file.path).stat().st_size)
    assert (file.meta.min_sequence_number, file.meta.max_sequence_number) == (numbers[0], numbers[-1])
    assert numbers == sorted(set(numbers))
    assert file.meta.delete_row_count == sum(row[0] in ("-U", "-D") for _, row in found)
    return found


def added(table: Table, snapshot: Snapshot) -> list[ManifestEntry]:
    metas = delta_manifests(table.store, table.table_path, snapshot)
    return [e for e in entries_of(table.store, table.table_path, metas) if e.kind == Kind.ADD]


def logged(table: Table, snapshot: Snapshot) -> list[ManifestEntry]:
    assert snapshot.changelog_manifest_list is not None
    listed = read_list(table.store, table.table_path, snapshot.changelog_manifest_list, None)
    return list(entries_of(table.store, table.table_path, listed))


def changes(table: Table, snapshot: Snapshot) -> list[Numbered]:
    """What the changelog of a commit says, in order; held against the data files of the commit."""
    schema = table.schemas.load_schema(snapshot.schema_id)
    delta = added(table, snapshot)
    log = logged(table, snapshot)
    assert {e.kind for e in log} == {Kind.ADD}
    assert all(e.file.file_name.startswith("changelog-") for e in log)
    assert snapshot.changelog_record_count == sum(e.file.row_count for e in log)
    told: list[Numbered] = []
    for place in sorted({(e.partition, e.bucket) for e in (*log, *delta)}):
        ours, theirs = (
            [
                row
                for file in data_files(
                    table.table_path, schema, [e for e in entries if (e.partition, e.bucket) == place]
                )
                for row in rows_of(file)
            ]
            for entries in (log, delta)
        )
        # The number of a row is the same in both, and what data files have is the last word on its key.
        newest = {row[1:3]: (number, row) for number, row in sorted(ours)}
        if "merge-engine" in schema.options:
            assert sorted(theirs) == sorted(ours)
        else:
            assert sorted(theirs) == sorted(newest.values())
        told += ours
    return sorted(told)


def history(table: Table) -> list[Snapshot]:
    return sorted(table.snapshots.newest_first(), key=lambda s: s.id)


def last_changes(table: Table) -> Counter[Row]:
    """What the newest commit says."""
    newest = history(table)[-1]
    assert newest.commit_kind == APPEND
    return Counter(row for _, row in changes(table, newest))


def apply(told: Sequence[Row]) -> list[tuple[Any, ...]]:
    """The rows of a consumer that knows no keys: it counts what comes and what goes, as aggregates do."""
    counted: Counter[Any] = Counter()
    for kind, *values in told:
        counted[tuple(values)] += 1 if kind in ("+I", "+U") else -1
    assert min(counted.values()) >= 0
    return sorted(counted.elements(), key=repr)


def test_consumers_are_told_what_every_kind_of_write_did(
    spark: SparkSession, lake: Lake, tmp_path: Path, referees: Referees, java: JavaReferee
) -> None:
    table = create(lake)
    table.append(
        spark.createDataFrame(
            [("a", 1, "x", 1), ("a", 2, "y", 2), ("b", 3, None, 3)], "p string, k bigint, v string, n int"
        )
    )
    assert last_changes(table) == Counter([("+I", "a", 1, "x", 1), ("+I", "a", 2, "y", 2), ("+I", "b", 3, None, 3)])
    several: list[Row] = [
        ("-U", "a", 1, "x", 1),
        ("+U", "a", 1, "xx", 1),
        ("+I", "b", 4, "z", 4),
        ("-U", "a", 1, "xx", 1),
        ("+U", "a", 1, "xxx", 5),
        ("-D", "b", 4, "z", 4),
        ("+I", "b", 4, "again", 4),
    ]
    upsert(spark, table, several)
    assert last_changes(table) == Counter(several)
    of_key = [row for _, row in changes(table, history(table)[-1]) if row[2] == 1]
    assert of_key == [row for row in several if row[2] == 1]
    frame = spark.createDataFrame(
        [("+I", "c", 5, "in", 5), ("+I", "c", 6, "in", None)], "kind string, p string, k bigint, v string, n int"
    )
    lake.ingest(spark, "db.t", frame, row_kinds="kind")
    assert last_changes(table) == Counter([("+I", "c", 5, "in", 5), ("+I", "c", 6, "in", None)])

    assert table.update(spark, set={"v": "upper(v)"}, where="k IN (1, 2, 9)").rows_updated == 2
    assert last_changes(table) == Counter(
        [("-U", "a", 1, "xxx", 5), ("+U", "a", 1, "XXX", 5), ("-U", "a", 2, "y", 2), ("+U", "a", 2, "Y", 2)]
    )
    assert table.delete(spark, where="v = 'Y'").rows_deleted == 1
    assert last_changes(table) == Counter([("-D", "a", 2, "Y", 2)])
    # A filter on partitions alone takes files away elsewhere.
    assert table.delete(spark, where="p = 'c'").rows_deleted == 2
    assert last_changes(table) == Counter([("-D", "c", 5, "in", 5), ("-D", "c", 6, "in", None)])

    source = spark.createDataFrame([("a", 1, "m"), ("b", 4, "go"), ("d", 7, "new")], "p string, k bigint, v string")
    merge = table.merge(spark, source, on="t.p = s.p AND t.k = s.k").when_matched_delete(condition="s.v = 'go'")
    merged = merge.when_matched_update().when_not_matched_insert().execute()
    assert (merged.rows_updated, merged.rows_deleted, merged.rows_inserted) == (1, 1, 1)
    assert last_changes(table) == Counter(
        [("-U", "a", 1, "XXX", 5), ("+U", "a", 1, "m", 5), ("-D", "b", 4, "again", 4), ("+I", "d", 7, "new", None)]
    )
    replaced = spark.createDataFrame([("b", 3, "r", 1), ("b", 8, "r", 2)], "p string, k bigint, v string, n int")
    table.overwrite(replaced, where="p = 'b'")
    assert last_changes(table) == Counter([("-D", "b", 3, None, 3), ("+I", "b", 3, "r", 1), ("+I", "b", 8, "r", 2)])

    rows = sorted((tuple(row) for row in table.read(spark).collect()), key=repr)
    assert rows == [("a", 1, "m", 5), ("b", 3, "r", 1), ("b", 8, "r", 2), ("d", 7, "new", None)]
    every = [row for snapshot in history(table) for _, row in changes(table, snapshot)]
    assert apply(every) == rows
    read = [tuple(row) for row in table.read_changes(spark, since=0, row_kinds=True).collect()]
    assert Counter(read) == Counter(every)
    assert sorted((tuple(row) for row in table.read_changes(spark, since=0).collect()), key=repr) == rows
    warehouse = str(tmp_path / "warehouse")
    assert sorted(map(tuple, java.rows(warehouse, "db.t")), key=repr) == rows
    by_java = java.changes(warehouse, "db.t", [snapshot.id for snapshot in history(table)])
    assert [Counter(map(tuple, rows)) for rows in by_java] == [
        Counter(row for _, row in changes(table, snapshot)) for snapshot in history(table)
    ]
    for reader in ("pypaimon", "rust"):
        assert sorted(map(tuple, referees.rows(reader, warehouse, "db.t")), key=repr) == rows
    # Java's own files are of the same make.
    java.append(warehouse, "db.t", [("e", 9, "java", 1)])
    assert last_changes(table) == Counter([("+I", "e", 9, "java", 1)])
    ours, javas = ([e.file for e in logged(table, history(table)[at])] for at in (2, -1))
    assert {(f.level, f.file_source, f.delete_row_count) for f in (*ours, *javas)} == {(0, 0, 0)}
    assert [re.sub(r"[0-9a-f]{8}[0-9a-f-]*", "*", f.file_name) for f in javas] == ["changelog-*.parquet"]


ENGINES: Mapping[str, Mapping[str, str]] = {
    "sequence field, descending": {"sequence.field": "n", "sequence.field.sort-order": "descending"},
    "partial update": {"merge-engine": "partial-update"},
    "orc": {"changelog-file.format": "orc", "changelog-file.compression": "snappy"},
    "ignored deletes": {"ignore-delete": "true"},
}


@pytest.mark.parametrize("case", ENGINES)
def test_a_changelog_has_every_row_of_a_key_under_its_number(spark: SparkSession, lake: Lake, case: str) -> None:
    table = create(lake, ENGINES[case])
    rows: list[Row] = [
        ("+I", "a", 1, "x", 1),
        ("+I", "a", 2, "only", 7),
        ("+U", "a", 1, None, 3),
        ("+U", "a", 1, "z", 2),
        ("+I", "a", 1, "w", 2),
        ("+I", "a", 1, "null", None),
    ]
    gone: list[Row] = [("-D", "a", 2, "only", 7)] if case == "ignored deletes" else []
    upsert(spark, table, rows + gone)
    (snapshot,) = history(table)
    told = [row for _, row in changes(table, snapshot)]
    assert Counter(told) == Counter(rows)
    of_key = [row for row in told if row[2] == 1]
    # NULL is the oldest value; of equal ones the row that came later is newer.
    wanted = [rows[i] for i in ((5, 2, 3, 4, 0) if "sequence" in case else (0, 2, 3, 4, 5))]
    assert of_key == wanted
    read = [tuple(row) for row in table.read_changes(spark, since=0, row_kinds=True).collect()]
    assert Counter(read) == Counter(rows)
    endings = {Path(path).suffix for path in on_disk(table) if "changelog-" in path}
    assert endings == {".orc" if case == "orc" else ".parquet"}


def test_what_replaces_partitions_is_not_told(spark: SparkSession, lake: Lake) -> None:
    table = create(lake)
    upsert(spark, table, [("+I", "a", 1, "x", 1), ("+I", "b", 2, "y", 2)])
    before = {path for path in on_disk(table) if "changelog-" in path}
    assert before
    table.overwrite(spark.createDataFrame([("a", 3, "z", 3)], "p string, k bigint, v string, n int"))
    table.drop_partitions({"p": "b"})
    _, *others = history(table)
    assert [s.commit_kind for s in others] == [OVERWRITE, OVERWRITE]
    assert {(s.changelog_manifest_list, s.changelog_record_count) for s in others} == {(None, None)}
    assert {path for path in on_disk(table) if "changelog-" in path} == before
    assert table.read_changes(spark, since=1, row_kinds=True).count() == 0


def test_rows_that_are_numbered_anew_have_the_same_numbers_in_both_files(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create(lake)
    ours: list[Row] = [("+I", "a", 1, "x", 1), ("-U", "a", 1, "x", 1), ("+U", "a", 1, "y", 2), ("+I", "a", 2, "o", 1)]
    theirs: list[Row] = [("+I", "a", 1, "theirs", 1), ("-D", "a", 1, "theirs", 1), ("+I", "a", 9, "theirs", 2)]
    real, was_first = TableWriter.commit, list[bool]()

    def commit(self: TableWriter, *parts: Any) -> Any:
        if not was_first:
            was_first.append(True)
            upsert(spark, table, theirs)
        return real(self, *parts)

    monkeypatch.setattr(TableWriter, "commit", commit)
    upsert(spark, table, ours)
    first, second = history(table)
    assert [row for _, row in changes(table, first) if row[2] == 1] == theirs[:2]
    assert [row for _, row in changes(table, second) if row[2] == 1] == ours[:3]
    numbers = [[number for number, row in changes(table, s) if row[2] == 1] for s in (first, second)]
    assert max(numbers[0]) < min(numbers[1])
    # What was written under the numbers that were lost is gone.
    named = {e.file.file_name for s in history(table) for e in (*logged(table, s), *added(table, s))}
    assert {Path(path).name for path in on_disk(table)} == named


def test_a_write_that_fails_leaves_no_file_and_orphans_know_those_of_changelogs(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create(lake)
    upsert(spark, table, [("+I", "a", 1, "x", 1)])
    before = on_disk(table)
    assert table.orphan_files(min_age=timedelta(0)).files == ()
    with pytest.raises(BadRowsError):
        table.update(spark, set={"n": "'no number'"}, where="k = 1")
    assert on_disk(table) == before

    def commit(*_: Any, **__: Any) -> Any:
        raise ConflictError.of("LB5070", "nothing is committed")

    with monkeypatch.context() as patched:
        patched.setattr("lakebed.spark.table_writer.commit", commit)
        with pytest.raises(ConflictError):
            upsert(spark, table, [("+I", "a", 2, "x", 1)])
    assert on_disk(table) == before


@pytest.mark.parametrize("retried", [False, True], ids=["upsert", "update"])
def test_a_write_that_was_begun_under_another_producer_is_not_committed(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch, retried: bool
) -> None:
    table = create(lake, {"changelog-producer": "none"})
    upsert(spark, table, [("+I", "a", 1, "x", 1)])
    real, changed = TableWriter.commit, list[bool]()

    def commit(self: TableWriter, *parts: Any) -> Any:
        if not changed:
            changed.append(True)
            lake.tables.alter_table("db", "t", [SetOption("changelog-producer", "input")])
        return real(self, *parts)

    monkeypatch.setattr(TableWriter, "commit", commit)
    if retried:
        table.update(spark, set={"v": "'new'"}, where="k = 1")
        assert last_changes(table) == Counter([("-U", "a", 1, "x", 1), ("+U", "a", 1, "new", 1)])
        return
    with pytest.raises(ConflictError) as caught:
        upsert(spark, table, [("+I", "a", 2, "x", 1)])
    assert caught.value.code == "LB5068"
    assert len(history(table)) == 1


@pytest.mark.parametrize("producer", ["lookup", "full-compaction"])
def test_changelogs_of_compactions_are_refused(spark: SparkSession, lake: Lake, producer: str) -> None:
    table = create(lake, {"changelog-producer": producer})
    with pytest.raises(UnsupportedError) as caught:
        upsert(spark, table, [("+I", "a", 1, "x", 1)])
    assert caught.value.code == "LB5061"
