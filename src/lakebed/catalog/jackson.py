"""Print JSON as Jackson's default pretty printer does, which the Java engines write."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPED = re.compile(r'["\\\x00-\x1f]')


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A part of a value whose text is known already, at the indentation that it has there."""

    text: str


def laid_out(value: Any, indent: str) -> LaidOut:
    """The text of a part of a value; `indent` is that of the line which it starts on."""
    return LaidOut(_laid_out(value, indent))


def pretty(value: Any) -> bytes:
    """UTF-8 text of a JSON value: two spaces a level, `" : "`, lists opened on the same line, no newline at the end."""
    return _laid_out(value, "").encode()


def _laid_out(value: Any, indent: str) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        inner = f"{indent}  "
        members = [f"{inner}{_text(key)} : {_laid_out(part, inner)}" for key, part in value.items()]
        return "{\n" + ",\n".join(members) + f"\n{indent}}}" if members else "{ }"
    if isinstance(value, list | tuple):
        return f"[ {', '.join([_laid_out(part, indent) for part in value])} ]" if value else "[ ]"
    if isinstance(value, LaidOut):
        return value.text
    # Whole numbers, which are most of the rest, need no encoder.
    return str(value) if type(value) is int else json.dumps(value)


def _text(text: str) -> str:
    if _ESCAPED.search(text) is None:
        return f'"{text}"'
    return '"' + _ESCAPED.sub(lambda found: _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04X}", text) + '"'
