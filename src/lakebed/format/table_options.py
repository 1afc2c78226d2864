"""Read table options that hold truth values, numbers and sizes."""

from __future__ import annotations

from collections.abc import Mapping

from lakebed.catalog import option_values
from lakebed.errors import UsageError


def is_set(options: Mapping[str, str], key: str, *, default: bool = False) -> bool:
    """Whether a boolean option is true; `default` where it is not set. Any other text counts as the opposite."""
    text = options.get(key, "").strip().lower()
    return (text != "false" if default else text == "true") if key in options else default


def whole_number(options: Mapping[str, str], key: str, default: int) -> int:
    """The value of an option as a whole number of at least 0."""
    text = options.get(key, str(default)).strip()
    number = option_values.whole(text)
    if number is None or number < 0:
        raise _bad(key, text, "a whole number")
    return number


def byte_size(options: Mapping[str, str], key: str, default: int) -> int:
    """The value of an option as bytes: `8 mb`, `1024`, `64KB`."""
    text = options.get(key, str(default)).strip()
    size = option_values.byte_size(text)
    if size is None:
        raise _bad(key, text, "a size such as 8 mb")
    return size


def _bad(key: str, text: str, expected: str) -> Exception:
    return UsageError.of("LB5073", f"option {key} is {text!r}", path=key, expected=expected, found=text)
