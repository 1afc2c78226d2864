"""`spark.readStream.format("lakebed")`: every row once, in batches within their limits, across restarts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark import cloudpickle
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit

import lakebed
from lakebed.catalog import TableName
from lakebed.data_source import stream_options
from lakebed.data_source.data_source import LakebedDataSource
from lakebed.data_source.stream import TableStream
from lakebed.errors import LakebedError
from lakebed.format.commit import commit as publish
from lakebed.format.new_files import new_append_file
from lakebed.format.snapshot import SnapshotManager
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.statistics import parquet_statistics
from lakebed.format.table_storage import TableStorage
from read.keyed_tables import DELETE, INSERT, KeyedTable, Record
from read.lakes import declare, manifest

Row = tuple[int, str]


def new_lake(warehouse: Path) -> lakebed.Lake:
    (warehouse / "wh").mkdir()
    lake = lakebed.open(warehouse / "wh")
    declare(lake, manifest(FIELDS))
    return lake


FIELDS = "{ name: a, type: { kind: Int64 } }\n{ name: b, type: { kind: Option, inner: { kind: String } } }"
MORE = FIELDS + "\n{ name: c, type: { kind: Option, inner: { kind: Int32 } } }"


def storage(lake: lakebed.Lake) -> TableStorage:
    path = lake.tables.table_path(TableName("db", "t"))
    return TableStorage(lake.store, path, lake.tables.get_schema_manager("db", "t"))


def commit(lake: lakebed.Lake, files: list[list[Row]], *, third: int | None = None) -> None:
    """One commit of files with these rows; `third` is the value of a column that was added later."""
    into = storage(lake)
    schema = into.schemas.load_latest_schema()
    made = []
    number = (SnapshotManager(lake.store, into.path).latest_id() or 0) + 1
    for i, rows in enumerate(files):
        columns = {"a": pa.array([a for a, _ in rows], pa.int64()), "b": pa.array([b for _, b in rows], pa.string())}
        if third is not None:
            columns["c"] = pa.array([third] * len(rows), pa.int32())
        file = Path(into.path, "bucket-0", f"data-{number}-{i}.parquet")
        file.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table(columns), file)
        known = parquet_statistics(lake.store, str(file), schema.fields, schema.options)
        made.append(
            new_append_file(
                schema, (), file_name=file.name, size=file.stat().st_size, rows=known.rows, stats=known.stats, created=0
            )
        )
    publish(into, SnapshotChange(commit_user=f"writer-{number}", added=tuple(made)), clock=lambda: number * 1000)


def stream(lake: lakebed.Lake, **options: str) -> TableStream:
    """What Spark makes of the options."""
    given = {"path": "db.t", "warehouse": str(lake.warehouse)} | {k.replace("_", "-"): v for k, v in options.items()}
    source = LakebedDataSource(given)
    reader = source.streamReader(source.schema())
    assert isinstance(reader, TableStream)
    return reader


def rows(reader: TableStream, start: dict[str, Any], end: dict[str, Any]) -> list[tuple[Any, ...]]:
    """A batch, read by copies of the reader, as workers have them."""
    found = []
    for partition in reader.partitions(start, end):
        worker, sent = cloudpickle.loads(cloudpickle.dumps((reader, partition)))
        for batch in worker.read(sent):
            found += [tuple(row.values()) for row in batch.to_pylist()]
    return found


def batches(
    reader: TableStream, start: dict[str, Any], limit: ReadLimit | None = None
) -> Iterator[tuple[dict[str, Any], list[tuple[Any, ...]]]]:
    """All batches that are there, each with its end, as a checkpoint would hold it."""
    while True:
        end = json.loads(json.dumps(reader.latestOffset(start, limit or reader.getDefaultReadLimit())))
        if end == start:
            return
        yield end, rows(reader, start, end)
        reader.commit(end)
        start = end


@st.composite
def histories(draw: st.DrawFn) -> list[list[int]]:
    """Commits, each of some files, each of so many rows."""
    return draw(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=3), max_size=5))


@settings(max_examples=30)
@given(st.lists(histories(), min_size=1, max_size=3), st.sampled_from(["files", "rows", "none"]), st.integers(1, 4))
def test_every_row_comes_once(rounds: list[list[list[int]]], kind: str, most: int):
    """Between rounds the query stops; it goes on from its last offset, and does its last batch again alike."""
    with TemporaryDirectory() as directory:
        lake = new_lake(Path(directory))
        options = {} if kind == "none" else {f"max_{kind}_per_trigger": str(most)}
        written: list[Row] = []
        seen: list[tuple[Any, ...]] = []
        offset = None
        for commits in rounds:
            for sizes in commits:
                files = []
                for size in sizes:
                    files.append([(len(written) + i, f"r{len(written) + i}") for i in range(size)])
                    written += files[-1]
                commit(lake, files)
            reader = stream(lake, **options)
            offset = reader.initialOffset() if offset is None else offset
            for end, found in batches(reader, offset):
                assert kind != "rows" or len(found) <= max(most, 3)
                assert sorted(rows(stream(lake), offset, end)) == sorted(found)
                seen += found
                offset = end
        assert sorted(seen) == sorted(written)


def test_a_limit_of_files_is_kept(tmp_path: Path):
    lake = new_lake(tmp_path)
    commit(lake, [[(1, "x")], [(2, "y")], [(3, "z")]])
    reader = stream(lake, max_files_per_trigger="2")
    start = reader.initialOffset()
    assert [sorted(found) for _, found in batches(reader, start)] == [[(1, "x"), (2, "y")], [(3, "z")]]
    assert [len(found) for _, found in batches(reader, start, ReadAllAvailable())] == [3]
    reader.prepareForTriggerAvailableNow()
    commit(lake, [[(4, "later")]])
    assert sum(len(found) for _, found in batches(reader, start)) == 3


def test_commits_that_wait_are_planned_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Without limits of its own a batch takes so many files, and what was planned of the ones before is forgotten."""
    monkeypatch.setattr(stream_options, "MOST_FILES", 3)
    lake = new_lake(tmp_path)
    for number in range(8):
        commit(lake, [[(number, "x")]])
    reader = stream(lake, from_snapshot="1")
    planned, offsets, sizes = reader._planning.history._planned, [], []
    for end, found in batches(reader, reader.initialOffset()):
        # Those of the batch, and the first one that was too much for it.
        assert len(planned) <= 4
        sizes.append(len(found))
        offsets.append(len(json.dumps(end)))
    assert (sizes, max(offsets) - min(offsets)) == ([3, 3, 2], 0)
    # A trigger that takes all that is there takes it in one batch.
    assert [len(found) for _, found in batches(reader, reader.initialOffset(), ReadAllAvailable())] == [8]


@pytest.mark.parametrize("start", ["full", "latest"])
def test_a_first_batch_that_is_done_again_begins_where_it_began(tmp_path: Path, start: str):
    """Spark asks for the beginning anew until a batch is done, and by then the table has newer snapshots."""
    lake = new_lake(tmp_path)
    commit(lake, [[(1, "x")]])
    reader = stream(lake, start=start)
    began = reader.initialOffset()
    commit(lake, [[(2, "y")]])
    end = reader.latestOffset(began, ReadAllAvailable())
    commit(lake, [[(3, "z")]])
    restarted = stream(lake, start=start)
    anew = restarted.initialOffset()
    assert anew != began
    assert rows(restarted, anew, end) == rows(reader, began, end) == [(1, "x"), (2, "y")][start == "latest" :]
    assert [found for _, found in batches(restarted, end)] == [[(3, "z")]]


def test_where_a_stream_begins(tmp_path: Path):
    lake = new_lake(tmp_path)
    for number in range(1, 4):
        commit(lake, [[(number, "x")]])

    def begun(**options: str) -> list[int]:
        reader = stream(lake, **options)
        return [a for _, found in batches(reader, reader.initialOffset()) for a, _ in found]

    assert sorted(begun()) == [1, 2, 3]
    assert begun(start="latest") == []
    assert begun(from_snapshot="2") == [2, 3]
    assert begun(from_timestamp="2000") == [3]
    assert begun(from_timestamp="10") == [1, 2, 3]
    assert sorted(begun(start="full", from_snapshot="2")) == [1, 2, 3]
    for options, code in (
        ({"from_snapshot": "9"}, "LB5624"),
        ({"start": "changes"}, "LB5615"),
        ({"start": "newest"}, "LB5615"),
        ({"snapshot": "2"}, "LB5615"),
        ({"max_files_per_trigger": "0"}, "LB5615"),
        ({"from_snapshot": "1", "from_timestamp": "1"}, "LB5615"),
    ):
        with pytest.raises(LakebedError) as caught:
            begun(**options)
        assert caught.value.code == code, options


def before_the_stop(reader: TableStream, start: Any) -> list[tuple[Any, list[tuple[Any, ...]]]]:
    """The batches that come before the one that fails."""
    found: list[tuple[Any, list[tuple[Any, ...]]]] = []
    with pytest.raises(LakebedError):
        found.extend(batches(reader, start))
    return found


def test_what_stops_a_stream(tmp_path: Path):
    lake = new_lake(tmp_path)
    commit(lake, [[(1, "x")]])
    reader = stream(lake)
    start = reader.initialOffset()
    [(end, _)] = batches(reader, start)

    def code(of: TableStream, at: Any) -> str:
        with pytest.raises(LakebedError) as caught:
            of.latestOffset(at, ReadAllAvailable())
        return caught.value.code

    assert code(reader, {"version": 2}) == "LB5616"
    snapshots = SnapshotManager(lake.store, storage(lake).path)
    newest = snapshots.latest()
    assert newest is not None
    assert snapshots.publish(replace(newest, id=2, commit_kind="OVERWRITE"))
    assert code(reader, end) == "LB5619"
    assert [len(found) for _, found in before_the_stop(reader, start)] == [1]
    goes_on = stream(lake, on_overwrite="ignore")
    assert [found for _, found in batches(goes_on, end)] == [[]]
    Path(snapshots.path(1)).unlink()
    assert code(stream(lake), start) == "LB5617"
    shutil.rmtree(Path(snapshots.path(2)).parent)
    assert code(stream(lake), end) == "LB5618"


def test_an_unfinished_batch_is_not_done_again_with_the_rows_of_another_history(tmp_path: Path):
    lake = new_lake(tmp_path)
    commit(lake, [[(1, "x")]])
    reader = stream(lake)
    [(begun, _)] = batches(reader, reader.initialOffset())
    commit(lake, [[(2, "y")]])
    end = reader.latestOffset(begun, ReadAllAvailable())
    snapshots = SnapshotManager(lake.store, storage(lake).path)
    shutil.rmtree(Path(snapshots.path(1)).parent)
    for _ in range(2):
        commit(lake, [[(3, "z")]])
        with pytest.raises(LakebedError) as caught:
            stream(lake).partitions(begun, end)
        assert caught.value.code == "LB5618"


def test_a_schema_that_changes_under_a_stream(tmp_path: Path):
    lake = new_lake(tmp_path)
    commit(lake, [[(1, "x")]])
    strict, projecting = stream(lake), stream(lake, on_schema_change="project")
    start = strict.initialOffset()
    [(end, _)] = batches(strict, start)
    declare(lake, manifest(MORE))
    commit(lake, [[(2, "y")]], third=7)
    with pytest.raises(LakebedError) as caught:
        strict.latestOffset(end, ReadAllAvailable())
    assert caught.value.code == "LB5621"
    assert [found for _, found in batches(projecting, end)] == [[(2, "y")]]
    assert [found for _, found in batches(stream(lake), end)] == [[(2, "y", 7)]]


def test_deletes_that_a_table_ignores_are_no_changes(tmp_path: Path):
    options = {"ignore-delete": "true"}
    table = KeyedTable(tmp_path, "t", {"k": ("INT", pa.int32()), "v": ("STRING", pa.string())}, options=options)
    table.add([Record(INSERT, 0, {"k": 1, "v": "a"}), Record(DELETE, 1, {"k": 2, "v": "b"})])
    table.commit()
    given = {"path": "db.t", "warehouse": str(tmp_path), "row-kinds": "true", "from-snapshot": "1"}
    source = LakebedDataSource(given)
    reader = source.streamReader(source.schema())
    assert isinstance(reader, TableStream)
    assert [found for _, found in batches(reader, reader.initialOffset())] == [[("+I", 1, "a")]]
    with pytest.raises(LakebedError, match="LB5623"):
        source.streamReader(_without_kind(source)).initialOffset()


def _without_kind(source: LakebedDataSource) -> Any:
    schema = source.schema()
    return type(schema)([field for field in schema.fields if field.name != "rowkind"])


def test_tables_with_a_primary_key(tmp_path: Path):
    table = KeyedTable(tmp_path, "t", {"k": ("INT", pa.int32()), "v": ("STRING", pa.string())})
    table.add([Record(INSERT, 0, {"k": 1, "v": "a"}), Record(INSERT, 1, {"k": 2, "v": "b"})])
    table.add([Record(INSERT, 2, {"k": 1, "v": "c"}), Record(DELETE, 3, {"k": 2, "v": "b"})])
    table.commit()
    source = LakebedDataSource({"path": "db.t", "warehouse": str(tmp_path)})
    with pytest.raises(LakebedError) as caught:
        source.streamReader(source.schema()).initialOffset()
    assert caught.value.code == "LB5623"
    for start, expected in (
        ("full", [("+I", 1, "c")]),
        ("changes", [("+I", 1, "a"), ("+I", 1, "c"), ("+I", 2, "b"), ("-D", 2, "b")]),
    ):
        given = {"path": "db.t", "warehouse": str(tmp_path), "row-kinds": "true"}
        source = LakebedDataSource(given if start == "full" else given | {"from-snapshot": "1"})
        reader = source.streamReader(source.schema())
        assert isinstance(reader, TableStream)
        found = [row for _, batch in batches(reader, reader.initialOffset()) for row in batch]
        assert sorted(found, key=lambda row: (row[1], row[2], row[0])) == expected


def test_a_query_goes_on_from_its_checkpoint(spark: Any, tmp_path: Path):
    lake = new_lake(tmp_path)
    lake.register(spark)
    commit(lake, [[(1, "x")], [(2, "y")]])

    def run() -> None:
        frame = spark.readStream.format("lakebed").option("max-files-per-trigger", "1").load("db.t")
        query = frame.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = query.trigger(availableNow=True).start(str(tmp_path / "out"))
        query.awaitTermination()

    def found() -> list[int]:
        return sorted(pq.read_table(tmp_path / "out", columns=["a"]).column("a").to_pylist())

    run()
    assert found() == [1, 2]
    commit(lake, [[(3, "z")]])
    run()
    assert found() == [1, 2, 3]
    snapshots = SnapshotManager(lake.store, storage(lake).path)
    newest = snapshots.latest()
    assert newest is not None
    assert snapshots.publish(replace(newest, id=newest.id + 1, commit_kind="OVERWRITE"))
    with pytest.raises(StreamingQueryException, match="LB5619"):
        run()
    assert found() == [1, 2, 3]


def test_what_a_consumer_has_still_to_read_does_not_expire(tmp_path: Path) -> None:
    """From the beginning of the stream on, between batches, in the middle of a snapshot, and behind a restart."""
    lake = new_lake(tmp_path)
    table = lake.table("db.t")
    options = {"consumer_id": "s-1", "start": "changes", "from_snapshot": "1", "max_files_per_trigger": "1"}
    for number in range(3):
        commit(lake, [[(number, "x")], [(number, "y")]])

    def kept() -> int | None:
        """The first snapshot that stays."""
        table.expire(retain_min=1, retain_max=1, older_than=timedelta())
        return table.snapshots.earliest_id()

    reader = stream(lake, **options)
    start = reader.initialOffset()
    assert kept() == 1
    firsts = []
    for end, found in batches(reader, start):
        assert len(found) == 1
        firsts.append(kept())
        offset = end
    # Spark says that a batch is done after it, so that each is looked at before.
    assert firsts == [1, 1, 2, 2, 3, 3]
    commit(lake, [[(3, "z")]])
    commit(lake, [[(4, "z")]])
    # A restart asks for the beginning anew before it goes on.
    again = stream(lake, consumer_id="s-1")
    again.initialOffset()
    assert kept() == 4
    assert [found for _, found in batches(again, offset)] == [[(3, "z"), (4, "z")]]
    assert kept() == 5
    assert json.loads((Path(storage(lake).path) / "consumer" / "consumer-s-1").read_bytes()) == {"nextSnapshot": 6}
    for wrong in ("a/b", "", ".."):
        with pytest.raises(LakebedError, match="LB5615"):
            stream(lake, consumer_id=wrong)
