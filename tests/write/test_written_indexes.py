"""A table with file indexes answers every filter as one without, and opens fewer files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed import Lake
from lakebed.model import Field, Float64, Int32, Int64, Option, String

NAN = float("nan")
FIELDS = (
    Field("id", Int64()),
    Field("d", Option(Float64())),
    Field("s", Option(String())),
    Field("n", Option(Int32())),
)
#: Two commits; of each column the second one has values between those of the first.
ROWS: Sequence[Sequence[tuple[Any, ...]]] = (
    [(1, -0.0, "", 5), (9, NAN, "z", -5), (3, None, None, None), (5, 2.5, "ab", 5)],
    [(2, 0.0, "a", 4), (8, 1.5, "", None), (4, -1.0, "b", -4)],
)
FILTERS = (
    *("id = 4", "id = 5", "id = 6", "id IN (6, 7)", "id <> 4", "id > 8", "id BETWEEN 6 AND 7"),
    *("d = 0.0", "d = -0.0", "d = double('NaN')", "d > 2.5", "d IS NULL", "d < 0", "NOT d = 1.5"),
    *("s = ''", "s = 'aa'", "s = 'b'", "s LIKE 'a%'", "s IS NULL", "s >= 'b'", "s IS NOT NULL"),
    *("n = 5", "n = 0", "n IS NULL", "n < -4", "n = 5 AND s = 'z'", "n = 5 OR s = 'b'", "NOT (n = 4 OR id = 1)"),
)
#: The format and the indexes of each table.
TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "plain": ("parquet", {}),
    "bloom": (
        "parquet",
        {"file-index.bloom-filter.columns": "id,d,s,n", "file-index.bloom-filter.id.items": "100"},
    ),
    "bitmap": ("orc", {"file-index.bitmap.columns": "id,d,s,n", "file-index.in-manifest-threshold": "1 kb"}),
    "rest": ("avro", {"file-index.bsi.columns": "id,n", "file-index.range-bitmap.columns": "d,s,n"}),
}


def answers(spark: SparkSession, lake: Lake, name: str) -> list[tuple[str, int, str]]:
    """The rows of every filter, in one job: the filter, the id and the row."""
    frames = (lake.read(spark, name, where=text).withColumn("filter", F.lit(text)) for text in FILTERS)
    return sorted((row["filter"], row["id"], repr(row)) for row in reduce(DataFrame.unionAll, frames).collect())


def opened(lake: Lake, name: str) -> dict[str, int]:
    """How many files each filter opens."""
    return {text: lake.explain_read(name, where=text).to_json()["kept"]["files"] for text in FILTERS}


def test_filters_give_the_same_rows_with_and_without_indexes(spark: SparkSession, lake: Lake) -> None:
    frames = [spark.createDataFrame(list(rows), "id bigint, d double, s string, n int").coalesce(1) for rows in ROWS]
    for name, (format, options) in TABLES.items():
        lake.tables.create_table("db", name, FIELDS, options={"file.format": format, **options})
        for frame in frames:
            lake.table(f"db.{name}").append(frame)
    expected = answers(spark, lake, "db.plain")
    needed = {text: len({id_ % 2 for asked, id_, _ in expected if asked == text}) for text in FILTERS}
    # Nobody looks up NaN in an index.
    needed["d = double('NaN')"] = 2
    files = {name: opened(lake, f"db.{name}") for name in TABLES}
    assert files["bitmap"] == files["rest"] == needed
    assert sum(needed.values()) < sum(files["bloom"].values()) < sum(files["plain"].values())
    for name in TABLES:
        assert answers(spark, lake, f"db.{name}") == expected, name
