"""Runs casts through Spark over stored values and says the results as text, in the way of the shared vectors."""

from __future__ import annotations

import datetime
import decimal
import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from lakebed import physical
from lakebed.physical import paimon_types as p
from lakebed.spark.casts import cast_column

EPOCH = datetime.datetime(1970, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)

#: Where a value stands: alone, in a struct, in a list, as the value of a map.
SHAPES = ("column", "struct", "list", "map")


@dataclass(frozen=True, slots=True)
class Case:
    """One value and the types that it is stored and read as. `expected` is the text of the result, None for NULL."""

    source: str
    target: str
    value: str | None
    expected: str | None = None
    error: bool = False
    time_zone: str = "UTC"

    @property
    def types(self) -> tuple[p.DataType, p.DataType]:
        return physical.parse(self.source), physical.parse(self.target)

    def __str__(self) -> str:
        return f"{self.source} -> {self.target} of {self.value!r} in {self.time_zone}"


def spark_type(type_: p.DataType) -> T.DataType:
    """The scan type, said here once more so that these tests need nothing but the casts."""
    match type_:
        case p.Char() | p.VarChar():
            return T.StringType()
        case p.Binary() | p.VarBinary():
            return T.BinaryType()
        case p.Decimal():
            return T.DecimalType(type_.precision, type_.scale)
        case p.Time():
            return T.IntegerType()
        case p.Timestamp():
            return T.TimestampNTZType()
        case p.LocalZonedTimestamp():
            return T.TimestampType()
    names = {
        "BOOLEAN": T.BooleanType(),
        "TINYINT": T.ByteType(),
        "SMALLINT": T.ShortType(),
        "INT": T.IntegerType(),
        "BIGINT": T.LongType(),
        "FLOAT": T.FloatType(),
        "DOUBLE": T.DoubleType(),
        "DATE": T.DateType(),
    }
    return names[type_.root]


def stored(type_: p.DataType, text: str | None) -> Any:
    """The Python value that a text of the vectors stands for."""
    if text is None:
        return None
    match type_:
        case p.Boolean():
            return text == "true"
        case p.TinyInt() | p.SmallInt() | p.Int() | p.BigInt() | p.Time():
            return int(text)
        case p.Float() | p.Double():
            return float(text)
        case p.Decimal():
            return decimal.Decimal(text)
        case p.Binary() | p.VarBinary():
            return bytes.fromhex(text[2:]) if text.startswith("0x") else text.encode()
        case p.Date():
            return EPOCH.date() + datetime.timedelta(days=int(text))
        case p.Timestamp():
            return _datetime(text)
        case p.LocalZonedTimestamp():
            return _datetime(text.removesuffix("Z")).replace(tzinfo=datetime.UTC)
        case _:
            return text


def _datetime(text: str) -> datetime.datetime:
    # Spark holds microseconds; the rest of a stored value is cut when it is read.
    head, _, fraction = text.partition(".")
    return datetime.datetime.fromisoformat(head) + datetime.timedelta(microseconds=int(fraction[:6].ljust(6, "0")))


def raw(col: Column, type_: p.DataType) -> Column:
    """A result in a form that can be collected whatever its zone, its range and the formatting of Python."""
    match type_:
        case p.Float() | p.Double() | p.Timestamp():
            return col.cast("string")
        case p.Date():
            return F.unix_date(col)
        case p.LocalZonedTimestamp():
            return F.unix_micros(col)
        case _:
            return col


def as_text(value: Any, type_: p.DataType) -> str | None:
    """The text of a collected `raw` result in the way of the vectors."""
    if value is None:
        return None
    match type_:
        case p.Boolean():
            return "true" if value else "false"
        case p.Decimal():
            return f"{value:f}"
        case p.Binary() | p.VarBinary():
            return ",".join(str(byte) for byte in value)
        case p.Timestamp():
            return java_text(value)
        case p.LocalZonedTimestamp():
            return java_text((EPOCH + value * MICROSECOND).isoformat(sep=" "))
        case _:
            return str(value)


def java_text(text: str) -> str:
    """A wall clock as Java's `LocalDateTime` prints it: seconds only if needed, the fraction in groups of three."""
    head, _, fraction = text.replace(" ", "T").partition(".")
    digits = fraction.ljust(6, "0").removesuffix("000")
    return f"{head}.{digits}" if fraction else head.removesuffix(":00") if head.count(":") == 2 else head


@contextmanager
def session_settings(spark: SparkSession, **settings: str) -> Iterator[None]:
    """Sets options (`time_zone`, `ansi`) of the session for a while."""
    names = {"time_zone": "spark.sql.session.timeZone", "ansi": "spark.sql.ansi.enabled"}
    before = {names[key]: spark.conf.get(names[key]) for key in settings}
    for key, value in settings.items():
        spark.conf.set(names[key], value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is not None:
                spark.conf.set(name, value)


def store(spark: SparkSession, cases: Sequence[Case], path: Path) -> DataFrame:
    """One row in a Parquet file, with columns `c0`, `s0`, `l0`, `m0`, ... for the first case, and so on."""
    fields, row = [], []
    for i, case in enumerate(cases):
        type_, value = spark_type(case.types[0]), stored(case.types[0], case.value)
        fields += [
            T.StructField(f"c{i}", type_),
            T.StructField(f"s{i}", T.StructType([T.StructField("f", type_)])),
            T.StructField(f"l{i}", T.ArrayType(type_)),
            T.StructField(f"m{i}", T.MapType(T.StringType(), type_)),
        ]
        row += [value, (value,), [value], {"k": value}]
    schema = T.StructType(fields)
    spark.createDataFrame([tuple(row)], schema).coalesce(1).write.parquet(str(path))
    return spark.read.schema(schema).parquet(str(path))


def shaped(case: Case, i: int, on_error: str) -> Iterator[Column]:
    """The cast of one case in each of the `SHAPES`, every result brought back to a single value."""
    source, target = case.types

    def cast(col: Column) -> Column:
        return cast_column(col, source, target, time_zone=case.time_zone, on_error=on_error)

    struct, values, entries = F.col(f"s{i}"), F.col(f"l{i}"), F.col(f"m{i}")
    rebuilt = F.when(struct.isNotNull(), F.struct(cast(struct.getField("f")).alias("f")))
    yield raw(cast(F.col(f"c{i}")), target)
    yield raw(rebuilt.getField("f"), target)
    yield raw(F.transform(values, cast).getItem(0), target)
    yield raw(F.transform_values(entries, lambda _, value: cast(value)).getItem("k"), target)


def results(
    frame: DataFrame, cases: Sequence[Case], *, shapes: Iterable[str] = SHAPES, on_error: str = "null"
) -> list[dict[str, str | None]]:
    """The results of all cases as texts, by shape, in one Spark job."""
    wanted = tuple(shapes)
    columns = [
        column.alias(f"{shape}{i}")
        for i, case in enumerate(cases)
        for shape, column in zip(SHAPES, shaped(case, i, on_error), strict=True)
        if shape in wanted
    ]
    (row,) = frame.select(*columns).collect()
    return [{shape: as_text(row[f"{shape}{i}"], case.types[1]) for shape in wanted} for i, case in enumerate(cases)]


def batched(cases: Sequence[Case], size: int) -> Iterator[tuple[Case, ...]]:
    """The cases in groups of at most `size`."""
    remaining = iter(cases)
    while group := tuple(itertools.islice(remaining, size)):
        yield group
