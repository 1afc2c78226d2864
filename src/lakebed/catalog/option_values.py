"""Read the texts of option values: truth values, numbers, sizes, durations. Each kind is read in one way, as Java does.

A function of a text gives None for a text that is no such value. A function of a table's options reads one of them, by
default as the table of options says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import timedelta

from lakebed.catalog.options import OPTIONS
from lakebed.errors import UsageError

BAD_VALUE = "LB5073"

_WHOLE = re.compile(r"[+-]?[0-9]+", re.ASCII)
_REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?[fd]?", re.ASCII | re.IGNORECASE)
_HEXADECIMAL = re.compile(r"[+-]?0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?[0-9]+[fd]?", re.ASCII | re.IGNORECASE)
_MAX_INT, _MAX_LONG = 2**31 - 1, 2**63 - 1
_SIZE = re.compile(r"([0-9]+)\s*([a-z]*)", re.ASCII)
_SIZES = (("", "b", "bytes"), ("k", "kb", "kibibytes"), ("m", "mb", "mebibytes"), ("g", "gb", "gibibytes"))
_TERA = ("t", "tb", "tebibytes")
_SHIFTS = {unit: 10 * power for power, units in enumerate((*_SIZES, _TERA)) for unit in units}
_DURATION = re.compile(r"([0-9]+)\s*([a-zµ]*)", re.ASCII)
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


def boolean(text: str) -> bool | None:
    """`true` or `false`, in any case."""
    return {"true": True, "false": False}.get(text.lower())


def parse_boolean(text: str) -> bool:
    """Whether it is `true`, in any case. So Java reads what guards changes of columns: every other text is false."""
    return text.lower() == "true"


def whole(text: str) -> int | None:
    """A whole number of 32 bits, with or without a sign."""
    return _bounded(text, _MAX_INT)


def long(text: str) -> int | None:
    """A whole number of 64 bits, with or without a sign."""
    return _bounded(text, _MAX_LONG)


def _bounded(text: str, most: int) -> int | None:
    number = int(text) if _WHOLE.fullmatch(text) and len(text) < 100 else None
    return number if number is not None and -most - 1 <= number <= most else None


def real(text: str) -> float | None:
    """A finite number, decimal or hexadecimal as Java writes them; blanks around it do not count."""
    bare = text.strip()
    if _REAL.fullmatch(bare):
        number = float(bare.rstrip("fFdD"))
    elif _HEXADECIMAL.fullmatch(bare):
        try:
            number = float.fromhex(bare.rstrip("fFdD"))
        except OverflowError:
            return None
    else:
        return None
    return number if math.isfinite(number) else None


def byte_size(text: str) -> int | None:
    """A size in bytes: `8 mb`, `1024`, `64KB`."""
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None or match[2] not in _SHIFTS or len(match[1]) > 100:
        return None
    size = int(match[1]) << _SHIFTS[match[2]]
    return size if size <= _MAX_LONG else None


def duration_millis(text: str) -> float | None:
    """A duration in milliseconds: `1 h`, `30s`, `100` (milliseconds)."""
    match = _DURATION.fullmatch(text.strip().lower())
    number = None if match is None else long(match[1])
    if match is None or number is None or match[2] not in _MILLIS:
        return None
    millis = number * _MILLIS[match[2]]
    return millis if millis / 1000 <= _MAX_LONG else None


def stats_mode(text: str) -> bool:
    """Whether the text is a mode in which statistics of columns are kept."""
    return bool(_STATS_MODE.fullmatch(text.strip()))


def default_of(key: str) -> str | None:
    """What counts where the option is not set; None where nothing is known of it."""
    option = OPTIONS.get(key)
    return None if option is None else option.default


def is_set(options: Mapping[str, str], key: str) -> bool:
    """Whether a truth value is true. Raises `UsageError` (LB5073) for a text that is none."""
    text = options.get(key, default_of(key) or "false")
    found = boolean(text)
    if found is None:
        raise _bad(key, text, "true or false")
    return found


def is_flagged(options: Mapping[str, str], key: str) -> bool:
    """Whether a truth value is true, read as Java reads those that guard changes of a schema: any text is a value."""
    return parse_boolean(options.get(key, default_of(key) or "false"))


def text_of(options: Mapping[str, str], key: str) -> str:
    """The value of an option as it stands there; empty where it is not set and has no default."""
    return options.get(key, default_of(key) or "")


def word(options: Mapping[str, str], key: str) -> str:
    """The value of an option whose values are words, in lower case; empty where it is not set and has no default."""
    return text_of(options, key).lower()


def chosen_word(options: Mapping[str, str], key: str) -> str:
    """The value of an option that has a list of words, in lower case. Raises `UsageError` (LB5073) for another text."""
    found, words = word(options, key), OPTIONS[key].words
    if found not in words:
        raise _bad(key, text_of(options, key), f"one of {', '.join(words)}")
    return found


def columns_of(options: Mapping[str, str], key: str) -> tuple[str, ...]:
    """The columns that an option lists, without the blanks around them."""
    return column_names(text_of(options, key))


def column_names(text: str) -> tuple[str, ...]:
    """The names in a list with commas, without the blanks around them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def at_level(options: Mapping[str, str], key: str, level: int) -> str | None:
    """What an option of values by level, such as `0:avro,3:parquet`, says of a level; None where it says nothing."""
    pairs = (pair.partition(":") for pair in text_of(options, key).split(","))
    return next((value.strip() for at, colon, value in pairs if colon and whole(at.strip()) == level), None)


def whole_number(options: Mapping[str, str], key: str, default: int = 0) -> int:
    """The value of an option as a whole number of at least 0; `default` where it is not set and the table has none."""
    text = options.get(key, default_of(key) or str(default))
    number = whole(text)
    if number is None or number < 0:
        raise _bad(key, text, "a whole number")
    return number


def number_of(options: Mapping[str, str], key: str) -> float:
    """The value of an option as a number of at least 0, such as `0.7`."""
    text = text_of(options, key)
    number = real(text)
    if number is None or number < 0:
        raise _bad(key, text, "a number")
    return number


def size_of(options: Mapping[str, str], key: str, default: int = 0) -> int:
    """The value of an option in bytes: `8 mb`, `1024`, `64KB`; `default` as in `whole_number`."""
    text = options.get(key, default_of(key) or str(default))
    size = byte_size(text)
    if size is None:
        raise _bad(key, text, "a size such as 8 mb")
    return size


def duration_of(options: Mapping[str, str], key: str) -> timedelta:
    """The value of an option as a length of time: `1 h`, `30s`, `100` (milliseconds)."""
    text = text_of(options, key)
    millis = duration_millis(text)
    if millis is None:
        raise _bad(key, text, "a length of time such as 1 h")
    try:
        return timedelta(milliseconds=millis)
    except OverflowError:
        return timedelta.max


def _bad(key: str, text: str, expected: str) -> UsageError:
    return UsageError.of(BAD_VALUE, f"option {key} is {text!r}", path=key, expected=expected, found=text)
