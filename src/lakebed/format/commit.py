"""Commit new data files as one snapshot, and retry lost races (Paimon specification, "Snapshot").

Data files lie in their places before. A commit writes manifests and lists under names of its own and then one snapshot
file, which must not exist yet: that is the moment when everything becomes visible, and the only one that can be lost to
somebody else.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeAlias
from uuid import uuid4

from lakebed.catalog.option_values import whole_number
from lakebed.catalog.options import COMMIT_MAX_RETRIES
from lakebed.catalog.paths import MAIN
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import CommitOutcomeUnknownError, ConflictError, OutcomeUnknownError, StoreError, UsageError
from lakebed.format import binary_row
from lakebed.format.live_files import entries_of, live_entries, partition_types, snapshot_manifests
from lakebed.format.manifest import DataFileMeta, FileSource, Kind, ManifestEntry, SimpleStats
from lakebed.format.manifest_writer import ManifestWriter
from lakebed.format.partition import partition_path
from lakebed.format.refuse_unsupported import refuse_unwritable
from lakebed.format.snapshot import APPEND, BATCH_IDENTIFIER, Snapshot, SnapshotManager
from lakebed.store.base import Store
from lakebed.store.failures import outcome_unknown

_FIRST_WAIT = 0.01
_LONGEST_WAIT = 10.0
_UNAWARE = -1


class Schemas(Protocol):
    """The schema versions of a table's branch."""

    def load_schema(self, schema_id: int, /) -> TableSchema:
        """The version of this id."""
        ...

    def load_latest_schema(self) -> TableSchema:
        """The highest version that is stored now."""
        ...


@dataclass(frozen=True, slots=True)
class TableStorage:
    """A table as a committer sees it: the store, the path of the main table, the schemas and the branch."""

    store: Store
    path: str
    schemas: Schemas
    branch: str = MAIN

    @property
    def snapshots(self) -> SnapshotManager:
        """The snapshots of the branch."""
        return SnapshotManager(self.store, self.path, self.branch)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """A complete data file that lies in its place already.

    `partition` holds internal values in the order of the partition keys, `size` exact bytes, `rows` physical rows,
    `stats` the statistics of all columns of schema `schema_id`, under which the file was written.
    """

    partition: tuple[Any, ...]
    file_name: str
    size: int
    rows: int
    stats: SimpleStats
    schema_id: int
    bucket: int = 0
    total_buckets: int = _UNAWARE
    external_path: str | None = None


#: Called before each attempt of a commit with the snapshots that have come since the last call, the newest first. What
#: it raises ends the commit, with nothing published.
Guard: TypeAlias = Callable[[Sequence[Snapshot]], None]


def append(
    table: TableStorage,
    files: Sequence[NewFile],
    *,
    commit_user: str,
    commit_identifier: int = BATCH_IDENTIFIER,
    properties: Mapping[str, str] | None = None,
    clock: Callable[[], int],
    sleep: Callable[[float], None] = time.sleep,
    after: int = 0,
    guard: Guard | None = None,
) -> Snapshot:
    """Publish a snapshot that adds `files`; without files it adds the snapshot alone, with its `properties`.

    Idempotent by `commit_user` (and `commit_identifier`, for streams): where the user's commit is there already, its
    snapshot is returned and nothing is written or removed. A lost race is retried, as is an outcome that the storage
    left unknown, after looking whether the commit has been made. Data files are never removed. `clock` gives
    milliseconds since 1970, `sleep` waits seconds between attempts. `after` is a snapshot that the caller has looked up
    to: only later ones can be this commit, and only later ones are shown to `guard`, before each attempt.

    Raises UnsupportedError for a table that cannot be written, UsageError for files that do not fit it, ConflictError
    when every attempt lost the race, StoreError when the last outcome is unknown: then call again with the same user.
    """
    commit = _Commit(table, files, commit_user, commit_identifier, properties or {}, clock, seen=after)
    shown = after
    attempt = 0
    while True:
        latest = table.snapshots.latest()
        done = commit.find(latest)
        if done is not None:
            return done
        if guard is not None:
            guard([] if latest is None else list(table.snapshots.newest_first(after=shown)))
            shown = 0 if latest is None else latest.id
        schema = table.schemas.load_latest_schema()
        if attempt > whole_number(schema.options, COMMIT_MAX_RETRIES):
            raise commit.gave_up(attempt)
        published = commit.attempt(latest, schema)
        if published is not None:
            return published
        sleep(_wait(attempt))
        attempt += 1


@dataclass(slots=True)
class _Commit:
    """What stays the same over the attempts of one commit, and what they have learnt."""

    table: TableStorage
    files: Sequence[NewFile]
    user: str
    identifier: int
    properties: Mapping[str, str]
    clock: Callable[[], int]
    #: Snapshots up to this id are known not to be this commit.
    seen: int = 0
    #: Why the outcome of the last attempt is not known.
    uncertain: StoreError | None = None

    def find(self, latest: Snapshot | None) -> Snapshot | None:
        """The snapshot of this commit among those not yet looked at."""
        if latest is None or latest.id <= self.seen:
            return None
        done = self.table.snapshots.find_commit(self.user, self.identifier, after=self.seen)
        self.seen = latest.id
        return done

    def attempt(self, latest: Snapshot | None, schema: TableSchema) -> Snapshot | None:
        """Write and publish once on top of `latest`; None where somebody was first or the outcome is unknown."""
        refuse_unwritable(schema)
        entries = _entries(schema, self.files, self.clock())
        writer = ManifestWriter(self.table.store, self.table.path, schema)
        try:
            parts = _write(self.table, writer, latest, schema, entries)
        except Exception:
            writer.discard()
            raise
        snapshot = Snapshot(
            schema_id=schema.id,
            commit_user=self.user,
            commit_identifier=self.identifier,
            commit_kind=APPEND,
            time_millis=max(self.clock(), latest.time_millis if latest else 0),
            properties=self.properties or None,
            uuid=str(uuid4()),
            **parts,
        )
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
        path = self.table.path
        if self.uncertain is None:
            return ConflictError.of(
                "LB5070",
                f"{attempts} attempts to commit to {path} lost the race against other writers",
                path=path,
                remedy="try again, or raise the table option commit.max-retries",
            )
        return CommitOutcomeUnknownError.of(
            "LB5071",
            f"whether the commit of {self.user!r} to {path} was made is unknown: {self.uncertain}",
            path=path,
            found=self.user,
            remedy="repeat it with the same commit user or run id: it is made once in any case",
        )


def _write(
    table: TableStorage,
    writer: ManifestWriter,
    latest: Snapshot | None,
    schema: TableSchema,
    entries: Sequence[ManifestEntry],
) -> dict[str, Any]:
    """Write the manifests of one attempt; the parts of its snapshot that follow from them and from the latest one."""
    before = [] if latest is None else snapshot_manifests(table.store, table.path, latest)
    base, base_size = writer.write_list(writer.merge(before))
    delta, delta_size = writer.write_list(writer.write(entries))
    added = sum(e.file.row_count for e in entries)
    return {
        "id": 1 if latest is None else latest.id + 1,
        "base_manifest_list": base,
        "base_manifest_list_size": base_size,
        "delta_manifest_list": delta,
        "delta_manifest_list_size": delta_size,
        "total_record_count": _total(table, latest, schema) + added,
        "delta_record_count": added,
        "index_manifest": latest and latest.index_manifest,
        "watermark": latest and latest.watermark,
        "statistics": latest.statistics if latest and latest.schema_id == schema.id else None,
        "next_row_id": latest and latest.next_row_id,
    }


def _total(table: TableStorage, latest: Snapshot | None, schema: TableSchema) -> int:
    if latest is None:
        return 0
    if latest.total_record_count is not None:
        return latest.total_record_count
    entries = entries_of(table.store, table.path, snapshot_manifests(table.store, table.path, latest))
    return sum(e.file.row_count for e in live_entries(entries, partition_types(schema)))


def _entries(schema: TableSchema, files: Sequence[NewFile], now: int) -> list[ManifestEntry]:
    codec = binary_row.codec(partition_types(schema))
    problems, entries = [], []
    names: set[str] = set()
    for file in files:
        try:
            partition = codec.encode(file.partition)
            partition_path(schema.partition_keys, partition_types(schema), file.partition, schema.options)
        except ValueError as e:
            problems.append(_misfit(file, f"has a partition that the table cannot have: {e}"))
            continue
        if (file.bucket, file.total_buckets) != (0, _UNAWARE):
            problems.append(_misfit(file, f"is for bucket {file.bucket} of {file.total_buckets}, the table has none"))
        if file.schema_id > schema.id:
            problems.append(_misfit(file, f"was written under schema {file.schema_id}; the newest is {schema.id}"))
        if file.file_name in names:
            problems.append(_misfit(file, "is given twice"))
        names.add(file.file_name)
        entries.append(ManifestEntry(int(Kind.ADD), partition, file.bucket, file.total_buckets, _meta(file, now)))
    if problems:
        raise UsageError(*problems)
    return entries


def _misfit(file: NewFile, message: str) -> Diagnostic:
    return Diagnostic("LB5072", f"new file {file.file_name} {message}", path=file.file_name)


def _meta(file: NewFile, now: int) -> DataFileMeta:
    return DataFileMeta(
        file_name=file.file_name,
        file_size=file.size,
        row_count=file.rows,
        schema_id=file.schema_id,
        value_stats=file.stats,
        max_sequence_number=max(file.rows - 1, 0),
        creation_time=_wall_clock(now),
        delete_row_count=0,
        file_source=int(FileSource.APPEND),
        external_path=file.external_path,
    )


def _wall_clock(millis: int) -> int:
    """The local wall clock at an instant, in milliseconds as if it were UTC: what other writers put there."""
    offset = datetime.fromtimestamp(millis / 1000).astimezone().utcoffset()
    return millis + (int(offset.total_seconds()) * 1000 if offset else 0)


def _wait(attempt: int) -> float:
    """Seconds to wait: doubling from 10 ms to 10 s, by up to a half more or less so that rivals part."""
    return min(_FIRST_WAIT * 2.0**attempt, _LONGEST_WAIT) * random.uniform(0.5, 1.5)
