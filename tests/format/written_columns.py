"""Make columns of generated values, as they are when rows are written, for expressions that are checked in Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from lakebed.physical import parse
from lakebed.physical.paimon_types import DataType

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_EXACT = Context(prec=100)
_I16, _I32, _I64 = (st.integers(-(2**n), 2**n - 1) for n in (15, 31, 63))
_EDGES = st.sampled_from([e * s for e in (0, 1, 127, 128, 255, 256, 2**31 - 1, 2**32, 2**53 + 1) for s in (1, -1)])
#: Around the powers of two, where a logarithm rounds to the wrong side, and down to the smallest number.
_NEAR_POWERS = st.builds(
    lambda e, n, s: s * (2.0**e + n * 2.0 ** max(e - 53, -1074)),
    *(st.integers(-1074, 1023), st.integers(-2, 2), st.sampled_from([1, -1])),
)
_SINGLES = st.builds(lambda e, s: s * 2.0**e, st.integers(-149, 127), st.sampled_from([1, -1]))
#: Of the many NaNs, which Spark does not tell apart, there is Java's alone.
_SPECIAL = st.sampled_from([0.0, -0.0, float("inf"), float("-inf"), float("nan")])
#: Microseconds of the years that a date may have, around 1970 above all.
_MICROS = st.integers(-(10**7), 10**7) | st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)
_TEXTS = st.text(max_size=20) | st.text("aä€😀\0", max_size=9)


def _decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    most = 10**precision - 1
    digits = st.integers(-most, most) | st.integers(-300, 300) | st.sampled_from([most, -most])
    edges = st.builds(
        lambda n, d, s: s * (256**n // 2 + d), st.integers(0, 16), st.integers(-2, 2), st.sampled_from([1, -1])
    )
    return (digits | edges).map(lambda n: Decimal(max(-most, min(most, n))).scaleb(-scale, _EXACT))


def _nanos(step: int) -> st.SearchStrategy[int]:
    return _MICROS.map(lambda micros: micros // step * step * 1000)


#: Type -> its values, as binary rows hold them.
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "BOOLEAN": st.booleans(),
    "TINYINT": st.integers(-128, 127),
    "SMALLINT": _I16,
    "INT": _I32 | st.integers(-300, 300),
    "BIGINT": _I64 | _EDGES,
    "FLOAT": st.floats(width=32, allow_nan=False) | _SPECIAL | _SINGLES,
    "DOUBLE": st.floats(allow_nan=False) | _SPECIAL | _NEAR_POWERS,
    "DECIMAL(10, 2)": _decimals(10, 2),
    "DECIMAL(18, 18)": _decimals(18, 18),
    "DECIMAL(19, 0)": _decimals(19, 0),
    "DECIMAL(38, 4)": _decimals(38, 4),
    "DECIMAL(38, 38)": _decimals(38, 38),
    "DATE": st.integers(-719_162, 2_932_896),
    "TIME(3)": st.integers(0, 86_399_999),
    "TIMESTAMP(3)": _nanos(1000),
    "TIMESTAMP(6)": _nanos(1),
    "TIMESTAMP(9)": _nanos(1),
    "TIMESTAMP(3) WITH LOCAL TIME ZONE": _nanos(1000),
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": _nanos(1),
    "CHAR(3)": st.text(max_size=3),
    "STRING": _TEXTS,
    "BINARY(8)": st.binary(max_size=8),
    "BYTES": st.binary(max_size=24),
}


@dataclass(frozen=True, slots=True)
class Written:
    """Rows of values of `types`: as binary rows hold them, and as columns c0, c1, ... of a DataFrame."""

    types: tuple[DataType, ...]
    rows: Sequence[tuple[Any, ...]]

    @classmethod
    def of(cls, types: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Written:
        return cls(tuple(parse(t) for t in types), rows)

    def names(self) -> list[str]:
        return [f"c{i}" for i in range(len(self.types))]

    def frame(self, spark: SparkSession, *, swapped: bool = False) -> DataFrame:
        """One partition with a column `i` of row numbers. `swapped`: timestamps in the other of their two forms."""
        schema = ", ".join(
            ("i int", *(f"{n} {_given_as(t)[0]}" for n, t in zip(self.names(), self.types, strict=True)))
        )
        rows = [
            (i, *(None if v is None else _given_as(t)[1](v) for t, v in zip(self.types, row, strict=True)))
            for i, row in enumerate(self.rows)
        ]
        given = spark.createDataFrame(rows, schema).coalesce(1)
        columns = [_column(given[n], t, swapped).alias(n) for n, t in zip(self.names(), self.types, strict=True)]
        return given.select("i", *columns)


def _given_as(type_: DataType) -> tuple[str, Callable[[Any], Any]]:
    """The Spark type that values are given to Spark as, and how."""

    def same(value: Any) -> Any:
        return value

    match type_.root:
        case "TINYINT" | "SMALLINT" | "INT" | "DATE" | "TIME":
            return "int", same
        case "FLOAT" | "DOUBLE":
            return "double", same
        case "DECIMAL":
            return str(type_), same
        case "CHAR" | "VARCHAR":
            return "string", same
        case "BINARY" | "VARBINARY":
            return "binary", bytearray
        case "BOOLEAN" | "BIGINT":
            return type_.root, same
        case _:
            return "bigint", lambda nanos: nanos // 1000


def _column(given: Column, type_: DataType, swapped: bool) -> Column:
    from pyspark.sql import functions as F

    from lakebed.spark.clocks import UTC, instant_to_wall

    match type_.root:
        case "TINYINT" | "SMALLINT" | "FLOAT":
            return given.cast(type_.root.lower())
        case "DATE":
            return F.date_from_unix_date(given)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            instant = F.timestamp_micros(given)
            is_wall = (type_.root == "TIMESTAMP") != swapped
            return instant_to_wall(instant, UTC) if is_wall else instant
        case _:
            return given


def drawn(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    """So many examples, the same in each run, with what Hypothesis likes to try."""
    found: list[Any] = []

    @settings(max_examples=count, phases=[Phase.generate], database=None)
    @given(strategy)
    def take(value: Any) -> None:
        found.append(value)

    take()
    return found
