"""From a Mini Paimon warehouse to a Paimon warehouse: what comes out, what is refused, and what a crash leaves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import lakebed
from lakebed.catalog import PathFactory, TableManager, TableMetadata, open_warehouse
from lakebed.errors import AlreadyExistsError, NotFoundError, RefusedError, StalePlanError, UsageError
from lakebed.migration import MigrationPlan, State, migrate, plan_migration
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore, SimulatedCrash
from migration.mini_files import ORDERS, RENAMES, USERS, record, version, warehouse

#: A table with rows that Lakebed wrote; what is in these files is not looked at, but that manifests are Avro.
ROWS: Mapping[str, bytes] = {
    **ORDERS,
    "bucket-0/data-1.parquet": b"rows",
    "day=x/bucket-0/data-2.parquet": b"more",
    "manifest/manifest-1": b"Obj\x01...",
    "snapshot/snapshot-1": b"one",
    "snapshot/snapshot-2": b"two",
    "snapshot/LATEST": b"2",
    "tag/tag-a": b"one",
    "notes.txt": b"left behind",
    "bucket-0/.hidden.tmp": b"",
}
SOURCE = warehouse("/mini", {"shop/users": USERS, "shop/orders": ROWS})


def paths(store: Any, root: str, layout: str) -> PathFactory:
    return PathFactory(root, layout, store=store)


def planned(store: Any, **options: Any) -> MigrationPlan:
    options = {"renames": RENAMES, **options}
    return plan_migration(paths(store, "/mini", "mini"), paths(store, "/new", "paimon"), **options)


def made(store: Any) -> TableManager:
    return TableManager(paths(store, "/new", "paimon"), store)


@pytest.fixture(params=[MemoryStore, MemoryObjectStore])
def store(request: pytest.FixtureRequest) -> Any:
    return request.param(SOURCE)


def below(store: Any, root: str) -> dict[str, bytes]:
    return {path: data for path, data in store.snapshot().items() if path.startswith(root) and not path.endswith("/")}


def test_every_version_the_record_and_the_rows_are_kept(store: Any) -> None:
    plan = planned(store)
    assert not plan.is_blocked
    assert [t.state for t in plan.tables] == [State.NEW, State.NEW]
    assert below(store, "/new") == {}
    result = migrate(plan)
    assert [(str(t.name), t.schema_id, t.versions, t.row_files) for t in result.tables] == [
        ("shop.orders", 0, 1, 7),
        ("shop.users", 2, 3, 0),
    ]
    assert below(store, "/mini") == SOURCE
    tables = made(store)
    assert tables.list_tables() == ["shop.orders", "shop.users"]
    versions = tables.get_schema_manager("shop", "users").versions()
    assert [[(f.id, f.name, str(f.type)) for f in v.fields] for v in versions] == [
        [(0, "id", "INT NOT NULL"), (1, "town", "STRING"), (2, "n", "INT")],
        [(0, "id", "INT NOT NULL"), (1, "city", "STRING"), (2, "n", "BIGINT"), (3, "email", "STRING")],
        [(0, "key", "INT NOT NULL"), (1, "city", "STRING"), (3, "email", "STRING"), (4, "at", "TIMESTAMP(6)")],
    ]
    assert [v.primary_keys for v in versions] == [("id",), ("id",), ("key",)]
    assert {(v.comment, v.options["owner"]) for v in versions} == {("who buys", "me")}
    assert [v.time_millis for v in versions] == [1762331030910, 1762331030910, 1762417430910]
    kept = tables.get_table_metadata("shop", "users")
    assert kept == TableMetadata.loads(USERS["metadata"])
    assert kept.unknown == {"indexConfig": {"id": ["BLOOM"]}}
    copied = {p.removeprefix("/new/shop.db/orders/"): d for p, d in below(store, "/new/shop.db/orders/").items()}
    left = ("schema/", "notes", "bucket-0/.hidden", *(() if isinstance(store, MemoryStore) else ("snapshot/LATEST",)))
    assert {p: d for p, d in copied.items() if not p.startswith("schema/")} == {
        p: d for p, d in ROWS.items() if not p.startswith(left)
    }
    assert [n.code for n in plan.all_notes] == ["LB3762"]
    again = planned(store)
    assert again.is_noop
    assert all(t.was_done for t in migrate(again).tables)


def test_a_crash_at_any_operation_leaves_no_half_table_and_the_run_can_be_repeated(store: Any) -> None:
    kind, step, tried = type(store), 0, 0
    reference = kind(SOURCE)
    migrate(planned(reference))
    while True:
        crashed = kind(SOURCE)
        crashed.restart()
        crashed.crash_at(step)
        try:
            migrate(planned(crashed))
        except SimulatedCrash:
            crashed.restart()
            check_visible(crashed, whole=kind is MemoryStore)
            migrate(planned(crashed))
            assert below(crashed, "/new/shop.db") == below(reference, "/new/shop.db")
            assert below(crashed, "/mini") == SOURCE
            tried += 1
            step += 1
            continue
        break
    assert tried > 40


def check_visible(store: Any, *, whole: bool) -> None:
    """A table that is there is at its newest version; where directories move it is there with all it has."""
    tables = made(store)
    for name, ids in (("orders", [0]), ("users", [0, 1, 2])):
        if tables.exists(f"shop.{name}"):
            found = tables.get_schema_manager("shop", name).ids()
            assert found[-1] == ids[-1]
            assert not whole or found == ids
            if whole and name == "orders":
                assert store.read("/new/shop.db/orders/snapshot/snapshot-2") == b"two"


def test_what_an_interrupted_run_left_is_told_and_belongs_to_no_engine() -> None:
    whole = MemoryStore(SOURCE)
    plan = planned(whole)
    whole.restart()
    migrate(plan)
    store = MemoryStore(SOURCE)
    plan = planned(store)
    store.restart()
    store.crash_at([operation.name for operation in whole.operations].index("move_directory"))
    with pytest.raises(SimulatedCrash):
        migrate(plan)
    store.restart()
    assert any(path.startswith("/new/.lakebed-migration/") for path in store.snapshot())
    assert open_warehouse("/new", store=store)[0].layout == "paimon"
    assert made(store).list_databases() == ["shop"]
    assert made(store).list_tables() == []
    assert "LB3759" in [n.code for n in planned(store).all_notes]
    migrate(planned(store))


def test_an_open_question_or_a_problem_stops_everything_before_anything_is_written(store: Any) -> None:
    plan = planned(store, renames=["shop.users:2:id=key"])
    assert [str(q) for t in plan.tables for q in t.questions] == ["shop.users:1:town=city"]
    with pytest.raises(RefusedError) as caught:
        migrate(plan)
    assert (caught.value.code, caught.value.exit_code) == ("LB3753", 11)
    assert "renames=['shop.users:1:town=city']" in str(caught.value)
    assert below(store, "/new") == {}
    answered = planned(store, renames=["shop.users:2:id=key"], no_renames=["shop.users:1:town=city"])
    migrate(answered)
    assert [f.id for f in made(store).get_schema_manager("shop", "users").load_schema(1).fields] == [0, 3, 2, 4]
    with pytest.raises(RefusedError) as other:
        migrate(planned(store))
    assert other.value.code == "LB3758"


def test_a_source_that_changed_is_not_migrated(store: Any) -> None:
    plan = planned(store)
    store.create_if_absent("/mini/shop/users/schema/schema-3", USERS["schema/schema-2"].replace(b": 2,", b": 3,"))
    with pytest.raises(StalePlanError) as caught:
        migrate(plan)
    assert caught.value.code == "LB3757"
    assert not made(store).exists("shop.users")


def test_a_table_that_has_gone_on_counts_as_done(store: Any) -> None:
    migrate(planned(store))
    made(store).get_schema_manager("shop", "orders").create_new_schema_version(
        ["id BIGINT", "price DECIMAL(10, 2)", "day STRING", "x INT"]
    )
    assert planned(store).is_noop


def other_table(store: Any) -> None:
    made(store).create_table("shop", "orders", ["a INT"])


def rest_of_a_table(store: Any) -> None:
    store.replace("/new/shop.db/orders/snapshot/snapshot-9", b"")


@pytest.mark.parametrize("spoil", [other_table, rest_of_a_table])
def test_what_is_there_already_is_never_overwritten(store: Any, spoil: Callable[[Any], None]) -> None:
    late = planned(store)
    spoil(store)
    before = below(store, "/new/shop.db/orders")
    plan = planned(store)
    assert [d.code for d in plan.obstacles] == ["LB3758"]
    with pytest.raises(RefusedError):
        migrate(plan)
    if spoil is other_table or isinstance(store, MemoryStore):
        with pytest.raises(AlreadyExistsError):
            migrate(late)
        assert {p: d for p, d in below(store, "/new/shop.db/orders").items() if p in before} == before
    migrate(planned(store, tables=["shop.users"]))


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({**ORDERS, "data/data-0-000.sst": b"x"}, "LB3756"),
        ({**ORDERS, "wal/wal-000.log": b"x"}, "LB3756"),
        ({**ORDERS, "manifest/manifest-list-delta-1": b"[ ]"}, "LB3756"),
        ({**ORDERS, "branch/branch-b/schema/schema-0": b"x"}, "LB3756"),
        ({**ORDERS, ".dropping": b""}, "LB3756"),
        ({"schema/schema-0": b"{}"}, "LB3401"),
        ({**ORDERS, "metadata": b"?"}, "LB3411"),
        ({"schema/schema-0": version(0, ("a", "GEOMETRY"))}, "LB3755"),
        ({"schema/schema-0": version(0, ("_ROW_ID", "INT"))}, "LB3755"),
        ({**ORDERS, "metadata": record("t", 0, properties={"bucket": "many"})}, "LB3755"),
    ],
)
def test_what_cannot_be_migrated_is_named(files: Mapping[str, bytes], code: str) -> None:
    store = MemoryStore(warehouse("/mini", {"shop/t": files}))
    plan = planned(store, renames=())
    assert {d.code for d in plan.obstacles} == {code}
    with pytest.raises(RefusedError):
        migrate(plan)
    has_rows = code == "LB3756" and ".dropping" not in files
    assert planned(store, renames=(), schema_only=True).is_blocked is not has_rows


def test_empty_directories_of_mini_paimon_are_no_rows(tmp_path: Path) -> None:
    for path, data in warehouse(str(tmp_path / "mini"), {"shop/orders": ORDERS}).items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)
    for name in ("data", "wal"):
        (tmp_path / "mini/shop/orders" / name).mkdir()
    lake = lakebed.open(tmp_path / "mini")
    lake.migrate(lake.plan_migration(tmp_path / "new"))
    assert lakebed.open(tmp_path / "new").tables.list_tables() == ["shop.orders"]


def test_options_that_name_a_column_go_only_where_it_is() -> None:
    files = {
        "schema/schema-0": version(0, ("id", "INT", False), pk=["id"]),
        "schema/schema-1": version(1, ("id", "INT", False), ("at", "LONG"), pk=["id"]),
        "metadata": record("t", 1, properties={"sequence.field": "at", "bucket": "2"}),
    }
    store = MemoryStore(warehouse("/mini", {"shop/t": files}))
    migrate(planned(store, renames=()))
    options = [dict(v.options) for v in made(store).get_schema_manager("shop", "t").versions()]
    assert options == [{"bucket": "2"}, {"bucket": "2", "sequence.field": "at"}]


def test_places_and_names_that_make_no_sense(tmp_path: Path) -> None:
    store = MemoryStore(SOURCE)
    for root in ("/mini", "/mini/shop", "/"):
        with pytest.raises(UsageError) as caught:
            plan_migration(paths(store, "/mini", "mini"), paths(store, root, "paimon"))
        assert caught.value.code == "LB3751"
    with pytest.raises(NotFoundError) as missing:
        planned(store, tables=["shop.user"])
    assert "shop.users" in str(missing.value)
    with pytest.raises(UsageError) as other:
        planned(store, tables=["shop.orders"])
    assert other.value.code == "LB3752"
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError) as nothing:
        lakebed.open(tmp_path / "empty").plan_migration(tmp_path / "new")
    assert nothing.value.code == "LB3750"


def test_the_plan_as_json() -> None:
    content = json.loads(json.dumps(planned(MemoryStore(SOURCE), renames=()).to_json()))
    users = content["tables"][1]
    assert users["blocked"]
    assert users["questions"] == ["shop.users:1:town=city"]
    assert users["inferred"][1]["retyped"] == [{"column": "n", "from": "INT", "to": "BIGINT"}]
    assert content["tables"][0]["row_bytes"] == sum(
        len(d) for p, d in ROWS.items() if p[:4] in ("buck", "day=", "mani", "snap", "tag/") and ".hidden" not in p
    )
