"""The record of a table: bytes, times, tolerance."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from lakebed.catalog import PathFactory, TableMetadata
from lakebed.catalog.metadata import instant, instant_text
from lakebed.errors import CorruptMetadataError, LakebedWarning, NotFoundError

TIME = datetime(2025, 11, 5, 8, 23, 50, 910000, UTC)
FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999000, UTC)
RECORD = TableMetadata("t", "d", 0, TIME, TIME, "words", {"a": "1"})


def test_persist_load_exists(tmp_path):
    paths = PathFactory(tmp_path)
    assert not TableMetadata.exists(paths, "d", "t")
    with pytest.raises(NotFoundError):
        TableMetadata.load(paths, "d", "t")
    RECORD.persist(paths)
    assert TableMetadata.exists(paths, "d", "t")
    assert TableMetadata.load(paths, "d", "t") == RECORD
    assert hash(RECORD) == hash(TableMetadata.load(paths, "d", "t"))


def test_json_round_trips():
    assert TableMetadata.from_json(RECORD.to_json()) == RECORD
    assert list(RECORD.to_json()) == [
        "tableName",
        "databaseName",
        "currentSchemaId",
        "createTime",
        "lastModifiedTime",
        "description",
        "properties",
    ]


@pytest.mark.parametrize(
    ("micros", "text"),
    [(0, "08:23:50Z"), (910000, "08:23:50.910Z"), (1000, "08:23:50.001Z"), (910001, "08:23:50.910001Z")],
)
def test_times_as_java_writes_them(micros, text):
    time = TIME.replace(microsecond=micros)
    assert instant_text(time) == f"2025-11-05T{text}"
    assert instant_text(time.astimezone(timezone(timedelta(hours=5)))) == f"2025-11-05T{text}"


def test_instants():
    assert instant(1762331030910, "t") == TIME
    assert instant(-1, "t") == datetime(1969, 12, 31, 23, 59, 59, 999000, UTC)
    assert instant(253402300799999, "t") == LAST
    assert instant(-62135596800000, "t") == FIRST


@pytest.mark.parametrize(
    ("millis", "nearest"),
    [(253402300800000, LAST), (2**63 - 1, LAST), (10**30, LAST), (-62135596800001, FIRST), (-(2**63), FIRST)],
)
def test_an_instant_that_no_calendar_has_is_the_nearest_one_with_a_warning(millis, nearest):
    with pytest.warns(LakebedWarning, match=f"LB5081.*d.t: {millis} milliseconds"):
        assert instant(millis, "d.t") == nearest


@pytest.mark.parametrize(
    "time",
    ["2025-11-05T08:23:50.910Z", "2025-11-05T09:23:50.910+01:00", "2025-11-05T08:23:50.910000000Z", 1762331030.91],
)
def test_forms_of_times(time):
    content = {**RECORD.to_json(), "createTime": time}
    assert TableMetadata.from_json(content) == RECORD


def test_unknown_members_are_kept():
    content = {**RECORD.to_json(), "indexConfig": {"id": ["BLOOM"]}}
    found = TableMetadata.from_json(content)
    assert found.to_json() == content
    assert dict(found.unknown) == {"indexConfig": {"id": ["BLOOM"]}}


def test_absent_description_and_properties():
    content = {key: value for key, value in RECORD.to_json().items() if key not in ("description", "properties")}
    found = TableMetadata.from_json(content)
    assert (found.description, dict(found.properties)) == ("", {})
    assert TableMetadata.from_json({**content, "description": None, "properties": None}) == found


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tableName", None),
        ("tableName", 3),
        ("currentSchemaId", "0"),
        ("currentSchemaId", -1),
        ("currentSchemaId", True),
        ("createTime", "yesterday"),
        ("createTime", 1e300),
        ("description", 3),
        ("properties", {"a": 1}),
        ("properties", []),
    ],
)
def test_members_of_the_wrong_kind(key, value):
    with pytest.raises(CorruptMetadataError) as caught:
        TableMetadata.from_json({**RECORD.to_json(), key: value}, source="/w/metadata")
    assert [d.path for d in caught.value.diagnostics] == [key]
    assert "/w/metadata" in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b"null", b"[" * 100000])
def test_what_is_no_record(data):
    with pytest.raises(CorruptMetadataError):
        TableMetadata.loads(data)
