"""Moments of system tables: a number of milliseconds since 1970 as a wall clock, where there is such a one."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from lakebed.errors import warn


def wall_clock(millis: int, zone: tzinfo, source: str) -> datetime | None:
    """The wall clock of the zone, without one; None, with a `LakebedWarning`, outside of the years 1 to 9999.

    `source` says in a message whose moment it is. What another engine wrote as a time need not be one.
    """
    try:
        return datetime.fromtimestamp(millis / 1000, UTC).astimezone(zone).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        warn(
            "LB5081",
            f"{source}: {millis} milliseconds since 1970 are no time of the years 1 to 9999; it is shown as NULL",
            path=source,
            expected="a time of the years 1 to 9999",
            found=str(millis),
            remedy="if the file was edited or is damaged, restore it from a copy of the warehouse",
        )
        return None
