"""Remove rows from a quarantine, and tell which of its snapshots still hold rows that are removed.

Files with such a row are written anew without it, also where deletion vectors could note it: the row is to be gone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, ClassVar

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from lakebed.catalog.paths import MAIN
from lakebed.format.live_files import plan_files
from lakebed.format.snapshot import Snapshot
from lakebed.format.table_branch import TableBranch
from lakebed.ingest.expire_snapshots import expire_snapshots
from lakebed.ingest.run_memory import RunMemory
from lakebed.maintenance.freed_files import every_state
from lakebed.maintenance.references import ReferenceKind, State
from lakebed.model import canonical_json
from lakebed.readable import Readable
from lakebed.row_level.chosen_rows import choose_rows, without_chosen
from lakebed.row_level.quarantined_rows import RowChoice, mended_by, problems_of
from lakebed.row_level.row_level_commit import RowChanges, RowCounts, run_operation
from lakebed.row_level.row_target import RowTarget, Start
from lakebed.spark.clocks import UTC, instant_to_wall
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.table_writer import TableWriter
from lakebed.spark.write_rows import RowsToWrite
from lakebed.write.write_result import WriteRun


@dataclass(frozen=True, slots=True)
class PurgeResult(Readable):
    """What a purge removed from a quarantine, or would. `snapshot_id` is None where there was no such row.

    `held_by` are the snapshots, by their numbers, and `tags` the tags and branches that still hold rows which are not
    in the quarantine any more; `expired` are the snapshots that were taken away with the files that only they needed.
    """

    renderer: ClassVar[str] = "lakebed.render.quarantine_text:purge_text"

    table: str
    rows: int
    snapshot_id: int | None = None
    held_by: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    expired: tuple[int, ...] = ()
    dry_run: bool = False

    def to_json(self) -> dict[str, Any]:
        """The object of `lakebed quarantine purge --json`."""
        return {
            "table": self.table,
            "rows": self.rows,
            "snapshot_id": self.snapshot_id,
            "held_by": list(self.held_by),
            "tags": list(self.tags),
            "expired": list(self.expired),
            "dry_run": self.dry_run,
        }


@dataclass(frozen=True, slots=True)
class PurgeChoice:
    """Which rows go: of those that are chosen the mended ones, or `every` one, that came before a moment.

    `before` is in milliseconds since 1970.
    """

    rows: RowChoice
    every: bool = False
    before: int | None = None

    def condition(self, start: Start, memory: RunMemory) -> Column:
        """Whether a row goes. Of every one those of a run stay that was cut off, and would take them for its own when
        it is repeated, unless the run is named.
        """
        found = self.rows.condition()
        if not self.every:
            found = found & F.col("mended_by").isNotNull()
        elif not self.rows.runs:
            unfinished = sorted(memory.unfinished())
            found = found & ~F.col("run_id").isin(unfinished) if unfinished else found
        if self.before is not None:
            moment = F.timestamp_millis(F.lit(self.before))
            is_instant = isinstance(start.no_rows.schema["ingested_at"].dataType, TimestampType)
            found = found & (F.col("ingested_at") < (moment if is_instant else instant_to_wall(moment, UTC)))
        return found


@dataclass(frozen=True, slots=True)
class _Purge:
    """The change of the quarantine that removes rows. `memory` looks at what is known of runs."""

    choice: PurgeChoice
    memory: Callable[[], RunMemory]

    name, word = "purge", "DELETE"

    @property
    def asked(self) -> str:
        """A filter may name a person."""
        return canonical_json(["purge"])

    def make(self, start: Start, writer: TableWriter, *, dry_run: bool) -> RowChanges:
        """Find the rows, and write the files anew that hold others, too."""
        where = self.choice.rows.where
        files = start.needed(where).files
        memory = self.memory()
        rows = start.placed(files)
        rows = rows if where is None else rows.where(where)
        rows = rows.withColumns(
            {"problems": problems_of(start.schema), "mended_by": mended_by(start.schema, memory.claims())}
        )
        chosen = choose_rows(rows.where(self.choice.condition(start, memory)), files) if files else ()
        kept = [c for c in chosen if c.rows < start.live_rows(c.file)]
        if kept and not dry_run:
            others = without_chosen(start.placed(tuple(c.file for c in kept)), kept)
            with spark_errors():
                writer.write(RowsToWrite(start.to_write(others)))
        return RowChanges(tuple(c.file for c in chosen), counts=RowCounts(deleted=sum(c.rows for c in chosen)))


def purge_rows(
    target: RowTarget, memory: Callable[[], RunMemory], choice: PurgeChoice, *, expires: bool, dry_run: bool
) -> PurgeResult:
    """Remove rows from a quarantine; see `lakebed.row_level.quarantine_rows.Quarantine.purge`."""
    done = run_operation(target, _Purge(choice, memory), WriteRun.of(), dry_run=dry_run)
    table = target.table
    result = PurgeResult(str(memory().name), done.rows_deleted, done.snapshot_id, dry_run=dry_run)
    if expires and not dry_run:
        expired = expire_snapshots(table, retain_min=1, retain_max=1, older_than=timedelta(0))
        result = replace(result, expired=expired.snapshots)
    states = holding_states(table)
    numbers = sorted(s.snapshot.id for s in states if s.kind is ReferenceKind.SNAPSHOT and s.branch == MAIN)
    named = [_name(s) for s in states if s.kind is not ReferenceKind.SNAPSHOT or s.branch != MAIN]
    return replace(result, held_by=tuple(numbers), tags=tuple(named))


def _name(state: State) -> str:
    if state.branch == MAIN:
        return state.name if state.kind is ReferenceKind.TAG else f"{state.kind} {state.name}"
    return f"{state.kind} {state.name} of branch {state.branch}"


def holding_states(table: TableBranch) -> list[State]:
    """The states that have data files which the newest has not. Raises `RefusedError` for one that is unreadable."""
    newest = table.snapshots.latest()
    schema = table.schemas.load_latest_schema()

    def files(snapshot: Snapshot) -> frozenset[str]:
        return frozenset(f.path for f in plan_files(table.store, table.table_path, snapshot, schema))

    now = frozenset[str]() if newest is None else files(newest)
    known: dict[str, bool] = {}
    held = []
    for state in every_state(table):
        lists = f"{state.snapshot.base_manifest_list} {state.snapshot.delta_manifest_list}"
        if lists not in known:
            known[lists] = not files(state.snapshot) <= now
        if known[lists]:
            held.append(state)
    return held
