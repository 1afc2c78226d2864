"""What was done to tables outside of `apply`: by whom, against the manifest, and in data files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import lakebed
from cli.conftest import MANIFEST
from cli.other_engine import add_column, retype, set_option, write_snapshot
from lakebed.catalog import TableName
from lakebed.errors import LakebedError
from lakebed.format.table_branch import TableBranch
from lakebed.inspection.file_columns import live_data_files, other_columns
from lakebed.inspection.table_drift import TableDrift

TABLE = "shop.orders"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    (tmp_path / "warehouse").mkdir()
    return tmp_path / "warehouse"


@pytest.fixture
def manifest(tmp_path: Path, warehouse: Path) -> Path:
    """Applied; then asking for one more column."""
    path = tmp_path / "orders.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    lake = lakebed.open(warehouse)
    lake.apply(lake.plan(path))
    path.write_text(MANIFEST + "      - {name: wish, type: {kind: Option, inner: String}}\n", encoding="utf-8")
    return path


def drift(warehouse: Path, manifest: Path, **asked: Any) -> TableDrift:
    (table,) = lakebed.open(warehouse).drift(manifest, **asked).tables
    return table


def test_what_is_asked_for_is_no_drift(warehouse: Path, manifest: Path) -> None:
    found = drift(warehouse, manifest, files=True)
    assert (found.is_drift, found.applied, found.versions, found.files) == (False, 0, (), 0)
    assert found.pending == ("add column wish: Option<String>",)


def test_each_version_says_what_it_did_and_who_wrote_under_it_first(warehouse: Path, manifest: Path) -> None:
    add_column(warehouse, TABLE, "theirs", "STRING")
    write_snapshot(warehouse, TABLE, 1, schema_id=1)
    write_snapshot(warehouse, TABLE, 2, schema_id=1)
    set_option(warehouse, TABLE, "snapshot.num-retained.max", "20")
    found = drift(warehouse, manifest)
    told = [
        (v.schema_id, v.changes, v.written_by and (v.written_by.id, v.written_by.commit_user)) for v in found.versions
    ]
    assert told == [
        (1, ("add column theirs: Option<String>",), (1, "other")),
        (2, ("set option snapshot.num-retained.max to 20",), None),
    ]
    assert found.undone == (
        "drop column theirs (Option<String>)",
        "remove option snapshot.num-retained.max (was 20)",
    )
    assert (found.is_drift, found.pending) == (True, ("add column wish: Option<String>",))


def test_the_report_as_text(warehouse: Path, manifest: Path) -> None:
    add_column(warehouse, TABLE, "theirs", "STRING")
    write_snapshot(warehouse, TABLE, 1, schema_id=1)
    lakebed.open(warehouse).tables.create_table("shop", "other", ["id INT"])
    report = lakebed.open(warehouse).drift(manifest.parent)
    lines = str(report).splitlines()
    assert [lines[0], *lines[2:]] == [
        "shop.orders: schema 1; `apply` made schema 0 last",
        "    add column theirs: Option<String>",
        "  applying the manifest would undo some of it:",
        "    drop column theirs (Option<String>)",
        "  asked for and not applied:",
        "    add column wish: Option<String>",
        "  to keep it: lakebed pull shop.orders",
        "",
        "No manifest declares: shop.other",
        "",
        "Tables: 1 drifted, 1 with changes that are not applied.",
    ]
    assert lines[1].endswith("  schema 1, first written by user other")


def test_annotations_that_no_longer_fit_are_drift(warehouse: Path, manifest: Path) -> None:
    text = MANIFEST.replace("type: Int32", "type: UInt8")
    manifest.write_text(text.replace("shop.orders", "shop.small"), encoding="utf-8")
    lake = lakebed.open(warehouse)
    lake.apply(lake.plan(manifest))
    retype(warehouse, "shop.small", "id", "BIGINT NOT NULL")
    assert drift(warehouse, manifest).annotations_drifted


# Data files


def problems(warehouse: Path, table: str) -> list[tuple[str, str]]:
    branch = TableBranch(lakebed.open(warehouse).tables, TableName.parse(table))
    return [(d.code, d.message.rpartition(".parquet ")[2]) for d in other_columns(branch, live_data_files(branch))]


@pytest.mark.parametrize("warehouse_name", ["parquet", "java"])
def test_files_of_other_implementations_are_as_their_versions_say(shared: Path, warehouse_name: str) -> None:
    """Whatever was altered since, no file of a table that is well is told, save those that are not on this machine."""
    lake = lakebed.open(shared / "tables" / warehouse_name)
    told, looked_at = [], 0
    for name in lake.tables.list_tables():
        branch = TableBranch(lake.tables, TableName.parse(name))
        files = tuple(f for f in live_data_files(branch) if f.meta.external_path is None)
        looked_at += len(files)
        told += [d.message for d in other_columns(branch, files)]
    assert told == []
    assert looked_at > 10


def test_files_that_are_not_are_told(shared: Path, tmp_path: Path) -> None:
    database = "parquet_append_table.db"
    shutil.copytree(shared / "tables" / "parquet" / database, tmp_path / database)
    (path,) = (tmp_path / database / "parquet_append_table" / "schema").glob("schema-0")
    schema = json.loads(path.read_text())
    first, second, *_ = schema["fields"]
    was = first["type"]
    first["type"], second["name"] = "DECIMAL(9, 2)", "nobody"
    path.write_text(json.dumps(schema))
    found = problems(tmp_path, "parquet_append_table.parquet_append_table")
    assert {code for code, _ in found} == {"LB5059"}
    assert all(
        "is not as schema 0 says:" in message and "there is no column nobody" in message for _, message in found
    ), was
    assert all("not Decimal(9, 2)" in message and "is no column of it" in message for _, message in found)


def test_a_version_that_is_not_there_is_told(shared: Path, tmp_path: Path) -> None:
    shutil.copytree(shared / "tables" / "java" / "evolve.db", tmp_path / "evolve.db")
    table = "evolve.e_parquet"
    versions = sorted((tmp_path / "evolve.db" / "e_parquet" / "schema").iterdir())
    assert problems(tmp_path, table) == []
    versions[0].unlink()
    assert [message for _, message in problems(tmp_path, table)] == ["names schema 0, which is not there"]
    with pytest.raises(LakebedError):
        lakebed.open(tmp_path).schema(f"{table}@0")
