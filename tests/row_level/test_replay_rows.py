"""Bad rows that are good by now go into the table, each once, whatever dies in between; the others stay."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ingest.ingest_lake import SmallLake
from lakebed import DataType, Lake
from lakebed import Field as MiniField
from lakebed import open as open_lake
from lakebed.errors import ConflictError, LakebedError, SourceMismatchError
from lakebed.ingest import quarantine_table
from lakebed.model import Date, Field, Int32, Int64, Option, String
from lakebed.render.prometheus_text import prometheus_text
from lakebed.row_level.quarantine_rows import Quarantine
from lakebed.row_level.replay_rows import ReplayResult
from lakebed.store import LocalStore

EVENTS = """\
kind: Table
version: 1
content:
  name: db.events
  schema:
    fields:
      - {name: id, type: Int32}
      - {name: at, type: {kind: Option, inner: Date}}
      - {name: kind, type: {kind: Option, inner: String}, extra: {lakebed.dev/enum: [ENUM]}}
"""
CSV = "id,at,kind\n1,2024-01-01,a\n2,02.01.2024,a\n2,02.01.2024,a\n3,2024-01-03,b\n4,soon,b\n5;NA;a\n"


def declare(lake: Lake, tmp_path: Path, enum: str = "a") -> None:
    path = tmp_path / "events.yaml"
    path.write_text(EVENTS.replace("ENUM", enum), encoding="utf-8")
    lake.apply(lake.plan(path))


def file(tmp_path: Path, name: str, text: str) -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def rows(lake: Lake, spark: SparkSession) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, lake.read(spark, "db.events").selectExpr("id", "cast(at as string)", "kind").collect()))


def left(lake: Lake, spark: SparkSession) -> list[str]:
    return sorted(row.raw for row in lake.quarantine("db.events").rows(spark).collect())


def test_the_way_back_of_a_csv_file(lake: Lake, spark: SparkSession, tmp_path: Path) -> None:
    declare(lake, tmp_path)
    lake.ingest(spark, "db.events", file(tmp_path, "a.csv", CSV), run_id="first")
    bad = lake.quarantine("db.events")
    looked = bad.replay(spark, code=["LB6202", "LB6206", "LB6208"], dry_run=True)
    assert (looked.rows_chosen, looked.rows_replayed, looked.rows_left, looked.snapshot_id) == (5, 0, 5, None)
    kinds = {(k.column, k.code): k.rows for k in looked.kinds}
    assert kinds == {("at", "LB6202"): 3, ("kind", "LB6206"): 2, (None, "LB6208"): 1}
    assert looked.quarantine_snapshot_id is None

    # The manifest is mended: the rows with the new value pass, but for the one whose date is none.
    declare(lake, tmp_path, "a, b")
    done = bad.replay(spark)
    assert (done.rows_chosen, done.rows_replayed, done.rows_left, done.snapshot_id) == (5, 1, 4, 2)
    assert rows(lake, spark) == [(1, "2024-01-01", "a"), (3, "2024-01-03", "b")]
    mended = [(r.raw, r.mended_by) for r in bad.rows(spark, mended=True).collect() if r.mended_by]
    assert mended == [('{"id":"3","at":"2024-01-03","kind":"b"}', done.run_id)]

    # Two rows are alike; each of them is mended by other options. So is the line that could not be split.
    done = bad.replay(spark, options={"dateFormat": "dd.MM.yyyy", "sep": ";", "nullValue": "NA"}, run_id="first")
    assert (done.rows_chosen, done.rows_replayed, done.rows_left) == (4, 3, 1)
    assert rows(lake, spark)[1:3] == [(2, "2024-01-02", "a")] * 2
    assert rows(lake, spark)[-1] == (5, None, "a")
    assert left(lake, spark) == ['{"id":"4","at":"soon","kind":"b"}']
    (run,) = bad.list(spark)
    assert bad.list() == (run,)
    assert (run.rows, run.mended) == (5, 4)
    found = lake.table("db.events").health()
    assert (found.quarantined_rows, found.bad_rows) == (5, {"LB6202": 1, "LB6206": 1})
    # What was mended is bad again where the table is rolled back to before.
    lake.roll_back("db.events", snapshot=1)
    assert len(left(lake, spark)) == 5
    report = lake.health(["db.events"])
    # A row that is bad in two ways counts in both.
    assert report.tables[0].bad_rows == {"LB6202": 3, "LB6206": 2, "LB6208": 1}
    assert "bad rows: LB6202 (3 rows), LB6206 (2 rows), LB6208 (1 row)" in str(report)
    assert 'lakebed_table_bad_rows{code="LB6206",table="db.events"} 2.0' in prometheus_text(report)


ID, NAME = Field("id", Int32()), Field("name", Option(String()))


class HookedStore(LocalStore):
    """A local store that calls a function once, before or after it creates a file whose path has a part."""

    def __init__(self, part: str, call: Callable[[], None], *, late: bool = False) -> None:
        self.part, self.call, self.late, self.armed = part, call, late, True

    def create_if_absent(self, path: str, data: bytes) -> bool:
        strikes = self.armed and self.part in path
        self.armed = self.armed and not strikes
        if strikes and not self.late:
            self.call()
        done = super().create_if_absent(path, data)
        if strikes and self.late:
            self.call()
        return done


def die() -> None:
    raise KeyboardInterrupt


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """A table with two rows, of whose three bad rows the newest schema takes two, which are alike."""
    root = tmp_path_factory.mktemp("template")
    small = SmallLake(root, spark)
    small.create(ID, NAME)
    small.ingest(small.file("a.jsonl", '{"id":1}\n{"id":3000000000,"name":"a"}\n{"id":"x"}\n'), run_id="first")
    small.ingest(small.file("b.jsonl", '{"id":2}\n{"id":3000000000,"name":"a"}\n'), run_id="second")
    schemas = small.tables.get_schema_manager("db", "t")
    schemas.create_new_schema_version([Field("id", Int64()), NAME], (), ())
    return root


@pytest.fixture
def small(template: Path, tmp_path: Path, spark: SparkSession) -> SmallLake:
    """A copy of it."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return SmallLake(tmp_path, spark)


def replay(small: SmallLake, store: LocalStore | None = None) -> ReplayResult:
    context = small.context if store is None else small.with_store(store).context
    return Quarantine.of(context, "db.t").replay(small.spark)


def is_right(small: SmallLake) -> None:
    """Every row is in the table once, or bad."""
    assert sorted(row["id"] for row in small.rows()) == [1, 2, 3_000_000_000, 3_000_000_000]
    assert [row.raw for row in Quarantine.of(small.context, "db.t").rows(small.spark).collect()] == ['{"id":"x"}']
    assert len(small.data_files()) == len(small.files()) == 3


def test_rows_of_a_run_that_was_cut_off_stay(tmp_path: Path, spark: SparkSession) -> None:
    """Another run over the same file, under a newer schema, finds them good: a replay must not bring them again."""
    small = SmallLake(tmp_path, spark)
    small.create(ID, NAME)
    source = small.file("a.jsonl", '{"id":1}\n{"id":3000000000,"name":"a"}\n')
    with pytest.raises(KeyboardInterrupt):
        small.with_store(HookedStore("/t/snapshot/snapshot-", die)).ingest(source, run_id="first")
    small.tables.get_schema_manager("db", "t").create_new_schema_version([Field("id", Int64()), NAME], (), ())
    assert replay(small).rows_chosen == 0
    assert small.ingest(source, run_id="other").rows_written == 2
    assert replay(small).rows_chosen == 0
    assert Quarantine.of(small.context, "db.t").replay(spark, run_id="first", dry_run=True).rows_replayed == 1


@pytest.mark.parametrize(
    ("part", "late"),
    [("/t__quarantine/snapshot/snapshot-", True), ("/t/manifest/", False), ("/t/snapshot/snapshot-", True)],
)
def test_a_replay_that_dies_is_made_again(small: SmallLake, part: str, late: bool) -> None:
    with pytest.raises(KeyboardInterrupt):
        replay(small, HookedStore(part, die, late=late))
    came = late and part.startswith("/t/snapshot")
    assert len(small.rows()) == (4 if came else 2)
    again = replay(small)
    assert (again.rows_chosen, again.rows_replayed) == ((1, 0) if came else (3, 2))
    is_right(small)


def test_of_two_replays_one_is_first(small: SmallLake) -> None:
    """The one that has only claimed the rows is kept out by the one that took them up over that claim."""
    with pytest.raises(ConflictError, match="LB6407"):
        replay(small, HookedStore("/t/snapshot/snapshot-", lambda: assert_replayed(replay(small))))
    is_right(small)
    assert replay(small).rows_replayed == 0


def assert_replayed(result: ReplayResult) -> None:
    assert (result.rows_chosen, result.rows_replayed) == (3, 2)


def test_a_replay_that_seemed_dead_is_first(small: SmallLake) -> None:
    """The one that took the rows up over the claim of the other is kept out when that one comes to its end."""
    waits, goes = Event(), Event()

    def wait() -> None:
        waits.set()
        assert goes.wait(100)

    first = ThreadPoolExecutor(1).submit(replay, small, HookedStore("/t/snapshot/snapshot-", wait))
    assert waits.wait(100)

    def let_go() -> None:
        goes.set()
        assert_replayed(first.result())

    with pytest.raises(ConflictError, match="LB6407"):
        replay(small, HookedStore("/t/snapshot/snapshot-", let_go))
    is_right(small)


def test_rows_of_all_sources_at_once(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also out of a quarantine that has no columns for replays and lines yet."""
    small = SmallLake(tmp_path, spark)
    small.create(ID, NAME, Field("day", Option(Date())))
    with monkeypatch.context() as patch:
        old = [f for f in quarantine_table.FIELDS if f.name not in ("replays", "source_line")]
        patch.setattr(quarantine_table, "FIELDS", old)
        patch.setattr(quarantine_table, "add_new_columns", lambda *_: None)
        small.ingest(small.file("day=2024-01-01/a.csv", "name,id\ncsv,4000000001\n"))
    assert [row.source_line for row in Quarantine.of(small.context, "db.t").rows(spark).collect()] == [None]
    small.ingest(small.parquet("b.parquet", {"id": [4_000_000_002, None], "name": ["parquet", "no id"]}))
    small.ingest(spark.createDataFrame([(4_000_000_003, "frame")], "id long, name string"))
    small.ingest(
        small.file("c.json", '{"name":"json","id":4000000004,"day":"2.1.2024","more":1}\n'),
        **{"options": {"dateFormat": "d.M.yyyy"}, "unknown_columns": "ignore", "run_id": "json"},
    )
    quarantine = Quarantine.of(small.context, "db.t")
    small.tables.get_schema_manager("db", "t").create_new_schema_version(
        [Field("id", Int64()), NAME, Field("day", Option(Date()))], (), ()
    )
    with pytest.raises(SourceMismatchError, match="more"):
        quarantine.replay(spark, run_id="json", unknown_columns="fail")
    done = quarantine.replay(spark)
    assert (done.rows_chosen, done.rows_replayed, done.ignored_columns) == (5, 4, ("more",))
    assert sorted((row["name"], row["id"] % 10, str(row["day"])) for row in small.rows()) == [
        ("csv", 1, "2024-01-01"),
        ("frame", 3, "None"),
        ("json", 4, "2024-01-02"),
        ("parquet", 2, "None"),
    ]


KEYED = """\
kind: Table
version: 1
content:
  name: db.stock
  primaryKeys: [id]
  options: {bucket: "1"}
  schema:
    fields:
      - {name: id, type: Int32}
      - {name: n, type: {kind: Option, inner: TYPE}}
"""


def test_rows_that_say_what_they_do_to_their_keys(lake: Lake, spark: SparkSession, tmp_path: Path) -> None:
    def declare_stock(type_: str) -> None:
        lake.apply(lake.plan(file(tmp_path, "stock.yaml", KEYED.replace("TYPE", type_))))

    declare_stock("Int32")
    lines = '{"op":"+I","id":1,"n":1}\n{"op":"+I","id":2,"n":2}\n{"op":"-D","id":1,"n":3000000000}\n'
    source = file(tmp_path, "a.jsonl", lines + '{"op":"+U","id":2,"n":4000000000}\n{"op":"?","id":3}\n')
    lake.ingest(spark, "db.stock", source, row_kinds="op")
    declare_stock("Int64")
    done = lake.quarantine("db.stock").replay(spark)
    assert (done.rows_chosen, done.rows_replayed) == (3, 2)
    assert [tuple(row) for row in lake.read(spark, "db.stock").collect()] == [(2, 4_000_000_000)]


def test_the_mini_layout(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "mini").mkdir()
    lake = open_lake(tmp_path / "mini", layout="mini")
    lake.tables.create_table("db", "t", [MiniField("at", DataType.TIMESTAMP)])
    lake.ingest(spark, "db.t", file(tmp_path, "a.csv", "at\n2.1.2024 10:00\n2024-01-01 10:00:00\n"), run_id="first")
    quarantine = lake.quarantine("db.t")
    assert quarantine.replay(spark, options={"timestampNTZFormat": "d.M.yyyy H:mm"}).rows_replayed == 1
    assert lake.table("db.t").health().bad_rows == {}
    lake.ingest(spark, "db.t", file(tmp_path, "b.csv", "at\nsoon\n"))
    assert lake.table("db.t").health().bad_rows == {"LB6202": 1}
    _, run = quarantine.list(spark)
    assert quarantine.list() == quarantine.list(spark)
    assert (run.mended, run.kinds[0].column, run.kinds[0].rows, run.kinds[0].mended) == (1, "at", 1, 1)
    assert lake.count("db.t") == 2


def test_a_corrected_file_takes_the_place_of_bad_rows(small: SmallLake) -> None:
    def replay_file(source: str, where: str | None = "raw LIKE '%x%'", store: LocalStore | None = None) -> ReplayResult:
        context = small.context if store is None else small.with_store(store).context
        return Quarantine.of(context, "db.t").replay(small.spark, source, where=where)

    bad = small.file("bad.jsonl", '{"id":7}\n{"id":"y"}\n')
    good = small.file("good.jsonl", '{"id":7}\n{"id":8}\n')
    other = small.file("other.jsonl", '{"id":9}\n')
    small.ingest(other)
    for source, where, code in (
        (good, None, "LB6563"),
        (good, "raw LIKE '%none%'", "LB6563"),
        (bad, "true", "LB6120"),
        (other, "true", "LB6563"),
    ):
        with pytest.raises(LakebedError, match=code):
            replay_file(source, where)
    with pytest.raises(KeyboardInterrupt):
        replay_file(good, store=HookedStore("/t/snapshot/snapshot-", die))
    assert len(small.data_files()) == 3

    done = replay_file(good)
    assert (done.rows_chosen, done.rows_replayed, done.rows_written, done.repeated) == (1, 1, 2, False)
    again = replay_file(good)
    assert (again.rows_replayed, again.rows_written, again.repeated) == (1, 2, True)
    assert again.snapshot_id == done.snapshot_id
    assert sorted(row["id"] for row in small.rows()) == [1, 2, 7, 8, 9]
    assert small.ingest(good).skipped_files == (good,)
