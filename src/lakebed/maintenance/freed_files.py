"""Find the files that only states of a table need which go: data and changelog files, index files, manifests, lists.

A data file is freed when a commit up to the first snapshot that stays has taken it away, and no state that stays has it
live. Of what stays, only the entries about such files are kept in memory.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakebed.catalog.paths import MAIN
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import LakebedError, NotFoundError, RefusedError
from lakebed.format.index_manifest import IndexFile, index_path, read_index_manifest
from lakebed.format.live_files import (
    DataFile,
    PartitionBounds,
    data_files,
    directories,
    entries_of,
    partition_types,
    split_entries,
)
from lakebed.format.manifest import Kind, ManifestEntry, ManifestFileMeta, manifest_path
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import near_partitions
from lakebed.format.table_branch import TableBranch
from lakebed.maintenance.references import References, State, unreadable


@dataclass(frozen=True, slots=True)
class FreedFile:
    """A file that nothing needs any more: its path and its bytes, None where nobody says how many."""

    path: str
    size: int | None


@dataclass(frozen=True, slots=True)
class FreedFiles:
    """Files that nothing needs any more, in the order in which they may go.

    `data` holds data and changelog files with those beside them; `outside` counts those that do not lie in the table's
    directory and are left alone.
    """

    data: tuple[FreedFile, ...] = ()
    metadata: tuple[FreedFile, ...] = ()
    outside: int = 0

    @property
    def size(self) -> int:
        """Bytes of all of them, as far as they are known."""
        return sum(file.size or 0 for file in (*self.data, *self.metadata))


@dataclass(frozen=True, slots=True)
class StatesThatGo:
    """Snapshots and tags of a branch that go, and `first`, the first snapshot of it that stays."""

    snapshots: tuple[State, ...]
    tags: tuple[State, ...]
    first: Snapshot

    @property
    def all(self) -> tuple[State, ...]:
        """The snapshots, then the tags."""
        return (*self.snapshots, *self.tags)


def every_state(table: TableBranch) -> list[State]:
    """All snapshots, tags and changelogs of all branches. Raises `RefusedError` (LB3664) for one that is unreadable."""
    references = References(table)
    try:
        return [state for branch in (MAIN, *references.branch_directories()) for state in references.states(branch)]
    except RefusedError:
        raise
    except LakebedError as error:
        raise unreadable(table.table_path, error) from error


def freed_files(table: TableBranch, go: StatesThatGo, stay: Sequence[State]) -> FreedFiles:
    """What goes with some states while others stay.

    Raises `RefusedError` (LB3664) where something that may need a file cannot be read.
    """
    try:
        return _Freed(table, go).find(stay)
    except RefusedError:
        raise
    except LakebedError as error:
        raise unreadable(table.table_path, error) from error


def without_needed(table: TableBranch, go: StatesThatGo, freed: FreedFiles, new: Sequence[State]) -> FreedFiles:
    """The freed files but for those that states need which have come meanwhile."""
    if not new:
        return freed
    still = freed_files(table, go, new)
    data, metadata = ({file.path for file in files} for files in (still.data, still.metadata))
    return FreedFiles(
        tuple(file for file in freed.data if file.path in data),
        tuple(file for file in freed.metadata if file.path in metadata),
        freed.outside,
    )


@dataclass(slots=True)
class _Freed:
    """Looks at the states of one table."""

    table: TableBranch
    go: StatesThatGo
    references: References = field(init=False)
    schema: TableSchema = field(init=False)

    def __post_init__(self) -> None:
        self.references = References(self.table)
        self.schema = self.table.schemas.load_latest_schema()

    def find(self, stay: Sequence[State]) -> FreedFiles:
        data, outside = self._data(stay)
        needed = {path for state in stay for path, _ in self._metadata(state)}
        metadata = {path: size for state in self.go.all for path, size in self._metadata(state) if path not in needed}
        inside = [path for path in metadata if self._is_inside(path)]
        return FreedFiles(
            tuple(data),
            tuple(FreedFile(path, metadata[path]) for path in inside),
            outside + len(metadata) - len(inside),
        )

    # --- data files ---------------------------------------------------------------------------------------------------

    def _data(self, stay: Sequence[State]) -> tuple[list[FreedFile], int]:
        taken = {entry.file.file_name: entry for entry in self._taken()}
        needed = self._needed(taken.values(), stay) if taken else frozenset[str]()
        files = self._placed(entry for name, entry in taken.items() if name not in needed)
        inside = [file for file in files if self._is_inside(file.path)]
        return [freed for file in inside for freed in _with_extras(file)], len(files) - len(inside)

    def _taken(self) -> Iterator[ManifestEntry]:
        """The entries of files that may go: those that commits took away, changelogs, and all that a tag keeps."""
        # What the first of them took away has gone with the snapshots before it.
        for snapshot in (*(s.snapshot for s in self.go.snapshots), self.go.first)[1:]:
            delta = snapshot.delta_manifest_list, snapshot.delta_manifest_list_size
            yield from (e for e in self._entries(self.references.list_of(*delta)) if e.kind == Kind.DELETE)
        for state in self.go.snapshots:
            if state.snapshot.changelog_manifest_list is not None:
                changes = state.snapshot.changelog_manifest_list, state.snapshot.changelog_manifest_list_size
                yield from self._entries(self.references.list_of(*changes))
        for state in self.go.tags:
            yield from self._entries(self.references.manifests_of(state))

    def _needed(self, taken: Collection[ManifestEntry], stay: Sequence[State]) -> frozenset[str]:
        names = frozenset(e.file.file_name for e in taken)
        partitions = frozenset(file.partition for file in self._placed(taken))
        return needed_files(self.table, self.references, stay, names, partitions)

    def _placed(self, entries: Iterable[ManifestEntry]) -> tuple[DataFile, ...]:
        return data_files(self.table.table_path, self.schema, entries)

    def _entries(self, metas: Iterable[ManifestFileMeta]) -> Iterator[ManifestEntry]:
        return entries_of(self.table.store, self.table.table_path, metas)

    # --- metadata -----------------------------------------------------------------------------------------------------

    def _metadata(self, state: State) -> Iterator[tuple[str, int | None]]:
        """Index files, statistics, manifests and lists of a state, those that name others after these."""
        snapshot, root = state.snapshot, self.table.table_path
        if snapshot.index_manifest is not None:
            yield from self._index(state)
            yield manifest_path(root, snapshot.index_manifest), None
        yield from ((f"{root}/statistics/{name}", None) for name in self.references.statistics_files(state))
        for meta in self.references.manifests_of(state):
            yield manifest_path(root, meta.file_name), meta.file_size
            yield from ((manifest_path(root, name), None) for name in meta.extra_files or ())
        sizes = {
            snapshot.base_manifest_list: snapshot.base_manifest_list_size,
            snapshot.delta_manifest_list: snapshot.delta_manifest_list_size,
            snapshot.changelog_manifest_list: snapshot.changelog_manifest_list_size,
        }
        yield from ((manifest_path(root, name), sizes[name]) for name in self.references.lists_of(state))

    def _index(self, state: State) -> Iterator[tuple[str, int | None]]:
        try:
            files: Sequence[IndexFile] = read_index_manifest(self.table.store, self.table.table_path, state.snapshot)
        except NotFoundError:
            return
        directory = directories(self.table.table_path, self.schema)
        for file in files:
            place = directory(file.partition, file.bucket)
            yield index_path(self.table.table_path, place, file, self.schema.options), file.size

    def _is_inside(self, path: str) -> bool:
        return path.startswith(f"{self.table.table_path.rstrip('/')}/")


def needed_files(
    table: TableBranch,
    references: References,
    states: Iterable[State],
    names: frozenset[str],
    partitions: frozenset[tuple[Any, ...]] | None = None,
) -> frozenset[str]:
    """The names of those of some data files that a state has live, or as changes.

    `partitions` are those that the files lie in, None where they are not known.
    """
    about = _About(table, references, table.schemas.load_latest_schema(), partitions, names)
    found = set[str]()
    for state in states:
        snapshot, there = state.snapshot, set(references.lists_of(state))
        data = (
            (snapshot.base_manifest_list, snapshot.base_manifest_list_size),
            (snapshot.delta_manifest_list, snapshot.delta_manifest_list_size),
        )
        entries = [e for name, size in data if name in there for e in about.entries(references.list_of(name, size))]
        added, deleted = split_entries(entries, partition_types(about.schema))
        found |= {e.file.file_name for identity, e in added.items() if identity not in deleted}
        changes = snapshot.changelog_manifest_list
        if changes in there:
            metas = references.list_of(changes, snapshot.changelog_manifest_list_size)
            found |= {e.file.file_name for e in about.entries(metas)}
    return frozenset(found)


@dataclass(slots=True)
class _About:
    """Reads manifests once, for what they say of some files, which lie in some partitions (None: in any)."""

    table: TableBranch
    references: References
    schema: TableSchema
    partitions: frozenset[tuple[Any, ...]] | None
    names: frozenset[str]
    _known: dict[str, list[ManifestEntry]] = field(default_factory=dict)
    _near: Callable[[PartitionBounds], bool] | None = field(init=False)

    def __post_init__(self) -> None:
        self._near = None if self.partitions is None else near_partitions(self.partitions)

    def entries(self, metas: Iterable[ManifestFileMeta]) -> Iterator[ManifestEntry]:
        for meta in metas:
            if meta.file_name not in self._known:
                self._known[meta.file_name] = list(self._read(meta))
            yield from self._known[meta.file_name]

    def _read(self, meta: ManifestFileMeta) -> Iterator[ManifestEntry]:
        bounds = PartitionBounds.of(meta, partition_types(self.schema))
        if (self._near is not None and not self._near(bounds)) or not self.references.may_name(meta, self.names):
            return
        for entry in entries_of(self.table.store, self.table.table_path, [meta]):
            if entry.file.file_name in self.names:
                yield entry


def _with_extras(file: DataFile) -> list[FreedFile]:
    """The files beside it first: without the data file nobody would know of them."""
    directory = posixpath.dirname(file.path)
    return [*(FreedFile(f"{directory}/{n}", None) for n in file.meta.extra_files), FreedFile(file.path, file.size)]
