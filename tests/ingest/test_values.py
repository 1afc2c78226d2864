"""What becomes of each value: the written value, or the code of its fault; the same under every session setting."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal as Number
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.node import Node
from lakebed.convert.paimon import to_paimon
from lakebed.ingest.columns.column_checks import CheckBuilder
from lakebed.ingest.columns.column_names import UnknownColumns
from lakebed.ingest.columns.values import Rules, TextFormats
from lakebed.ingest.sources.json_values import parse
from lakebed.ingest.sources.source_types import Json, SourceType, Text, from_spark
from lakebed.model import (
    Binary,
    Bool,
    Date,
    Decimal,
    Duration,
    Extra,
    Field,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    List,
    LogicalType,
    Map,
    Option,
    Schema,
    String,
    Struct,
    Time,
    Timestamp,
    TimeUnit,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
)
from lakebed.spark.clocks import instant_to_wall

pytestmark = pytest.mark.usefixtures("generated_code")

NULL, CAST, RANGE, DIGITS, LENGTH, ENUM, PATTERN, TWICE = (
    "LB6201",
    "LB6202",
    "LB6203",
    "LB6204",
    "LB6205",
    "LB6206",
    "LB6207",
    "LB6209",
)
SECOND, MILLI, MICRO, NANO = TimeUnit.SECOND, TimeUnit.MILLISECOND, TimeUnit.MICROSECOND, TimeUnit.NANOSECOND
TEXT, USUAL = Text(), TextFormats()
NEW_YORK = {
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def hinted(text: str) -> Extra:
    return Extra({"paimon.apache.org/type": text})


def instant(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


def outcomes(
    spark: SparkSession,
    type_: LogicalType,
    values: Sequence[str],
    *,
    extra: Extra = Extra(),
    source: SourceType | None = TEXT,
    zone: str = "UTC",
    formats: TextFormats = USUAL,
) -> list[Any]:
    """The written value of each source value, or its problems as `path code` texts.

    `values` are texts, JSON texts for the source `Json`, and SQL expressions for None. Timestamps are shown as text,
    those that are written as instants as their UTC clock.
    """
    schema = Schema((Field("c", Option(type_), extra),))
    (column,) = to_paimon(schema)
    builder = CheckBuilder(Rules(zone, formats), unknown=UnknownColumns.FAIL)
    given = F.array(*(F.expr(v) if source is None else F.lit(v) for v in values))
    frame = spark.sql("SELECT 1").select(F.posexplode(given).alias("pos", "x"))
    if isinstance(source, Json):
        frame = frame.select("pos", parse(F.col("x")).alias("x"))
    kind = from_spark(frame.schema["x"].dataType) if source is None else source
    checker = builder.checker(Node(("c",), column.type, schema.fields[0].type, extra), kind)
    assert builder.problems == []
    assert checker is not None
    x, v = F.col("x"), F.col("v")
    staged = frame.select("pos", "x", checker.value(x).alias("v"))
    shown = {
        "timestamp": instant_to_wall(v, "UTC").cast("string"),
        "timestamp_ntz": v.cast("string"),
    }.get(staged.schema["v"].dataType.simpleString(), v)
    bad = F.coalesce(checker.bad(x, v), F.lit(False))
    found = staged.select(
        "pos",
        F.when(~bad, shown).alias("value"),
        bad.alias("bad"),
        F.array_compact(checker.problems(x, v, F.lit("c"))).alias("problems"),
    )
    out: list[Any] = []
    for row in sorted(found.collect(), key=lambda row: row.pos):
        assert row.bad == bool(row.problems), row
        out.append([f"{p.path} {p.code}" for p in row.problems] if row.bad else row.value)
    return out


def check(spark: SparkSession, type_: LogicalType, cases: Mapping[Any, Any], **parts: Any) -> None:
    """Each case is a source value and what becomes of it; a text starting with LB is a code."""
    found = outcomes(spark, type_, list(cases), **parts)
    for (given, expected), got in zip(cases.items(), found, strict=True):
        wanted = [f"c {expected}"] if isinstance(expected, str) and expected.startswith("LB") else expected
        same = got == wanted or (isinstance(wanted, float) and math.isnan(wanted) and math.isnan(got))
        assert same, f"{given!r}: {got!r}, expected {wanted!r}"


@pytest.fixture(params=[{}, NEW_YORK], ids=["default", "new-york"], autouse=True)
def settings(request: pytest.FixtureRequest, conf: Any) -> None:
    conf(request.param)


@pytest.mark.parametrize(
    ("type_", "cases"),
    [
        (Bool(), {"true": True, "F": False, " yes ": True, "0": False, "2": CAST, "on": CAST, "": CAST}),
        (Int8(), {"127": 127, "-128": -128, "128": RANGE, "+5": 5, " 7 ": 7, "1.5": DIGITS, "": CAST, "x": CAST}),
        (Int16(), {"32767": 32767, "32768": RANGE}),
        (Int32(), {"2147483647": 2147483647, "2147483648": RANGE, "1e-3": DIGITS, "0x1": CAST, "1_0": CAST}),
        (Int32(), {" 1.0 ": 1, "-1e3": -1000, "1.50E1": 15, "1e10": RANGE, "1e": CAST, ".": CAST, "1e2e3": CAST}),
        (Int64(), {"9223372036854775807": 2**63 - 1, "-9223372036854775809": RANGE, "\u0661": CAST}),
        (Int64(), {"9223372036854775807.0": 2**63 - 1, "92233720368547758080e-1": RANGE, "1e30": RANGE}),
        (UInt8(), {"255": 255, "256": RANGE, "-1": RANGE, "99999": RANGE}),
        (UInt16(), {"65535": 65535, "65536": RANGE}),
        (UInt32(), {"4294967295": 4294967295, "4294967296": RANGE, "-1": RANGE}),
        (UInt64(), {str(2**64 - 1): Number(2**64 - 1), str(2**64): RANGE, "-1": RANGE, "1.5": DIGITS}),
        (Duration(), {"1500": 1500, "PT1S": CAST}),
        (
            Float64(),
            {
                "1.5": 1.5,
                "NaN": math.nan,
                "-Infinity": -math.inf,
                "inf": math.inf,
                "1e400": RANGE,
                "1e308": 1e308,
                ".5": 0.5,
                "1f": CAST,
                "2D": CAST,
                "0x1p3": CAST,
                "1,5": CAST,
                "": CAST,
            },
        ),
        (Float32(), {"0.5": 0.5, "1e39": RANGE, "NaN": math.nan}),
        (Float16(), {"65504": 65504.0, "70000": RANGE, "-70000": RANGE, "Infinity": math.inf, "NaN": math.nan}),
        (
            Decimal(10, 2),
            {
                "1.5": Number("1.50"),
                "1.005": DIGITS,
                "1.000": Number("1.00"),
                "-0.001": DIGITS,
                "12345678.99": Number("12345678.99"),
                "123456789": RANGE,
                "1e2": Number("100.00"),
                "15E-1": Number("1.50"),
                "1.5e-3": DIGITS,
                "5e-60": DIGITS,
                "0e5": Number("0.00"),
                "1.00000000000000000000000000000000000001": DIGITS,
                " 1.5 ": Number("1.50"),
                "abc": CAST,
                "": CAST,
                "NaN": CAST,
            },
        ),
        (Decimal(38, 0), {"9" * 37 + "e1": Number("9" * 37 + "0"), "9" * 37 + ".9e1": Number("9" * 38)}),
        (Decimal(38, 2), {"1." + "0" * 60 + "e0": Number("1.00"), "1" * 36 + "25e-2": Number("1" * 36 + ".25")}),
        (Decimal(38, 38), {"0.5": Number("0.5" + "0" * 37), "1": RANGE, "1e-3": Number("0.001"), "1e-39": DIGITS}),
        (Decimal(38, 0), {"9" * 38: Number("9" * 38), "1" + "0" * 38: RANGE, "1.5": DIGITS, "15e-1": DIGITS}),
        (String(), {"": "", " x ": " x ", "NaN": "NaN"}),
        (Date(), {
            "2024-02-29": date(2024, 2, 29),
            "2024-2-9": date(2024, 2, 9),
            " 2024-02-09 ": date(2024, 2, 9),
            "2023-02-29": CAST,
            "2024": CAST,
            "2024-02": CAST,
            "2024-01-01 10:00:00": CAST,
            "2024-01-01T": CAST,
            "+12024-01-01": CAST,
            "01/02/2024": CAST,
            "now": CAST,
            "19723": CAST,
        }),
        (Time(SECOND), {"10:11:12": 36672000, "7:05": 25500000, "10:11:12.5": DIGITS, "24:00:00": CAST}),
        (Time(MILLI), {"10:11:12.345": 36672345, "10:11:12.3456": DIGITS, "10:11:12.5000": 36672500, "36672": CAST}),
        (Time(MICRO), {"00:00:00.000001": 1, "23:59:59.999999": 86399999999, "00:00:00.0000001": DIGITS}),
        (Time(NANO), {"00:00:00.000000001": 1, "10:60": CAST}),
        (Timestamp(SECOND), {"2024-05-14T10:00:00Z": "2024-05-14 10:00:00", "2024-05-14T10:00:00.5Z": DIGITS}),
    ],
    ids=lambda v: str(v) if not isinstance(v, dict) else "",
)  # fmt: skip
def test_texts_become_values_or_faults(spark: SparkSession, type_: LogicalType, cases: dict[str, Any]) -> None:
    check(spark, type_, cases)


def test_an_explicit_zone_counts_and_without_one_the_lakes_zone_does(spark: SparkSession) -> None:
    cases = {
        "2024-05-14T10:00:00Z": "2024-05-14 10:00:00",
        "2024-05-14 10:00:00+02:00": "2024-05-14 08:00:00",
        "2024-05-14 10:00:00 America/New_York": "2024-05-14 14:00:00",
        "2024-05-14 10:00:00.123-03:30": "2024-05-14 13:30:00.123",
        "2024-05-14 10:00:00.1234Z": DIGITS,
        "2024-05-14 10:00:00.1230000Z": "2024-05-14 10:00:00.123",
        "10:00:00": CAST,
        "T10:00:00Z": CAST,
        "2024-05-14T24:00:00Z": CAST,
        "2024-05-14T10:00:00 Nowhere/Land": CAST,
        "now": CAST,
        "": CAST,
    }
    check(spark, Timestamp(), cases)
    wall = {
        "2024-05-14 10:00:00": "2024-05-14 14:00:00",
        "2024-05-14T10:00": "2024-05-14 14:00:00",
        "2024-01-14": "2024-01-14 05:00:00",
        "2024-03-10 02:30:00": "2024-03-10 07:30:00",  # the wall clock skips this half hour
        "2024-11-03 01:30:00": "2024-11-03 05:30:00",  # and shows this one twice
    }
    check(spark, Timestamp(), cases | wall, zone="America/New_York")
    check(spark, Timestamp(), {"2024-03-10 02:30:00": "2024-03-10 02:30:00"})


def test_a_column_without_zone_keeps_the_wall_clock_and_takes_no_zone(spark: SparkSession) -> None:
    cases = {
        "2024-03-10 02:30:00": "2024-03-10 02:30:00",
        "2024-03-10T02:30:00.123456": "2024-03-10 02:30:00.123456",
        "2024-03-10 02:30:00.1234567": DIGITS,
        "2024-03-10": "2024-03-10 00:00:00",
        "2024-03-10 02:30:00Z": CAST,
        "2024-03-10 02:30:00+00:00": CAST,
    }
    for zone in ("UTC", "America/New_York"):
        check(spark, Timestamp(MICRO), cases, extra=hinted("TIMESTAMP(6)"), zone=zone)
    short = {"2024-03-10 02:30:00.12": "2024-03-10 02:30:00.12", "2024-03-10 02:30:00.1234": DIGITS}
    check(spark, Timestamp(MILLI), short, extra=hinted("TIMESTAMP(3)"), zone="America/New_York")


def test_patterns_of_the_source_are_used_in_no_zone_but_the_lakes(spark: SparkSession) -> None:
    formats = TextFormats(date="dd.MM.yyyy", timestamp="dd.MM.yyyy HH:mm", wall_clock="yyyy/MM/dd HH:mm:ss.SSS")
    check(spark, Date(), {"09.02.2024": date(2024, 2, 9), "2024-02-09": CAST, "31.02.2024": CAST}, formats=formats)
    stamps = {"10.03.2024 02:30": "2024-03-10 07:30:00", "10.03.2024": CAST}
    check(spark, Timestamp(), stamps, formats=formats, zone="America/New_York")
    walls = {"2024/03/10 02:30:00.250": "2024-03-10 02:30:00.25"}
    check(spark, Timestamp(MICRO), walls, formats=formats, extra=hinted("TIMESTAMP(6)"), zone="America/New_York")
    zoned = TextFormats(timestamp="yyyy-MM-dd'T'HH:mm:ssXXX")
    check(spark, Timestamp(), {"2024-05-14T10:00:00+02:00": "2024-05-14 08:00:00"}, formats=zoned, zone="Asia/Tokyo")


def test_numbers_may_have_names_of_the_sources_own(spark: SparkSession) -> None:
    formats = TextFormats(nan="n/a", infinity="lots", minus_infinity="-lots")
    check(spark, Float64(), {"n/a": math.nan, "lots": math.inf, "-lots": -math.inf, "1": 1.0}, formats=formats)


@pytest.mark.parametrize(
    ("type_", "extra", "cases"),
    [
        (String(), hinted("VARCHAR(2)"), {"ab": "ab", "abc": LENGTH, "äöü": LENGTH, "😀😀": "😀😀"}),
        (String(), hinted("CHAR(3)"), {"ab": "ab", "abcd": LENGTH}),
        (Binary(), Extra(), {"ab": b"ab"}),
        (Binary(2), Extra(), {"ab": b"ab", "a": LENGTH, "äb": LENGTH}),
        (Binary(), hinted("VARBINARY(2)"), {"a": b"a", "abc": LENGTH}),
        (String(), Extra({"lakebed.dev/enum": ["a", "b'"]}), {"a": "a", "b'": "b'", "A": ENUM}),
        (Int32(), Extra({"lakebed.dev/enum": [1, 20]}), {"1": 1, "020": 20, "2": ENUM, "x": CAST}),
        (Date(), Extra({"lakebed.dev/enum": ["2024-01-01"]}), {"2024-1-1": date(2024, 1, 1), "2024-01-02": ENUM}),
        (String(), Extra({"lakebed.dev/pattern": "[a-z]+|[0-9]"}), {"abc": "abc", "77": PATTERN, "a\n": PATTERN}),
    ],
)  # fmt: skip
def test_lengths_lists_and_patterns(
    spark: SparkSession, type_: LogicalType, extra: Extra, cases: dict[str, Any]
) -> None:
    check(spark, type_, cases, extra=extra)


@pytest.mark.parametrize(
    ("type_", "cases"),
    [
        (Int8(), {"cast(127 as bigint)": 127, "cast(128 as bigint)": RANGE}),
        (UInt8(), {"-1": RANGE, "255": 255}),
        (Int32(), {"1.0D": 1, "1.5D": DIGITS, "double('NaN')": CAST, "double('inf')": RANGE, "1e10D": RANGE}),
        (Int32(), {"1.00BD": 1, "1.50BD": DIGITS}),
        (Int64(), {"cast(1 as decimal(38,18))": 1, "cast(0.5 as decimal(38,18))": DIGITS}),
        (Decimal(5, 2), {"cast(999 as int)": Number("999.00"), "cast(1000 as int)": RANGE}),
        (Decimal(5, 2), {"1.25D": Number("1.25"), "0.1D + 0.2D": DIGITS, "1e6D": RANGE, "double('NaN')": CAST}),
        (Decimal(5, 2), {"cast(1.005 as decimal(10,3))": DIGITS, "cast(1.01 as decimal(10,3))": Number("1.01")}),
        (Decimal(38, 2), {"cast('1.005' as decimal(38,18))": DIGITS, "cast('1.01' as decimal(38,18))": Number("1.01")}),
        (UInt64(), {"cast(-1 as bigint)": RANGE, "cast(1 as bigint)": Number(1)}),
        (Float64(), {"cast(9007199254740993 as bigint)": DIGITS, "cast(9007199254740992 as bigint)": 2.0**53}),
        (Float32(), {"16777217": DIGITS, "16777216": 16777216.0}),
        (Float32(), {"1e39D": RANGE, "0.5D": 0.5, "double('inf')": math.inf, "double('NaN')": math.nan}),
        (Float64(), {"float(0.5)": 0.5}),
        (String(), {"1.50BD": "1.50", "cast(2 as decimal(3,2))": "2.00"}),
        (String(), {"true": "true"}),
        (String(), {"date'2024-01-02'": "2024-01-02"}),
        (String(), {"cast(X'ff' as string)": CAST, "'ok'": "ok"}),
        (String(), {"X'6f6b'": "ok", "X'ff'": CAST}),
        (Binary(), {"X'00ff'": b"\x00\xff"}),
        (Date(), {"timestamp_ntz'2024-01-02'": date(2024, 1, 2), "timestamp_ntz'2024-01-02 00:00:01'": DIGITS}),
        (Date(), {"timestamp'2024-01-02 05:00:00Z'": date(2024, 1, 2), "timestamp'2024-01-02 00:00:00Z'": DIGITS}),
        (Timestamp(), {"timestamp'2024-01-02 05:00:00.123Z'": "2024-01-02 05:00:00.123"}),
        (Timestamp(), {"timestamp'2024-01-02 05:00:00.123456Z'": DIGITS}),
        (Timestamp(), {"timestamp_ntz'2024-03-10 02:30:00'": "2024-03-10 07:30:00"}),
        (Timestamp(), {"date'2024-01-02'": "2024-01-02 05:00:00"}),
        (Time(), {"cast(86399999 as int)": 86399999, "86400000": RANGE, "-1": RANGE}),
        (Time(SECOND), {"1000": 1000, "1500": DIGITS}),
        (Duration(), {"cast(5 as bigint)": 5}),
    ],
)  # fmt: skip
def test_typed_sources_become_values_or_faults(spark: SparkSession, type_: LogicalType, cases: dict[str, Any]) -> None:
    check(spark, type_, cases, source=None, zone="America/New_York")


def test_typed_wall_clocks(spark: SparkSession) -> None:
    cases = {
        "timestamp'2024-07-02 04:00:00Z'": "2024-07-02 00:00:00",
        "timestamp'1969-12-31 23:59:59.999999Z'": "1969-12-31 18:59:59.999999",
    }
    check(spark, Timestamp(MICRO), cases, source=None, extra=hinted("TIMESTAMP(6)"), zone="America/New_York")


POINT = Struct((Field("x", Int32()), Field("y z", Option(List(Int8())))))


def test_nested_json_is_checked_at_every_level(spark: SparkSession) -> None:
    type_ = List(Struct((Field("k", Int32()), Field("m", Option(Map(Int16(), Option(POINT)))))))
    cases = {
        '[{"k": 1}, {"k": "2", "m": {"1": {"x": 5, "y z": [1, 2]}, "2": null}}]': None,
        '[{"k": "a"}, null, {"m": {"1": {"x": null}}}]': [
            f"c[0].k {CAST}",
            f"c[1] {NULL}",
            f"c[2].k {NULL}",
            f"c[2].m['1'].x {NULL}",
        ],
        '[{"k": 1, "m": {"1": {"x": 1, "y z": [1, 300]}, "70000": null}}]': [
            f"c[0].m.keys[1] {RANGE}",
            f"c[0].m['1'].`y z`[1] {RANGE}",
        ],
        '[{"k": 1, "m": {"1": null, "01": null}}]': [f"c[0].m {TWICE}"],
        '{"k": 1}': [f"c {CAST}"],
        '[{"k": {"deep": 1}, "m": []}]': [f"c[0].k {CAST}", f"c[0].m {CAST}"],
        "null": None,
        "[]": [],
    }  # fmt: skip
    found = outcomes(spark, type_, list(cases), source=Json())
    first = found[0]
    assert [r.k for r in first] == [1, 2]
    assert first[0].m is None
    assert first[1].m == {1: (5, [1, 2]), 2: None}
    assert found[1:] == list(cases.values())[1:]


def test_json_text_in_a_cell_is_read(spark: SparkSession) -> None:
    found = outcomes(spark, List(Int32(), 2), ["[1,2]", "[1]", "[1,2", '"x"', "null", "[1,2] x"])
    assert found[0] == [1, 2]
    assert found[1:] == [[f"c {LENGTH}"], [f"c {CAST}"], [f"c {CAST}"], None, [f"c {CAST}"]]


def test_typed_nested_sources(spark: SparkSession) -> None:
    type_ = List(Struct((Field("k", Int8()), Field("gone", Option(String())))))
    found = outcomes(spark, type_, ["array(named_struct('k', 1))", "array(named_struct('k', 1000))"], source=None)
    assert found == [[(1, None)], [f"c[0].k {RANGE}"]]
    found = outcomes(spark, Map(String(), Int8()), ["map('a', 1)", "map('b', 1000)"], source=None)
    assert found == [{"a": 1}, [f"c['b'] {RANGE}"]]


def test_json_numbers_keep_their_digits(spark: SparkSession) -> None:
    digits = "0.1234567890123456789012345"
    cases = {digits: Number(digits), "1.50": Number("1.5"), '"2.5"': Number("2.5")}
    check(spark, Decimal(30, 25), cases, source=Json())
    check(spark, Int32(), {"5.0": 5, "5.5": DIGITS, "5e1": 50, "true": CAST, '"6"': 6}, source=Json())
    check(spark, Float64(), {"NaN": math.nan, "1e2": 100.0, '"Infinity"': math.inf}, source=Json())
    check(spark, Binary(), {'"AP8="': b"\x00\xff", '"%%"': CAST}, source=Json())
    check(spark, String(), {'"a"': "a", "7": "7", '{"a":1}': '{"a":1}'}, source=Json())
