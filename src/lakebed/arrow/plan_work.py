"""Plan how the files of a read are read as Arrow batches: in pieces that need nothing of one another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import pyarrow as pa

from lakebed.arrow.convert_arrays import Stored, check_exact
from lakebed.arrow.file_part import OPENING, Column, FilePart, part_count, refuse_format, rows_of
from lakebed.arrow.join_row_parts import SideBySide, blob_columns, put_together, row_files, side_by_side
from lakebed.arrow.newest_row import NewestRow, merged, newest_row
from lakebed.catalog.table_schema import TableSchema
from lakebed.format.blob_columns import refuse_blobs
from lakebed.format.live_files import DataFile
from lakebed.format.row_kinds import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.format.row_ranges import stored_fields
from lakebed.physical.paimon_types import DataField
from lakebed.read.needed_files import ReadPlan
from lakebed.read.plan_read import PlannedRead, PlannedState, branch_column
from lakebed.read.stored_layout import layout
from lakebed.store.base import Store


@dataclass(frozen=True, slots=True)
class Work:
    """What one task reads: parts of files one after the other, or files that make rows by a rule."""

    parts: tuple[FilePart, ...]
    columns: tuple[Column, ...]
    rule: NewestRow | SideBySide | None = None


def open_rows(store: Store, work: Work) -> Iterator[pa.RecordBatch]:
    """The rows of a task."""
    match work.rule:
        case NewestRow():
            yield from merged(store, work.parts, work.columns, work.rule)
        case SideBySide():
            yield from put_together(store, work.parts, work.columns, work.rule)
        case None:
            for part in work.parts:
                yield from rows_of(store, part, work.columns)


def columns_by_state(
    planned: PlannedRead, fields: Sequence[DataField]
) -> Iterator[tuple[PlannedState, tuple[Column, ...]]]:
    """The states of a read, each with its columns that answer for `fields` of the main branch's schema."""
    columns = tuple(Column(f.name, f, f) for f in fields)
    yield planned.main, columns
    if planned.fallback is not None:
        # Its own columns of the same names answer.
        other, whole = planned.fallback.state.schema, {f.id: f for f in planned.main.state.schema.fields}
        yield planned.fallback, tuple(replace(c, field=branch_column(whole[c.wanted.id], other)) for c in columns)


@dataclass(frozen=True)
class WorkPlanner:
    """Makes the work of tasks, for files that are read as `columns` of `schema`.

    `orc_apart` and `time_zone`: see `FilePart`. Raises UnsupportedError for columns of blobs whose contents are not in
    the table's files.
    """

    schema: TableSchema
    load: Callable[[int], TableSchema]
    columns: tuple[Column, ...]
    verify_checksums: bool = True
    orc_apart: bool = False
    time_zone: str | None = None

    def __post_init__(self) -> None:
        fields = tuple(c.field for c in self.columns if c.field is not None)
        refuse_blobs(fields, self.schema.options, descriptors=False)

    @cached_property
    def _version(self) -> Callable[[int], TableSchema]:
        return cache(self.load)

    @cached_property
    def _partition(self) -> tuple[int, ...]:
        fields = {f.name: f.id for f in self.schema.fields}
        return tuple(fields[key] for key in self.schema.partition_keys)

    def part(self, file: DataFile, columns: Iterable[Column] | None = None) -> FilePart:
        """A whole file. Raises UnsupportedError where its rows would come out otherwise than by `lake.read`."""
        refuse_format(file.path)
        constants = dict(zip(self._partition, file.partition, strict=True))
        wanted = {
            c.field.id: c.wanted
            for c in (self.columns if columns is None else columns)
            if c.field is not None and c.field.id not in constants
        }
        fields = [replace(w, id=i) for i, w in wanted.items()]
        stored = layout(stored_fields(self._version, file), fields)
        for have in stored:
            at = Stored(file.path, wanted[have.id].name, time_zone=self.time_zone)
            check_exact(have.type, wanted[have.id].type, at, orc=file.path.lower().endswith(".orc"))
        rows = file.meta.row_count
        return FilePart(
            file.path,
            file.size,
            rows,
            stored,
            tuple(constants.items()),
            file.deletions,
            verify_checksums=self.verify_checksums,
            orc_apart=self.orc_apart,
            time_zone=self.time_zone,
        )

    def plan(self, plan: ReadPlan, split_size: int) -> Iterator[Work]:
        """The work for all files of a plan, that of files which need others first; see `split`."""
        yield from self.plan_groups(plan.groups)
        yield from self.split(plan.as_they_are, split_size)

    def plan_groups(self, groups: Iterable[Sequence[DataFile]]) -> Iterator[Work]:
        """The work for files that make rows together, by what kind of table it is."""
        for group in groups:
            if self.schema.primary_keys:
                yield self.merge(group)
            else:
                yield from self.put_together(group)

    def merge(self, section: Sequence[DataFile]) -> Work:
        """The merge of files that hold rows of the same keys."""
        rule = newest_row(self.schema, tuple(section))
        needed = [*self.columns, *(Column(f.name, f, f) for f in (*rule.key, *rule.order))]
        # Within a bucket the lower level is the newer; files of level 0 stand in the order of their commits.
        parts = [self.part(f, needed) for f in sorted(section, key=lambda f: -f.meta.level)]
        return Work(
            tuple(replace(p, stored=(*p.stored, SEQUENCE_NUMBER, VALUE_KIND)) for p in parts), self.columns, rule
        )

    def put_together(self, group: Sequence[DataFile]) -> Iterator[Work]:
        """The work for files that hold parts of the same rows."""
        for files in row_files(group):
            rule = side_by_side(files, self.columns, self._version)
            rule = replace(rule, blobs=blob_columns(group, files[0], self.columns, self._version))
            shares = [[c for c, n in zip(self.columns, rule.sources, strict=True) if n == i] for i in range(len(files))]
            parts = (self.part(file, own) for file, own in zip(files, shares, strict=True))
            yield Work(tuple(replace(part, deletions=None) for part in parts), self.columns, rule)

    def split(self, files: Sequence[DataFile], size: int) -> Iterator[Work]:
        """The files in tasks of about `size` bytes; a bigger Parquet file is read by several."""
        parts = [part for file in files for part in _split(self.part(file), size)]
        held: list[FilePart] = []
        taken = 0
        for part in parts:
            weight = part.size // part.parts + OPENING
            if held and taken + weight > size + OPENING:
                yield Work(tuple(held), self.columns)
                held, taken = [], 0
            held.append(part)
            taken += weight
        if held:
            yield Work(tuple(held), self.columns)


def _split(part: FilePart, size: int) -> Iterator[FilePart]:
    count = part_count(part.path, part.size, size)
    for number in range(count):
        yield replace(part, part=number, parts=count)
