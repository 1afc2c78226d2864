"""The encoding of rows: what is encoded decodes to the same Arrow value, and the texts are the agreed ones."""

import datetime
import decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referees.encoding import arrow_rows, arrow_table, shortest_float

EXAMPLES = [
    (pa.float32(), 0.1, 0.1),
    (pa.float64(), float("nan"), "NaN"),
    (pa.float32(), float("-inf"), "-Infinity"),
    (pa.decimal128(10, 2), decimal.Decimal("1.50"), "1.50"),
    (pa.decimal128(38, 10), decimal.Decimal("1E-10"), "0.0000000001"),
    (pa.binary(), b"\x00\xff", "hex:00ff"),
    (pa.date32(), datetime.date(1969, 12, 31), "1969-12-31"),
    (pa.time32("ms"), datetime.time(1, 2, 3), "01:02:03"),
    (pa.timestamp("ns"), -1, "1969-12-31T23:59:59.999999999"),
    (pa.timestamp("ms", "Europe/Berlin"), 1, "1970-01-01T00:00:00.001000000Z"),
    (pa.timestamp("s"), -62135596800, "0001-01-01T00:00:00.000000000"),
    (pa.list_(pa.int32()), [1, None], [1, None]),
    (pa.list_(pa.int32(), 2), [1, 2], [1, 2]),
    (pa.map_(pa.string(), pa.int32()), [("b", 1), ("a", None)], [["a", None], ["b", 1]]),
    (pa.struct([("x", pa.int32()), ("y", pa.date32())]), {"x": 1, "y": datetime.date(2024, 2, 29)}, [1, "2024-02-29"]),
    (pa.dictionary(pa.int8(), pa.string()), "a", "a"),
]


@pytest.mark.parametrize(("kind", "value", "text"), EXAMPLES, ids=lambda v: str(v)[:24])
def test_a_value_has_the_agreed_form(kind: pa.DataType, value: object, text: object) -> None:
    # The row before and the slice show that offsets of sliced arrays are heeded.
    table = pa.table({"v": pa.array([value, None, value], type=kind)}).slice(1)
    assert arrow_rows(table) == [[None], [text]]


@pytest.mark.parametrize(("kind", "value", "text"), EXAMPLES[:-1], ids=lambda v: str(v)[:24])
def test_the_form_decodes_to_the_value(kind: pa.DataType, value: object, text: object) -> None:
    made = arrow_table([[text], [None]], pa.schema([("v", kind)]))
    assert arrow_rows(made) == [[text], [None]]
    assert made.column("v").type == kind


def test_nested_rows_may_be_objects() -> None:
    kind = pa.list_(pa.struct([("at", pa.timestamp("us")), ("n", pa.decimal128(4, 1))]))
    made = arrow_table([{"v": [{"n": "1.5", "at": "2024-01-01T00:00:00.123456"}, None]}], pa.schema([("v", kind)]))
    assert arrow_rows(made) == [[[["2024-01-01T00:00:00.123456000", "1.5"], None]]]


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_the_shortest_float_is_the_same_float(value: float) -> None:
    kind = pa.float32()
    assert pa.array([shortest_float(value)], type=kind) == pa.array([value], type=kind)
