from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from format.building import parquet_bytes, table_schema
from lakebed.catalog import schema_file
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UnsupportedError
from lakebed.format.deletion_vectors import read_positions
from lakebed.format.live_files import plan_files
from lakebed.format.manifest import DataFileMeta
from lakebed.format.refuse_unsupported import (
    refuse_unreadable,
    refuse_unreadable_files,
    refuse_unwritable,
    write_problems,
)
from lakebed.format.snapshot import SnapshotManager
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.store import LocalStore
from referees.corpus import SHARED

PLAIN = [("id", "BIGINT"), ("name", "STRING")]
EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}


def _codes(action: Any, *arguments: Any, **parts: Any) -> list[str]:
    """The codes of the refusal, none where there is none."""
    try:
        action(*arguments, **parts)
    except UnsupportedError as e:
        return [d.code for d in e.diagnostics]
    return []


def _with(**options: str) -> TableSchema:
    return table_schema(PLAIN, options={k.replace("__", ".").replace("_", "-"): v for k, v in options.items()})


def test_a_plain_append_table_is_read_and_written() -> None:
    schema = table_schema(PLAIN, options={"bucket": "-1", "file.format": "parquet", "file-index.bitmap.columns": "id"})
    assert _codes(refuse_unreadable, schema) == _codes(refuse_unwritable, schema) == []


def test_all_reasons_are_given_at_once() -> None:
    schema = table_schema(
        [*PLAIN, ("g", "GEOMETRY"), ("v", "BIGINT")],
        primary_keys=["id"],
        options={
            "bucket": "-2",
            "data-evolution.enabled": "true",
            "type": "object-table",
            "scan.primary-branch": "rt",
        },
    )
    assert _codes(refuse_unreadable, schema, columns=["id"]) == ["LB5051", "LB5053"]
    assert sorted(_codes(refuse_unwritable, schema)) == ["LB5050", "LB5051", "LB5052", "LB5053", "LB5054"]


@pytest.mark.parametrize(
    ("options", "read", "written"),
    [
        ({"type": "TABLE"}, [], []),
        ({"type": "format-table"}, ["LB5051"], ["LB5051"]),
        ({"data-evolution.enabled": "true"}, [], []),
        ({"data-evolution.enabled": "true", "bucket": "4", "bucket-key": "id"}, [], ["LB5052"]),
        ({"scan.fallback-branch": "b"}, [], []),
        ({"scan.primary-branch": "b"}, ["LB5053"], ["LB5053"]),
        ({"bucket": "4", "bucket-key": "id"}, [], []),
        ({"bucket": "1"}, [], ["LB5063"]),
        ({"row-tracking.enabled": "true"}, [], []),
        ({"deletion-vectors.enabled": "true"}, [], []),
        ({"deletion-vectors.enabled": "false"}, [], []),
        ({"changelog-producer": "input"}, [], ["LB5061"]),
        ({"file.format": "orc"}, [], []),
        ({"manifest.format": "orc"}, [], ["LB5011"]),
        ({"data-file.external-paths": "s3://x"}, [], ["LB5062"]),
        ({"data-file.prefix": "part-"}, [], []),
        ({"data-file.prefix": "_part-"}, [], ["LB5065"]),
        ({"data-file.prefix": ".part-"}, [], ["LB5065"]),
        ({"data-file.prefix": "../part-"}, [], ["LB5065"]),
        ({"data-file.prefix": "part:"}, [], ["LB5065"]),
    ],
)
def test_options(options: dict[str, str], read: list[str], written: list[str]) -> None:
    schema = table_schema(PLAIN, options=options)
    assert _codes(refuse_unreadable, schema) == read
    assert _codes(refuse_unwritable, schema) == written


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ({"changelog-producer": "none"}, []),
        ({"changelog-producer": "INPUT"}, []),
        ({"changelog-producer": "lookup"}, ["LB5061"]),
        ({"changelog-producer": "full-compaction"}, ["LB5061"]),
        ({"changelog-producer": "of no kind"}, ["LB5061"]),
        ({"changelog-producer": "input", "changelog-file.format": "orc"}, []),
        ({"changelog-producer": "input", "changelog-file.format": "csv"}, ["LB6506"]),
        ({"changelog-producer": "none", "changelog-file.format": "csv"}, []),
        ({"changelog-producer": "input", "changelog-file.prefix": "_log-"}, ["LB5065"]),
        ({"changelog-producer": "none", "changelog-file.prefix": "_log-"}, []),
    ],
)
def test_changelogs_of_keyed_tables(options: dict[str, str], written: list[str]) -> None:
    schema = table_schema(PLAIN, primary_keys=["id"], options={"bucket": "2", **options})
    assert _codes(refuse_unreadable, schema) == []
    assert _codes(refuse_unwritable, schema) == written


def test_a_schema_of_a_newer_version_is_read_but_not_written() -> None:
    schema = TableSchema(0, table_schema(PLAIN).fields, 1, version=4)
    assert _codes(refuse_unreadable, schema) == []
    assert _codes(refuse_unwritable, schema) == ["LB5064"]


@pytest.mark.parametrize(
    "type_",
    [
        "GEOMETRY",
        {"type": "VECTOR", "element": "FLOAT", "length": 3},
        {"type": "ARRAY", "element": {"type": "ARRAY", "element": "BLOB"}},
        {"type": "MAP", "key": "STRING", "value": {"type": "ROW", "fields": [{"id": 9, "name": "x", "type": "BLOB"}]}},
    ],
)
def test_types_without_a_form_are_refused_unless_left_out(type_: Any) -> None:
    columns = (DataField(0, "id", parse("INT")), DataField(1, "odd", parse(type_)))
    schema = TableSchema(0, columns, 9)
    assert _codes(refuse_unreadable, schema) == _codes(refuse_unwritable, schema) == ["LB5054"]
    assert _codes(refuse_unreadable, schema, columns=["id"]) == []
    with pytest.raises(UnsupportedError, match="'odd'"):
        refuse_unreadable(schema)


@pytest.mark.parametrize(
    "type_", ["BLOB", {"type": "ARRAY", "element": "BLOB"}, {"type": "MAP", "key": "INT", "value": "BLOB"}]
)
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, None),
        ({"data-evolution.enabled": "false"}, "data-evolution.enabled"),
        ({"blob-descriptor-field": "a, b"}, "blob-descriptor-field"),
        ({"blob.stored-descriptor-fields": "b"}, "blob.stored-descriptor-fields"),
        ({"blob-external-storage-field": "b"}, "blob-external-storage-field"),
        ({"blob-view-field": "b"}, "blob-view-field"),
        ({"video-frame-field": "b"}, "video-frame-field"),
    ],
)
def test_blobs_are_written_where_blob_files_of_the_table_hold_them(
    type_: Any, options: dict[str, str], reason: str | None
) -> None:
    schema = table_schema([("id", "INT"), ("b", type_)], options=EVOLVING | options)
    assert _codes(refuse_unreadable, schema) == []
    (*problems,) = write_problems(schema)
    assert [d.code for d in problems] == ([] if reason is None else ["LB5098"])
    assert all(d.path == "b" and reason is not None and reason in d.message for d in problems)


def test_maps_to_blobs_have_keys_of_one_value() -> None:
    row = {"type": "ROW", "fields": [{"id": 9, "name": "x", "type": "INT"}]}
    for key, codes in (("DECIMAL(20, 2)", []), ("TIME(3)", []), ("TIMESTAMP(3)", ["LB5098"]), (row, ["LB5098"])):
        schema = table_schema([("id", "INT"), ("b", {"type": "MAP", "key": key, "value": "BLOB"})], options=EVOLVING)
        assert _codes(refuse_unwritable, schema) == codes


def test_nanoseconds_are_read_but_not_written() -> None:
    schema = table_schema([("t", "TIMESTAMP(9)")])
    assert _codes(refuse_unreadable, schema) == []
    assert _codes(refuse_unwritable, schema) == ["LB6505"]


def _meta(name: str, **parts: Any) -> DataFileMeta:
    return DataFileMeta(file_name=name, file_size=1, row_count=1, schema_id=0, **parts)


def test_files_of_unknown_formats_and_hidden_files_are_refused_by_name() -> None:
    assert _codes(refuse_unreadable_files, [_meta("a.parquet"), _meta("b.PARQUET", embedded_file_index=b"x")]) == []
    known = [_meta("a.orc"), _meta("b.avro"), _meta("c.parquet", write_cols=("x",)), _meta("d.blob")]
    assert _codes(refuse_unreadable_files, known) == []
    found = [_meta("a.lance"), _meta("b.csv"), _meta("c")]
    assert _codes(refuse_unreadable_files, found) == ["LB5056"] * 3
    assert _codes(refuse_unreadable_files, [_meta("_a.parquet"), _meta(".b.parquet")]) == ["LB5058", "LB5058"]
    with pytest.raises(UnsupportedError, match=r"a\.lance"):
        refuse_unreadable_files(found)
    assert len(_codes(refuse_unreadable_files, [_meta(f"{i}.lance") for i in range(100)])) == 5


@pytest.mark.parametrize("name", sorted(p.stem for p in (SHARED / "tables" / "parquet").glob("*.db")) or ["none"])
def test_the_plan_of_a_real_table_has_its_files_and_its_rows(shared: Path, name: str) -> None:
    path = shared / "tables" / "parquet" / f"{name}.db" / name
    versions = sorted((path / "schema").iterdir(), key=lambda p: int(p.name.removeprefix("schema-")))
    schema = schema_file.loads(versions[-1].read_bytes(), source=str(versions[-1]))
    latest = SnapshotManager(LocalStore(), str(path)).latest()
    assert latest is not None
    refuse_unreadable(schema)
    files = plan_files(LocalStore(), str(path), latest, schema)
    inside = {f.path: f.size for f in files if f.meta.external_path is None}
    assert inside.items() <= {str(p): p.stat().st_size for p in path.rglob("*")}.items()
    assert sum(f.meta.row_count for f in files) == latest.total_record_count


@pytest.mark.parametrize("name", ["pk_09", "pk_with_bitmap_dv", "pk_table_scan_and_read_dv"])
def test_deletion_vectors_go_with_their_files(shared: Path, name: str) -> None:
    path = shared / "tables" / "parquet" / f"{name}.db" / name
    schema = schema_file.loads((path / "schema" / "schema-0").read_bytes(), source="schema-0")
    latest = SnapshotManager(LocalStore(), str(path)).latest()
    assert latest is not None
    vectors = [f.deletions for f in plan_files(LocalStore(), str(path), latest, schema) if f.deletions is not None]
    assert vectors
    positions = read_positions(LocalStore(), vectors)
    assert all(list(p) == sorted(set(p)) and p for p in positions)


def test_an_index_without_deletion_vectors_is_ignored(shared: Path) -> None:
    path = shared / "tables" / "parquet" / "append_with_global_index_with_partition.db"
    path /= "append_with_global_index_with_partition"
    schema = schema_file.loads((path / "schema" / "schema-0").read_bytes(), source="schema-0")
    latest = SnapshotManager(LocalStore(), str(path)).latest()
    assert latest is not None
    assert latest.index_manifest is not None
    assert len(plan_files(LocalStore(), str(path), latest, schema)) > 0


def test_parquet_bytes_are_what_the_tests_think() -> None:
    assert parquet_bytes(pa.table({"a": [1]}))[-4:] == b"PAR1"
