from __future__ import annotations

import math
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from format.written_columns import VALUES
from lakebed.errors import UnsupportedError
from lakebed.format import binary_row
from lakebed.format.bucket_hash import bucket, bucket_of_row, check_bucket_key, hash_key
from lakebed.physical import parse

#: Type, value, hash code in Java: of the number without zeros at its end, of the bits, of the bytes.
HIVE = [
    ("BOOLEAN", True, 1),
    ("TINYINT", -1, -1),
    ("SMALLINT", -300, -300),
    ("INT", -(2**31), -(2**31)),
    ("DATE", 19857, 19857),
    ("TIME(3)", 86_399_999, 86_399_999),
    *(("BIGINT", n, h) for n, h in ((-42, 41), (42, 42), (2**63 - 1, -(2**31)), (-(2**63), -(2**31)), (-1, 0))),
    ("BIGINT", 5_000_000_000, 705032705),
    *(("DOUBLE", x, h) for x, h in ((1.5, 1073217536), (math.nan, 2146959360), (5e-324, 1), (-1e300, 1983353248))),
    *(("DOUBLE", x, 0) for x in (0.0, -0.0)),
    *(("FLOAT", x, h) for x, h in ((1.5, 1069547520), (math.nan, 2143289344), (-1e-45, -2147483647), (-0.0, 0))),
    *(("STRING", t, h) for t, h in (("", 0), ("hello", 99162322), ("äöü€", 975678719), ("val_84", -823835430))),
    ("CHAR(1)", "a", 97),
    ("BYTES", b"\x01\x02\x03", 31 * 31 + 62 + 3),
    ("BINARY(1)", b"\xff", -1),
    ("DECIMAL(10, 4)", Decimal("12.3400"), 38256),
    ("DECIMAL(10, 4)", Decimal("-12.34"), -38252),
    ("DECIMAL(10, 4)", Decimal("0.0001"), 35),
    ("DECIMAL(10, 4)", Decimal("0.0000"), 0),
    ("DECIMAL(10, 4)", Decimal("1200.0000"), 37200),
    ("DECIMAL(10, 4)", Decimal("-0.5"), -154),
    ("DECIMAL(18, 0)", Decimal("123456789012345678"), -1905628419),
    ("DECIMAL(18, 0)", Decimal("4294967296"), 961),
    ("DECIMAL(38, 0)", Decimal(-(10**38) + 1), 427198386),
    ("DECIMAL(38, 10)", Decimal("1234567890123456789012345678.0123456789"), -1558583194),
    ("DECIMAL(38, 10)", Decimal("18446744073709551616.5"), 298066),
    ("DECIMAL(38, 38)", Decimal("1E-38"), 69),
    ("INT", None, 0),
]


@pytest.mark.parametrize(("type_", "value", "hashed"), HIVE)
def test_hive_hashes_are_those_of_java(type_: str, value: Any, hashed: int) -> None:
    types = [parse(type_)]
    assert hash_key(types, [value], "hive") == hashed
    assert bucket_of_row(types, [value], 97, "hive") == (hashed & 0x7FFFFFFF) % 97


def test_hive_hashes_of_several_columns() -> None:
    types = [parse(t) for t in ("INT", "STRING", "BYTES", "DECIMAL(10, 4)")]
    row = [7, "hello", b"\x01\x02\x03", Decimal("12.3400")]
    hashed = 31 * (31 * (31 * 7 + 99162322) + 1026) + 38256
    assert bucket_of_row(types, row, 8, "hive") == (hashed & 0x7FFFFFFF) % 8
    assert bucket_of_row(types, [None] * 4, 8, "hive") == 0


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [("INT", 1, 1), ("INT", 7, 2), ("INT", -2, 3), ("BIGINT", 8, 3), ("BIGINT", 0, 0), ("BIGINT", -3, 2)],
)
def test_remainders_are_those_of_java(type_: str, value: int, expected: int) -> None:
    assert bucket_of_row([parse(type_)], [value], 5, "mod") == expected
    assert bucket_of_row([parse(type_)], [None], 5, "mod") == 0


@pytest.mark.parametrize(
    ("function", "types", "code"),
    [
        ("consistent", ["INT"], "LB6520"),
        ("mod", ["INT", "INT"], "LB6521"),
        ("mod", ["SMALLINT"], "LB6521"),
        ("hive", ["INT", "TIMESTAMP(3)"], "LB6521"),
        ("hive", ["TIMESTAMP(6) WITH LOCAL TIME ZONE"], "LB6521"),
    ],
)
def test_keys_that_a_function_does_not_take_are_refused(function: str, types: list[str], code: str) -> None:
    parsed = [parse(t) for t in types]
    with pytest.raises(UnsupportedError) as e:
        check_bucket_key(parsed, function)
    assert e.value.code == code
    with pytest.raises(UnsupportedError):
        bucket_of_row(parsed, [1] * len(types), 4, function)


@given(st.sampled_from(sorted(VALUES)), st.integers(1, 1000), st.data())
def test_buckets_are_in_range_and_the_default_is_the_hash_of_the_row(
    type_: str, buckets: int, data: st.DataObject
) -> None:
    types, value = [parse(type_)], data.draw(st.none() | VALUES[type_])
    row = binary_row.encode(types, [value])[binary_row.PREFIX :]
    assert bucket_of_row(types, [value], buckets) == bucket(row, buckets)
    for function in ("mod", "hive"):
        with suppress(UnsupportedError):
            assert 0 <= bucket_of_row(types, [value], buckets, function) < buckets


@pytest.mark.parametrize("function", ["default", "mod", "hive"])
def test_a_value_that_its_type_cannot_hold_is_in_no_bucket(function: str) -> None:
    with pytest.raises(ValueError):
        bucket_of_row([parse("INT")], [2**40], 4, function)
