"""Laws over many values, against models in Python."""

from __future__ import annotations

import datetime
import decimal
import random
import zoneinfo
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from casts.evaluation import session_settings
from lakebed import physical
from lakebed.spark.casts import cast_column

RANDOM = random.Random(20130101)
BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
EPOCH = datetime.datetime(1970, 1, 1)


def low_bits(value: int, bits: int) -> int:
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def evaluate(
    spark: SparkSession,
    values: Sequence[Any],
    ddl: str,
    source: str,
    targets: Sequence[str],
    time_zone: str = "UTC",
    **parts: Any,
) -> list[list[Any]]:
    frame = spark.createDataFrame(list(enumerate(values)), f"i int, v {ddl}").repartition(1)
    parsed = physical.parse(source)
    columns = [
        cast_column(F.col("v"), parsed, physical.parse(target), time_zone=time_zone, **parts).alias(f"c{j}")
        for j, target in enumerate(targets)
    ]
    rows = sorted(frame.select("i", *columns).collect())
    return [[row[j + 1] for row in rows] for j in range(len(targets))]


def near_powers(bits: int, count: int) -> list[int]:
    edges = [sign * 2**k + d for k in range(bits) for sign in (1, -1) for d in (-1, 0, 1)]
    drawn = [RANDOM.getrandbits(bits) - 2 ** (bits - 1) for _ in range(count)]
    return [v for v in edges + drawn if -(2 ** (bits - 1)) <= v < 2 ** (bits - 1)]


@pytest.mark.parametrize("source", ["SMALLINT", "INT", "BIGINT"])
def test_integers_keep_their_low_bits(spark: SparkSession, source: str) -> None:
    values = near_powers(BITS[source], 200)
    targets = [t for t in BITS if t != source]
    found = evaluate(spark, values, source.lower(), source, targets)
    for target, column in zip(targets, found, strict=True):
        assert column == [low_bits(v, BITS[target]) for v in values], target


def test_decimals_become_integers_by_their_whole_part(spark: SparkSession) -> None:
    """With as many digits as there are: Python's usual 28 would leave wide decimals without their fractions."""
    exact = decimal.Context(prec=60)
    targets = list(BITS)
    for precision, scale in ((38, 6), (38, 18), (38, 19), (20, 1), (19, 0)):
        drawn = [RANDOM.randrange(-(10**precision) + 1, 10**precision) for _ in range(60)]
        unscaled = [*drawn, *(sign * (10**precision - 1) for sign in (1, -1)), -1, 1, 0]
        around = [2**63 + d for d in (-1, 0, 1)] + [2**64 + d for d in (-1, 0, 1)]
        unscaled += [sign * v * 10**scale + d for v in around for sign in (1, -1) for d in (-1, 0, 1)]
        values = [decimal.Decimal(v).scaleb(-scale, exact) for v in unscaled if abs(v) < 10**precision]
        of = f"({precision}, {scale})"
        found = evaluate(spark, values, f"decimal{of}", f"DECIMAL{of}", targets)
        for target, column in zip(targets, found, strict=True):
            wanted = [low_bits(int(v), BITS[target]) for v in values]
            wrong = [(v, w, c) for v, w, c in zip(values, wanted, column, strict=True) if w != c]
            assert wrong == [], f"{of} to {target}"


def test_floating_point_numbers_saturate(spark: SparkSession) -> None:
    values = [RANDOM.choice((1, -1)) * 10 ** RANDOM.uniform(-3, 25) for _ in range(300)]

    def saturated(value: float, bits: int) -> int:
        return max(-(2 ** (bits - 1)), min(2 ** (bits - 1) - 1, int(value)))

    models: dict[str, Callable[[float], int]] = {
        "BIGINT": lambda v: saturated(v, 64),
        "INT": lambda v: saturated(v, 32),
        "SMALLINT": lambda v: low_bits(saturated(v, 32), 16),
        "TINYINT": lambda v: low_bits(saturated(v, 32), 8),
    }
    found = evaluate(spark, values, "double", "DOUBLE", list(models))
    for (target, model), column in zip(models.items(), found, strict=True):
        assert column == [model(v) for v in values], target


def test_decimals_round_half_up_or_are_null(spark: SparkSession) -> None:
    values = [decimal.Decimal(RANDOM.randrange(-(10**12) + 1, 10**12)).scaleb(-4) for _ in range(300)]
    values += [decimal.Decimal(k).scaleb(-4) for k in range(-99_960, 99_961, 330)]

    def model(value: decimal.Decimal, precision: int, scale: int) -> decimal.Decimal | None:
        rounded = value.quantize(decimal.Decimal(1).scaleb(-scale), decimal.ROUND_HALF_UP)
        return rounded if abs(rounded) < 10 ** (precision - scale) else None

    shapes = [(3, 1), (8, 0), (9, 3), (20, 10), (12, 4)]
    found = evaluate(spark, values, "decimal(12,4)", "DECIMAL(12, 4)", [f"DECIMAL({p}, {s})" for p, s in shapes])
    for (p, s), column in zip(shapes, found, strict=True):
        assert column == [model(v, p, s) for v in values], (p, s)


def test_numbers_survive_text(spark: SparkSession) -> None:
    integers = near_powers(64, 100)
    (texts,) = evaluate(spark, integers, "bigint", "BIGINT", ["STRING"])
    assert texts == list(map(str, integers))
    assert evaluate(spark, texts, "string", "STRING", ["BIGINT"]) == [integers]
    doubles = [RANDOM.uniform(-1, 1) * 10.0 ** RANDOM.randrange(-300, 300) for _ in range(100)]
    (texts,) = evaluate(spark, doubles, "double", "DOUBLE", ["STRING"])
    assert evaluate(spark, texts, "string", "STRING", ["DOUBLE"]) == [doubles]


def in_decimal(text: str, precision: int, scale: int) -> decimal.Decimal | None:
    """The number that a text writes, where a DECIMAL holds it, without writing its zeros out."""
    number = decimal.Decimal(text)
    if number and number.adjusted() >= precision:
        return None
    with decimal.localcontext(prec=2000, rounding=decimal.ROUND_HALF_UP):
        rounded = (
            number.quantize(decimal.Decimal(1).scaleb(-scale))
            if number and number.adjusted() > -60
            else decimal.Decimal(0)
        )
    return rounded if abs(rounded) < decimal.Decimal(10) ** (precision - scale) else None


def test_exponents_of_any_size_are_nothing_or_too_much(spark: SparkSession) -> None:
    mantissas = ("1", "-9.9", "7" * 60, "0", "-0.00", "1" + "0" * 900)
    powers = (0, 1, 2, 38, 40, 99, 899, 9999, 99_999, 999_999_999)
    texts = [f"{m}{e}{n:0{width}}" for m in mantissas for e in ("e", "E-") for width in (1, 10) for n in powers]
    foreign = ["1.2.3e-999999999", ".e-99999", "1e-9999f", "0e5d", "x", "1e", "1e-" + "\u0669" * 9]
    sizes = [(5, 2), (38, 10), (38, 38), (20, 0)]
    targets = [f"DECIMAL({p}, {s})" for p, s in sizes] + ["DOUBLE"]
    *found, doubles = evaluate(spark, texts + foreign, "string", "STRING", targets, on_error="null")
    for (precision, scale), column in zip(sizes, found, strict=True):
        wanted = [in_decimal(text, precision, scale) for text in texts]
        assert column == wanted + [None] * len(foreign), (precision, scale)
    assert doubles[: len(texts)] == [float(text) for text in texts]


def test_digits_alone_are_units_of_the_precision(spark: SparkSession) -> None:
    """As in the newest Java; 0.9 refuses them, and versions after it took them for milliseconds at every precision."""
    number, signed = 1_700_000_000, ["-128", "+128", "-0"]
    targets = {"TIMESTAMP(0)": 0, "TIMESTAMP(3)": 3, "TIMESTAMP(6)": 6, "TIMESTAMP(9)": 9}
    values = [str(number), f"000{number}", *signed]
    none = ["TIMESTAMP(1)", "TIMESTAMP(3) WITH LOCAL TIME ZONE"]
    frame = spark.createDataFrame(list(enumerate(values)), "i int, v string").repartition(1)

    def read(target: str) -> Column:
        types = physical.parse("STRING"), physical.parse(target)
        return cast_column(F.col("v"), *types, time_zone="UTC", on_error="null").alias(target)

    found = sorted(frame.select("i", *map(read, (*targets, *none)), F.unix_date(read("DATE")).alias("day")).collect())
    for target, digits in targets.items():
        moment = EPOCH + datetime.timedelta(microseconds=number * 10**6 // 10**digits)
        assert [row[target] for row in found] == [moment, moment, *[None] * len(signed)], target
    assert all(row[target] is None for row in found for target in none)
    assert [row["day"] for row in found] == [number, number, *[None] * len(signed)]


def wall_clocks(count: int) -> list[datetime.datetime]:
    span = datetime.timedelta(days=365 * 140)
    drawn = [datetime.datetime(1900, 1, 1) + RANDOM.random() * span for _ in range(count)]
    # Around the changes of clocks in the zones below.
    days = [datetime.datetime(2024, m, d, 0, 30, 15, 250_125) for m, d in ((3, 10), (3, 31), (10, 27), (11, 3))]
    changes = [day + datetime.timedelta(hours=h) for day in days for h in range(5)]
    edges = [EPOCH + k * datetime.timedelta(microseconds=1) for k in (-1_000_001, -1001, -1000, -999, -1, 0, 1, 999)]
    return drawn + changes + edges


@pytest.mark.parametrize("session_zone", ["America/New_York", "Australia/Lord_Howe"])
@pytest.mark.parametrize("time_zone", ["UTC", "America/New_York", "Europe/Berlin", "+05:45"])
def test_wall_clocks_and_instants_name_their_zone(spark: SparkSession, session_zone: str, time_zone: str) -> None:
    zone: datetime.tzinfo = (
        datetime.timezone(datetime.timedelta(hours=5, minutes=45))
        if time_zone.startswith("+")
        else zoneinfo.ZoneInfo(time_zone)
    )
    walls = wall_clocks(100)
    with session_settings(spark, time_zone=session_zone):
        frame = spark.createDataFrame(list(enumerate(walls)), "i int, w timestamp_ntz").repartition(1)
        wall, instant = physical.parse("TIMESTAMP(6)"), physical.parse("TIMESTAMP(6) WITH LOCAL TIME ZONE")
        there = frame.select("i", cast_column(F.col("w"), wall, instant, time_zone=time_zone).alias("t"))
        text = physical.parse("STRING")
        back = there.select(
            "i",
            F.unix_micros("t").alias("micros"),
            cast_column(F.col("t"), instant, wall, time_zone=time_zone).alias("w"),
            F.unix_date(cast_column(F.col("t"), instant, physical.parse("DATE"), time_zone=time_zone)).alias("d"),
            cast_column(F.col("t"), instant, physical.parse("TIME(3)"), time_zone=time_zone).alias("ms"),
            cast_column(F.col("t"), instant, text, time_zone=time_zone).alias("s"),
        )
        rows = sorted(back.collect())
    for row, value in zip(rows, walls, strict=True):
        there_and_back = value.replace(tzinfo=zone).astimezone(datetime.UTC).astimezone(zone).replace(tzinfo=None)
        since = value.replace(tzinfo=zone) - EPOCH.replace(tzinfo=datetime.UTC)
        assert row.micros == since // datetime.timedelta(microseconds=1), value
        assert row.w == there_and_back
        assert row.d == (there_and_back - EPOCH).days
        assert row.ms == ((there_and_back - EPOCH) % datetime.timedelta(days=1)) // datetime.timedelta(milliseconds=1)
        assert row.s == there_and_back.strftime("%Y-%m-%d %H:%M:%S.%f")


def test_lower_precision_cuts(spark: SparkSession) -> None:
    values = wall_clocks(200)

    def model(value: datetime.datetime, precision: int) -> datetime.datetime:
        micros = (value - EPOCH) // datetime.timedelta(microseconds=1)
        if precision >= 3:
            unit = 10 ** (6 - precision)
            return EPOCH + datetime.timedelta(microseconds=micros // unit * unit)
        unit = 10 ** (3 - precision)
        millis = micros // 1000
        return EPOCH + datetime.timedelta(milliseconds=(abs(millis) // unit * unit) * (1 if millis >= 0 else -1))

    found = evaluate(spark, values, "timestamp_ntz", "TIMESTAMP(6)", [f"TIMESTAMP({p})" for p in range(6)])
    for precision, column in enumerate(found):
        assert column == [model(v, precision) for v in values], precision


def test_seconds_of_wall_clocks_come_back(spark: SparkSession) -> None:
    seconds = [RANDOM.randrange(-(2**31), 2**31) for _ in range(100)]
    (stamps,) = evaluate(spark, seconds, "bigint", "BIGINT", ["TIMESTAMP(3)"], "America/New_York")
    assert stamps == [EPOCH + datetime.timedelta(seconds=s) for s in seconds]
    assert evaluate(spark, stamps, "timestamp_ntz", "TIMESTAMP(3)", ["BIGINT", "INT"]) == [seconds, seconds]


def test_dates_times_and_timestamps_survive_text(spark: SparkSession) -> None:
    values = wall_clocks(100)
    stamp = "TIMESTAMP(6)"
    (texts,) = evaluate(spark, values, "timestamp_ntz", stamp, ["STRING"])
    assert evaluate(spark, texts, "string", "STRING", [stamp]) == [values]
    assert evaluate(spark, [t.replace(" ", "T") for t in texts], "string", "STRING", [stamp]) == [values]
    days = [v.date() for v in values]
    (texts,) = evaluate(spark, days, "date", "DATE", ["STRING"])
    assert evaluate(spark, texts, "string", "STRING", ["DATE"]) == [days]
    times = [RANDOM.randrange(86_400_000) for _ in range(100)] + [0, 1, 100, 86_399_999]
    (texts,) = evaluate(spark, times, "int", "TIME(3)", ["STRING"])
    assert evaluate(spark, texts, "string", "STRING", ["TIME(3)"]) == [times]
