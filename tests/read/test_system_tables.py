"""System tables: rows made from metadata, with the columns that other engines give them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import lakebed
from lakebed.errors import NotFoundError, UnsupportedError, UsageError
from lakebed.inspection import NAMES
from read.lakes import declare, empty_lake, got, manifest, put
from referees.corpus import SHARED
from referees.java import JavaReferee

TABLE = """{name: k, type: Int64}
{name: day, type: {kind: Option, inner: Date}}
{name: s, type: {kind: Option, inner: String}}"""


def every_table() -> Iterator[tuple[lakebed.Lake, str]]:
    for database in sorted(SHARED.glob("tables/*/**/*.db")):
        lake = lakebed.open(database.parent)
        for table in lake.tables.list_tables(database.stem):
            yield lake, f"`{database.stem}`.`{table}"


def test_every_table_of_others_has_all_of_them(shared: Path) -> None:
    """Sums agree with each other, and with the snapshot."""
    seen = 0
    for lake, name in every_table():
        found = {system: lake.inspect(f"{name}${system}`") for system in NAMES}
        for table in found.values():
            assert all(len(row) == len(table.columns) for row in table.rows)
        files = found["files"].rows
        for sums, at in (("partitions", 1), ("buckets", 2)):
            rows = found[sums].rows
            assert [sum(r[at + i] for r in rows) for i in range(3)] == [
                *(sum(f[6] for f in files), sum(f[7] for f in files), len(files))
            ]
        if found["snapshots"].rows:
            total = found["snapshots"].rows[-1][9]
            assert total is None or total == sum(f[6] for f in files)
        manifests = found["manifests"].rows
        assert sum(m[2] - m[3] for m in manifests) == len(files)
        seen += 1
    assert seen > 20


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory, spark: Any) -> lakebed.Lake:
    """A partitioned table of two snapshots and two schema versions, with a tag and a branch of it."""
    lake = empty_lake(tmp_path_factory.mktemp("days"))
    text = manifest(TABLE).replace("  schema:\n", "  partitionKeys: [day]\n  schema:\n")
    declare(lake, text)
    rows = [(1, "2024-01-01", "a"), (2, None, None)]
    put(lake, spark, rows, "k bigint, day string, s string")
    declare(lake, text.replace("name: s,", "name: t, extra: {lakebed.dev/renamedFrom: s},"))
    lake.tags("db.t").create("first", snapshot=1)
    lake.branches("db.t").create("dev", tag="first")
    put(lake, spark, [(3, "2024-01-01", "c")], "k bigint, day string, t string")
    return lake


def test_files_and_their_sums(days: lakebed.Lake) -> None:
    files = days.inspect("db.t$files")
    shown = [dict(zip(files.column_names, row, strict=True)) for row in sorted(files.rows, key=lambda r: (r[0], r[13]))]
    assert [(f["partition"], f["record_count"], f["schema_id"]) for f in shown] == [
        *(("{2024-01-01}", 1, 0), ("{2024-01-01}", 1, 1), ("{null}", 1, 0))
    ]
    assert shown[0]["min_value_stats"] == "{day=2024-01-01, k=1, t=a}"
    assert shown[2]["null_value_counts"] == "{day=1, k=0, t=1}"
    assert {f["file_format"] for f in shown} == {"parquet"}
    assert all(Path(f["file_path"]).stat().st_size == f["file_size_in_bytes"] for f in shown)
    partitions = days.inspect("db.t$partitions").rows
    assert [(p[0], p[1], p[3]) for p in partitions] == [("day=2024-01-01", 2, 2), ("day=__DEFAULT_PARTITION__", 1, 1)]


def test_states_and_branches(days: lakebed.Lake) -> None:
    assert len(days.inspect("db.t$files", snapshot=1).rows) == 2
    assert len(days.inspect("db.t$files@tag:first").rows) == 2
    assert len(days.inspect("db.t$branch_dev$files").rows) == 2
    assert len(days.inspect("db.t$branch_main$FILES").rows) == 3
    assert [row[0] for row in days.inspect("db.t$snapshots").rows] == [1, 2]
    assert [row[0] for row in days.inspect("db.t$branch_dev$snapshots").rows] == [1]
    assert [row[:3] for row in days.inspect("db.t$tags").rows] == [("first", 1, 0)]
    assert [row[0] for row in days.inspect("db.t$branches").rows] == ["dev"]
    schemas = days.inspect("db.t$schemas").rows
    assert [[f["name"] for f in json.loads(row[1])] for row in schemas] == [["k", "day", "s"], ["k", "day", "t"]]
    assert {row[2] for row in schemas} == {'["day"]'}


def test_moments_are_of_the_lakes_zone(days: lakebed.Lake) -> None:
    there = lakebed.open(days.warehouse, time_zone="Asia/Kolkata").inspect("db.t$snapshots").rows[0][5]
    millis = days.history("db.t").snapshots[0].time_millis
    assert (there - datetime.fromtimestamp(millis / 1000, UTC).replace(tzinfo=None)).total_seconds() == 19800


def test_as_data_frames(days: lakebed.Lake, spark: Any) -> None:
    frame = days.read(spark, "db.t$files")
    assert dict(frame.dtypes)["write_cols"] == "array<string>"
    assert dict(frame.dtypes)["creation_time"] == "timestamp_ntz"
    assert frame.count() == 3
    assert [row[:3] for row in got(days.read(spark, "db.t$branch_dev$tags"))] == [("first", 1, 0)]


def test_other_names_are_refused(days: lakebed.Lake) -> None:
    with pytest.raises(NotFoundError, match=r"LB5590.*did you mean 'files'"):
        days.inspect("db.t$file")
    with pytest.raises(UnsupportedError, match="LB5591"):
        days.inspect("db.t$audit_log")
    with pytest.raises(UsageError, match="LB5592"):
        days.inspect("db.t$tags", snapshot=1)
    with pytest.raises(UsageError, match="LB5590"):
        days.inspect("db.t")
    with pytest.raises(NotFoundError):
        days.inspect("db.none$files")
    with pytest.raises(NotFoundError):
        days.inspect("db.t$branch_none$files")


def test_java_says_the_same(java: JavaReferee, tmp_path: Path) -> None:
    java.create(
        tmp_path,
        "db.t",
        [("k", "INT NOT NULL"), ("p", "STRING NOT NULL"), ("v", "DOUBLE")],
        partition_keys=["p"],
        primary_keys=["p", "k"],
        options={"bucket": "2", "write-only": "true"},
    )
    java.append(tmp_path, "db.t", [(1, "x", 1.5), (2, "y", None)])
    java.append(tmp_path, "db.t", [(1, "x", 2.5), (3, "x", 0.5)])
    lake = lakebed.open(tmp_path)
    for system, columns in (
        ("snapshots", (0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12)),
        ("files", (1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)),
        ("options", (0, 1)),
        ("schemas", (0, 2, 3, 5)),
        ("manifests", (0, 1, 2, 3, 4)),
        ("partitions", (1, 2, 3)),
    ):
        ours = [[row[i] for i in columns] for row in lake.inspect(f"db.t${system}").rows]
        theirs = [[row[i] for i in columns] for row in java.rows(tmp_path, f"db.t${system}")]
        assert sorted(map(repr, ours)) == sorted(map(repr, theirs)), system


def test_the_command_line_starts_no_spark(days: lakebed.Lake) -> None:
    program = (
        "import sys; from lakebed.cli.main import run; code = run(sys.argv[1:]); "
        "assert 'pyspark' not in sys.modules; sys.exit(int(code))"
    )
    words = ["--warehouse", days.warehouse, "--json", "read", "db.t$files", "--snapshot", "1"]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted((row["partition"], row["record_count"]) for row in rows) == [("{2024-01-01}", 1), ("{null}", 1)]
