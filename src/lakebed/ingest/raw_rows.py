"""Write a row of a source as JSON text, in the forms in which ingest reads JSON.

Dates, times and timestamps are text with all their digits, instants in UTC; what they cannot say is the number that the
source has. Bytes are base64. NULLs are there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lakebed.arrow.line_numbers import WHOLE_LINE
from lakebed.ingest.columns.times import micros_of_ticks
from lakebed.ingest.sources.source_types import Clock, Entries, Items, Members, Plain, SourceType, Ticks
from lakebed.spark.clocks import UTC, instant_to_wall

#: The one key of the object that stands for a line which could not be split into values.
LINE = WHOLE_LINE

_DAY_SECONDS = 86_400
_Render = Callable[[Column], Column]


def as_json(columns: Sequence[tuple[str, SourceType, Column]]) -> Column:
    """A row as a JSON object of its columns."""
    shown = ((name, _render(type_), value) for name, type_, value in columns)
    row = F.struct(*((value if render is None else render(value)).alias(name) for name, render, value in shown))
    return F.to_json(row, {"ignoreNullFields": "false", "timeZone": UTC})


def line_as_json(line: Column) -> Column:
    """A line without columns as a JSON object; NULL stays NULL."""
    return F.when(line.isNotNull(), F.to_json(F.struct(line.alias(LINE))))


def _render(type_: SourceType) -> _Render | None:
    """How values are made fit for JSON; None where they are."""
    match type_:
        case Plain(type=spark.TimestampType()):
            return lambda x: F.concat(instant_to_wall(x, UTC).cast("string"), F.lit("Z"))
        case Plain(type=spark.DateType() | spark.TimestampNTZType()):
            return lambda x: x.cast("string")
        case Plain(type=spark.NullType()):
            return lambda _: F.lit(None).cast("string")
        case Ticks():
            return lambda x: _stamp(x, type_)
        case Clock():
            return lambda x: _clock(x, type_.digits)
        case Items():
            item = _render(type_.item)
            return None if item is None else lambda x: F.transform(x, item)
        case Entries():
            return _render_entries(type_)
        case Members():
            return _render_members(type_)
        case _:
            return None


def _render_entries(type_: Entries) -> _Render | None:
    key, value = _render(type_.key), _render(type_.value)

    def render(x: Column) -> Column:
        x = x if value is None else F.transform_values(x, lambda _, v: value(v))
        return x if key is None else F.transform_keys(x, lambda k, _: key(k))

    return None if key is None and value is None else render


def _render_members(type_: Members) -> _Render | None:
    renders = [(name, _render(inner)) for name, inner in type_.fields]
    if all(render is None for _, render in renders):
        return None

    def member(x: Column, name: str, render: _Render | None) -> Column:
        value = x.getField(name)
        return (value if render is None else render(value)).alias(name)

    return lambda x: F.when(x.isNotNull(), F.struct(*(member(x, name, render) for name, render in renders)))


def _stamp(x: Column, type_: Ticks) -> Column:
    unit = F.lit(10**type_.digits).cast("bigint")
    rest = F.pmod(x, unit)
    whole = F.call_function("div", micros_of_ticks(x, type_.digits) - _micros_in(rest, type_.digits), F.lit(10**6))
    wall = instant_to_wall(F.timestamp_seconds(whole), UTC).cast("string")
    text = F.concat(wall, F.lit("."), F.lpad(rest.cast("string"), type_.digits, "0"), F.lit("Z" if type_.zoned else ""))
    return F.coalesce(text, x.cast("string"))


def _micros_in(rest: Column, digits: int) -> Column:
    return F.coalesce(micros_of_ticks(rest, digits), F.lit(0))


def _clock(x: Column, digits: int) -> Column:
    unit = F.lit(10**digits).cast("bigint")
    seconds = F.call_function("div", x.cast("bigint"), unit)
    hours, minutes = (F.call_function("div", seconds, F.lit(n).cast("bigint")) for n in (3600, 60))
    text = F.format_string("%02d:%02d:%02d", hours, minutes % F.lit(60), seconds % F.lit(60))
    if digits:
        text = F.concat(text, F.lit("."), F.lpad(F.pmod(x.cast("bigint"), unit).cast("string"), digits, "0"))
    return F.when((x >= F.lit(0)) & (seconds < F.lit(_DAY_SECONDS)), text).otherwise(x.cast("string"))
