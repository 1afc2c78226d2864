"""Read primary-key tables of compacted rows beneath updates, and compacted whole, against a raw scan of the rows."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import lakebed
from bench.growth import growth
from lakebed.catalog import schema_file
from lakebed.catalog.table_schema import TableSchema
from lakebed.format import binary_row
from lakebed.format.manifest import (
    ColumnStatistics,
    DataFileMeta,
    Kind,
    ManifestEntry,
    SimpleStats,
    describe,
    write_list,
    write_manifest,
)
from lakebed.format.snapshot import Snapshot
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.store.local import LocalStore

#: Compacted rows, and updates of three tenths as many of their keys.
SIZES = ((2_000_000, 600_000), (10_000_000, 3_000_000))
BASE_FILES = 4
#: Runs by rows of the base.
RUNS = {2_000_000: 5, 10_000_000: 3}

COLUMNS = (("k", "BIGINT NOT NULL"), ("a", "BIGINT"), ("b", "INT"), ("text", "STRING"))
#: By table: the options that say how it merges. Of `sequenced` statistics tell that every update is newer; of
#: `interleaved` some are and some are not. A first-row table shows nothing that needs a merge.
TABLES: dict[str, dict[str, str]] = {
    "deduplicate": {},
    "sequenced": {"sequence.field": "a"},
    "interleaved": {"sequence.field": "b"},
    "partial_update": {"merge-engine": "partial-update"},
    "aggregation": {"merge-engine": "aggregation", "fields.b.aggregate-function": "sum"},
}


def _schema(options: Mapping[str, str]) -> TableSchema:
    fields = tuple(DataField(i, name, parse(text)) for i, (name, text) in enumerate(COLUMNS))
    return TableSchema(0, fields, len(fields) - 1, (), ("k",), options={"bucket": "1", **options})


def _write(spark: Any, directory: Path, rows: int, step: int, files: int, number: int) -> list[Path]:
    """Parquet files of `rows` rows whose keys go up by `step`, each file a range of keys."""
    frame = spark.range(0, rows, 1, files).selectExpr(
        f"id * {step} as _KEY_k",
        f"id + {number} as _SEQUENCE_NUMBER",
        "cast(0 as tinyint) as _VALUE_KIND",
        f"id * {step} as k",
        f"id + {number} as a",
        "cast(id % 1000 as int) as b",
        "concat('text ', id % 5000) as text",
    )
    frame.write.parquet(str(directory))
    return sorted(directory.glob("part-*.parquet"))


def _entries(bucket: Path, paths: Sequence[Path], rows: int, step: int, number: int, level: int) -> list[ManifestEntry]:
    each = rows // len(paths)
    key = [parse("BIGINT")]
    entries = []
    for i, path in enumerate(paths):
        place = bucket / f"data-{level}-{i}.parquet"
        if not place.exists():
            place.hardlink_to(path)
        first, last = i * each, (i + 1) * each - 1
        meta = DataFileMeta(
            file_name=place.name,
            file_size=place.stat().st_size,
            row_count=each,
            schema_id=0,
            min_key=binary_row.encode(key, [first * step]),
            max_key=binary_row.encode(key, [last * step]),
            min_sequence_number=first + number,
            max_sequence_number=last + number,
            level=level,
            delete_row_count=0,
            value_stats=SimpleStats.of(
                [parse("BIGINT"), parse("INT")],
                [ColumnStatistics(first + number, last + number, 0), ColumnStatistics(0, min(999, last), 0)],
            ),
            value_stats_cols=("a", "b"),
        )
        entries.append(ManifestEntry(Kind.ADD, bytes(12), 0, 1, meta))
    return entries


def build(spark: Any, warehouse: Path, base_rows: int, updates: int) -> tuple[lakebed.Lake, list[str]]:
    """The tables, which share their files, and the paths of the base."""
    store = LocalStore()
    written = warehouse.parent / "written"
    base = _write(spark, written / "base", base_rows, 1, BASE_FILES, 0)
    delta = _write(spark, written / "delta", updates, 3, 1, base_rows)
    for name, options in TABLES.items():
        root = warehouse / "bench.db" / name
        bucket = root / "bucket-0"
        bucket.mkdir(parents=True)
        entries = _entries(bucket, base, base_rows, 1, 0, 5) + _entries(bucket, delta, updates, 3, base_rows, 0)
        manifest = write_manifest(entries)
        described = describe("manifest-0", len(manifest), entries, (), 0)
        snapshot = Snapshot(
            id=1,
            schema_id=0,
            base_manifest_list="base",
            delta_manifest_list="delta",
            commit_user="bench",
            commit_identifier=1,
            commit_kind="APPEND",
            time_millis=1_700_000_000_000,
            total_record_count=base_rows + updates,
            delta_record_count=base_rows + updates,
        )
        store.create_if_absent(f"{root}/schema/schema-0", schema_file.dumps(_schema(options)))
        store.create_if_absent(f"{root}/manifest/manifest-0", manifest)
        store.create_if_absent(f"{root}/manifest/base", write_list([]))
        store.create_if_absent(f"{root}/manifest/delta", write_list([described]))
        store.create_if_absent(f"{root}/snapshot/snapshot-1", snapshot.dumps())
    return lakebed.open(warehouse), [str(p) for p in base]


def measure(spark: Any, directory: Path, base_rows: int, updates: int) -> dict[str, Any]:
    """Median seconds of reading all columns, and the ratios to the raw scan; the ways take turns."""
    lake, base = build(spark, directory / "warehouse", base_rows, updates)
    names = [name for name, _ in COLUMNS]
    ways: dict[str, Callable[[], Any]] = {"raw": lambda: spark.read.parquet(*base).select(*names)}
    for name in TABLES:
        ways[name] = lambda name=name: lake.read(spark, f"bench.{name}")  # type: ignore[misc]
        if ways[name]().count() != base_rows:
            raise SystemExit(f"{name} does not have {base_rows} rows")
    merged = _in_turns(ways, RUNS[base_rows])
    for name in TABLES:
        lake.table(f"bench.{name}").compact(spark, full=True)
    compacted = _in_turns(ways, RUNS[base_rows])
    return {
        "rows": {"base": base_rows, "updates": updates},
        "seconds": {k: round(v, 3) for k, v in merged.items()},
        "times a raw scan of the base": _ratios(merged),
        "compacted, times a raw scan of the base": _ratios(compacted),
    }


def _in_turns(ways: Mapping[str, Callable[[], Any]], runs: int) -> dict[str, float]:
    """Median seconds of each way, after one run that does not count."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(runs + 1):
        for name, way in ways.items():
            started = time.perf_counter()
            way().write.format("noop").mode("overwrite").save()
            times[name].append(time.perf_counter() - started)
    return {name: statistics.median(found[1:]) for name, found in times.items()}


def _ratios(medians: Mapping[str, float]) -> dict[str, float]:
    return {name: round(found / medians["raw"], 2) for name, found in medians.items() if name != "raw"}


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """The measurements of each size, each in a directory of its own."""
    found = {f"{base:,} + {updates:,}": measure(spark, directory / str(base), base, updates) for base, updates in SIZES}
    raw = {base + updates: found[f"{base:,} + {updates:,}"]["seconds"] for base, updates in SIZES}
    return {
        **found,
        "growth": [
            growth("rows", f"merge on read, {name}", "s", {size: by[name] for size, by in raw.items()})
            for name in ("deduplicate", "partial_update")
        ],
    }
