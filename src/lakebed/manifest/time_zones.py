"""Check the name of a `Timestamp`'s time zone: one of the tz database, or a fixed offset."""

from __future__ import annotations

import re
import zoneinfo
from functools import cache

_OFFSET = re.compile(r"Z|(?:UTC|GMT|UT)?[+-](?:0[0-9]|1[0-7]):[0-5][0-9]|(?:UTC|GMT|UT)?[+-]18:00")
_SHAPE = re.compile(r"[A-Za-z][A-Za-z0-9_+\-]*(?:/[A-Za-z0-9_+\-]+)*")


def is_time_zone(name: str) -> bool:
    """Whether `name` is a zone: `Europe/Paris`, `UTC`, `Z`, `+07:30`, `GMT+05:00`.

    A machine without a tz database cannot tell a misspelt name; there, every name of the right shape passes.
    """
    if name == "UTC" or _OFFSET.fullmatch(name):
        return True
    known = known_time_zones()
    return name in known if known else _SHAPE.fullmatch(name) is not None


@cache
def known_time_zones() -> frozenset[str]:
    """All names of the tz database of this machine; empty where it has none."""
    return frozenset(zoneinfo.available_timezones())
