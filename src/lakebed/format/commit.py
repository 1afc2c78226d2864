"""Commit a change of a table as one snapshot, and retry lost races (Paimon specification, "Snapshot").

Data files lie in their places before. A commit writes manifests and lists under names of its own and then one snapshot
file, which must not exist yet: that is the moment when everything becomes visible, and the only one that can be lost to
somebody else.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from uuid import uuid4

from lakebed.catalog.option_values import whole_number
from lakebed.catalog.options import COMMIT_MAX_RETRIES
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import CommitOutcomeUnknownError, ConflictError, OutcomeUnknownError, StoreError
from lakebed.format.commit_origin import RUN_ID, operation_of
from lakebed.format.conflicts import Delta, buckets_have_changed, find_delta
from lakebed.format.entry_checks import check_entries
from lakebed.format.index_changes import IndexChanges
from lakebed.format.live_files import entries_of, live_entries, partition_types, snapshot_manifests
from lakebed.format.manifest_writer import ManifestWriter
from lakebed.format.new_files import assign_row_ids
from lakebed.format.refuse_unsupported import refuse_uncommittable
from lakebed.format.row_ranges import has_row_tracking
from lakebed.format.sequence_numbers import NEXT_SEQUENCE, SequenceState
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_storage import TableStorage
from lakebed.redaction import redact
from lakebed.store.failures import outcome_unknown

__all__ = ["Guard", "TableStorage", "commit"]

_LOG = logging.getLogger(__name__)
_FIRST_WAIT = 0.01
_LONGEST_WAIT = 10.0


#: Called before each attempt of a commit with the snapshots that have come since the last call, the newest first. What
#: it raises ends the commit, with nothing published.
Guard: TypeAlias = Callable[[Sequence[Snapshot]], None]


def commit(
    table: TableStorage,
    change: SnapshotChange,
    *,
    clock: Callable[[], int],
    sleep: Callable[[float], None] = time.sleep,
    after: int = 0,
    guard: Guard | None = None,
) -> Snapshot:
    """Publish a snapshot with `change`; one that changes nothing adds the snapshot alone, with its `properties`.

    Idempotent by the commit user (and identifier, for streams) and the operation, or without one the kind: where the
    user's commit is there already, its snapshot is returned and nothing is written or removed. A lost race is retried,
    as is an outcome that the storage left unknown, after looking whether the commit has been made. Data files are never
    removed. `clock` gives milliseconds since 1970, `sleep` waits seconds between attempts. `after` is a snapshot that
    the caller has looked up to: only later ones can be this commit, and only later ones are shown to `guard`, before
    each attempt.

    Raises UnsupportedError for a table that cannot be committed to, UsageError for entries that do not fit it,
    ConflictError where the change does not mean the same any more (not retried) and when every attempt lost the race,
    StoreError when the last outcome is unknown: then call again with the same user.
    """
    started = time.monotonic()
    attempts = _Attempts(table, change, clock, seen=after)
    shown = after
    attempt = 0
    while True:
        latest = table.snapshots.latest()
        done = attempts.find(latest)
        if done is not None:
            return done
        if guard is not None:
            guard([] if latest is None else list(table.snapshots.newest_first(after=shown)))
            shown = 0 if latest is None else latest.id
        schema = table.schemas.load_latest_schema()
        if attempt > whole_number(schema.options, COMMIT_MAX_RETRIES):
            raise attempts.gave_up(attempt)
        published = attempts.make(latest, schema)
        if published is not None:
            _log(table, change, published, attempt, time.monotonic() - started)
            return published
        sleep(_wait(attempt))
        attempt += 1


def _log(table: TableStorage, change: SnapshotChange, snapshot: Snapshot, retries: int, seconds: float) -> None:
    """One record a commit. `rows` are those that files hold more or fewer, `seconds` those of the commit alone."""
    fields = {
        "table": redact(table.path),
        "branch": table.branch,
        "snapshot_id": snapshot.id,
        "schema_id": snapshot.schema_id,
        "operation": operation_of(snapshot),
        "commit_user": snapshot.commit_user,
        "run_id": (snapshot.properties or {}).get(RUN_ID),
        "rows": snapshot.delta_record_count,
        "files_added": len(change.added),
        "bytes_added": sum(entry.file.file_size for entry in change.added),
        "retries": retries,
        "seconds": round(seconds, 3),
    }
    _LOG.info("committed", extra=fields)


@dataclass(slots=True)
class _Attempts:
    """What stays the same over the attempts of one commit, and what they have learnt."""

    table: TableStorage
    change: SnapshotChange
    clock: Callable[[], int]
    #: Snapshots up to this id are known not to be this commit.
    seen: int = 0
    #: Why the outcome of the last attempt is not known.
    uncertain: StoreError | None = None
    #: The schema that the entries are known to fit, and whether its number of buckets was another once.
    checked: int | None = None
    buckets_changed: bool = False
    sequence: SequenceState = field(default_factory=SequenceState)

    def find(self, latest: Snapshot | None) -> Snapshot | None:
        """The snapshot of this commit among those not yet looked at."""
        if latest is None or latest.id <= self.seen:
            return None
        change = self.change
        done = self.table.snapshots.find_commit(
            change.commit_user,
            change.commit_identifier,
            kind=change.kind,
            operation=change.operation,
            after=self.seen,
        )
        self.seen = latest.id
        return done

    def make(self, latest: Snapshot | None, schema: TableSchema) -> Snapshot | None:
        """Write and publish once on top of `latest`; None where somebody was first or the outcome is unknown."""
        self._check(schema)
        writer = ManifestWriter(self.table.store, self.table.path, schema)
        try:
            snapshot = self._write(writer, latest, schema)
        except Exception:
            writer.discard()
            raise
        try:
            if self._published(snapshot):
                return snapshot
        except OutcomeUnknownError as e:
            # The snapshot may be there or may still appear: nothing that it refers to is removed.
            self.uncertain = e
            return None
        except StoreError:
            writer.discard()
            if self.uncertain is None:
                raise
            return None
        self.uncertain = None
        writer.discard()
        return None

    def _check(self, schema: TableSchema) -> None:
        if self.checked != schema.id:
            refuse_uncommittable(schema)
            check_entries(schema, self.change)
            self.buckets_changed = bool(self.change.added) and buckets_have_changed(schema, self.table.schemas)
            self.checked = schema.id

    def _write(self, writer: ManifestWriter, latest: Snapshot | None, schema: TableSchema) -> Snapshot:
        """Write the manifests and index files of one attempt; its snapshot, not published yet."""
        table, change = self.table, self.change
        changed, since = self.buckets_changed, self._since_planned(latest)
        delta = find_delta(table.store, table.path, schema, latest, change, buckets_changed=changed, since=since)
        number = 1 if latest is None else latest.id + 1
        next_row_id = None if latest is None else latest.next_row_id
        if has_row_tracking(schema):
            added, next_row_id = assign_row_ids(delta.added, snapshot_id=number, next_row_id=next_row_id or 0)
            delta = replace(delta, added=added)
        return Snapshot(
            id=number,
            schema_id=schema.id,
            commit_user=change.commit_user,
            commit_identifier=change.commit_identifier,
            commit_kind=change.kind,
            time_millis=max(self.clock(), latest.time_millis if latest else 0),
            properties=self._properties(latest, schema) or None,
            operation=change.operation,
            uuid=str(uuid4()),
            total_record_count=_total(table, latest, schema) + delta.rows,
            delta_record_count=delta.rows,
            index_manifest=IndexChanges(table.store, table.path, schema, writer).write(latest, change, delta),
            watermark=_later(None if latest is None else latest.watermark, change.watermark),
            statistics=change.statistics or (latest.statistics if latest and latest.schema_id == schema.id else None),
            next_row_id=next_row_id,
            **self._lists(writer, latest, delta),
        )

    def _since_planned(self, latest: Snapshot | None) -> list[Snapshot] | None:
        """The snapshots after the one that the change was planned on; None where that, or one of them, is not known."""
        planned = self.change.planned_on
        if planned is None or latest is None:
            return None
        if planned == latest:
            return []
        newer = [s for s in self.table.snapshots.newest_first(after=planned.id - 1) if s.id <= latest.id]
        # A table that was rolled back has no such snapshot, or another one under its number.
        is_there = len(newer) == latest.id - planned.id + 1 and newer[-1:] == [planned]
        return newer[:-1] if is_there else None

    def _lists(self, writer: ManifestWriter, latest: Snapshot | None, delta: Delta) -> dict[str, Any]:
        before = [] if latest is None else snapshot_manifests(self.table.store, self.table.path, latest)
        base, base_size = writer.write_list(writer.merge(before))
        delta_list, delta_size = writer.write_list(writer.write(delta.entries))
        parts = {
            "base_manifest_list": base,
            "base_manifest_list_size": base_size,
            "delta_manifest_list": delta_list,
            "delta_manifest_list_size": delta_size,
        }
        changelog = self.change.changelog
        if changelog:
            name, size = writer.write_list(writer.write(changelog))
            parts |= {
                "changelog_manifest_list": name,
                "changelog_manifest_list_size": size,
                "changelog_record_count": sum(e.file.row_count for e in changelog),
            }
        return parts

    def _properties(self, latest: Snapshot | None, schema: TableSchema) -> Mapping[str, str]:
        """Who commits, and those of the change; of a table with a key also the sequence number that the next has."""
        properties = {**self.table.origin, **self.change.properties}
        if not schema.primary_keys:
            return properties
        following = self.sequence.after(self.table, latest, self.change.added)
        return properties if following is None else {**properties, NEXT_SEQUENCE: str(following)}

    def _published(self, snapshot: Snapshot) -> bool:
        """Publish. A storage that repeats a request may say of our own snapshot that it exists already."""
        snapshots = self.table.snapshots
        if snapshots.publish(snapshot):
            return True
        try:
            return snapshots.load(snapshot.id).uuid == snapshot.uuid
        except StoreError as error:
            raise outcome_unknown(snapshots.path(snapshot.id), error) from error

    def gave_up(self, attempts: int) -> Exception:
        """The error after the last attempt."""
        path, user = self.table.path, self.change.commit_user
        if self.uncertain is None:
            return ConflictError.of(
                "LB5070",
                f"{attempts} attempts to commit to {path} lost the race against other writers",
                path=path,
                remedy="try again, or raise the table option commit.max-retries",
            )
        return CommitOutcomeUnknownError.of(
            "LB5071",
            f"whether the commit of {user!r} to {path} was made is unknown: {self.uncertain}",
            path=path,
            found=user,
            remedy="repeat it with the same commit user or run id: it is made once in any case",
        )


def _total(table: TableStorage, latest: Snapshot | None, schema: TableSchema) -> int:
    if latest is None:
        return 0
    if latest.total_record_count is not None:
        return latest.total_record_count
    entries = entries_of(table.store, table.path, snapshot_manifests(table.store, table.path, latest))
    return sum(e.file.row_count for e in live_entries(entries, partition_types(schema)))


def _later(one: int | None, other: int | None) -> int | None:
    return max((w for w in (one, other) if w is not None), default=None)


def _wait(attempt: int) -> float:
    """Seconds to wait: doubling from 10 ms to 10 s, by up to a half more or less so that rivals part."""
    return min(_FIRST_WAIT * 2.0**attempt, _LONGEST_WAIT) * random.uniform(0.5, 1.5)
