"""Expire partitions whose time has passed, as one commit (Paimon's `expire_partitions`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar

from lakebed.errors import ConflictError, UsageError
from lakebed.format.commit import Guard
from lakebed.format.live_files import entries_of, partition_types, snapshot_manifests
from lakebed.format.manifest import ManifestEntry
from lakebed.format.partition import partition_text
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import WHOLE_TABLE, Scope, near_partitions
from lakebed.format.table_branch import TableBranch
from lakebed.maintenance.partition_times import PartitionChoice, PartitionExpiration, PartitionTime
from lakebed.readable import Readable
from lakebed.write.partition_specs import NOT_PARTITIONED
from lakebed.write.remove_partitions import Removal, writable_schema
from lakebed.write.write_result import WriteResult, WriteRun

EXPIRE_PARTITIONS = "expire-partitions"
CHANGED = "LB5109"
#: How often the partitions are chosen again on top of what others have committed.
_MOST_CHOICES = 10


@dataclass(frozen=True, slots=True)
class ExpiredPartition:
    """A partition as the system table `partitions` names it, and its time, a wall clock; None where it was not read.

    `problem` says why a partition that stays has no time.
    """

    partition: str
    time: datetime | None
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Name, ISO time, and what is wrong with it where something is."""
        found = {"partition": self.partition, "time": None if self.time is None else self.time.isoformat(" ")}
        return found if self.problem is None else {**found, "problem": self.problem}


@dataclass(frozen=True, slots=True)
class PartitionExpiry(Readable):
    """What an expiry of partitions removed, or would: the partitions with their times, and the write.

    `unknown` are the partitions that stay since nobody can tell their time, `more` how many more are due than are taken
    at once (`partition.expiration-max-num`). `age` and `strategy` are what they were judged by.
    """

    renderer: ClassVar[str] = "lakebed.render.write_text:partition_expiry_text"

    write: WriteResult
    age: timedelta
    strategy: str
    expired: tuple[ExpiredPartition, ...] = ()
    unknown: tuple[ExpiredPartition, ...] = ()
    more: int = 0

    @property
    def is_noop(self) -> bool:
        """Whether no partition expires."""
        return not self.expired

    def to_json(self) -> dict[str, Any]:
        """The object of `--json`: that of the write, and what was chosen."""
        return {
            **self.write.to_json(),
            "older_than_seconds": int(self.age.total_seconds()),
            "strategy": self.strategy,
            "expired": [p.to_json() for p in self.expired],
            "unknown": [p.to_json() for p in self.unknown],
            "more": self.more,
        }


def expire_partitions(
    table: TableBranch,
    run: WriteRun,
    *,
    older_than: timedelta | None = None,
    dry_run: bool = False,
    time_zone: str = "UTC",
) -> PartitionExpiry:
    """Remove the partitions whose time has passed; see `lakebed.Table.expire_partitions`."""
    schema = writable_schema(table)
    if not schema.partition_keys:
        raise UsageError.of(
            NOT_PARTITIONED,
            f"{table.label} has no partitions that could expire",
            path=table.label,
            remedy=f"`lakebed delete {table.label} --where ...` deletes old rows",
            python_remedy='delete(spark, where="...") deletes old rows',
        )
    rules = PartitionExpiration.of(schema, older_than, time_zone=time_zone)
    asked = () if older_than is None else (str(older_than.total_seconds()),)
    removal = Removal(table, schema, WHOLE_TABLE, EXPIRE_PARTITIONS, run, time_zone, asked)
    return _Call(table, rules, removal, table.clock()).make(dry_run=dry_run)


class _OtherChoiceError(Exception):
    """Others have committed, and other partitions are due."""


@dataclass(frozen=True, slots=True)
class _Call:
    table: TableBranch
    rules: PartitionExpiration
    removal: Removal
    now: int

    def make(self, *, dry_run: bool) -> PartitionExpiry:
        done = None if dry_run else self.removal.done()
        if done is not None:
            return self._result(done, PartitionChoice())
        for _ in range(_MOST_CHOICES):
            latest = self.table.snapshots.latest()
            choice = self._choose(latest)
            removal = replace(self.removal, scope=_scope(choice.expired), guard=self._guard(latest, choice))
            if dry_run:
                return self._result(removal.look(), choice)
            try:
                return self._result(removal.make(), choice)
            except _OtherChoiceError:
                continue
        raise ConflictError.of(
            CHANGED,
            f"others have changed which partitions of {self.table.label} are due, {_MOST_CHOICES} times meanwhile",
            path=self.table.label,
            remedy="repeat it when fewer write to old partitions",
        )

    def _choose(self, latest: Snapshot | None) -> PartitionChoice:
        return PartitionChoice() if latest is None else self.rules.choose(self._entries(latest), self.now)

    def _entries(self, snapshot: Snapshot) -> Iterator[ManifestEntry]:
        store, path = self.table.store, self.table.table_path
        return entries_of(store, path, snapshot_manifests(store, path, snapshot))

    def _guard(self, chosen_on: Snapshot | None, choice: PartitionChoice) -> Guard:
        """Look again on top of what others have committed: a partition that they write to may not be due any more."""
        chosen = {p.partition for p in choice.expired}

        def check(_: Sequence[Snapshot]) -> None:
            latest = self.table.snapshots.latest()
            if latest != chosen_on and {p.partition for p in self._choose(latest).expired} != chosen:
                raise _OtherChoiceError

        return check

    def _result(self, write: WriteResult, choice: PartitionChoice) -> PartitionExpiry:
        expired = tuple(map(self._named, choice.expired))
        if write.repeated:
            expired = tuple(ExpiredPartition(name, None) for name in write.partitions)
        unknown = tuple(map(self._named, choice.unknown))
        return PartitionExpiry(write, self.rules.age, self.rules.strategy, expired, unknown, choice.more)

    def _named(self, found: PartitionTime) -> ExpiredPartition:
        schema = self.rules.schema
        keys, types = schema.partition_keys, partition_types(schema)
        zone = self.rules.time_zone
        name = partition_text(keys, types, found.partition, schema.options, time_zone=zone)
        return ExpiredPartition(name, found.time, found.problem)


def _scope(expired: Sequence[PartitionTime]) -> Scope:
    chosen = frozenset(p.partition for p in expired)
    return Scope(chosen.__contains__, near_partitions(chosen))
