"""Show the result of an ingest: rows read, written, quarantined, merged and skipped."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakebed.printable import one_line

if TYPE_CHECKING:
    from lakebed.ingest.run_history import IngestResult
    from lakebed.ingest.sources.source_listing import LeftOut

#: How many files a list names.
_SHOWN = 10


def ingest_text(result: IngestResult, *, command_line: bool = False) -> str:
    """What was read, written, quarantined, merged and skipped, and what can be done about it, there or in Python."""
    counts = (
        f"{result.table}: {result.rows_read:,} {'row' if result.rows_read == 1 else 'rows'} read, "
        f"{result.rows_written:,} {'good' if result.dry_run else 'written'}, "
        f"{result.rows_quarantined:,} {'bad' if result.dry_run else 'quarantined'} ({run_text(result)})"
    )
    return "\n".join([counts, *ingest_notes(result, command_line=command_line)])


def run_text(result: IngestResult) -> str:
    """The snapshot, the schema and the run."""
    where = f"schema {result.schema_id}, run {result.run_id}"
    if result.dry_run:
        where = f"schema {result.schema_id}; a dry run, nothing was written"
    return where if result.snapshot_id is None else f"snapshot {result.snapshot_id}, {where}"


def ingest_notes(result: IngestResult, *, command_line: bool = False) -> list[str]:
    """All that there is to tell beside the counts, a line each."""
    lines = [one_line(f"  {p.code} {p.message}") for p in result.problems]
    became = "would become" if result.dry_run else "became"
    lines += [one_line(f"{became} NULL: {values}") for values in result.nulled]
    lines += [one_line(str(column)) for column in result.merged]
    if result.ignored_columns:
        lines.append("left out, since the table has no such column: " + one_line(", ".join(result.ignored_columns)))
    if result.repeated:
        lines.append("this run was done before; nothing was done now")
    again = "--again" if command_line else "again=True"
    lines += [f"skipped {one_line(f)}: ingested before ({again} ingests it again)" for f in result.skipped_files]
    lines += _left_out(result.left_out, "--json names" if command_line else "left_out names")
    if result.rows_quarantined and not result.dry_run:
        shown = f"lakebed quarantine show {shlex.quote(result.table)}"
        in_python = f"lake.quarantine({result.table!r}).rows(spark)"
        lines.append(f"bad rows and their reasons: {shown if command_line else in_python}")
    if not command_line:
        lines += map(str, result.notices)
    return lines


def _left_out(files: Sequence[LeftOut], all_of_them: str) -> list[str]:
    """The files that were not read: how many, and the first of them by name."""
    if not files:
        return []
    shown = [one_line(f"  {f.path} ({f.reason})") for f in files[:_SHOWN]]
    if len(files) > _SHOWN:
        shown.append(f"  and {len(files) - _SHOWN} more ({all_of_them} them all)")
    return [f"left out {len(files)} {'file' if len(files) == 1 else 'files'}:", *shown]
