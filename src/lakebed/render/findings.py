"""Define reports: what a command found, each with its place, code, verdict, reason and remedy, for every format."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from lakebed.diagnostics import Diagnostic, Position, Severity
from lakebed.evolve.verdicts import Verdict

#: What a command calls a file, as a path from the root of the repository; None for what lies elsewhere.
PathOf: TypeAlias = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class ChangedPart:
    """What a change leads from and to: a column, an option or another part of a table."""

    sign: str
    name: str
    field_id: int | None = None
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    `severity` is None for what asks nobody's attention, such as a safe change. `subject` names what it is about, a
    table or a file; it is empty for what is about all of it. `remedies` are what can be done, each in words or as what
    gives leave. A change of a table has a `verdict` and a `change`.
    """

    code: str
    severity: Severity | None
    message: str
    subject: str = ""
    reason: str | None = None
    remedies: tuple[str, ...] = ()
    position: Position | None = None
    verdict: Verdict | None = None
    change: ChangedPart | None = None

    @classmethod
    def of(cls, diagnostic: Diagnostic, subject: str = "") -> Finding:
        """What a diagnostic says."""
        message = diagnostic.message
        if diagnostic.suggestions:
            message += f" (did you mean {' or '.join(map(repr, diagnostic.suggestions))}?)"
        remedies = () if diagnostic.remedy is None else (f"remedy: {diagnostic.remedy}",)
        return cls(
            diagnostic.code, diagnostic.severity, message, subject, remedies=remedies, position=diagnostic.position
        )

    @property
    def title(self) -> str:
        """The code, and the verdict where there is one."""
        return self.code if self.verdict is None else f"{self.code} {self.verdict.value}"

    @property
    def explanation(self) -> str:
        """What was found, why, and what can be done, a line each."""
        reason = [] if self.reason is None else [self.reason]
        return "\n".join([self.message, *reason, *self.remedies])


@dataclass(frozen=True, slots=True)
class Subject:
    """A table or a file that was looked at, and what became of it in words. `lines` tell more where nobody judges it.

    `file` is the one that problems in it are about; what its `status` says then is said where there are none.
    """

    name: str
    status: str
    lines: tuple[str, ...] = ()
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What a command found: `subjects` in order, what was found about them, and a line that sums it up.

    `title` heads it, and names one report of several, such as those of two environments. `advice` is what to do, in
    words; `next_command` what to call, where there is one.
    """

    title: str
    summary: str
    subjects: tuple[Subject, ...] = ()
    findings: tuple[Finding, ...] = ()
    advice: tuple[str, ...] = ()
    next_command: str | None = None

    def with_diagnostics(self, diagnostics: Iterable[Diagnostic]) -> Report:
        """The report with what else was said; of a file that is one of the subjects it is about that."""
        known = {(f.code, f.message, f.position) for f in self.findings}
        names = {subject.file: subject.name for subject in self.subjects if subject.file is not None}
        found = []
        for diagnostic in diagnostics:
            file = diagnostic.position.file if diagnostic.position is not None else None
            finding = Finding.of(diagnostic, "" if file is None else names.get(file, ""))
            if (finding.code, finding.message, finding.position) not in known:
                found.append(finding)
        return replace(self, findings=(*self.findings, *found))

    def about(self, subject: str) -> tuple[Finding, ...]:
        """What was found about one subject."""
        return tuple(f for f in self.findings if f.subject == subject)
