"""Building and evolving tables for the tests of reading, through the public surface only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import lakebed
from lakebed.catalog import TableName
from lakebed.format.commit import commit
from lakebed.format.new_files import new_append_file
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.statistics import parquet_statistics
from lakebed.format.table_storage import TableStorage

HEAD = "kind: Table\nversion: 1\ncontent:\n  name: db.t\n"


def empty_lake(directory: Path) -> lakebed.Lake:
    """A new warehouse in a directory."""
    warehouse = directory / "warehouse"
    warehouse.mkdir()
    return lakebed.open(warehouse)


def manifest(fields: str, *, keys: str = "") -> str:
    """A manifest of `db.t` with these fields, one a line, in flow style."""
    lines = "".join(f"      - {line.strip()}\n" for line in fields.strip().splitlines())
    return f"{HEAD}{keys}  schema:\n    fields:\n{lines}"


def declare(lake: lakebed.Lake, text: str) -> None:
    """Plan and apply a manifest, with leave for all that is breaking; applying it again must change nothing."""
    path = Path(lake.warehouse).parent / "manifest.yaml"
    path.write_text(text, encoding="utf-8")
    plan = lake.plan(path)
    lake.apply(plan, allow=plan.leave_needed())
    assert lake.plan(path).is_noop


def put(lake: lakebed.Lake, spark: Any, rows: list[tuple[Any, ...]], schema: str, table: str = "db.t") -> Any:
    """Ingest rows, all of which are good."""
    result = lake.ingest(spark, table, spark.createDataFrame(rows, schema))
    assert (result.rows_written, result.rows_quarantined) == (len(rows), 0)
    return result


def put_file(lake: lakebed.Lake, rows: pa.Table) -> None:
    """Commit a file to `db.t` that pyarrow writes, as pypaimon does: without a word on who wrote it for Spark."""
    path = lake.tables.table_path(TableName("db", "t"))
    storage = TableStorage(lake.store, path, lake.tables.get_schema_manager("db", "t"))
    schema = storage.schemas.load_latest_schema()
    file = Path(path, "bucket-0", "data-foreign-0.parquet")
    file.parent.mkdir(exist_ok=True)
    pq.write_table(rows, file)
    known = parquet_statistics(lake.store, str(file), schema.fields, schema.options)
    new = new_append_file(
        schema, (), file_name=file.name, size=file.stat().st_size, rows=known.rows, stats=known.stats, created=0
    )
    commit(storage, SnapshotChange(commit_user="foreign", added=(new,)), clock=lambda: 1)


def got(frame: Any) -> list[tuple[Any, ...]]:
    """The rows of a DataFrame as plain tuples, dicts and lists, sorted by the first column."""
    return sorted((tuple(_plain(v) for v in row) for row in frame.collect()), key=lambda row: row[0])


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, tuple):
        return tuple(_plain(v) for v in value)
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value
