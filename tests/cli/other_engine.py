"""What another engine may do to a table, without regard for Lakebed's annotations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import lakebed
from lakebed.catalog import TableName, TableSchema
from lakebed.evolve import with_changes
from lakebed.format.snapshot import Snapshot, SnapshotManager
from lakebed.physical import parse


def retype(warehouse: Path, table: str, column: str, type_text: str) -> TableSchema:
    """A new version in which the column has another type."""
    lake = lakebed.open(warehouse)
    name = TableName.parse(table)
    base = lake.schema(table)
    fields = tuple(replace(f, type=parse(type_text)) if f.name == column else f for f in base.fields)
    schema = replace(base, id=base.id + 1, fields=fields, time_millis=base.time_millis + 1000)
    assert lake.tables.get_schema_manager(name.database, name.table).publish(schema)
    return schema


def set_option(warehouse: Path, table: str, key: str, value: str) -> TableSchema:
    """A new version in which the option has another value."""
    lake = lakebed.open(warehouse)
    name = TableName.parse(table)
    base = lake.schema(table)
    schema = replace(base, id=base.id + 1, options={**base.options, key: value}, time_millis=base.time_millis + 1000)
    assert lake.tables.get_schema_manager(name.database, name.table).publish(schema)
    return schema


def add_column(warehouse: Path, table: str, column: str, type_text: str) -> TableSchema:
    """A new version with a column more."""
    lake = lakebed.open(warehouse)
    name = TableName.parse(table)
    base = lake.schema(table)
    change = {"action": "addColumn", "fieldNames": [column], "dataType": type_text, "comment": None}
    schema = with_changes(base, [change], has_snapshots=lambda: False, now=base.time_millis + 1000)
    assert lake.tables.get_schema_manager(name.database, name.table).publish(schema)
    return schema


def rename_column(warehouse: Path, table: str, old: str, new: str) -> TableSchema:
    """A new version in which the column has another name."""
    lake = lakebed.open(warehouse)
    name = TableName.parse(table)
    base = lake.schema(table)
    fields = tuple(replace(f, name=new) if f.name == old else f for f in base.fields)
    schema = replace(base, id=base.id + 1, fields=fields, time_millis=base.time_millis + 1000)
    assert lake.tables.get_schema_manager(name.database, name.table).publish(schema)
    return schema


def drop_column(warehouse: Path, table: str, column: str) -> TableSchema:
    """A new version without the column."""
    lake = lakebed.open(warehouse)
    name = TableName.parse(table)
    base = lake.schema(table)
    fields = tuple(f for f in base.fields if f.name != column)
    schema = replace(base, id=base.id + 1, fields=fields, time_millis=base.time_millis + 1000)
    assert lake.tables.get_schema_manager(name.database, name.table).publish(schema)
    return schema


def write_snapshot(warehouse: Path, table: str, number: int, *, schema_id: int, rows: int | None = 5) -> None:
    """A snapshot without files; its rows are told, not there."""
    lake = lakebed.open(warehouse)
    snapshot = Snapshot(
        id=number,
        schema_id=schema_id,
        base_manifest_list="none",
        delta_manifest_list="none",
        commit_user="other",
        commit_identifier=number,
        commit_kind="APPEND",
        time_millis=1_700_000_000_000 + number * 1000,
        total_record_count=None if rows is None else rows * number,
        delta_record_count=rows,
    )
    assert SnapshotManager(lake.store, lake.tables.table_path(TableName.parse(table))).publish(snapshot)
