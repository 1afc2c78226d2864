"""Where the warehouse is: `--warehouse`, else `LAKEBED_WAREHOUSE`, else the nearest `lakebed.toml`."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lakebed.diagnostics import near_names
from lakebed.errors import UsageError

FILE_NAME = "lakebed.toml"
_KEYS = ("warehouse", "layout", "time_zone")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings of a run and where the warehouse's path came from."""

    warehouse: str
    layout: str = "auto"
    time_zone: str = "UTC"


def find_configuration(
    flag: str | None, environment: Mapping[str, str] = os.environ, directory: Path | None = None
) -> Configuration:
    """The configuration in force. Raises `UsageError` where no warehouse is named or the file cannot be understood."""
    found = _nearest_file(directory or Path.cwd())
    settings = _load(found) if found else {}
    named = flag or environment.get("LAKEBED_WAREHOUSE")
    if named is None and found and "warehouse" in settings:
        written = settings["warehouse"]
        named = written if "://" in written else str((found.parent / written).absolute())
    if not named:
        raise UsageError.of(
            "LB7001",
            "no warehouse is named",
            expected="--warehouse DIR, the environment variable LAKEBED_WAREHOUSE, or `warehouse` in lakebed.toml",
            remedy="`lakebed init DIR` makes a warehouse and a lakebed.toml that names it",
        )
    return Configuration(named, settings.get("layout", "auto"), settings.get("time_zone", "UTC"))


def _nearest_file(start: Path) -> Path | None:
    return next((p / FILE_NAME for p in (start, *start.parents) if (p / FILE_NAME).is_file()), None)


def _load(path: Path) -> dict[str, str]:
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError.of("LB7002", f"{path} is not valid TOML: {error}") from None
    for key, value in settings.items():
        if key not in _KEYS:
            raise UsageError.of(
                "LB7002",
                f"{path}: unknown setting {key!r}",
                suggestions=near_names(key, _KEYS),
                expected=", ".join(_KEYS),
            )
        if not isinstance(value, str):
            raise UsageError.of("LB7002", f"{path}: setting {key!r} must be text", found=repr(value))
    return settings
