"""Show the health of tables as Prometheus reads it, by the library `prometheus_client`.

The metrics are gauges of a registry of their own: nothing of the process is among them, and nothing stays behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lakebed.errors import LakebedError
from lakebed.inspection.table_health import HealthReport, TableHealth

_PREFIX = "lakebed_table_"
#: Name, what it counts, and the value of a table; None where a table has none.
_GAUGES: tuple[tuple[str, str, Callable[[TableHealth], float | None]], ...] = (
    ("bytes", "Bytes of live data files.", lambda t: t.content.bytes),
    ("rows", "Rows that live data files hold.", lambda t: t.content.rows),
    ("file_bytes_min", "Bytes of the smallest live data file.", lambda t: t.content.smallest),
    ("file_bytes_median", "Bytes of the median live data file.", lambda t: t.content.median),
    ("file_bytes_max", "Bytes of the largest live data file.", lambda t: t.content.largest),
    ("small_files", "Live data files that are smaller than a compaction makes them.", lambda t: t.content.small),
    ("files_due_for_compaction", "Live data files that a compaction would write anew.", lambda t: t.content.due),
    ("files_not_visible", "Files of level 0 that no reader sees before a compaction.", lambda t: t.content.hidden),
    ("buckets", "Buckets that have files.", lambda t: t.content.buckets),
    ("deletion_vectors", "Live data files with a deletion vector.", lambda t: t.content.vectors),
    ("deleted_rows", "Rows that deletion vectors take out.", lambda t: t.content.deleted_rows),
    ("deleted_rows_ratio", "The share of rows that deletion vectors take out.", lambda t: t.content.deleted_share),
    ("manifests", "Manifests of the newest snapshot.", lambda t: t.content.manifests),
    ("manifest_bytes", "Bytes of the manifests of the newest snapshot.", lambda t: t.content.manifest_bytes),
    ("snapshots", "Snapshots.", lambda t: t.snapshots),
    ("snapshots_expirable", "Snapshots that the table's options do not keep.", lambda t: t.expirable),
    ("snapshots_held_by_consumers", "Snapshots that only consumers hold.", lambda t: t.held),
    ("snapshot_id", "The number of the newest snapshot.", lambda t: t.snapshot_id),
    (
        "oldest_snapshot_timestamp_seconds",
        "When the oldest snapshot was made.",
        lambda t: _seconds(t.oldest_snapshot_at),
    ),
    (
        "newest_snapshot_timestamp_seconds",
        "When the newest snapshot was made.",
        lambda t: _seconds(t.newest_snapshot_at),
    ),
    ("schema_id", "The newest schema version.", lambda t: t.schema_id),
    ("changelogs", "Changelogs that outlive their snapshots.", lambda t: t.changelogs),
    ("tags", "Tags.", lambda t: t.tags),
    ("branches", "Branches beside the main one.", lambda t: t.branches),
    ("consumers", "Consumers.", lambda t: len(t.consumers)),
    (
        "quarantined_rows",
        "Rows in quarantine, mended ones that were not purged among them.",
        lambda t: t.quarantined_rows,
    ),
)
#: The same of what is counted by something: its label, and the numbers by its values.
_BY: tuple[tuple[str, str, str, Callable[[TableHealth], Mapping[Any, int]]], ...] = (
    ("files", "Live data files by level.", "level", lambda t: t.content.by_level),
    (
        "files_by_schema",
        "Live data files by the schema version they were written under.",
        "schema",
        lambda t: t.content.by_schema,
    ),
    (
        "bad_rows",
        "Rows in quarantine that are not mended, by the codes of their problems; one of several codes counts in each.",
        "code",
        lambda t: t.bad_rows or {},
    ),
    ("consumer_next_snapshot", "The snapshot that a consumer reads next.", "consumer", lambda t: t.consumers),
)


def prometheus_text(report: HealthReport) -> str:
    """The exposition text of all tables, without the end of its last line.

    `lakebed_table_readable` is 1 for each table that was measured, and 0 for one that cannot be read. Raises
    `LakebedError` (LB7064) where the library is not installed.
    """
    try:
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.core import GaugeMetricFamily
        from prometheus_client.registry import Collector
    except ImportError as error:
        raise LakebedError.of("LB7064", f"{error}", remedy="install it: pip install 'lakebed[prometheus]'") from error

    def gauge(name: str, said: str, labels: Iterable[str], samples: Iterable[tuple[list[str], float]]) -> Any:
        family = GaugeMetricFamily(_PREFIX + name, said, labels=["table", *labels])
        for values, value in samples:
            family.add_metric(values, value)
        return family

    class Tables(Collector):
        def collect(self) -> Iterable[Any]:
            read = [([t.table], 1.0) for t in report.tables] + [([f.table], 0.0) for f in report.failed]
            yield gauge("readable", "Whether the table's metadata can be read.", (), read)
            for name, said, value in _GAUGES:
                known = [(t.table, found) for t in report.tables if (found := value(t)) is not None]
                yield gauge(name, said, (), [([table], found) for table, found in known])
            for name, said, label, counts in _BY:
                parts = [([t.table, str(k)], float(v)) for t in report.tables for k, v in counts(t).items()]
                yield gauge(name, said, (label,), parts)

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Tables())
    return generate_latest(registry).decode().removesuffix("\n")


def _seconds(millis: int | None) -> float | None:
    return None if millis is None else millis / 1000
