"""Arrow schemas: the table of types both ways, hints, settings, nothing lost on the way. Needs PyArrow, not Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from convert.arrow_schemas import whole
from lakebed.convert.arrow import ToArrow, from_arrow, to_arrow
from lakebed.convert.arrow_hints import (
    ARROW_METADATA,
    Buffer,
    Dictionary,
    Encoding,
    Extension,
    RunEnds,
    attributes_of,
    encoding_of,
)
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, LogicalType, Option, Schema, TimeUnit
from lakebed.model import types as m
from lakebed.model.encoding import ARROW_ENCODING, BUFFER_ENCODING, DATE_ENCODING, DECIMAL_ENCODING, strip_encoding
from lakebed.testing import schemas
from lakebed.testing.arrow import arrow_schemas

S, MS, US, NS = TimeUnit
PLAIN = ToArrow(carrier=False)
PAIMON_TYPE = "paimon.apache.org/type"
NEEDS_SMALL_DECIMALS = pytest.mark.skipif(not hasattr(pa, "decimal32"), reason="this PyArrow has no small decimals")


def buffer(kind: str, width: int = 32) -> dict[str, Any]:
    return {BUFFER_ENCODING: Buffer(kind, width).to_json()}


def decimal(bits: int) -> dict[str, Any]:
    return {DECIMAL_ENCODING: {"bitWidth": bits}}


def one(type_: pa.DataType, **parts: Any) -> pa.Schema:
    return pa.schema([pa.field("a", type_, False, **parts)])


# The laws.


@given(arrow_schemas())
def test_every_arrow_schema_comes_back_to_the_last_name(schema: pa.Schema) -> None:
    logical, report = from_arrow(schema)
    assert not report
    back, report = to_arrow(logical, PLAIN)
    assert not report
    assert whole(back) == whole(schema)


@given(schemas())
def test_every_logical_schema_comes_back(schema: Schema) -> None:
    try:
        arrow, report = to_arrow(schema, strict=False)
    except ConversionError as error:
        if {d.code for d in error.diagnostics} != {"LB2405"}:
            raise
        return
    assert from_arrow(arrow)[0] == schema
    if report:
        with pytest.raises(ConversionError):
            to_arrow(schema)


@given(schemas(max_size=3))
def test_without_the_carrier_what_is_lost_is_said(schema: Schema) -> None:
    try:
        arrow, report = to_arrow(schema, PLAIN, strict=False)
    except ConversionError:
        return
    back = strip_encoding(from_arrow(arrow)[0])
    assert arrow.metadata is None
    assert report or back == _null_is_option(strip_encoding(schema))


def _null_is_option(schema: Schema) -> Schema:
    """The schema as Arrow has it: what is always null may be null."""

    def of(type_: LogicalType) -> LogicalType:
        match type_:
            case m.Null():
                return Option(type_)
            case Option(inner=m.Null()):
                return type_
            case Option():
                return Option(of(type_.inner))
            case m.List():
                return m.List(of(type_.item_type), type_.fixed_length)
            case m.Map():
                return m.Map(of(type_.key_type), of(type_.value_type), type_.keys_sorted)
            case m.Struct():
                return m.Struct(tuple(Field(f.name, of(f.type), f.extra) for f in type_.fields))
        return type_

    return Schema(tuple(Field(f.name, of(f.type), f.extra) for f in schema.fields), schema.extra)


# The table.

PAIRS: list[tuple[pa.DataType, LogicalType, dict[str, Any]]] = [
    (pa.bool_(), m.Bool(), {}),
    (pa.int8(), m.Int8(), {}),
    (pa.int64(), m.Int64(), {}),
    (pa.uint8(), m.UInt8(), {}),
    (pa.uint64(), m.UInt64(), {}),
    (pa.float16(), m.Float16(), {}),
    (pa.float64(), m.Float64(), {}),
    (pa.string(), m.String(), buffer("Contiguous")),
    (pa.large_string(), m.String(), buffer("Contiguous", 64)),
    (pa.string_view(), m.String(), buffer("View")),
    (pa.binary(), m.Binary(), buffer("Contiguous")),
    (pa.large_binary(), m.Binary(), buffer("Contiguous", 64)),
    (pa.binary_view(), m.Binary(), buffer("View")),
    (pa.binary(7), m.Binary(7), {}),
    (pa.date32(), m.Date(), {}),
    (pa.date64(), m.Date(), {DATE_ENCODING: {"unit": "Millisecond"}}),
    (pa.time32("s"), m.Time(S), {}),
    (pa.time32("ms"), m.Time(MS), {}),
    (pa.time64("us"), m.Time(US), {}),
    (pa.time64("ns"), m.Time(NS), {}),
    (pa.timestamp("s", "UTC"), m.Timestamp(S, "UTC"), {}),
    (pa.timestamp("ns", "+07:30"), m.Timestamp(NS, "+07:30"), {}),
    (pa.duration("us"), m.Duration(US), {}),
    (pa.decimal128(20, 5), m.Decimal(20, 5), decimal(128)),
    (pa.decimal128(3, -2), m.Decimal(3, -2), decimal(128)),
    (pa.decimal256(20, 5), m.Decimal(20, 5), decimal(256)),
    (pa.decimal256(76, 0), m.Decimal(76, 0), decimal(256)),
    (pa.list_(pa.int8()), m.List(Option(m.Int8())), buffer("Contiguous")),
    (pa.large_list(pa.int8()), m.List(Option(m.Int8())), buffer("Contiguous", 64)),
    (pa.list_view(pa.int8()), m.List(Option(m.Int8())), buffer("View")),
    (pa.large_list_view(pa.int8()), m.List(Option(m.Int8())), buffer("View", 64)),
    (pa.list_(pa.int8(), 3), m.List(Option(m.Int8()), 3), {}),
    (pa.map_(pa.string(), pa.int8(), True), m.Map(m.String(), Option(m.Int8()), True), {}),
    (pa.run_end_encoded(pa.int32(), pa.int8()), m.Int8(), buffer("RunEnd")),
    (pa.run_end_encoded(pa.int64(), pa.bool_()), m.Bool(), buffer("RunEnd", 64)),
]


@pytest.mark.parametrize(("arrow", "type_", "hints"), PAIRS, ids=lambda v: str(v) if isinstance(v, pa.DataType) else "")
def test_types_and_their_hints(arrow: pa.DataType, type_: LogicalType, hints: dict[str, Any]) -> None:
    schema = Schema((Field("a", type_, Extra(hints)),))
    assert from_arrow(one(arrow))[0] == schema
    assert from_arrow(one(arrow))[0].to_json() == schema.to_json()
    assert whole(to_arrow(schema, PLAIN)[0]) == whole(one(arrow))
    optional = Schema((Field("a", Option(type_), Extra(hints)),))
    assert from_arrow(pa.schema([pa.field("a", arrow)]))[0] == optional


@NEEDS_SMALL_DECIMALS
def test_small_decimals() -> None:
    for bits, digits in ((32, 9), (64, 18)):
        arrow = one(getattr(pa, f"decimal{bits}")(digits, 2))
        schema = Schema((Field("a", m.Decimal(digits, 2), Extra(decimal(bits))),))
        assert from_arrow(arrow)[0] == schema
        assert to_arrow(schema, PLAIN)[0] == arrow


@pytest.mark.skipif(hasattr(pa, "decimal32"), reason="this PyArrow has small decimals")
def test_a_pyarrow_without_small_decimals_says_so() -> None:
    schema = Schema((Field("a", m.Decimal(9, 2), Extra(decimal(32))),))
    with pytest.raises(ConversionError, match="has no decimals of 32 bits"):
        to_arrow(schema)
    arrow, report = to_arrow(schema, strict=False)
    assert (arrow.field("a").type, report.losses[0].path) == (pa.decimal128(9, 2), "a")
    assert from_arrow(arrow)[0] == schema


@pytest.mark.parametrize(("digits", "type_"), [(1, "decimal128"), (38, "decimal128"), (39, "decimal256")])
def test_digits_choose_the_width_of_a_decimal(digits: int, type_: str) -> None:
    arrow, _ = to_arrow(Schema((Field("a", m.Decimal(digits, 0)),)), PLAIN)
    assert arrow.field("a").type == getattr(pa, type_)(digits, 0)


def test_absent_parameters_are_the_defaults() -> None:
    schema = Schema((Field("t", m.Timestamp()), Field("d", m.Duration()), Field("u", m.Time())))
    arrow, _ = to_arrow(schema, PLAIN)
    assert arrow.types == [pa.timestamp("ms", "UTC"), pa.duration("ms"), pa.time32("ms")]


def test_the_hints_of_the_rfc_are_exactly_these() -> None:
    arrow = pa.schema(
        [
            pa.field("a", pa.string(), False),
            pa.field("b", pa.large_string(), False),
            pa.field("c", pa.string_view(), False),
            pa.field("d", pa.date32(), False),
            pa.field("e", pa.date64(), False),
            pa.field("f", pa.decimal128(20, 5), False),
            pa.field("g", pa.decimal256(20, 5), False),
            pa.field("h", pa.large_list(pa.field("item", pa.string(), False)), True),
        ]
    )
    schema, _ = from_arrow(arrow)
    assert [f.extra.to_json() for f in schema.fields] == [
        {"arrow.apache.org/bufferEncoding": {"kind": "Contiguous", "offsetBitWidth": 32}},
        {"arrow.apache.org/bufferEncoding": {"kind": "Contiguous", "offsetBitWidth": 64}},
        {"arrow.apache.org/bufferEncoding": {"kind": "View", "offsetBitWidth": 32}},
        {},
        {"arrow.apache.org/dateEncoding": {"unit": "Millisecond"}},
        {"arrow.apache.org/decimalEncoding": {"bitWidth": 128}},
        {"arrow.apache.org/decimalEncoding": {"bitWidth": 256}},
        {"arrow.apache.org/bufferEncoding": {"kind": "Contiguous", "offsetBitWidth": 64}},
    ]
    assert to_arrow(schema, PLAIN)[0].equals(arrow, check_metadata=True)


# What the RFC's hints cannot say.


@pytest.mark.parametrize(
    ("arrow", "own"),
    [
        (
            pa.dictionary(pa.int16(), pa.string(), ordered=True),
            {"layers": [{"kind": "Dictionary", "indexType": "Int16", "ordered": True}]},
        ),
        (pa.run_end_encoded(pa.int16(), pa.int8()), {"layers": [{"kind": "RunEnd", "runEndsBitWidth": 16}]}),
        (pa.run_end_encoded(pa.int32(), pa.string()), {"layers": [{"kind": "RunEnd", "runEndsBitWidth": 32}]}),
        (
            pa.list_(pa.field("element", pa.large_string(), False)),
            {"item": {"name": "element", "bufferEncoding": {"kind": "Contiguous", "offsetBitWidth": 64}}},
        ),
        (
            pa.map_(pa.large_string(), pa.field("value", pa.date64(), metadata={"k": "v"})),
            {
                "key": {"bufferEncoding": {"kind": "Contiguous", "offsetBitWidth": 64}},
                "value": {"metadata": {"k": "v"}, "dateEncoding": {"unit": "Millisecond"}},
            },
        ),
        (
            pa.list_(pa.dictionary(pa.int32(), pa.decimal256(5, 0))),
            {
                "item": {
                    "layers": [{"kind": "Dictionary", "indexType": "Int32"}],
                    "decimalEncoding": {"bitWidth": 256},
                }
            },
        ),
    ],
)
def test_our_own_hint(arrow: pa.DataType, own: dict[str, Any]) -> None:
    schema, _ = from_arrow(one(arrow))
    assert schema.fields[0].extra[ARROW_ENCODING] == own
    assert ARROW_ENCODING not in strip_encoding(schema).fields[0].extra
    assert whole(to_arrow(schema, PLAIN)[0]) == whole(one(arrow))


@pytest.mark.parametrize("name", ["uuid", "json_", "bool8"])
def test_extension_types_are_kept_as_a_layer(name: str) -> None:
    make: Callable[[], pa.DataType] | None = getattr(pa, name, None)
    if make is None:
        pytest.skip(f"this PyArrow has no {name}")
    arrow = one(pa.list_(make()))
    if not hasattr(make(), "__arrow_ext_serialize__"):
        with pytest.raises(ConversionError, match="does not tell the parameters"):
            from_arrow(arrow)
        return
    assert whole(to_arrow(from_arrow(arrow)[0], PLAIN)[0]) == whole(arrow)


class Celsius(pa.ExtensionType):
    def __init__(self) -> None:
        super().__init__(pa.float64(), "example.celsius")

    def __arrow_ext_serialize__(self) -> bytes:
        return b"\xff"

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> Celsius:
        return cls()


def test_an_extension_type_of_ones_own() -> None:
    arrow = one(pa.dictionary(pa.int8(), Celsius()))
    schema, _ = from_arrow(arrow)
    assert schema.fields[0].type == m.Float64()
    arrows, report = to_arrow(schema, PLAIN, strict=False)
    assert [str(loss) for loss in report.losses] == [
        "a: the extension example.celsius, which this PyArrow does not know"
    ]
    assert arrows.field("a").type.value_type == pa.float64()
    pa.register_extension_type(Celsius())
    try:
        assert to_arrow(schema, PLAIN)[0] == arrow
    finally:
        pa.unregister_extension_type("example.celsius")


def test_metadata_stays_with_its_field() -> None:
    arrow = pa.schema(
        [
            pa.field("a", pa.int8(), metadata={"unit": "m", "PARQUET:field_id": "1"}),
            pa.field("b", pa.struct([pa.field("c", pa.int8(), metadata={b"\xff": b"x"})])),
        ],
        metadata={"pandas": "{}"},
    )
    schema, _ = from_arrow(arrow)
    assert schema.extra == {ARROW_METADATA: {"pandas": "{}"}}
    assert schema.fields[0].extra[ARROW_METADATA] == {"unit": "m"}
    assert strip_encoding(schema).fields[0].extra == {ARROW_METADATA: {"unit": "m"}}
    assert whole(to_arrow(schema, PLAIN)[0]) == whole(arrow)


# Wall clocks.


def test_a_timestamp_without_zone_is_a_wall_clock() -> None:
    arrow = pa.schema([pa.field("a", pa.timestamp("us")), pa.field("b", pa.list_(pa.timestamp("s")))])
    schema, _ = from_arrow(arrow)
    assert schema.fields[0].extra == {PAIMON_TYPE: "TIMESTAMP(6)"}
    assert ARROW_ENCODING not in schema.fields[1].extra
    assert json.loads(schema.fields[1].extra[PAIMON_TYPE]) == {"type": "ARRAY", "element": "TIMESTAMP(0)"}
    assert to_arrow(schema, PLAIN)[0] == arrow
    assert to_arrow(strip_encoding(schema), PLAIN)[0] == arrow
    instants, _ = from_arrow(arrow, naive="utc")
    assert to_arrow(instants, PLAIN)[0].types == [pa.timestamp("us", "UTC"), pa.list_(pa.timestamp("s", "UTC"))]
    with pytest.raises(ConversionError) as caught:
        from_arrow(arrow, naive="error")
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [("LB2404", "a"), ("LB2404", "b.element")]


def test_a_wall_clock_that_paimon_cannot_hold_is_marked_by_our_own_hint() -> None:
    arrow = one(pa.map_(pa.decimal256(50, 0), pa.timestamp("ns")))
    schema, _ = from_arrow(arrow)
    assert schema.fields[0].extra[ARROW_ENCODING] == {"value": {"naive": True}}
    assert to_arrow(schema, PLAIN)[0] == arrow


# Settings.


def test_settings_lay_out_what_has_no_hint() -> None:
    views = ToArrow(string=Buffer("View", 32), binary=Buffer("View", 32), list=Buffer("View", 64), carrier=False)
    types = (
        m.String(),
        m.Binary(),
        m.List(m.String()),
        m.Binary(4),
        m.List(m.Binary(), 2),
        m.Map(m.String(), m.Date()),
    )
    arrow, _ = to_arrow(Schema(tuple(Field(f"c{i}", type_) for i, type_ in enumerate(types))), views)
    view = pa.field("item", pa.string_view(), False)
    assert arrow.types == [
        pa.string_view(),
        pa.binary_view(),
        pa.large_list_view(view),
        pa.binary(4),
        pa.list_(pa.field("item", pa.binary_view(), False), 2),
        pa.map_(pa.string_view(), pa.field("value", pa.date32(), False)),
    ]


def test_any_hint_of_the_rfc_switches_settings_off_for_its_field() -> None:
    settings = ToArrow(string=Buffer("View"), date="Millisecond", carrier=False)
    fields = (
        Field("a", m.String(), Extra(buffer("Contiguous"))),
        Field("b", Option(m.Date()), Extra({DATE_ENCODING: {"unit": "Day"}})),
        Field("c", m.Date()),
        Field("d", m.List(m.String()), Extra(buffer("Contiguous"))),
        Field("e", m.String(), Extra(buffer("RunEnd"))),
    )
    arrow, _ = to_arrow(Schema(fields), settings)
    assert arrow.types == [
        pa.string(),
        pa.date32(),
        pa.date64(),
        pa.list_(pa.field("item", pa.string_view(), False)),
        pa.run_end_encoded(pa.int32(), pa.string()),
    ]


def test_after_stripping_the_settings_choose() -> None:
    arrow = pa.schema(
        [
            pa.field("tags", pa.large_list(pa.field("item", pa.string_view(), False))),
            pa.field("price", pa.decimal128(12, 2), False),
            pa.field("day", pa.date64()),
        ]
    )
    schema = strip_encoding(from_arrow(arrow)[0])
    found, _ = to_arrow(schema, ToArrow(string=Buffer("View"), carrier=False))
    assert found.types == [
        pa.list_(pa.field("item", pa.string_view(), False)),
        pa.decimal128(12, 2),
        pa.date32(),
    ]


# Refusals.


def test_types_without_a_logical_type_are_all_reported() -> None:
    interval = pa.month_day_nano_interval()
    union = pa.sparse_union([pa.field("x", pa.int8())])
    arrow = pa.schema([("a", interval), ("b", pa.list_(pa.struct([("c", union)]))), ("d", pa.int8())])
    with pytest.raises(ConversionError) as caught:
        from_arrow(arrow)
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [("LB2401", "a"), ("LB2401", "b.element.c")]


def test_names_that_do_not_tell_fields_apart() -> None:
    arrow = pa.schema([("a", pa.int8()), ("a", pa.int8()), ("", pa.int8())])
    with pytest.raises(ConversionError) as caught:
        from_arrow(arrow)
    assert [d.code for d in caught.value.diagnostics] == ["LB2403", "LB2403"]


@pytest.mark.parametrize(
    ("type_", "extra", "code"),
    [
        (m.String(), {BUFFER_ENCODING: "View"}, "LB2402"),
        (m.String(), {BUFFER_ENCODING: {"kind": "View", "offsetBitWidth": 16}}, "LB2402"),
        (m.String(), {BUFFER_ENCODING: {"kind": "View", "runEndsBitWidth": 32}}, "LB2402"),
        (m.Date(), {DATE_ENCODING: {}}, "LB2402"),
        (m.Decimal(5, 0), {DECIMAL_ENCODING: {"bitWidth": 100}}, "LB2402"),
        (m.Decimal(5, 0), {DECIMAL_ENCODING: {"bitWidth": True}}, "LB2402"),
        (m.String(), {ARROW_ENCODING: {"layer": []}}, "LB2402"),
        (m.String(), {ARROW_ENCODING: {"layers": [{"kind": "Dictionary", "indexType": "Float32"}]}}, "LB2402"),
        (m.String(), {ARROW_METADATA: {"a": 1}}, "LB2402"),
        (m.String(), buffer("View", 64), "LB2406"),
        (m.Int8(), buffer("View"), "LB2406"),
        (m.Binary(3), buffer("Contiguous"), "LB2406"),
        (m.List(m.Int8(), 3), buffer("Contiguous"), "LB2406"),
        (m.String(), {DATE_ENCODING: {"unit": "Day"}}, "LB2406"),
        (m.Decimal(5, 0), {**decimal(128), **buffer("View")}, "LB2406"),
        (m.String(), {ARROW_ENCODING: {"item": {"name": "x"}}}, "LB2406"),
        (m.Decimal(10, 0), decimal(32), "LB2405"),
        (m.Decimal(77, 0), {}, "LB2405"),
        (m.Decimal(0, 0), {}, "LB2405"),
        (m.Binary(2**31), {}, "LB2405"),
        (m.List(m.Int8(), 2**31), {}, "LB2405"),
        (m.Map(m.Null(), m.Int8()), {}, "LB2405"),
        (Option(Option(m.Int8())), {}, "LB2104"),
    ],
)
def test_what_arrow_has_not(type_: LogicalType, extra: dict[str, Any], code: str) -> None:
    member = m.Struct((Field("b", Option(m.List(m.Struct((Field("c", type_, Extra(extra)),))))),))
    schema = Schema((Field("ok", m.Int8()), Field("a", member)))
    with pytest.raises(ConversionError) as caught:
        to_arrow(schema, strict=False)
    (problem,) = caught.value.diagnostics
    assert problem.code == code
    assert (problem.path or "").startswith("a.b.element.c")


def test_keys_that_may_be_null_are_a_loss() -> None:
    schema = Schema((Field("a", m.Map(Option(m.String()), m.Int8())),))
    with pytest.raises(ConversionError, match="a key may be null"):
        to_arrow(schema)
    arrow, report = to_arrow(schema, strict=False)
    assert [loss.path for loss in report.losses] == ["a.key"]
    assert from_arrow(arrow)[0] == schema


# Hints as text.


def test_names_of_encodings_have_three_spellings() -> None:
    extra = {BUFFER_ENCODING: {"kind": "contiguous", "offsetBitWidth": 64}, "foo.com/x": 1}
    assert attributes_of(encoding_of(extra)) == buffer("Contiguous", 64)
    assert encoding_of({BUFFER_ENCODING: {"kind": "runEnd"}}).buffer == Buffer("RunEnd")
    assert encoding_of({BUFFER_ENCODING: {"kind": "runend", "runEndsBitWidth": 32}}).buffer == Buffer("RunEnd", 32)
    assert encoding_of({DATE_ENCODING: {"unit": "millisecond"}}).date == "Millisecond"
    assert encoding_of({DECIMAL_ENCODING: {"bitWidth": 128}}).decimal == 128
    assert encoding_of({"foo.com/x": 1}).is_default


def test_every_part_of_an_encoding_is_said_and_read() -> None:
    encoding = Encoding(
        buffer=Buffer("View"),
        layers=(Dictionary("UInt8", ordered=True), RunEnds(16), Extension("e", b"\x00")),
        name="n",
        metadata=((b"\xfe", b""),),
        item=Encoding(date="Day", naive=True),
        key=Encoding(decimal=256, metadata=((b"a", b"b"),)),
        value=Encoding(buffer=Buffer("RunEnd", 64)),
    )
    text = json.dumps(attributes_of(encoding))
    assert encoding_of(json.loads(text)) == encoding
