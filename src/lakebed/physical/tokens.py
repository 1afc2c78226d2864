"""Split the text of a data type into tokens, each with its position."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from lakebed.diagnostics import Position
from lakebed.errors import TypeTextError

_PUNCTUATION = "<>(),."
# White space by Java's rule, which leaves out the non-breaking spaces.
_NOT_BLANK = "\u0085\u00a0\u2007\u202f"


class TokenKind(Enum):
    """What a token is; END stands once, after the last one."""

    WORD = auto()
    INTEGER = auto()
    QUOTED = auto()
    PUNCTUATION = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """`text` is as found, of a quoted token what stands between the quotes; `start` counts characters from 0."""

    kind: TokenKind
    text: str
    start: int

    @property
    def keyword(self) -> str:
        """The text of a word in upper case, where only ASCII letters have one; empty for other tokens."""
        if self.kind is not TokenKind.WORD:
            return ""
        return self.text.upper() if self.text.isascii() else self.text


def _is_blank(char: str) -> bool:
    return char.isspace() and char not in _NOT_BLANK


def failure(
    text: str, start: int, code: str, message: str, error: type[TypeTextError] = TypeTextError, **parts: Any
) -> TypeTextError:
    """An error of this class with one diagnostic, at the character `start` of `text`."""
    shown = text if len(text) <= 80 else text[:77] + "..."
    where = position(text, start)
    return error.of(code, f"{message} (type text {shown!r})", position=where, **parts)


def position(text: str, start: int) -> Position:
    """Line and column, from 1, of the character `start`."""
    before = text[:start]
    return Position(None, before.count("\n") + 1, start - before.rfind("\n"))


def tokens(text: str, quotes: str = "'`", punctuation: str = _PUNCTUATION) -> list[Token]:
    """All tokens in order and END. Raises `TypeTextError` for a quote that is never closed."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        char = text[at]
        if _is_blank(char):
            at += 1
        elif char in punctuation:
            found.append(Token(TokenKind.PUNCTUATION, char, at))
            at += 1
        elif char in quotes:
            token, at = _quoted_token(text, at)
            found.append(token)
        else:
            end = at
            while end < len(text) and not _is_blank(text[end]) and text[end] not in punctuation:
                end += 1
            word = text[at:end]
            kind = TokenKind.INTEGER if word.isascii() and word.isdigit() else TokenKind.WORD
            found.append(Token(kind, word, at))
            at = end
    found.append(Token(TokenKind.END, "", len(text)))
    return found


def _quoted_token(text: str, start: int) -> tuple[Token, int]:
    """The token that begins with the quote at `start`, and where it ends; a doubled quote stands for itself."""
    quote = text[start]
    value: list[str] = []
    at = start + 1
    while at < len(text):
        if text[at] != quote:
            value.append(text[at])
            at += 1
        elif text[at + 1 : at + 2] == quote:
            value.append(quote)
            at += 2
        else:
            return Token(TokenKind.QUOTED, "".join(value), start), at + 1
    raise failure(text, start, "LB2001", f"the quote {quote} is never closed", remedy="close the quote")
