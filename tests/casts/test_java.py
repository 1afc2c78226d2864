"""Some 3,900 casts as Java Paimon 0.9 does them.

`java_0_9.jsonl` holds what its cast executors gave for these values when called through py4j: per pair of types and
zone of the machine, the value as text and the result as text, null for NULL, false for an error.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from casts.evaluation import Case, as_text, batched, raw, session_settings, spark_type, stored
from lakebed import physical
from lakebed.spark.casts import cast_column

GOLDEN = Path(__file__).parent / "java_0_9.jsonl"


def cases() -> Iterator[Case]:
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        group = json.loads(line)
        for value, text in group["cases"]:
            yield Case(
                group["from"], group["to"], value, text if text is not False else None, text is False, group["zone"]
            )


def intended(case: Case) -> str | None:
    """Why the result here differs from that of Java 0.9, or None where it must not."""
    source, target, value = case.source, case.target, case.value or ""
    if target.startswith("TIMESTAMP") and source in ("INT", "BIGINT") and case.time_zone != "UTC":
        return "seconds are an instant, and are not shifted by the zone's offset" if "LOCAL" in target else None
    if source == "STRING" and target.startswith("TIMESTAMP"):
        if value.isdigit() and "LOCAL" not in target:
            return "digits alone are a time since the epoch, as later versions have it"
        if value.startswith(("2023-02-29", "2023-02-31", "2023-04-31")):
            return "a day that does not exist is an error, not the last day of its month"
        if value == "2024-02-29 24:00:00":
            return "an hour 24 is an error, not the next day"
    if source == "STRING" and target.startswith("TIME("):
        if value in ("10:11:12.1x", "10:11:12.5Z"):
            return "letters in the fraction are an error, not zeros"
        if value == "1000:00:00":
            return "a time that does not fit 32 bits is an error, not another time"
    finer = target.startswith(("TIMESTAMP(4)", "TIMESTAMP(5)")) and value.endswith((".000005", ".000001"))
    if source.startswith("TIMESTAMP") and finer:
        return "digits beyond the precision are cut also where the fraction begins with zeros"
    if (source, target, value) == ("BIGINT", "BOOLEAN", str(-(2**63))):
        return "all bits of a BIGINT count, not only the low 32"
    if source == "BYTES" and "BINARY" not in target and value == "0xeda080":
        return "a lone surrogate is three malformed bytes, as everywhere else, not one"
    return None


@pytest.fixture(scope="module")
def sources(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """All values, one column for each source type, one row for each value of the longest column."""
    by_source: dict[str, dict[str, None]] = defaultdict(dict)
    for case in cases():
        by_source[case.source][case.value or ""] = None
    columns = {source: [stored(physical.parse(source), v) for v in values] for source, values in by_source.items()}
    fields = [T.StructField("i", T.IntegerType())]
    fields += [T.StructField(source, spark_type(physical.parse(source))) for source in columns]
    height = max(map(len, columns.values()))
    rows = [(i, *(c[i] if i < len(c) else None for c in columns.values())) for i in range(height)]
    path = str(tmp_path_factory.mktemp("casts") / "sources")
    spark.createDataFrame(rows, T.StructType(fields)).coalesce(1).write.parquet(path)
    return spark.read.schema(T.StructType(fields)).parquet(path)


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_the_values_are_those_of_java(spark: SparkSession, sources: DataFrame, ansi: str) -> None:
    groups: dict[tuple[str, str, str], list[Case]] = defaultdict(list)
    positions: dict[str, dict[str, int]] = defaultdict(dict)
    for case in cases():
        groups[case.source, case.target, case.time_zone].append(case)
        known = positions[case.source]
        known.setdefault(case.value or "", len(known))
    wrong, differing, total = [], set(), 0
    with session_settings(spark, time_zone="America/New_York", ansi=ansi):
        for batch in batched([group[0] for group in groups.values()], 80):
            columns = [
                raw(
                    cast_column(F.col(f"`{c.source}`"), *c.types, time_zone=c.time_zone, on_error="null"), c.types[1]
                ).alias(f"r{j}")
                for j, c in enumerate(batch)
            ]
            rows = {row["i"]: row for row in sources.select("i", *columns).collect()}
            for j, first in enumerate(batch):
                for case in groups[first.source, first.target, first.time_zone]:
                    total += 1
                    text = as_text(rows[positions[case.source][case.value or ""]][f"r{j}"], case.types[1])
                    reason = intended(case)
                    if text != case.expected and reason is None:
                        wrong.append(f"{case}: {text!r} instead of {case.expected!r}")
                    if text == case.expected and reason is not None:
                        wrong.append(f"{case}: differs no more, though {reason}")
                    differing.add(reason)
    assert not wrong, "\n".join(wrong)
    assert len(differing - {None}) == 9
    assert total > 3_800
