"""Table options that hold truth values, numbers and sizes, read from their texts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lakebed.errors import UsageError

_SIZE = re.compile(r"(\d+)\s*([a-z]*)")
_UNITS = {"": 0, "b": 0, "bytes": 0, "k": 1, "kb": 1, "kibibytes": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "t": 4, "tb": 4}


def is_set(options: Mapping[str, str], key: str, *, default: bool = False) -> bool:
    """Whether a boolean option is true; `default` where it is not set. Any other text counts as the opposite."""
    text = options.get(key, "").strip().lower()
    return (text != "false" if default else text == "true") if key in options else default


def whole_number(options: Mapping[str, str], key: str, default: int) -> int:
    """The value of an option as a whole number of at least 0."""
    text = options.get(key, str(default)).strip()
    if not (text.isascii() and text.isdigit()):
        raise _bad(key, text, "a whole number")
    return int(text)


def byte_size(options: Mapping[str, str], key: str, default: int) -> int:
    """The value of an option as bytes: `8 mb`, `1024`, `64KB`."""
    text = options.get(key, str(default)).strip()
    match = _SIZE.fullmatch(text.lower())
    if match is None or match[2] not in _UNITS:
        raise _bad(key, text, "a size such as 8 mb")
    return int(match[1]) << 10 * _UNITS[match[2]]


def _bad(key: str, text: str, expected: str) -> Exception:
    return UsageError.of("LB5073", f"option {key} is {text!r}", path=key, expected=expected, found=text)
