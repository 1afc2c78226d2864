"""Write the rows of a DataFrame into a table, checked against its schema, all or none of them.

Unlike an ingest such a write has no quarantine and remembers no files: a bad row fails it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Protocol
from uuid import uuid4

from pyspark.sql import DataFrame

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import IngestError, StoreError, UsageError, WriteError
from lakebed.evolve.former_names import former_names
from lakebed.format import binary_row
from lakebed.format.live_files import partition_types
from lakebed.format.manifest import ManifestEntry
from lakebed.format.partition import partition_text
from lakebed.format.refuse_unsupported import refuse_unwritable
from lakebed.format.row_kinds import KINDS
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import WHOLE_TABLE, Scope, SnapshotChange, matching_partitions, partitions_of
from lakebed.format.table_branch import TableBranch
from lakebed.format.table_storage import TableStorage
from lakebed.ingest.bad_rows_error import TOO_MANY_BAD, bad_rows_error, rows_of
from lakebed.ingest.checked_rows import PreparedRows
from lakebed.ingest.checked_write import CheckedWrite
from lakebed.ingest.columns.values import Rules, TextFormats
from lakebed.ingest.ingest_context import IngestContext
from lakebed.ingest.row_kind_column import check_row_kinds
from lakebed.ingest.run_commit import GoodRows, NumberedCommit
from lakebed.ingest.run_history import RunCounts
from lakebed.ingest.sources.open_source import check_frame, part_of
from lakebed.ingest.sources.source_files import check_unchanged, lineage_inputs
from lakebed.ingest.sources.source_parts import SourcePart
from lakebed.ingest.system_columns import system_row
from lakebed.model import canonical_json
from lakebed.spark.spark_errors import known_failures
from lakebed.write.commit_results import CommitResults
from lakebed.write.partition_specs import NamedPartition, Spec, partition_specs, specs_text
from lakebed.write.sort_order import sort_columns
from lakebed.write.write_lineage import tell_write
from lakebed.write.write_result import ASKED, WriteResult, WriteRun

APPEND, UPSERT, OVERWRITE = "append", "upsert", "overwrite"
NO_KEY = "LB6510"
OUTSIDE = "LB6511"
#: What snapshots say; it is the word of the table format.
_OPERATION = "WRITE"
#: The property of a snapshot that says how many rows of each kind came.
_BY_KIND = "lakebed.rows-by-kind"
#: How many partitions an error names.
_NAMED = 3


@known_failures(IngestError)
def append(
    context: IngestContext,
    table: TableBranch,
    frame: DataFrame,
    run: WriteRun,
    *,
    order_by: str | Sequence[str] | None = None,
) -> WriteResult:
    """Add rows; see `lakebed.Table.append`."""
    return AtomicWrite.of(context, table, APPEND, run).make_of(frame, order_by=order_by)


@known_failures(IngestError)
def upsert(
    context: IngestContext, table: TableBranch, frame: DataFrame, run: WriteRun, *, row_kinds: str | None = None
) -> WriteResult:
    """Put rows in the place of those with the same keys; see `lakebed.Table.upsert`."""
    write = AtomicWrite.of(context, table, UPSERT, run)
    if not write.schema.primary_keys:
        raise UsageError.of(
            NO_KEY,
            f"{table.label} has no primary key, so no row takes the place of another",
            path=table.label,
            remedy="append the rows, or merge them on a condition",
        )
    check_row_kinds(write.schema, row_kinds, is_merging=False)
    return write.make_of(frame, row_kinds)


def overwrite_with(
    context: IngestContext,
    table: TableBranch,
    run: WriteRun,
    *,
    partitions: NamedPartition | Iterable[NamedPartition] | None,
    whole: bool,
) -> AtomicWrite:
    """A write that replaces partitions, or all rows, of a table."""
    write = AtomicWrite.of(context, table, OVERWRITE, run)
    specs: tuple[Spec, ...] | None = None
    if whole or not write.schema.partition_keys:
        specs = ({},)
    if partitions is not None:
        specs = partition_specs(write.schema, partitions, time_zone=context.time_zone)
    return replace(write, replaced=Replaced(specs))


@dataclass(frozen=True, slots=True)
class Replaced:
    """The partitions whose rows go: those of `specs`, an empty one being all; None means those that get new rows."""

    specs: tuple[Spec, ...] | None

    @property
    def is_dynamic(self) -> bool:
        """Whether the new rows say it."""
        return self.specs is None

    def scope(self, schema: TableSchema, entries: Sequence[ManifestEntry]) -> Scope:
        """What goes. Raises `WriteError` (LB6511) for new rows that lie elsewhere, of which some would stay twice."""
        if self.specs is None:
            return partitions_of(schema, entries)
        if {} in self.specs:
            return WHOLE_TABLE
        scope, types = matching_partitions(schema, self.specs), partition_types(schema)
        codec = binary_row.codec(types)
        outside = [v for p in sorted({e.partition for e in entries}) if not scope.contains(v := codec.decode(p))]
        if outside:
            found = ", ".join(partition_text(schema.partition_keys, types, v, schema.options) for v in outside[:_NAMED])
            raise WriteError.of(
                OUTSIDE,
                f"rows lie in partitions that are not overwritten: {found}",
                found=found,
                remedy="name these partitions too, or leave the rows out",
            )
        return scope

    def asked(self) -> tuple[str, ...]:
        """What was named, for a run that is repeated."""
        return () if self.specs is None else specs_text(self.specs)


class ReplacingWrite(Protocol):
    """A write of all rows of a source in the place of others. `schema` is the table's as the write begins."""

    @property
    def schema(self) -> TableSchema:
        """What the rows are checked against."""
        ...

    @property
    def storage(self) -> TableStorage:
        """The branch that is written."""
        ...

    def done(self) -> WriteResult | None:
        """The result of the same run where it was done before."""
        ...

    def make(self, checked: CheckedWrite, parts: Sequence[SourcePart]) -> WriteResult:
        """Write rows. Raises `BadRowsError` where one of them is bad."""
        ...


@dataclass(frozen=True, slots=True)
class AtomicWrite:
    """One write of all rows of a source, or of none. `schema` is the table's newest as the write begins, `after` the
    snapshot that was the newest then, 0 where there was none.
    """

    context: IngestContext
    table: TableBranch
    operation: str
    run: WriteRun
    storage: TableStorage
    schema: TableSchema
    after: int
    replaced: Replaced | None = None
    attempt: str = field(default_factory=lambda: uuid4().hex)

    @classmethod
    def of(cls, context: IngestContext, table: TableBranch, operation: str, run: WriteRun) -> AtomicWrite:
        """A write that begins now. Raises `UnsupportedError` for a table that cannot be written."""
        schema = table.schemas.load_latest_schema()
        table.tables.refuse_foreign_rows(table.name)
        refuse_unwritable(schema)
        storage = context.storage(table.name, table.branch)
        latest = storage.snapshots.latest()
        return cls(context, table, operation, run, storage, schema, 0 if latest is None else latest.id)

    def done(self) -> WriteResult | None:
        """The result of the same run where it was done before."""
        if not self.run.once or not self.after:
            return None
        done = self.storage.snapshots.find_commit(self.run.commit_user, operation=_OPERATION)
        if done is None:
            return None
        return self._results.made(done, self._asked, self.attempt, _kinds(done))

    def make_of(
        self, frame: DataFrame, row_kinds: str | None = None, order_by: str | Sequence[str] | None = None
    ) -> WriteResult:
        """Write the rows of a DataFrame, sorted by columns of the table."""
        names = sort_columns(self.schema, order_by)
        done = self.done()
        if done is not None:
            return done
        checked = checked_frame(self.context, self.table, self.storage, self.schema, frame)
        return self.make(replace(checked, row_kinds=row_kinds, order_by=names), (part_of(frame),))

    def make(self, checked: CheckedWrite, parts: Sequence[SourcePart]) -> WriteResult:
        """Write rows. Raises `BadRowsError` where one of them is bad."""
        inputs = lineage_inputs(checked.files)
        return tell_write(self.table, self.operation, self.run, lambda: self._make(checked, parts), inputs)

    def _make(self, checked: CheckedWrite, parts: Sequence[SourcePart]) -> WriteResult:
        checked = replace(checked, replaces=self.replaces, attempt=self.attempt)
        rows = checked.prepare(parts)
        good = checked.good_rows()
        try:
            rows, counts = checked.write(rows, good)
            refuse_bad_rows(self.table.label, rows, counts)
            check_unchanged(checked.files, self.context.sources)
            return self.commit(good, counts.by_kind)
        finally:
            # What is left belongs to nobody; that it cannot be deleted is no reason to fail.
            with suppress(StoreError):
                good.clear()

    @property
    def replaces(self) -> Callable[[Sequence[ManifestEntry]], Scope] | None:
        """Which rows of the table go, from the entries of new files; see `TableWriter`."""
        return None if self.replaced is None else partial(self.replaced.scope, self.schema)

    @property
    def _removes_without_rows(self) -> bool:
        return self.run.once or (self.replaced is not None and not self.replaced.is_dynamic)

    def commit(self, good: GoodRows | NumberedCommit, by_kind: Mapping[str, int]) -> WriteResult:
        """Make rows visible that were written, so many of each kind; of none mostly nothing is committed."""
        if not any(by_kind.values()) and not self._removes_without_rows:
            return self._results.of((), self.schema.id, {})
        properties = {**self.run.properties, ASKED: self._asked, _BY_KIND: canonical_json(dict(by_kind))}
        change = SnapshotChange(commit_user=self.run.commit_user, properties=properties, operation=_OPERATION)
        snapshot = good.commit(change, lambda _: None, 0 if self.run.once else self.after)
        return self._results.made(snapshot, self._asked, self.attempt, by_kind)

    @property
    def _asked(self) -> str:
        return canonical_json([self.operation, *(() if self.replaced is None else self.replaced.asked())])

    @property
    def _results(self) -> CommitResults:
        return CommitResults(self.table, self.operation, self.run, self.context.time_zone)


def checked_frame(
    context: IngestContext, table: TableBranch, storage: TableStorage, schema: TableSchema, frame: DataFrame
) -> CheckedWrite:
    """How the rows of a DataFrame are checked. Raises what `check_frame` raises."""
    check_frame(frame)
    return CheckedWrite(
        context=context,
        session=lambda: frame.sparkSession,
        name=table.name,
        storage=storage,
        schema=schema,
        rules=Rules(context.time_zone, TextFormats()),
        system=system_row(schema, context.clock, context.time_zone, {}),
        former=cache(lambda: former_names(schema.fields, (v.fields for v in table.schemas.versions()))),
    )


def refuse_bad_rows(label: str, rows: PreparedRows, counts: RunCounts) -> None:
    """Raise `BadRowsError` (LB6120) where a row is bad."""
    if counts.bad:
        raise bad_rows_error(rows.shown(), TOO_MANY_BAD, f"{label}: {rows_of(counts.bad, counts.read)} bad")


def _kinds(snapshot: Snapshot) -> dict[str, int] | None:
    """What a snapshot says of the kinds of its rows; properties are anybody's to write."""
    try:
        said = json.loads((snapshot.properties or {}).get(_BY_KIND, ""))
        return {kind: int(said[kind]) for kind in KINDS if kind in said}
    except (ValueError, TypeError):
        return None
