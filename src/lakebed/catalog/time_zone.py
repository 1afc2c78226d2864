"""Check the time zone that a warehouse is opened with."""

from __future__ import annotations

from lakebed.diagnostics import near_names
from lakebed.errors import UsageError

UNKNOWN_TIME_ZONE = "LB3116"


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
