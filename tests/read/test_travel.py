"""Reading older states: each with its own schema, or with the newest or any other one on request."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import lakebed
from lakebed.errors import LakebedError, NotFoundError, UsageError
from read.lakes import declare, empty_lake, got, manifest, put

K = "{name: k, type: Int64}\n"


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory, spark: Any) -> lakebed.Lake:
    """Snapshot 1 under schema 0 (k, a), snapshot 2 under schema 1 (k, z, n): a renamed and widened, n added."""
    lake = empty_lake(tmp_path_factory.mktemp("evolved"))
    declare(lake, manifest(K + "{name: a, type: Int32}"))
    put(lake, spark, [(1, 10)], "k bigint, a int")
    renamed = "{name: z, type: Int64, extra: {lakebed.dev/renamedFrom: a}}\n"
    declare(lake, manifest(K + renamed + "{name: n, type: {kind: Option, inner: String}}"))
    put(lake, spark, [(2, 20, "new")], "k bigint, z bigint, n string")
    return lake


@pytest.fixture
def own(evolved: lakebed.Lake, tmp_path: Path) -> lakebed.Lake:
    """A copy of it that a test may change."""
    return lakebed.open(shutil.copytree(evolved.warehouse, tmp_path / "own"))


def test_a_snapshot_shows_its_own_schema(evolved: lakebed.Lake, spark: Any) -> None:
    frame = evolved.read(spark, "db.t", snapshot=1)
    assert frame.dtypes == [("k", "bigint"), ("a", "int")]
    assert got(frame) == [(1, 10)]


def test_a_snapshot_shows_the_newest_schema_on_request(evolved: lakebed.Lake, spark: Any) -> None:
    frame = evolved.read(spark, "db.t", snapshot=1, schema="latest")
    assert frame.dtypes == [("k", "bigint"), ("z", "bigint"), ("n", "string")]
    assert got(frame) == [(1, 10, None)]


def test_a_pinned_schema_shows_every_row_under_it(evolved: lakebed.Lake, spark: Any) -> None:
    assert got(evolved.read(spark, "db.t", schema=0)) == [(1, 10), (2, 20)]
    assert got(evolved.read(spark, "db.t@0")) == [(1, 10), (2, 20)]


def test_the_newest_state_shows_the_newest_schema(own: lakebed.Lake, spark: Any) -> None:
    declare(own, manifest(K + "{name: z, type: Int64}"))
    assert own.read(spark, "db.t").columns == ["k", "z"]
    assert own.read(spark, "db.t", schema="snapshot").columns == ["k", "z", "n"]


def test_names_say_a_version(evolved: lakebed.Lake, spark: Any) -> None:
    assert got(evolved.read(spark, "db.t@snap:1")) == [(1, 10)]


def test_a_tag_is_a_snapshot(own: lakebed.Lake, spark: Any) -> None:
    root = Path(own.tables.table_path("db.t"))
    (root / "tag").mkdir()
    (root / "tag" / "tag-first").write_bytes((root / "snapshot" / "snapshot-1").read_bytes())
    assert got(own.read(spark, "db.t", tag="first")) == [(1, 10)]
    assert got(own.read(spark, "db.t@tag:first")) == [(1, 10)]


def test_a_moment_finds_the_newest_snapshot_at_or_before_it(evolved: lakebed.Lake, spark: Any) -> None:
    first, second = (s.time_millis for s in evolved.history("db.t").snapshots)
    assert got(evolved.read(spark, "db.t", as_of=second - 1)) == [(1, 10)]
    assert len(got(evolved.read(spark, "db.t", as_of=second))) == 2
    moment = datetime.fromtimestamp(first / 1000, UTC)
    assert got(evolved.read(spark, "db.t", as_of=moment)) == [(1, 10)]
    naive = moment.replace(tzinfo=None).isoformat()
    assert got(evolved.read(spark, "db.t", as_of=naive)) == [(1, 10)]


def test_a_watermark_finds_the_first_snapshot_that_reached_it(own: lakebed.Lake, spark: Any) -> None:
    root = Path(own.tables.table_path("db.t"), "snapshot")
    for number, watermark in ((1, -(1 << 63)), (2, 500)):
        said = json.loads((root / f"snapshot-{number}").read_bytes())
        (root / f"snapshot-{number}").write_text(json.dumps({**said, "watermark": watermark}), encoding="utf-8")
    for watermark in (-1, 500):
        frame = own.read(spark, "db.t", watermark=watermark)
        assert (frame.columns, len(got(frame))) == (["k", "z", "n"], 2)
    with pytest.raises(NotFoundError, match="watermark 501"):
        own.read(spark, "db.t", watermark=501)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"snapshot": 9}, NotFoundError),
        ({"tag": "none"}, NotFoundError),
        ({"branch": "none"}, NotFoundError),
        ({"as_of": 1}, NotFoundError),
        ({"schema": 9}, NotFoundError),
        ({"as_of": "soon"}, UsageError),
        ({"as_of": "²"}, UsageError),
        ({"as_of": datetime(2024, 1, 1)}, UsageError),
        ({"schema": "newest"}, UsageError),
        ({"snapshot": 1, "tag": "x"}, UsageError),
        ({"snapshot": 1, "watermark": 1}, UsageError),
    ],
)
def test_what_does_not_exist_or_make_sense_is_said(
    evolved: lakebed.Lake, spark: Any, arguments: dict[str, Any], error: type[LakebedError]
) -> None:
    with pytest.raises(error):
        evolved.read(spark, "db.t", **arguments)


def test_an_empty_table_has_columns(lake: lakebed.Lake, spark: Any) -> None:
    declare(lake, manifest(K + "{name: a, type: {kind: Option, inner: {kind: List, itemType: Int32}}}"))
    frame = lake.read(spark, "db.t")
    assert frame.dtypes == [("k", "bigint"), ("a", "array<int>")]
    assert frame.count() == 0


def test_columns_carry_their_annotations(lake: lakebed.Lake, spark: Any) -> None:
    declare(
        lake, manifest("{name: k, type: UInt64, extra: {opendatafabric.org/description: the key, a.b/c: {d: [1]}}}")
    )
    notes = str(lake.read(spark, "db.t").schema["k"].metadata)
    assert "the key" in notes
    assert "a.b/c" in notes
