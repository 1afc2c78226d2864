"""Binary rows, buckets and the order of keys as Spark computes them are those of the codec in Python."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st

from format.test_binary_row import GOLDEN
from format.written_columns import VALUES, Written, drawn
from lakebed.errors import UnsupportedError
from lakebed.format import binary_row
from lakebed.format.bucket_hash import bucket_of_row
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataType

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

TYPES = sorted(VALUES)
PLACE = {t: i for i, t in enumerate(TYPES)}
HASHED_BY_HIVE = ["BIGINT", "FLOAT", "DOUBLE", "DECIMAL(18, 18)", "DECIMAL(38, 4)", "STRING", "BYTES"]
#: Keys of several columns: each kind of type beside each other kind, values in the variable part before each other.
KEYS = [
    ("INT", "STRING"),
    ("STRING", "BYTES", "DECIMAL(38, 4)", "TIMESTAMP(6)", "STRING"),
    ("TIMESTAMP(9)", "DECIMAL(38, 38)", "BIGINT", "CHAR(3)"),
]
STAMPS = ("TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP(6) WITH LOCAL TIME ZONE")
NUMBERS = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "DATE", "TIME(3)", "BIGINT", "DECIMAL(18, 18)", "TIMESTAMP(3)")
BUCKETS: list[tuple[str, tuple[str, ...], int]] = [
    ("default", ("BIGINT",), 7),
    ("default", ("INT", "STRING"), 1000),
    ("default", NUMBERS, 2**31 - 1),
    ("mod", ("INT",), 5),
    ("mod", ("BIGINT",), 1000),
    *(("hive", (t,), 1_000_003) for t in HASHED_BY_HIVE),
    ("hive", ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "DATE", "TIME(3)", "DECIMAL(19, 0)"), 2**31 - 1),
]
#: A number whose words are all ones where the hash rotates them.
ALL_ONES = 6106562400106759247
#: What other settings of a session must not change.
OTHER_SESSION = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "America/New_York",
    # As users have it: tests have queries interpreted.
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.codegen.wholeStage": "true",
}


@pytest.fixture(scope="module")
def written() -> Written:
    """Generated rows, one of NULLs, and one for each value whose bytes are known from Java or hard to compute."""
    rows = drawn(st.tuples(*(st.none() | VALUES[t] for t in TYPES)), 200)
    java = [tuple(value if t == type_ else None for t in TYPES) for type_, value, _, _ in GOLDEN]
    powers = [
        tuple({"DOUBLE": math.nextafter(2.0**e, towards), "FLOAT": 2.0 ** (e % 276 - 149)}.get(t) for t in TYPES)
        for e, towards in zip(range(-1074, 1024, 5), cycle((-math.inf, math.inf)), strict=False)
    ]
    others = [(None,) * len(TYPES), tuple({"BIGINT": ALL_ONES}.get(t) for t in TYPES)]
    return Written.of(TYPES, [*rows, *others, *java, *powers])


@contextmanager
def _session(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    before = {key: spark.conf.get(key) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            spark.conf.set(key, old)


def _parsed(types: Sequence[str]) -> list[DataType]:
    return [parse(t) for t in types]


def _columns(types: Sequence[str]) -> list[Column]:
    from pyspark.sql import functions as F

    return [F.col(f"c{PLACE[t]}") for t in types]


def _of(row: Sequence[Any], types: Sequence[str]) -> list[Any]:
    return [row[PLACE[t]] for t in types]


def _made(spark: SparkSession, written: Written, columns: Sequence[Column], *, swapped: bool = False) -> list[Any]:
    """What the columns hold, a list a row."""
    frame = written.frame(spark, swapped=swapped).select("i", *columns)
    found = {row[0]: row[1:] for row in frame.collect()}
    return [found[i] for i in range(len(written.rows))]


def _check_rows(written: Written, found: Sequence[Sequence[Any]], keys: Sequence[tuple[str, ...]]) -> None:
    for row, made in zip(written.rows, found, strict=True):
        for key, data in zip(keys, made, strict=True):
            assert bytes(data).hex() == binary_row.encode(_parsed(key), _of(row, key)).hex(), (key, _of(row, key))


def test_rows_and_buckets_are_those_of_the_codec(spark: SparkSession, written: Written) -> None:
    from lakebed.spark.row_bytes import bucket_of, row_bytes

    keys = [*((t,) for t in TYPES), *KEYS]
    columns = [row_bytes(_columns(key), _parsed(key), prefix=True) for key in keys]
    columns += [bucket_of(_columns(key), _parsed(key), buckets, function) for function, key, buckets in BUCKETS]
    found = _made(spark, written, columns)
    _check_rows(written, [row[: len(keys)] for row in found], keys)
    for type_, values in zip(TYPES, zip(*found, strict=True), strict=False):
        java = [bytes.fromhex(data) for t, _, data, _ in GOLDEN if t == type_]
        assert not java or {bytes(value) for value in values}.issuperset(java), type_
    for row, made in zip(written.rows, found, strict=True):
        for (function, key, buckets), bucket in zip(BUCKETS, made[len(keys) :], strict=True):
            expected = bucket_of_row(_parsed(key), _of(row, key), buckets, function)
            assert (bucket, type(bucket)) == (expected, int), (function, key, _of(row, key))


def test_rows_are_the_same_in_another_session(spark: SparkSession, written: Written) -> None:
    from lakebed.spark.row_bytes import bucket_of, row_bytes

    key = ("STRING", "BYTES", "BIGINT", "DECIMAL(10, 2)", "DECIMAL(38, 38)", "DOUBLE", *STAMPS)
    numbers = ("INT", "BIGINT", "TIMESTAMP(3)")
    with _session(spark, OTHER_SESSION):
        columns = [
            row_bytes(_columns(key), _parsed(key), prefix=True),
            bucket_of(_columns(numbers), _parsed(numbers), 1000, "default"),
        ]
        found = _made(spark, written, columns, swapped=True)
    _check_rows(written, [row[:1] for row in found], [key])
    for row, (_, bucket) in zip(written.rows, found, strict=True):
        assert bucket == bucket_of_row(_parsed(numbers), _of(row, numbers), 1000)


@pytest.mark.parametrize("first", [0, 14])
def test_keys_sort_as_the_format_compares_them(spark: SparkSession, first: int) -> None:
    from lakebed.spark.row_bytes import sort_keys

    types = (TYPES[first:] + TYPES[:first])[:14]
    chosen = [st.sampled_from([None, *drawn(VALUES[t], 12)]) for t in types]
    zeros = [st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 1.0, None])] * 2
    written = Written.of(["DOUBLE", "FLOAT", *types], drawn(st.tuples(*zeros, *chosen), 200))
    from pyspark.sql import functions as F

    columns = [F.col(name) for name in written.names()]
    turned = [*range(2, len(columns)), 0, 1] if first else range(len(columns))
    keys = sort_keys([columns[i] for i in turned], [written.types[i] for i in turned])
    order = [row.i for row in written.frame(spark).sortWithinPartitions(*keys, "i").select("i").collect()]
    expected = sorted(range(len(written.rows)), key=lambda i: ([_order(written.rows[i][c]) for c in turned], i))
    assert order == expected


def _order(value: Any) -> Any:
    match value:
        case None:
            return (0,)
        case float() if math.isnan(value):
            return (2,)
        case float():
            return (1, value, math.copysign(1, value))
        case str():
            return (1, value.encode())
        case _:
            return (1, value)


def test_expressions_stay_small(spark: SparkSession) -> None:
    """Eight columns of the longest types are planned in a moment, and each value is not made anew for each byte."""
    from pyspark.sql import functions as F

    from lakebed.spark.row_bytes import row_bytes

    columns = [F.col(f"a{i}") for i in range(8)]
    for type_ in ("STRING", "DECIMAL(38, 4)"):
        text = str(row_bytes(columns, _parsed([type_]) * 8, prefix=True))
        assert len(text) < 200_000, (type_, len(text))


def test_what_cannot_be_a_key_is_refused(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    from lakebed.spark.row_bytes import bucket_of, row_bytes

    column = F.col("c")
    nested = parse('{"type": "ARRAY", "element": "INT"}')
    with pytest.raises(UnsupportedError) as e:
        row_bytes([column], [nested], prefix=False)
    assert e.value.code == "LB5021"
    with pytest.raises(UnsupportedError) as e:
        bucket_of([column], [parse("STRING")], 4, "mod")
    assert e.value.code == "LB6521"
