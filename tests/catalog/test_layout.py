"""Paths of both layouts, finding out which one a place has, and what is said about a place that is no warehouse."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lakebed.catalog import PathFactory, TableManager, check_time_zone, detect_layout, open_warehouse
from lakebed.catalog.paths import Layout, branch_root, schema_id_of
from lakebed.catalog.time_zone import zone_of
from lakebed.errors import NotFoundError, UsageError, ValidationError
from lakebed.format.value_text import zone_offset
from lakebed.read.table_state import epoch_millis
from lakebed.store import LocalStore
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore

PAIMON_SCHEMA = b'{"version":3,"id":0,"fields":[]}'
MINI_SCHEMA = b'{"schemaId":0,"fields":[],"primaryKeys":[],"partitionKeys":[]}'


def test_paths_of_both_layouts(tmp_path):
    paimon, mini = PathFactory(tmp_path), PathFactory(f"{tmp_path}/", "mini")
    assert paimon.warehouse == mini.warehouse == str(tmp_path)
    assert paimon.table("shop.orders") == f"{tmp_path}/shop.db/orders"
    assert mini.table("shop.orders") == f"{tmp_path}/shop/orders"
    assert paimon.schema("shop.orders", 3) == f"{tmp_path}/shop.db/orders/schema/schema-3"
    assert paimon.schema("shop.orders", 3, "dev") == f"{tmp_path}/shop.db/orders/branch/branch-dev/schema/schema-3"
    assert paimon.snapshot("shop.orders", 1, "main") == f"{tmp_path}/shop.db/orders/snapshot/snapshot-1"
    assert paimon.tag("shop.orders", "v1", "dev") == f"{tmp_path}/shop.db/orders/branch/branch-dev/tag/tag-v1"
    assert paimon.metadata("orders") == f"{tmp_path}/default.db/orders/metadata"
    assert paimon.manifest_directory("orders").endswith("/orders/manifest")
    with pytest.raises(ValidationError):
        paimon.database("..")
    with pytest.raises(UsageError, match="paimon"):
        PathFactory(tmp_path, "paimonn")


def test_a_relative_warehouse_is_made_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert PathFactory("./warehouse").warehouse == f"{tmp_path}/warehouse"


@pytest.mark.parametrize("branch", [None, "", " ", "main"])
def test_main_is_the_table_itself(branch):
    assert branch_root("/w/t", branch) == "/w/t"


@pytest.mark.parametrize("branch", ["../x", "a/b", "..", "a\0"])
def test_hostile_branches(branch):
    with pytest.raises(ValidationError):
        branch_root("/w/t", branch)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("schema-0", 0),
        ("schema-10", 10),
        ("schema-007", None),
        ("schema-", None),
        ("schema--1", None),
        ("schema-1xyz.tmp", None),
        (".schema-1.abc.tmp", None),
        ("schema-1 ", None),
        ("schema-\u0661", None),
        ("xschema-1", None),
        ("schema-1\n", None),
    ],
)
def test_version_names(name, expected):
    assert schema_id_of(name) == expected


def _memory(**files: bytes) -> MemoryStore:
    return MemoryStore({f"/w/{path.replace('__', '/')}": data for path, data in files.items()})


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"shop.db/orders/schema/schema-0": PAIMON_SCHEMA}, Layout.PAIMON),
        ({"shop.db/orders/schema/schema-4": PAIMON_SCHEMA, "notes.txt": b"", "other/x": b""}, Layout.PAIMON),
        ({"shop.db/nothing": b""}, Layout.PAIMON),
        ({".hidden/x": b"", ".DS_Store": b""}, Layout.PAIMON),
        ({"shop/orders/schema/schema-0": MINI_SCHEMA}, Layout.MINI),
        ({"shop/orders/schema/schema-2": MINI_SCHEMA, "shop/orders/schema/junk": b"", "a": b""}, Layout.MINI),
    ],
)
def test_layouts_are_found(files, expected):
    store = MemoryStore({f"/w/{path}": data for path, data in files.items()})
    assert detect_layout(store, "/w") is expected


def test_an_empty_directory_is_a_new_warehouse(tmp_path):
    factory, store = open_warehouse(tmp_path)
    assert factory.layout is Layout.PAIMON
    assert isinstance(store, LocalStore)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("files", "code", "hint"),
    [
        (
            {"a.db/t/schema/schema-0": PAIMON_SCHEMA, "b/t/schema/schema-0": MINI_SCHEMA},
            "LB3114",
            "layout=",
        ),
        ({"documents/letter.txt": b"", "pictures/a.png": b""}, "LB3111", "lakebed init"),
        ({"schema/schema-0": PAIMON_SCHEMA, "snapshot/snapshot-1": b""}, "LB3115", "warehouse that holds it"),
        ({"orders/schema/schema-0": PAIMON_SCHEMA}, "LB3115", "warehouse that holds it"),
        ({"shop/orders/schema/schema-0": PAIMON_SCHEMA}, "LB3111", "lakebed init"),
    ],
)
def test_places_that_are_no_warehouse(files, code, hint):
    store = MemoryStore({f"/lake/x/{path}": data for path, data in files.items()})
    with pytest.raises(UsageError) as caught:
        open_warehouse("/lake/x", store=store)
    assert caught.value.code == code
    assert hint in str(caught.value)


def test_the_directory_of_a_table_names_its_warehouse(tmp_path):
    TableManager(PathFactory(tmp_path)).create_table("shop", "orders", [("id", "INT")])
    for inside in (tmp_path / "shop.db" / "orders", tmp_path / "shop.db"):
        with pytest.raises(UsageError) as caught:
            open_warehouse(inside)
        assert caught.value.diagnostics[0].suggestions == (str(tmp_path),)


@pytest.mark.parametrize("layout", ["auto", "paimon", "mini"])
def test_a_missing_directory_and_a_file(tmp_path, layout):
    with pytest.raises(NotFoundError) as caught:
        open_warehouse(tmp_path / "warehuose", layout=layout)
    assert f"`lakebed init {tmp_path}/warehuose`" in str(caught.value)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        open_warehouse(tmp_path / "file", layout=layout)


def test_a_layout_can_be_forced(tmp_path):
    (tmp_path / "documents").mkdir()
    assert open_warehouse(tmp_path, layout="mini")[0].layout is Layout.MINI
    with pytest.raises(UsageError):
        open_warehouse(tmp_path, layout="hive")


def test_an_object_store_has_a_warehouse_before_anything_is_in_it():
    factory, _ = open_warehouse("bucket/lake", store=MemoryObjectStore())
    assert factory.layout is Layout.PAIMON


def test_junk_that_is_no_json_is_not_mini():
    store = MemoryStore({"/w/a/t/schema/schema-0": b"\xff\xfe"})
    with pytest.raises(UsageError):
        detect_layout(store, "/w")


@pytest.mark.parametrize("zone", ["UTC", "Europe/Paris", "+02:00", "Z"])
def test_time_zones(zone):
    assert check_time_zone(zone) == zone


@pytest.mark.parametrize(
    ("zone", "hours"), [("+02:00", 2), ("UTC-05:00", -5), ("GMT+05:00", 5), ("Z", 0), ("UT+18:00", 18)]
)
def test_offsets_are_zones(zone, hours):
    assert check_time_zone(zone) == zone
    assert zone_of(zone).utcoffset(None) == timedelta(hours=hours)
    assert epoch_millis("2026-01-01T12:00:00", zone) == epoch_millis("2026-01-01T12:00:00Z", "UTC") - hours * 3_600_000
    assert zone_offset(0, zone) == hours * 3_600 * 10**9


def test_a_zone_without_rules_is_told():
    with pytest.raises(UsageError, match="no time zone"):
        zone_of("Europe/Pariss")


def test_a_misspelt_time_zone_is_suggested():
    with pytest.raises(UsageError) as caught:
        check_time_zone("Europe/Pariss")
    assert "Europe/Paris" in caught.value.diagnostics[0].suggestions
