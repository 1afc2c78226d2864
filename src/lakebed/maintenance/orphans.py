"""Find and remove files that no snapshot, tag, changelog or branch of a table refers to.

Looked at are the manifests, index files, statistics and data files of the table, the staging directories of ingests,
and the temporary files beside metadata. Used is what any snapshot, tag or changelog of any branch names (Paimon, "Crash
leftovers and cleanup"). A file younger than the minimum age stays: it may be of a commit that is still under way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, ClassVar

from lakebed.catalog import TableName
from lakebed.catalog.paths import MAIN, branch_root
from lakebed.errors import LakebedError, NotFoundError, RefusedError, UsageError
from lakebed.format.index_manifest import read_index_manifest
from lakebed.format.many_values import paused_collector
from lakebed.format.snapshot import Snapshot
from lakebed.format.table_branch import TableBranch
from lakebed.maintenance.durations import millis_of
from lakebed.maintenance.freed_files import needed_files
from lakebed.maintenance.references import References, State, unreadable
from lakebed.readable import Readable
from lakebed.store import temporary
from lakebed.store.base import Entry
from lakebed.store.safe_delete import Inside

DEFAULT_MIN_AGE = timedelta(days=1)

_FLAT = ("manifest", "index", "statistics")
_PARTITION = re.compile(r"[^.=][^=]*=.*", re.DOTALL)
_BUCKET = re.compile(r"bucket-.+")


@dataclass(frozen=True, slots=True)
class OrphanFile:
    """One file below the table's directory that nothing refers to. `path` is relative; `modified` in milliseconds."""

    path: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class OrphanReport(Readable):
    """The files of a table that nothing refers to, in order of their paths, and whether they were removed.

    `name` None: those that lie in the warehouse beside its tables; paths are below its directory then. `young` counts
    files that nothing refers to yet and that are too young, or of unknown age.
    """

    renderer: ClassVar[str] = "lakebed.render.maintenance_text:orphans_text"

    name: TableName | None
    min_age: timedelta
    files: tuple[OrphanFile, ...]
    young: int
    removed: bool = False

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return sum(file.size for file in self.files)

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed orphans --json`. Times are milliseconds since 1970."""
        return {
            "table": None if self.name is None else str(self.name),
            "min_age_seconds": int(self.min_age.total_seconds()),
            "files": [{"path": f.path, "size": f.size, "modified_millis": f.modified} for f in self.files],
            "size": self.size,
            "young": self.young,
            "removed": self.removed,
        }


def orphan_files(table: TableBranch, *, min_age: timedelta = DEFAULT_MIN_AGE) -> OrphanReport:
    """The files that nothing refers to. Writes nothing.

    Raises:
        NotFoundError: there is no such table.
        RefusedError: something that may refer to a file cannot be read.
    """
    newest = newest_to_go(table.clock, min_age)
    _ = table.on(MAIN).schemas
    # Files are listed before what refers to them is read, so that one that is committed in between counts as used.
    found = list(_candidates(table))
    used = _used(table)
    unused = [(path, entry) for path, entry in found if path.rpartition("/")[2] not in used]
    return report_of(table.name, unused, min_age, newest)


def newest_to_go(clock: Callable[[], int], min_age: timedelta) -> int:
    """When a file must have been changed last to go, in milliseconds. Raises `UsageError` for an age below 0."""
    if min_age < timedelta(0):
        raise UsageError.of("LB3665", f"a minimum age of {min_age} makes no sense", remedy="Give 0 or more.")
    return clock() - millis_of(min_age)


def report_of(
    name: TableName | None, unused: Sequence[tuple[str, Entry]], min_age: timedelta, newest: int
) -> OrphanReport:
    """The report of files without use, by path: those that are old enough, and how many are not."""
    old = [
        OrphanFile(path, entry.size, entry.modified)
        for path, entry in sorted(unused, key=lambda part: part[0])
        if entry.modified is not None and entry.modified <= newest
    ]
    return OrphanReport(name, min_age, tuple(old), len(unused) - len(old))


def remove_orphans(table: TableBranch, *, min_age: timedelta = DEFAULT_MIN_AGE) -> OrphanReport:
    """Remove the files that nothing refers to. Raises as `orphan_files`, before anything is removed.

    A crash leaves some of them there; the table is not touched by either.
    """
    report = orphan_files(table, min_age=min_age)
    inside = table.inside
    table.delete_all(f"{table.table_path}/{file.path}" for file in report.files)
    newest = table.clock() - millis_of(min_age)
    for below, is_ours in (("", temporary.is_staging), ("branch", temporary.is_half_branch)):
        remove_emptied(inside, below, is_ours, report, newest)
    return replace(report, removed=True)


def _candidates(table: TableBranch) -> Iterator[tuple[str, Entry]]:
    """Every file that could be an orphan, by its path below the table's directory. Links are not followed."""
    inside, root = table.inside, table.table_path
    for directory in _FLAT:
        yield from ((f"{directory}/{e.name}", e) for e in inside.list(f"{root}/{directory}") if not e.is_directory)
    yield from _below_table(inside, "")
    for entry in inside.list(f"{root}/branch"):
        if entry.is_directory and temporary.is_half_branch(entry.name):
            yield from together(inside, f"branch/{entry.name}")
    for branch in [MAIN, *References(table).branch_directories()]:
        below = branch_root(root, branch)[len(root) + 1 :]
        for name in ("", "schema", "snapshot", "tag", "changelog"):
            directory = f"{below}/{name}".strip("/")
            for entry in inside.list(f"{root}/{directory}".rstrip("/")):
                if not entry.is_directory and temporary.is_temporary_file(entry.name):
                    yield f"{directory}/{entry.name}".lstrip("/"), entry


def _below_table(inside: Inside, below: str) -> Iterator[tuple[str, Entry]]:
    """Data files, in buckets of the table or of its partitions, and what is in staging directories."""
    root = inside.root
    for entry in inside.list(f"{root}/{below}" if below else root):
        path = f"{below}/{entry.name}" if below else entry.name
        if not entry.is_directory:
            continue
        if not below and temporary.is_staging(entry.name):
            yield from together(inside, path)
        elif _BUCKET.fullmatch(entry.name):
            yield from ((f"{path}/{e.name}", e) for e in inside.list(f"{root}/{path}") if not e.is_directory)
        elif _PARTITION.fullmatch(entry.name):
            yield from _below_table(inside, path)


def files_of_write(inside: Inside, id_: str) -> list[str]:
    """The paths of all data files and indexes whose names hold the id of one write."""
    indexes = ((f"index/{entry.name}", entry) for entry in inside.list(f"{inside.root}/index"))
    files = (*_below_table(inside, ""), *indexes)
    return [f"{inside.root}/{path}" for path, entry in files if id_ in entry.name]


def together(inside: Inside, directory: str) -> list[tuple[str, Entry]]:
    """All files below a directory, each as young as the youngest thing there: they go together or not at all."""
    files: list[tuple[str, Entry]] = []
    times: list[int | None] = []
    waiting = [directory]
    while waiting:
        current = waiting.pop()
        for entry in inside.list(f"{inside.root}/{current}"):
            path = f"{current}/{entry.name}"
            if entry.is_directory and not inside.is_link(f"{inside.root}/{path}"):
                waiting.append(path)
            else:
                files.append((path, entry))
                times.append(entry.modified)
    known = [time for time in times if time is not None]
    youngest = max(known) if known and len(known) == len(times) else None
    return [(path, replace(entry, modified=youngest)) for path, entry in files]


@paused_collector()
def _used(table: TableBranch) -> set[str]:
    """The names of all files that any state of any branch needs; names are unique over the table.

    A data file that is only named as taken away is not needed, unless another state has it live.
    """
    references, used, taken = References(table), set[str](), dict[str, tuple[str, ...]]()
    try:
        states = [s for branch in (MAIN, *references.branch_directories()) for s in references.states(branch)]
        for state in states:
            used |= _own_files(table, references, state)
        for meta in references.every_manifest(states):
            used |= {meta.file_name, *(meta.extra_files or ())}
            used |= references.files_of(meta)
            taken |= references.taken_by(meta)
        needed = needed_files(table.on(MAIN), references, states, frozenset(taken)) if taken else frozenset[str]()
    except RefusedError:
        raise
    except LakebedError as error:
        raise unreadable(table.table_path, error) from error
    return used - {name for file, extra in taken.items() if file not in needed for name in (file, *extra)}


def _own_files(table: TableBranch, references: References, state: State) -> set[str]:
    """The files that a state names itself, or through its index manifest and its statistics."""
    snapshot = state.snapshot
    used = {
        snapshot.base_manifest_list,
        snapshot.delta_manifest_list,
        *references.statistics_files(state),
    }
    if snapshot.changelog_manifest_list is not None:
        used.add(snapshot.changelog_manifest_list)
    if snapshot.index_manifest is not None:
        used |= {snapshot.index_manifest, *_index_files(table, snapshot)}
    return used


def _index_files(table: TableBranch, snapshot: Snapshot) -> list[str]:
    """The names of the index files of a snapshot; none where its index manifest has gone."""
    try:
        return [file.name for file in read_index_manifest(table.store, table.table_path, snapshot)]
    except NotFoundError:
        return []


def remove_emptied(
    inside: Inside, below: str, is_ours: Callable[[str], bool], report: OrphanReport, newest: int
) -> None:
    """Remove directories of ours in a directory: those whose files are gone now, or that are empty for long."""
    for entry in inside.list(f"{inside.root}/{below}".rstrip("/")):
        directory = f"{below}/{entry.name}".lstrip("/")
        if not entry.is_directory or not is_ours(entry.name) or together(inside, directory):
            continue
        is_old = entry.modified is not None and entry.modified <= newest
        if is_old or any(file.path.startswith(f"{directory}/") for file in report.files):
            inside.delete_tree(f"{inside.root}/{directory}")
