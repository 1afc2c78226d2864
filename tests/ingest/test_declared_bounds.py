"""The least and the greatest value of a column: what a manifest takes for one, and which rows are bad."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from decimal import Decimal as Number
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ingest.ingest_lake import SmallLake
from ingest.test_values import outcomes
from lakebed.errors import SourceMismatchError
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.model import (
    Date,
    Decimal,
    Extra,
    Field,
    Float32,
    Float64,
    Int8,
    Int32,
    List,
    LogicalType,
    Option,
    String,
    Struct,
    Time,
    Timestamp,
    TimeUnit,
)
from lakebed.model.extra import MAXIMUM, MINIMUM, PAIMON_TYPE
from lakebed.model.value_order import order_of


def digits(chance: random.Random, most: int) -> str:
    return "".join(chance.choice("0159") for _ in range(chance.randint(1, most)))


def number(chance: random.Random) -> str:
    whole, part = digits(chance, 5), chance.choice(["", ".", "." + digits(chance, 4)])
    return chance.choice(["", "-", "+"]) + whole + part + chance.choice(["", "", "", "e1", "E-2"])


def day(chance: random.Random) -> str:
    month, of_month = chance.choice(["1", "02", "12", "13", "00"]), chance.choice(["1", "01", "28", "29", "31", "32"])
    return f"{chance.choice(['0001', '1900', '2023', '2024', '9998', '24'])}-{month}-{of_month}"


def clock(chance: random.Random) -> str:
    hour, minute = chance.choice(["0", "08", "23", "24"]), chance.choice(["00", "5", "59", "60"])
    return f"{hour}:{minute}" + chance.choice(["", ":07", ":60", ":07.5", ":07.123", ":07.123000", ":07.1234"])


def stamp(chance: random.Random) -> str:
    on = day(chance)
    at = chance.choice([" ", "T", "  "]) + clock(chance)
    zone = chance.choice(["", "", "Z", "+02:00", "-05:30", "+18:00", "+19:00", "+2:00", " Z", "+"])
    return on + chance.choice(["", at + zone, at + zone, at + zone])


TEXTS: list[tuple[LogicalType, Callable[[random.Random], str]]] = [
    (Decimal(6, 2), number),
    (Date(), day),
    (Time(TimeUnit.MILLISECOND), clock),
    (Timestamp(), stamp),
]


@pytest.mark.parametrize(("type_", "text"), TEXTS, ids=["decimal", "date", "time", "timestamp"])
def test_a_text_that_a_manifest_takes_is_a_value_of_the_column_in_the_same_place(
    spark: SparkSession, type_: LogicalType, text: Callable[[random.Random], str]
) -> None:
    chance, order = random.Random(7), order_of(type_)
    assert order is not None
    texts = sorted({text(chance) for _ in range(300)})
    taken = [(t, rank) for t in texts if (rank := order.rank(t)) is not None]
    assert 20 < len(taken) < len(texts)
    found = outcomes(spark, type_, [t for t, _ in taken])
    assert not [(t, v) for (t, _), v in zip(taken, found, strict=True) if isinstance(v, list)]
    by_rank: dict[Any, Any] = {}
    for (_, rank), value in zip(taken, found, strict=True):
        # One place, one value: the lake of `outcomes` is in UTC, so that wall clocks are instants.
        assert by_rank.setdefault(rank.place, value) == value
    in_order = [by_rank[place] for place in sorted(by_rank)]
    assert in_order == sorted(set(in_order))


def bounded(name: str, type_: LogicalType, low: Any = None, high: Any = None) -> Field:
    said = {MINIMUM: low, MAXIMUM: high}
    return Field(name, type_, Extra({key: value for key, value in said.items() if value is not None}))


ONE = Struct((bounded("n", Int8(), 1, 3), Field("s", Option(String()))))
FIELDS = (
    Field("id", Int32()),
    bounded("i", Option(Int32()), -5, 7),
    bounded("f", Option(Float64()), 0),
    bounded("g", Option(Float32()), None, 0.1),
    bounded("d", Option(Decimal(6, 2)), "0.10", "9.99"),
    bounded("at", Option(Timestamp()), "2024-01-01 00:00:00", "2024-05-31T08:30:00+02:00"),
    Field("one", Option(ONE)),
    Field("all", Option(List(ONE))),
)
BELOW, ABOVE = "LB6211", "LB6212"
#: A value of a column, and the code of what is wrong with it.
VALUES: dict[str, list[tuple[Any, str | None]]] = {
    "i": [(-6, BELOW), (-5, None), (7, None), (8, ABOVE), (None, None)],
    "f": [(0, None), (-0.0, None), (-5e-324, BELOW), ("Infinity", None), ("-Infinity", BELOW), ("NaN", BELOW)],
    "g": [(0.1, None), (0.10000001, ABOVE), ("NaN", ABOVE), ("-Infinity", None)],
    "d": [("0.10", None), ("0.09", BELOW), (9.99, None), ("10", ABOVE)],
    "at": [("2023-12-31T23:59:59.999Z", BELOW), ("2024-05-31T06:30:00Z", None), ("2024-05-31 06:30:00.001", ABOVE)],
    "one": [({"n": 0}, BELOW), ({"n": 1}, None), ({"n": 4}, ABOVE), (None, None)],
    "all": [([{"n": 3}, {"n": 0}], BELOW), ([], None), ([{"n": 1}], None)],
}
PATHS = {"one": "one.n", "all": "all[1].n"}


def test_rows_are_bad_where_a_value_lies_outside(lake: SmallLake) -> None:
    lake.create(*FIELDS)
    cases = [(name, value, code) for name, values in VALUES.items() for value, code in values]
    rows = [{"id": i, name: value} for i, (name, value, _) in enumerate(cases)]
    expected = {(PATHS.get(name, name), code) for name, _, code in cases if code is not None}
    result = lake.ingest(lake.file("a.json", "\n".join(map(json.dumps, rows))))
    assert {row["id"] for row in lake.rows()} == {i for i, case in enumerate(cases) if case[2] is None}
    assert result.rows_quarantined == sum(code is not None for _, _, code in cases)
    assert {(p["path"], p["code"]) for row in lake.bad() for p in row["problems"]} == expected
    told = {p["expected"] for row in lake.bad() for p in row["problems"] if p["path"] == "i"}
    assert told == {"-5 or more", "7 or less"}


def test_rows_of_a_frame_and_of_csv_are_held_to_the_same_bounds(lake: SmallLake) -> None:
    lake.create(FIELDS[0], FIELDS[4], FIELDS[2])
    frame = lake.spark.sql(
        "select * from values (1, 0.099BD, 1d), (2, 9.99BD, double('NaN')), (3, 1BD, 0d) t(id, d, f)"
    )
    with pytest.raises(BadRowsError) as error:
        lake.ingest(frame, max_bad_rows=1)
    assert {(d.code, d.path) for d in error.value.diagnostics[1:]} == {("LB6204", "d"), (BELOW, "f")}
    assert lake.ingest(lake.file("a.csv", "id,d,f\n1,0.09,NaN\n2,9.99,1\n")).rows_written == 1
    assert {(p, c) for p, c, _ in lake.problems()} == {("d", BELOW), ("f", BELOW)}


@pytest.mark.parametrize(
    ("field", "code"),
    [
        (bounded("x", Option(Int8()), 300), "LB6142"),
        (bounded("x", Option(Decimal(4, 2)), None, "0.005"), "LB6142"),
        (bounded("x", Option(String()), "a"), "LB6142"),
        (Field("x", Option(Date()), Extra({"lakebed.dev/enum": ["2024-02-30"]})), "LB6142"),
        (
            Field("x", Option(Timestamp()), Extra({MINIMUM: "2024-01-01T00:00:00Z", PAIMON_TYPE: "TIMESTAMP(3)"})),
            "LB6142",
        ),
        (Field("x", Int8(), Extra({MINIMUM: 5, "lakebed.dev/default": 4})), None),
        (Field("x", Option(Int8()), Extra({MINIMUM: 5, "lakebed.dev/default": 4})), "LB6116"),
    ],
)
def test_what_a_schema_declares_has_to_be_of_the_column(lake: SmallLake, field: Field, code: str | None) -> None:
    """A manifest cannot say these; other forms can, and a comparison with NULL would let every row pass."""
    lake.create(FIELDS[0], field)
    source = lake.file("a.csv", "id,x\n1,\n")
    if code is None:
        assert lake.ingest(source).rows_quarantined == 1
        return
    with pytest.raises(SourceMismatchError) as error:
        lake.ingest(source)
    assert [(d.code, d.path) for d in error.value.diagnostics] == [(code, "x")]


def test_a_place_is_told_for_values_of_the_type_only() -> None:
    for type_, others in ((Decimal(3, 1), [True, None, "NaN", "1e400", "100", 100]), (Int8(), ["1", True, 128, 0.5])):
        order = order_of(Option(type_))
        assert order is not None
        assert [order.rank(value) for value in others] == [None] * len(others)
    order = order_of(Decimal(38, 0))
    assert order is not None
    assert [order.rank(t) is None for t in ("0", "-0.0", "1e37", "1e38", "0.1", "9" * 38)] == [
        *[False] * 3,
        True,
        True,
        False,
    ]
    rank = order.rank("12.0")
    assert rank is not None
    assert rank.place == Number(12)
