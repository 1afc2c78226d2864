"""`truncate` and `drop-partitions`: what they ask, what they say, in text and JSON, and when they refuse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cli.command_line import CommandLine, on_terminal
from format.building import Built, table_schema
from lakebed.store import LocalStore


@pytest.fixture
def table(warehouse: Path) -> Built:
    """`lab.t` with the partitions `day=2024-01-01`, twice, and `day=2024-01-02`; files are described only."""
    schema = table_schema([("day", "DATE"), ("v", "INT")], partition_keys=["day"])
    made = Built(LocalStore(), schema, path=str(warehouse / "lab.db" / "t"))
    made.append(*(made.new_file((day,), rows=1000) for day in (19_723, 19_723, 19_724)))
    return made


def test_partitions_are_dropped(lakebed: CommandLine, table: Built) -> None:
    looked = lakebed.ok("drop-partitions", "lab.t", "day=2024-01-01", "--dry-run")
    assert looked.splitlines() == [
        "lab.t: would remove 2,000 rows, 2 files, 1 partition, 20 B",
        "  day=2024-01-01",
    ]
    refused = lakebed("drop-partitions", "lab.t", "day=2024-01-01")
    assert (refused.code, "not confirmed, nothing was changed" in refused.err) == (2, True)
    assert table.storage.snapshots.latest_id() == 1
    made = lakebed.json("drop-partitions", "lab.t", "day=2024-01-01", "--yes", "--run-id", "r")
    assert (made["snapshot_id"], made["rows_removed"], made["partitions"]) == (2, 2000, ["day=2024-01-01"])
    again = lakebed.ok("drop-partitions", "lab.t", "day=2024-01-01", "--yes", "--run-id", "r")
    assert again.splitlines()[-1] == "this run was done before; nothing was done now"
    assert len(table.plan()) == 1
    none = lakebed.ok("drop-partitions", "lab.t", "day=2024-01-01")
    assert none == "lab.t: no partition matches, nothing to remove.\n"


def test_partitions_expire(lakebed: CommandLine, table: Built) -> None:
    assert (refused := lakebed("expire-partitions", "lab.t")).code == 2
    assert "LB5106" in refused.err
    asked = ("expire-partitions", "lab.t", "--older-than", "1d")
    shown = ["  day=2024-01-01: 2024-01-01 00:00:00", "  day=2024-01-02: 2024-01-02 00:00:00"]
    assert lakebed.ok(*asked, "--dry-run").splitlines() == [
        "lab.t: would remove 3,000 rows, 3 files, 2 partitions, 30 B",
        *shown,
    ]
    refused = lakebed(*asked)
    assert (refused.code, "not confirmed, nothing was changed" in refused.err) == (2, True)
    assert table.storage.snapshots.latest_id() == 1
    made = lakebed.json(*asked, "--yes", "--run-id", "r")
    assert (made["snapshot_id"], made["files_removed"], made["older_than_seconds"]) == (2, 3, 86_400)
    assert made["expired"][0] == {"partition": "day=2024-01-01", "time": "2024-01-01 00:00:00"}
    assert lakebed.ok(*asked) == "lab.t: no partition is due.\n"
    assert lakebed.json(*asked, "--yes", "--run-id", "r")["repeated"]
    code, screen = on_terminal("expire-partitions", "lab.t", "--older-than", "1d", answers={})
    assert (code, "no partition is due" in screen) == (0, True)


def test_tables_are_maintained(lakebed: CommandLine, table: Built, warehouse: Path) -> None:
    assert lakebed.ok("maintain") == "1 table; nothing is due for 1.\n"
    options = {"partition.expiration-time": "1 d", "snapshot.num-retained.min": "1", "snapshot.time-retained": "1 ms"}
    table.evolve(replace(table.schema, id=1, options=options))
    looked = lakebed.ok("maintain", "--dry-run")
    assert looked.splitlines() == [
        "lab.t: would remove 3,000 rows, 3 files, 2 partitions, 30 B",
        "  day=2024-01-01: 2024-01-01 00:00:00",
        "  day=2024-01-02: 2024-01-02 00:00:00",
        "",
        "1 table.",
    ]
    refused = lakebed("maintain", "lab.t")
    assert (refused.code, "not confirmed, nothing was changed" in refused.err) == (2, True)
    assert table.storage.snapshots.ids() == [1]
    made = lakebed.json("maintain", "lab.t", "--yes", "--orphans")
    (found,) = made["tables"]
    assert (found["expire_partitions"]["snapshot_id"], found["expire"]["snapshots"]) == (2, [1])
    assert (found["compact"]["snapshot_id"], found["orphans"]["files"]) == (None, [])
    assert made["freed_files"] == found["expire"]["data_files"] + found["expire"]["metadata_files"] > 3
    code, screen = on_terminal("maintain", answers={})
    assert (code, "1 table; nothing is due for 1." in screen) == (0, True)


def test_a_table_that_fails_is_told_and_the_others_are_maintained(
    lakebed: CommandLine, table: Built, warehouse: Path
) -> None:
    broken = Built(LocalStore(), table.schema, path=str(warehouse / "lab.db" / "broken"))
    broken.append(broken.new_file((19_723,)))
    for found in (warehouse / "lab.db" / "broken" / "manifest").glob("manifest-*"):
        found.write_bytes(b"no manifest")
    table.evolve(replace(table.schema, id=1, options={"partition.expiration-time": "1 d"}))
    failed = lakebed("maintain", "lab.t", "lab.broken", "lab.none", "--yes")
    assert (failed.code, table.storage.snapshots.ids()) == (1, [1, 2])
    assert "removed 3,000 rows" in failed.out
    assert "lab.none: not maintained\n" in failed.out
    assert (failed.out + failed.err).count("there is no table lab.none") == 1
    assert "lab.broken: not compacted\n" in failed.out
    assert "error[" in failed.err
    told = lakebed("--json", "maintain", "lab.none", "--dry-run").json
    assert (told["ok"], told["result"]["tables"][0]["failed"][0]["step"]) == (False, "open")
    assert lakebed("maintain", "lab.t@snap:1", "--yes").code == 2


def test_rows_are_told_to_planners(lakebed: CommandLine, table: Built) -> None:
    said = lakebed.ok("analyze", "lab.t", "--run-id", "r")
    assert said == "lab.t: 3,000 rows, about 30 B in snapshot 1 (told by snapshot 2)\n"
    assert lakebed.json("analyze", "lab.t", "--run-id", "r")["repeated"]
    told = lakebed.json("analyze", "lab.t")
    assert (told["snapshot_id"], told["statistics"]["mergedRecordCount"]) == (3, 3000)
    assert lakebed("analyze", "lab.t", "x").code == 2
    assert lakebed("analyze", "lab.t", "v", "--all-columns").code == 2
    assert "3" in lakebed.ok("history", "lab.t")


def test_a_table_is_truncated(lakebed: CommandLine, table: Built) -> None:
    assert lakebed("truncate", "lab.t").code == 2
    assert lakebed.json("truncate", "lab.t", "--dry-run")["files_removed"] == 3
    said = lakebed.ok("truncate", "lab.t", "--yes")
    assert said == "lab.t: removed 3,000 rows, 3 files, 30 B (snapshot 2, schema 0)\n"
    assert lakebed.ok("truncate", "lab.t") == "lab.t: there are no rows, nothing to remove.\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["dya=1"], "LB5101"),
        (["2024-01-01"], "LB5102"),
        (["day=x"], "LB5103"),
    ],
)
def test_what_is_refused(lakebed: CommandLine, table: Built, arguments: list[str], code: str) -> None:
    refused = lakebed("drop-partitions", "lab.t", *arguments, "--yes")
    assert (refused.code, code in refused.err) == (2, True)
    assert table.storage.snapshots.latest_id() == 1


def test_a_person_is_asked(lakebed: CommandLine, table: Built) -> None:
    code, screen = on_terminal("drop-partitions", "lab.t", "day=2024-01-02", answers={"[y/N]": "n\n"})
    assert (code, table.storage.snapshots.latest_id()) == (1, 1)
    assert "would remove 1,000 rows, 1 file, 1 partition, 10 B\n  day=2024-01-02\nRemove? [y/N]" in screen
    code, screen = on_terminal("truncate", "lab.t", answers={"[y/N]": "y\n"})
    assert (code, "removed 3,000 rows" in screen) == (0, True)


def test_snapshots_expire(lakebed: CommandLine, table: Built) -> None:
    for _ in range(2):
        table.append(table.new_file((19_724,)))
    assert lakebed.ok("expire", "lab.t") == "No snapshot of lab.t expires.\n"
    asked = ("expire", "lab.t", "--retain-min", "1", "--older-than", "0s")
    looked = lakebed.ok(*asked, "--dry-run")
    assert looked.startswith("Would remove snapshots 1, 2 of lab.t: 0 data files, ")
    assert looked.endswith(" The first snapshot is 3.\n")
    refused = lakebed(*asked)
    assert (refused.code, "not confirmed, nothing was changed" in refused.err) == (2, True)
    assert table.storage.snapshots.ids() == [1, 2, 3]
    made = lakebed.json(*asked, "--yes")
    assert (made["snapshots"], made["first_snapshot"], made["done"]) == ([1, 2], 3, True)
    assert table.storage.snapshots.ids() == [3]
    assert lakebed("expire", "lab.t", "--retain-min", "0").code == 2
    assert lakebed("expire", "lab.t", "--older-than", "soon").code == 2
    assert lakebed("expire", "lab.nothing").code == 1


def test_what_is_not_due_is_compacted_without_spark(
    lakebed: CommandLine, table: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("lakebed.spark.session.local_session", fail)
    assert lakebed.ok("compact", "lab.t") == "lab.t: there is nothing to compact.\n"
    looked = lakebed.ok("compact", "lab.t", "--full", "--dry-run")
    assert looked == "lab.t: would compact 2 files with 2,000 rows, 20 B\n"
