"""Define planned changes: one thing that a person asked for, with its verdict, and the leave that it needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lakebed.diagnostics import Position
from lakebed.evolve.diff_columns import EditKind
from lakebed.evolve.evidence import Evidence
from lakebed.evolve.schema_changes import Change, Path
from lakebed.evolve.verdicts import ODF_CODE, OUTSIDE_CODE, Verdict
from lakebed.manifest.compatibility import Compatibility
from lakebed.model.differences import Party
from lakebed.physical import path_text


@dataclass(frozen=True, slots=True)
class Incompatibility:
    """What the compatibility mode of a table, or one of its declared consumers, has against a change.

    It `gates` where the change then needs leave under its code. `consumer` is the name of one, `owner` its team.
    """

    code: str
    reason: str
    remedy: str
    gates: bool = True
    consumer: str | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """One thing that a person asked for, with the verdict on it.

    `changes` are the schema changes that do it, in order; an annotation shares the one change of the annotations.
    `name` is that of an option or attribute. `before` and `after` are texts. `odf_allowed` says whether ODF's rule for
    changing a dataset's schema allows it, `undoes_others` that it undoes what was made outside of `apply`. `field_id`
    is that of the column, or of the one that the path leads into. `breaks` are those who have to follow first: who
    write rows as before, or read them as before. `incompatible` is what compatibility and consumers have against it,
    `evidence` what the stored rows say, where they were asked.
    """

    kind: EditKind
    path: Path
    summary: str
    verdict: Verdict
    code: str
    reason: str
    remedy: str | None = None
    position: Position | None = None
    name: str | None = None
    before: str | None = None
    after: str | None = None
    odf_allowed: bool = True
    changes: tuple[Change, ...] = ()
    undoes_others: bool = False
    field_id: int | None = None
    breaks: tuple[Party, ...] = ()
    incompatible: tuple[Incompatibility, ...] = ()
    evidence: Evidence | None = None

    @property
    def leave_codes(self) -> tuple[str, ...]:
        """The codes that give leave for the change, all of which it needs; ODF's own is not among them."""
        codes = [self.code] if self.verdict is Verdict.BREAKING else []
        gates = [found.code for found in self.incompatible if found.gates]
        return tuple(dict.fromkeys([*codes, *self._outside_codes, *gates]))

    @property
    def _outside_codes(self) -> tuple[str, ...]:
        """The code that gives leave to undo what others did; none where a rule refuses all of it."""
        return (OUTSIDE_CODE,) if self.undoes_others and self.verdict is not Verdict.FORBIDDEN else ()

    def objected(self, problems: Sequence[Incompatibility]) -> PlannedChange:
        """The change with what mode and consumers have against it; one that gates makes it at least breaking."""
        gate = next((found for found in problems if found.gates), None)
        change = replace(self, incompatible=tuple(problems))
        if gate is None or self.verdict.rank >= Verdict.BREAKING.rank:
            return change
        reason = f"{gate.reason}; {self.reason}"
        return replace(change, verdict=Verdict.BREAKING, code=gate.code, reason=reason, remedy=gate.remedy)

    def leave_codes_under(self, compatibility: str | None) -> tuple[str, ...]:
        """The same under a compatibility: under `NONE` only what undoes the work of others needs leave."""
        if compatibility == Compatibility.NONE:
            return self._outside_codes
        return self.leave_codes

    @property
    def column(self) -> str:
        """The path as text, or the option's name: what `CODE:column` gives leave for."""
        return self.name if self.kind is EditKind.OPTION and self.name else path_text(self.path)

    @property
    def approved_as(self) -> str:
        """What `CODE:` is followed by to give leave for this change: the column, or the part of the table.

        A part of the table itself is `.comment`, `.primary-keys`, `.partition-keys`, `.buckets` or `.annotation.NAME`;
        no column's path begins with a dot.
        """
        if self.column:
            return self.column
        part = "." + self.kind.value.replace(" ", "-")
        return f"{part}.{self.name}" if self.name else part


def refused_by_odf(changes: Iterable[PlannedChange]) -> tuple[PlannedChange, ...]:
    """Those of the changes that ODF's rule refuses."""
    return tuple(c for c in changes if not c.odf_allowed)


def needed_leave(changes: Sequence[PlannedChange], compatibility: str | None) -> tuple[tuple[PlannedChange, str], ...]:
    """Each change that needs leave, with the code that gives it, under the compatibility of the manifest."""
    own = [(c, code) for c in changes for code in c.leave_codes_under(compatibility)]
    return (*own, *((c, ODF_CODE) for c in (refused_by_odf(changes) if compatibility == Compatibility.ODF else ())))


def approval(code: str, change: PlannedChange) -> str:
    """What allows one change and no other: `CODE:column`, or `CODE:.comment` and the like for the table itself."""
    return f"{code}:{change.approved_as}"


def leave_on_the_command_line(*approvals: str) -> str:
    """How a shell gives these approvals."""
    import shlex

    return " ".join(f"--allow {shlex.quote(text)}" for text in approvals)


def leave_in_python(*approvals: str) -> str:
    """How a program gives these approvals."""
    return f"lake.apply(plan, allow={json.dumps(approvals, ensure_ascii=False)})"
