"""Represent what a check has found, and the checks together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from lakebed.diagnostics import Diagnostic
from lakebed.errors import LakebedError
from lakebed.readable import Readable
from lakebed.redaction import redact


class State(StrEnum):
    """How a check ends. `warn`: something does not work that may not be needed, or works with less than it could."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked and found. One that is not ok has a code and a remedy; `details` are further lines.

    Logins and keys in URLs are not kept.
    """

    name: str
    state: State
    found: str
    code: str | None = None
    remedy: str | None = None
    details: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "found", redact(self.found))
        object.__setattr__(self, "details", tuple(map(redact, self.details)))

    @classmethod
    def of(cls, name: str, problem: Diagnostic, state: State = State.FAIL, *, details: Iterable[str] = ()) -> Check:
        """A check that met a problem."""
        return cls(name, state, problem.message, problem.code, problem.python_remedy or problem.remedy, tuple(details))

    def to_json(self) -> dict[str, Any]:
        """The object of one check in the result of `lakebed doctor --json`."""
        return {
            "name": self.name,
            "state": self.state.value,
            "found": self.found,
            "code": self.code,
            "remedy": self.remedy,
            "details": list(self.details),
        }


@dataclass(frozen=True, slots=True)
class DoctorReport(Readable):
    """The checks, in the order in which they were made."""

    renderer: ClassVar[str] = "lakebed.render.doctor_text:doctor_text"
    html_renderer: ClassVar[str] = "lakebed.render.notebook_html:doctor_html"

    checks: tuple[Check, ...]

    @property
    def is_ok(self) -> bool:
        """Whether no check failed; some may warn."""
        return all(check.state is not State.FAIL for check in self.checks)

    def __getitem__(self, name: str) -> Check:
        """The check of this name. Raises `KeyError` where it was not made."""
        try:
            return next(check for check in self.checks if check.name == name)
        except StopIteration:
            raise KeyError(name) from None

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed doctor --json`."""
        return {"ok": self.is_ok, "checks": [check.to_json() for check in self.checks]}


def checked(name: str, look: Callable[[], str], state: State = State.FAIL) -> Check:
    """A check that is ok, with what `look` gives, unless that raises: then the error's first problem is told."""
    try:
        return Check(name, State.OK, look())
    except LakebedError as error:
        return Check.of(name, error.diagnostics[0], state)
