"""Read the texts of option values: truth values, numbers, sizes, durations. Each kind is read in one way.

Every function gives None for a text that is no such value.
"""

from __future__ import annotations

import math
import re

_WHOLE = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_SIZE = re.compile(r"([0-9]{1,19})\s*([a-z]*)")
_SIZES = (("", "b", "bytes"), ("k", "kb", "kibibytes"), ("m", "mb", "mebibytes"), ("g", "gb", "gibibytes"))
_TERA = ("t", "tb", "tebibytes")
_SHIFTS = {unit: 10 * power for power, units in enumerate((*_SIZES, _TERA)) for unit in units}
_DURATION = re.compile(r"([0-9]{1,19})\s*([a-zµ]*)")
_MILLIS = {
    **dict.fromkeys(("d", "day", "days"), 86_400_000.0),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60_000.0),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1000.0),
    **dict.fromkeys(("", "ms", "milli", "millis", "millisecond", "milliseconds"), 1.0),
    **dict.fromkeys(("µs", "micro", "micros", "microsecond", "microseconds"), 1e-3),
    **dict.fromkeys(("ns", "nano", "nanos", "nanosecond", "nanoseconds"), 1e-6),
}
_STATS_MODE = re.compile(r"none|counts|full|truncate\([0-9]+\)", re.IGNORECASE)
#: The compressions of all file formats, by every name that one of them has.
CODECS = (
    *("none", "uncompressed", "null", "zstd", "zstandard", "lz4", "lz4_raw", "snappy", "gzip", "zlib", "deflate"),
    *("lzo", "brotli", "bzip2", "xz"),
)


def flag(text: str) -> bool | None:
    """`true` or `false`, in any case."""
    return {"true": True, "false": False}.get(text.strip().lower())


def whole(text: str) -> int | None:
    """A whole number of at most 19 decimal digits, with or without a sign."""
    return int(text) if _WHOLE.fullmatch(text.strip()) else None


def real(text: str) -> float | None:
    """A finite number."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def byte_size(text: str) -> int | None:
    """A size in bytes: `8 mb`, `1024`, `64KB`."""
    match = _SIZE.fullmatch(text.strip().lower())
    return None if match is None or match[2] not in _SHIFTS else int(match[1]) << _SHIFTS[match[2]]


def duration_millis(text: str) -> float | None:
    """A duration in milliseconds: `1 h`, `30s`, `100` (milliseconds)."""
    match = _DURATION.fullmatch(text.strip().lower())
    return None if match is None or match[2] not in _MILLIS else int(match[1]) * _MILLIS[match[2]]


def stats_mode(text: str) -> bool:
    """Whether the text is a mode in which statistics of columns are kept."""
    return bool(_STATS_MODE.fullmatch(text.strip()))
