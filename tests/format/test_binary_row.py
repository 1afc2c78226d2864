from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.format import binary_row
from lakebed.format.bucket_hash import bucket, hash_row
from lakebed.physical import parse

NULL = "00000001 0001000000000000 0000000000000000"
#: Type, value, bytes with prefix, hash: as Java writes them.
GOLDEN = [
    ("INT", -2, "00000001 0000000000000000 feffffff00000000", -964855945),
    ("BIGINT", -2, "00000001 0000000000000000 feffffffffffffff", 2079607996),
    ("TINYINT", -2, "00000001 0000000000000000 fe00000000000000", 1831745471),
    ("BOOLEAN", True, "00000001 0000000000000000 0100000000000000", 1465514398),
    ("DOUBLE", 1.5, "00000001 0000000000000000 000000000000f83f", 1860889473),
    ("DATE", 19857, "00000001 0000000000000000 914d000000000000", 1806713378),
    ("DECIMAL(10, 2)", Decimal("-123.45"), "00000001 0000000000000000 c7cfffffffffffff", 280263423),
    (
        "DECIMAL(38, 4)",
        Decimal("-123.4567"),
        "00000001 0000000000000000 0300000010000000 ed297900000000000000000000000000",
        742563348,
    ),
    ("TIMESTAMP(3)", 1715644800123_000_000, "00000001 0000000000000000 7b1c66748f010000", -1384109804),
    (
        "TIMESTAMP(6)",
        1715644800123_456_000,
        "00000001 0000000000000000 40f5060010000000 7b1c66748f010000",
        1139513602,
    ),
    ("STRING", "", "00000001 0000000000000000 0000000000000080", 302122119),
    ("STRING", "abcdefg", "00000001 0000000000000000 6162636465666787", -1431907323),
    ("STRING", "abcdefgh", "00000001 0000000000000000 0800000010000000 6162636465666768", -843760178),
    (
        "STRING",
        "abcdefghi",
        "00000001 0000000000000000 0900000010000000 6162636465666768 6900000000000000",
        890550442,
    ),
    ("STRING", "20240101", "00000001 0000000000000000 0800000010000000 3230323430313031", None),
    *((t, None, NULL, -1748325344) for t in ("INT", "STRING", "BYTES", "DECIMAL(38, 4)", "TIMESTAMP(6)", "BOOLEAN")),
]
#: The other encoding of NULL, which Java uses for partitions and keys.
RESERVED_NULLS = [
    ("DECIMAL(38, 4)", "00000001 0001000000000000 0000000010000000 00000000000000000000000000000000", -1380280760),
    ("TIMESTAMP(6)", "00000001 0001000000000000 0000000010000000 0000000000000000", -340882661),
    ("TIMESTAMP(9) WITH LOCAL TIME ZONE", "00000001 0001000000000000 0000000010000000 0000000000000000", None),
]
ROWS = [
    (
        ("INT", "STRING", "STRING", "DECIMAL(20, 0)", "TIMESTAMP(9)"),
        (7, "hello world!", None, Decimal("12345678901234567890"), 5_000_006),
        "00000005 0004000000000000 0700000000000000 0c00000030000000 0000000000000000 0900000040000000"
        " 0600000050000000 68656c6c6f20776f 726c642100000000 00ab54a98ceb1f0a d200000000000000 0500000000000000",
        -851196368,
    ),
    ((), (), "00000000 0000000000000000", -1670924195),
    (
        ("DATE", "STRING"),
        (19857, "a/b=c"),
        "00000002 0000000000000000 914d000000000000 612f623d63000085",
        None,
    ),
    (("DATE", "STRING"), (None, "x y"), "00000002 0001000000000000 0000000000000000 7820790000000083", None),
]


def _types(texts: Sequence[str]) -> list[Any]:
    return [parse(t) for t in texts]


@pytest.mark.parametrize(("type_", "value", "data", "hashed"), GOLDEN)
def test_single_values_have_the_bytes_of_java(type_: str, value: Any, data: str, hashed: int | None) -> None:
    types, expected = _types([type_]), bytes.fromhex(data)
    assert binary_row.encode(types, [value]) == expected
    assert binary_row.decode(types, expected) == (value,)
    if hashed is not None:
        assert hash_row(expected[4:]) == hashed


@pytest.mark.parametrize(("types", "values", "data", "hashed"), ROWS)
def test_rows_have_the_bytes_of_java(types: Any, values: Any, data: str, hashed: int | None) -> None:
    expected = bytes.fromhex(data)
    assert binary_row.encode(_types(types), values) == expected
    assert binary_row.decode(_types(types), expected) == values
    if hashed is not None:
        assert hash_row(expected[4:]) == hashed


@pytest.mark.parametrize(("type_", "data", "hashed"), RESERVED_NULLS)
def test_a_null_with_reserved_bytes_is_read(type_: str, data: str, hashed: int | None) -> None:
    assert binary_row.decode(_types([type_]), bytes.fromhex(data)) == (None,)
    if hashed is not None:
        assert hash_row(bytes.fromhex(data)[4:]) == hashed


def test_the_empty_row() -> None:
    assert binary_row.encode([], []) == binary_row.EMPTY_ROW == bytes(12)


@pytest.mark.parametrize("arity", [1, 56, 57, 120, 121])
def test_the_header_grows_with_the_arity(arity: int) -> None:
    types = _types(["INT"]) * arity
    values = [None if i % 3 == 0 else i for i in range(arity)]
    data = binary_row.encode(types, values)
    assert len(data) == 4 + (8 if arity <= 56 else 16 if arity <= 120 else 24) + 8 * arity
    assert binary_row.decode(types, data) == tuple(values)


@pytest.mark.parametrize(
    ("value", "unscaled"), [(0, b"\0"), (-1, b"\xff"), (127, b"\x7f"), (128, b"\0\x80"), (-128, b"\x80")]
)
def test_wide_decimals_have_minimal_bytes(value: int, unscaled: bytes) -> None:
    data = binary_row.encode(_types(["DECIMAL(20, 0)"]), [Decimal(value)])
    assert int.from_bytes(data[12:16], "little") == len(unscaled)
    assert data[20:] == unscaled.ljust(16, b"\0")


_I64 = st.integers(-(2**63), 2**63 - 1)
_VALUES = {
    "BOOLEAN": st.booleans(),
    "TINYINT": st.integers(-128, 127),
    "SMALLINT": st.integers(-(2**15), 2**15 - 1),
    "INT": st.integers(-(2**31), 2**31 - 1),
    "DATE": st.integers(-(2**31), 2**31 - 1),
    "TIME(3)": st.integers(0, 86_399_999),
    "BIGINT": _I64,
    "FLOAT": st.floats(width=32),
    "DOUBLE": st.floats(),
    "DECIMAL(18, 4)": st.decimals(places=4, min_value=-(10**13), max_value=10**13),
    "DECIMAL(38, 0)": st.integers(-(10**38) + 1, 10**38 - 1).map(Decimal),
    "TIMESTAMP(3)": st.integers(-(2**53), 2**53).map(lambda ms: ms * 1_000_000),
    "TIMESTAMP(9)": _I64,
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": _I64,
    "STRING": st.text(max_size=20),
    "CHAR(3)": st.text(max_size=3),
    "VARBINARY(20)": st.binary(max_size=20),
}


@st.composite
def _typed_rows(draw: st.DrawFn) -> tuple[list[str], list[Any]]:
    types = draw(st.lists(st.sampled_from(sorted(_VALUES)), max_size=70))
    return types, [draw(st.none() | _VALUES[t]) for t in types]


@given(_typed_rows())
def test_decoding_undoes_encoding(row: tuple[list[str], list[Any]]) -> None:
    types, values = row
    data = binary_row.encode(_types(types), values)
    assert len(data) % 8 == 4
    found = binary_row.decode(_types(types), data)
    for value, back in zip(values, found, strict=True):
        if isinstance(value, float):
            assert math.isnan(value) == math.isnan(back)
            assert math.isnan(value) or (value == back and math.copysign(1, value) == math.copysign(1, back))
        else:
            assert value == back
    codec = binary_row.codec(tuple(_types(types)))
    assert repr(tuple(codec.value(data, place) for place in range(len(types)))) == repr(found)


@given(_typed_rows(), st.data())
def test_damaged_rows_are_errors_or_values_never_crashes(row: tuple[list[str], list[Any]], data: st.DataObject) -> None:
    types, values = row
    encoded = binary_row.encode(_types(types), values)
    cut = encoded[: data.draw(st.integers(0, len(encoded)))]
    noise = data.draw(st.binary(max_size=8))
    codec = binary_row.codec(tuple(_types(types)))
    with suppress(CorruptMetadataError):
        found = codec.decode(cut + noise)
        assert repr(tuple(codec.value(cut + noise, place) for place in range(len(types)))) == repr(found)
    for place in range(len(types)):
        with suppress(CorruptMetadataError):
            codec.value(cut + noise, place)


@pytest.mark.parametrize(
    ("type_", "value"),
    [("INT", 2**31), ("TINYINT", 128), ("DECIMAL(10, 2)", Decimal("0.001")), ("FLOAT", 1e300), ("TIME(0)", -(2**40))],
)
def test_a_value_that_does_not_fit_is_refused(type_: str, value: Any) -> None:
    with pytest.raises(ValueError):
        binary_row.encode(_types([type_]), [value])


def test_another_number_of_fields_is_an_error() -> None:
    data = binary_row.encode(_types(["INT", "INT"]), [1, 2])
    with pytest.raises(CorruptMetadataError, match="2 fields where 1"):
        binary_row.decode(_types(["INT"]), data)
    with pytest.raises(ValueError):
        binary_row.encode(_types(["INT"]), [1, 2])


def test_nested_types_hold_null_only() -> None:
    types = _types(['{"type": "ARRAY", "element": "INT"}', "INT"])
    data = binary_row.encode(types, [None, 1])
    assert binary_row.decode(types, data) == (None, 1)
    with pytest.raises(UnsupportedError) as e:
        binary_row.encode(types, [[1], 1])
    assert e.value.code == "LB5021"


def test_the_callers_decimal_context_changes_nothing() -> None:
    import decimal

    value = Decimal("12345678901234567890123456789012345.678")
    with decimal.localcontext() as context:
        context.prec = 3
        types = _types(["DECIMAL(38, 3)"])
        assert binary_row.decode(types, binary_row.encode(types, [value])) == (value,)


@given(st.text(max_size=30), st.integers(1, 1000))
def test_buckets_are_in_range(key: str, buckets: int) -> None:
    assert 0 <= bucket(binary_row.encode(_types(["STRING"]), [key])[4:], buckets) < buckets


@pytest.mark.parametrize(("data", "expected"), [(RESERVED_NULLS[0][1], 760), (RESERVED_NULLS[1][1], 661), (NULL, 344)])
def test_buckets_of_null_keys_are_those_of_the_writer(data: str, expected: int) -> None:
    assert bucket(bytes.fromhex(data)[4:], 1000) == expected


@pytest.mark.parametrize("type_", ["FLOAT", "DOUBLE"])
def test_a_partition_of_nan_is_found_again(type_: str) -> None:
    codec = binary_row.codec((parse(type_), parse("INT")))
    first, again = (codec.decode(codec.encode((nan, 1))) for nan in (math.nan, float("nan")))
    assert again == first
    assert {first: "found"}[again] == "found"
    assert codec.decode(codec.encode((None, 1))) != first
