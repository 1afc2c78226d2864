"""A table's health is what its metadata says: held against the system tables, a compaction and an expiry."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from pyroaring import BitMap

from cli.command_line import CommandLine
from lakebed.errors import NotFoundError, UsageError
from lakebed.format.commit import commit
from lakebed.format.live_files import entries_of, iterate_live_entries, live_entries, snapshot_manifests
from lakebed.format.manifest import ManifestEntry
from lakebed.format.snapshot_change import DeletedRows, SnapshotChange
from lakebed.inspection.table_health import TableHealth
from lakebed.render.prometheus_text import prometheus_text
from maintenance.worlds import ROOT, TABLE, World


def change(world: World, **parts: object) -> None:
    made = SnapshotChange(commit_user=f"other-{world.now}", **parts)
    commit(world.place().storage, made, clock=world.clock, sleep=lambda _: None)


def live(world: World) -> list[ManifestEntry]:
    newest = world.place().snapshots.latest()
    assert newest is not None
    return live_entries(entries_of(world.store, ROOT, snapshot_manifests(world.store, ROOT, newest)), ())


def options(world: World, **said: str) -> None:
    actions = [{"action": "setOption", "key": key.replace("_", "-"), "value": value} for key, value in said.items()]
    world.lake.tables.alter_table("lab", "t", actions)


def health(world: World) -> TableHealth:
    return world.lake.table(TABLE).health()


def names(found: TableHealth) -> list[str]:
    return [finding.name for finding in found.findings]


def no_spark() -> None:
    raise AssertionError("Spark was asked for")


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(["append", "take", "alter", "later"]), max_size=12), st.integers(0, 3))
def test_health_is_what_the_metadata_says(steps: list[str], place: int) -> None:
    world = World()
    for step in steps:
        files = live(world) if world.snapshots() else []
        if step == "append":
            world.commit(rows=3)
        elif step == "take" and files:
            change(world, deleted=(files[place % len(files)],))
        elif step == "alter":
            world.alter()
        else:
            world.later(timedelta(hours=2))
    options(world, **{"compaction.min.file_num": "3", "snapshot.num_retained.min": "2"})
    found, lake = health(world), world.lake
    newest = world.place().snapshots.latest()
    if newest is not None:
        metas = snapshot_manifests(world.store, ROOT, newest)
        assert list(iterate_live_entries(world.store, ROOT, metas, ())) == live(world)
    system = lake.table(TABLE).inspect("files")
    rows = [dict(zip(system.column_names, row, strict=True)) for row in system.rows]
    assert found.content.files == len(rows)
    assert found.content.bytes == sum(row["file_size_in_bytes"] for row in rows)
    assert found.content.rows == sum(row["record_count"] for row in rows)
    assert found.content.by_schema == {n: sum(r["schema_id"] == n for r in rows) for n in found.content.by_schema}
    assert sum(found.content.by_schema.values()) == sum(found.content.by_level.values()) == len(rows)
    assert found.snapshots == len(world.snapshots())
    assert found.content.due == lake.table(TABLE).compact(no_spark, dry_run=True).files_removed
    assert found.expirable == len(lake.table(TABLE).expire(dry_run=True).snapshots)
    assert ("compaction" in names(found), "expiry" in names(found)) == (found.content.due > 0, found.expirable > 0)


@pytest.mark.parametrize("least", ["2", "3"])
def test_what_vectors_delete_is_counted_by_the_metadata_and_worn_files_are_due(least: str) -> None:
    world = World()
    options(world, **{"compaction.min.file-num": least})
    options(world, **{"deletion_vectors.enabled": "true", "deletion-vectors.modifiable": "true"})
    for _ in range(2):
        world.commit(rows=10)
    first = live(world)[0]
    change(world, deleted_rows=(DeletedRows(first, BitMap([0, 3, 4]).serialize()),))
    found = health(world)
    assert (found.content.vectors, found.content.deleted_rows, found.content.deleted_share) == (1, 3, 0.15)
    assert (found.content.uncounted, found.content.due, found.content.rows) == (0, {"2": 2, "3": 1}[least], 20)
    assert found.content.due == world.lake.table(TABLE).compact(no_spark, dry_run=True).files_removed
    assert "15.0% of rows deleted by 1 vector" in str(found)
    # Of the other file the vector says nothing, and without the first it says nothing at all.
    change(world, deleted=(first,))
    assert (health(world).content.vectors, health(world).content.deleted_rows) == (0, 0)


def test_a_consumer_holds_what_would_expire_and_is_named() -> None:
    world = World()
    options(world, **{"snapshot.num-retained.min": "1", "compaction.min.file-num": "9"})
    for _ in range(4):
        world.commit()
    world.later()
    world.commit()
    assert names(health(world)) == ["expiry"]
    path = f"{ROOT}/consumer/consumer-slow"
    world.store.create_if_absent(path, b'{"nextSnapshot": 2}')
    found = health(world)
    assert (found.expirable, found.held, dict(found.consumers)) == (3, 2, {"slow": 2})
    assert names(found) == ["expiry", "consumer"]
    assert len(world.lake.table(TABLE).expire(dry_run=True).snapshots) == found.expirable - found.held
    assert "consumer 'slow' has not read snapshot 2 yet, and holds 2 snapshots" in str(found)


@pytest.mark.parametrize(
    ("said", "command"), [({}, "lakebed compact lab.t"), ({"data-file.external-paths": "s3://other/place"}, None)]
)
def test_a_table_that_others_write_is_not_to_be_compacted_here(said: dict[str, str], command: str | None) -> None:
    world = World()
    for _ in range(2):
        world.commit()
    options(world, **{"compaction.min.file-num": "2"}, **said)
    found = health(world)
    assert found.is_written_here == (command is not None)
    assert [(f.name, f.command) for f in found.findings] == [("compaction", command)]


def test_rows_in_quarantine_are_those_that_it_has_now() -> None:
    world = World()
    world.commit()
    assert health(world).quarantined_rows == 0
    columns = [{"name": "raw", "type": "STRING"}]
    world.lake.tables.create_table("lab", "t__quarantine", columns)
    assert health(world).quarantined_rows == 0
    beside = world.lake.table("lab.t__quarantine")
    entry = replace(live(world)[0], file=replace(live(world)[0].file, row_count=7))
    commit(
        beside._whole.storage,
        SnapshotChange(commit_user="x", added=(entry,)),
        clock=world.clock,
        sleep=lambda _: None,
    )
    found = health(world)
    assert (found.quarantined_rows, found.bad_rows, names(found)) == (7, None, ["quarantine"])
    assert found.findings[0].command == "lakebed quarantine list lab.t"
    assert [t.table for t in world.lake.health().tables] == ["lab.t"]


def test_prometheus_reads_the_same_numbers_whatever_names_hold() -> None:
    world = World()
    world.commit(rows=5)
    name = 'a "quoted" \\ name'
    world.store.create_if_absent(f"{ROOT}/consumer/consumer-{name}", b'{"nextSnapshot": 2}')
    # Two names of one table are one series.
    report = world.lake.health([TABLE, "lab.gone", f"{TABLE}@branch:main"])
    families = list(text_string_to_metric_families(prometheus_text(report) + "\n"))
    samples = {(s.name, *sorted(s.labels.items())): s.value for f in families for s in f.samples}
    assert len(samples) == sum(len(f.samples) for f in families)
    table = ("table", TABLE)
    assert samples["lakebed_table_rows", table] == 5
    assert samples["lakebed_table_files", ("level", "0"), table] == 1
    assert samples["lakebed_table_consumer_next_snapshot", ("consumer", name), table] == 2
    newest = report.tables[0].newest_snapshot_at
    assert newest is not None
    assert samples["lakebed_table_newest_snapshot_timestamp_seconds", table] == newest / 1000
    readable = {labels[0][1]: v for (metric, *labels), v in samples.items() if metric == "lakebed_table_readable"}
    assert readable == {TABLE: 1, "lab.gone": 0}
    assert all(f.documentation.endswith(".") and f.type == "gauge" for f in families)


def test_one_table_raises_and_several_tell_which_cannot_be_read() -> None:
    lake = World().lake
    with pytest.raises(NotFoundError):
        lake.table("lab.gone").health()
    with pytest.raises(UsageError):
        lake.health(["lab.t@snap:1"])
    report = lake.health(["lab.t", "lab.gone"])
    assert ([t.table for t in report.tables], [f.table for f in report.failed]) == (["lab.t"], ["lab.gone"])
    assert "no snapshots, schema 0\n  nothing is noteworthy" in str(report)


@pytest.fixture
def lakebed(capsys: pytest.CaptureFixture[str], tmp_path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    world = World()
    world.commit()
    for path, data in world.store.snapshot().items():
        target = tmp_path / path.removeprefix("/w/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    monkeypatch.setenv("LAKEBED_WAREHOUSE", str(tmp_path))
    return CommandLine(capsys)


def test_the_command_line_tells_all_tables_or_some(lakebed: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "1 file, 4 B, 1 row in 1 bucket" in lakebed.ok("health")
    assert lakebed.json("health", "lab.t")["tables"][0]["files"]["count"] == 1
    assert lakebed.json_of("health", "--format", "json")["failed"] == []
    assert '{table="lab.t"} 1.0' in lakebed.ok("health", "--format", "prometheus")
    refused = lakebed("health", "lab.tt", "lab.t", "--format", "prometheus")
    assert (refused.code, 'readable{table="lab.tt"} 0.0' in refused.out) == (1, True)
    assert "lab.tt" in refused.err
    told = lakebed("health", "lab.tt")
    assert ((told.out + told.err).count("there is no table lab.tt"), told.out) == (1, "lab.tt\n  cannot be read\n")
    assert lakebed("health", "--json", "--format", "prometheus").code == 2
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    missing = lakebed("health", "--format", "prometheus")
    assert (missing.code, missing.codes_of_text) == (1, ["LB7064"])
    assert "pip install 'lakebed[prometheus]'" in missing.err
