"""Convert a source's values to declared types: numbers, truth values, text and bytes.

Nothing is guessed and nothing is lost on the way: a value that the declared type cannot hold exactly is a fault, with a
code. Exceptions are binary floating point columns, which take the nearest number. Blanks around numbers, dates and
truth values are ignored, as Spark's ANSI casts do; blanks in text are text. Expressions mean the same under every
session setting: casts that can fail are `try_cast`, and every zone is named.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lakebed.arrow.plain_problems import NOT_CASTABLE, OUT_OF_RANGE, WRONG_LENGTH
from lakebed.ingest.sources.source_types import Plain, SourceType, Text
from lakebed.model import types as logical
from lakebed.physical import paimon_types as physical
from lakebed.spark.casts.text_casts import has_exponent, to_decimal
from lakebed.spark.clocks import instant_to_wall

DIGITS_LOST = "LB6204"

_FLOAT16_MAX = 65504.0
#: What Java takes for a number and nobody else does: `1f`, `1d`, hexadecimal digits.
_JAVA_NUMBER = r"[0-9.][dDfF]\s*\z|[xX]"
#: Digits before the point, digits behind it, the sign of the exponent, as much of it as counts.
_PARTS = r"^\s*[+-]?([0-9]*)\.?([0-9]*)[eE]([+-]?)0*([0-9]{1,15})[0-9]*\s*\z"
#: What whole numbers that are written otherwise are read as: wider than any whole type.
_WHOLE_DIGITS = physical.Decimal(20, 0)
_NUMBER = r"^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*\z"

#: The numbers that types of no sign take.
RANGES: dict[type[logical.LogicalType], tuple[int, int]] = {
    logical.UInt8: (0, 2**8 - 1),
    logical.UInt16: (0, 2**16 - 1),
    logical.UInt32: (0, 2**32 - 1),
    logical.UInt64: (0, 2**64 - 1),
}
_INTEGERS: dict[type[physical.DataType], str] = {
    physical.TinyInt: "tinyint",
    physical.SmallInt: "smallint",
    physical.Int: "int",
    physical.BigInt: "bigint",
}
WHOLE_TYPES = (spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType)
FLOATING_TYPES = (spark.FloatType, spark.DoubleType)


@dataclass(frozen=True, slots=True)
class TextFormats:
    """What the reader options of the source say about how values are written; None is the usual form.

    The first three are Spark's datetime patterns, one a line, of which the first that fits counts. `decimal` stands
    before the fraction of a number, `grouping` between groups of three digits of its whole part, where it is not empty.
    """

    date: str | None = None
    timestamp: str | None = None
    wall_clock: str | None = None
    nan: str | None = None
    infinity: str | None = None
    minus_infinity: str | None = None
    decimal: str = "."
    grouping: str = ""

    @property
    def has_usual_numbers(self) -> bool:
        """Whether numbers are written as in JSON."""
        return self.decimal == "." and not self.grouping


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for a whole ingest: the lake's zone, how the source writes values."""

    time_zone: str
    formats: TextFormats = TextFormats()


@dataclass(frozen=True, slots=True)
class Target:
    """A declared flat type: how it is stored and what it means (without `Option`)."""

    stored: physical.DataType
    meant: logical.LogicalType


@dataclass(frozen=True, slots=True)
class Fault:
    """A reason why a value is bad: its code, and where it holds. NULL counts as false."""

    code: str
    when: Column


@dataclass(frozen=True, slots=True)
class Conversion:
    """`value` is NULL where the source is NULL or cannot be converted. `faults` takes the value, perhaps as a column
    that holds it already; the first fault that holds is the reason. Faults are asked only where the source is not NULL.
    """

    value: Column
    faults: Callable[[Column], tuple[Fault, ...]]


#: From a column of the source to its conversion.
Converter: TypeAlias = Callable[[Column], Conversion]


#: Stored types of numbers.
NUMBERS = (
    *(physical.TinyInt, physical.SmallInt, physical.Int, physical.BigInt),
    *(physical.Decimal, physical.Float, physical.Double),
)


def value_converter(source: SourceType, target: Target, rules: Rules) -> Converter | None:
    """How values of `source` become `target`; None where values of that type never do, and for dates and times."""
    found = _converter(source, target, rules)
    formats = rules.formats
    if found is None or formats.has_usual_numbers or not is_text(source) or not isinstance(target.stored, NUMBERS):
        return found
    convert = found
    return lambda x: convert(_usual_number(x, formats))


def _usual_number(x: Column, formats: TextFormats) -> Column:
    """A number with the separators of the source as it is usually written; NULL for one that is written otherwise.

    Texts without digits, and names of numbers, stay as they are.
    """
    decimal, grouping = re.escape(formats.decimal), re.escape(formats.grouping)
    groups = f"[0-9]{{1,3}}(?:{grouping}[0-9]{{3}})++|" if grouping else ""
    number = rf"^\s*[+-]?(?:(?:{groups}[0-9]++)(?:{decimal}[0-9]*+)?|{decimal}[0-9]++)(?:[eE][+-]?[0-9]++)?\s*\z"
    plain = F.replace(x, F.lit(formats.grouping), F.lit("")) if grouping else x
    plain = F.replace(plain, F.lit(formats.decimal), F.lit("."))
    names = [name for name in (formats.nan, formats.infinity, formats.minus_infinity) if name is not None]
    kept = ~x.rlike("[0-9]") | x.isin(*names) if names else ~x.rlike("[0-9]")
    return F.when(kept, x).when(x.rlike(number), plain)


def number_as_written(x: Column, is_number: Column, formats: TextFormats) -> Column:
    """The text of a JSON value, a number of JSON as the source writes numbers."""
    return F.when(is_number, F.replace(x, F.lit("."), F.lit(formats.decimal))).otherwise(x)


def _converter(source: SourceType, target: Target, rules: Rules) -> Converter | None:
    match target.stored:
        case physical.Boolean():
            return _boolean(source)
        case physical.TinyInt() | physical.SmallInt() | physical.Int() | physical.BigInt():
            return _integer(source, target)
        case physical.Decimal():
            return _decimal(source, target, target.stored)
        case physical.Float() | physical.Double():
            return _floating(source, target, rules.formats)
        case physical.Char() | physical.VarChar():
            return _text(source, target.stored, rules)
        case physical.Binary() | physical.VarBinary() | physical.Blob():
            return _bytes(source, target, target.stored)
        case _:
            return None


def is_text(source: SourceType) -> bool:
    """Whether values come as strings, from a file or from a column."""
    return isinstance(source, Text) or (isinstance(source, Plain) and isinstance(source.type, spark.StringType))


def is_plain(source: SourceType, *types: type[spark.DataType]) -> bool:
    """Whether the source is a flat Spark type of one of these."""
    return isinstance(source, Plain) and isinstance(source.type, types)


def _is_of(source: SourceType, name: str) -> bool:
    """Whether values have this type of Spark's already, and need no conversion."""
    return isinstance(source, Plain) and source.type.simpleString() == name


def unconverted(value: Column, code: str = NOT_CASTABLE) -> tuple[Fault, ...]:
    """The fault of a value that came out as NULL."""
    return (Fault(code, value.isNull()),)


def _boolean(source: SourceType) -> Converter | None:
    if is_text(source):
        return lambda x: Conversion(x.try_cast("boolean"), unconverted)
    if is_plain(source, spark.BooleanType):
        return lambda x: Conversion(x, lambda _: ())
    return None


def _integer(source: SourceType, target: Target) -> Converter | None:
    name = _INTEGERS[type(target.stored)]
    limits = RANGES.get(type(target.meant))

    def outside(value: Column) -> tuple[Fault, ...]:
        return () if limits is None else (Fault(OUT_OF_RANGE, (value < limits[0]) | (value > limits[1])),)

    def from_text(x: Column) -> Conversion:
        # A whole number may be written with a point or an exponent: 1.0, 1e2.
        otherwise = has_point_or_exponent(x) & x.rlike(_NUMBER)
        rounded = F.when(otherwise, to_decimal(x, _WHOLE_DIGITS).try_cast(name))
        return Conversion(
            F.coalesce(x.try_cast(name), rounded),
            lambda v: (
                Fault(OUT_OF_RANGE, v.isNull() & x.rlike(_NUMBER)),
                *unconverted(v),
                Fault(DIGITS_LOST, F.when(has_point_or_exponent(x), _beyond_scale(x, 0))),
                *outside(v),
            ),
        )

    def from_whole(x: Column) -> Conversion:
        if _is_of(source, name):
            return Conversion(x, outside)
        return Conversion(x.try_cast(name), lambda v: (*unconverted(v, OUT_OF_RANGE), *outside(v)))

    def from_fraction(x: Column) -> Conversion:
        floating = is_plain(source, *FLOATING_TYPES)
        no_number = F.isnan(x) if floating else F.lit(False)
        fraction = x != F.rint(x) if floating else (x % F.lit(1)) != F.lit(0)
        return Conversion(
            x.try_cast(name),
            lambda v: (
                Fault(NOT_CASTABLE, no_number),
                *unconverted(v, OUT_OF_RANGE),
                Fault(DIGITS_LOST, fraction),
                *outside(v),
            ),
        )

    if is_text(source):
        return from_text
    if is_plain(source, *WHOLE_TYPES):
        return from_whole
    if is_plain(source, spark.DecimalType, *FLOATING_TYPES):
        return from_fraction
    return None


def _decimal(source: SourceType, target: Target, stored: physical.Decimal) -> Converter | None:
    name = f"decimal({stored.precision},{stored.scale})"
    limits = RANGES.get(type(target.meant))

    def outside(value: Column) -> tuple[Fault, ...]:
        return (
            ()
            if limits is None
            else (Fault(OUT_OF_RANGE, (value < limits[0]) | (value > F.lit(str(limits[1])).cast(name))),)
        )

    def from_text(x: Column) -> Conversion:
        def faults(v: Column) -> tuple[Fault, ...]:
            too_big = Fault(OUT_OF_RANGE, v.isNull() & x.rlike(_NUMBER))
            return (too_big, *unconverted(v), Fault(DIGITS_LOST, _beyond_scale(x, stored.scale)), *outside(v))

        return Conversion(to_decimal(x, stored), faults)

    if is_text(source):
        return from_text
    if is_plain(source, *WHOLE_TYPES):
        return lambda x: Conversion(x.try_cast(name), lambda v: (*unconverted(v, OUT_OF_RANGE), *outside(v)))
    if isinstance(source, Plain) and isinstance(source.type, spark.DecimalType):
        own = source.type
        if _is_of(source, name):
            return lambda x: Conversion(x, outside)
        return lambda x: Conversion(
            x.try_cast(name),
            lambda v: (
                *unconverted(v, OUT_OF_RANGE),
                # Comparing decimals of two scales could round one of them; the way back does not.
                Fault(DIGITS_LOST, ~v.try_cast(own).eqNullSafe(x) if own.scale > stored.scale else F.lit(False)),
                *outside(v),
            ),
        )
    if is_plain(source, *FLOATING_TYPES):
        # The shortest text that reads back as the same number is what people mean by a binary fraction.
        return lambda x: from_text(x.cast("string"))
    return None


def has_point_or_exponent(x: Column) -> Column:
    """Whether the text of a number is written otherwise than with digits alone."""
    return x.contains(".") | has_exponent(x)


def _beyond_scale(x: Column, scale: int) -> Column:
    """Whether the text of a number has digits other than 0 beyond the scale, which the cast rounds away."""
    point = F.instr(x, F.lit("."))
    fraction = F.length(x) - point
    plain = (point > 0) & (fraction > scale) & x.rlike(rf"\.[0-9]{{{scale}}}[0-9]*[1-9]")
    # With an exponent: the digits, how many of them are behind the point as it is written, and how far that moves.
    whole, behind, sign, power = (F.regexp_extract(x, _PARTS, i) for i in (1, 2, 3, 4))
    digits = F.concat(whole, behind)
    # Spark warns of a two-argument rtrim; the 1 keeps the zeros before.
    last = F.length(F.btrim(F.concat(F.lit("1"), digits), F.lit("0"))) - 1
    places = F.length(behind) - F.length(digits) + last - F.concat(sign, power).try_cast("bigint")
    return F.when(has_exponent(x), (last > 0) & (places > F.lit(scale))).otherwise(plain)


def _floating(source: SourceType, target: Target, formats: TextFormats) -> Converter | None:
    name = "float" if isinstance(target.stored, physical.Float) else "double"
    infinity = F.lit(float("inf"))

    def too_large(value: Column) -> Column:
        large = F.abs(value) == infinity
        if isinstance(target.meant, logical.Float16):
            # 65520 is the first number that rounds up to infinity; the largest one is written out for readers.
            large = large | (F.abs(value) > F.lit(_FLOAT16_MAX))
        return large

    def from_text(x: Column) -> Conversion:
        named, is_named = _named_numbers(x, formats)
        value = x.try_cast(name) if named is None else F.coalesce(named.cast(name), x.try_cast(name))

        def faults(v: Column) -> tuple[Fault, ...]:
            infinite = F.lower(x).contains("inf") | is_named
            return (
                *unconverted(v),
                # Not with `&`: Spark would look first at what both have, which takes longest.
                Fault(NOT_CASTABLE, F.when(_may_be_javas(x) & x.rlike(_JAVA_NUMBER), ~infinite)),
                Fault(OUT_OF_RANGE, F.when(too_large(v) & ~F.isnan(v), ~infinite)),
            )

        return Conversion(value, faults)

    def from_number(x: Column) -> Conversion:
        if _is_of(source, name) and not isinstance(target.meant, logical.Float16):
            return Conversion(x, lambda _: ())
        value = x.cast(name)
        if is_plain(source, *WHOLE_TYPES):
            return Conversion(value, lambda v: (Fault(DIGITS_LOST, ~v.try_cast("bigint").eqNullSafe(x)),))
        same = (F.abs(x) == infinity) | F.isnan(x) if is_plain(source, *FLOATING_TYPES) else F.lit(False)
        return Conversion(value, lambda v: (Fault(OUT_OF_RANGE, too_large(v) & ~same),))

    if is_text(source):
        return from_text
    if is_plain(source, spark.DecimalType, *WHOLE_TYPES, *FLOATING_TYPES):
        return from_number
    return None


def _may_be_javas(x: Column) -> Column:
    """Whether a number could be written as only Java does; cheaper than the pattern."""
    ends_in_digit = F.substring(x, -1, 1).between("0", "9")
    return ~ends_in_digit | x.contains("x") | x.contains("X")


def _named_numbers(x: Column, formats: TextFormats) -> tuple[Column | None, Column]:
    """The numbers that options give names of their own, and whether a text is one of these names."""
    names = {
        text: number
        for text, number in (
            (formats.nan, float("nan")),
            (formats.infinity, float("inf")),
            (formats.minus_infinity, float("-inf")),
        )
        if text is not None
    }
    if not names:
        return None, F.lit(False)
    value = F.lit(None).cast("double")
    for text, number in names.items():
        value = F.when(x == text, F.lit(number)).otherwise(value)
    return value, x.isin(*names)


def _text(source: SourceType, stored: physical.Char | physical.VarChar, rules: Rules) -> Converter | None:
    def checked(value: Column) -> tuple[Fault, ...]:
        if stored.length >= physical.MAX_LENGTH:
            return ()
        return (Fault(WRONG_LENGTH, F.length(value) > F.lit(stored.length)),)

    def from_strings(x: Column) -> Conversion:
        return Conversion(x, lambda v: (Fault(NOT_CASTABLE, ~F.is_valid_utf8(v)), *checked(v)))

    if isinstance(source, Text):
        return lambda x: Conversion(x, checked)
    if is_plain(source, spark.StringType):
        return from_strings
    if is_plain(source, spark.BinaryType):
        return lambda x: from_strings(x.cast("string"))
    if is_plain(source, spark.TimestampType):
        return lambda x: Conversion(instant_to_wall(x, rules.time_zone).cast("string"), checked)
    if is_plain(source, spark.BooleanType, spark.DecimalType, spark.DateType, spark.TimestampNTZType):
        return lambda x: Conversion(x.try_cast("string"), checked)
    if is_plain(source, *WHOLE_TYPES, *FLOATING_TYPES):
        return lambda x: Conversion(x.cast("string"), checked)
    return None


def _bytes(
    source: SourceType, target: Target, stored: physical.Binary | physical.VarBinary | physical.Blob
) -> Converter | None:
    meant = target.meant.fixed_length if isinstance(target.meant, logical.Binary) else None
    exact = stored.length if isinstance(stored, physical.Binary) else meant
    most = stored.length if isinstance(stored, physical.VarBinary) else physical.MAX_LENGTH

    def checked(value: Column) -> tuple[Fault, ...]:
        if exact is not None:
            return (Fault(WRONG_LENGTH, F.octet_length(value) != F.lit(exact)),)
        if most >= physical.MAX_LENGTH:
            return ()
        return (Fault(WRONG_LENGTH, F.octet_length(value) > F.lit(most)),)

    if isinstance(source, Text) and source.base64:
        return lambda x: Conversion(F.try_to_binary(x, F.lit("base64")), lambda v: (*unconverted(v), *checked(v)))
    if is_text(source) or is_plain(source, spark.BinaryType):
        return lambda x: Conversion(x.cast("binary"), checked)
    return None
