"""Show which runs have bad rows, and what became of these."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING

from lakebed.catalog.time_zone import zone_of
from lakebed.printable import one_line
from lakebed.render.maintenance_text import count_text, numbers_text
from lakebed.render.table_text import table_text

if TYPE_CHECKING:
    from lakebed.row_level.purge_rows import PurgeResult
    from lakebed.row_level.quarantined_rows import BadRowKind, QuarantinedRun
    from lakebed.row_level.replay_rows import ReplayResult

#: How many kinds of problems, and files, are shown of a run.
_SHOWN = 5


def runs_text(table: str, runs: Sequence[QuarantinedRun], time_zone: str = "UTC", *, width: int | None = None) -> str:
    """One line a run: when, as its rows are shown, rows, mended, files, kinds of problems."""
    if not runs:
        return f"{table} has no bad rows."
    cells = [
        (
            run.run_id,
            run.ingested_at.replace(tzinfo=UTC).astimezone(zone_of(time_zone)).isoformat(),
            f"{run.rows:,}",
            f"{run.mended:,}",
            _files(run),
            _kinds(run.kinds),
        )
        for run in runs
    ]
    heads = ("run", "time", "rows", "mended", "files", "problems")
    left = sum(run.rows - run.mended for run in runs)
    lines = [table_text(heads, [tuple(map(one_line, row)) for row in cells], right={2, 3}, width=width), ""]
    lines.append(f"{count_text(left, 'row')} of {table} {'is' if left == 1 else 'are'} bad still.")
    return "\n".join(lines)


def replay_text(result: ReplayResult) -> str:
    """How many bad rows are in the table by now, and what is wrong with those that are left."""
    what = f"{result.rows_replayed:,} of {count_text(result.rows_chosen, 'bad row')}"
    where = f"schema {result.schema_id}"
    if result.snapshot_id is not None:
        where = f"snapshot {result.snapshot_id}, {where}, run {result.run_id}"
    are = "is" if result.rows_replayed == 1 else "are"
    now = f"{are} good by now" if result.dry_run else f"{are} in the table by now"
    if result.rows_written != result.rows_replayed:
        by = f"mended by {count_text(result.rows_written, 'row')} of the file"
        now = f"would be {by}" if result.dry_run else f"{are} {by}"
    lines = [f"{result.table}: {what} {now} ({where})"]
    lines += [one_line(f"became NULL: {values}") for values in result.nulled]
    if result.ignored_columns:
        lines.append("left out, since the table has no such column: " + one_line(", ".join(result.ignored_columns)))
    if result.repeated:
        lines.append("this run was done before; nothing was done now")
    if result.kinds:
        lines.append(f"{count_text(result.rows_left, 'row')} left: {one_line(_kinds(result.kinds))}")
    return "\n".join(lines)


def purge_text(result: PurgeResult, *, command_line: bool = False) -> str:
    """How many rows went, and what still holds rows that are gone."""
    what = f"{count_text(result.rows, 'row')} of the quarantine of {result.table}"
    if result.dry_run:
        return f"A purge would remove {what}."
    lines = [f"Removed {what}" + (f" (snapshot {result.snapshot_id})." if result.snapshot_id is not None else ".")]
    if result.expired:
        lines.append(f"{count_text(len(result.expired), 'snapshot')} of the quarantine expired.")
    held = [
        *numbers_text("snapshot", result.held_by),
        *([", ".join(map(one_line, result.tags))] if result.tags else []),
    ]
    if held:
        lines.append(f"Rows that are removed are still in {' and '.join(held)} of the quarantine.")
    if result.held_by:
        lines.append(f"{'--expire' if command_line else 'expire=True'} takes its older snapshots away.")
    return "\n".join(lines)


def _files(run: QuarantinedRun) -> str:
    if not run.files:
        return "a DataFrame"
    more = run.file_count - 1
    return run.files[0] if not more else f"{run.files[0]} and {more:,} more"


def _kinds(kinds: Sequence[BadRowKind]) -> str:
    told = [f"{kind.column or 'the whole row'}: {kind.code} ({kind.rows:,})" for kind in kinds[:_SHOWN]]
    return ", ".join([*told, *([f"{len(kinds) - _SHOWN:,} more"] if len(kinds) > _SHOWN else [])])
