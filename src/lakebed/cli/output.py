"""How a command speaks: data on standard output, talk on standard error, in text or in JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from lakebed.diagnostics import Diagnostic

FORMAT_VERSION = 1


class Output(Protocol):
    """Where a command puts its result and its talk."""

    def talk(self, text: str) -> None:
        """Say something to a person; never part of the result."""
        ...

    def diagnose(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Report problems and notices."""
        ...

    def finish(self, command: str, *, ok: bool, result: Any, text: Callable[[], str]) -> None:
        """Put out the result: `result` as JSON, or what `text` returns, according to the mode."""
        ...

    def row(self, value: dict[str, Any]) -> None:
        """Put out one row of `read --json`: a JSON line without an envelope."""
        ...


class TextOutput:
    """For people: the text on standard output, diagnostics like a compiler's on standard error."""

    def talk(self, text: str) -> None:
        print(text, file=sys.stderr)

    def diagnose(self, diagnostics: Iterable[Diagnostic]) -> None:
        for diagnostic in diagnostics:
            print(diagnostic, file=sys.stderr)

    def finish(self, command: str, *, ok: bool, result: Any, text: Callable[[], str]) -> None:
        shown = text()
        if shown:
            print(shown)

    def row(self, value: dict[str, Any]) -> None:
        print(json.dumps(value, ensure_ascii=False))


class JsonOutput:
    """For programs: one JSON object with `format_version` on standard output; talk stays on standard error."""

    def __init__(self) -> None:
        self._diagnostics: list[Diagnostic] = []

    def talk(self, text: str) -> None:
        print(text, file=sys.stderr)

    def diagnose(self, diagnostics: Iterable[Diagnostic]) -> None:
        self._diagnostics.extend(diagnostics)

    def finish(self, command: str, *, ok: bool, result: Any, text: Callable[[], str]) -> None:
        envelope = {
            "format_version": FORMAT_VERSION,
            "command": command,
            "ok": ok,
            "result": result,
            "diagnostics": [d.to_json() for d in self._diagnostics],
        }
        print(json.dumps(envelope, ensure_ascii=False, indent=2))

    def row(self, value: dict[str, Any]) -> None:
        print(json.dumps(value, ensure_ascii=False))
