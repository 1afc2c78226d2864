"""`lake.read(where=, limit=)` gives what `read().where()` gives, and opens only the files that can hold it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import lakebed
from read.keyed_tables import DELETE, INSERT, KeyedTable, Record
from read.lakes import declare, got, manifest, put

OPTIONAL = "{{name: {}, type: {{kind: Option, inner: {}}}{}}}"


def opened(frame: DataFrame) -> int:
    """How many files a DataFrame reads."""
    return len(frame.inputFiles())


def numbered(frames: Sequence[DataFrame]) -> list[tuple[int, str]]:
    """The rows of several DataFrames by one query, with the number of each, sorted."""
    texts = [frame.select(F.lit(i).alias("i"), F.to_json(F.struct("*")).alias("row")) for i, frame in enumerate(frames)]
    return sorted((row.i, row.row) for row in reduce(DataFrame.union, texts).collect())


def check(spark: Any, lake: lakebed.Lake, conditions: Sequence[str], **travel: Any) -> list[int]:
    """Both ways of filtering `db.t` give the same for each condition; how many files each opens."""
    full = lake.read(spark, "db.t", **travel)
    rows = spark.createDataFrame(full.collect(), full.schema)
    frames = [lake.read(spark, "db.t", where=condition, **travel) for condition in conditions]
    assert numbered(frames) == numbered([rows.where(condition) for condition in conditions])
    return [opened(frame) for frame in frames]


def fields(*columns: tuple[str, str], **renamed: str) -> str:
    """Optional columns as lines of a manifest; `renamed` gives old names."""
    extra = {new: f", extra: {{lakebed.dev/renamedFrom: {old}}}" for new, old in renamed.items()}
    return "\n".join(OPTIONAL.format(name, type_, extra.get(name, "")) for name, type_ in columns)


@pytest.fixture(scope="module")
def evolved(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> lakebed.Lake:
    """Partitions 0, 1, NULL and three schemas: `v` is renamed to `w`, `k` widened, the names `a` and `w` swapped."""
    warehouse = tmp_path_factory.mktemp("needed") / "warehouse"
    warehouse.mkdir()
    lake = lakebed.open(warehouse)
    head = "  partitionKeys: [p]\n"
    declare(lake, manifest(fields(("p", "Int32"), ("k", "Int32"), ("v", "Int32"), ("a", "String")), keys=head))
    rows = [(p, k, k * 10 if k % 4 else None, f"t{k}") for p in (0, 1) for k in range(10)]
    put(lake, spark, rows, "p int, k int, v int, a string")
    second = [("p", "Int32"), ("k", "Int64"), ("w", "Int32"), ("a", "String"), ("z", "Int32")]
    declare(lake, manifest(fields(*second, w="v"), keys=head))
    rows = [(p, k + 100, k, f"u{k}", 7) for p in (0, 1) for k in range(10)]  # type: ignore[misc]
    put(lake, spark, rows, "p int, k bigint, w int, a string, z int")
    third = [("p", "Int32"), ("k", "Int64"), ("a", "Int32"), ("w", "String"), ("z", "Int32")]
    declare(lake, manifest(fields(*third, a="w", w="a"), keys=head))
    put(lake, spark, [(1, 2**40, None, "x", None), (None, 5, 5, "y", 9)], "p int, k bigint, a int, w string, z int")
    return lake


CONDITIONS = {
    "p = 1": 3,
    "p IS NULL": 1,
    "p >= 1 AND k > 1000": 1,
    "k = 105": 2,
    "a = 50": 2,
    "w LIKE 'u%'": 2,
    "z = 7": 2,
    "z IS NULL AND p = 0": 1,
    "z > 8 OR k = 1099511627776": 2,
    "NOT (p = 0 OR k < 50)": 2,
    "k IN (1, 5) AND p <=> NULL": 1,
    "rand() < 2 AND p = 0": 2,
    "a IS NOT NULL AND k > 1000": 0,
    "FALSE": 0,
}


def test_a_filter_that_is_given_to_the_read(spark: Any, evolved: lakebed.Lake) -> None:
    assert check(spark, evolved, list(CONDITIONS)) == list(CONDITIONS.values())


def test_older_states_and_pinned_schemas(spark: Any, evolved: lakebed.Lake) -> None:
    assert check(spark, evolved, ["v = 50", "a = 't3' AND p = 0", "k > 9"], snapshot=1) == [2, 1, 0]
    assert check(spark, evolved, ["v > 40", "a >= 'u'"], schema=0) == [2, 4]


def test_a_limit_needs_few_files(spark: Any, evolved: lakebed.Lake) -> None:
    read = evolved.read
    assert opened(read(spark, "db.t", limit=3)) == 1
    frames = [read(spark, "db.t", where=w, limit=n) for w, n in (("k >= 100", 15), ("k > 104", 2), ("p = 7", 2))]
    counts = [0] * len(frames)
    for number, _ in numbered(frames):
        counts[number] += 1
    assert counts == [15, 2, 0]
    assert [opened(f) for f in frames] == [2, 3, 0]


def test_a_value_that_cannot_be_cast_in_a_file_that_is_not_needed(spark: Any, lake: lakebed.Lake) -> None:
    declare(lake, manifest(fields(("k", "Int32"), ("v", "String"))))
    put(lake, spark, [(1, "no number")], "k int, v string")
    put(lake, spark, [(2, "22")], "k int, v string")
    declare(lake, manifest(fields(("k", "Int32"), ("v", "Int32"))))
    assert got(lake.read(spark, "db.t", where="k = 2")) == [(2, 22)]
    with pytest.raises(Exception, match="no number"):
        lake.read(spark, "db.t", where="v = 22").collect()


def test_a_mistake_in_a_filter_is_reported_by_spark(spark: Any, evolved: lakebed.Lake) -> None:
    for condition in ("no_such = 1", "p = (", "p = 'x' +"):
        with pytest.raises(Exception, match=r"UNRESOLVED_COLUMN|PARSE_SYNTAX_ERROR"):
            evolved.read(spark, "db.t", where=condition)


COLUMNS = {"k": ("INT", pa.int32()), "v": ("INT", pa.int32())}


def test_old_rows_of_a_key_do_not_come_back(spark: Any, tmp_path: Path) -> None:
    """Random files of one bucket that overlap: what a filter on values would leave out may hold the newer row."""
    chance = random.Random(11)
    made = KeyedTable(tmp_path, "t", COLUMNS)
    number = 0
    for start in (0, 5, 20, 24, 60):
        keys = sorted(chance.sample(range(start, start + 10), 6))
        records = [
            Record(DELETE if chance.random() < 0.2 else INSERT, number + i, {"k": k, "v": number + i})
            for i, k in enumerate(keys)
        ]
        number += 100
        made.add(records)
    made.commit()
    lake = lakebed.open(tmp_path)
    conditions = ["v < 100", "v >= 400", "k = 7", "k > 40", "k < 15 AND v < 105", "k BETWEEN 21 AND 30"]
    files = check(spark, lake, conditions)
    # What one file or section cannot hold is not opened; the section as a whole is.
    assert files[3] == 1
    assert max(files) <= 5


def test_the_fallback_branch_gives_partitions_that_the_main_branch_lacks(spark: Any, lake: lakebed.Lake) -> None:
    declare(lake, manifest(fields(("p", "Int32"), ("k", "Int32")), keys="  partitionKeys: [p]\n"))
    put(lake, spark, [(1, 10), (2, 20), (3, 30)], "p int, k int")
    lake.tags("db.t").create("then")
    lake.branches("db.t").create("b", tag="then")
    lake.tables.alter_table("db", "t", [{"action": "setOption", "key": "scan.fallback-branch", "value": "b"}])
    conditions = ["p = 1", "k = 20", "k > 100", "p > 1 AND k < 30"]
    assert check(spark, lake, conditions) == [1, 1, 0, 1]
