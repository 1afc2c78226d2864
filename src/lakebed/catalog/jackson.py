"""Print JSON as Jackson's default pretty printer does, which the Java engines write."""

from __future__ import annotations

import json
import re
from typing import Any

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPED = re.compile(r'["\\\x00-\x1f]')


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
    # Whole numbers, which are most of the rest, need no encoder.
    return str(value) if type(value) is int else json.dumps(value)


def _text(text: str) -> str:
    if _ESCAPED.search(text) is None:
        return f'"{text}"'
    return '"' + _ESCAPED.sub(lambda found: _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04X}", text) + '"'
