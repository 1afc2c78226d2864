"""Find the types that hold all numbers of JSON lines without losing a digit.

Whole numbers of 64 bits are known by their shape. Of the others it is asked, in this order: whole numbers of up to 38
digits become Decimal(38, 0), unless one below 64 bits is written with a point or an exponent; numbers that come back
from a double with the digits that they were written with, Float64; numbers with at most 38 digits on both sides of the
point, without an exponent, Decimal(38, s), where half of the digits that are left go behind the point; else it is text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.ingest.columns.values import has_point_or_exponent
from lakebed.ingest.sources.json_exact import AsParsed, AsWritten, Items, Members, Wanted, in_doubt, record_exactly
from lakebed.ingest.sources.json_values import Shape, child, items_of, text_of
from lakebed.ingest.sources.source_parts import SourcePart
from lakebed.model import types as logical
from lakebed.physical.paimon_types import Decimal
from lakebed.spark.casts.text_casts import to_decimal
from lakebed.spark.spark_errors import spark_errors

#: A place in JSON: names of members, None for the items of a list.
JsonPath: TypeAlias = tuple[str | None, ...]

_MAX_DIGITS = 38
_NUMBERS = ("DECIMAL", "DOUBLE")
_WHOLE = r"^-?[0-9]{1,38}$"
_PLAIN = r"^-?[0-9]++(?:\.[0-9]++)?$"
#: A number as text, and what a VARIANT has it as: a string where it was read again.
_NUMBERS_READ = "array<struct<text:string,kind:string>>"
_NAMED = ("NaN", "Infinity", "-Infinity")


def number_types(part: SourcePart, shape: Shape) -> Mapping[JsonPath, logical.LogicalType]:
    """The type for each place of JSON lines where there are numbers other than whole ones of 64 bits."""
    places = tuple(_places(shape, ()))
    if not places or part.shape is None:
        return {}
    want, line = _wanted(shape), F.col("line")
    again = F.when(in_doubt(line, want, part.allowed), record_exactly(line, want, part.allowed))
    # Where it cannot be read again, no number can be told, and the column becomes text.
    frame = part.frame.select(part.shape.alias("shape"), again.alias("again"))
    frame = frame.select(F.coalesce("again", "shape").alias("value")).where(F.col("value").isNotNull())
    numbers = [F.coalesce(_numbers(F.col("value"), place), F.array().cast(_NUMBERS_READ)) for place in places]
    frame = frame.select(*(found.alias(f"n{i}") for i, found in enumerate(numbers)))
    with spark_errors():
        row = frame.agg(*(fact for i in range(len(places)) for fact in _facts(F.col(f"n{i}")))).collect()[0]
    size = len(row) // len(places)
    return {place: _Facts(*row[i * size : (i + 1) * size]).type for i, place in enumerate(places)}


def _places(shape: Shape, path: JsonPath) -> Iterator[JsonPath]:
    if shape.word in _NUMBERS:
        yield path
    for name, inner in shape.keys.items():
        yield from _places(inner, (*path, name))
    if shape.item is not None:
        yield from _places(shape.item, (*path, None))


def _wanted(shape: Shape) -> Wanted:
    if shape.word in _NUMBERS:
        return AsWritten(is_text=False)
    if shape.item is not None:
        item = _wanted(shape.item)
        return item if isinstance(item, AsParsed) else Items(item)
    members = ((name, _wanted(inner)) for name, inner in shape.keys.items())
    found = tuple((name, inner) for name, inner in members if not isinstance(inner, AsParsed))
    return Members(found) if found else AsParsed()


def _numbers(value: Column, place: JsonPath) -> Column:
    """The numbers at a place of a JSON value, as `_NUMBERS_READ`; NULL where the way to it ends."""
    if not place:
        return F.array(F.struct(text_of(value).alias("text"), F.schema_of_variant(value).alias("kind")))
    step, rest = place[0], place[1:]
    if step is not None:
        return _numbers(child(value, step), rest)
    none = F.array().cast(_NUMBERS_READ)
    return F.flatten(F.transform(items_of(value), lambda e: F.coalesce(_numbers(e, rest), none)))


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of all numbers at a place; the digits are the most on either side of the point."""

    whole: bool | None
    pointed: bool | None
    floating: bool | None
    plain: bool | None
    before_point: int | None
    behind_point: int | None

    @property
    def type(self) -> logical.LogicalType:
        digits, scale = (self.before_point or 0) + (self.behind_point or 0), self.behind_point or 0
        if self.whole and not self.pointed:
            return logical.Decimal(_MAX_DIGITS, 0)
        if self.floating:
            return logical.Float64()
        if not self.plain or digits > _MAX_DIGITS:
            return logical.String()
        return logical.Decimal(_MAX_DIGITS, scale + (_MAX_DIGITS - digits) // 2)


def _facts(numbers: Column) -> tuple[Column, ...]:
    """The aggregates that are the fields of `_Facts`."""
    texts = F.transform(numbers, lambda n: n.getField("text"))
    before = F.transform(texts, lambda t: F.length(F.regexp_replace(F.substring_index(t, ".", 1), "-", "")))
    # A point stands before the digits behind it, where there are any.
    tail = F.transform(texts, lambda t: F.length(t) - F.length(F.substring_index(t, ".", 1)))
    behind = F.transform(tail, lambda n: F.greatest(n - F.lit(1), F.lit(0)))
    return (
        F.bool_and(F.forall(texts, lambda t: t.isNull() | t.rlike(_WHOLE))),
        F.bool_or(F.exists(numbers, _is_pointed)),
        F.bool_and(F.forall(texts, lambda t: t.isNull() | _is_double(t))),
        F.bool_and(F.forall(texts, lambda t: t.isNull() | t.rlike(_PLAIN))),
        F.max(F.array_max(before)),
        F.max(F.array_max(behind)),
    )


def _is_pointed(number: Column) -> Column:
    """Whether a number is written with a point or an exponent, as far as it can be told: of those that 64 bits hold."""
    text, kind = number.getField("text"), number.getField("kind")
    fits = to_decimal(text, Decimal(_MAX_DIGITS, 0)).try_cast("bigint").isNotNull()
    return F.coalesce(has_point_or_exponent(text) | (fits & (kind != "BIGINT") & (kind != "STRING")), F.lit(False))


def _is_double(text: Column) -> Column:
    """Whether a number comes back from a double with the digits that it was written with."""
    number = text.try_cast("double")
    finite = (F.abs(number) != F.lit(float("inf"))) & (_digits(text) == _digits(number.cast("string")))
    return text.isin(*_NAMED) | finite


def _digits(text: Column) -> Column:
    """The digits of a number from the first to the last that is not 0."""
    mantissa = F.regexp_replace(F.regexp_replace(text, "[eE].*$", ""), "[^0-9]", "")
    return F.btrim(mantissa, F.lit("0"))
