"""Represent each problem of an input as one `Diagnostic`, as data, never as printed text.

A diagnostic carries a stable code (see `lakebed.codes`), the message, where the problem is (file, line and column, or a
column path), what was expected, what was found, and how to mend it. Rendering is the business of `lakebed.render`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from lakebed.printable import encodable, one_line
from lakebed.redaction import logins_of, redact, without


class Severity(StrEnum):
    """How much a diagnostic matters. Only an error stops a command."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text: `line` and `column` count from 1; `file` is None for text that did not come from a file."""

    file: str | None
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file or '<text>'}:{self.line}:{self.column}"


def _shown(text: str, logins: tuple[str, ...]) -> str:
    return encodable(without(redact(text), logins))


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem of one input. Secrets in its URLs are not kept; see `lakebed.redaction`.

    `remedy` is for every front end, or for the command line where `python_remedy` says the same for a program:
    `str(diagnostic)`, and so an error in Python, shows the latter.
    """

    code: str
    message: str
    severity: Severity = Severity.ERROR
    position: Position | None = None
    path: str | None = None
    expected: str | None = None
    found: str | None = None
    remedy: str | None = None
    suggestions: tuple[str, ...] = ()
    python_remedy: str | None = None

    def __post_init__(self) -> None:
        logins = logins_of(self.path) if self.path else ()
        for name in ("message", "path", "expected", "found", "remedy", "python_remedy"):
            text = getattr(self, name)
            if text is not None and (shown := _shown(text, logins)) != text:
                object.__setattr__(self, name, shown)
        if self.suggestions:
            # What was given is no help to who gave it.
            others = tuple(s for s in (_shown(text, logins) for text in self.suggestions) if s != self.found)
            object.__setattr__(self, "suggestions", others)
        if self.position is not None and self.position.file:
            object.__setattr__(self, "position", replace(self.position, file=encodable(self.position.file)))

    def without(self, secrets: tuple[str, ...]) -> Diagnostic:
        """The same with `***` in the place of these texts."""

        def clean(text: str | None) -> str | None:
            return None if text is None else without(text, secrets)

        return replace(
            self,
            message=without(self.message, secrets),
            path=clean(self.path),
            expected=clean(self.expected),
            found=clean(self.found),
            remedy=clean(self.remedy),
            python_remedy=clean(self.python_remedy),
        )

    def __str__(self) -> str:
        return self.text(self.python_remedy or self.remedy)

    def text(self, remedy: str | None) -> str:
        """The diagnostic with this remedy, in the style of a compiler: a line, and one for the remedy.

        Names, paths and values in it may hold any character; those that would command a terminal are escapes here, and
        what they are in `message`, `path` and `found`.
        """
        where = f"{self.position}: " if self.position else ""
        text = f"{where}{self.severity}[{self.code}]: {self.message}"
        if self.suggestions:
            text += f" (did you mean {' or '.join(repr(s) for s in self.suggestions)}?)"
        lines = [text, f"    remedy: {remedy}"] if remedy else [text]
        return "\n".join(map(one_line, lines))

    def to_json(self) -> dict[str, Any]:
        """The JSON object of the `diagnostics` list of every `--json` output; absent parts are left out."""
        out: dict[str, Any] = {"code": self.code, "severity": str(self.severity), "message": self.message}
        if self.position is not None:
            out["position"] = {
                "file": self.position.file,
                "line": self.position.line,
                "column": self.position.column,
            }
        for key in ("path", "expected", "found", "remedy", "python_remedy"):
            value = getattr(self, key)
            if value is not None:
                out[key] = value
        if self.suggestions:
            out["suggestions"] = list(self.suggestions)
        return out


def reason_of(error: BaseException) -> str:
    """Why something could not be read, in words: no class and no `repr` of Python's where a message needs neither."""
    match error:
        case KeyError() if error.args:
            # Kinds of it, such as that of a time zone which is not there, say a sentence.
            return f"there is no {error.args[0]!r}" if type(error) is KeyError else str(error.args[0])
        case AttributeError() | TypeError() | AssertionError():
            return "a part of it is of another kind than expected"
        case IndexError():
            return "it ends too early"
        case RecursionError():
            return "it is nested too deeply"
        case UnicodeDecodeError():
            return f"byte {error.start} is not {error.encoding.upper()}"
    lines = str(error).splitlines()
    return lines[0] if lines and lines[0] else type(error).__name__


def near_names(name: str, known: Iterable[str], limit: int = 2) -> tuple[str, ...]:
    """The names in `known` that `name` was probably meant to be, best first; case is ignored when comparing."""
    # Names are compared where something is wrong, and most of the time nothing is.
    import difflib

    by_folded: dict[str, str] = {}
    for candidate in known:
        by_folded.setdefault(candidate.casefold(), candidate)
    close = difflib.get_close_matches(name.casefold(), list(by_folded), n=limit, cutoff=0.6)
    return tuple(by_folded[folded] for folded in close)


_PLAIN_NAME = re.compile(r"[^.`\s]+")


def path_text(path: Iterable[str]) -> str:
    """A column path as people read it: parts joined by dots, a part in backticks where it would be misread."""
    return ".".join([_quoted(part) for part in path])


def _quoted(part: str) -> str:
    return part if _PLAIN_NAME.fullmatch(part) else "`" + part.replace("`", "``") + "`"
