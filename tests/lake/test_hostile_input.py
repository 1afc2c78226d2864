"""Whatever lies in a warehouse, and whatever is asked for, no other error than `LakebedError` comes out."""

from __future__ import annotations

import contextlib
import json
import string
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import lakebed
from lakebed import model, physical
from lakebed.catalog import DataType, Field, PathFactory, TableManager, open_warehouse
from lakebed.catalog.names import TableName
from lakebed.errors import CorruptMetadataError, LakebedError, LakebedWarning, ValidationError
from lakebed.evolve.schema_changes import AddColumn, UpdateColumnType
from lakebed.format.commit import commit
from lakebed.format.manifest import ColumnStatistics, SimpleStats
from lakebed.format.new_files import new_append_file
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_branch import TableBranch
from lakebed.format.table_storage import TableStorage
from lakebed.lake import Lake
from lakebed.manifest import dump_table
from lakebed.physical.paimon_types import DataField
from lakebed.read.request import ReadRequest, Travel
from lakebed.read.table_state import resolve
from lakebed.store import open_store
from lakebed.testing.memory_store import MemoryStore

NOW = 1_700_000_000_000
DEEP = 100_000
QUIET = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
SURROGATE = "a\udcffb"


@cache
def warehouse(layout: str) -> dict[str, bytes]:
    """The files of a warehouse with a table that has all that metadata can have."""
    store = MemoryStore()
    lake = opened(store, layout)
    columns = [Field("id", DataType.INT), Field("more", DataType.STRING)]
    lake.tables.create_table("d", "t", columns, partition_keys=["id"], comment="said")
    schemas = lake.tables.get_schema_manager("d", "t")
    path = lake.tables.table_path("d.t")
    schema = schemas.get_current_schema()
    types = [f.type for f in schema.fields]
    for number in range(2):
        stats = SimpleStats.of(types, [ColumnStatistics()] * len(types))
        file = new_append_file(
            schema, (number,), file_name=f"data-{number}.parquet", size=4, rows=1, stats=stats, created=0
        )
        storage = TableStorage(store, path, schemas)
        commit(
            storage, SnapshotChange(commit_user=f"u{number}", added=(file,), properties={"a": "b"}), clock=lambda: NOW
        )
    lake.tags("d.t").create("a", snapshot=1)
    if layout == "paimon":
        lake.branches("d.t").create("b", tag="a")
        store.replace(f"{path}/snapshot/EARLIEST", b"1")
        store.replace(f"{path}/changelog/changelog-1", store.read(f"{path}/snapshot/snapshot-1"))
    schemas.create_new_schema_version([*columns, Field("later", DataType.INT)], partition_keys=["id"])
    return store.snapshot()


def opened(store: MemoryStore, layout: str) -> Lake:
    paths, _ = open_warehouse("/w", layout=layout, store=store) if layout == "auto" else (None, None)
    paths = paths or PathFactory("/w", layout, store=store)
    tables = TableManager(paths, store, lambda: NOW)
    return Lake(tables, store, time_zone="UTC", clock=lambda: NOW)


LOOKS: tuple[Callable[[Lake], Any], ...] = (
    lambda lake: lake.tables.list_tables(),
    lambda lake: lake.tables.get_table_metadata("d", "t"),
    lambda lake: lake.schema("d.t"),
    lambda lake: lake.schema("d.t").logical,
    lambda lake: lake.schema("d.t@0"),
    lambda lake: lake.schema("d.t@snap:1"),
    lambda lake: lake.schema("d.t@tag:a"),
    lambda lake: lake.schema("d.t@branch:b"),
    lambda lake: dump_table(lake.infer("d.t")),
    lambda lake: lake.history("d.t").to_json(),
    lambda lake: str(lake.history("d.t")),
    *(
        lambda lake, name=name: lake.inspect(f"d.t${name}")
        for name in (
            *("snapshots", "schemas", "options", "tags", "branches"),
            *("manifests", "files", "partitions", "buckets"),
        )
    ),
    lambda lake: str(lake.explain_read("d.t")),
    lambda lake: lake.explain_read("d.t", where="id = 1").to_json(),
    lambda lake: lake.explain_read("d.t", tag="a"),
    lambda lake: lake.explain_read("d.t", branch="b"),
    lambda lake: lake.explain_read("d.t", as_of=NOW),
    lambda lake: lake.tags("d.t").list(),
    lambda lake: lake.branches("d.t").list(),
    lambda lake: lake.unused_versions("d.t"),
    lambda lake: lake.orphan_files("d.t"),
    lambda lake: lake.roll_back("d.t", snapshot=1, delete_tags=True, dry_run=True),
    lambda lake: lake.roll_back("d.t", schema=0, dry_run=True),
)


def look_at_everything(files: dict[str, bytes], layout: str) -> None:
    store = MemoryStore(files)
    try:
        lake = opened(store, "auto" if layout == "paimon" else layout)
    except LakebedError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for look in LOOKS:
            with contextlib.suppress(LakebedError):
                look(lake)


def paths_of(layout: str) -> list[str]:
    return sorted(path for path in warehouse(layout) if "/bucket-" not in path)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**400) | st.just("{x"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at]
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        found += places(inner, (*at, key))
    return found


def put(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = put(value[at[0]], at[1:], new)
    return copy


@st.composite
def damaged(draw: st.DrawFn, layout: str) -> dict[str, bytes]:
    """The warehouse with one file that is not as it was."""
    files = dict(warehouse(layout))
    path = draw(st.sampled_from(paths_of(layout)))
    data = files[path]
    try:
        content: Any = json.loads(data)
    except ValueError:
        content = None
    way = draw(
        st.sampled_from(["bytes", "cut", "flip", "deep", "gone", *(["json"] * 6 if content is not None else [])])
    )
    match way:
        case "json":
            at = draw(st.sampled_from(places(content)))
            files[path] = json.dumps(put(content, at, draw(_JSON))).encode()
        case "bytes":
            files[path] = draw(st.binary(max_size=40))
        case "cut":
            files[path] = data[: draw(st.integers(0, len(data)))]
        case "flip" if data:
            place = draw(st.integers(0, len(data) - 1))
            files[path] = data[:place] + bytes([data[place] ^ draw(st.integers(1, 255))]) + data[place + 1 :]
        case "deep":
            files[path] = draw(st.sampled_from([b"[", b'{"a":', b'{"version":3,"id":['])) * DEEP
        case _:
            del files[path]
    return files


@QUIET
@given(st.data())
@pytest.mark.parametrize("layout", ["paimon", "mini"])
def test_only_our_errors_come_out_of_a_damaged_warehouse(layout, data):
    look_at_everything(data.draw(damaged(layout)), layout)


@pytest.mark.parametrize("layout", ["paimon", "mini"])
@pytest.mark.parametrize(
    "content", [b"[" * DEEP, b'{"a":' * DEEP, b'"\\udcff"', b"{x", b"", b"\xff", b"9" * 5000, b"NaN"]
)
def test_every_file_with_such_content(layout, content):
    for path in paths_of(layout):
        look_at_everything({**warehouse(layout), path: content}, layout)


@pytest.mark.parametrize("layout", ["paimon", "mini"])
def test_the_undamaged_warehouse_answers_everything(layout):
    """So that the tests above look at something."""
    lake = opened(MemoryStore(warehouse(layout)), layout)
    answered = 0
    for look in LOOKS:
        with contextlib.suppress(LakebedError):
            look(lake)
            answered += 1
    assert answered > len(LOOKS) * 2 / 3


_TYPE_WORDS = st.sampled_from(
    [*"{}[]<>(),:'\"` 0123", "INT", "ARRAY", "ROW", "MAP", "DECIMAL", "NOT", "NULL", "{x", "type", "element", "9" * 30]
)


@QUIET
@given(st.lists(_TYPE_WORDS | st.text(max_size=3), max_size=12).map("".join) | st.text())
@example("{x")
@example("{" * DEEP)
@example("[" * DEEP)
@example("ARRAY<" * DEEP)
@example('{"type":"ARRAY","element":' * 5_000)
@example("DECIMAL(" + "9" * 5000 + ")")
@example("")
@example("INT" + SURROGATE)
def test_only_our_errors_come_out_of_the_text_of_a_type(text):
    with contextlib.suppress(LakebedError):
        physical.parse(text)
    with contextlib.suppress(LakebedError):
        physical.parse(text, unknown="keep")
    lake = opened(MemoryStore(), "paimon")
    with contextlib.suppress(LakebedError):
        lake.tables.create_table("d", "t", [Field("id", text)])
    lake.tables.create_table("d", "u", [Field("id", DataType.INT)])
    change = {"action": "addColumn", "fieldNames": ["more"], "dataType": text}
    with contextlib.suppress(LakebedError):
        lake.tables.alter_table("d", "u", [change])
    # The same text in a schema file of another engine.
    path = "/w/d.db/u/schema/schema-0"
    content = json.loads(lake.store.read(path))
    content["fields"][0]["type"] = text
    look_at_everything({**lake.store.snapshot(), path: json.dumps(content).encode()}, "paimon")


KINDS_OF_OPTIONS = (
    *("bucket", "target-file-size", "commit.max-retries", "manifest.target-file-size", "manifest.merge-min-count"),
    *("snapshot.time-retained", "file.format", "merge-engine", "scan.fallback-branch", "sequence.field"),
    *("deletion-vectors.enabled", "metadata.stats-mode", "fields.id.stats-mode", "partition.default-name"),
    *(
        "lakebed.schema",
        "fields.id.default-value",
        "partition.legacy-name",
        "data-file.prefix",
        "file-index.in-manifest",
    ),
)


def with_options(text: str) -> None:
    """Options that another engine has written."""
    for key in KINDS_OF_OPTIONS:
        files = dict(warehouse("paimon"))
        path = "/w/d.db/t/schema/schema-1"
        content = json.loads(files[path])
        content["options"] = {**content["options"], key: text}
        look_at_everything({**files, path: json.dumps(content).encode()}, "paimon")


WITH_TEXT: dict[str, Callable[[Lake, str], Any]] = {
    "database": lambda lake, text: lake.tables.create_database(text),
    "table": lambda lake, text: lake.tables.create_table("d", text, [Field("id", DataType.INT)]),
    "column": lambda lake, text: lake.tables.create_table("d", "u", [Field(text, DataType.INT)]),
    "member": lambda lake, text: lake.tables.create_table(
        "d",
        "u",
        [Field("id", {"type": "ROW", "fields": [{"id": 1, "name": text, "type": "INT", "description": text}]})],
    ),
    "comment": lambda lake, text: lake.tables.create_table("d", "u", [Field("id", DataType.INT)], comment=text),
    "option": lambda lake, text: lake.tables.create_table("d", "u", [Field("id", DataType.INT)], options={text: text}),
    "new column": lambda lake, text: lake.tables.alter_table(
        "d", "t", [{"action": "addColumn", "fieldNames": [text], "dataType": "INT", "comment": text}]
    ),
    "new comment": lambda lake, text: lake.tables.alter_table("d", "t", [{"action": "updateComment", "comment": text}]),
    "new option": lambda lake, text: lake.tables.alter_table(
        "d", "t", [{"action": "setOption", "key": "k", "value": text}]
    ),
    "options of every kind": lambda lake, text: lake.tables.create_table(
        "d", "u", [Field("id", DataType.INT)], options=dict.fromkeys(KINDS_OF_OPTIONS, text)
    ),
    "options of every kind in a file": lambda lake, text: with_options(text),
    "version": lambda lake, text: lake.tables.get_schema_manager("d", "t").create_new_schema_version(
        [Field(text, DataType.INT)], partition_keys=[text]
    ),
    "merge": lambda lake, text: lake.merge_schema("d.t", [Field("id", DataType.INT), Field(text, DataType.INT)]),
    "tag": lambda lake, text: lake.tags("d.t").create(text),
    "branch": lambda lake, text: lake.branches("d.t").create(text),
    "rename": lambda lake, text: lake.tables.rename_table("d.t", f"d.{text}"),
    "reference": lambda lake, text: lake.schema(text),
    "version of": lambda lake, text: lake.schema(f"d.t@{text}"),
    "snapshot of": lambda lake, text: lake.schema(f"d.t@snap:{text}"),
    "tag of": lambda lake, text: lake.schema(f"d.t@tag:{text}"),
    "branch of": lambda lake, text: lake.schema(f"d.t@branch:{text}"),
    "condition": lambda lake, text: lake.explain_read("d.t", where=text),
    "moment": lambda lake, text: lake.explain_read("d.t", as_of=text),
    "system table": lambda lake, text: lake.inspect(f"d.t${text}"),
    "manifest": lambda lake, text: lake.plan(text),
    "manifest's text": lambda lake, text: lake.plan(lakebed.manifest.parse_manifest(text)),
    "declared name": lambda lake, text: lake.plan(lakebed.manifest.parse_manifest(declared(json.dumps(text), "id"))),
    "declared column": lambda lake, text: lake.plan(lakebed.manifest.parse_manifest(declared('"d.v"', text))),
    "applied": lambda lake, text: lake.apply(lake.plan(lakebed.manifest.parse_manifest(declared('"d.v"', text)))),
}


def declared(name: str, column: str) -> str:
    field = json.dumps({"name": column, "type": {"kind": "Int32"}, "opendatafabric.org/description": column})
    return f"kind: Table\nversion: 1\ncontent:\n  name: {name}\n  schema:\n    fields:\n      - {field}\n"


@pytest.mark.parametrize("call", WITH_TEXT)
@pytest.mark.parametrize(
    "text", [SURROGATE, "\ud83d", "a\x00b", "9" * 5000, "a" * 300, "", "[" * 500, "(" * 500, "\x85"]
)
def test_only_our_errors_come_out_of_strange_texts(call, text):
    lake = opened(MemoryStore(warehouse("paimon")), "paimon")
    with contextlib.suppress(LakebedError):
        WITH_TEXT[call](lake, text)


@QUIET
@given(st.sampled_from(sorted(WITH_TEXT)), st.text(st.characters(exclude_categories=()), max_size=8))
def test_only_our_errors_come_out_of_any_text(call, text):
    lake = opened(MemoryStore(warehouse("paimon")), "paimon")
    with contextlib.suppress(LakebedError):
        WITH_TEXT[call](lake, text)


@pytest.mark.parametrize("call", ["column", "member", "comment", "option", "new column", "new comment", "new option"])
def test_half_a_character_is_named(call):
    lake = opened(MemoryStore(warehouse("paimon")), "paimon")
    with pytest.raises(LakebedError) as caught:
        WITH_TEXT[call](lake, SURROGATE)
    assert caught.value.code == "LB3415"
    assert "udcff" in str(caught.value)


def test_half_a_character_can_be_printed(tmp_path):
    files = warehouse("paimon")
    damaged = {}
    for path, data in files.items():
        if "/snapshot/snapshot-" in path:
            data = json.dumps(json.loads(data) | {"baseManifestList": "\ud800"}).encode()
        damaged[path] = data
    calls = [
        lambda: opened(MemoryStore(files), "paimon").schema("d.t@tag:\ud800x"),
        lambda: opened(MemoryStore(files), "paimon").schema("d.\ud800x"),
        lambda: lakebed.open("\ud800x").schema("d.t"),
        lambda: lakebed.open("s3n://\ud800x"),
        lambda: opened(MemoryStore(damaged), "paimon").inspect("d.t$files"),
    ]
    for call in calls:
        with pytest.raises(LakebedError) as caught:
            call()
        f"{caught.value}{caught.value!r}{caught.value.diagnostics!r}".encode()
        json.dumps([d.to_json() for d in caught.value.diagnostics], ensure_ascii=False).encode()
        assert "\\ud800" in str(caught.value)


@pytest.mark.parametrize("millis", [10**23, -(10**23), 2**63 - 1, -(2**63), 253402300800000, -62135596800001])
@pytest.mark.parametrize("layout", ["paimon", "mini"])
def test_a_time_that_no_calendar_has_is_null(layout, millis):
    files = warehouse(layout)
    # A schema file with a number of more than 64 bits is refused when it is read.
    fits = -(2**63) <= millis < 2**63 and layout == "paimon"
    parts = ("/snapshot/snapshot-", "/tag/tag-", *(("/schema/schema-",) if fits else ()))
    for path, data in files.items():
        if any(part in path for part in parts):
            content = json.loads(data)
            if "timeMillis" in content:
                files = files | {path: json.dumps(content | {"timeMillis": millis}).encode()}
    lake = opened(MemoryStore(files), layout)
    for system, column in (("snapshots", 5), ("tags", 3), ("schemas", 6)):
        if system == "schemas" and not fits:
            continue
        with pytest.warns(LakebedWarning, match="LB5081"):
            table = lake.inspect(f"d.t${system}")
        assert [row[column] for row in table.rows] == [None] * len(table.rows) != []
        assert str(table)
    look_at_everything(files, layout)
    assert str(lake.history("d.t"))
    assert str(lake.tags("d.t").list())


@pytest.mark.parametrize("millis", [2**63 - 1, -(2**63), 253402300800000, -62135596800001])
def test_a_table_whose_version_has_a_time_that_no_calendar_has_is_shown_and_changed(millis):
    files = warehouse("paimon")
    for path, data in files.items():
        if "/schema/schema-" in path:
            files = files | {path: json.dumps(json.loads(data) | {"timeMillis": millis}).encode()}
    without_record = {path: data for path, data in files.items() if not path.endswith("/metadata")}
    for held in (files, without_record):
        store = MemoryStore(held)
        lake = opened(store, "paimon")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LakebedWarning)
            lake.tables.get_table_metadata("d", "t")
            assert lake.tables.alter_table("d", "t", [AddColumn(("x",), physical.parse("INT"))]).id == 2
    with pytest.warns(LakebedWarning, match="LB5081"):
        record = opened(MemoryStore(without_record), "paimon").tables.get_table_metadata("d", "t")
    assert record.create_time.year == record.last_modified_time.year == (9999 if millis > 0 else 1)


@pytest.mark.parametrize(
    "parts", [[10**30, 1, 1, 0, 0], [2024, 10**20, 1, 0, 0], [0, 1, 1, 0, 0], [2024, 1, 1, 0, 0, 0, -(10**40)], "x", {}]
)
def test_a_tag_that_says_no_time_has_none(parts):
    files = warehouse("paimon")
    for path, data in files.items():
        if "/tag/tag-" in path:
            content = json.loads(data) | {"tagCreateTime": parts, "tagTimeRetained": 10**40}
            files = files | {path: json.dumps(content).encode()}
    (tag,) = opened(MemoryStore(files), "paimon").tags("d.t").list()
    assert (tag.created, tag.retained) == (None, None)


def test_the_version_that_a_snapshot_names_must_be_there():
    files = warehouse("paimon")
    for path in ("/w/d.db/t/snapshot/snapshot-2", "/w/d.db/t/tag/tag-a"):
        for named, code in ((77, "LB5083"), (-1, "LB5001")):
            edited = json.dumps(json.loads(files[path]) | {"schemaId": named}).encode()
            lake = opened(MemoryStore(files | {path: edited}), "paimon")
            travel = Travel() if "snapshot" in path else Travel(tag="a")
            for choice in (None, "latest", "snapshot", 0):
                with pytest.raises(CorruptMetadataError) as caught:
                    resolve(TableBranch(lake.tables, TableName("d", "t")), ReadRequest(travel=travel, schema=choice))
                assert caught.value.code == code
                assert str(named) in str(caught.value)


@pytest.mark.parametrize("make", [lambda t: AddColumn(("q",), t), lambda t: UpdateColumnType(("more",), t)])
def test_the_type_of_a_change_is_taken_as_that_of_a_column(make):
    for right in ("VARCHAR(9)", "varchar(9)", model.String(), {"type": "ARRAY", "element": "INT"}, "LONG"):
        lake = opened(MemoryStore(warehouse("paimon")), "paimon")
        with contextlib.suppress(LakebedError):
            lake.tables.alter_table("d", "t", [make(right)])
    lake = opened(MemoryStore(warehouse("paimon")), "paimon")
    assert lake.tables.alter_table("d", "t", [AddColumn(("q",), "DOUBLE")]).fields[-1].type == physical.parse("DOUBLE")
    for wrong in ("{x", "", "NOTHING", SURROGATE, None, 3, [], b"INT", DataField(0, "a", physical.parse("INT"))):
        with pytest.raises(ValidationError) as caught:
            lake.tables.alter_table("d", "t", [make(wrong)])
        assert caught.value.code.startswith("LB")


_SCHEMES = st.sampled_from(
    ["file", "local", "zip", "tar", "memory", "data", "s3", "dir", "jar", "nothing", "reference"]
)
_REST = st.text(string.ascii_letters + string.digits + "/:@?#%[]{}. ~-_\x00\udcff\u00e9", max_size=12)


@QUIET
@given(st.builds("{}://{}".format, _SCHEMES, _REST) | _REST)
@example("zip:///missing.zip")
@example("zip://a::/missing.zip")
@example("ftp://127.0.0.1:1/x")
@example("http://127.0.0.1:1/x")
@example("https://[::1")
@example("http://[bad")
@example("ftp://host:notaport/x")
@example("file://elsewhere/x")
@example("s3://")
@example("://")
def test_only_our_errors_come_out_of_opening(url):
    if url.startswith(("s3://", "s3a://")) and len(url) > len("s3://"):
        # Opening is enough: nobody is asked.
        with contextlib.suppress(LakebedError):
            open_store(url)
        return
    with contextlib.suppress(LakebedError):
        lakebed.open(url).tables.list_tables()
