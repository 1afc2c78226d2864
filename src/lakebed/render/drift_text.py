"""Show what was made outside of `apply`, and what of it manifests take over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lakebed.catalog.time_zone import zone_of
from lakebed.evolve.pull_manifests import PulledManifests, PulledTable
from lakebed.inspection.table_drift import DriftReport, OutsideVersion, TableDrift
from lakebed.printable import one_line
from lakebed.render.history_text import origin_text
from lakebed.render.iso_times import time_text


def drift_text(report: DriftReport, time_zone: str = "UTC") -> str:
    """The tables that have come apart from their manifests, then how many have not. Times are in `time_zone`."""
    blocks = ["\n".join(_table(t, time_zone)) for t in report.tables if t.is_drift or t.pending]
    if report.undeclared:
        blocks.append(f"No manifest declares: {', '.join(map(one_line, report.undeclared))}")
    return "\n\n".join([*blocks, _totals(report)])


_TAKEN = "of these with versions of others, which the manifest has taken over"


def _totals(report: DriftReport) -> str:
    drifted, pending = sum(t.is_drift for t in report.tables), sum(bool(t.pending) for t in report.tables)
    same = sum(not (t.is_drift or t.pending) for t in report.tables)
    taken = sum(bool(t.versions) and not (t.is_drift or t.pending) for t in report.tables)
    parts = [
        (drifted, "drifted"),
        (pending, "with changes that are not applied"),
        (same, "as declared"),
        (taken, _TAKEN),
    ]
    said = ", ".join(f"{count:,} {word}" for count, word in parts if count) or "none"
    return f"Tables: {said}."


def _table(table: TableDrift, time_zone: str) -> Iterator[str]:
    yield f"{one_line(table.table)}: {_status(table)}"
    for version in table.versions:
        yield from _version(version, time_zone)
    yield from _listed("breaks:", table.broken)
    yield from _listed("applying the manifest would undo some of it:", table.undone)
    yield from _listed("asked for and not applied:", table.pending)
    if table.annotations_drifted:
        yield f"  annotations no longer fit their columns: lakebed show {table.table}"
    if table.files is not None:
        yield f"  data files: {table.files:,} looked at, {len(table.problems):,} not as their schema version says"
    yield from (f"    {one_line(problem.message)}" for problem in table.problems)
    if table.undone:
        yield f"  to keep it: lakebed pull {table.table}"


def _status(table: TableDrift) -> str:
    if table.schema_id is None:
        return "there is no such table yet"
    if table.applied is None:
        return f"schema {table.schema_id}; `apply` has made no version"
    if not table.versions:
        return f"schema {table.schema_id}, made by `apply`"
    return f"schema {table.schema_id}; `apply` made schema {table.applied} last"


def _version(version: OutsideVersion, time_zone: str) -> Iterator[str]:
    by = version.written_by
    who = ", nothing written under it" if by is None else f", first written by{origin_text(by)[1:]}"
    yield f"  {time_text(version.time_millis, zone_of(time_zone))}  schema {version.schema_id}{who}"
    gone = ("the version before it is not there any more",)
    yield from (f"    {one_line(change)}" for change in (gone if version.changes is None else version.changes))


def _listed(head: str, lines: Iterable[str]) -> Iterator[str]:
    found = [f"    {one_line(line)}" for line in lines]
    if found:
        yield from (f"  {head}", *found)


def pulled_text(pulled: PulledManifests) -> str:
    """What each manifest takes over."""
    lines = [line for table in pulled.tables for line in _pulled(table)]
    return "\n".join(lines) or "Nothing to pull: the manifests declare what was made outside of `apply`."


def _pulled(table: PulledTable) -> Iterator[str]:
    what = "the table as it is" if table.versions is None else f"what {table.versions} did outside of `apply`"
    yield one_line(f"{table.file}: {table.table}, {what}")
    yield from (f"  {one_line(change)}" for change in table.changes or ())
