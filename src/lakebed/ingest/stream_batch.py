"""Judge whether a batch of a streaming query may be written, by the batches that are in the table. Pure.

A query writes batch after batch, and does only the last one again. So a batch that comes with another number, or with
the last number and other rows, comes from a checkpoint that is older than the table. A new checkpoint has a query of
another id; that it belongs to the same stream, the stream's name tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from lakebed.errors import ConflictError, LakebedError
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.ingest import run_history as runs
from lakebed.ingest.run_memory import RunLog, RunRecord
from lakebed.ingest.stream_checkpoint import PlannedBatch

OLD_CHECKPOINT = "LB6482"
OTHER_CHECKPOINT = "LB6483"
NOT_KNOWN = "LB6484"


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """A batch of a stream into a table. `follows` is the query whose place this one takes by the word of the caller."""

    table: str
    stream: str
    planned: PlannedBatch
    follows: str | None = None

    @property
    def run_id(self) -> str:
        """The id of the run that writes it."""
        return runs.batch_run_id(self.planned.query, self.planned.number)

    @property
    def commit_user(self) -> str:
        """The user that every batch of the query commits as, with its number as the identifier."""
        return runs.commit_user(self.planned.query)

    def change(self, properties: Mapping[str, str]) -> SnapshotChange:
        """What a commit of the batch changes, before files are added to it."""
        user, number = self.commit_user, self.planned.number
        return SnapshotChange(commit_user=user, commit_identifier=number, properties=properties)

    @property
    def properties(self) -> dict[str, str]:
        """What its snapshots say beside what those of every run say."""
        return {
            runs.STREAM: self.stream,
            runs.QUERY_ID: self.planned.query,
            runs.BATCH: str(self.planned.number),
            runs.OFFSETS: self.planned.offsets,
            runs.PLANNED: str(self.planned.planned),
        }

    def check(self, records: Iterable[RunRecord]) -> None:
        """Raise `ConflictError` where writing it could lose rows or write some twice, by the batches that are known."""
        ours = [record for record in records if record.stream == self.stream or record.query == self.planned.query]
        for record in ours:
            if record.query == self.planned.query and not self._comes_after(record):
                raise self._too_old(record)
        newest = max(
            (record for record in ours if record.stream == self.stream), key=lambda r: r.planned or 0, default=None
        )
        if newest is not None and newest.query not in (self.planned.query, self.follows):
            raise self._other_checkpoint(newest)

    def check_new(self, good: RunLog, bad: RunLog) -> None:
        """Raise `ConflictError` where it is not known to be done, and what is known is not all."""
        if self.planned.planned <= max(good.unseen, bad.unseen):
            raise self._not_known()

    def _comes_after(self, record: RunRecord) -> bool:
        """Whether it is a later batch than one of the same query, or the same one done again."""
        if self.planned.number == record.batch:
            return self.planned.offsets == record.offsets
        return self.planned.number > (record.batch or 0)

    def _too_old(self, record: RunRecord) -> LakebedError:
        return ConflictError.of(
            OLD_CHECKPOINT,
            f"{self.table}: batch {self.planned.number} of the stream {self.stream!r} comes from a checkpoint that is "
            f"older than the table, which has batch {record.batch}, planned at {_moment(record.planned)}",
            path=self.table,
            expected=f"batch {record.batch} as it was, or the next one",
            found=f"batch {self.planned.number}, planned at {_moment(self.planned.planned)}",
            remedy="go on from the newest copy of the checkpoint. If it is lost: remove what the stream wrote after "
            "this copy (roll the table back, or delete the rows), or begin a new checkpoint behind these rows, with "
            f"follows={self.planned.query!r}",
        )

    def _other_checkpoint(self, record: RunRecord) -> LakebedError:
        return ConflictError.of(
            OTHER_CHECKPOINT,
            f"{self.table}: the stream {self.stream!r} has written from another checkpoint, up to batch "
            f"{record.batch}, planned at {_moment(record.planned)}",
            path=self.table,
            expected=f"query {record.query}",
            found=f"query {self.planned.query}, batch {self.planned.number}",
            remedy="go on from that checkpoint. If it is lost, have the source begin behind the rows that are in the "
            f"table, and say so with follows={record.query!r}; another stream needs a name of its own",
        )

    def _not_known(self) -> LakebedError:
        return ConflictError.of(
            NOT_KNOWN,
            f"{self.table}: whether batch {self.planned.number} of the stream {self.stream!r} was written, nobody can "
            f"tell: it was planned at {_moment(self.planned.planned)}, and snapshots since then have expired",
            path=self.table,
            found=f"query {self.planned.query}",
            remedy="look whether its rows are in the table. Then begin a new checkpoint, behind them or before",
        )


def _moment(millis: int | None) -> str:
    return "?" if millis is None else datetime.fromtimestamp(millis / 1000, UTC).isoformat(timespec="milliseconds")
