"""Cast arrays of columns whose type has changed, as far as the outcome is certain to be that of `lakebed.spark.casts`.

Some pairs of types are cast for some values only, such as texts that are plainly numbers; others are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.convert.arrow_rows import row_type
from lakebed.physical.paimon_types import (
    MAX_LENGTH,
    BigInt,
    Boolean,
    Char,
    DataType,
    Date,
    Decimal,
    Double,
    Float,
    Int,
    LocalZonedTimestamp,
    SmallInt,
    Timestamp,
    TinyInt,
    VarBinary,
    VarChar,
    equal_ignoring_nullability,
)

#: From values of one type to those of another. Raises ValueError for values whose outcome is not certain.
Cast = Callable[[pa.Array], pa.Array]

_UTC = ("UTC", "Etc/UTC", "Z", "+00:00")
_INTEGERS = (TinyInt, SmallInt, Int, BigInt)
#: Decimal digits that hold every value of an integer type.
_DIGITS = {TinyInt: 3, SmallInt: 5, Int: 10, BigInt: 19}
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_MICRO_DIGITS = 6
#: Microseconds of the years whose numbers have four digits, as text.
_FIRST, _LAST = -62_135_596_800 * _SECOND, 253_402_300_800 * _SECOND - 1
#: How long a timestamp is as text, up to the seconds.
_TO_SECONDS = 19
_TRUE = ("t", "true", "y", "yes", "1")
_FALSE = ("f", "false", "n", "no", "0")


def find_cast(have: DataType, want: DataType, *, time_zone: str | None = None) -> Cast | None:
    """The cast from a type to another, neither of them nested; None where there is none here.

    It takes and gives arrays of `row_type`. `time_zone` is that of casts between wall clocks and instants, of which
    only those of UTC are made here. Raises ValueError for values whose outcome is not certain.
    """
    if equal_ignoring_nullability(have, want):
        return lambda values: values
    if time_zone in _UTC:
        # In UTC an instant is shown as its wall clock, and what a cast does with either is the same.
        before, now = _as_wall(have), _as_wall(want)
        if (before, now) != (have, want):
            cast = find_cast(before, now)
            return None if cast is None else _by_walls(cast, row_type(before), row_type(want))
    match have, want:
        case ((Char() | VarChar()), (Char() | VarChar())):
            return partial(_fitted, have=have, want=want)
        case ((Char() | VarChar()), Boolean()):
            return _truths
        case ((Char() | VarChar()), (TinyInt() | SmallInt() | Int() | BigInt())):
            return partial(_parsed, type_=row_type(want))
        case _, VarChar(length=length):
            return _to_text(have) if length == MAX_LENGTH else None
        case VarBinary(), VarBinary():
            return (lambda values: values) if have.length <= want.length else None
        case ((Timestamp() | LocalZonedTimestamp() | Date()), _):
            return _from_moment(have, want)
        case ((Int() | BigInt()), (Timestamp() | LocalZonedTimestamp())):
            return lambda values: pc.multiply_checked(values.cast(pa.int64()), _SECOND).cast(row_type(want))
        case _:
            return _to_number(have, want)


def _as_wall(type_: DataType) -> DataType:
    if isinstance(type_, LocalZonedTimestamp):
        return Timestamp(type_.precision, nullable=type_.nullable)
    return type_


def _by_walls(cast: Cast, before: pa.DataType, now: pa.DataType) -> Cast:
    """A cast among wall clocks for values of which some are instants of UTC."""

    def rename(values: pa.Array, type_: pa.DataType) -> pa.Array:
        return values if values.type == type_ else values.cast(pa.int64()).cast(type_)

    return lambda values: rename(cast(rename(values, before)), now)


def _to_number(have: DataType, want: DataType) -> Cast | None:
    exact = row_type(want)
    match have, want:
        case ((TinyInt() | SmallInt() | Int() | BigInt()), Boolean()):
            return lambda values: pc.not_equal(values, pa.scalar(0, values.type))
        case _ if type(have) in _INTEGERS and type(want) in _INTEGERS:
            # What does not fit keeps its low bits.
            return lambda values: values.cast(exact, safe=False)
        case ((Float() | Double()), _) if type(want) in _INTEGERS:
            return lambda values: _saturated(values, 64 if isinstance(want, BigInt) else 32).cast(exact, safe=False)
        case Decimal(), Decimal():
            fits = have.scale <= want.scale and have.precision - have.scale <= want.precision - want.scale
            return (lambda values: values.cast(exact)) if fits else None
        case _, Decimal():
            digits = _DIGITS.get(type(have))
            return (lambda values: values.cast(exact)) if digits and digits <= want.precision - want.scale else None
        case ((Float() | Double()), (Float() | Double())):
            return lambda values: values.cast(exact, safe=False)
        case Boolean(), _ if type(want) in _INTEGERS:
            return lambda values: values.cast(pa.int8()).cast(exact)
        case ((Boolean() | TinyInt() | SmallInt() | Int() | BigInt()), (Float() | Double())):
            return lambda values: (values.cast(pa.int8()) if isinstance(have, Boolean) else values).cast(
                exact, safe=False
            )
        case _:
            return None


def _to_text(have: DataType) -> Cast | None:
    match have:
        case Boolean() | TinyInt() | SmallInt() | Int() | BigInt():
            return lambda values: values.cast(pa.string())
        case Date():
            return _days_as_text
        case Timestamp():
            return partial(_moments_as_text, digits=have.precision)
        case _:
            return None


def _from_moment(have: DataType, want: DataType) -> Cast | None:
    match have, want:
        case Date(), Timestamp():
            return lambda days: pc.multiply_checked(_numbers(days), _DAY).cast(row_type(want))
        case Timestamp(), Date():
            return lambda moments: floor_div(_numbers(moments), _DAY).cast(pa.int32()).cast(pa.date32())
        case Timestamp(), Timestamp():
            return _to_digits(have.precision, want.precision, row_type(want))
        case LocalZonedTimestamp(), LocalZonedTimestamp():
            return _to_digits(have.precision, want.precision, row_type(want))
        case ((Timestamp() | LocalZonedTimestamp()), (Int() | BigInt())):
            return lambda moments: _seconds(moments).cast(row_type(want), safe=False)
        case _:
            return None


def _to_digits(before: int, now: int, type_: pa.DataType) -> Cast:
    digits = now if now < min(before, _MICRO_DIGITS) else _MICRO_DIGITS
    return lambda moments: _cut(_numbers(moments), digits).cast(type_)


def floor_div(numbers: pa.Array, divisor: int) -> pa.Array:
    """Whole numbers divided by a positive one, rounded down."""
    if divisor == 1:
        return numbers
    toward_zero = pc.divide(numbers, divisor)
    below = pc.less(pc.subtract(numbers, pc.multiply(toward_zero, divisor)), 0)
    return pc.subtract(toward_zero, below.cast(pa.int64()))


def _down_to(numbers: pa.Array, unit: int) -> pa.Array:
    return pc.multiply(floor_div(numbers, unit), unit)


def _numbers(moments: pa.Array) -> pa.Array:
    """Days or microseconds since 1970 as int64."""
    return (moments.cast(pa.int32()) if pa.types.is_date(moments.type) else moments).cast(pa.int64())


def _cut(micros: pa.Array, digits: int) -> pa.Array:
    """Microseconds with fewer digits of a second: below three, whole milliseconds are cut towards zero."""
    unit = 10 ** (_MICRO_DIGITS - digits)
    if unit <= 1000:
        return _down_to(micros, unit)
    return pc.multiply(pc.divide(_down_to(micros, 1000), unit), unit)


def _seconds(moments: pa.Array) -> pa.Array:
    """Whole milliseconds since 1970, divided towards zero."""
    return pc.divide(_down_to(_numbers(moments), 1000), _SECOND)


def _saturated(values: pa.Array, bits: int) -> pa.Array:
    """Floating point numbers as whole ones, cut towards zero and kept within so many bits; NaN is 0."""
    wide = values.cast(pa.float64())
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    above, below = pc.greater_equal(wide, float(high)), pc.less_equal(wide, float(low))
    outside = pc.or_(pc.or_(above, below), pc.is_nan(wide))
    inside = pc.if_else(outside, pa.scalar(0.0), pc.trunc(wide)).cast(pa.int64())
    return pc.if_else(above, pa.scalar(high, pa.int64()), pc.if_else(below, pa.scalar(low, pa.int64()), inside))


# --- text -------------------------------------------------------------------------------------------------------------


def _fitted(texts: pa.Array, have: Char | VarChar, want: Char | VarChar) -> pa.Array:
    """Texts cut to a length in code points; CHAR is filled with blanks."""
    if isinstance(want, Char):
        texts = pc.utf8_rpad(texts, width=want.length, padding=" ")
    elif want.length >= have.length:
        return texts
    return pc.utf8_slice_codeunits(texts, start=0, stop=want.length)


def _truths(texts: pa.Array) -> pa.Array:
    words = pc.utf8_lower(texts)
    true, false = (pc.is_in(words, value_set=pa.array(known, pa.string())) for known in (_TRUE, _FALSE))
    _refuse_unless(pc.or_(true, false), texts)
    return pc.if_else(pc.is_valid(texts), true, pa.scalar(None, pa.bool_()))


def _parsed(texts: pa.Array, type_: pa.DataType) -> pa.Array:
    """Texts of digits alone, with or without a sign; what does not fit cannot be converted by Spark either."""
    _refuse_unless(pc.match_substring_regex(texts, r"\A[+-]?[0-9]+\z"), texts)
    return pc.replace_substring_regex(texts, r"\A\+", "").cast(type_)


def _refuse_unless(known: pa.Array, values: pa.Array) -> None:
    """Raise ValueError with the first value that is not known; NULL is."""
    others = values.filter(pc.and_(pc.invert(pc.fill_null(known, True)), pc.is_valid(values)))
    if len(others):
        raise ValueError(f"{others[0].as_py()!r} is not plainly one")


def _days_as_text(days: pa.Array) -> pa.Array:
    _refuse_years(pc.multiply_checked(_numbers(days), _DAY))
    return days.cast(pa.string())


def _moments_as_text(moments: pa.Array, digits: int) -> pa.Array:
    """Wall clocks with so many digits of a second; where one has more than its type says, that is another text."""
    micros = _numbers(moments)
    _refuse_years(micros)
    if digits < _MICRO_DIGITS:
        finer = pc.not_equal(_down_to(micros, 10 ** (_MICRO_DIGITS - digits)), micros)
        _refuse_unless(pc.invert(finer), moments)
    text = moments.cast(pa.string())
    if digits > _MICRO_DIGITS:
        return pc.binary_join_element_wise(text, "0" * (digits - _MICRO_DIGITS), "")
    return pc.utf8_slice_codeunits(text, start=0, stop=_TO_SECONDS + digits + (digits > 0))


def _refuse_years(micros: pa.Array) -> None:
    """Raise ValueError for moments of years whose numbers do not have four digits."""
    bounds: Sequence[int | None] = [found.as_py() for found in pc.min_max(micros).values()]
    if any(bound is not None and not _FIRST <= bound <= _LAST for bound in bounds):
        raise ValueError("it is of a year beyond 1 to 9999")
