"""Apply a plan exactly as it was reviewed: one schema version a table, or nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar

from lakebed.catalog.names import TableName
from lakebed.catalog.paths import MAIN
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import AlreadyExistsError, LakebedError, RefusedError, StalePlanError
from lakebed.evolve.check_approvals import check_codes, check_leave, proven, unmatched
from lakebed.evolve.evaluate import evaluate
from lakebed.evolve.manifest_approvals import day_of
from lakebed.evolve.plan import Plan, TablePlan, approval
from lakebed.readable import Readable

if TYPE_CHECKING:
    from lakebed.catalog.schema_manager import SchemaManager
    from lakebed.catalog.table_manager import TableManager
    from lakebed.manifest.attribute_registry import AttributeRegistry

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AppliedTable:
    """What became of one table: its newest schema id, whether the table or a version of it was made, what was done.

    `changes` has one line for each change. `already_applied` says that the plan was applied before.
    """

    name: str
    schema_id: int
    created: bool
    changed: bool
    changes: tuple[str, ...] = ()
    already_applied: bool = False


@dataclass(frozen=True, slots=True)
class AppliedPlan(Readable):
    """What became of each table, in the order of the plan, and warnings about what was approved in vain."""

    renderer: ClassVar[str] = "lakebed.render.plan_text:applied_in_python"
    html_renderer: ClassVar[str] = "lakebed.render.notebook_html:applied_html"

    tables: tuple[AppliedTable, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed apply --json`."""
        return {
            "tables": [
                {
                    "name": t.name,
                    "schema_id": t.schema_id,
                    "created": t.created,
                    "changed": t.changed,
                    "changes": list(t.changes),
                    **({"already_applied": True} if t.already_applied else {}),
                }
                for t in self.tables
            ]
        }


def apply(
    plan: Plan,
    tables: TableManager,
    time_zone: str = "UTC",
    *,
    allow: frozenset[str] = frozenset(),
    clock: Callable[[], int],
    attributes: AttributeRegistry | None = None,
    newest_snapshot: Callable[[TableName, str], int | None] | None = None,
) -> AppliedPlan:
    """Make the planned changes, tables in order; stops at the first failure, whose last diagnostic says what was done.

    `allow` names breaking changes that may happen, as `CODE` or `CODE:column`, beside those that the plan carries and
    that its manifests approve, where their day in `time_zone` has not gone by; `clock` gives milliseconds since 1970.
    Nothing is written when a change is forbidden or lacks leave (`RefusedError`, all of them at once), when a table is
    not what it was (`StalePlanError`), when a code in `allow` is unknown (`UsageError`), or when a table would have
    attributes that are not as `attributes` declares them (`ValidationError`). Raises `StalePlanError` for a lost race.
    `newest_snapshot` gives that of a branch of a table: what only the rows of a snapshot show to be safe is refused
    where there is a newer one (`StalePlanError`).
    """
    if attributes is not None:
        _check_attributes(plan, attributes)
    check_codes(allow)
    notes = unmatched(plan, allow - frozenset(plan.approvals))
    # Nobody asks for the time of a plan that no day is in.
    is_dated = any(table.approvals for table in plan.tables)
    check_leave(plan, allow | frozenset(plan.approvals), day_of(clock(), time_zone) if is_dated else date.min)
    stale = [d for table in plan.tables for d in _staleness(table, tables.find_schema_manager(*_place(table)))]
    if newest_snapshot is not None:
        given = allow | frozenset(plan.approvals)
        stale += [d for table in plan.tables for d in _newer_rows(table, given, newest_snapshot)]
    if stale:
        raise StalePlanError(*stale)
    done: list[AppliedTable] = []
    for number, table in enumerate(plan.tables):
        try:
            done.append(_apply_table(table, tables, clock))
        except LakebedError as error:
            if not done:
                raise
            left = [t.name for t in plan.tables[number:]]
            raise type(error)(*error.diagnostics, _progress(done, left)) from error
        _log(done[-1])
    return AppliedPlan(tuple(done), notes)


def _log(table: AppliedTable) -> None:
    """One record for each table that was made or changed."""
    if table.created or table.changed:
        fields = {"table": table.name, "schema_id": table.schema_id, "is_new": table.created}
        _LOG.info("applied", extra={**fields, "changes": len(table.changes)})


def _check_attributes(plan: Plan, declared: AttributeRegistry) -> None:
    from lakebed.manifest.attribute_registry import check_stored

    for table in plan.tables:
        if table.target is not None:
            check_stored(declared, table.name, table.target.logical)


def _staleness(table: TablePlan, versions: SchemaManager | None) -> list[Diagnostic]:
    newest = None if versions is None else versions.load_latest_schema()
    if newest is not None and _is_made(table, newest):
        return []
    if table.create:
        return [] if newest is None else [_stale(table, "has been made in the meantime")]
    if newest is None:
        return [_stale(table, "is gone")]
    if newest.fingerprint == table.base_fingerprint:
        return []
    return [_stale(table, f"was at version {table.base_id} when the plan was made and is at {newest.id} now")]


def _is_made(table: TablePlan, newest: TableSchema) -> bool:
    """Whether a table is exactly what its plan leads to, as after the plan was applied."""
    return table.target is not None and newest.fingerprint == table.target.fingerprint


def _newer_rows(
    table: TablePlan, allow: frozenset[str], newest_snapshot: Callable[[TableName, str], int | None]
) -> list[Diagnostic]:
    """The changes that are safe by the rows of a snapshot which is not the newest any more, and have no leave."""
    relying = [
        change
        for change, code in proven(table.changes)
        if not {code, approval(code, change)} & allow and table.approval_of(change, code) is None
    ]
    newest = newest_snapshot(*_place(table)) if relying else None
    return [
        Diagnostic(
            "LB4309",
            f"{table.name}: it is not known any more whether all rows fit, to {change.summary}: they were asked at "
            f"snapshot {change.evidence.snapshot}, and the newest is {newest}",
            position=change.position,
            path=change.column or None,
            expected=f"snapshot {change.evidence.snapshot}",
            found=f"snapshot {newest}",
            remedy="make the plan again with --data, or apply the manifest with --data",
            python_remedy="make the plan again: lake.plan(..., data=True)",
        )
        for change in relying
        if change.evidence is not None and change.evidence.snapshot != newest
    ]


def _stale(table: TablePlan, what: str) -> Diagnostic:
    return Diagnostic("LB4303", f"the plan is stale: table {table.name} {what}", remedy="make the plan again")


def _place(table: TablePlan) -> tuple[TableName, str]:
    """The table that a plan is for, and the branch of it."""
    return table.ref.name, table.ref.branch or MAIN


def _apply_table(table: TablePlan, tables: TableManager, clock: Callable[[], int]) -> AppliedTable:
    versions = tables.find_schema_manager(*_place(table))
    if versions is None:
        if table.create:
            return _create(table, tables, clock)
        raise StalePlanError(_stale(table, "is gone"))
    base = versions.load_latest_schema()
    if _is_made(table, base) and base.fingerprint != table.base_fingerprint:
        return AppliedTable(table.name, base.id, created=False, changed=False, already_applied=True)
    if base.fingerprint != table.base_fingerprint:
        raise StalePlanError(*_staleness(table, versions))
    if not table.steps:
        _check_result(table, base)
        return AppliedTable(table.name, base.id, created=False, changed=False)
    schema = evaluate(
        base,
        table.steps,
        has_snapshots=versions.has_snapshots,
        now=clock(),
        history=versions.versions,
    )
    _check_result(table, schema)
    if not versions.publish(schema):
        raise StalePlanError.of(
            "LB4306",
            f"version {schema.id} of table {table.name} was made by somebody else at the same time",
            remedy="make the plan again",
        )
    return AppliedTable(table.name, schema.id, created=False, changed=True, changes=_done(table))


def _create(table: TablePlan, tables: TableManager, clock: Callable[[], int]) -> AppliedTable:
    if table.target is None:
        raise _altered(table)
    schema = replace(table.target, time_millis=clock())
    try:
        tables.create(table.ref.name, schema)
    except AlreadyExistsError as error:
        if tables.find_schema_manager(table.ref.name) is None:
            raise
        raise StalePlanError(_stale(table, "has been made in the meantime")) from error
    return AppliedTable(table.name, schema.id, created=True, changed=True, changes=_done(table))


def _done(table: TablePlan) -> tuple[str, ...]:
    return tuple(change.summary for change in table.changes)


def _check_result(table: TablePlan, schema: TableSchema) -> None:
    if table.target is None or table.target.fingerprint != schema.fingerprint:
        raise _altered(table)


def _altered(table: TablePlan) -> RefusedError:
    message = f"the changes planned for table {table.name} do not lead to the version that was reviewed"
    return RefusedError.of("LB4302", message, remedy="make the plan again")


def _progress(done: list[AppliedTable], left: list[str]) -> Diagnostic:
    made = ", ".join(f"{t.name} (schema {t.schema_id})" for t in done)
    return Diagnostic(
        "LB4308",
        f"done before that: {made}; not done: {', '.join(left)}",
        Severity.NOTE,
        remedy="make the plan again for the tables that are left",
    )
