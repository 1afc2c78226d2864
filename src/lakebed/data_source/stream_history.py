"""List what a table's snapshots hold for a stream: whole states, and each commit's changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from lakebed.data_source.stream_admission import Part
from lakebed.data_source.stream_offset import StreamPlace
from lakebed.errors import LakebedError, NotFoundError, RefusedError
from lakebed.format.live_files import DataFile
from lakebed.format.snapshot import Snapshot
from lakebed.format.table_branch import TableBranch
from lakebed.physical.paimon_tree import alike_parts, alike_places
from lakebed.physical.paimon_types import DataField, Row, equal_ignoring_nullability
from lakebed.read.plan_changes import Commits
from lakebed.read.plan_read import plan_read
from lakebed.read.request import ReadRequest, Travel


@dataclass
class TableHistory:
    """The history of a table for a stream of what `told` says; what was planned is kept until `forget`.

    `fail_on_change` makes files of a newer schema an error where they hold what the stream's schema cannot show;
    `narrow` says that the reader chose the columns of it, so that added ones are none of its concern.
    """

    table: TableBranch
    request: ReadRequest
    told: Commits
    fail_on_change: bool = True
    narrow: bool = False
    _planned: dict[tuple[bool, int], tuple[Part, ...]] = field(default_factory=dict, repr=False)

    def parts(self, place: StreamPlace) -> Sequence[Part]:
        """All parts of the place's snapshot, in the order of its manifests. Raises where they cannot be told."""
        key = place.full, place.snapshot
        if key not in self._planned:
            found = tuple(self._state(place) if place.full else self._changes(place))
            self._check_schemas(found)
            self._planned[key] = found
        return self._planned[key]

    def forget(self, before: StreamPlace) -> None:
        """Drop what was planned of snapshots before this place."""
        for key in [k for k in self._planned if k[1] < before.snapshot]:
            del self._planned[key]

    def identity(self, snapshot: int) -> str | None:
        """The name of the snapshot's list of changes, which no other snapshot shares; None where it is gone."""
        if snapshot < 1:
            return None
        try:
            return self.told.load(snapshot).delta_manifest_list
        except NotFoundError:
            return None

    def snapshot(self, place: StreamPlace) -> Snapshot:
        """The snapshot of a place. Raises NotFoundError (LB5617) where it has expired."""
        with self._kept(place):
            return self.told.load(place.snapshot)

    @contextmanager
    def _kept(self, place: StreamPlace) -> Iterator[None]:
        """Say that the stream is at a snapshot which is gone, where one is."""
        try:
            yield
        except NotFoundError as error:
            earliest = self.told.state.snapshots.earliest_id()
            raise NotFoundError.of(
                "LB5617",
                f"table {self.told.table}: the stream is at {place}, and that snapshot is gone; "
                f"{'there are none' if earliest is None else f'the first that is there is {earliest}'}",
                path=error.diagnostics[0].path,
                expected=f"snapshot {place.snapshot}",
                found="none" if earliest is None else f"snapshots from {earliest}",
                remedy="begin with a new checkpoint, which reads the whole table again; and keep snapshots longer than "
                "the stream ever stops (table options snapshot.time-retained, snapshot.num-retained.min)",
            ) from None

    def _state(self, place: StreamPlace) -> Iterator[Part]:
        """The whole state of a snapshot."""
        # Planned by the snapshot's own options, so that the plan stays the same when options change.
        travel = Travel(snapshot=place.snapshot, branch=self.request.travel.branch)
        request = replace(self.request, travel=travel, schema="snapshot", columns=())
        with self._kept(place):
            plan = plan_read(self.table, request).main.plan
        yield from _single(plan.as_they_are, place.snapshot)
        for part, group in enumerate(plan.groups, len(plan.as_they_are)):
            yield Part(group, place.snapshot, part, merge=True)

    def _changes(self, place: StreamPlace) -> Iterator[Part]:
        """What the commit of a snapshot changed."""
        snapshot = self.snapshot(place)
        return _single(self.told.files(snapshot), snapshot.id, kinds=self.told.have_kinds)

    def _check_schemas(self, parts: Iterable[Part]) -> None:
        """Refuse rows that hold what the schema of the stream cannot show."""
        if not self.fail_on_change:
            return
        shown = self.told.state.schema
        for part in parts:
            for number in {f.meta.schema_id for f in part.files if f.meta.schema_id > shown.id}:
                lost = not_shown(shown.fields, self.told.version(number).fields, additions=not self.narrow)
                if lost:
                    raise self._changed(part.snapshot, number, lost)

    def _changed(self, snapshot: int, number: int, lost: Sequence[str]) -> LakebedError:
        began = self.told.state.schema.id
        return RefusedError.of(
            "LB5621",
            f"table {self.told.table}: snapshot {snapshot} has rows of schema {number}, "
            f"and the stream began with schema {began}: {', '.join(lost)}",
            expected=f"schema {began}",
            found=f"schema {number}",
            remedy="start the query again with the same checkpoint: it goes on from here under the newest schema; "
            "or set on-schema-change=project to go on under the schema that it began with",
        )


def _single(files: Iterable[DataFile], snapshot: int, *, kinds: bool = False) -> Iterator[Part]:
    """Each file as a part of its own."""
    return (Part((file,), snapshot, number, kinds=kinds) for number, file in enumerate(files))


def not_shown(shown: Sequence[DataField], newer: Sequence[DataField], *, additions: bool = True) -> tuple[str, ...]:
    """What rows of the columns `newer` hold that rows of the columns `shown` cannot, as texts.

    Columns are matched by field id at every level: a renamed column is the same, a dropped one reads as NULL. What is
    not shown are added columns (`additions`: top-level ones too) and values of changed types.
    """
    return tuple(_not_shown(shown, newer, additions=additions))


def _not_shown(shown: Sequence[DataField], newer: Sequence[DataField], *, additions: bool) -> Iterator[str]:
    # Paths are in the names that are shown.
    for path, other, own in alike_places(Row(tuple(newer)), Row(tuple(shown))):
        if isinstance(own, Row) and isinstance(other, Row):
            known = {field.id for field in own.fields} if additions or path else {field.id for field in other.fields}
            for field in other.fields:
                if field.id not in known:
                    yield f"column {'.'.join((*path, field.name))} was added"
        elif not alike_parts(other, own) and not equal_ignoring_nullability(own, other):
            yield f"column {'.'.join(path)} changed from {own} to {other}"
