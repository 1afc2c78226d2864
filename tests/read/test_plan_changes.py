"""Changes are told alike by a plan, by a stream and by `lake.read_changes`, and refused alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import lakebed
from lakebed.data_source.data_source import LakebedDataSource
from lakebed.data_source.stream import TableStream
from lakebed.data_source.stream_offset import Offset
from lakebed.errors import LakebedError
from lakebed.format.manifest import Kind
from lakebed.format.row_kinds import ROW_KIND
from lakebed.physical import parse
from lakebed.read.plan_changes import ChangesAsked, CommitChanges, Mode, StateDifference, plan_changes
from read.changing_tables import HISTORIES, KINDS_OF_TABLES, LONG, ChangingTable, made
from read.generated_tables import make


def plan(lake: lakebed.Lake, since: int, until: int | None = None, *, name: str = "db.t", **asked: Any) -> Any:
    table = lake.table(name)
    parts = {name: asked.pop(name) for name in ("branch", "schema") if name in asked}
    wanted = ChangesAsked(since, until, **({"row_kinds": True} | asked))
    return plan_changes(table._branch, wanted, table.request(**parts))


def stream(lake: lakebed.Lake, **options: str) -> TableStream:
    given = {"path": "db.t", "warehouse": str(lake.warehouse), "row-kinds": "true", "on-overwrite": "ignore"}
    source = LakebedDataSource(given | {name.replace("_", "-"): text for name, text in options.items()})
    reader = source.streamReader(source.schema())
    assert isinstance(reader, TableStream)
    return reader


def batches(reader: TableStream) -> Iterator[tuple[int, list[str], list[dict[str, Any]]]]:
    """Of each batch: the snapshots that are read after it, its files, and its rows."""
    start = reader.initialOffset()
    while (end := reader.latestOffset(start, reader.getDefaultReadLimit())) != start:
        tasks = reader.partitions(start, end)
        files = [part.path for task in tasks for part in task.value.work.parts]
        at = Offset.from_json(end).at
        rows = [row for task in tasks for batch in reader.read(task) for row in batch.to_pylist()]
        yield at.snapshot - 1 if at.part == 0 else 0, files, rows
        start = end


@settings(max_examples=40)
@given(st.sampled_from(list(KINDS_OF_TABLES)), HISTORIES, st.integers(0, 3), st.integers(1, 9))
def test_a_stream_gives_what_is_planned_and_what_was_changed(kind: str, steps: Any, since: int, most: int) -> None:
    with TemporaryDirectory() as directory:
        table = made(kind, steps, Path(directory))
        lake = table.lake
        since = min(since, max(table.changed) - 1)
        files: list[str] = []
        rows: list[dict[str, Any]] = []
        reader = stream(lake, from_snapshot=str(since + 1), max_files_per_trigger=str(most))
        for done, some_files, some_rows in batches(reader):
            files += some_files
            rows += some_rows
            if done:
                assert [f.path for f in plan(lake, since, done, schema="latest").files] == files
        whole = plan(lake, since)
        assert [f.path for f in whole.files] == files
        assert [commit.snapshot for commit in whole.commits] == list(range(since + 1, max(table.changed) + 1))
        expected = [row for number, found in table.changed.items() if number > since for row in found]
        assert sorted(tuple(row.values())[:3] for row in rows) == sorted(expected)


def test_spark_reads_the_changes_that_a_stream_gives(spark: Any, tmp_path: Path) -> None:
    """A table of each form of files, all by one query."""
    frames, streamed = [], []
    for number, kind in enumerate(("appended", "ignoring deletes", "logged")):
        lake = made(kind, LONG, tmp_path / str(number)).lake
        frame = lake.read_changes(spark, "db.t", since=0, row_kinds=True)
        frames.append(frame.select(F.lit(number).alias("i"), F.to_json(F.struct("*")).alias("row")))
        rows = [row for _, _, some in batches(stream(lake, from_snapshot="1")) for row in some]
        assert frame.columns == [ROW_KIND, *lake.schema("db.t").field_names]
        streamed += [(number, _json(row)) for row in rows]
    assert sorted(map(tuple, reduce(DataFrame.union, frames).collect())) == sorted(streamed)


def _json(row: dict[str, Any]) -> str:
    """As Spark writes it: without NULLs."""
    return json.dumps({name: value for name, value in row.items() if value is not None}, separators=(",", ":"))


# --- the mode ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS_OF_TABLES)
def test_one_reading_of_the_producer(tmp_path: Path, kind: str) -> None:
    """A table without a primary key has no changelog, whatever the option says."""
    key, options = KINDS_OF_TABLES[kind]
    lake = made(kind, LONG, tmp_path).lake
    mode = Mode.CHANGELOG if key and "changelog-producer" in options else Mode.DELTA
    assert plan(lake, 0).told.mode is mode
    if mode is Mode.DELTA:
        assert _code(lambda: plan(lake, 0, mode="changelog")) == "LB5596"


def test_maps_are_not_compared(tmp_path: Path) -> None:
    lake = lakebed.open(tmp_path)
    one = {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"}
    row = {"type": "ROW", "fields": [{"id": 7, "name": "m", "type": one}]}
    kinds = (one, {"type": "ARRAY", "element": row}, {"type": "MULTISET", "element": "INT NOT NULL"}, "VARIANT")
    for number, kind in enumerate(kinds):
        lake.tables.create_table("db", f"t{number}", [("k", "BIGINT"), ("m", parse(kind))])
        assert _code(lambda name=f"db.t{number}": plan(lake, 0, mode="diff", name=name)) == "LB5597"


def test_the_same_states_are_compared(tmp_path: Path) -> None:
    lake = made("keyed", LONG, tmp_path).lake
    found = plan(lake, 0, 3, mode="diff")
    assert isinstance(found, StateDifference)
    assert (found.since, found.until.travel.snapshot, found.until.schema) == (None, 3, found.state.schema.id)
    assert plan(lake, 2, mode="diff").since.travel.snapshot == 2


# --- what is refused --------------------------------------------------------------------------------------------------


def _made(kind: str, **options: str) -> Callable[[Path], lakebed.Lake]:
    def make_it(warehouse: Path) -> lakebed.Lake:
        key, own = KINDS_OF_TABLES[kind]
        table = ChangingTable(warehouse, key, own | options)
        table.append([(0, 1, "a")], log=[])
        return table.lake

    return make_it


def _changed_producer(*words: str) -> Callable[[Path], lakebed.Lake]:
    def make_it(warehouse: Path) -> lakebed.Lake:
        table = ChangingTable(warehouse, True, {"changelog-producer": words[0]})
        table.append([(0, 1, "a")])
        table.set_option("changelog-producer", words[1])
        table.append([(0, 2, "b")])
        return table.lake

    return make_it


def _adds_and_removes(warehouse: Path) -> lakebed.Lake:
    table = ChangingTable(warehouse)
    table.append([(0, 1, "a")])
    table.publish("APPEND", [replace(entry, kind=Kind.DELETE) for entry in table._live()])
    return table.lake


def _unbucketed_file(warehouse: Path) -> lakebed.Lake:
    table = ChangingTable(warehouse, True)
    table.publish("APPEND", [table._file([(0, 1, "a")], bucket=-2)])
    return table.lake


def _of_kind(kind: str) -> Callable[[Path], lakebed.Lake]:
    return lambda warehouse: make(kind, 1, warehouse).lake


REFUSED: dict[str, tuple[Callable[[Path], lakebed.Lake], str]] = {
    "data evolution": (_of_kind("parts"), "LB5622"),
    "a fallback branch": (_of_kind("fallback"), "LB5622"),
    "first rows": (_made("keyed", **{"merge-engine": "first-row"}), "LB5622"),
    "partial updates": (_made("keyed", **{"merge-engine": "partial-update"}), "LB5622"),
    "aggregation": (_made("keyed", **{"merge-engine": "aggregation"}), "LB5622"),
    "postponed buckets": (_made("keyed", bucket="-2"), "LB5622"),
    "a file in no bucket": (_unbucketed_file, "LB5622"),
    "a changelog from now on": (_changed_producer("none", "input"), "LB5622"),
    "no changelog any more": (_changed_producer("input", "none"), "LB5622"),
    "a commit that adds and removes": (_adds_and_removes, "LB5620"),
    "a word that is none": (_made("keyed", **{"changelog-producer": "outputs"}), "LB5073"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_both_refuse_the_same_tables(tmp_path: Path, case: str) -> None:
    build, code = REFUSED[case]
    lake = build(tmp_path)
    assert _code(lambda: plan(lake, 0)) == code
    assert _code(lambda: list(batches(stream(lake, from_snapshot="1")))) == code
    assert _code(lambda: plan(lake, 0, mode="diff")) is None


def test_what_a_merge_makes_right_is_refused_for_single_rows_alone(tmp_path: Path) -> None:
    lake = _made("keyed", **{"merge-engine": "partial-update"})(tmp_path)
    assert len(plan(lake, 0, row_kinds=False).files) == 1
    assert _code(lambda: plan(lake, 0)) == "LB5622"


def test_commits_before_another_producer_are_told_where_their_mode_is_named(tmp_path: Path) -> None:
    lake = _changed_producer("input", "none")(tmp_path)
    assert [len(c.files) for c in plan(lake, 0, mode="delta").commits] == [1, 1]
    assert [len(c.files) for c in plan(lake, 1).commits] == [1]


def test_the_main_branch_alone_has_changes(tmp_path: Path) -> None:
    lake = _of_kind("fallback")(tmp_path)
    found = plan(lake, 0, 3, branch="main")
    assert isinstance(found, CommitChanges)
    assert len(found.files) == 3
    done, files, _ = next(batches(stream(lake, from_snapshot="3", branch="main")))
    assert (done, files) == (3, [found.files[-1].path])


def _code(run: Callable[[], Any]) -> str | None:
    try:
        run()
    except LakebedError as error:
        return error.code
    return None
