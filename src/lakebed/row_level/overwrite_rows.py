"""Write rows of a source in the place of others: of partitions, of all, or of those of a filter.

With a filter the rows go as a delete takes them, and come as a write brings them, in one snapshot. Every row that comes
has to be one that the filter is true for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from hashlib import sha256
from typing import Any

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import IngestError, UnsupportedError, UsageError
from lakebed.format.refuse_unsupported import refuse_unwritable
from lakebed.format.row_kinds import KINDS
from lakebed.format.table_storage import TableStorage
from lakebed.ingest.arguments import OverwriteKeywords
from lakebed.ingest.bad_rows_error import BadRowsError, rows_of
from lakebed.ingest.checked_write import CheckedWrite
from lakebed.ingest.ingest import replace_with_files
from lakebed.ingest.mask_personal_data import mask_text, personal_columns
from lakebed.ingest.run_commit import GoodRows
from lakebed.ingest.sources.open_source import open_frame
from lakebed.ingest.sources.source_files import check_unchanged
from lakebed.ingest.sources.source_parts import SourcePart
from lakebed.ingest.write_frame import AtomicWrite, checked_frame, overwrite_with, refuse_bad_rows
from lakebed.model import canonical_json
from lakebed.row_level.delete_rows import RowsThatGo, find_rows, kept_rows
from lakebed.row_level.new_values import is_older, older_rows
from lakebed.row_level.row_level_commit import RowChanges, RowCounts, check_where, done_before, run_operation
from lakebed.row_level.row_target import RowTarget, Start
from lakebed.spark.row_merge.merge_sections import same_key
from lakebed.spark.spark_errors import known_failures, spark_errors
from lakebed.spark.table_writer import TableWriter
from lakebed.spark.write_rows import RowsToWrite
from lakebed.write.partition_specs import NamedPartition
from lakebed.write.sort_order import sort_columns
from lakebed.write.write_result import BAD_ARGUMENT, WriteResult, WriteRun

NOT_MATCHING = "LB6570"
NUMBERED = "LB6571"

_ROW, _KIND, _ARRIVAL, _FITS = "_LAKEBED_ROW", "_LAKEBED_KIND", "_LAKEBED_ARRIVAL", "_LAKEBED_FITS"
#: How much of a row an error shows.
_SHOWN = 300


@known_failures(IngestError)
def overwrite(
    target: RowTarget,
    frame: DataFrame,
    run: WriteRun,
    *,
    partitions: NamedPartition | Iterable[NamedPartition] | None = None,
    whole: bool = False,
    where: str | None = None,
    order_by: str | Sequence[str] | None = None,
) -> WriteResult:
    """Put the rows of a DataFrame in the place of others; see `lakebed.Table.overwrite`."""
    return _write(target, run, partitions, where, whole=whole).make_of(frame, order_by=order_by)


def overwrite_from(target: RowTarget, source: Any, asked: OverwriteKeywords) -> WriteResult:
    """Put the rows of files in the place of others; see `lakebed.Table.overwrite_from`."""
    run = WriteRun.of(asked.get("run_id"), asked.get("commit_user"), asked.get("properties"))
    write = _write(target, run, asked.get("partitions"), asked.get("where"), whole=asked.get("whole", False))
    return replace_with_files(target.context, target.session, target.table, write, source, asked)


def _write(
    target: RowTarget,
    run: WriteRun,
    partitions: NamedPartition | Iterable[NamedPartition] | None,
    where: str | None,
    *,
    whole: bool,
) -> AtomicWrite | OverwriteWhere:
    asked = {"partitions are named": partitions is not None, "a filter is given": where is not None}
    said = [text for text, is_said in {**asked, "the whole table is meant": whole}.items() if is_said]
    if len(said) > 1:
        raise UsageError.of(BAD_ARGUMENT, f"{', and '.join(said)}", remedy="say one of these")
    if where is None:
        return overwrite_with(target.context, target.table, run, partitions=partitions, whole=whole)
    return OverwriteWhere.of(target, check_where(where, "an overwrite"), run)


@dataclass(frozen=True, slots=True)
class OverwriteWhere:
    """An overwrite of the rows that a filter is true for. `schema` is the table's newest as it begins."""

    target: RowTarget
    where: str
    run: WriteRun
    schema: TableSchema

    @classmethod
    def of(cls, target: RowTarget, where: str, run: WriteRun) -> OverwriteWhere:
        """An overwrite that begins now. Raises `UnsupportedError` for a table that cannot be written."""
        schema = target.storage.schemas.load_latest_schema()
        refuse_unwritable(schema)
        return cls(target, where, run, schema)

    @property
    def storage(self) -> TableStorage:
        """The branch that is written."""
        return self.target.storage

    def done(self) -> WriteResult | None:
        """The result of the same run where it was done before."""
        return done_before(self.target, _Overwrite(self.where), self.run)

    def make_of(self, frame: DataFrame, *, order_by: str | Sequence[str] | None = None) -> WriteResult:
        """Write the rows of a DataFrame, sorted by columns of the table."""
        target, names = self.target, sort_columns(self.schema, order_by)
        checked = checked_frame(target.context, target.table, self.storage, self.schema, frame)
        with open_frame(frame) as parts:
            return self.make(replace(checked, order_by=names), parts)

    def make(self, checked: CheckedWrite, parts: Sequence[SourcePart]) -> WriteResult:
        """Write rows. Raises `BadRowsError` where one of them is bad, or the filter is not true for it."""
        return run_operation(self.target, _Overwrite(self.where, checked, tuple(parts)), self.run)


@dataclass(frozen=True, slots=True)
class _Overwrite:
    """An overwrite of rows as a change of rows. Without `checked` nothing can be made of it."""

    where: str
    checked: CheckedWrite | None = None
    parts: tuple[SourcePart, ...] = ()

    name, word = "overwrite", "WRITE"

    @property
    def asked(self) -> str:
        """A filter may name a person."""
        return canonical_json(["overwrite", "where", sha256(self.where.encode()).hexdigest()])

    def make(self, start: Start, writer: TableWriter, *, dry_run: bool) -> RowChanges:
        """Find the rows that go, and write those that come."""
        assert self.checked is not None
        assert not dry_run
        label, checked = start.target.table.label, replace(self.checked, schema=start.schema)
        if checked.system is not None and checked.system.offset is not None:
            raise _numbered(label, checked.system.offset)
        rows, own = checked.prepare(self.parts), checked.good_rows()
        assert isinstance(own, GoodRows)
        gone = find_rows(start, self.where)
        writer.leaving = frozenset(f.path for f in gone.changes.files)
        good = _RowsInPlace(writer, own.kind, own.arrival, own.order, start=start, where=self.where, gone=gone)
        rows, counts = checked.write(rows, good)
        refuse_bad_rows(label, rows, counts)
        deleted = gone.changes.counts.deleted + good.check(counts.good)
        check_unchanged(checked.files, checked.context.sources)
        return replace(gone.changes, counts=RowCounts(deleted, inserted=counts.good), replaces=self.where)


def _numbered(label: str, column: str) -> UnsupportedError:
    return UnsupportedError.of(
        NUMBERED,
        f"rows of {label} are numbered by column {column!r}, and cannot take the place of those of a filter",
        path=column,
        remedy="overwrite partitions or the whole table, or delete the rows and ingest the others",
    )


@dataclass(slots=True)
class _RowsInPlace(GoodRows):
    """Good rows on their way to the table, together with what the rows that go leave to be written."""

    _: KW_ONLY
    start: Start
    where: str
    gone: RowsThatGo
    _coming: DataFrame | None = None
    _counted: list[tuple[DataFrame, Observation, Column]] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many of them were written, of a table without a primary key."""
        kept = () if self.start.has_vectors else self.gone.chosen
        return self.writer.rows - sum(self.start.live_rows(c.file) - c.rows for c in kept)

    @property
    def takes_plain_rows(self) -> bool:
        """Not here: each row is judged by the filter."""
        return False

    def write(self, values: DataFrame) -> None:
        """Write them, and rows of files that go, or those of the kind `-D`."""
        coming = self._coming = self._judged(values)
        if not self.start.plan.is_keyed:
            kept = kept_rows(self.start, self.gone.chosen)
            rows = self._counting(coming, ~F.col(_FITS)).select(*self._columns)
            self.writer.write(RowsToWrite(rows if kept is None else rows.union(kept), order=self.order))
            return
        places = [column.alias(f"{_ARRIVAL}{i}") for i, column in enumerate((F.lit(1), *self.arrival))]
        kind = F.lit(0).cast("tinyint") if self.kind is None else self.kind
        rows = self._counting(coming, ~F.col(_FITS)).select(*self._columns, kind.alias(_KIND), *places)
        if self.gone.rows is not None:
            # Before the others: of the rows of a key the last one counts.
            first = (F.lit(0), *(F.lit(None) for _ in self.arrival))
            deletes = self._counting(self.start.to_write(self.gone.rows), F.lit(True))
            rows = rows.union(deletes.select("*", F.lit(KINDS.index("-D")).cast("tinyint"), *first))
        arrival = tuple(F.col(f"{_ARRIVAL}{i}") for i in range(len(places)))
        self.writer.write(RowsToWrite(rows, F.col(_KIND), arrival))

    def check(self, count: int) -> int:
        """How many rows `-D` there were to be. Raises `BadRowsError` (LB6570) where the filter is not true for one of
        the `count` rows that come, `UsageError` (LB6551) where one is older than the row that goes.
        """
        with spark_errors():
            misfits, *deletes = map(self._found, self._counted)
        if misfits:
            raise self._misfits(misfits, count)
        if deletes and any(deletes):
            self._refuse_older()
        return sum(deletes)

    @property
    def _columns(self) -> list[str]:
        return [f"v{i}" for i in range(len(self.start.schema.fields))]

    def _judged(self, values: DataFrame) -> DataFrame:
        """The rows, and whether the filter is true for each."""
        named = (F.col(v).alias(name) for v, name in zip(self._columns, self.start.schema.field_names, strict=True))
        rows = values.select(F.struct("*").alias(_ROW), *named)
        return rows.select(f"{_ROW}.*", F.coalesce(F.expr(self.where), F.lit(False)).alias(_FITS))

    def _counting(self, rows: DataFrame, which: Column) -> DataFrame:
        """The rows, of which some are counted as they pass."""
        seen = Observation()
        self._counted.append((rows, seen, F.count_if(which).alias("rows")))
        return rows.observe(seen, self._counted[-1][-1])

    def _found(self, counted: tuple[DataFrame, Observation, Column]) -> int:
        rows, seen, count = counted
        found = dict(seen.get) if self.writer.is_observed else {}
        # Spark forgets what it observed where no row is left, and over some servers.
        number: int = found["rows"] if "rows" in found else rows.agg(count).collect()[0][0]
        return number

    def _misfits(self, misfits: int, count: int) -> BadRowsError:
        assert self._coming is not None
        named = zip(self._columns, self.start.schema.field_names, strict=True)
        shown = (F.col(v).try_cast("string").alias(name) for v, name in named)
        with spark_errors():
            rows = self._coming.where(~F.col(_FITS)).limit(1)
            text, personal = F.to_json(F.struct(*shown)), personal_columns([self.start.schema])
            text = mask_text(text, personal) if personal.personal else text
            (example,) = rows.select(F.left(text, F.lit(_SHOWN))).collect()[0]
        label, are = self.start.target.table.label, rows_of(misfits, count)
        return BadRowsError.of(
            NOT_MATCHING,
            f"{label}: {are} outside of the filter, and would take the place of none; nothing was written",
            expected=self.where,
            found=example,
            remedy="leave these rows out, or give a filter that is true for them too",
        )

    def _refuse_older(self) -> None:
        """Raise `UsageError` (LB6551) for a row that is older than the one with its key that goes."""
        start, merge, coming = self.start, self.start.plan.merge, self._coming
        if merge is None or not merge.order or coming is None or self.gone.rows is None:
            return
        number = {name: i for i, name in enumerate(start.schema.field_names)}
        wanted = sorted({number[name] for name in (*start.schema.primary_keys, *merge.order)})
        old = start.to_write(self.gone.rows).select(*(F.col(f"v{i}").alias(f"o{i}") for i in wanted))
        new = coming.select(*(F.col(f"v{i}").alias(f"n{i}") for i in wanted))
        keys = [number[k] for k in start.schema.primary_keys]
        same = same_key(start.schema, [(F.col(f"o{i}"), F.col(f"n{i}")) for i in keys])
        older = is_older(merge, {name: (f"n{number[name]}", f"o{number[name]}") for name in merge.order})
        with spark_errors():
            count = old.join(new, same).where(older).count()
        if count:
            raise older_rows(start, count)
