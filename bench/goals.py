"""List what the report takes from the results: goals, and figures that stand beside a peer's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Results = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Figure:
    """One number of a result: where it is, from the name of the measurement on."""

    what: str
    path: tuple[str, ...]
    unit: str = ""

    def value(self, results: Results) -> float | None:
        """The number; None where it was not measured."""
        name, *keys = self.path
        found: Any = results.get(name, {}).get("found")
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        return float(found) if isinstance(found, int | float) else None


@dataclass(frozen=True)
class Goal(Figure):
    """A figure that is to be at most, or at least, so much."""

    limit: float = 0.0
    at_least: bool = False

    def is_met(self, value: float) -> bool:
        """Whether a value reaches the goal."""
        return value >= self.limit if self.at_least else value <= self.limit


@dataclass(frozen=True)
class Beside(Figure):
    """A figure that says how many times a peer's time Lakebed takes or, of `faster`, the other way round."""

    peer: str = "Spark"
    faster: bool = False

    def times_faster(self, results: Results) -> float | None:
        """How many times faster than the peer; below 1 where it is slower."""
        value = self.value(results)
        return value if value is None or self.faster else 1 / value


def _most(what: str, limit: float, *path: str, unit: str = "times") -> Goal:
    return Goal(what, path, unit, limit)


def _least(what: str, limit: float, *path: str, unit: str = "times") -> Goal:
    return Goal(what, path, unit, limit, at_least=True)


_MERGED = {"2 M + 0.6 M": "2,000,000 + 600,000", "10 M + 3 M": "10,000,000 + 3,000,000"}
_RAW, _COMPACTED = "times a raw scan of the base", "compacted, times a raw scan of the base"
_METADATA = {
    "plan": (1, 200),
    "plan of a filter": (2, 200),
    "count": (1, 200),
    "commit on top": (1, 200),
    "orphans": (6, 300),
}
_WAITING = ("streams", "waiting", "a commit")

GOALS: tuple[Goal, ...] = (
    _most(
        "10 M rows, 5 versions, unchanged columns, against one raw scan",
        1.10,
        "evolved_scan",
        "5 versions",
        "unchanged columns",
        "ratio",
        "lakebed",
    ),
    _most(
        "the same with `columns=`",
        1.10,
        "evolved_scan",
        "5 versions",
        "unchanged columns",
        "ratio",
        "lakebed, columns=",
    ),
    _most(
        "10 M rows, 5 versions, renamed and widened columns, against a raw scan folded by hand",
        0.85,
        "evolved_scan",
        "5 versions",
        "evolved columns",
        "ratio",
        "lakebed",
    ),
    _most(
        "the same with `columns=`", 0.85, "evolved_scan", "5 versions", "evolved columns", "ratio", "lakebed, columns="
    ),
    _most(
        "2 M rows, 50 versions, renamed and widened columns",
        1.3,
        "evolved_scan",
        "50 versions",
        "evolved columns",
        "ratio",
        "lakebed",
    ),
    _most(
        "the same with `columns=`", 1.3, "evolved_scan", "50 versions", "evolved columns", "ratio", "lakebed, columns="
    ),
    _least(
        "sum of two columns without Spark, against pypaimon",
        3.5,
        "arrow_read",
        "times faster than pypaimon",
        unit="times faster",
    ),
    _most(
        "`lakebed read --limit 10`, the whole process", 0.6, "arrow_read", "lakebed read --limit 10, seconds", unit="s"
    ),
    _least(
        "10,000 files to a DataFrame, against `spark.read.parquet(*files)`",
        80,
        "many_files",
        "times faster than Spark's defaults",
        unit="times faster",
    ),
    _most("plan of a filtered read over 10,000 files", 0.25, "pruning", "seconds", "plan with where=", unit="s"),
    *(
        _most(
            f"{work} of 100,000 entries in 1,000 manifests",
            limit,
            "metadata",
            "by manifests",
            work,
            "1000",
            "CPU seconds",
            unit="CPU s",
        )
        for work, (limit, _) in _METADATA.items()
    ),
    *(
        _most(
            f"memory of that, {work}",
            limit,
            "metadata",
            "by manifests",
            work,
            "1000",
            "MB above what was there",
            unit="MB",
        )
        for work, (_, limit) in _METADATA.items()
    ),
    _least("schema changes of 200 columns", 300, "schema_changes", "changes a second", "lakebed", unit="a second"),
    _most(
        "plan that widens 1,000 columns",
        0.5,
        "schema_changes",
        "plan that widens so many columns, CPU seconds",
        "1000",
        unit="CPU s",
    ),
    _most(
        "plan that widens 10,000 columns",
        6,
        "schema_changes",
        "plan that widens so many columns, CPU seconds",
        "10000",
        unit="CPU s",
    ),
    _most("`lakebed plan` of one table", 0.25, "commands", "commands", "plan of 1 table", "CPU seconds", unit="CPU s"),
    _most(
        "`lakebed plan` of 1,000 unchanged tables",
        2,
        "commands",
        "commands",
        "plan of 1000 tables",
        "CPU seconds",
        unit="CPU s",
    ),
    _most(
        "`import lakebed`, beyond Python alone",
        0.03,
        "commands",
        "import beyond Python alone, CPU seconds",
        unit="CPU s",
    ),
    *(
        _most(
            f"merge on read of {size}, {kind}, against a raw scan of the base", limit, "merge_on_read", key, _RAW, kind
        )
        for size, key in _MERGED.items()
        for kind, limit in (("deduplicate", 1.7), ("sequenced", 2.0), ("partial_update", 3.0))
    ),
    *(
        _most(f"the same compacted: {size}, {kind}", 1.1, "merge_on_read", key, _COMPACTED, kind)
        for size, key in _MERGED.items()
        for kind in ("deduplicate", "sequenced", "partial_update")
    ),
    *(
        _most(
            f"ingest of 1 M rows of {text}, {rows}, against Spark's read and write",
            limit,
            "ingest",
            kind,
            "against spark",
            key,
        )
        for kind, text in (("csv", "CSV"), ("json", "JSON lines"))
        for key, rows, limit in (("clean", "none bad", 1.6), ("bad", "5 % bad", 2.2))
    ),
    _most("append of 10 M rows, against Spark's writer", 1.25, "writes", "append against spark"),
    _most("the same into 8 partitions", 1.5, "writes", "partitioned against spark"),
    _least(
        "upsert of 1 M rows, against pypaimon", 1, "writes", "upsert", "times faster than pypaimon", unit="times faster"
    ),
    _most("compaction of 10,000 files, against plain Spark, in CPU", 1.5, "maintenance", "compact by plain Spark, CPU"),
    _most(
        "expiry, a snapshot with its ten files", 3, "maintenance", "expire, CPU milliseconds a snapshot", unit="CPU ms"
    ),
    _most("waiting commits of a stream: to plan one", 1, *_WAITING, "CPU milliseconds", unit="CPU ms"),
    _most("waiting commits of a stream: memory of one", 2, *_WAITING, "KB", unit="KB"),
)

PEERS: tuple[Beside, ...] = (
    Beside(
        "10,000 files to a DataFrame",
        ("many_files", "times faster than Spark's defaults"),
        peer="spark.read.parquet",
        faster=True,
    ),
    Beside("sum two of 10 M rows' columns", ("arrow_read", "times faster than pypaimon"), peer="pypaimon", faster=True),
    Beside("upsert 1 M rows", ("writes", "upsert", "times faster than pypaimon"), peer="pypaimon", faster=True),
    Beside(
        "change a schema of 200 columns", ("schema_changes", "times faster than pypaimon"), peer="pypaimon", faster=True
    ),
    Beside(
        "scan 5 versions, 10 M rows",
        ("evolved_scan", "5 versions", "unchanged columns", "ratio", "lakebed, columns="),
        peer="Spark's raw scan",
    ),
    Beside(
        "scan 50 versions, 2 M rows",
        ("evolved_scan", "50 versions", "evolved columns", "ratio", "lakebed, columns="),
        peer="Spark's raw scan",
    ),
    Beside(
        "read a compacted table with a key",
        ("merge_on_read", _MERGED["10 M + 3 M"], _COMPACTED, "deduplicate"),
        peer="Spark's raw scan",
    ),
    Beside(
        "merge 3 M updates onto 10 M rows",
        ("merge_on_read", _MERGED["10 M + 3 M"], _RAW, "deduplicate"),
        peer="Spark's raw scan",
    ),
    Beside("append 10 M rows", ("writes", "append against spark"), peer="Spark's writer"),
    Beside("ingest 1 M rows of CSV", ("ingest", "csv", "against spark", "clean"), peer="Spark, unchecked"),
    Beside("ingest CSV with 5 % bad rows", ("ingest", "csv", "against spark", "bad"), peer="Spark, all good"),
    Beside("compact 10,000 files", ("maintenance", "compact by plain Spark, CPU"), peer="Spark's rewrite"),
)


def growths(results: Results) -> list[Mapping[str, Any]]:
    """How costs grow, as all measurements tell."""
    return [grown for _, result in sorted(results.items()) for grown in result.get("found", {}).get("growth", ())]
