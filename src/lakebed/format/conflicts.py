"""Find what a change does to the live files of a snapshot, and the conflicts with what others have committed.

Only manifests that may hold a partition and bucket of the change are read; none for a change that only appends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import Any

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import ConflictError, LakebedError, NotFoundError, RefusedError
from lakebed.format import binary_row
from lakebed.format.live_files import (
    Identity,
    PartitionBounds,
    delta_manifests,
    entries_of,
    partition_types,
    snapshot_manifests,
    split_entries,
)
from lakebed.format.manifest import UNKNOWN_TOTAL, ManifestEntry, ManifestFileMeta
from lakebed.format.merge_plan import KeyBounds
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import SnapshotChange, deleting, near_partitions
from lakebed.format.table_storage import Schemas
from lakebed.store.base import Store

NOT_LIVE = "LB5090"
LIVE_ALREADY = "LB5091"
OTHER_BUCKETS = "LB5092"
_OWN_ROWS = "stop those who write, and give the table its own rows again, which then have the new number of buckets"
KEYS_OVERLAP = "LB5093"
_AGAIN = "repeat the operation: it looks at the table as it is by now"

#: The buckets of a partition that a change concerns; None for all.
_Buckets = frozenset[int] | None


@dataclass(frozen=True, slots=True)
class Delta:
    """What a change comes to on top of one snapshot: the live entries that go, and those that come."""

    removed: tuple[ManifestEntry, ...]
    added: tuple[ManifestEntry, ...]

    @property
    def entries(self) -> tuple[ManifestEntry, ...]:
        """The entries of the commit's own manifests."""
        return (*map(deleting, self.removed), *self.added)

    @property
    def rows(self) -> int:
        """By how many physical rows the table grows."""
        return sum(e.file.row_count for e in self.added) - sum(e.file.row_count for e in self.removed)


def find_delta(
    store: Store,
    table_path: str,
    schema: TableSchema,
    latest: Snapshot | None,
    change: SnapshotChange,
    *,
    buckets_changed: bool = False,
    since: Sequence[Snapshot] | None = None,
) -> Delta:
    """What `change` comes to on top of `latest`; see `buckets_have_changed`.

    `since` are all snapshots after the one that the change was planned on, None where they are not known. Raises
    `ConflictError` where the change does not mean the same any more as when it was made.
    """
    concern = _Concern(schema, change, buckets_changed=buckets_changed)
    added, deleted = dict[Identity, ManifestEntry](), dict[Identity, ManifestEntry]()
    if latest is not None and concern.reads:
        if since is None or not concern.is_planned:
            planned, every = dict[Identity, ManifestEntry](), snapshot_manifests(store, table_path, latest)
        else:
            planned, every = concern.planned(), [m for s in since for m in delta_manifests(store, table_path, s)]
        metas = [m for m in every if concern.may_hold(m)]
        added, deleted = concern.entries(lambda: entries_of(store, table_path, metas))
        added = planned | added
    live = {identity: entry for identity, entry in added.items() if identity not in deleted}
    removed = concern.removed(live)
    rest = [entry for identity, entry in live.items() if identity not in removed]
    if concern.reads:
        concern.check_new(live, deleted)
        concern.check_buckets(rest)
        concern.check_levels(rest)
    return Delta(tuple(removed.values()), change.added)


def buckets_have_changed(schema: TableSchema, schemas: Schemas) -> bool:
    """Whether a partition may have files of another number of buckets than the table has now."""
    if schema.bucket <= 0:
        return False
    for number in reversed(range(schema.id)):
        try:
            if schemas.load_schema(number).bucket != schema.bucket:
                return True
        except NotFoundError:
            continue
    return False


class _Concern:
    """The partitions and buckets that a change concerns, and what must be true of the files in them."""

    def __init__(self, schema: TableSchema, change: SnapshotChange, *, buckets_changed: bool) -> None:
        self.types = partition_types(schema)
        self._decode = binary_row.codec(self.types).decode
        self._schema = schema
        self._change = change
        self.places: dict[tuple[Any, ...], _Buckets] = {}
        looked_at = (*change.added, *change.needed)
        if not change.only_appends or buckets_changed:
            for partition, bucket in {(e.partition, e.bucket) for e in looked_at}:
                self._add(self._decode(partition), None if buckets_changed else frozenset((bucket,)))
        self.reads = bool(self.places) or change.overwrite is not None
        self._near = near_partitions(frozenset(self.places))
        #: Whether live files that nobody has touched since the change was planned do not matter to it.
        self.is_planned = not (buckets_changed or change.overwrite or change.compaction)
        self._names = {e.file.file_name for e in looked_at}
        self._levels = {e.file.level for e in change.added if e.file.level} if schema.primary_keys else set[int]()

    def _add(self, partition: tuple[Any, ...], buckets: _Buckets) -> None:
        known = self.places.get(partition, frozenset())
        self.places[partition] = None if known is None or buckets is None else known | buckets

    @cached_property
    def _bucket_range(self) -> tuple[int, int] | None:
        """The lowest and the highest bucket, None where all count."""
        every = list(self.places.values())
        if not every or None in every:
            return None
        numbers = frozenset[int]().union(*(b for b in every if b is not None))
        return min(numbers), max(numbers)

    def may_hold(self, meta: ManifestFileMeta) -> bool:
        """Whether a manifest may have an entry that counts."""
        bounds = PartitionBounds.of(meta, self.types)
        scope = self._change.overwrite
        if scope is not None and (scope.may_hold is None or scope.may_hold(bounds)):
            return True
        ends = self._bucket_range
        low, high = meta.min_bucket, meta.max_bucket
        if ends is not None and low is not None and high is not None and (high < ends[0] or ends[1] < low):
            return False
        return bool(self.places) and self._near(bounds)

    def holds(self, partition: tuple[Any, ...], bucket: int) -> bool:
        """Whether the files of a bucket count."""
        scope = self._change.overwrite
        if scope is not None and scope.contains(partition):
            return True
        buckets = self.places.get(partition, frozenset())
        return buckets is None or bucket in buckets

    def entries(
        self, read: Callable[[], Iterable[ManifestEntry]]
    ) -> tuple[dict[Identity, ManifestEntry], dict[Identity, ManifestEntry]]:
        """What adds and what deletes the files that count, as `split_entries` says: of many, only few are kept."""
        found = split_entries(filter(self._may_count, read()), self.types, self.holds)
        looked_at = (*self._change.added, *found[0].values())
        if self._change.overwrite is not None or not any(map(self._has_other_buckets, looked_at)):
            return found
        # Where numbers of buckets differ, each file is held against the others of its partition.
        return split_entries(read(), self.types, self.holds)

    def _may_count(self, entry: ManifestEntry) -> bool:
        file = entry.file
        if self._change.overwrite is not None or file.file_name in self._names or file.level in self._levels:
            return True
        return self._has_other_buckets(entry)

    def _has_other_buckets(self, entry: ManifestEntry) -> bool:
        return entry.total_buckets not in (UNKNOWN_TOTAL, self._schema.bucket)

    def _identity(self, entry: ManifestEntry) -> Identity:
        return self._decode(entry.partition), entry.bucket, entry.file_identity

    def planned(self) -> dict[Identity, ManifestEntry]:
        """The entries that were live where the change was planned, of those that have to be."""
        return {self._identity(e): e for e in self._change.needed}

    def removed(self, live: Mapping[Identity, ManifestEntry]) -> dict[Identity, ManifestEntry]:
        """The live entries that go. Raises `ConflictError` (LB5090) where one that is to go or to lose rows is gone."""
        scope = self._change.overwrite
        gone = {} if scope is None else {i: e for i, e in live.items() if scope.contains(i[0])}
        wanted = [self._identity(e) for e in self._change.deleted]
        rows = [self._identity(d.entry) for d in self._change.deleted_rows]
        missing = [i for i in (*wanted, *rows) if i not in live] + [i for i in rows if i in gone]
        if missing:
            raise _conflict(NOT_LIVE, missing[0], f"which this commit needs, is gone{_others(missing)}")
        return gone | {i: live[i] for i in wanted}

    def check_new(self, live: Mapping[Identity, ManifestEntry], deleted: Mapping[Identity, ManifestEntry]) -> None:
        """Raise `ConflictError` (LB5091) where a file that comes is there, or was deleted and would stay invisible."""
        there = [i for i in map(self._identity, self._change.added) if i in live or i in deleted]
        if there:
            what = "is in the table already" if there[0] in live else "was in the table and has been deleted"
            raise _conflict(LIVE_ALREADY, there[0], f"which this commit adds, {what}{_others(there)}")

    def check_buckets(self, rest: Iterable[ManifestEntry]) -> None:
        """Raise `RefusedError` (LB5092) where files of another number of buckets stay in a partition."""
        totals: dict[tuple[Any, ...], int] = {}
        for entry in (*self._change.added, *rest):
            there = entry.total_buckets
            if there == UNKNOWN_TOTAL:
                continue
            partition = self._decode(entry.partition)
            total = totals.setdefault(partition, there)
            if partition in self.places and total != there:
                raise RefusedError.of(
                    OTHER_BUCKETS,
                    f"{f'partition {partition}' if partition else 'the table'} has files of {there} buckets; "
                    f"this commit has files of {total}",
                    path=entry.file.file_name,
                    expected=str(there),
                    found=str(total),
                    remedy=f"{_OWN_ROWS}: `lakebed read TABLE --json > rows.jsonl`, then "
                    "`lakebed overwrite TABLE --whole rows.jsonl`",
                    python_remedy=f"{_OWN_ROWS}: lake.table(t).overwrite(lake.read(spark, t), whole=True)",
                )

    def check_levels(self, rest: Iterable[ManifestEntry]) -> None:
        """Raise `ConflictError` (LB5093) where key ranges of files that come meet others of their level."""
        if not self._schema.primary_keys:
            return
        runs: dict[tuple[Any, ...], list[ManifestEntry]] = {}
        for entry in self._change.added:
            if entry.file.level:
                runs.setdefault(self._run(entry), []).append(entry)
        for entry in rest if runs else ():
            if (run := runs.get(self._run(entry))) is not None:
                run.append(entry)
        keys = KeyBounds(self._schema)
        for run in runs.values():
            for one, two in _overlaps(run, keys):
                raise _conflict(
                    KEYS_OVERLAP,
                    self._identity(two),
                    f"holds keys that {one.file.file_name} of the same level ({one.file.level}) holds too",
                )

    def _run(self, entry: ManifestEntry) -> tuple[Any, ...]:
        return self._decode(entry.partition), entry.bucket, entry.file.level


def _overlaps(run: Sequence[ManifestEntry], keys: KeyBounds) -> Iterator[tuple[ManifestEntry, ManifestEntry]]:
    bounds = sorted(((keys.of(e.file), e) for e in run), key=itemgetter(0))
    return ((a, b) for (ends, a), (after, b) in pairwise(bounds) if after[0] <= ends[1])


def _others(identities: Sequence[Identity]) -> str:
    return f", as are {len(identities) - 1} others" if len(identities) > 1 else ""


def _conflict(code: str, identity: Identity, message: str) -> LakebedError:
    partition, bucket, (_, name, *_) = identity
    place = f" of partition {partition}" if partition else ""
    return ConflictError.of(code, f"{name} in bucket {bucket}{place}, {message}", path=name, remedy=_AGAIN)
