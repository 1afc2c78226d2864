"""Show the health of tables: a few lines each, and what is noteworthy with the command that mends it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lakebed.inspection.table_health import FileHealth, HealthReport, TableHealth, UnreadTable
from lakebed.maintenance.durations import duration_text
from lakebed.printable import one_line
from lakebed.render.maintenance_text import count_text, size_text


def health_text(report: HealthReport, *, reasons: bool = True) -> str:
    """The tables one after the other, and those that cannot be read; without `reasons` these are told elsewhere."""
    texts = [*map(table_health_text, report.tables), *(_unread(failed, reasons) for failed in report.failed)]
    return "\n\n".join(texts) if texts else "There are no tables."


def table_health_text(found: TableHealth) -> str:
    """What the table has, a line a kind, then what is noteworthy."""
    lines = [*_facts(found), *_noteworthy(found)]
    return "\n".join([one_line(found.table), *("  " + line for line in lines)])


def _unread(failed: UnreadTable, reasons: bool) -> str:
    reason = f": {one_line(failed.problems[0].message)}" if reasons else ""
    return f"{one_line(failed.table)}\n  cannot be read{reason}"


def _facts(found: TableHealth) -> Iterator[str]:
    if found.newest_snapshot_at is None or found.oldest_snapshot_at is None:
        yield f"no snapshots, schema {found.schema_id}"
    else:
        oldest, newest = (_age(found, at) for at in (found.oldest_snapshot_at, found.newest_snapshot_at))
        ages = f"{newest} old" if found.snapshots == 1 else f"from {oldest} to {newest} old"
        yield f"{count_text(found.snapshots, 'snapshot')}, {ages}; the newest is {found.snapshot_id}"
        yield from _files(found.content)
    beside = [("tag", found.tags), ("branch", found.branches), ("changelog", found.changelogs)]
    named = [_plural(count, word) for word, count in (*beside, ("consumer", len(found.consumers))) if count]
    if named:
        yield ", ".join(named)
    if found.bad_rows:
        kinds = sorted(found.bad_rows.items(), key=lambda kind: (-kind[1], kind[0]))
        yield "bad rows: " + ", ".join(f"{one_line(code)} ({count_text(rows, 'row')})" for code, rows in kinds)


def _plural(count: int, word: str) -> str:
    return f"{count:,} branches" if word == "branch" and count != 1 else count_text(count, word)


def _files(files: FileHealth) -> Iterator[str]:
    yield (
        f"{count_text(files.files, 'file')}, {size_text(files.bytes)}, {count_text(files.rows, 'row')} in "
        f"{count_text(files.buckets, 'bucket')}; {count_text(files.manifests, 'manifest')}, "
        f"{size_text(files.manifest_bytes)}"
    )
    if not files.files:
        return
    smallest, median, largest = map(size_text, (files.smallest, files.median, files.largest))
    small = "none is small" if not files.small else f"{count_text(files.small, 'small file')}"
    yield f"sizes from {smallest} to {largest}, half of them up to {median}; {small}"
    yield f"levels: {_shares(files.by_level)}; schema versions: {_shares(files.by_schema)}"
    if files.vectors:
        unknown = f", and those of {count_text(files.uncounted, 'vector')}" if files.uncounted else ""
        yield f"{files.deleted_share:.1%} of rows deleted by {count_text(files.vectors, 'vector')}{unknown}"


def _shares(counted: Mapping[int, int]) -> str:
    return ", ".join(f"{number} ({count_text(count, 'file')})" for number, count in counted.items())


def _age(found: TableHealth, at: int) -> str:
    return duration_text(max(found.measured_at - at, 0))


def _noteworthy(found: TableHealth) -> Iterator[str]:
    for finding in found.findings:
        command = "" if finding.command is None else f": {one_line(finding.command)}"
        yield f"! {one_line(finding.message)}{command}"
    if not found.findings:
        yield "nothing is noteworthy"
