"""Rewrite characters that command a terminal, turn the direction of text or are not seen as escapes."""

from __future__ import annotations

import re

_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_BREAKS = re.compile(r"[\t\n\u2028\u2029]")


def printable(text: str) -> str:
    """Characters that command a terminal, or turn the direction of text, as escapes; line breaks stay."""
    return text if text.isprintable() else _COMMANDS.sub(_escape, text)


def one_line(text: str) -> str:
    """`printable`, and line breaks and tabs as escapes too."""
    return text if text.isprintable() else _BREAKS.sub(_escape, printable(text))


def encodable(text: str) -> str:
    """Halves of characters, as U+D800 and its like, as escapes: no terminal and no file takes them."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
