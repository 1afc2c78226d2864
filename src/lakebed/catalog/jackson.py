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
    match value:
        case dict():
            inner = f"{indent}  "
            members = ",\n".join(f"{inner}{_text(key)} : {_laid_out(part, inner)}" for key, part in value.items())
            return f"{{\n{members}\n{indent}}}" if members else "{ }"
        case list() | tuple():
            items = ", ".join(_laid_out(part, indent) for part in value)
            return f"[ {items} ]" if items else "[ ]"
        case str():
            return _text(value)
        case _:
            return json.dumps(value)


def _text(text: str) -> str:
    return '"' + _ESCAPED.sub(lambda found: _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04X}", text) + '"'
