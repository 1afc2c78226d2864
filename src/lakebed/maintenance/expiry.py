"""Expire snapshots, and tags that have outlived their time, with the files that only they need (Paimon, "Expiration").

The files of the snapshots go first, the oldest first, so that nobody finds one whose data are going. A crash leaves
files that nothing refers to, which the clean-up of orphan files takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar

from lakebed.catalog import TableName
from lakebed.errors import ConflictError, RefusedError, StoreError
from lakebed.format.table_branch import TableBranch
from lakebed.maintenance.consumers import forget_consumers, silent_consumers, waiting_consumers
from lakebed.maintenance.freed_files import FreedFiles, StatesThatGo, every_state, freed_files, without_needed
from lakebed.maintenance.references import ReferenceKind, State
from lakebed.maintenance.retention import Retention, refuse_longer_changelogs
from lakebed.maintenance.rollback import CONFLICT
from lakebed.maintenance.tags import Tag, Tags, refuse_needed
from lakebed.readable import Readable


@dataclass(frozen=True, slots=True)
class Expiry(Readable):
    """What an expiry took away, or would: numbers of snapshots, names of tags, files and bytes.

    `data_files` counts data and changelog files, `metadata_files` manifests, lists, index files and statistics;
    `bytes` is their size as far as metadata say it. `outside` counts files that lie outside of the table's directory
    and stay. `held_by` are the consumers that keep snapshots from expiring, `first` the first snapshot that stays,
    `consumers` those that have been silent for too long.
    """

    renderer: ClassVar[str] = "lakebed.render.maintenance_text:expiry_text"

    name: TableName
    branch: str
    snapshots: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    first: int | None = None
    data_files: int = 0
    metadata_files: int = 0
    bytes: int = 0
    outside: int = 0
    held_by: tuple[str, ...] = ()
    consumers: tuple[str, ...] = ()
    done: bool = False

    @property
    def is_noop(self) -> bool:
        """Whether nothing expires."""
        return not (self.snapshots or self.tags or self.consumers)

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed expire --json`."""
        return {
            "table": str(self.name),
            "branch": self.branch,
            "snapshots": list(self.snapshots),
            "tags": list(self.tags),
            "first_snapshot": self.first,
            "data_files": self.data_files,
            "metadata_files": self.metadata_files,
            "bytes": self.bytes,
            "outside": self.outside,
            "held_by": list(self.held_by),
            "consumers": list(self.consumers),
            "done": self.done,
        }


def expire(
    table: TableBranch, retention: Retention, *, remember: Callable[[], None] = lambda: None, dry_run: bool = False
) -> Expiry:
    """Take away what does not stay, or only say what would go. `remember` is called before anything goes.

    Raises:
        NotFoundError: there is no such table or branch.
        RefusedError: something that may need a file cannot be read.
        UnsupportedError: the table keeps changelogs longer than snapshots.
        ConflictError: somebody rolled the table back at the same time; no data file has gone.
    """
    options = table.schemas.get_current_schema().options
    refuse_longer_changelogs(table, options)
    silent = silent_consumers(table, options, table.clock())
    states = every_state(table)
    found, held_by = _choose(table, states, retention, silent)
    result = Expiry(table.name, table.branch, held_by=held_by, consumers=silent)
    if found is None:
        if silent and not dry_run:
            forget_consumers(table, silent)
            return replace(result, done=True)
        return result
    gone = set(map(_key, found.all))
    freed = freed_files(table, found, [s for s in states if _key(s) not in gone])
    if dry_run:
        return _with_freed(result, found, freed)
    remember()
    forget_consumers(table, silent)
    _remove_states(table, found)
    # A tag or a branch may have been made of a snapshot before that went.
    known = set(map(_key, states))
    new = [s for s in every_state(table) if _key(s) not in known]
    freed = without_needed(table, found, freed, new)
    for files in (freed.data, freed.metadata):
        table.delete_all(file.path for file in files)
    return replace(_with_freed(result, found, freed), done=True)


def _choose(
    table: TableBranch, states: Sequence[State], retention: Retention, silent: Sequence[str]
) -> tuple[StatesThatGo | None, tuple[str, ...]]:
    """What goes, and the consumers for which more of it stays."""
    own = (s for s in states if s.branch == table.branch and s.kind is ReferenceKind.SNAPSHOT)
    snapshots = sorted(own, key=lambda s: s.snapshot.id)
    if not snapshots:
        return None, ()
    now, consumers = table.clock(), waiting_consumers(table, but=silent)
    old = snapshots[: retention.kept_from([s.snapshot for s in snapshots], now)]
    going = [s for s in old if all(s.snapshot.id < following for following in consumers.values())]
    first = snapshots[len(going)].snapshot
    held_by = [name for name, following in consumers.items() if following <= first.id] if len(going) < len(old) else ()
    outlived = {tag.name for tag in Tags(table).list() if _is_outlived(table, tag, now)}
    tags = [s for s in states if s.branch == table.branch and s.kind is ReferenceKind.TAG and s.name in outlived]
    if not going and not tags:
        return None, tuple(sorted(held_by))
    return StatesThatGo(tuple(going), tuple(tags), first), tuple(sorted(held_by))


def _is_outlived(table: TableBranch, tag: Tag, now: int) -> bool:
    """Whether a tag was to be kept for a time that has passed, and no branch was made from it."""
    if tag.created is None or tag.retained is None or tag.created + tag.retained > datetime.fromtimestamp(now / 1000):
        return False
    try:
        refuse_needed(table, tag.name, tag.snapshot)
    except RefusedError:
        return False
    return True


def _key(state: State) -> tuple[str, ReferenceKind, str, str | None]:
    return state.branch, state.kind, state.name, state.snapshot.uuid


def _remove_states(table: TableBranch, found: StatesThatGo) -> None:
    """Remove the snapshots while the first that stays is there: a roll back may have come to one of those that go."""
    _refuse_rolled_back(table, found)
    with suppress(StoreError):
        # A hint, which is believed where its snapshot is there.
        table.store.replace(f"{table.root}/snapshot/EARLIEST", str(found.first.id).encode())
    inside, snapshots = table.inside, table.snapshots
    for state in found.snapshots:
        _refuse_rolled_back(table, found)
        inside.delete(snapshots.path(state.snapshot.id))
    for state in found.tags:
        inside.delete(f"{table.root}/tag/tag-{state.name}")


def _refuse_rolled_back(table: TableBranch, found: StatesThatGo) -> None:
    first = found.first.id
    if table.store.exists(table.snapshots.path(first)):
        return
    # Another expiry may have come further; then there are later ones.
    if (table.snapshots.latest_id() or 0) <= first:
        raise ConflictError.of(
            CONFLICT,
            f"snapshot {first} of {table.label}, the first that was to stay, was taken away while older ones expired",
            path=table.table_path,
            remedy="Stop the one who rolls the table back, and expire it again.",
        )


def _with_freed(result: Expiry, found: StatesThatGo, freed: FreedFiles) -> Expiry:
    return replace(
        result,
        snapshots=tuple(s.snapshot.id for s in found.snapshots),
        tags=tuple(s.name for s in found.tags),
        first=found.first.id,
        data_files=len(freed.data),
        metadata_files=len(freed.metadata),
        bytes=freed.size,
        outside=freed.outside,
    )
