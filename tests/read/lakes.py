"""Building and evolving tables for the tests of reading, through the public surface only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lakebed

HEAD = "kind: Table\nversion: 1\ncontent:\n  name: db.t\n"


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
