"""List what a table's snapshots hold for a stream: whole states, and each commit's changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lakebed.catalog.option_values import chosen_word
from lakebed.catalog.options import CHANGELOG_PRODUCER
from lakebed.catalog.paths import branch_root
from lakebed.catalog.schema_manager import SchemaManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.data_source.stream_admission import Part
from lakebed.data_source.stream_offset import Place
from lakebed.data_source.stream_options import OnOverwrite
from lakebed.errors import LakebedError, NotFoundError, RefusedError, UnsupportedError
from lakebed.format.live_files import DataFile, data_files, delta_manifests, entries_of, plan_files
from lakebed.format.manifest import Kind, ManifestEntry, read_list
from lakebed.format.merge_plan import plan_merge
from lakebed.format.refuse_unsupported import refuse_unreadable_files
from lakebed.format.snapshot import APPEND, Snapshot, SnapshotManager, loads
from lakebed.physical.paimon_types import Array, DataField, DataType, Map, Multiset, Row, equal_ignoring_nullability

_NO_CHANGES = ("COMPACT", "ANALYZE")
_OVERWRITE = "OVERWRITE"
NO_CHANGELOG = "none"


def changelog_producer(schema: TableSchema) -> str:
    """How the table makes its changelog; `none` where it has none."""
    return chosen_word(schema.options, CHANGELOG_PRODUCER) if schema.primary_keys else NO_CHANGELOG


@dataclass
class TableHistory:
    """The history of a table for a stream under `schema`; what was planned is kept until `forget`.

    `fail_on_change` makes files of a newer schema an error where they hold what `schema` cannot show; `narrow` says
    that the reader chose the columns of `schema`, so that added ones are none of its concern.
    """

    table: str
    table_path: str
    schema: TableSchema
    schemas: SchemaManager
    snapshots: SnapshotManager
    on_overwrite: OnOverwrite = OnOverwrite.FAIL
    fail_on_change: bool = True
    narrow: bool = False
    _planned: dict[tuple[bool, int], tuple[Part, ...]] = field(default_factory=dict, repr=False)
    _versions: dict[int, TableSchema] = field(default_factory=dict, repr=False)

    def parts(self, place: Place) -> Sequence[Part]:
        """All parts of the place's snapshot, in the order of its manifests. Raises where they cannot be told."""
        key = place.full, place.snapshot
        if key not in self._planned:
            found = tuple(self._state(place) if place.full else self._changes(place))
            self._check_schemas(found)
            self._planned[key] = found
        return self._planned[key]

    def forget(self, before: Place) -> None:
        """Drop what was planned of snapshots before this place."""
        for key in [k for k in self._planned if k[1] < before.snapshot]:
            del self._planned[key]

    def identity(self, snapshot: int) -> str | None:
        """The name of the snapshot's list of changes, which no other snapshot shares; None where it is gone."""
        if snapshot < 1:
            return None
        try:
            return self._load(snapshot).delta_manifest_list
        except NotFoundError:
            return None

    def snapshot(self, place: Place) -> Snapshot:
        """The snapshot of a place. Raises NotFoundError (LB5617) where it has expired."""
        try:
            return self._load(place.snapshot)
        except NotFoundError as error:
            earliest = self.snapshots.earliest_id()
            raise NotFoundError.of(
                "LB5617",
                f"table {self.table}: the stream is at {place}, and that snapshot is gone; "
                f"{'there are none' if earliest is None else f'the first that is there is {earliest}'}",
                path=error.diagnostics[0].path,
                expected=f"snapshot {place.snapshot}",
                found="none" if earliest is None else f"snapshots from {earliest}",
                remedy="begin with a new checkpoint, which reads the whole table again; and keep snapshots longer than "
                "the stream ever stops (table options snapshot.time-retained, snapshot.num-retained.min)",
            ) from None

    def _load(self, number: int) -> Snapshot:
        """A snapshot, or the changelog that outlives it."""
        try:
            return self.snapshots.load(number)
        except NotFoundError:
            path = f"{branch_root(self.table_path, self.snapshots.branch)}/changelog/changelog-{number}"
            if changelog_producer(self.schema) == NO_CHANGELOG or not self.snapshots.store.exists(path):
                raise
            return loads(self.snapshots.store.read(path), source=path, expected_id=number)

    def _version(self, schema_id: int) -> TableSchema:
        if schema_id not in self._versions:
            self._versions[schema_id] = self.schemas.load_schema(schema_id)
        return self._versions[schema_id]

    # --- the whole state ----------------------------------------------------------------------------------------------

    def _state(self, place: Place) -> Iterator[Part]:
        snapshot = self.snapshot(place)
        # Planned by the snapshot's own options, so that the plan stays the same when options change.
        schema = self._version(snapshot.schema_id)
        files = plan_files(self.snapshots.store, self.table_path, snapshot, schema)
        if not schema.primary_keys:
            yield from _single(files, place.snapshot)
            return
        plan = plan_merge(files, schema)
        yield from _single(plan.raw, place.snapshot)
        for number, section in enumerate(plan.sections, len(plan.raw)):
            yield Part(section, place.snapshot, number, merge=True)

    # --- what commits changed -----------------------------------------------------------------------------------------

    def _changes(self, place: Place) -> Iterator[Part]:
        snapshot = self.snapshot(place)
        self._check_producer(snapshot)
        entries = list(self._entries(snapshot))
        refuse_unreadable_files(e.file for e in entries)
        files = data_files(self.table_path, self.schema, entries)
        yield from _single(files, snapshot.id, kinds=bool(self.schema.primary_keys))

    def _entries(self, snapshot: Snapshot) -> Iterator[ManifestEntry]:
        overwrite = snapshot.commit_kind == _OVERWRITE
        if overwrite and self.on_overwrite is OnOverwrite.FAIL:
            raise self._overwritten(snapshot)
        if changelog_producer(self.schema) != NO_CHANGELOG:
            listed, size = snapshot.changelog_manifest_list, snapshot.changelog_manifest_list_size
            metas = [] if listed is None else read_list(self.snapshots.store, self.table_path, listed, size)
            yield from _added(entries_of(self.snapshots.store, self.table_path, metas))
        elif snapshot.commit_kind == APPEND:
            for entry in self._delta(snapshot):
                if entry.kind != Kind.ADD:
                    raise self._removed(snapshot, entry)
                yield entry
        elif overwrite and self.on_overwrite is OnOverwrite.ADDED:
            yield from _added(self._delta(snapshot))
        elif not overwrite and snapshot.commit_kind not in _NO_CHANGES:
            raise UnsupportedError.of(
                "LB5620",
                f"table {self.table}: snapshot {snapshot.id} is a commit of the kind {snapshot.commit_kind}",
                expected=", ".join((APPEND, _OVERWRITE, *_NO_CHANGES)),
                found=snapshot.commit_kind,
                remedy="read the table with a newer Lakebed",
            )

    def _delta(self, snapshot: Snapshot) -> Iterator[ManifestEntry]:
        metas = delta_manifests(self.snapshots.store, self.table_path, snapshot)
        return entries_of(self.snapshots.store, self.table_path, metas)

    def _overwritten(self, snapshot: Snapshot) -> LakebedError:
        return RefusedError.of(
            "LB5619",
            f"table {self.table}: the commit of snapshot {snapshot.id} replaced or deleted rows, "
            "which rows that are only added cannot tell",
            found=f"snapshot {snapshot.id}, {snapshot.commit_kind}",
            remedy="set on-overwrite=ignore to go on without this change, on-overwrite=added to get the rows of the "
            "files that it added, or begin with a new checkpoint, which reads the whole table again",
        )

    def _removed(self, snapshot: Snapshot, entry: ManifestEntry) -> LakebedError:
        return UnsupportedError.of(
            "LB5620",
            f"table {self.table}: the commit of snapshot {snapshot.id} adds rows and takes away file "
            f"{entry.file.file_name}",
            path=entry.file.file_name,
            remedy="begin with a new checkpoint after this snapshot",
        )

    def _check_producer(self, snapshot: Snapshot) -> None:
        then, now = changelog_producer(self._version(snapshot.schema_id)), changelog_producer(self.schema)
        if (then == NO_CHANGELOG) != (now == NO_CHANGELOG):
            raise UnsupportedError.of(
                "LB5622",
                f"table {self.table}: {CHANGELOG_PRODUCER} was {then} at snapshot {snapshot.id}, "
                f"and is {now} for this stream",
                path=CHANGELOG_PRODUCER,
                expected=now,
                found=then,
                remedy="begin with a new checkpoint after the option was changed",
            )

    def _check_schemas(self, parts: Iterable[Part]) -> None:
        """Refuse rows that hold what the schema of the stream cannot show."""
        if not self.fail_on_change:
            return
        for part in parts:
            for number in {f.meta.schema_id for f in part.files if f.meta.schema_id > self.schema.id}:
                lost = not_shown(self.schema.fields, self._version(number).fields, additions=not self.narrow)
                if lost:
                    raise self._changed(part.snapshot, number, lost)

    def _changed(self, snapshot: int, number: int, lost: Sequence[str]) -> LakebedError:
        return RefusedError.of(
            "LB5621",
            f"table {self.table}: snapshot {snapshot} has rows of schema {number}, and the stream began with schema "
            f"{self.schema.id}: {', '.join(lost)}",
            expected=f"schema {self.schema.id}",
            found=f"schema {number}",
            remedy="start the query again with the same checkpoint: it goes on from here under the newest schema; "
            "or set on-schema-change=project to go on under the schema that it began with",
        )


def _added(entries: Iterable[ManifestEntry]) -> Iterator[ManifestEntry]:
    return (entry for entry in entries if entry.kind == Kind.ADD)


def _single(files: Iterable[DataFile], snapshot: int, *, kinds: bool = False) -> Iterator[Part]:
    """Each file as a part of its own."""
    return (Part((file,), snapshot, number, kinds=kinds) for number, file in enumerate(files))


def not_shown(shown: Sequence[DataField], newer: Sequence[DataField], *, additions: bool = True) -> tuple[str, ...]:
    """What rows of the columns `newer` hold that rows of the columns `shown` cannot, as texts.

    Columns are matched by field id at every level: a renamed column is the same, a dropped one reads as NULL. What is
    not shown are added columns (`additions`: top-level ones too) and values of changed types.
    """
    return tuple(_fields(shown, newer, "", additions=additions))


def _fields(shown: Sequence[DataField], newer: Sequence[DataField], path: str, *, additions: bool) -> Iterator[str]:
    by_id = {field.id: field for field in shown}
    for column in newer:
        own = by_id.get(column.id)
        if own is not None:
            yield from _types(own.type, column.type, f"{path}{own.name}")
        elif additions:
            yield f"column {path}{column.name} was added"


def _types(shown: DataType, newer: DataType, path: str) -> Iterator[str]:
    match shown, newer:
        case Row(), Row():
            yield from _fields(shown.fields, newer.fields, f"{path}.", additions=True)
        case (Array(element=own), Array(element=other)) | (Multiset(element=own), Multiset(element=other)):
            yield from _types(own, other, f"{path}.element")
        case Map(), Map():
            yield from _types(shown.key, newer.key, f"{path}.key")
            yield from _types(shown.value, newer.value, f"{path}.value")
        case _:
            if not equal_ignoring_nullability(shown, newer):
                yield f"column {path} changed from {shown} to {newer}"
