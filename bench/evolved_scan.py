"""Scan and aggregate 10 M rows over 5 schema versions, and 2 M over 50, against one Spark scan of the same files."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lakebed
from bench.growth import growth

TABLE = "bench.events"
ROWS_PER_VERSION = 2_000_000
#: Rows of each version of a smaller table, which tells how the time grows.
FEWER_ROWS = 400_000
#: Versions of a table that was changed often, and its rows in all.
MANY, ROWS_OF_MANY = 50, 2_000_000
RUNS = 7

_HEAD = "kind: Table\nversion: 1\ncontent:\n  name: bench.events\n  schema:\n    fields:\n"
_ID = "      - {name: id, type: Int64}\n"
_A = "      - {name: a, type: Int64}\n"
_A2 = "      - {name: amount, type: Int64, extra: {lakebed.dev/renamedFrom: a}}\n"
_B = "      - {name: b, type: Int32}\n"
_B_WIDE = "      - {name: b, type: Int64}\n"
_TEXT = "      - {name: text, type: String}\n"
_C = "      - {name: c, type: Float64}\n"
_D = "      - {name: d, type: {kind: Option, inner: Int64}}\n"

C = "cast(id as double) / 3 as c"
D = "id % 7 as d"

#: The fields of a manifest; what `amount` is called under it, the value of `b` and what else is written.
Version = tuple[str, tuple[str, str, tuple[str, ...]]]
#: The manifest of each version, and the rows that are written under it.
VERSIONS: tuple[Version, ...] = (
    (_ID + _A + _B + _TEXT + _C, ("a", "cast(id % 1000 as int)", (C,))),
    (_ID + _A2 + _B + _TEXT + _C, ("amount", "cast(id % 1000 as int)", (C,))),
    (_ID + _A2 + _B_WIDE + _TEXT + _C, ("amount", "id % 1000", (C,))),
    (_ID + _A2 + _B_WIDE + _TEXT + _C + _D, ("amount", "id % 1000", (C, D))),
    (_ID + _A2 + _B_WIDE + _TEXT + _D, ("amount", "id % 1000", (D,))),
)


def build(spark: Any, warehouse: Path, rows: int, versions: tuple[Version, ...] = VERSIONS) -> lakebed.Lake:
    """Write so many rows under each version."""
    warehouse.mkdir(parents=True)
    lake = lakebed.open(warehouse)
    for number, (fields, (amount, b, more)) in enumerate(versions):
        manifest = warehouse.parent / f"events-{number}.yaml"
        manifest.write_text(_HEAD + fields)
        plan = lake.plan(manifest)
        lake.apply(plan, allow=plan.leave_needed())
        columns = ["id", f"id * 3 as {amount}", f"{b} as b", "concat('text ', id % 5000) as text", *more]
        source = spark.range(number * rows, (number + 1) * rows, 1, 4 if rows > FEWER_ROWS else 1)
        lake.ingest(spark, TABLE, source.selectExpr(*columns))
    return lake


def many_versions() -> Iterator[Version]:
    """A column more in each; every tenth renames `amount`, one in the middle widens `b`."""
    for number in range(MANY):
        wide, name = number >= MANY // 2, amount_in(number)
        former = f", extra: {{lakebed.dev/renamedFrom: {amount_in(number - 10)}}}" if number >= 10 else ""
        added = [f"n{i}" for i in range(1, number + 1)]
        fields = [_ID, f"      - {{name: {name}, type: Int64{former}}}\n", _B_WIDE if wide else _B, _TEXT]
        fields += [f"      - {{name: {column}, type: {{kind: Option, inner: Int64}}}}\n" for column in added]
        values = tuple(f"id as {column}" for column in added)
        yield "".join(fields), (name, "id % 1000" if wide else "cast(id % 1000 as int)", values)


def amount_in(number: int) -> str:
    """What `amount` is called in a version of the table that has many; it is called so in the last of them."""
    return "amount" if number // 10 == (MANY - 1) // 10 else f"amount{number // 10}"


Query = Callable[[Any], list[Any]]


def evolved_columns(frame: Any) -> list[Any]:
    """A query over a renamed, a widened and an added column."""
    return list(
        frame.where("b >= 100")
        .groupBy("b")
        .agg({"amount": "sum", "d": "sum", "text": "max", "id": "count"})
        .selectExpr("sum(`sum(amount)`)", "sum(`sum(d)`)", "max(`max(text)`)", "sum(`count(id)`)")
        .collect()
    )


def unchanged_columns(frame: Any) -> list[Any]:
    """A query over columns that all versions have in common."""
    return list(
        frame.where("text > 'text 2'").groupBy("text").agg({"id": "sum"}).selectExpr("sum(`sum(id)`)").collect()
    )


def evolved_of_many(frame: Any) -> list[Any]:
    """A query over a renamed and a widened column."""
    return list(frame.where("b >= 100").groupBy("b").agg({"amount": "sum", "id": "count"}).orderBy("b").collect())


def raw_for_evolved(spark: Any, files: list[str]) -> Any:
    """One scan of the same files for the columns under all their names; the rename is folded by hand."""
    schema = "id bigint, a bigint, amount bigint, b bigint, text string, d bigint"
    frame = spark.read.schema(schema).parquet(*files)
    return frame.selectExpr("id", "coalesce(amount, a) as amount", "b", "text", "d")


def raw_for_unchanged(spark: Any, files: list[str]) -> Any:
    """One scan of the same files for the two columns."""
    return spark.read.schema("id bigint, text string").parquet(*files)


def raw_for_many(spark: Any, files: list[str]) -> Any:
    """One scan of the files of many versions; the renames are folded by hand."""
    names = sorted({amount_in(number) for number in range(MANY)})
    schema = ", ".join(["id bigint", "b bigint", "text string", *(f"{name} bigint" for name in names)])
    frame = spark.read.schema(schema).parquet(*files)
    return frame.selectExpr("id", "b", "text", f"coalesce({', '.join(names)}) as amount")


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Median seconds of both ways for each query, runs interleaved, and the ratios."""
    evolved = (evolved_columns, raw_for_evolved, ["id", "amount", "b", "text", "d"])
    unchanged = (unchanged_columns, raw_for_unchanged, ["id", "text"])
    of_many = (evolved_of_many, raw_for_many, ["id", "amount", "b"])
    rows = {"rows": ROWS_PER_VERSION * len(VERSIONS), "versions": len(VERSIONS)}
    many = {"rows": ROWS_OF_MANY, "versions": MANY}
    large = _measure(spark, directory / "5", ROWS_PER_VERSION, VERSIONS, (evolved, unchanged))
    small = _measure(spark, directory / "fewer", FEWER_ROWS, VERSIONS, (evolved, unchanged))
    often = _measure(spark, directory / "50", ROWS_OF_MANY // MANY, tuple(many_versions()), (of_many, unchanged))
    sizes = {FEWER_ROWS * len(VERSIONS): small, ROWS_PER_VERSION * len(VERSIONS): large}
    return {
        "5 versions": {**rows, **large},
        "50 versions": {**many, **often},
        "growth": [
            growth(
                "rows",
                f"query over {name}, 5 versions",
                "s",
                {size: found[name]["seconds"]["lakebed"] for size, found in sizes.items()},
            )
            for name in ("evolved columns", "unchanged columns")
        ],
    }


def _measure(
    spark: Any, directory: Path, rows: int, versions: tuple[Version, ...], queries: tuple[Any, ...]
) -> dict[str, Any]:
    """Each query over a table of these versions."""
    lake = build(spark, directory / "warehouse", rows, versions)
    files = sorted(str(p) for p in (directory / "warehouse").rglob("data-*.parquet"))
    found = {}
    for query, raw, columns in queries:
        found[_title(query)] = _compare(
            query,
            {
                "lakebed": lambda: lake.read(spark, TABLE),
                "lakebed, columns=": lambda columns=columns: lake.read(spark, TABLE, columns=columns),
                "raw": lambda raw=raw: raw(spark, files),
            },
        )
    return found


def _title(query: Query) -> str:
    return query.__name__.replace("evolved_of_many", "evolved_columns").replace("_", " ")


def _compare(query: Query, frames: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    answers = {name: query(frame()) for name, frame in frames.items()}
    if any(answer != answers["raw"] for answer in answers.values()):
        raise SystemExit(f"the ways do not give the same answer: {answers}")
    times: dict[str, list[float]] = {name: [] for name in frames}
    for number in range(RUNS + 2):
        for name, frame in frames.items():
            started = time.perf_counter()
            query(frame())
            if number >= 2:
                times[name].append(time.perf_counter() - started)
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {
        "seconds": {name: round(value, 3) for name, value in medians.items()},
        "ratio": {name: round(value / medians["raw"], 3) for name, value in medians.items() if name != "raw"},
    }
