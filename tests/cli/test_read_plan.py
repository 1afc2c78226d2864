"""`lakebed read --explain` and `--count`: what they print, what they refuse, and that they start without Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from cli.command_line import SOURCE, CommandLine
from format.building import parquet_bytes, table_schema
from format.laid_out import LaidOut, Vector
from lakebed import open as open_lake
from lakebed.errors import UsageError
from lakebed.store import LocalStore
from referees.corpus import load_expected

_GUARD = """\
import sys

class Guard:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j"):
            raise AssertionError("Spark is imported")

sys.meta_path.insert(0, Guard())
from lakebed.cli.main import main
main()
"""


@pytest.fixture
def days(warehouse: Path) -> str:
    """`lab.days`: five rows in three partitions, one of them deleted; the name of the last would move the cursor."""
    (warehouse / "lab.db").mkdir()
    schema = table_schema([("day", "STRING"), ("id", "BIGINT")], partition_keys=["day"])
    table = LaidOut(LocalStore(), str(warehouse / "lab.db" / "days"), schema)
    for number, (day, ids) in enumerate([("mon", [1, 2]), ("tue", [3, 4]), ("\x1b[2J", [5])]):
        rows = pa.table({"day": [day] * len(ids), "id": pa.array(ids, pa.int64())})
        table.add(f"{number}.parquet", parquet_bytes(rows), len(ids), (day,))
    table.delete({"0.parquet": Vector([1])}, ("mon",))
    table.commit()
    return "lab.days"


def test_the_plan_for_people(lakebed: CommandLine, days: str) -> None:
    shown = lakebed.ok("read", days, "--explain", "--where", "day = 'mon' AND id % 2 = 1")
    lines = [line.split() for line in shown.splitlines()]
    assert shown.splitlines()[:2] == ["lab.days", "  state      main, snapshot 1, read as schema 0"]
    assert shown.splitlines()[2] == "  filter     day = 'mon' AND (id % 2 = 1)"
    assert "chooses no files, Spark applies it" in shown
    assert ["read", "1", "file,", "2", "rows,"] in [line[:5] for line in lines]
    assert ["left", "out", "2", "files,", "3", "rows,"] in [line[:6] for line in lines]
    assert "    day=mon/bucket-0/0.parquet  as it is, less deleted rows" in shown.splitlines()
    assert "    day=tue/bucket-0/1.parquet  partition: no row has day = 'mon'" in shown.splitlines()
    sure = lakebed.ok("read", days, "--explain", "--where", "day = 'tue'")
    assert "    day=tue/bucket-0/1.parquet  as it is, all rows match" in sure.splitlines()


def test_nothing_in_a_plan_commands_the_terminal(lakebed: CommandLine, days: str) -> None:
    shown = lakebed.ok("read", days, "--explain", "--where", "day = '\x1b[2J\n\u202e'")
    assert all(line.isprintable() for line in shown.splitlines())
    assert "\\n\\u202e" in shown


def test_the_plan_for_programs(lakebed: CommandLine, days: str) -> None:
    found = lakebed.json("read", days, "--explain", "--where", "day = 'mon'")
    (state,) = found["states"]
    assert (found["table"], found["kept"]["files"], found["dropped"]["rows"]) == (days, 1, 3)
    assert (state["branch"], state["snapshot"], state["schema"], state["filter"]) == ("main", 1, 0, "day = 'mon'")
    (kept,) = state["files"]
    assert kept["path"].endswith("/day=mon/bucket-0/0.parquet")
    assert {k: kept[k] for k in ("rows", "way", "group", "deletions", "all_rows_match")} == {
        "rows": 2,
        "way": "as it is",
        "group": None,
        "deletions": True,
        "all_rows_match": True,
    }
    assert {d["stage"] for d in state["dropped_files"]} == {"partition"}


def test_a_limit_of_zero_is_none(lakebed: CommandLine, days: str) -> None:
    plans = [lakebed.json("read", days, "--explain", "--limit", n)["kept"]["files"] for n in ("0", "1", "9")]
    assert plans == [3, 1, 3]


@pytest.mark.parametrize(
    ("where", "rows"), [(None, 4), ("day = 'mon'", 1), ("day IN ('mon', 'tue')", 3), ("false", 0), ("day IS NULL", 0)]
)
def test_counts(lakebed: CommandLine, days: str, where: str | None, rows: int) -> None:
    words = ["read", days, "--count", *(["--where", where] if where else [])]
    assert lakebed.ok(*words) == f"{rows}\n"
    assert lakebed.json(*words) == {"table": days, "rows": rows}


def test_a_name_that_is_no_column_is_told(lakebed: CommandLine, days: str, warehouse: Path) -> None:
    """Metadata alone would answer: no file is left to look at, and Spark would refuse the filter."""
    where = "day = 'nobody' AND ids > 3"
    assert "ids is no column of this schema: Spark refuses the filter" in lakebed.ok(
        "read", days, "--explain", "--where", where
    )
    with pytest.raises(UsageError, match="ids in the filter is no column"):
        open_lake(warehouse).count(days, where=where)


def test_a_table_without_rows(lakebed: CommandLine, orders: Path) -> None:
    assert lakebed.ok("read", "shop.orders", "--count") == "0\n"
    assert "main, no snapshot, read as schema 0" in lakebed.ok("read", "shop.orders", "--explain")


@pytest.mark.parametrize(
    "words",
    [
        ("--explain", "--count"),
        ("--explain", "--select", "id"),
        ("--count", "--null-on-cast-error"),
        ("--count", "--limit", "3"),
    ],
    ids=" ".join,
)
def test_options_that_do_not_go_together(lakebed: CommandLine, days: str, words: tuple[str, ...]) -> None:
    assert lakebed("read", days, *words).code == 2


@pytest.mark.parametrize("option", ["--explain", "--count"])
def test_what_has_no_plan(lakebed: CommandLine, days: str, option: str) -> None:
    assert lakebed("--json", "read", f"{days}$files", option).codes == ["LB5651"]
    assert lakebed("--json", "read", days, option, "--where", "").codes == ["LB5630"]


def test_neither_needs_spark(days: str, here: Path) -> None:
    def guarded(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), "JAVA_HOME": "/nowhere"}
        command = [sys.executable, "-c", _GUARD, "read", days, *words]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    counted = guarded("--count", "--where", "day = 'mon'")
    assert (counted.returncode, counted.stdout) == (0, "1\n"), counted.stderr
    assert guarded("--explain", "--where", "id = 3").returncode == 0
    assert guarded("--limit", "1").stdout.startswith("day   id")
    assert "Spark is imported" in guarded("--limit", "1", "--engine", "spark").stderr


@pytest.mark.parametrize(
    ("key", "branches", "ways"),
    [
        ("parquet__append_10", ["main"], {"as it is"}),
        ("parquet__append_table_with_rt_branch", ["main", "rt"], {"as it is"}),
        ("parquet__pk_table_scan_and_read_mor", ["main"], {"as it is", "merged"}),
        ("parquet__data_evolution_with_dense_stats", ["main"], {"put together"}),
    ],
)
def test_tables_of_others(lakebed: CommandLine, shared: Path, key: str, branches: list[str], ways: set[str]) -> None:
    table = load_expected(key, shared)
    words = ("--warehouse", table.warehouse, "read", table.table)
    states = lakebed.json(*words, "--explain")["states"]
    assert [state["branch"] for state in states] == branches
    assert {file["way"] for state in states for file in state["files"]} == ways
    if "merged" not in ways:
        assert lakebed.ok(*words, "--count") == f"{len(table.rows):,}\n".replace(",", "")
