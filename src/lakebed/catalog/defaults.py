"""Check that a default value's text fits its column's type (specification, casts from STRING).

The text is what a schema file holds in `defaultValue`; quotes around the whole of it are stripped first. A number that
is too long for its DECIMAL, which the reference accepts and then writes as NULL, is no default.
"""

from __future__ import annotations

import datetime
import decimal
import re
from typing import assert_never

from lakebed.physical.paimon_types import (
    Array,
    BigInt,
    Binary,
    Blob,
    Boolean,
    Char,
    DataType,
    Date,
    Decimal,
    Double,
    Float,
    Geography,
    Geometry,
    Int,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    SmallInt,
    Time,
    Timestamp,
    TinyInt,
    Unknown,
    VarBinary,
    VarChar,
    Variant,
    Vector,
)

_INTEGER = re.compile(r"([+-]?)([0-9]*)(\.[0-9]*)?", re.ASCII)
_FLOAT = re.compile(r"\s*[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)\s*", re.ASCII)
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_DATE = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?( .*)?", re.ASCII | re.DOTALL)
_TIME = re.compile(r"[0-9]{1,2}(:[0-9]{1,2}(:[0-9]{1,2}(\.[0-9]+)?)?)?([+-][0-9]{1,2}(:[0-9]{1,2})?)?", re.ASCII)
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:[ ]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.[0-9]+)?"
    r"|T([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.[0-9]+)?)?)?",
    re.ASCII,
)
_DIGITS = re.compile(r"[0-9]+", re.ASCII)
_BITS = {TinyInt: 8, SmallInt: 16, Int: 32, BigInt: 64}
_BOOLEANS = {"t", "true", "y", "yes", "1", "f", "false", "n", "no", "0"}


def is_default_for(text: str, type_: DataType) -> bool:
    """Whether `text` can be the default of a column of this type."""
    text = _unquoted(text)
    match type_:
        case Char() | VarChar() | Binary() | VarBinary():
            return True
        case Boolean():
            return text.lower() in _BOOLEANS
        case TinyInt() | SmallInt() | Int() | BigInt():
            return _is_integer(text, _BITS[type(type_)])
        case Float() | Double():
            return _FLOAT.fullmatch(text) is not None
        case Decimal():
            return _DECIMAL.fullmatch(text) is not None and _fits(text, type_)
        case Date():
            return _is_date(text)
        case Time():
            return _DIGITS.fullmatch(text) is not None or _TIME.fullmatch(text) is not None
        case Timestamp():
            if _DIGITS.fullmatch(text):
                return type_.precision in (0, 3, 6, 9)
            return _is_timestamp(text)
        case LocalZonedTimestamp():
            return _is_timestamp(text)
        case Array():
            return _is_wrapped(text, "[]", "ARRAY")
        case Map():
            return _is_wrapped(text, "{}", "MAP")
        case Row():
            return _is_wrapped(text, "{}", "STRUCT")
        case Multiset() | Vector() | Variant() | Blob() | Geometry() | Geography() | Unknown():
            return False
    assert_never(type_)


def _unquoted(text: str) -> str:
    quoted = len(text) >= 2 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def _is_integer(text: str, bits: int) -> bool:
    match = _INTEGER.fullmatch(text)
    if match is None or not (match[2] or (match[3] or ".") != "."):
        return False
    value = int(f"{match[1]}{match[2] or '0'}")
    return -(1 << (bits - 1)) <= value < 1 << (bits - 1)


def _fits(text: str, type_: Decimal) -> bool:
    """Whether a number, rounded to the scale, has no more digits than the type."""
    try:
        with decimal.localcontext(prec=200, rounding=decimal.ROUND_HALF_UP):
            rounded = decimal.Decimal(text).quantize(decimal.Decimal(1).scaleb(-type_.scale))
    except (decimal.InvalidOperation, ValueError):
        return False
    return rounded.is_zero() or rounded.adjusted() < type_.precision - type_.scale


def _is_date(text: str) -> bool:
    if _DIGITS.fullmatch(text):
        return True
    match = _DATE.fullmatch(text)
    return match is not None and _exists(int(match[1]), int(match[2] or 1), int(match[3] or 1))


def _is_timestamp(text: str) -> bool:
    match = _TIMESTAMP.fullmatch(text)
    if match is None or not _exists(int(match[1]), int(match[2]), int(match[3])):
        return False
    hour, minute, second = (int(match[i] or match[i + 3] or 0) for i in (4, 5, 6))
    return hour < 24 and minute < 60 and second < 60


def _exists(year: int, month: int, day: int) -> bool:
    try:
        datetime.date(max(year, 1), month, day)
    except ValueError:
        return False
    return True


def _is_wrapped(text: str, brackets: str, function: str) -> bool:
    """`[...]` or `{...}`, or the call of a function; elements are the writer's business."""
    stripped = text.strip()
    if stripped.startswith(brackets[0]):
        return stripped.endswith(brackets[1]) and len(stripped) >= 2
    return re.fullmatch(rf"{function}\s*\(.*\)", stripped, re.IGNORECASE | re.DOTALL) is not None
