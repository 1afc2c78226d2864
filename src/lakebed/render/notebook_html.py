"""Show results as HTML in notebooks: plans, schemas, histories, ingests, explanations and others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from lakebed.catalog.time_zone import zone_of
from lakebed.evolve.check_approvals import leave_in_python
from lakebed.evolve.plan import approval
from lakebed.evolve.verdicts import Verdict
from lakebed.format.commit_origin import operation_of
from lakebed.model import Field
from lakebed.model.encoding import strip_encoding
from lakebed.model.extra import DESCRIPTION
from lakebed.model.type_name import type_name
from lakebed.physical import path_text
from lakebed.read.explanation import file_reason
from lakebed.render.history_text import approval_line, origin_text
from lakebed.render.ingest_text import ingest_notes, run_text
from lakebed.render.iso_times import time_text
from lakebed.render.maintenance_text import size_text
from lakebed.render.markup import MOST_ROWS, Markup, block, element, head, lines, mark, preformatted, table
from lakebed.render.plan_report import (
    approved_text,
    compatibility_lines,
    drift_lines,
    evidence_line,
    objections,
    table_status,
    upgrade_first,
)
from lakebed.render.plan_text import plan_totals
from lakebed.render.rows import json_value
from lakebed.render.schema_text import HEADING, attribute_text, field_rows, shown_options, stored_rows

if TYPE_CHECKING:
    from lakebed.catalog import TableSchema
    from lakebed.diagnostics import Diagnostic
    from lakebed.doctor import DoctorReport
    from lakebed.evolve.apply import AppliedPlan
    from lakebed.evolve.plan import Plan, PlannedChange, TablePlan
    from lakebed.ingest.run_history import IngestResult
    from lakebed.inspection.history import History, Version
    from lakebed.inspection.system_table import SystemTable
    from lakebed.model import Schema
    from lakebed.model.compare import Comparison
    from lakebed.read.explanation import ReadExplanation, StateExplanation

#: The tints of verdicts and severities, see `mark`.
VERDICT_LOOKS = {Verdict.SAFE: "good", Verdict.CAUTION: "notice", Verdict.BREAKING: "bad", Verdict.FORBIDDEN: "worst"}
SEVERITY_LOOKS = {"error": "bad", "warning": "notice", "note": "good"}
_STATES = {"ok": "good", "warn": "notice", "fail": "bad"}


def text_html(value: object) -> Markup:
    """Whatever prints as people read it, as it prints."""
    return block(preformatted(str(value)))


def plan_html(plan: Plan) -> Markup:
    """The tables that would change, each change with its verdict, reason and what gives leave; then the totals."""
    parts = [part for one in plan.tables if not one.is_noop for part in _planned(one, frozenset(plan.approvals))]
    if plan.undeclared:
        parts.append(element("p", f"No manifest declares: {', '.join(plan.undeclared)}"))
    return block(*parts, element("p", plan_totals(plan)), _diagnostics(plan.all_diagnostics))


def table_plan_html(planned: TablePlan) -> Markup:
    """One table of a plan."""
    return block(*_planned(planned, frozenset()), _diagnostics(planned.diagnostics))


def _planned(planned: TablePlan, allowed: frozenset[str]) -> Iterator[Markup]:
    yield head(f"{planned.name}: {table_status(planned)}")
    if planned.create:
        yield table(("", "column"), [("+", change.summary) for change in planned.changes])
        return
    rows = [
        (
            change.kind.sign,
            mark(change.verdict.value, VERDICT_LOOKS[change.verdict]),
            change.summary,
            lines(
                [
                    f"{change.code}: {change.reason}",
                    *evidence_line(change),
                    *objections(change),
                    *_advice(change, planned, allowed),
                ]
            ),
        )
        for change in planned.changes
    ]
    drifted = drift_lines(planned)
    if drifted:
        yield element("p", lines(drifted))
    yield table(("", "verdict", "change", "why"), rows)
    for line in (*upgrade_first(planned), *compatibility_lines(planned)):
        yield element("p", line)


def _advice(change: PlannedChange, planned: TablePlan, allowed: frozenset[str]) -> Iterator[Any]:
    """What gives leave, or has given it; what to do about what is forbidden."""
    if change.verdict is Verdict.FORBIDDEN:
        yield from () if change.remedy is None else (f"remedy: {change.remedy}",)
        return
    for code in (code for of, code in planned.leave_needed() if of is change):
        wanted = approval(code, change)
        given = {wanted, code} & allowed
        declared = planned.approval_of(change, code)
        if declared is not None:
            yield approved_text(declared)
            continue
        yield f"approved by {min(given)}" if given else Markup(f"leave: {element('code', leave_in_python(wanted))}")


def applied_html(applied: AppliedPlan) -> Markup:
    """What became of each table."""
    rows = [(t.name, _outcome(t.created, t.changed), t.schema_id, lines(t.changes)) for t in applied.tables]
    done = table(("table", "outcome", "schema", "changes"), rows, right={2}) or element("p", "No tables.")
    return block(done, _diagnostics(applied.diagnostics))


def _outcome(created: bool, changed: bool) -> str:
    return "created" if created else "changed" if changed else "unchanged"


def version_html(schema: TableSchema) -> Markup:
    """One version of a table's schema: its head, then a line a field; nested fields are indented."""
    logical = strip_encoding(schema.logical)
    facts: list[tuple[str, str]] = [("comment", schema.comment)] if schema.comment else []
    for label, keys in (("primary keys", schema.primary_keys), ("partition keys", schema.partition_keys)):
        facts += [(label, ", ".join(keys))] if keys else []
    facts += [(f"option {key}", value) for key, value in shown_options(schema)]
    facts += _attributes(logical)
    return block(head(f"schema {schema.id}"), _facts(facts), table(HEADING, stored_rows(schema, logical), right={0}))


def schema_html(schema: Schema) -> Markup:
    """A declared schema: a line a field, and the attributes of the whole."""
    rows = [row[1:] for field in schema.fields for row in field_rows(field)]
    described = schema.extra.get(DESCRIPTION)
    facts = [("description", str(described))] if described else []
    return block(_facts([*facts, *_attributes(schema)]), table(HEADING[1:], rows))


def _attributes(schema: Schema) -> list[tuple[str, str]]:
    return [(key, attribute_text(value)) for key, value in schema.extra.items() if key != DESCRIPTION]


def comparison_html(found: Comparison) -> Markup:
    """What differs between two schemas, and whom that breaks."""
    rows = [
        (path_text(d.path), d.attribute or d.kind.value, _side(d.before), _side(d.after))
        for d in (*found.differences, *found.excused)
    ]
    broken = [element("p", f"Breaks {party.value}s.") for party in sorted(found.breaks)]
    return block(head(found.likeness.value), table(("where", "what", "before", "after"), rows), *broken)


def _side(value: Any) -> str:
    """What was before, or is after: a field or a type by its name, an attribute or a place as it is."""
    match value:
        case None:
            return ""
        case int() | str():
            return str(value)
        case Field():
            return type_name(value.type)
        case _:
            return type_name(value)


def history_html(history: History) -> Markup:
    """Versions and snapshots in order of time, the newest first; times are in UTC."""
    zone = zone_of("UTC")
    events = [(v.schema.time_millis, ("schema", v.schema.id, "", "", _version(v))) for v in history.versions]
    events += [
        (
            s.time_millis,
            (
                *("snapshot", s.id, _count(s.delta_record_count, "+"), _count(s.total_record_count)),
                f"{operation_of(s)}, schema {s.schema_id}{origin_text(s)}",
            ),
        )
        for s in history.snapshots
    ]
    newest = sorted(events, key=lambda event: event[0], reverse=True)
    rows = [(time_text(millis, zone), *cells) for millis, cells in newest[: MOST_ROWS + 1]]
    columns = ("time (UTC)", "", "number", "rows", "total", "what")
    return block(head(history.name), table(columns, rows, right={2, 3, 4}))


def _version(version: Version) -> Markup | str:
    said = [*version.changes, *map(approval_line, version.approvals)]
    return lines(said) if said else "first version"


def _count(count: int | None, sign: str = "") -> str:
    return "?" if count is None else f"{count:{sign},}"


def ingest_html(result: IngestResult) -> Markup:
    """What was read, written and quarantined, then all else that there is to tell."""
    written, bad = ("good", "bad") if result.dry_run else ("written", "quarantined")
    counts = [(_count(result.rows_read), _count(result.rows_written), _quarantined(result))]
    shown = [head(result.table), table(("read", written, bad), counts, right={0, 1, 2})]
    notes = ingest_notes(result)
    return block(*shown, element("p", run_text(result)), *([preformatted("\n".join(notes))] if notes else []))


def _quarantined(result: IngestResult) -> object:
    count = _count(result.rows_quarantined)
    return mark(count, "bad") if result.rows_quarantined else count


def explanation_html(explained: ReadExplanation) -> Markup:
    """What a read of a table would do: each state with its facts, the files that are read, and those left out."""
    return block(head(explained.table), *(part for state in explained.states for part in _state(state)))


def _state(state: StateExplanation) -> Iterator[Markup]:
    facts = [line.strip().split(None, 1) for line in state.summary()]
    yield _facts([(words[0], words[1] if len(words) > 1 else "") for words in facts])
    kept = [(state.short(k.file), _count(k.file.meta.row_count), size_text(k.file.size), k.how) for k in state.kept]
    if kept:
        yield head("files that are read")
        yield table(("file", "rows", "size", "how"), kept, right={1, 2})
    dropped = [
        (state.short(d.file), _count(d.file.meta.row_count), size_text(d.file.size), file_reason(d))
        for d in state.plan.dropped
    ]
    if dropped:
        yield head("files that are left out")
        yield table(("file", "rows", "size", "why"), dropped, right={1, 2})


def system_table_html(found: SystemTable) -> Markup:
    """The rows of a system table."""
    rows = [["" if v is None else json_value(v) for v in row] for row in found.rows[: MOST_ROWS + 1]]
    return block(head(found.name), table(found.column_names, rows))


def doctor_html(report: DoctorReport) -> Markup:
    """The checks, and what to do about those that are not ok."""
    rows = [
        (
            mark(check.state.value, _STATES[check.state.value]),
            check.name,
            lines([check.found, *check.details, *([f"{check.code}: {check.remedy}"] if check.code else [])]),
        )
        for check in report.checks
    ]
    return block(table(("state", "check", "found"), rows))


def _facts(facts: Iterable[tuple[str, str]]) -> Markup:
    return table(("", ""), list(facts))


def _diagnostics(diagnostics: Iterable[Diagnostic]) -> Markup:
    rows = [
        (
            mark(d.severity.value, SEVERITY_LOOKS[d.severity.value]),
            d.code,
            lines([d.message, *([f"remedy: {remedy}"] if (remedy := d.python_remedy or d.remedy) else [])]),
        )
        for d in diagnostics
    ]
    return table(("", "code", "what"), rows)
