"""Ingest a corrected file in the place of bad rows, which are mended by it, all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from shlex import quote
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakebed.errors import StoreError, UsageError
from lakebed.format.live_files import DataFile
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.ingest import run_history as runs
from lakebed.ingest.arguments import NamedFiles, source_paths
from lakebed.ingest.checked_write import CheckedWrite
from lakebed.ingest.read_settings import ReadSettings
from lakebed.ingest.run_commit import RunGuard
from lakebed.ingest.run_memory import RunMemory
from lakebed.ingest.sources.source_files import SourceFile, check_unchanged
from lakebed.ingest.sources.source_listing import file_choice
from lakebed.ingest.sources.source_parts import SourcePart
from lakebed.ingest.write_frame import refuse_bad_rows
from lakebed.row_level.quarantined_rows import RowChoice
from lakebed.row_level.replay_rows import FoundRows, Replay, ReplayResult, TakeUp, settings_of
from lakebed.row_level.row_target import PLACE, Start

NOT_REPLACED = "LB6563"


@dataclass(frozen=True)
class FileReplay:
    """A replay whose rows come from files; `replay` says of which table, and which bad rows they take the place of."""

    replay: Replay
    source: Any

    def execute(self, *, dry_run: bool) -> ReplayResult:
        """Do it, or only say what would be done."""
        replay = self.replay
        choice = replay.choice
        if not (choice.runs or choice.codes or choice.where):
            raise self._refused("the file is to take the place of bad rows, and none are named", "name them")
        if not replay.has_quarantine:
            raise self._refused("there are no bad rows in whose place the file could be put", "ingest the file")
        memory = replay.memory()
        asked = replay.asked
        named = NamedFiles(
            source_paths(self.source), file_choice(None, None), asked.get("format"), asked.get("options"), True
        )
        settings = ReadSettings(row_kinds=self._row_kinds(choice, memory))
        return replay.job(settings, memory).use(named, partial(self._use, memory, dry_run))

    def _row_kinds(self, choice: RowChoice, memory: RunMemory) -> str | None:
        """The column that says what rows do, where the runs that are named agree on one."""
        kinds = {settings_of(memory, run).row_kinds for run in choice.runs}
        return kinds.pop() if len(kinds) == 1 else None

    def _refused(self, reason: str, remedy: str) -> UsageError:
        return UsageError.of(
            NOT_REPLACED,
            f"{self.replay.name}: {reason}",
            path=str(self.replay.name),
            remedy=f"{remedy}; bad rows are named by --run-id, --code and --where, and "
            f"`lakebed quarantine list {quote(str(self.replay.name))}` shows which there are",
            python_remedy=f"{remedy}; bad rows are named by run_id, code and where, and "
            "lake.quarantine(table).list(spark) shows which there are",
        )

    def _use(
        self, memory: RunMemory, dry_run: bool, checked: CheckedWrite, parts: Sequence[SourcePart]
    ) -> ReplayResult:
        run_id = f"replay-{runs.file_run_id(checked.name, checked.files)}"
        done = memory.good.by_run.get(run_id)
        if done is not None:
            mended = done.number(runs.ROWS_REPLAYED) or 0
            before = FoundRows(mended, mended)
            return replace(
                self.replay.result(before, None, done.number(runs.QUARANTINE_SNAPSHOT)),
                run_id=run_id,
                snapshot_id=done.snapshot_id,
                rows_written=done.number(runs.ROWS_WRITTEN) or 0,
                repeated=True,
            )
        twice = next(memory.finished_with(checked.files), None)
        if twice is not None:
            raise self._refused(
                f"{twice[0].path!r} was ingested by run {twice[1].run_id}",
                "give a file with the corrected rows only, or purge the bad rows where this file has put them right",
            )
        replay = replace(self.replay, run_id=run_id)
        checked = replace(checked, attempt=replay.attempt)
        rows, good = checked.prepare(parts), checked.good_rows()
        try:
            replay.tell("writing rows")
            rows, counts = checked.write(rows, good)
            refuse_bad_rows(str(checked.name), rows, counts)
            if not counts.good:
                raise self._refused("the file has no rows", "give a file with the corrected rows")
            check_unchanged(checked.files, checked.context.sources)
            claim = runs.claim_of(run_id, replay.attempt)
            operation = TakeUp(claim, replay.choice.where, partial(self._find, replay))
            taken = replay.take_up(operation, dry_run=dry_run)
            found = operation.found
            if not found.chosen:
                raise self._refused("no bad row is chosen, or all are mended", "choose rows that are bad still")
            snapshot: Snapshot | None = None
            if taken is not None:
                replay.tell("committing")
                properties = replay.properties(found, taken, counts, checked.files)
                change = SnapshotChange(commit_user=runs.commit_user(run_id), properties=properties)
                guard = partial(self._guard, replay, memory, checked.files, found, claim)
                snapshot = good.commit(change, guard, memory.good.until)
            return replace(
                replay.result(found, snapshot, taken, dry_run=dry_run), rows_written=counts.good, nulled=counts.nulled
            )
        finally:
            # What is left belongs to nobody; that it cannot be deleted is no reason to fail.
            with suppress(StoreError):
                good.clear()

    def _find(self, replay: Replay, start: Start, files: Sequence[DataFile]) -> tuple[FoundRows, DataFrame | None]:
        """All rows that are chosen and bad still."""
        memory, rows = replay.open_rows(start, files)
        count, claims = rows.agg(F.count(F.lit(1)), replay.claims_on(F.lit(True))).collect()[0]
        others = tuple(sorted(set(claims or ()) - set(memory.claims())))
        return FoundRows(count, count, others, until=memory.good.until), rows.select(*PLACE) if count else None

    @staticmethod
    def _guard(
        replay: Replay,
        memory: RunMemory,
        files: Sequence[SourceFile],
        found: FoundRows,
        claim: str,
        since: Sequence[Snapshot],
    ) -> None:
        until = memory.good.until
        RunGuard(replay.run_id, files, frozenset(), False, until, memory.bad.until).before_table(memory.table, since)
        replay.refuse_overtaken(found, claim, since)
