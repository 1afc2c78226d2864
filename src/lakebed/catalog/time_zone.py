"""Check the time zone that a warehouse is opened with, and make of a zone's name what Python computes with."""

from __future__ import annotations

import re
from datetime import timedelta, timezone, tzinfo
from functools import cache

from lakebed.diagnostics import near_names
from lakebed.errors import UsageError

UNKNOWN_TIME_ZONE = "LB3116"

_FIXED_ZONE = re.compile(r"(?:UTC|GMT|UT)?([+-])([01][0-9]):([0-5][0-9])", re.ASCII)
_UTC_NAMES = {"UTC", "GMT", "Z", "Etc/UTC", "Etc/GMT", "UCT", "Etc/UCT", "Zulu", "Etc/Zulu", "Universal"}


def check_time_zone(name: str) -> str:
    """The name itself.

    Raises:
        UsageError: it is no name of the tz database and no fixed offset.
    """
    if name == "UTC":
        return name
    from lakebed.manifest.time_zones import is_time_zone, known_time_zones

    if is_time_zone(name):
        return name
    raise UsageError.of(
        UNKNOWN_TIME_ZONE,
        f"{name!r} is no time zone",
        expected="a name of the tz database (Europe/Paris) or an offset (+02:00)",
        found=name,
        suggestions=near_names(name, known_time_zones()),
        remedy="Correct the name.",
    )


def zone_of(name: str) -> tzinfo:
    """The zone of this name: one of the tz database, or a fixed offset. Raises what `check_time_zone` raises."""
    zone = find_zone(name)
    if zone is None:
        check_time_zone(name)
        raise UsageError.of(
            UNKNOWN_TIME_ZONE,
            f"this machine has no rules for the time zone {name!r}",
            found=name,
            remedy="Install a tz database, such as by `pip install tzdata`, or name an offset (+02:00).",
        )
    return zone


@cache
def find_zone(name: str) -> tzinfo | None:
    """A zone of Spark; a `timezone` where its offset is always the same; None for one that is not known."""
    fixed = fixed_offset(name)
    if fixed is not None:
        return timezone(fixed)
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (OSError, ValueError):  # An unknown zone is a KeyError of its own kind, a bad name a ValueError.
        return None
    except KeyError:
        return None


def fixed_offset(name: str) -> timedelta | None:
    """The offset from UTC that a zone's name says; None for one with rules, and for what Spark refuses."""
    if name in _UTC_NAMES:
        return timedelta()
    found = _FIXED_ZONE.fullmatch(name)
    if found is None:
        return None
    sign, hours, minutes = found.groups()
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    if offset > timedelta(hours=18):
        return None
    return -offset if sign == "-" else offset
