"""Write JSON values as YAML text in block style that every YAML loader reads alike.

Text stands without quotes only where no loader of YAML 1.1 or 1.2 could take it for anything else: `no`, `on`, `y`,
`1e3`, `0777`, `12:30` and dates are quoted. Numbers are spelled so that 1.1 and 1.2 agree on them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from lakebed.model import JsonValue

_PLAIN = re.compile(r"[A-Za-z$][A-Za-z0-9_./,;()'+=%!?<>@$ :-]*")
_NOT_TEXT = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity", "none", "nil"]
)
_BLOCK_LINE = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?")
#: Readers look for the colon of a key in this many characters only; a longer key is written after a question mark.
_MAX_SIMPLE_KEY = 500
_NOT_SEEN = re.compile("[\x7f-\xa0\xad\u2028\u2029\ufeff\ufffe\uffff]|[\ud800-\udfff]")
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\xa0\xad\u2028\u2029\ufeff\ufffe\uffff]|[\ud800-\udfff]')


def is_json(text: str) -> bool:
    """Whether a text is JSON, an object or a list, and no other YAML."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def json_text(value: JsonValue) -> str:
    """JSON on one line that is YAML, too: what may not stand there, or is not seen, is escaped."""
    return _NOT_SEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def yaml_text(value: dict[str, JsonValue] | list[JsonValue]) -> str:
    """The text of a whole document, ending with a line break."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: JsonValue) -> Iterator[str]:
    """The lines of a value that does not fit behind a key."""
    match value:
        case dict() if value:
            for key, member in value.items():
                yield from _entry(key, member)
        case list() if value:
            for item in value:
                yield from _item(item)
        case _:
            yield _scalar(value)


def _entry(key: str, value: JsonValue) -> Iterator[str]:
    """`key: value`, the value on the same line where it is a scalar; what is not is indented."""
    prefix = f"{text_scalar(key)}:"
    if len(prefix) > _MAX_SIMPLE_KEY:
        yield f"? {text_scalar(key)}"
        prefix = ":"
    if isinstance(value, str) and (block := _block(value)) is not None:
        yield f"{prefix} |-"
        yield from (f"  {line}" if line else "" for line in block)
    elif isinstance(value, dict | list) and value:
        yield prefix
        yield from (f"  {line}" if line else line for line in _lines(value))
    else:
        yield f"{prefix} {_scalar(value)}"


def _item(value: JsonValue) -> Iterator[str]:
    lines = _lines(value)
    yield f"- {next(lines)}"
    yield from (f"  {line}" if line else line for line in lines)


def _scalar(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float(value)
        case str():
            return text_scalar(value)
        case dict():
            return "{}"
        case _:
            return "[]"


def _float(value: float) -> str:
    """With a dot and a signed exponent, without which YAML 1.1 takes it for text."""
    mantissa, e, exponent = json.dumps(value, allow_nan=False).partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + e + exponent


def text_scalar(text: str) -> str:
    """A text on one line, in double quotes unless it is safe without."""
    plain = (
        _PLAIN.fullmatch(text) is not None
        and text.lower() not in _NOT_TEXT
        and not text.endswith((" ", ":"))
        and ": " not in text
        and len(text) < _MAX_SIMPLE_KEY
    )
    return text if plain else f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    if short is not None:
        return short
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _block(text: str) -> list[str] | None:
    """The lines of a text that can stand as a block of its own, for people to read."""
    lines = text.split("\n")
    if len(lines) < 2 or not lines[0] or not lines[-1]:
        return None
    return lines if all(_BLOCK_LINE.fullmatch(line) for line in lines) else None
