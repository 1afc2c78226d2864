"""Convert between wall clocks (`timestamp_ntz`) and instants (`timestamp`), always in a named time zone.

Casts and most functions would take the session's zone instead, and even where it cancels out, wall clocks that it skips
in spring would be moved.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

UTC = "UTC"

_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def wall_to_instant(wall: Column, time_zone: str) -> Column:
    """The instant at which `time_zone` shows a wall clock: the first of two, or as if not yet put forward."""
    seconds = (wall - F.expr(_EPOCH)).cast("decimal(20,6)")
    utc = F.timestamp_micros((seconds * F.lit(1_000_000)).cast("bigint"))
    return utc if time_zone == UTC else F.to_utc_timestamp(utc, time_zone)


def utc_instant(value: Column) -> Column:
    """The instant of a column that is a `timestamp`, or a `timestamp_ntz` with the clock in UTC."""
    return F.when(F.typeof(value) == F.lit("timestamp"), value).otherwise(wall_to_instant(value, UTC))


def instant_to_wall(instant: Column, time_zone: str) -> Column:
    """The wall clock that `time_zone` shows at an instant."""
    shown = instant if time_zone == UTC else F.from_utc_timestamp(instant, time_zone)
    return F.timestamp_add("MICROSECOND", F.unix_micros(shown), F.expr(_EPOCH))


def floor_div(value: Column, by: int) -> Column:
    """Whole number division that rounds down, exactly, also below zero."""
    divisor = F.lit(by)
    return F.call_function("div", value, divisor) - (value % divisor < F.lit(0)).cast("bigint")
