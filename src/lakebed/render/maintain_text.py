"""Show what maintenance did to tables, what it freed and what was not done, and what an analysis found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakebed.format.table_statistics import ColumnSummary, ordered_text
from lakebed.printable import one_line
from lakebed.render.maintenance_text import count_text, expiry_text, orphans_text, size_text
from lakebed.render.table_text import table_text
from lakebed.render.write_text import partition_expiry_text, write_text
from lakebed.write.maintenance_report import MaintenanceReport, Step, StepProblem, TableMaintenance

if TYPE_CHECKING:
    from lakebed.spark.analyze_table import TableAnalysis

_NOT_DONE = {
    Step.OPEN: "not maintained",
    Step.EXPIRE_PARTITIONS: "partitions not expired",
    Step.COMPACT: "not compacted",
    Step.EXPIRE: "snapshots not expired",
    Step.ORPHANS: "files that nothing refers to not looked for",
}


def table_maintenance_text(found: TableMaintenance) -> str:
    """One line or more a step that was due, and one for each that was not done."""
    lines = list(_steps(found))
    if not lines:
        return f"{one_line(found.table)}: nothing is due."
    return "\n".join(lines)


def maintenance_text(report: MaintenanceReport, *, reasons: bool = True) -> str:
    """The tables one after the other, and what was freed in all; without `reasons` those of failures are not told."""
    if not report.tables:
        return "There are no tables."
    texts = ["\n".join(_steps(table, reasons=reasons)) for table in report.tables if not _is_quiet(table)]
    quiet = sum(map(_is_quiet, report.tables))
    verb = "would be" if report.dry_run else "were"
    ends = [f"{count_text(len(report.tables), 'table')}"]
    if quiet:
        ends.append(f"nothing is due for {quiet:,}")
    if report.freed_files:
        ends.append(f"{count_text(report.freed_files, 'file')}, about {size_text(report.freed_bytes)}, {verb} freed")
    if report.failed:
        ends.append(f"{count_text(len(report.failed), 'step')} failed")
    return "\n".join([*texts, *([""] if texts else []), "; ".join(ends) + "."])


def _is_quiet(table: TableMaintenance) -> bool:
    return not any(_steps(table))


def _steps(found: TableMaintenance, *, reasons: bool = True) -> Iterator[str]:
    partitions, compaction, snapshots = found.partitions, found.compaction, found.snapshots
    if partitions is not None and not (partitions.is_noop and not partitions.unknown):
        yield partition_expiry_text(partitions)
    if compaction is not None and compaction.files_removed:
        yield write_text(compaction)
    if snapshots is not None and not (snapshots.is_noop and not snapshots.held_by):
        yield expiry_text(snapshots)
    if found.orphans is not None and found.orphans.files:
        removes = "" if found.orphans.removed else f"{one_line(found.table)}: files that nothing refers to:\n"
        yield removes + orphans_text(found.orphans, command_line=True)
    for problem in (*found.skipped, *found.failed):
        reason = f": {_reason(problem)}" if reasons or problem in found.skipped else ""
        yield f"{one_line(found.table)}: {_NOT_DONE[problem.step]}{reason}"


def _reason(problem: StepProblem) -> str:
    first, *others = problem.problems
    return one_line(first.message) + (f" (and {count_text(len(others), 'more problem')})" if others else "")


def analysis_text(found: TableAnalysis, *, width: int | None = None) -> str:
    """The statistics and the snapshot that names them."""
    table = one_line(found.table)
    if found.repeated:
        return f"{table}: this run was done before (snapshot {found.snapshot_id}); nothing was done now"
    statistics = found.statistics
    if statistics is None:
        return f"{table}: there are no rows, nothing to analyze."
    rows = f"{count_text(statistics.rows, 'row')}, about {size_text(statistics.size)}"
    lines = [f"{table}: {rows} in snapshot {statistics.snapshot_id} (told by snapshot {found.snapshot_id})"]
    if statistics.columns:
        titles = ("column", "distinct", "NULLs", "average length", "longest", "least", "greatest")
        cells = [(one_line(name), *_cells(column)) for name, column in statistics.columns.items()]
        lines += ["", table_text(titles, cells, right={1, 2, 3, 4}, width=width)]
    if found.left_out:
        lines += ["", f"Left out, since their types cannot be described: {', '.join(map(one_line, found.left_out))}"]
    return "\n".join(lines)


def _cells(column: ColumnSummary) -> tuple[str, ...]:
    counts = (column.distinct_count, column.null_count, column.average_length, column.maximum_length)
    ends = (column.minimum, column.maximum)
    return (
        *(f"{count:,}" for count in counts),
        *("" if end is None else one_line(ordered_text(column.type, end)) for end in ends),
    )
