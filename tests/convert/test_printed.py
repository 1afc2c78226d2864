"""Schemas that are only printed: Parquet's text, which PyArrow's own files bear out, and the JSON Schema of rows."""

from __future__ import annotations

import io
import re
from typing import Any

import jsonschema
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from lakebed.convert.arrow import to_arrow
from lakebed.convert.parquet_text import to_parquet_text
from lakebed.convert.row_schema import to_row_schema
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, LogicalType, Option, Schema, TimeUnit
from lakebed.model import types as m
from lakebed.testing import paimon_types

LEAF = re.compile(r"^(REQUIRED|OPTIONAL) (\w+)(?: \((\d+)\))? \w+(?: \((.*)\))?;$")
S, MS, US, NS = TimeUnit


def columns(text: str) -> list[tuple[str, int]]:
    """Physical type and length of each leaf of a text."""
    found = [LEAF.match(line.strip()) for line in text.splitlines()]
    return [(leaf[2], int(leaf[3] or 0)) for leaf in found if leaf]


def written(schema: Schema) -> list[tuple[str, int]]:
    """The same of the file that PyArrow writes."""
    buffer = io.BytesIO()
    arrow, _ = to_arrow(schema, strict=False)
    pq.write_table(arrow.empty_table(), buffer, store_decimal_as_integer=True)
    leaves = pq.ParquetFile(buffer).schema
    return [(leaf.physical_type, max(leaf.length, 0)) for leaf in map(leaves.column, range(len(leaves)))]


@given(paimon_types())
def test_the_text_has_the_columns_that_pyarrow_writes(type_: LogicalType) -> None:
    renamed = _plainly_named(type_)
    schema = Schema((Field("a", renamed),))
    assert columns(to_parquet_text(schema)[0]) == written(schema)


def test_decimals_have_the_bytes_that_pyarrow_gives_them() -> None:
    schema = Schema(tuple(Field(f"c{digits}", m.Decimal(digits, 0)) for digits in range(1, 77)))
    assert columns(to_parquet_text(schema)[0]) == written(schema)


def _plainly_named(type_: LogicalType) -> LogicalType:
    match type_:
        case m.Struct():
            return m.Struct(tuple(Field(f"f{i}", _plainly_named(f.type)) for i, f in enumerate(type_.fields)))
        case Option():
            return Option(_plainly_named(type_.inner))
        case m.List():
            return m.List(_plainly_named(type_.item_type), type_.fixed_length)
        case m.Map():
            return m.Map(_plainly_named(type_.key_type), _plainly_named(type_.value_type), type_.keys_sorted)
    return type_


def test_what_the_text_does_not_say_is_reported() -> None:
    fields = (
        Field("a", m.Timestamp(MS, "Europe/Paris"), Extra({"x.org/y": 1})),
        Field("b", m.Time(S)),
        Field("c", m.Duration(US)),
        Field("d", m.List(m.Int8(), 3)),
        Field("e", m.Map(Option(m.String()), m.Int8(), True)),
    )
    _, report = to_parquet_text(Schema(fields, Extra({"x.org/z": 1})))
    assert [loss.path for loss in report.losses] == ["", "a", "a", "b", "c", "d", "e", "e.key"]


@pytest.mark.parametrize("type_", [m.Struct(()), m.Decimal(5, -1), m.Decimal(5, 6), Option(Option(m.Int8()))])
def test_what_parquet_cannot_hold(type_: LogicalType) -> None:
    with pytest.raises(ConversionError) as caught:
        to_parquet_text(Schema((Field("a", m.List(type_)),)))
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [("LB2408", "a.element")]


ROW = Schema(
    (
        Field("a", m.UInt8(), Extra({"opendatafabric.org/description": "d", "lakebed.dev/default": 3})),
        Field("b", Option(m.String()), Extra({"lakebed.dev/pattern": "[a-z]+|7"})),
        Field("c", Option(m.Map(m.Int32(), m.Float64())), Extra({"x.org/y": [None]})),
        Field("d", Option(m.List(m.Struct((Field("e", m.Decimal(5, 2)),)), 2))),
        Field("f", Option(m.String()), Extra({"lakebed.dev/enum": ["x", "y"]})),
    )
)


@pytest.mark.parametrize(
    ("row", "valid"),
    [
        ({"a": 255}, True),
        ({"a": 256}, False),
        ({}, False),
        ({"a": None}, False),
        ({"a": 1, "z": 1}, False),
        ({"a": 1, "b": "abc"}, True),
        ({"a": 1, "b": "7"}, True),
        ({"a": 1, "b": "abc7"}, False),
        ({"a": 1, "b": None}, True),
        ({"a": 1, "c": [[1, 0.5], [2, "NaN"]]}, True),
        ({"a": 1, "c": [[1]]}, False),
        ({"a": 1, "c": [["x", 1.0]]}, False),
        ({"a": 1, "d": [{"e": "1.50"}, {"e": 2}]}, True),
        ({"a": 1, "d": [{"e": "1.50"}]}, False),
        ({"a": 1, "d": [{"e": "x"}, {"e": 2}]}, False),
        ({"a": 1, "f": "x"}, True),
        ({"a": 1, "f": "z"}, False),
    ],
)
def test_the_json_schema_of_rows(row: dict[str, Any], valid: bool) -> None:
    schema, report = to_row_schema(ROW)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert jsonschema.Draft202012Validator(schema).is_valid(row) is valid
    assert schema["properties"]["a"]["description"] == "d"
    assert schema["properties"]["a"]["default"] == 3
    assert schema["properties"]["c"]["x-odf"] == {"extra": {"x.org/y": [None]}}
    assert not report, "what no keyword says is under x-odf"


def valid(type_: LogicalType, value: Any, extra: Extra = Extra()) -> bool:
    schema, _ = to_row_schema(Schema((Field("a", type_, extra),)))
    return bool(jsonschema.Draft202012Validator(schema).is_valid({"a": value}))


@pytest.mark.parametrize(
    ("type_", "low", "high"),
    [
        *((t, -(2 ** (b - 1)), 2 ** (b - 1) - 1) for t, b in ((m.Int8(), 8), (m.Int16(), 16), (m.Int32(), 32))),
        (m.Int64(), -(2**63), 2**63 - 1),
        *((t, 0, 2**b - 1) for t, b in ((m.UInt8(), 8), (m.UInt16(), 16), (m.UInt32(), 32), (m.UInt64(), 64))),
    ],
)
def test_whole_numbers_have_the_ends_of_their_types(type_: LogicalType, low: int, high: int) -> None:
    assert [valid(type_, n) for n in (low - 1, low, high, high + 1)] == [False, True, True, False]
    assert not valid(type_, 0.5)
    assert valid(Option(type_), None)


@pytest.mark.parametrize("type_", [m.Int32(), Option(m.Int32()), m.Float64(), Option(m.Float32())])
def test_declared_bounds_of_numbers_are_those_of_the_values(type_: LogicalType) -> None:
    low, high = {"lakebed.dev/minimum": -2}, {"lakebed.dev/maximum": 5}
    for said, expected in ((low, (-2, 9)), (high, (-9, 5)), ({**low, **high}, (-2, 5)), ({}, (-9, 9))):
        found = [n for n in range(-9, 10) if valid(type_, n, Extra(said))]
        assert found == list(range(expected[0], expected[1] + 1))
    if isinstance(m.required(type_), (m.Float32, m.Float64)):
        names = ("NaN", "Infinity", "-Infinity")
        for said, taken in ((low, ["Infinity"]), (high, ["-Infinity"]), ({**low, **high}, []), ({}, list(names))):
            assert [name for name in names if valid(type_, name, Extra(said))] == taken


@pytest.mark.parametrize("length", [0, 1, 3])
def test_a_list_of_a_fixed_length_has_just_that(length: int) -> None:
    lists = [m.List(m.Int32(), length), m.List(m.Option(m.Int32()), length)]
    for type_ in (*lists, m.List(lists[0], length)):
        item: Any = [1] * length if type_.item_type == lists[0] else 1
        sizes = (length - 1, length, length + 1) if length else (length, length + 1)
        assert [valid(type_, [item] * n) for n in sizes] == [n == length for n in sizes]


def test_a_pair_of_a_map_has_two_parts() -> None:
    pairs = m.Map(m.Int32(), m.Int32())
    assert [valid(pairs, [pair]) for pair in ([1], [1, 2], [1, 2, 3])] == [False, True, False]


def test_a_column_of_null_need_not_be_there() -> None:
    schema, _ = to_row_schema(Schema((Field("a", m.Null()), Field("b", m.Int8()))))
    assert schema["required"] == ["b"]


@pytest.mark.parametrize("default", [0, "", False, None, [], {}])
def test_a_default_that_counts_for_nothing_in_python_is_a_default(default: Any) -> None:
    schema, _ = to_row_schema(Schema((Field("a", Option(m.String()), Extra({"lakebed.dev/default": default})),)))
    assert schema["properties"]["a"]["default"] == default
    assert "default" not in to_row_schema(Schema((Field("a", m.String()),)))[0]["properties"]["a"]
