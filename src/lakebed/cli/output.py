"""Print results on standard output and messages on standard error, in text or JSON."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from lakebed.cli.exit_codes import ExitCode
from lakebed.diagnostics import Diagnostic
from lakebed.printable import printable
from lakebed.render.diagnostic_text import diagnostic_text

if TYPE_CHECKING:
    from lakebed.render.findings import Report

FORMAT_VERSION = 1
#: Lines of larger files than manifests may be are not shown.
_LARGEST_SOURCE = 4 * 1024 * 1024

#: What our tables are drawn with, for a terminal that does not have it.
_ASCII_LINES = str.maketrans({"─": "-", "…": "~"})


class ReaderGoneError(Exception):
    """Whoever read the output has gone away, as `head` does; there is nobody to tell."""


@dataclass(frozen=True, slots=True)
class Look:
    """How text is to look. `width` is the terminal's, None where no terminal cuts and text has to be complete."""

    width: int | None = None
    colour: bool = False


def look_of(stream: TextIO) -> Look:
    """The look for a stream: what its terminal can show, or plain and complete text."""
    if not stream.isatty():
        return Look()
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Look(_terminal_width(stream), colour)


def _terminal_width(stream: TextIO) -> int:
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdigit() and int(wanted):
        return int(wanted)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80


class Output(Protocol):
    """Where a command puts its result and its talk."""

    def talk(self, text: Callable[[Look], str], *, painted: bool = False) -> None:
        """Say something to a person; never part of the result. A `painted` text has the colours of the look."""
        ...

    def diagnose(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Report problems and notices."""
        ...

    def finish(
        self,
        command: str,
        code: ExitCode,
        result: Any,
        text: Callable[[Look], str],
        *,
        painted: bool = False,
        report: Callable[[], Report] | None = None,
    ) -> None:
        """Put out the result: `result` as JSON, what `text` returns, or the report, according to the mode."""
        ...

    def row(self, value: dict[str, Any]) -> None:
        """Put out one row of `read --json`: a JSON line without an envelope."""
        ...


class TextOutput:
    """For people: the text on standard output, diagnostics like a compiler's on standard error.

    `texts` are those that came from no file, by the name that positions in them say.
    """

    def __init__(self, texts: Mapping[str, bytes] | None = None) -> None:
        self._texts = {} if texts is None else texts

    def talk(self, text: Callable[[Look], str], *, painted: bool = False) -> None:
        _show(sys.stderr, text, painted)

    def diagnose(self, diagnostics: Iterable[Diagnostic]) -> None:
        lines = _SourceLines(self._texts)
        for diagnostic in diagnostics:
            _show(sys.stderr, partial(_diagnostic, diagnostic, lines.line(diagnostic)), painted=True)

    def finish(
        self,
        command: str,
        code: ExitCode,
        result: Any,
        text: Callable[[Look], str],
        *,
        painted: bool = False,
        report: Callable[[], Report] | None = None,
    ) -> None:
        _show(sys.stdout, text, painted)

    def row(self, value: dict[str, Any]) -> None:
        _write(sys.stdout, _json(value))


class JsonOutput:
    """For programs: one JSON object with `format_version` on standard output; talk stays on standard error."""

    def __init__(self) -> None:
        self._diagnostics: list[Diagnostic] = []

    def talk(self, text: Callable[[Look], str], *, painted: bool = False) -> None:
        _show(sys.stderr, text, painted)

    def diagnose(self, diagnostics: Iterable[Diagnostic]) -> None:
        self._diagnostics.extend(diagnostics)

    def finish(
        self,
        command: str,
        code: ExitCode,
        result: Any,
        text: Callable[[Look], str],
        *,
        painted: bool = False,
        report: Callable[[], Report] | None = None,
    ) -> None:
        envelope = {
            "format_version": FORMAT_VERSION,
            "command": command,
            "ok": code.is_ok,
            "result": result,
            "diagnostics": [d.to_json() for d in self._diagnostics],
        }
        _write(sys.stdout, _json(envelope, indent=None if command == "read" else 2))

    def row(self, value: dict[str, Any]) -> None:
        _write(sys.stdout, _json(value))


def prepare_streams() -> None:
    """Let nothing that is put out fail for its characters: escapes where a terminal lacks them, UTF-8 elsewhere.

    A stream that the process was started without leads nowhere.
    """
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


def _diagnostic(diagnostic: Diagnostic, source: str | None, look: Look) -> str:
    return diagnostic_text(diagnostic, colour=look.colour, source=source)


class _SourceLines:
    """The lines of files, and of texts that came from none, that diagnostics are about."""

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = texts
        self._files: dict[str, list[str]] = {}

    def line(self, diagnostic: Diagnostic) -> str | None:
        """The line that a position is in; None where it is in no file that is there."""
        position = diagnostic.position
        if position is None or position.file is None:
            return None
        lines = self._files.setdefault(position.file, self._read(position.file))
        return lines[position.line - 1] if 0 < position.line <= len(lines) else None

    def _read(self, file: str) -> list[str]:
        if file in self._files:
            return self._files[file]
        if file in self._texts:
            held = self._texts[file]
            return _split(held.decode("utf-8-sig", errors="replace")) if len(held) <= _LARGEST_SOURCE else []
        try:
            # A pipe gives what it holds only once, and a file of rows is not read for a line of it.
            if not os.path.isfile(file) or os.path.getsize(file) > _LARGEST_SOURCE:
                return []
            with open(file, encoding="utf-8-sig", errors="replace", newline="") as stream:
                return _split(stream.read())
        except (OSError, ValueError):
            return []


def _split(text: str) -> list[str]:
    return re.split("\r\n|\r|\n", text)


def _show(stream: TextIO, text: Callable[[Look], str], painted: bool) -> None:
    look = look_of(stream)
    shown = text(look)
    if not shown:
        return
    # What is said to a person may end up in any terminal; a result that goes into a file is left as it is.
    if (look.width is not None or stream is sys.stderr) and not (painted and look.colour):
        shown = printable(shown)
    _write(stream, shown)


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=not _is_unicode(sys.stdout), indent=indent)


def _is_unicode(stream: TextIO) -> bool:
    return (stream.encoding or "utf-8").lower().replace("_", "-").startswith("utf")


def _write(stream: TextIO, text: str) -> None:
    if not _is_unicode(stream):
        text = text.translate(_ASCII_LINES)
    try:
        stream.write(text + "\n")
        stream.flush()
    except BrokenPipeError:
        raise ReaderGoneError from None
    except OSError as error:
        where = "standard error" if stream is sys.stderr else "standard output"
        raise OSError(error.errno, error.strerror, where) from None
