from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from lakebed.errors import CorruptMetadataError, LakebedWarning, NotFoundError, StoreError, UnsupportedError
from lakebed.format.snapshot import BATCH_IDENTIFIER, Snapshot, SnapshotManager, loads
from lakebed.store.base import Store
from lakebed.testing.memory_store import MemoryStore

TABLE = "/wh/db.db/t"
GOLDEN = """{
  "version" : 3,
  "uuid" : "3c282032-0000-4000-8000-000000000000",
  "id" : 2,
  "schemaId" : 4,
  "baseManifestList" : "manifest-list-a-0",
  "baseManifestListSize" : 1339,
  "deltaManifestList" : "manifest-list-a-1",
  "deltaManifestListSize" : 1338,
  "commitUser" : "ü",
  "commitIdentifier" : 9223372036854775807,
  "commitKind" : "APPEND",
  "timeMillis" : 1795811208374,
  "totalRecordCount" : 7,
  "deltaRecordCount" : 3,
  "properties" : {
    "lakebed.run" : "r1"
  }
}"""


def _snapshot(number: int, *, user: str = "u", time: int = 0, identifier: int = BATCH_IDENTIFIER) -> Snapshot:
    return Snapshot(
        id=number,
        schema_id=0,
        base_manifest_list="b",
        delta_manifest_list="d",
        commit_user=user,
        commit_identifier=identifier,
        commit_kind="APPEND",
        time_millis=time or number * 1000,
    )


def _manager(*numbers: int, hints: dict[str, str] | None = None, store: Store | None = None) -> SnapshotManager:
    store = store or MemoryStore()
    for number in numbers:
        store.create_if_absent(f"{TABLE}/snapshot/snapshot-{number}", _snapshot(number).dumps())
    for name, text in (hints or {}).items():
        store.replace(f"{TABLE}/snapshot/{name}", text.encode())
    return SnapshotManager(store, TABLE)


def test_the_file_is_written_as_java_lays_it_out() -> None:
    snapshot = Snapshot(
        id=2,
        schema_id=4,
        base_manifest_list="manifest-list-a-0",
        base_manifest_list_size=1339,
        delta_manifest_list="manifest-list-a-1",
        delta_manifest_list_size=1338,
        commit_user="ü",
        commit_identifier=BATCH_IDENTIFIER,
        commit_kind="APPEND",
        time_millis=1795811208374,
        total_record_count=7,
        delta_record_count=3,
        uuid="3c282032-0000-4000-8000-000000000000",
        properties={"lakebed.run": "r1"},
    )
    assert snapshot.dumps().decode() == GOLDEN
    assert loads(GOLDEN.encode(), source="x", expected_id=2) == snapshot


def test_empty_properties_are_left_out() -> None:
    assert "properties" not in replace(_snapshot(1), properties={}).to_json()


def test_reading_is_tolerant() -> None:
    content = _snapshot(1).to_json()
    del content["version"], content["schemaId"]
    content |= {
        "changelogManifestList": None,
        "logOffsets": {},
        "someNewKey": [1],
        "id": "1",
        "watermark": -(2**63),
        "properties": {"n": 1},
    }
    found = loads(json.dumps(content).encode(), source="x", expected_id=1)
    assert (found.version, found.schema_id, found.changelog_manifest_list) == (1, 0, None)
    assert (found.watermark, found.properties) == (-(2**63), {"n": "1"})
    assert found.total_record_count is None


@pytest.mark.parametrize("version", [1, 2, 3])
def test_versions_one_to_three_are_read(version: int) -> None:
    assert loads(replace(_snapshot(1), version=version).dumps(), source="x").version == version


def test_a_newer_version_is_refused() -> None:
    with pytest.raises(UnsupportedError) as e:
        loads(replace(_snapshot(1), version=4).dumps(), source="snapshot-1")
    assert e.value.code == "LB5002"
    assert "snapshot-1" in str(e.value)


def test_all_problems_of_a_file_are_reported_at_once() -> None:
    content = _snapshot(1).to_json()
    del content["baseManifestList"]
    content |= {"timeMillis": "soon", "commitUser": 7, "properties": [], "id": True}
    with pytest.raises(CorruptMetadataError) as e:
        loads(json.dumps(content).encode(), source="snapshot-1")
    text = str(e.value)
    assert len(e.value.diagnostics) == 5
    for key in ("baseManifestList", "timeMillis", "commitUser", "properties", "id"):
        assert f"'{key}'" in text


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"version": 3}'])
def test_what_is_no_snapshot_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptMetadataError) as e:
        loads(data, source="snapshot-1")
    assert e.value.code == "LB5001"


def test_a_file_that_holds_another_snapshot_is_corrupt() -> None:
    store = MemoryStore({f"{TABLE}/snapshot/snapshot-2": _snapshot(1).dumps()})
    with pytest.raises(CorruptMetadataError, match="holds snapshot 1"):
        SnapshotManager(store, TABLE).load(2)


@pytest.mark.parametrize(
    ("numbers", "hint", "latest"),
    [
        ([], None, None),
        ([], "3", None),
        ([1, 2, 3], None, 3),
        ([1, 2, 3], "3", 3),
        ([1, 2, 3], "1", 3),
        ([1, 2, 3], "2", 3),
        ([1, 2, 3], "99", 3),
        ([1, 2, 3], "0", 3),
        ([1, 2, 3], "-1", 3),
        ([1, 2, 3], "rubbish", 3),
        ([1, 2, 3], "", 3),
        ([1, 2, 3], " 3\n", 3),
        ([1, 2, 3], "³", 3),
        ([5, 6, 7], "2", 7),
        ([9, 10, 11], None, 11),
    ],
)
def test_the_latest_snapshot_whatever_the_hint_says(numbers: list[int], hint: str | None, latest: int | None) -> None:
    manager = _manager(*numbers, hints={"LATEST": hint} if hint is not None else None)
    assert manager.latest_id() == latest
    found = manager.latest()
    assert (found and found.id) == latest


@pytest.mark.parametrize(
    ("hint", "earliest"), [(None, 5), ("5", 5), ("6", 6), ("1", 5), ("99", 5), ("rubbish", 5), ("", 5)]
)
def test_the_earliest_snapshot(hint: str | None, earliest: int) -> None:
    assert _manager(5, 6, 7, hints={"EARLIEST": hint} if hint is not None else None).earliest_id() == earliest
    assert _manager().earliest_id() is None


def test_a_right_hint_saves_the_listing() -> None:
    store = MemoryStore()
    manager = _manager(1, 2, hints={"LATEST": "2"}, store=store)
    store.operations.clear()
    assert manager.latest_id() == 2
    assert "list" not in [o.name for o in store.operations]


def test_other_names_are_no_snapshots() -> None:
    store = MemoryStore()
    manager = _manager(1, 2, store=store)
    for name in (
        ".snapshot-9.abc.tmp",
        "snapshot-007",
        "snapshot-",
        "snapshot-3x",
        "snapshot-٣",
        "LATEST",
        "xsnapshot-4",
    ):
        store.create_if_absent(f"{TABLE}/snapshot/{name}", b"?")
    store.make_directory(f"{TABLE}/snapshot/snapshot-8")
    assert manager.ids() == [1, 2]


def test_a_missing_snapshot_says_which_there_are() -> None:
    with pytest.raises(NotFoundError) as e:
        _manager(3, 4).load(7)
    assert e.value.code == "LB5003"
    assert "3 to 4" in str(e.value)


def test_tags_keep_their_snapshot_and_suggest_names() -> None:
    content = _snapshot(3).to_json() | {"tagCreateTime": [2024, 1, 1], "tagTimeRetained": None}
    store = MemoryStore({f"{TABLE}/tag/tag-release": json.dumps(content).encode()})
    manager = SnapshotManager(store, TABLE)
    assert manager.tag("release") == _snapshot(3)
    assert manager.tags() == ["release"]
    with pytest.raises(NotFoundError) as e:
        manager.tag("releese")
    assert e.value.code == "LB5004"
    assert e.value.diagnostics[0].suggestions == ("release",)


@pytest.mark.parametrize(("millis", "expected"), [(999, None), (1000, 1), (1999, 1), (2000, 3), (4000, 4), (9**15, 7)])
def test_the_snapshot_at_or_before_a_time(millis: int, expected: int | None) -> None:
    store = MemoryStore()
    for number, time in ((1, 1000), (2, 2000), (3, 2000), (4, 3000), (7, 5000)):
        store.create_if_absent(f"{TABLE}/snapshot/snapshot-{number}", _snapshot(number, time=time).dumps())
    found = SnapshotManager(store, TABLE).at_or_before(millis)
    assert (found and found.id) == expected


def test_branches_have_snapshots_of_their_own() -> None:
    store = MemoryStore({f"{TABLE}/branch/branch-b/snapshot/snapshot-4": _snapshot(4).dumps()})
    assert SnapshotManager(store, TABLE, "b").latest_id() == 4
    assert SnapshotManager(store, TABLE).latest_id() is None


def test_publishing_is_exclusive_and_writes_the_hint_afterwards() -> None:
    store = MemoryStore()
    manager = SnapshotManager(store, TABLE)
    assert manager.publish(_snapshot(1))
    assert not manager.publish(_snapshot(1, user="rival"))
    assert manager.load(1).commit_user == "u"
    assert [(o.name, o.path.rsplit("/", 1)[1]) for o in store.operations[:2]] == [
        ("create_if_absent", "snapshot-1"),
        ("replace", "LATEST"),
    ]
    assert store.read(f"{TABLE}/snapshot/LATEST") == b"1"


def test_a_hint_that_cannot_be_written_does_no_harm() -> None:
    store = MemoryStore()
    store.fail_at(1)
    manager = SnapshotManager(store, TABLE)
    assert manager.publish(_snapshot(1))
    assert manager.latest_id() == 1
    store.fail_at(0)
    with pytest.raises(StoreError):
        manager.publish(_snapshot(2))


def test_finding_a_commit() -> None:
    store = MemoryStore()
    manager = SnapshotManager(store, TABLE)
    for number, (user, identifier) in enumerate(
        [("a", BATCH_IDENTIFIER), ("s", 1), ("s", 2), ("b", BATCH_IDENTIFIER), ("s", 4)], start=1
    ):
        manager.publish(_snapshot(number, user=user, identifier=identifier))

    def found(user: str, identifier: int = BATCH_IDENTIFIER, after: int = 0) -> int | None:
        snapshot = manager.find_commit(user, identifier, after=after)
        return snapshot and snapshot.id

    assert found("a") == 1
    assert found("b") == 4
    assert found("nobody") is None
    assert found("a", after=1) is None
    assert [found("s", n) for n in (1, 2, 3, 4, 5)] == [2, 3, 5, 5, None]
    assert found("a", 0) is None
    assert found("s") is None
    store.delete(manager.path(1))
    assert found("a") is None


def test_real_snapshots_are_read(shared: Path) -> None:
    paths = sorted((shared / "tables").glob("*/*/*/snapshot/snapshot-*"))
    assert len(paths) > 50
    for path in paths:
        found = loads(path.read_bytes(), source=str(path), expected_id=int(path.name.removeprefix("snapshot-")))
        assert found.version == 3
        kept = {k: v for k, v in json.loads(path.read_bytes()).items() if v is not None and k != "logOffsets"}
        assert found.to_json() == kept


def test_a_key_that_is_nearly_a_missing_one_is_told() -> None:
    content = json.loads(GOLDEN) | {"indexManifset": "index-manifest-1", "logOffsets": {}, "someday": 1}
    with pytest.warns(LakebedWarning, match="no key 'indexManifest', but a key 'indexManifset'") as caught:
        loads(json.dumps(content).encode(), source="snapshot-1")
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loads(json.dumps(content | {"indexManifest": "index-manifest-1"}).encode(), source="snapshot-1")


@pytest.mark.parametrize(
    "key",
    [
        *("uuid", "schemaId", "baseManifestListSize", "deltaManifestListSize", "changelogManifestList"),
        *("changelogManifestListSize", "indexManifest", "totalRecordCount", "deltaRecordCount", "changelogRecordCount"),
        *("watermark", "statistics", "properties", "nextRowId", "writerVersion", "operation", "version"),
    ],
)
def test_every_key_that_may_be_missing_is_looked_for_under_a_misspelt_name(key: str) -> None:
    content = {k: v for k, v in json.loads(GOLDEN).items() if k != key} | {f"{key[:-2]}{key[-1]}{key[-2]}": None}
    with pytest.warns(LakebedWarning, match=f"no key '{key}', but a key"):
        loads(json.dumps(content).encode(), source="snapshot-1")


@pytest.mark.parametrize("kind", ["APPEND", "COMPACT", "OVERWRITE", "ANALYZE"])
def test_every_kind_of_commit_is_read(kind: str) -> None:
    content = json.loads(GOLDEN) | {"commitKind": kind}
    assert loads(json.dumps(content).encode(), source="snapshot-1").commit_kind == kind


@pytest.mark.parametrize("kind", ["FOO", "append", "", "APEND"])
def test_an_unknown_kind_of_commit_is_refused(kind: str) -> None:
    content = json.loads(GOLDEN) | {"commitKind": kind}
    with pytest.raises(UnsupportedError) as caught:
        loads(json.dumps(content).encode(), source="snapshot-1")
    assert caught.value.code == "LB5082"
    assert repr(kind) in str(caught.value)


def test_no_version_is_below_zero() -> None:
    content = json.loads(GOLDEN) | {"schemaId": -1}
    with pytest.raises(CorruptMetadataError, match="'schemaId' is -1"):
        loads(json.dumps(content).encode(), source="snapshot-1")
