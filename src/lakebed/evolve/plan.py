"""Define plans: what each table changes, verdicts and approvals; save and load them as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any, ClassVar

from lakebed.catalog import schema_file
from lakebed.catalog.names import TableRef, each_name
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, Position, Severity, reason_of
from lakebed.errors import LakebedError, RefusedError
from lakebed.evolve import schema_changes as change_values
from lakebed.evolve.diff_columns import EditKind
from lakebed.evolve.drift import Drift
from lakebed.evolve.evidence import Evidence
from lakebed.evolve.schema_changes import Change, Path
from lakebed.evolve.verdicts import ODF_CODE, OUTSIDE_CODE, Verdict, worst
from lakebed.manifest.approvals import Approval
from lakebed.manifest.compatibility import Compatibility
from lakebed.model.differences import Party
from lakebed.model.extra import canonical_json
from lakebed.physical import path_text
from lakebed.readable import Readable


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
    `evidence` what the stored rows say, where they were asked; `proven_code` the code that would need leave if the rows
    had not shown that all is well.
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
    proven_code: str | None = None

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


@dataclass(frozen=True, slots=True)
class TablePlan(Readable):
    """The plan of one table, bound to its newest version: id and fingerprint, or both None for a table to be made.

    `ref` is the table, or the branch of it that is to change. `steps` is what runs, in order.
    `target` is the version that results, its time 0; None when a change is forbidden.
    `compatibility` is the mode of the manifest, `ODF` when it asks that ODF's rule gate the plan. `drift` is told where
    a change undoes what was made outside of `apply`. `annotations_drifted` says that the stored columns are not what
    their annotations are about; the diagnostics say which. `approvals` are those of the manifest that give leave for
    changes.
    """

    renderer: ClassVar[str] = "lakebed.render.plan_text:table_plan_in_python"
    html_renderer: ClassVar[str] = "lakebed.render.notebook_html:table_plan_html"

    ref: TableRef
    create: bool
    base_id: int | None
    base_fingerprint: str | None
    steps: tuple[Change, ...]
    changes: tuple[PlannedChange, ...]
    target: TableSchema | None
    compatibility: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    drift: Drift | None = None
    annotations_drifted: bool = False
    approvals: tuple[Approval, ...] = ()

    @property
    def name(self) -> str:
        """`db.table`, or `db.table@branch:NAME` where a branch of it is to change."""
        return str(self.ref)

    @property
    def is_noop(self) -> bool:
        """Whether the table is as declared already."""
        return not self.create and not self.changes

    @property
    def worst(self) -> Verdict:
        """The most severe verdict; a change that needs leave for any rule is at least breaking."""
        return worst([*(c.verdict for c in self.changes), *(Verdict.BREAKING for _ in self.leave_needed())])

    @property
    def gated_by_odf(self) -> bool:
        """Whether ODF's rule counts."""
        return self.compatibility == Compatibility.ODF

    @property
    def refused_by_odf(self) -> tuple[PlannedChange, ...]:
        """The changes that ODF's rule for `SetDataSchema` refuses: all but additions of optional fields and texts."""
        return refused_by_odf(self.changes)

    @property
    def forbidden(self) -> tuple[PlannedChange, ...]:
        """The changes that cannot be made."""
        return tuple(c for c in self.changes if c.verdict is Verdict.FORBIDDEN)

    def leave_needed(self) -> tuple[tuple[PlannedChange, str], ...]:
        """Each change that needs leave, with the code that gives it."""
        return needed_leave(self.changes, self.compatibility)

    def approval_of(self, change: PlannedChange, code: str) -> Approval | None:
        """The approval of the manifest that gives this leave for a change."""
        return next((a for a in self.approvals if a.covers(code, change.approved_as)), None)


@dataclass(frozen=True, slots=True)
class Plan(Readable):
    """The plans of several tables, in the order of their declaration, and what was said about the manifests.

    `approvals` are the changes that may happen, each `CODE` or `CODE:column`, as they were given when the plan was
    made; a saved plan carries them. `undeclared` are the tables of the warehouse that no manifest declares, where that
    was asked for; `abandoned` those of them that `apply` has made, so that a manifest has declared them, where all
    tables were asked for. `reverts` says that the rule for drift gives leave to undo the work of others.
    """

    renderer: ClassVar[str] = "lakebed.render.plan_text:plan_in_python"
    html_renderer: ClassVar[str] = "lakebed.render.notebook_html:plan_html"

    tables: tuple[TablePlan, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    approvals: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()
    abandoned: tuple[str, ...] = ()
    reverts: bool = False

    @property
    def is_noop(self) -> bool:
        """Whether nothing would change."""
        return all(table.is_noop for table in self.tables)

    @property
    def worst(self) -> Verdict:
        """The most severe verdict of all tables."""
        return worst([table.worst for table in self.tables])

    @property
    def is_breaking(self) -> bool:
        """Whether something needs leave or is forbidden."""
        return self.worst.rank >= Verdict.BREAKING.rank

    @property
    def is_forbidden(self) -> bool:
        """Whether a change cannot be made at all."""
        return self.worst is Verdict.FORBIDDEN

    @property
    def annotations_drifted(self) -> bool:
        """Whether the stored columns of a table are not what their annotations are about."""
        return any(table.annotations_drifted for table in self.tables)

    @property
    def all_diagnostics(self) -> tuple[Diagnostic, ...]:
        """Those of the manifests, then those of each table."""
        return (*self.diagnostics, *(d for table in self.tables for d in table.diagnostics))

    def leave_needed(self) -> tuple[str, ...]:
        """What has to be allowed for the plan to run, each as `CODE:column`; empty where nothing is breaking."""
        return tuple(approval(code, change) for table in self.tables for change, code in table.leave_needed())

    def approved(self, allow: Iterable[str]) -> Plan:
        """The same plan with these approvals beside its own."""
        return replace(self, approvals=tuple(sorted({*self.approvals, *each_name(allow)})))

    def approvals_missing(self) -> tuple[str, ...]:
        """What still has to be allowed, each as `CODE:column`; empty where the plan can run if nothing is forbidden."""
        return tuple(dict.fromkeys(approval(code, change) for _, change, code in self.leave_missing()))

    def leave_missing(self) -> tuple[tuple[TablePlan, PlannedChange, str], ...]:
        """Each change that still has to be allowed, with its table and the code that allows it."""
        return leave_missing(self.tables, frozenset(self.approvals))

    def table(self, name: str) -> TablePlan | None:
        """The plan of the table of this name, or None."""
        return next((t for t in self.tables if t.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """The plan file's object, format version 3, with a digest over its content."""
        return plan_json(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Plan:
        """The plan of a plan file's object: exactly the one that was written.

        Files of the format versions 1 and 2, which said less, are read too. Raises `RefusedError` for other versions
        (LB4301) and for a file that was changed or is damaged (LB4302).
        """
        return plan_from_json(value)


def leave_missing(
    tables: Iterable[TablePlan], allow: frozenset[str]
) -> tuple[tuple[TablePlan, PlannedChange, str], ...]:
    """The changes that need leave and have none, be it by the manifest or by `allow`.

    Leave is `CODE` for all of a kind, or what `approval` says for one.
    """
    return tuple(
        (table, change, code)
        for table in tables
        for change, code in table.leave_needed()
        if code not in allow and approval(code, change) not in allow and table.approval_of(change, code) is None
    )


#: Version 2 added `approvals` and `undeclared`, version 3 the approvals of each table, ids of columns, whom a change
#: breaks and what mode and consumers have against it, what rows say of it, and which of the undeclared tables were
#: declared.
FORMAT_VERSION = 3


def plan_json(plan: Plan) -> dict[str, Any]:
    """The object of a plan file; `digest` is the SHA-256 of the canonical JSON of all the rest."""
    content: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "approvals": list(plan.approvals),
        "tables": [_table_json(t) for t in plan.tables],
        "undeclared": list(plan.undeclared),
        "abandoned": list(plan.abandoned),
        "diagnostics": [d.to_json() for d in plan.diagnostics],
        **({"reverts": True} if plan.reverts else {}),
    }
    return {**content, "digest": _digest(content)}


def plan_from_json(value: Mapping[str, Any]) -> Plan:
    """The plan that the object says. Raises `RefusedError`, also for a JSON value that is no object."""
    if not isinstance(value, Mapping):
        raise _refused("LB4302", "the plan is no JSON object", expected="an object", found=type(value).__name__)
    content = {k: v for k, v in value.items() if k != "digest"}
    version = content.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or version not in range(1, FORMAT_VERSION + 1):
        raise _refused(
            "LB4301",
            "this version does not know the format of the plan",
            expected=f"1 to {FORMAT_VERSION}",
            found=str(version),
        )
    try:
        if value.get("digest") != _digest(content):
            raise _refused("LB4302", "the plan was changed after it was written")
        diagnostics = tuple(_diagnostic(d) for d in content["diagnostics"])
        since = {"approvals": 2, "undeclared": 2, "abandoned": 3}
        approvals, undeclared, abandoned = (
            _texts(content[key]) if version >= first else () for key, first in since.items()
        )
        tables = tuple(_table(t) for t in content["tables"])
        return Plan(tables, diagnostics, approvals, undeclared, abandoned, bool(content.get("reverts")))
    except RefusedError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, LakebedError) as error:
        raise _refused("LB4302", f"the plan cannot be read: {reason_of(error)}") from error


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise TypeError(f"{value!r} is no list of texts")
    return tuple(value)


def _digest(content: Mapping[str, Any]) -> str:
    return "sha256:" + hashlib.sha256(canonical_json(dict(content)).encode()).hexdigest()


def _refused(code: str, message: str, **parts: Any) -> RefusedError:
    return RefusedError.of(code, message, remedy="make the plan again", **parts)


def _table_json(table: TablePlan) -> dict[str, Any]:
    base = None if table.create else {"schema_id": table.base_id, "fingerprint": table.base_fingerprint}
    return {
        "name": table.name,
        "create": table.create,
        "base": base,
        "verdict": table.worst.value,
        "compatibility": table.compatibility,
        "odf": {"allowed": not table.refused_by_odf, "code": ODF_CODE, "gates": table.gated_by_odf},
        "changes": [_change_json(c) for c in table.changes],
        "steps": [change_values.to_json(s) for s in table.steps],
        "target": table.target.to_json() if table.target else None,
        "diagnostics": [d.to_json() for d in table.diagnostics],
        "drift": _drift_json(table.drift),
        "approvals": [{**a.to_json(), "position": _position_json(a.position)} for a in table.approvals],
        **({"annotations_drifted": True} if table.annotations_drifted else {}),
    }


def _table(value: Mapping[str, Any]) -> TablePlan:
    base = value["base"] or {}
    return TablePlan(
        ref=TableRef.parse(value["name"]),
        create=value["create"],
        base_id=base.get("schema_id"),
        base_fingerprint=base.get("fingerprint"),
        steps=tuple(change_values.from_json(s) for s in value["steps"]),
        changes=tuple(_change(c) for c in value["changes"]),
        target=None if value["target"] is None else _schema(value["target"]),
        compatibility=value["compatibility"],
        diagnostics=tuple(_diagnostic(d) for d in value["diagnostics"]),
        drift=_drift(value.get("drift")),
        annotations_drifted=bool(value.get("annotations_drifted")),
        approvals=tuple(_approval(a) for a in value.get("approvals", ())),
    )


def _approval(value: Mapping[str, Any]) -> Approval:
    until = date.fromisoformat(value["until"])
    position = _position(value["position"])
    return Approval(value["code"], value["reason"], until, value.get("path"), value.get("by"), position)


def _drift_json(drift: Drift | None) -> dict[str, Any] | None:
    if drift is None:
        return None
    changes = None if drift.changes is None else list(drift.changes)
    return {"applied": drift.applied, "last": drift.last, "changes": changes, "broken": list(drift.broken)}


def _drift(value: Mapping[str, Any] | None) -> Drift | None:
    if value is None:
        return None
    changes = None if value["changes"] is None else tuple(value["changes"])
    return Drift(value["applied"], value["last"], changes, tuple(value.get("broken", ())))


def _schema(value: Mapping[str, Any]) -> TableSchema:
    return schema_file.loads(json.dumps(value).encode(), source="the plan")


def _change_json(change: PlannedChange) -> dict[str, Any]:
    return {
        "kind": change.kind.value,
        "path": list(change.path),
        "name": change.name,
        "summary": change.summary,
        "verdict": change.verdict.value,
        "code": change.code,
        "reason": change.reason,
        "remedy": change.remedy,
        "before": change.before,
        "after": change.after,
        "odf_allowed": change.odf_allowed,
        "undoes_others": change.undoes_others,
        "field_id": change.field_id,
        "breaks": [party.value for party in change.breaks],
        "incompatible": [asdict(found) for found in change.incompatible],
        "position": _position_json(change.position),
        "changes": [change_values.to_json(c) for c in change.changes],
        **({} if change.evidence is None else {"evidence": change.evidence.to_json()}),
        **({} if change.proven_code is None else {"proven_code": change.proven_code}),
    }


def _change(value: Mapping[str, Any]) -> PlannedChange:
    return PlannedChange(
        kind=EditKind(value["kind"]),
        path=tuple(value["path"]),
        summary=value["summary"],
        verdict=Verdict(value["verdict"]),
        code=value["code"],
        reason=value["reason"],
        remedy=value["remedy"],
        position=_position(value["position"]),
        name=value["name"],
        before=value["before"],
        after=value["after"],
        odf_allowed=value["odf_allowed"],
        changes=tuple(change_values.from_json(c) for c in value["changes"]),
        undoes_others=value.get("undoes_others", False),
        field_id=value.get("field_id"),
        breaks=tuple(Party(name) for name in value.get("breaks", ())),
        incompatible=tuple(Incompatibility(**found) for found in value.get("incompatible", ())),
        evidence=Evidence.from_json(value["evidence"]) if "evidence" in value else None,
        proven_code=value.get("proven_code"),
    )


def _position_json(position: Position | None) -> dict[str, Any] | None:
    if position is None:
        return None
    return {"file": position.file, "line": position.line, "column": position.column}


def _position(value: Mapping[str, Any] | None) -> Position | None:
    return None if value is None else Position(value["file"], value["line"], value["column"])


def _diagnostic(value: Mapping[str, Any]) -> Diagnostic:
    return Diagnostic(
        code=value["code"],
        message=value["message"],
        severity=Severity(value["severity"]),
        position=_position(value.get("position")),
        path=value.get("path"),
        expected=value.get("expected"),
        found=value.get("found"),
        remedy=value.get("remedy"),
        suggestions=tuple(value.get("suggestions", ())),
        python_remedy=value.get("python_remedy"),
    )
