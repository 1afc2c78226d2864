"""The bounds of every logical type: what is at them comes back exactly, what is beyond them is quarantined."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal as Number
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pyspark.sql import SparkSession

import lakebed
from lakebed.convert.row_schema import to_row_schema
from lakebed.errors import ValidationError
from lakebed.model import Field, LogicalType, Option, Schema, TimeUnit
from lakebed.model import types as m
from lakebed.render.rows import row_encoder

S, MS, US, NS = TimeUnit
DIGITS = "9" * 38
DAY_NS = 86_400 * 10**9


def stamp(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


#: A type; what a source says and what is read, low and high; what is refused.
CASES: list[tuple[LogicalType, list[tuple[Any, Any]], list[Any]]] = [
    (m.Bool(), [(True, True), (False, False)], [2]),
    (m.Int8(), [(-128, -128), (127, 127)], [-129, 128]),
    (m.Int16(), [(-(2**15), -(2**15)), (2**15 - 1, 2**15 - 1)], [2**15]),
    (m.Int32(), [(-(2**31), -(2**31)), (2**31 - 1, 2**31 - 1)], [2**31]),
    (m.Int64(), [(-(2**63), -(2**63)), (2**63 - 1, 2**63 - 1)], [2**63]),
    (m.UInt8(), [(0, 0), (255, 255)], [-1, 256]),
    (m.UInt16(), [(0, 0), (2**16 - 1, 2**16 - 1)], [-1, 2**16]),
    (m.UInt32(), [(0, 0), (2**32 - 1, 2**32 - 1)], [-1, 2**32]),
    (m.UInt64(), [(0, Number(0)), (2**64 - 1, Number(2**64 - 1))], [-1, 2**64]),
    (m.Float16(), [(-65504.0, -65504.0), (65504, 65504.0)], [65520]),
    (m.Float32(), [(-3.4028234663852886e38, -3.4028234663852886e38), (0.5, 0.5)], [3.5e38]),
    (m.Float64(), [(-1.7976931348623157e308, -1.7976931348623157e308), (5e-324, 5e-324)], ["1e309"]),
    (m.Decimal(38, 0), [(f"-{DIGITS}", Number(f"-{DIGITS}")), (DIGITS, Number(DIGITS))], [f"1{DIGITS}", "0.5"]),
    (m.Decimal(38, 38), [(f"0.{DIGITS}", Number(f"0.{DIGITS}")), ("0", Number(0))], ["1"]),
    (m.String(), [("", ""), ("\U0010ffff", "\U0010ffff")], []),
    (m.Binary(), [("", bytearray()), ("/wA=", bytearray(b"\xff\x00"))], ["?"]),
    (m.Binary(2), [("/wA=", bytearray(b"\xff\x00"))] * 2, ["", "AAAA"]),
    (m.Date(), [("0001-01-01", date(1, 1, 1)), ("9999-12-31", date(9999, 12, 31))], ["2023-02-29"]),
    (m.Time(S), [("00:00:00", 0), ("23:59:59", 86_399_000)], ["23:59:59.5", "24:00:00"]),
    (m.Time(MS), [("00:00:00.001", 1), ("23:59:59.999", 86_399_999)], ["00:00:00.0001"]),
    (m.Time(US), [("00:00:00.000001", 1), ("23:59:59.999999", DAY_NS // 1000 - 1)], ["00:00:00.0000001"]),
    (m.Time(NS), [("00:00:00.000000001", 1), ("23:59:59.999999999", DAY_NS - 1)], ["25:00:00"]),
    (m.Timestamp(S), [("1900-01-01T00:00:01Z", stamp(1900, 1, 1, 0, 0, 1))] * 2, ["2020-01-01T00:00:00.5Z"]),
    (m.Timestamp(MS), [("2020-01-01T00:00:00.001Z", stamp(2020, 1, 1, 0, 0, 0, 1000))] * 2, ["2020-01-01 x"]),
    (m.Timestamp(US), [("2020-01-01T00:00:00.000001Z", stamp(2020, 1, 1, 0, 0, 0, 1))] * 2, ["soon"]),
    *((m.Duration(u), [(-(2**63), -(2**63)), (2**63 - 1, 2**63 - 1)], [2**63, "PT1S"]) for u in TimeUnit),
    (m.List(m.UInt8(), 2), [([0, 255], [0, 255])] * 2, [[1], [1, 2, 3], [1, 256]]),
    (m.List(Option(m.UInt64())), [([2**64 - 1, None], [Number(2**64 - 1), None])] * 2, [[-1]]),
    (m.Map(m.String(), m.UInt8(), True), [({"a": 255}, {"a": 255})] * 2, [{"a": 256}]),
    (m.Struct((Field("x", m.UInt32()),)), [({"x": 2**32 - 1}, (2**32 - 1,))] * 2, [{"x": -1}, {"x": 2**32}]),
]
SCHEMA = Schema((Field("n", m.Int32()), *(Field(f"c{i}", Option(type_)) for i, (type_, _, _) in enumerate(CASES))))


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    (tmp_path / "warehouse").mkdir()
    lake = lakebed.open(tmp_path / "warehouse")
    lake.tables.create_table("db", "t", SCHEMA.fields)
    return lake


def rows() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two rows of values at the bounds, and a row for each value beyond them, whose number says which."""
    good = [{"n": n, **{f"c{i}": ends[n][0] for i, (_, ends, _) in enumerate(CASES)}} for n in range(2)]
    bad = [(i, value) for i, (_, _, refused) in enumerate(CASES) for value in refused]
    return good, [{"n": 100 + n, f"c{i}": value} for n, (i, value) in enumerate(bad)]


@pytest.mark.usefixtures("generated_code")
def test_the_bounds_of_every_type(spark: SparkSession, lake: lakebed.Lake, tmp_path: Path) -> None:
    assert {type(case[0]) for case in CASES} == set(m.ALL_TYPES) - {m.Null, Option}
    good, bad = rows()
    source = tmp_path / "rows.json"
    source.write_text("".join(json.dumps(row) + "\n" for row in (*good, *bad)))
    result = lake.ingest(spark, "db.t", str(source))
    kept = lake.read(spark, "db.t")
    columns = sorted(kept.collect(), key=lambda row: row.n)
    assert [row.n for row in columns] == [0, 1], "values beyond the bounds were taken"
    assert result.rows_quarantined == len(bad), "values beyond the bounds were taken"
    for n, row in enumerate(columns):
        for i, (type_, ends, _) in enumerate(CASES):
            found = row[f"c{i}"]
            found = found.astimezone(UTC) if isinstance(found, datetime) else found
            assert found == ends[n][1], f"{type_} was {ends[n][0]!r} and is read as {found!r}"
    validator = jsonschema.Draft202012Validator(to_row_schema(SCHEMA)[0])
    encode = row_encoder(kept.schema, "UTC")
    for value in (*good, *(dict(zip(kept.columns, encode(row), strict=True)) for row in columns)):
        validator.validate(value)


@pytest.mark.parametrize("type_", [m.Decimal(39, 0), m.Decimal(5, -2), m.Decimal(5, 6), m.Null()])
def test_types_that_no_table_holds_are_refused(lake: lakebed.Lake, type_: LogicalType) -> None:
    with pytest.raises(ValidationError) as caught:
        lake.tables.create_table("db", "u", [Field("a", type_)])
    assert caught.value.code in ("LB2101", "LB2102")
