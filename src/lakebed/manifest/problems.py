"""Collect all problems of a manifest before any is raised."""

from __future__ import annotations

from typing import Any

from lakebed.diagnostics import Diagnostic, Position, Severity
from lakebed.errors import ManifestError
from lakebed.manifest.nodes import Node

FieldPath = tuple[str, ...]


class Problems:
    """Diagnostics of one input, in the order of their positions."""

    def __init__(self) -> None:
        self._found: dict[Diagnostic, None] = {}
        self._repeated_keys: set[Diagnostic] = set()

    def error(self, code: str, message: str, at: Node | Position, **parts: Any) -> None:
        """Note an error at a node or position; `parts` are the other fields of `Diagnostic`."""
        self.add(_diagnostic(code, message, at, Severity.ERROR, parts))

    def repeated_key(self, message: str, at: Node, **parts: Any) -> None:
        """Note the error of a key that stands in its mapping already."""
        problem = _diagnostic("LB1006", message, at, Severity.ERROR, parts)
        self._repeated_keys.add(problem)
        self.add(problem)

    def warn(self, code: str, message: str, at: Node | Position, **parts: Any) -> None:
        """Note a warning at a node or position."""
        self.add(_diagnostic(code, message, at, Severity.WARNING, parts))

    def add(self, diagnostic: Diagnostic) -> None:
        """Note a problem that is already a diagnostic. One that is known already (an aliased node) counts once."""
        self._found.setdefault(diagnostic)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors, by position."""
        return self._of(Severity.ERROR)

    @property
    def repeated_keys(self) -> tuple[Diagnostic, ...]:
        """Those of the errors that say of a key that it stands twice."""
        return tuple(error for error in self.errors if error in self._repeated_keys)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings, by position."""
        return self._of(Severity.WARNING)

    def raise_if_any(self) -> None:
        """Raise `ManifestError` with all errors, then all warnings, if there is an error."""
        if self.errors:
            raise ManifestError(*self.errors, *self.warnings)

    def _of(self, severity: Severity) -> tuple[Diagnostic, ...]:
        return tuple(sorted((d for d in self._found if d.severity is severity), key=_place))


def _diagnostic(code: str, message: str, at: Node | Position, severity: Severity, parts: dict[str, Any]) -> Diagnostic:
    position = at if isinstance(at, Position) else at.position
    return Diagnostic(code, message, severity=severity, position=position, **parts)


def _place(diagnostic: Diagnostic) -> tuple[int, int]:
    position = diagnostic.position
    return (position.line, position.column) if position else (0, 0)
