"""Check the rows of a source and write the good ones as data files, which nothing refers to yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import uuid4

from pyspark.sql import Column, Observation, SparkSession
from pyspark.sql import functions as F

from lakebed.arrow.line_numbers import LineLookup
from lakebed.catalog.names import TableName
from lakebed.catalog.node import siblings
from lakebed.catalog.options import IGNORE_DELETE, MERGE_ENGINE, ROWKIND_FIELD
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import IngestError, SourceMismatchError
from lakebed.evolve.former_names import FormerNames
from lakebed.format.manifest import ManifestEntry
from lakebed.format.merge_engine import MergeEngine, ignores_deletes, merge_engine
from lakebed.format.new_files import UNAWARE
from lakebed.format.row_kinds import INSERTS, KINDS
from lakebed.format.snapshot_change import Scope
from lakebed.format.table_branch import TableBranch
from lakebed.format.table_storage import TableStorage
from lakebed.ingest.bad_rows_error import BAD_ROW_FAILS, bad_rows_error, cut_rows_error, rows_of
from lakebed.ingest.checked_rows import NOT_DECLARED, PreparedRows, prepare
from lakebed.ingest.columns.column_names import Names, UnknownColumns, missing_column, none_known, unknown_column
from lakebed.ingest.columns.expected_text import expected_text
from lakebed.ingest.columns.values import Rules
from lakebed.ingest.ingest_context import IngestContext
from lakebed.ingest.nulled_values import summed
from lakebed.ingest.numbering import NumberedRows
from lakebed.ingest.plain_frame import in_doubt, known_bad, plain_frame
from lakebed.ingest.repeated_values import ROW, check_unique, unique_columns
from lakebed.ingest.row_kind_column import arrival, kind_of_operation, kind_of_text, with_kind_column
from lakebed.ingest.run_commit import CountedRows, GoodRows, NumberedCommit
from lakebed.ingest.run_history import RunCounts
from lakebed.ingest.sources.json_values import Shape, read_shape, shape_of_all, unknown_keys
from lakebed.ingest.sources.source_files import SourceFile
from lakebed.ingest.sources.source_parts import SourcePart
from lakebed.ingest.sources.source_schema import SourceSchema
from lakebed.ingest.system_columns import OPERATION, SystemRow
from lakebed.read.request import ReadRequest
from lakebed.spark.read import read_table
from lakebed.spark.row_order import RowOrder
from lakebed.spark.rows_aside import RowsAside
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.sql_names import quote_name
from lakebed.spark.table_writer import TableWriter, WriteTarget
from lakebed.write.plan_write import plan_write
from lakebed.write.sort_order import sort_order

#: From how many bytes of files on workers look for plain rows: below, one job is quicker than two.
PLAIN_FROM = 1 << 20

#: How many rows in doubt are few, and of how many all shapes are looked at.
_FEW_ROWS, _FEW_SHAPES = 1_000_000, 10_000

COUNTS_DIFFER = "LB6119"
NOT_TAKEN_AWAY = "LB6141"
#: What is observed of no rows.
_NO_ROWS: Mapping[str, Any] = {"rows": 0, "bad": 0, "fatal": 0, "cut": 0, "shape": None}


@dataclass(frozen=True, slots=True)
class CheckedWrite:
    """What one write of checked rows is about.

    `files` are those of the source, none for a DataFrame. `columns` are those of the source that count, None for all,
    `declared` their types there. `former` finds the names that columns bore before, `system` fills the system columns.
    `row_kinds` is a column of the source, not of the table, that says what each row does to its key. `replaces` says
    which rows of the table go; see `TableWriter`. `order_by` names the columns by which rows are sorted.
    `on_bad_rows` is what becomes of a bad row where the schema says nothing; None where no value may become NULL.
    `lines` gives what finds the lines of bad rows.
    """

    context: IngestContext
    session: Callable[[], SparkSession]
    name: TableName
    storage: TableStorage
    schema: TableSchema
    rules: Rules
    files: tuple[SourceFile, ...] = ()
    system: SystemRow | None = None
    unknown: UnknownColumns = UnknownColumns.FAIL
    columns: frozenset[str] | None = None
    declared: SourceSchema = NOT_DECLARED
    former: Callable[[], FormerNames] = dict
    row_kinds: str | None = None
    replaces: Callable[[Sequence[ManifestEntry]], Scope] | None = None
    order_by: tuple[str, ...] = ()
    on_bad_rows: str | None = None
    lines: Callable[[], LineLookup | None] = lambda: None
    attempt: str = field(default_factory=lambda: uuid4().hex)

    @property
    def kind_column(self) -> str | None:
        """The column that says what a row does to its key, one of the source's or one of the table's."""
        return self.row_kinds or (self.schema.options.get(ROWKIND_FIELD) if self.schema.primary_keys else None)

    @property
    def checked(self) -> TableSchema:
        """What rows are checked against: the columns of the table and, after them, that of the row kinds."""
        return with_kind_column(self.schema, self.row_kinds)

    @property
    def spark(self) -> SparkSession:
        """The session that reads, checks and writes."""
        return self.session()

    def prepare(self, parts: Sequence[SourcePart]) -> PreparedRows:
        """The rows of the parts, checked when they are read. Raises what `prepare` raises."""
        check_unique(self.schema, None if self.system is None else self.system.offset)
        with spark_errors():
            rows = prepare(
                self.spark,
                parts,
                self.checked,
                self.rules,
                unknown=self.unknown,
                system=self.system,
                declared=self.declared,
                former=self.former,
                kinds=self.kind_column,
            )
        rows = replace(rows, lines=self.lines)
        rows = rows if self.on_bad_rows is None else rows.by_actions(self.on_bad_rows)
        return rows.with_unique(unique_columns(self.schema))

    @property
    def reads_once(self) -> bool:
        """Whether each row is read once: rows that are numbered, and a sample of those that are sorted, are not."""
        return (self.system is None or self.system.offset is None) and not self.order_by

    def good_rows(self) -> GoodRows | NumberedCommit:
        """Where good rows go."""
        column = None if self.system is None else self.system.offset
        good = self._rows_of_table(column)
        if self.system is None or column is None:
            good.writer.aside = RowsAside(self.storage.store, self.storage.path)
            return good
        fields = self.schema.fields
        aside = RowsAside(self.storage.store, self.storage.path)
        place = self.schema.field_names.index(column)
        rows = NumberedRows(self.spark, aside, fields, place, [f.path for f in self.files], good.writer.new_task)
        names = self.schema.field_names
        operation = self.system.roles.get(OPERATION)
        return NumberedCommit(
            good, rows, None if operation is None else names.index(operation), partial(self._largest, column)
        )

    def _rows_of_table(self, offset: str | None) -> GoodRows:
        """How rows are written; by their numbers in the column `offset`, where there is one, they are in order."""
        writer = self.writer(self.storage, self.schema)
        writer.replaces = self.replaces
        if not writer.target.plan.is_keyed:
            return GoodRows(writer, order=self.sorted_by)
        row = F.col(ROW) if unique_columns(self.schema) else F.monotonically_increasing_id()
        in_order = arrival([f.path for f in self.files], row) if offset is None else (self._value(offset),)
        return GoodRows(writer, self._row_kind(), in_order)

    @property
    def sorted_by(self) -> RowOrder:
        """The columns by which rows are sorted. Raises what `sort_order` raises."""
        return RowOrder.of(sort_order(self.schema, self.order_by))

    def writer(self, storage: TableStorage, schema: TableSchema) -> TableWriter:
        """A writer of rows under a schema."""
        context = self.context
        target = WriteTarget(storage, plan_write(schema), context.warehouse, context.storage_options, context.clock)
        return TableWriter(self.session, target, self.attempt)

    def _row_kind(self) -> Column | None:
        """What a row does to its key, where the rows say it."""
        if self.kind_column is not None:
            return kind_of_text(self._value(self.kind_column))
        operation = None if self.system is None else self.system.roles.get(OPERATION)
        return None if operation is None else kind_of_operation(self._value(operation))

    def _value(self, name: str) -> Column:
        return F.col(f"v{self.checked.field_names.index(name)}")

    def _largest(self, column: str) -> int | None:
        """The largest offset of all rows of the table."""
        context = self.context
        request = ReadRequest(schema="latest", time_zone=context.time_zone, verify_checksums=context.verify_checksums)
        frame = read_table(self.spark, TableBranch(context.tables, self.name, self.storage.branch), request)
        found = frame.agg(F.max(quote_name(column)).cast("decimal(20,0)")).collect()[0][0]
        return None if found is None else int(found)

    def write(
        self, rows: PreparedRows, good: GoodRows | NumberedCommit | CountedRows
    ) -> tuple[PreparedRows, RunCounts]:
        """Write the good rows and count all. The rows that are given back know their bad ones where `good` kept them.

        Raises `IngestError` for what makes the source unfit as a whole.
        """
        kind = self._row_kind() if self.schema.primary_keys else None
        plain, known, of_plain, nullable = 0, 0, frozenset[str](), rows.nullable
        with spark_errors():
            if (
                isinstance(good, GoodRows)
                and good.takes_plain_rows
                and self._takes_plain_rows
                and (frame := plain_frame(rows, self._places)) is not None
            ):
                left = good.write_plain(frame.frame, frame.rows)
                plain, known, doubt = good.rows, left.bad_rows, left.rows - left.bad_rows
                of_plain = frozenset(f.name for i, f in enumerate(self.schema.fields) if f"v{i}" in left.columns)
                aside, found = left.read(self.spark, frame.kept), _NO_ROWS
                told, rows = known_bad(rows, aside), in_doubt(rows, aside)
                if doubt:
                    few, few_shapes = doubt <= _FEW_ROWS, doubt <= _FEW_SHAPES
                    rows, found = self._write_checked(rows, good, kind, few=few, few_shapes=few_shapes)
                rows = rows.with_known(told, others=bool(doubt))
            else:
                few = not self.is_large
                rows, found = self._write_checked(rows, good, kind, few=few, few_shapes=few)
        bad = found["bad"] or 0
        by_kind = {KINDS[0]: plain + found["rows"] - bad} if kind is None else {k: found[k] for k in KINDS}
        by_kind = {k: number for k, number in by_kind.items() if number}
        counts = RunCounts(plain + found["rows"] - bad, known + bad, rows.ignored, by_kind)
        counts = replace(counts, nulled=summed(one for column in nullable for one in column.counted(found)))
        if found["cut"]:
            raise cut_rows_error(rows.shown(), found["cut"])
        if rows.has_shape:
            counts = replace(counts, ignored=self._check_keys(read_shape(found["shape"]), rows, of_plain))
        if found["fatal"]:
            message = f"{self.name}: {found['fatal']} bad rows of the kind that ends the run (onBadRow: fail)"
            raise bad_rows_error(rows.shown(), BAD_ROW_FAILS, message)
        self._refuse_deletes(counts)
        if not self.schema.primary_keys:
            # Of rows with one key only the last one may be written.
            compare_counts("good", counts.good, good.rows)
        return rows, counts

    def _write_checked(
        self,
        rows: PreparedRows,
        good: GoodRows | NumberedCommit | CountedRows,
        kind: Column | None,
        *,
        few: bool,
        few_shapes: bool,
    ) -> tuple[PreparedRows, Mapping[str, Any]]:
        """Write the good ones of rows that Spark checks, of `few` or of many; and what it has observed of all.

        With `few_shapes` the keys of JSON are told by all its shapes.
        """
        seen = Observation()
        metrics = [F.count(F.lit(1)).alias("rows")]
        metrics += [F.sum(F.col(flag).cast("long")).alias(flag) for flag in ("bad", "fatal", "cut")]
        if kind is not None:
            metrics += [F.count_if(~F.col("bad") & (kind == i)).alias(k) for i, k in enumerate(KINDS)]
        metrics += [metric for column in rows.nullable for metric in column.metrics]
        if rows.has_shape:
            metrics.append(shape_of_all(F.col("shape"), few=few_shapes).alias("shape"))
        if good.aside is None:
            checked = rows.all()
            good.write(checked.observe(seen, *metrics).where(~F.col("bad")))
        else:
            every, aside = rows.with_bad(few=few), good.aside
            checked = every.frame
            good.write(checked.observe(seen, *metrics))
            rows = replace(rows, known_bad=lambda: every.bad(aside.read(self.spark, every.schema)))
        found = seen.get if good.is_observed else {}
        if "rows" not in found:
            # A plan that adapts itself forgets what it observed where no good row is left to be shuffled; over
            # Spark Connect 4.0 wherever rows are shuffled.
            found = checked.agg(*metrics).collect()[0].asDict()
        return rows, found

    @property
    def _takes_plain_rows(self) -> bool:
        """Whether rows may be written as workers read them: nothing but their partition says where they go."""
        plan = plan_write(self.schema)
        anywhere = not plan.is_keyed and plan.buckets == UNAWARE and self.row_kinds is None
        return anywhere and bool(self.files) and self.is_large and self.reads_once

    @property
    def is_large(self) -> bool:
        """Whether the source has many rows; a DataFrame, whose rows nobody knows, may have many."""
        return not self.files or sum(file.size for file in self.files) >= PLAIN_FROM

    @property
    def _places(self) -> tuple[int, ...]:
        """The places of the columns by which rows are brought together."""
        return tuple(map(self.schema.field_names.index, self.schema.partition_keys))

    def _refuse_deletes(self, counts: RunCounts) -> None:
        """Raise `IngestError` (LB6141) for rows that would take away keys of a table which keeps all of them."""
        deletes = sum(rows for kind, rows in counts.by_kind.items() if KINDS.index(kind) not in INSERTS)
        if deletes and merge_engine(self.schema) is MergeEngine.FIRST_ROW and not ignores_deletes(self.schema.options):
            raise IngestError.of(
                NOT_TAKEN_AWAY,
                f"{self.name}: {rows_of(deletes, counts.good)} of the kinds -U and -D, and first rows stay",
                path=MERGE_ENGINE,
                found=str(deletes),
                remedy=f"leave these rows out, or set the option {IGNORE_DELETE}, by which they are passed over",
            )

    def _check_keys(self, shape: Shape, rows: PreparedRows, of_plain: frozenset[str]) -> tuple[str, ...]:
        """Columns of JSON lines are known only after they have been read: the same rules as for other sources.

        `of_plain` are the keys of rows besides those of the shape. Returns the columns of the source that are left out.
        """
        if not shape.keys:
            return rows.ignored
        shape = Shape(keys={**dict.fromkeys(sorted(of_plain), Shape()), **shape.keys})
        declared = self.checked.logical.fields
        problems: list[Diagnostic] = []
        filled = (*rows.folders, *(() if self.system is None else self.system.roles.values()))
        if self.system is not None:
            problems += self.system.taken(list(self._counted(shape).keys))
        for node in siblings(self.checked.fields, declared):
            if not node.nullable and node.path[0] not in (*shape.keys, *filled):
                names = Names(list(shape.keys), self.checked.field_names)
                problems.append(missing_column(node.path, expected_text(node.meant, node.extra), names))
        unknown, left_out = self.unknown_columns(shape)
        problems += unknown
        if problems:
            raise SourceMismatchError(*problems)
        return tuple(dict.fromkeys((*rows.ignored, *left_out)))

    def unknown_columns(self, shape: Shape) -> tuple[tuple[Diagnostic, ...], tuple[str, ...]]:
        """What is wrong with keys of JSON, at every level, that are not declared, and those that are left out; nothing
        where rows with such keys are bad.
        """
        if self.unknown is UnknownColumns.QUARANTINE:
            return (), ()
        counted, declared = self._counted(shape), self.checked.logical.fields
        ignore = self.unknown is UnknownColumns.IGNORE
        problems: list[Diagnostic] = []
        ignored: list[str] = []
        for key in unknown_keys(counted, tuple((f.name, f.type) for f in declared)):
            former = self.former().get(key.path, ())
            told = tuple(unknown_column(key.text, key.path[-1], Names(key.beside, key.declared), former, ignore=ignore))
            problems += told
            ignored += () if told else (key.text,)
        if ignore and counted.keys:
            problems += none_known(list(counted.keys), self.checked.field_names)
        return tuple(problems), tuple(ignored)

    def _counted(self, shape: Shape) -> Shape:
        """Less the keys that the declared source leaves out."""
        if self.columns is None:
            return shape
        return Shape(keys={name: inner for name, inner in shape.keys.items() if name in self.columns})


def compare_counts(kind: str, counted: int, written: int) -> None:
    """Raise `IngestError` (LB6119) where other rows were written than counted."""
    if counted != written:
        raise IngestError.of(
            COUNTS_DIFFER,
            f"{counted} {kind} rows were counted, {written} were written: the source gives other rows each time",
            expected=str(counted),
            found=str(written),
            remedy="ingest a source that stays as it is, for example a file",
        )
