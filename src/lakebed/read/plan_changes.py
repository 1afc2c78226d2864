"""Plan what changed in a table, without an engine: the states, the mode, the files of each commit in order.

A `delta` is told by the files that commits added, a `changelog` by changelog files, a `diff` by the rows of two states.
`plan_changes` plans the changes between two states; a stream follows the same `Commits` one by one. Which of its rows a
file adds or takes away says the file itself in a table with a primary key; all rows of other files were added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import TypeAlias

from lakebed.catalog.names import TableName
from lakebed.catalog.options import CHANGELOG_PRODUCER
from lakebed.catalog.paths import branch_root
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import LakebedError, NotFoundError, RefusedError, UnsupportedError, UsageError
from lakebed.format.changelog import NO_CHANGELOG, changelog_producer
from lakebed.format.live_files import DataFile, data_files, delta_manifests, entries_of
from lakebed.format.manifest import Kind, ManifestEntry, read_list
from lakebed.format.merge_engine import MergeEngine, merge_engine, merge_rules
from lakebed.format.partition import POSTPONED
from lakebed.format.refuse_unsupported import refuse_unreadable_files
from lakebed.format.row_ranges import Versions, has_data_evolution
from lakebed.format.snapshot import APPEND, Snapshot, loads
from lakebed.format.table_branch import TableBranch
from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import Map, Multiset, Variant
from lakebed.read.plan_read import fallback_branch, readable_state
from lakebed.read.request import ReadRequest, Travel
from lakebed.read.table_state import TableState, resolve

_OVERWRITE = "OVERWRITE"
AUTO = "auto"


class Mode(StrEnum):
    """How changes are told."""

    DELTA = "delta"
    """By the files that commits added, compactions left out."""
    CHANGELOG = "changelog"
    """By the changelog files of a table that makes them."""
    DIFF = "diff"
    """By the difference of the rows of two states."""


class OnOverwrite(StrEnum):
    """What a commit means that replaces rows: an error, nothing, or the rows of the files that it added."""

    FAIL = "fail"
    IGNORE = "ignore"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class ChangesAsked:
    """Between which states changes are wanted, and how; see `lakebed.Lake.read_changes`."""

    since: int | str | datetime
    until: int | str | datetime | None = None
    mode: str = AUTO
    row_kinds: bool = False


# --- commits ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Commits:
    """Tells what each commit of a table changed, in the mode `DELTA` or `CHANGELOG`, as rows of the state's schema.

    `alike`: commits are refused that were made when the table told its changes in the other mode.
    """

    table: TableName
    state: TableState
    mode: Mode
    version: Versions
    on_overwrite: OnOverwrite = OnOverwrite.IGNORE
    alike: bool = True

    @property
    def have_kinds(self) -> bool:
        """Whether each row of a file says its kind; else all of them were added."""
        return bool(self.state.schema.primary_keys)

    @property
    def ignore_deletes(self) -> bool:
        """Whether rows that are deletes are no changes, since the table takes no notice of them."""
        return self.have_kinds and self.mode is Mode.DELTA and merge_rules(self.state.schema).ignore_delete

    def load(self, number: int) -> Snapshot:
        """A snapshot, or the changelog that outlives it. Raises NotFoundError where neither is there any more."""
        snapshots = self.state.snapshots
        try:
            return snapshots.load(number)
        except NotFoundError:
            path = f"{branch_root(self.state.table_path, snapshots.branch)}/changelog/changelog-{number}"
            if self.mode is not Mode.CHANGELOG or not snapshots.store.exists(path):
                raise
            return loads(snapshots.store.read(path), source=path, expected_id=number)

    def files(self, snapshot: Snapshot) -> tuple[DataFile, ...]:
        """The files that hold what a snapshot's commit changed, in the order of its manifests; often none."""
        self._check_producer(snapshot)
        entries = list(self._entries(snapshot))
        refuse_unreadable_files(entry.file for entry in entries)
        files = data_files(self.state.table_path, self.state.schema, entries)
        for file in files:
            if file.bucket == POSTPONED:
                raise _untold(self.table, f"data file {file.path} is in no bucket yet")
        return files

    def _entries(self, snapshot: Snapshot) -> Iterator[ManifestEntry]:
        kind = snapshot.commit_kind
        if kind == _OVERWRITE and self.on_overwrite is OnOverwrite.FAIL:
            raise self._overwritten(snapshot)
        if self.mode is Mode.CHANGELOG:
            yield from (entry for entry in self._changelog(snapshot) if entry.kind == Kind.ADD)
        elif kind == APPEND:
            yield from self._appended(snapshot)
        elif kind == _OVERWRITE and self.on_overwrite is OnOverwrite.ADDED:
            yield from (entry for entry in self._delta(snapshot) if entry.kind == Kind.ADD)

    def _appended(self, snapshot: Snapshot) -> Iterator[ManifestEntry]:
        for entry in self._delta(snapshot):
            if entry.kind != Kind.ADD:
                raise UnsupportedError.of(
                    "LB5620",
                    f"table {self.table}: the commit of snapshot {snapshot.id} adds rows and takes away file "
                    f"{entry.file.file_name}",
                    path=entry.file.file_name,
                    remedy="begin after this snapshot",
                )
            yield entry

    def _delta(self, snapshot: Snapshot) -> Iterator[ManifestEntry]:
        store, path = self.state.snapshots.store, self.state.table_path
        return entries_of(store, path, delta_manifests(store, path, snapshot))

    def _changelog(self, snapshot: Snapshot) -> Iterator[ManifestEntry]:
        if snapshot.changelog_manifest_list is None:
            return iter(())
        store, path = self.state.snapshots.store, self.state.table_path
        listed, size = snapshot.changelog_manifest_list, snapshot.changelog_manifest_list_size
        return entries_of(store, path, read_list(store, path, listed, size))

    def _overwritten(self, snapshot: Snapshot) -> LakebedError:
        return RefusedError.of(
            "LB5619",
            f"table {self.table}: the commit of snapshot {snapshot.id} replaced or deleted rows, "
            "which rows that are only added cannot tell",
            found=f"snapshot {snapshot.id}, {snapshot.commit_kind}",
            remedy="set on-overwrite=ignore to go on without this change, on-overwrite=added to get the rows of the "
            "files that it added, or begin with a new checkpoint, which reads the whole table again",
        )

    def _check_producer(self, snapshot: Snapshot) -> None:
        """Refuse a commit whose changes are told otherwise than those of the other commits."""
        schema = self.state.schema
        if snapshot.schema_id == schema.id:
            return
        then = changelog_producer(self.version(snapshot.schema_id))
        told = Mode.DELTA if then == NO_CHANGELOG else Mode.CHANGELOG
        if told is not self.mode and (self.alike or self.mode is Mode.CHANGELOG):
            now = changelog_producer(schema)
            raise UnsupportedError.of(
                "LB5622",
                f"table {self.table}: {CHANGELOG_PRODUCER} was {then} at snapshot {snapshot.id}, "
                f"and is {now} in the schema that is read",
                path=CHANGELOG_PRODUCER,
                expected=now,
                found=then,
                remedy="begin after the option was changed: a stream with a new checkpoint, "
                "`read_changes` at a later state",
            )


def follow_commits(
    table: TableBranch,
    request: ReadRequest,
    state: TableState,
    *,
    mode: str = AUTO,
    on_overwrite: OnOverwrite = OnOverwrite.IGNORE,
    each_row: bool = True,
) -> Commits:
    """What tells the changes of a table's commits, as rows of the schema of `state`.

    `each_row`: every row is a change of its own, and none is merged with another one of its key. Raises
    UnsupportedError for tables of which the commits do not tell (LB5622), or not in this mode (LB5596).
    """
    schema = state.schema
    makes = changelog_producer(schema) != NO_CHANGELOG
    if mode == Mode.CHANGELOG and not makes:
        raise UnsupportedError.of(
            "LB5596",
            f"table {table.name} has no changelog: "
            + (f"{CHANGELOG_PRODUCER} is not set" if schema.primary_keys else "it has no primary key"),
            path=CHANGELOG_PRODUCER,
            remedy='leave mode out, or set mode="delta" or mode="diff"',
        )
    chosen = (Mode.CHANGELOG if makes else Mode.DELTA) if mode == AUTO else Mode(mode)
    branch = fallback_branch(table, request, state)
    if branch is not None:
        raise _untold(
            table.name,
            f"partitions that it lacks come from its fallback branch {branch}, and come and go with its own",
            'or read the changes of the main branch alone: branch="main"',
        )
    reason = _why_no_row(schema, each_row=each_row) if chosen is Mode.DELTA else None
    if reason is not None:
        raise _untold(table.name, reason)
    return Commits(table.name, state, chosen, cache(state.schemas.load_schema), on_overwrite, alike=mode == AUTO)


def _why_no_row(schema: TableSchema, *, each_row: bool) -> str | None:
    """Why a row of a file that a commit added may be no row of the table; None where it is one."""
    if has_data_evolution(schema):
        return "files that are added may hold other columns of rows that are there"
    if not schema.primary_keys:
        return None
    if schema.bucket == POSTPONED:
        return "what a commit adds to a postponed bucket is not visible before compaction"
    engine = merge_engine(schema)
    if engine is MergeEngine.FIRST_ROW:
        return "a commit of a first-row table holds rows that the table does not take"
    if each_row and engine is not MergeEngine.DEDUPLICATE:
        return f"what a commit of a {engine.value} table holds is merged only later"
    return None


def _untold(table: TableName, why: str, other: str = "") -> LakebedError:
    return UnsupportedError.of(
        "LB5622",
        f"the changes of table {table} cannot be told by its commits: {why}",
        remedy="read its states with lake.read(...), or compare two of them with "
        f'lake.read_changes(..., mode="diff"){f", {other}" if other else ""}',
    )


# --- between two states -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Commit:
    """What one snapshot's commit changed."""

    snapshot: int
    files: tuple[DataFile, ...]


@dataclass(frozen=True, slots=True)
class CommitChanges:
    """What the commits between two states changed, the oldest first."""

    told: Commits
    commits: tuple[Commit, ...]

    @property
    def files(self) -> tuple[DataFile, ...]:
        """The files of all commits, in order."""
        return tuple(file for commit in self.commits for file in commit.files)


@dataclass(frozen=True, slots=True)
class StateDifference:
    """Two states whose rows are compared, both read as the schema of `state`, the later one.

    `since` is None where the earlier one is the time before the first snapshot.
    """

    state: TableState
    since: ReadRequest | None
    until: ReadRequest


PlannedChanges: TypeAlias = CommitChanges | StateDifference


def plan_changes(table: TableBranch, asked: ChangesAsked, request: ReadRequest) -> PlannedChanges:
    """Plan the changes between two states. Of the request it is the branch, the schema and how values come out."""
    if asked.mode not in (AUTO, *Mode):
        raise UsageError.of(
            "LB5595",
            f"there is no way {asked.mode!r} to read changes",
            expected=", ".join((AUTO, *Mode)),
            found=asked.mode,
        )
    until = _at(asked.until, request)
    state = readable_state(table, until)
    first = _number(table, asked.since, request)
    last = 0 if state.snapshot is None else state.snapshot.id
    if first > last:
        raise UsageError.of("LB5594", f"snapshot {first} is after snapshot {last}", found=f"{first}, {last}")
    if asked.mode == Mode.DIFF:
        _refuse_maps(state.schema)
        since = None if first == 0 else replace(_at(asked.since, request), schema=state.schema.id)
        return StateDifference(state, since, replace(until, schema=state.schema.id))
    told = follow_commits(table, request, state, mode=asked.mode, each_row=asked.row_kinds)
    commits = (Commit(number, told.files(_kept(told, number))) for number in range(first + 1, last + 1))
    return CommitChanges(told, tuple(commits))


def _at(state: int | str | datetime | None, request: ReadRequest) -> ReadRequest:
    """The request for one state."""
    branch = request.travel.branch
    match state:
        case bool():
            raise UsageError.of("LB6704", "a truth value is no state")
        case int():
            return replace(request, travel=Travel(snapshot=state, branch=branch))
        case str():
            return replace(request, travel=Travel(tag=state, branch=branch))
        case _:
            return replace(request, travel=Travel(as_of=state, branch=branch))


def _number(table: TableBranch, since: int | str | datetime, request: ReadRequest) -> int:
    """The id of the first state's snapshot. That of a number needs not be there any more."""
    if isinstance(since, int) and not isinstance(since, bool):
        return since
    found = resolve(table, replace(_at(since, request), schema="latest")).snapshot
    return 0 if found is None else found.id


def _kept(told: Commits, number: int) -> Snapshot:
    try:
        return told.load(number)
    except NotFoundError as error:
        # Those after the first that is there can be told, and its own.
        begin = max((told.state.snapshots.earliest_id() or 1) - 1, number)
        raise NotFoundError.of(
            "LB5593",
            f"the changes of snapshot {number} are gone: {error.diagnostics[0].message}",
            found=str(number),
            remedy=f'begin at snapshot {begin} or later, or compare two states with mode="diff"',
        ) from None


def _refuse_maps(schema: TableSchema) -> None:
    """Refuse to compare rows with parts that Spark does not compare."""
    for field in schema.fields:
        if any(isinstance(type_, Map | Multiset | Variant) for type_ in types_inside(field.type)):
            raise UnsupportedError.of(
                "LB5597",
                f"column {field.name!r} holds maps, which cannot be compared",
                path=field.name,
            )
