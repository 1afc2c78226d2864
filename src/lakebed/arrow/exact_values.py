"""Tell which values another type holds as they are."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.physical import paimon_types as p
from lakebed.physical.paimon_types import DataType

_BITS: dict[type[DataType], int] = {p.TinyInt: 8, p.SmallInt: 16, p.Int: 32, p.BigInt: 64}
_WHOLE_TEXT = r"^(?:0|-?[1-9][0-9]{0,18})\z"
_DAY_TEXT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}\z"
_MICROS = 6


def is_exact(values: pa.Array, have: DataType, want: DataType) -> pa.Array:
    """Whether each value, of the row type of `have`, is a value of `want`; NULL where it is."""
    match have, want:
        case ((p.Float() | p.Double()), p.Float()):
            return _is_single(values)
        case ((p.Float() | p.Double()), _):
            return _is_whole_number(values.cast(pa.float64()), _BITS[type(want)])
        case p.Decimal(), p.Decimal():
            return _has_digits(values, want.precision - want.scale, want.scale)
        case p.Decimal(), _:
            return _is_whole_decimal(values, have, _BITS[type(want)])
        case ((p.Timestamp() | p.LocalZonedTimestamp()), (p.Timestamp() | p.LocalZonedTimestamp())):
            return _has_parts(values.cast(pa.int64()), 10 ** max(_MICROS - want.precision, 0))
        case _, p.Boolean():
            return pc.or_(pc.equal(values, "true"), pc.equal(values, "false"))
        case _, p.Date():
            return _is_day(values)
        case _, p.Decimal():
            return pc.match_substring_regex(values, _decimal_text(want.precision - want.scale, want.scale))
        case _:
            return _is_whole_text(values, _BITS[type(want)])


def _is_single(values: pa.Array) -> pa.Array:
    numbers = values.cast(pa.float64())
    back = numbers.cast(pa.float32(), safe=False).cast(pa.float64())
    return pc.or_(pc.equal(back, numbers), pc.is_nan(numbers))


def _is_whole_number(values: pa.Array, bits: int) -> pa.Array:
    most = float(1 << (bits - 1))
    in_range = pc.and_(pc.greater_equal(values, -most), pc.less(values, most))
    return pc.and_(pc.equal(pc.floor(values), values), in_range)


def _has_digits(values: pa.Array, before: int, behind: int) -> pa.Array:
    """Whether decimals have no more digits before and behind the point."""
    kept = pc.equal(pc.round(values, ndigits=behind, round_mode="towards_zero"), values)
    if values.type.precision - values.type.scale <= before:
        return kept
    above = pa.scalar(10**before, pa.decimal128(before + 1, 0)).cast(values.type)
    return pc.and_(kept, pc.less(pc.abs(values), above))


def _is_whole_decimal(values: pa.Array, have: p.Decimal, bits: int) -> pa.Array:
    kept = pc.equal(pc.trunc(values), values)
    if have.precision - have.scale <= len(str(1 << (bits - 1))) - 1:
        return kept
    low, high = (bound.cast(values.type) for bound in _bounds(bits))
    return pc.and_(kept, pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high)))


def _bounds(bits: int) -> tuple[pa.Scalar, pa.Scalar]:
    """The least and the greatest integer of so many bits."""
    most = 1 << (bits - 1)
    return pa.scalar(-most, pa.decimal128(19, 0)), pa.scalar(most - 1, pa.decimal128(19, 0))


def _has_parts(numbers: pa.Array, unit: int) -> pa.Array:
    """Whether numbers are multiples of a unit."""
    return pc.equal(pc.multiply(pc.divide(numbers, unit), unit), numbers)


def _is_day(values: pa.Array) -> pa.Array:
    shaped = pc.match_substring_regex(values, _DAY_TEXT)
    moments = pc.strptime(pc.if_else(shaped, values, None), format="%Y-%m-%d", unit="s", error_is_null=True)
    same = pc.equal(pc.strftime(moments, format="%Y-%m-%d"), values)
    return pc.if_else(pc.is_valid(values), pc.fill_null(same, False), None)


def _decimal_text(before: int, behind: int) -> str:
    whole = "0" if before == 0 else f"(?:0|[1-9][0-9]{{0,{before - 1}}})"
    part = "" if behind == 0 else rf"(?:\.[0-9]{{1,{behind}}})?"
    return rf"^-?{whole}{part}\z"


def _is_whole_text(values: pa.Array, bits: int) -> pa.Array:
    shaped = pc.match_substring_regex(values, _WHOLE_TEXT)
    wide = pc.if_else(shaped, values, None).cast(pa.decimal128(19, 0))
    low, high = _bounds(bits)
    in_range = pc.and_(pc.greater_equal(wide, low), pc.less_equal(wide, high))
    return pc.if_else(pc.is_valid(values), pc.fill_null(in_range, False), None)
