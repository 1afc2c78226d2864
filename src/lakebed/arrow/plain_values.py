"""Convert texts that are written in the plain form of their type, and tell which are not.

What is plain is a part of what an ingest takes (`lakebed.ingest.columns`), chosen so that Arrow gives the same values;
whatever is not may still be a value, by rules that Spark's expressions have. Nothing here says that a text is bad.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard, assert_never

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
    VarChar,
)

#: Types of which a text can be plain.
PlainType = (
    Boolean
    | TinyInt
    | SmallInt
    | Int
    | BigInt
    | Decimal
    | Float
    | Double
    | Char
    | VarChar
    | Date
    | Timestamp
    | LocalZonedTimestamp
)

_DIGITS: dict[type[DataType], int] = {TinyInt: 3, SmallInt: 5, Int: 10, BigInt: 19}
_MICROS = 6
_DAY = "[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
_CLOCK = "[0-9]{2}:[0-9]{2}:[0-9]{2}"


@dataclass(frozen=True, slots=True)
class PlainColumn:
    """A column of a table and what it is read from.

    `source` names it in the source, `name` in the batches that are made. `limits` are the least and the largest number,
    both allowed. `takes_null`: NULL is no fault; `default`, a plain text, is what is written for it. `utc`: a moment
    without a zone is one of UTC. `path` and `expected` are what a problem says of a bad value; without `expected` no
    value is called bad here.
    """

    source: str
    name: str
    type: PlainType
    limits: tuple[int, int] | None = None
    takes_null: bool = True
    default: str | None = None
    utc: bool = False
    path: str = ""
    expected: str | None = None


def can_be_plain(type_: DataType) -> TypeGuard[PlainType]:
    """Whether there are texts of this type that are plain."""
    match type_:
        case Timestamp() | LocalZonedTimestamp():
            return type_.precision <= _MICROS
        case _:
            return isinstance(type_, PlainType)


def convert_texts(texts: pa.Array, column: PlainColumn) -> tuple[pa.Array, pa.Array]:
    """The values of texts, and whether each text is plain; NULL is. What is not plain has any value."""
    type_ = column.type
    if isinstance(type_, Char | VarChar):
        return texts, _is_short(texts, type_.length)
    plain = pc.fill_null(has_plain_form(texts, column), True)
    if not _all(plain):
        texts = pc.if_else(plain, texts, None)
    if isinstance(type_, Boolean):
        return pc.equal(texts, "true"), plain
    if isinstance(type_, LocalZonedTimestamp):
        texts = pc.utf8_rtrim(texts, "Z")
    values = _cast_each(texts, _cast_to(type_))
    if values.null_count != texts.null_count:
        plain = pc.and_(plain, pc.or_(values.is_valid(), texts.is_null()))
    return values.cast(row_type(type_)), plain


def has_plain_form(texts: pa.Array, column: PlainColumn) -> pa.Array:
    """Whether texts look like values of the column's type; NULL for NULL."""
    return pc.match_substring_regex(texts, _pattern(column.type, utc=column.utc))


def with_default(values: pa.Array, column: PlainColumn) -> pa.Array:
    """The values as they are written, with the default of the column for NULL."""
    if column.default is None or not values.null_count:
        return values
    default, _ = convert_texts(pa.array([column.default], pa.string()), column)
    return pc.fill_null(values, default[0])


def is_plain(text: str, column: PlainColumn) -> bool:
    """Whether one text is plain, and a value of the column."""
    values, plain = convert_texts(pa.array([text], pa.string()), column)
    return bool(pc.and_(plain, is_taken(values, column))[0].as_py())


def is_taken(values: pa.Array, column: PlainColumn) -> pa.Array:
    """Whether a column takes each of the values without further looking."""
    taken = pc.or_(values.is_valid(), pa.scalar(column.takes_null))
    if column.limits is not None:
        least, largest = (pa.scalar(limit, pa.int64()) for limit in column.limits)
        inside = pc.and_(pc.greater_equal(values, least), pc.less_equal(values, largest))
        taken = pc.and_(taken, pc.fill_null(inside, True))
    if isinstance(column.type, Float | Double):
        taken = pc.and_(taken, pc.fill_null(pc.is_finite(values), True))
    return taken


def _pattern(type_: PlainType, *, utc: bool) -> str:
    """The form of a text that Arrow and Spark read alike, if they read it at all."""
    match type_:
        case Boolean():
            return "^(?:true|false)$"
        case TinyInt() | SmallInt() | Int() | BigInt():
            return f"^-?[0-9]{{1,{_DIGITS[type(type_)]}}}$"
        case Decimal():
            fraction = rf"(?:\.[0-9]{{1,{type_.scale}}})?" if type_.scale else ""
            whole = f"[0-9]{{1,{type_.precision - type_.scale}}}" if type_.scale < type_.precision else "0"
            return f"^-?{whole}{fraction}$"
        case Float() | Double():
            return r"^-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?$"
        case Date():
            return f"^{_DAY}$"
        case Timestamp() | LocalZonedTimestamp():
            fraction = rf"(?:\.[0-9]{{1,{type_.precision}}})?" if type_.precision else ""
            zone = "" if isinstance(type_, Timestamp) else "Z?" if utc else "Z"
            return f"^{_DAY}[ T]{_CLOCK}{fraction}{zone}$"
        case Char() | VarChar():
            return ""
        case _:
            assert_never(type_)


def _cast_to(type_: PlainType) -> pa.DataType:
    if isinstance(type_, Timestamp | LocalZonedTimestamp):
        return pa.timestamp("us", tz="UTC" if isinstance(type_, LocalZonedTimestamp) else None)
    return row_type(type_)


def _cast_each(texts: pa.Array, type_: pa.DataType) -> pa.Array:
    """The values of texts, NULL for those that are none."""
    try:
        if pa.types.is_timestamp(type_):
            return texts.cast(pa.timestamp(type_.unit)).cast(type_)
        return texts.cast(type_)
    except pa.ArrowInvalid:
        if len(texts) == 1:
            return pa.nulls(1, type_)
        half = len(texts) // 2
        return pa.concat_arrays([_cast_each(texts.slice(0, half), type_), _cast_each(texts.slice(half), type_)])


def _is_short(texts: pa.Array, length: int) -> pa.Array:
    """Whether texts surely have at most so many characters."""
    if length >= MAX_LENGTH:
        return pa.repeat(pa.scalar(True), len(texts))
    return pc.fill_null(pc.less_equal(pc.binary_length(texts), length), True)


def _all(conditions: pa.Array) -> bool:
    return not len(conditions) or bool(pc.all(conditions).as_py())
