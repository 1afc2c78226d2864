"""S3: exclusive puts, lost answers, and the whole life of a warehouse on it without Spark."""

from __future__ import annotations

import gc
import multiprocessing
import threading
import uuid
from collections.abc import Iterator

import pytest

import lakebed
from lakebed.catalog import DataType, Field, PathFactory, SchemaManager, TableManager, TableName
from lakebed.errors import AlreadyExistsError, ConflictError, NotFoundError, RefusedError, StoreError
from lakebed.store import Entry, open_store
from store.s3_server import S3Server, is_put

ID = Field("id", DataType.INT, False)


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with S3Server() as server:
        store, _ = open_store("s3://lake", storage_options=server.options)
        store._fs.mkdir("lake")
        yield server


@pytest.fixture
def root() -> str:
    return f"s3://lake/{uuid.uuid4().hex}"


def _store(server: S3Server, **options):
    return open_store("s3://lake", storage_options={**server.options, **options})[0]


#: The driver does not repeat a request by itself.
NO_RETRIES = {"config_kwargs": {"retries": {"max_attempts": 0}}}


# -- puts -----------------------------------------------------------------------------------------------------------


def test_create_publishes_once(server, root):
    store = _store(server)
    path = f"{root}/schema/schema-0"
    assert store.create_if_absent(path, b"same")
    assert not store.create_if_absent(path, b"same")
    assert not store.create_if_absent(path, b"other")
    assert store.read(path) == b"same"
    assert store.list(f"{root}/schema") == [Entry("schema-0", False, 4)]


def test_behind_the_end_of_an_object_there_is_nothing_to_read(server, root):
    store = _store(server)
    for name, data in (("empty", b""), ("short", b"ab")):
        store.replace(f"{root}/{name}", data)
        assert [store.read_range(f"{root}/{name}", start, 9) for start in (0, 2, 5)] == [data, b"", b""]


@pytest.mark.parametrize("size", [0, 3, 40 << 20])
def test_an_output_appears_when_it_is_closed(server, root, size):
    store, path = _store(server), f"{root}/bucket-0/data"
    before = len(server.requests)
    output = store.open_output(path)
    for start in range(0, size, 1 << 20):
        output.write(b"x" * min(1 << 20, size - start))
    assert not _store(server).exists(path)
    server.requests[before:] = [r for r in server.requests[before:] if r[0] not in ("GET", "HEAD")]
    output.close()
    assert store.size(path) == output.size == size
    if size < 1 << 20:
        assert [r for r in server.requests[before:] if r[0] not in ("GET", "HEAD")] == [("PUT", f"/{path[5:]}")]


def test_of_an_output_that_is_given_up_nothing_stays(server, root):
    store, path = _store(server), f"{root}/bucket-0/data"
    for size in (3, 20 << 20):
        output = store.open_output(path)
        output.write(b"x" * size)
        output.discard()
        del output
        gc.collect()
        assert store.list(f"{root}/bucket-0") == []
    assert "Uploads" not in store._fs.call_s3("list_multipart_uploads", Bucket="lake")


def test_threads_never_both_win(server, root):
    """Each has a driver of its own and puts the same bytes, so that only the storage and the mark tell them apart."""
    won, barrier = [], threading.Barrier(8)

    def work() -> None:
        store = _store(server)
        barrier.wait()
        won.extend(n for n in range(5) if store.create_if_absent(f"{root}/schema-{n}", b"same"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(won) == [0, 1, 2, 3, 4]


def _times(number: int, name: str, verdict: str):
    left = [number]

    def spoil(environ):
        if left[0] and is_put(environ, name):
            left[0] -= 1
            return verdict
        return None

    return spoil


def test_a_put_whose_answer_was_lost_finds_its_own_success(server, root):
    store = _store(server)
    with server.spoiling(_times(1, "schema-0", "lost")):
        assert store.create_if_absent(f"{root}/schema-0", b"mine") is True
    puts = [r for r in server.requests if r[0] == "PUT" and r[1].endswith(f"{root[10:]}/schema-0")]
    assert len(puts) == 2, "the driver has repeated the request"
    assert store.read(f"{root}/schema-0") == b"mine"
    assert store.create_if_absent(f"{root}/schema-0", b"mine") is False


def test_a_put_whose_every_answer_was_lost(server, root, monkeypatch):
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 1)
    store = _store(server, **NO_RETRIES)
    with server.spoiling(_times(99, "schema-0", "lost")):
        assert store.create_if_absent(f"{root}/schema-0", b"mine") is True


def test_an_outcome_that_nobody_can_tell_is_said(server, root, monkeypatch):
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 1)
    store = _store(server, **NO_RETRIES)
    store.create_if_absent(f"{root}/first", b"")
    lost = server.spoiling(lambda environ: "lost" if environ["REQUEST_METHOD"] != "GET" else None)
    with lost, pytest.raises(StoreError) as caught:
        store.create_if_absent(f"{root}/schema-0", b"mine")
    assert caught.value.code == "LB3700"
    assert f"{root}/schema-0" in str(caught.value)


def test_a_busy_key_is_tried_again(server, root):
    store = _store(server)
    with server.spoiling(_times(2, "schema-0", "busy")):
        assert store.create_if_absent(f"{root}/schema-0", b"mine") is True


def test_a_storage_that_ignores_the_condition_is_refused(server, root):
    with server.spoiling(lambda _: "unconditional"):
        with pytest.raises(StoreError) as caught:
            _store(server).create_if_absent(f"{root}/schema-0", b"")
        assert caught.value.code == "LB3712"
        assert "allow_overwrite_races" in str(caught.value)
        assert _store(server).list(root) == []
        tolerant, _ = open_store(root, storage_options=server.options, allow_overwrite_races=True)
        assert tolerant.create_if_absent(f"{root}/schema-0", b"1") is True
        assert tolerant.create_if_absent(f"{root}/schema-0", b"2") is False


def test_no_bucket_is_ever_made(server):
    store = _store(server)
    for act in (store.make_directory, lambda p: store.replace(p, b""), lambda p: store.create_if_absent(p, b"")):
        with pytest.raises(NotFoundError):
            act("s3://another-bucket/w/x")
    assert all(path.partition("/")[0] != "another-bucket" for path in store._fs.ls(""))
    with pytest.raises(NotFoundError):
        lakebed.open("s3://another-bucket/w", storage_options=server.options).tables.create_table("d", "t", [ID])


def test_markers_of_directories(server, root):
    store = _store(server)
    store.make_directory(f"{root}/x.db")
    assert store.list(root) == [Entry("x.db", True)]
    assert store.list(f"{root}/x.db") == []
    assert not store.exists(f"{root}/x.db")
    store.replace(f"{root}/x.db/t/f", b"1")
    with pytest.raises(StoreError) as caught:
        store.remove_directory(f"{root}/x.db")
    assert caught.value.code == "LB3701"
    store.delete_tree(f"{root}/x.db/t")
    assert store.list(root) == [Entry("x.db", True)]
    store.remove_directory(f"{root}/x.db")
    assert store.list(root) == []


@pytest.mark.parametrize("url", ["s3://lake/x", "/tmp/x"])
def test_bad_storage_options(url):
    with pytest.raises(StoreError) as caught:
        open_store(url, storage_options={"endpoint_ulr": "x"})
    assert caught.value.code == "LB3713"
    if url.startswith("s3"):
        assert "endpoint_url" in caught.value.diagnostics[0].suggestions
    open_store("s3://lake/x", storage_options={"anon": True, "listings_expiry_time": 1})


# -- warehouses -----------------------------------------------------------------------------------------------------

MANIFEST = """kind: Table
version: 1
content:
  name: shop.orders
  primaryKeys: [id]
  schema:
    fields:
      - {{name: id, type: Int64}}
      - {{name: amount, type: {{kind: Option, inner: {{kind: Decimal, precision: {precision}, scale: 2}}}}}}
{more}"""


@pytest.mark.parametrize("layout", ["paimon", "mini"])
def test_the_life_of_a_table(server, root, layout):
    tables = lakebed.open(root, layout=layout, storage_options=server.options).tables
    tables.create_database("shop")
    assert tables.list_databases() == ["shop"]
    assert tables.list_tables("shop") == []
    tables.create_table("shop", "users", [ID, Field("name", DataType.STRING)], ["id"])
    with pytest.raises(AlreadyExistsError):
        tables.create_table("shop", "users", [ID])
    schemas = tables.get_schema_manager("shop", "users")
    present = schemas.get_current_schema()
    added = [*present.fields, Field("email", DataType.STRING)]
    assert schemas.create_new_schema_version(added, ["id"]).id == 1
    assert schemas.create_new_schema_version(added, ["id"]).id == 1
    fresh = lakebed.open(root, layout="auto", storage_options=server.options).tables
    assert fresh.path_factory.layout == layout
    assert fresh.get_table_metadata("shop", "users").current_schema_id == 1
    assert fresh.list_tables() == ["shop.users"]
    with pytest.raises(RefusedError) as caught:
        fresh.drop_database("shop")
    assert caught.value.code == "LB3703"
    with pytest.raises(RefusedError) as caught:
        fresh.rename_table("shop.users", "shop.people")
    assert caught.value.code == "LB3705"
    fresh.drop_table("shop", "users")
    assert fresh.list_tables("shop") == []
    fresh.drop_database("shop")
    assert fresh.list_databases() == []
    assert _store(server).list(root) == []


def test_plan_and_apply(server, root, tmp_path):
    lake = lakebed.open(root, storage_options=server.options)
    manifest = tmp_path / "orders.yaml"
    manifest.write_text(MANIFEST.format(precision=10, more=""))
    plan = lake.plan(manifest)
    assert lake.apply(plan).tables[0].schema_id == 0
    assert lake.apply(plan).tables[0].already_applied
    manifest.write_text(MANIFEST.format(precision=11, more=""))
    stale = lake.plan(manifest)
    manifest.write_text(MANIFEST.format(precision=12, more="      - {name: note, type: {kind: Option, inner: String}}"))
    plan = lake.plan(manifest)
    assert lake.apply(plan).tables[0].schema_id == 1
    with pytest.raises(ConflictError):
        lake.apply(stale)
    assert lake.plan(manifest).is_noop
    assert [version.schema.id for version in lake.history("shop.orders").versions] == [0, 1]


def _alter_many(root: str, options: dict, worker: int, count: int, barrier) -> None:
    store, _ = open_store(root, storage_options=options)
    tables = TableManager(PathFactory(root, store=store), store)
    barrier.wait(60)
    for number in range(count):
        tables.alter_table(
            "d", "t", [{"action": "addColumn", "fieldNames": [f"c{worker}_{number}"], "dataType": "INT"}]
        )


def test_processes_lose_no_change(server, root):
    workers, count = 3, 5
    store = _store(server)
    tables = TableManager(PathFactory(root, store=store), store)
    tables.create_table("d", "t", [ID])
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(workers)
    processes = [
        context.Process(target=_alter_many, args=(root, server.options, n, count, barrier)) for n in range(workers)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=120)
    assert [process.exitcode for process in processes] == [0] * workers
    manager = SchemaManager(store, tables.table_path(TableName("d", "t")))
    assert manager.ids() == list(range(workers * count + 1))
    names = manager.load_latest_schema().field_names
    assert sorted(names) == sorted(["id", *(f"c{w}_{n}" for w in range(workers) for n in range(count))])


# -- the doctor -----------------------------------------------------------------------------------------------------


def test_the_doctor_tries_a_bucket_and_leaves_nothing(server, root):
    from lakebed.doctor import Place, State, examine

    lakebed.open(root, storage_options=server.options).tables.create_database("shop")
    names = ("warehouse", "writable", "publishing", "clock")
    report = examine(Place(root, storage_options=server.options))
    assert [report[name].state for name in names] == [State.OK] * 4, str(report)
    with server.spoiling(lambda request: "unconditional"):
        report = examine(Place(root, storage_options=server.options))
        assert (report["publishing"].state, report["publishing"].code) == (State.FAIL, "LB3712")
        accepted = examine(Place(root, "auto", server.options, True))
        assert accepted["publishing"].state is State.FAIL
    assert [entry.name for entry in _store(server).list(root)] == ["shop.db"]
