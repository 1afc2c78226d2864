"""The JSON form of plans. A plan is read back as exactly what was written, or refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from lakebed.catalog import schema_file
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, Position, Severity, reason_of
from lakebed.errors import LakebedError, RefusedError
from lakebed.evolve import changes as change_values
from lakebed.evolve.diff_columns import EditKind
from lakebed.evolve.drift import Drift
from lakebed.evolve.plan import Plan, PlannedChange, TablePlan
from lakebed.evolve.verdicts import ODF_CODE, Verdict
from lakebed.model.extra import canonical_json

#: Version 2 added `approvals` and `undeclared`.
FORMAT_VERSION = 2


def plan_json(plan: Plan) -> dict[str, Any]:
    """The object of a plan file; `digest` is the SHA-256 of the canonical JSON of all the rest."""
    content: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "approvals": list(plan.approvals),
        "tables": [_table_json(t) for t in plan.tables],
        "undeclared": list(plan.undeclared),
        "diagnostics": [d.to_json() for d in plan.diagnostics],
    }
    return {**content, "digest": _digest(content)}


def plan_from_json(value: Mapping[str, Any]) -> Plan:
    """The plan that the object says. Raises `RefusedError`, also for a JSON value that is no object."""
    if not isinstance(value, Mapping):
        raise _refused("LB4302", "the plan is no JSON object", expected="an object", found=type(value).__name__)
    content = {k: v for k, v in value.items() if k != "digest"}
    version = content.get("format_version")
    if isinstance(version, bool) or version not in range(1, FORMAT_VERSION + 1):
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
        more = [() if version == 1 else _texts(content[key]) for key in ("approvals", "undeclared")]
        return Plan(tuple(_table(t) for t in content["tables"]), diagnostics, *more)
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
    return RefusedError(Diagnostic(code, message, remedy="make the plan again", **parts))


def _table_json(table: TablePlan) -> dict[str, Any]:
    base = None if table.create else {"schema_id": table.base_id, "fingerprint": table.base_fingerprint}
    return {
        "name": table.name,
        "create": table.create,
        "base": base,
        "verdict": table.worst.value,
        "compatibility": table.compatibility,
        "odf": {"allowed": not table.refused_by_odf, "code": ODF_CODE, "gates": table.compatibility is not None},
        "changes": [_change_json(c) for c in table.changes],
        "steps": [change_values.to_json(s) for s in table.steps],
        "target": table.target.to_json() if table.target else None,
        "diagnostics": [d.to_json() for d in table.diagnostics],
        "drift": _drift_json(table.drift),
    }


def _table(value: Mapping[str, Any]) -> TablePlan:
    base, name = value["base"] or {}, value["name"]
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is no name of a table")
    return TablePlan(
        name=name,
        create=value["create"],
        base_id=base.get("schema_id"),
        base_fingerprint=base.get("fingerprint"),
        steps=tuple(change_values.from_json(s) for s in value["steps"]),
        changes=tuple(_change(c) for c in value["changes"]),
        target=None if value["target"] is None else _schema(value["target"]),
        compatibility=value["compatibility"],
        diagnostics=tuple(_diagnostic(d) for d in value["diagnostics"]),
        drift=_drift(value.get("drift")),
    )


def _drift_json(drift: Drift | None) -> dict[str, Any] | None:
    if drift is None:
        return None
    changes = None if drift.changes is None else list(drift.changes)
    return {"applied": drift.applied, "last": drift.last, "changes": changes}


def _drift(value: Mapping[str, Any] | None) -> Drift | None:
    if value is None:
        return None
    return Drift(value["applied"], value["last"], None if value["changes"] is None else tuple(value["changes"]))


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
        "position": _position_json(change.position),
        "changes": [change_values.to_json(c) for c in change.changes],
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
