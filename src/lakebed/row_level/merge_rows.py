"""Merge a frame into a table: rows that match are updated or deleted, those that do not are inserted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, partial, reduce
from hashlib import sha256
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.scan_types import scan_type
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import SourceMismatchError, UnsupportedError, UsageError
from lakebed.format.live_files import DataFile
from lakebed.ingest.arguments import MergeKeywords
from lakebed.ingest.columns.column_names import MISSING
from lakebed.ingest.ingest import read_files
from lakebed.ingest.sources.open_source import check_frame
from lakebed.ingest.system_columns import system_roles
from lakebed.model import JsonValue, canonical_json
from lakebed.read.needed_files import ReadPlan
from lakebed.row_level.chosen_rows import ChosenRows, choose_rows
from lakebed.row_level.delete_rows import kept_rows, refuse_deletes, take_away
from lakebed.row_level.new_values import NewRows, changed_rows, check_set, own_columns, refuse_updates, write_new_rows
from lakebed.row_level.row_expressions import check_condition, check_values, read_expression, value_of
from lakebed.row_level.row_level_commit import RowChanges, RowCounts, run_operation
from lakebed.row_level.row_target import RowTarget, Start
from lakebed.row_level.source_values import ALIASES, SourceValues, equals_key, matchable, read_values, tied_columns
from lakebed.row_level.update_rows import expressions
from lakebed.spark.read import is_case_sensitive, session_condition
from lakebed.spark.row_merge.merge_sections import same_key
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.sql_names import quote_name
from lakebed.spark.table_writer import TableWriter
from lakebed.spark.understood import understood
from lakebed.write.write_result import WriteResult, WriteRun

NOT_CLEAR = "LB6552"
SEVERAL_SOURCES = "LB6553"
NOT_INSERTED = "LB6554"
KEY_TAKEN = "LB6559"

_ON = "`on`"
#: Of so many files on it is worth while to look at the source first.
_MANY = 2
#: What tells in a joined row which side it has, and which clause is meant.
_IN_TABLE, _IN_SOURCE, _CLAUSE = "_LAKEBED_IN_TABLE", "_LAKEBED_IN_SOURCE", "_LAKEBED_CLAUSE"


class When(Enum):
    """Which rows a clause is about."""

    MATCHED = "when matched"
    NOT_MATCHED = "when not matched"
    NOT_MATCHED_BY_SOURCE = "when not matched by source"


class Then(Enum):
    """What a clause does to them."""

    UPDATE = "update"
    DELETE = "delete"
    INSERT = "insert"


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """What is done to some rows: `values` None stands for all columns of the source, by their names."""

    when: When
    then: Then
    values: Mapping[str, Column] | None = None
    condition: str | Column | None = None

    @property
    def text(self) -> str:
        """The clause in words, of which two that do the same have the same."""
        values: JsonValue = None if self.values is None else {n: str(value) for n, value in self.values.items()}
        condition = None if self.condition is None else str(self.condition)
        return canonical_json([self.when.value, self.then.value, values, condition])

    @property
    def holds(self) -> Column:
        """Whether a joined row is one that the clause is about."""
        both = {When.MATCHED: (True, True), When.NOT_MATCHED: (False, True), When.NOT_MATCHED_BY_SOURCE: (True, False)}
        in_table, in_source = both[self.when]
        found = F.col(_IN_TABLE).isNotNull() if in_table else F.col(_IN_TABLE).isNull()
        found &= F.col(_IN_SOURCE).isNotNull() if in_source else F.col(_IN_SOURCE).isNull()
        return found if self.condition is None else found & self._condition(self.condition)

    def _condition(self, condition: str | Column) -> Column:
        return read_expression(condition, self._is_condition)

    @property
    def _is_condition(self) -> str:
        return f"the condition of {self.when.value!r}"

    def check(self, rows: DataFrame, values: Mapping[str, Column]) -> None:
        """Raise `UsageError` where Spark refuses the condition or the values over the columns of `rows`."""
        if self.condition is not None:
            check_condition(rows, self._condition(self.condition), self._is_condition)
        check_values(rows, {value_of(name): value for name, value in values.items()})


@dataclass(frozen=True, slots=True, eq=False)
class MergeBuilder:
    """A merge that is put together clause by clause, and then executed. Each method gives a builder with one more.

    Of the clauses that a row could be meant by, the first one whose condition is true counts. Conditions and values are
    Spark SQL, or Columns, in which `t` is the table and `s` the source.
    """

    target: RowTarget = field(repr=False)
    read_source: Callable[[], DataFrame] = field(repr=False)
    on: str | Column
    run: WriteRun
    dry_run: bool = False
    clauses: tuple[Clause, ...] = ()

    def when_matched_update(
        self, set: Mapping[str, str | Column] | None = None, *, condition: str | Column | None = None
    ) -> MergeBuilder:
        """Give rows that match a row of the source new values, by column.

        Without `set` they get all columns of the source by their names, but those of the table's primary key; columns
        that the source has not stay as they are.
        """
        return self._with(When.MATCHED, Then.UPDATE, set, condition)

    def when_matched_delete(self, *, condition: str | Column | None = None) -> MergeBuilder:
        """Delete rows that match a row of the source."""
        return self._with(When.MATCHED, Then.DELETE, None, condition)

    def when_not_matched_insert(
        self, values: Mapping[str, str | Column] | None = None, *, condition: str | Column | None = None
    ) -> MergeBuilder:
        """Insert rows of the source that match no row, with values by column; without `values` all of its columns.

        Columns that get no value have their default, or NULL.
        """
        return self._with(When.NOT_MATCHED, Then.INSERT, values, condition)

    def when_not_matched_by_source_update(
        self, set: Mapping[str, str | Column], *, condition: str | Column | None = None
    ) -> MergeBuilder:
        """Give rows that match no row of the source new values, by column."""
        return self._with(When.NOT_MATCHED_BY_SOURCE, Then.UPDATE, set, condition)

    def when_not_matched_by_source_delete(self, *, condition: str | Column | None = None) -> MergeBuilder:
        """Delete rows that match no row of the source."""
        return self._with(When.NOT_MATCHED_BY_SOURCE, Then.DELETE, None, condition)

    def _with(
        self, when: When, then: Then, values: Mapping[str, str | Column] | None, condition: str | Column | None
    ) -> MergeBuilder:
        last = next((c for c in reversed(self.clauses) if c.when is when), None)
        if last is not None and last.condition is None:
            raise UsageError.of(
                NOT_CLEAR,
                f"a clause `{when.value}` is never reached: the one before has no condition",
                remedy="give the one before a condition, or leave this one out",
            )
        clause = Clause(when, then, None if values is None else expressions(values), condition)
        return replace(self, clauses=(*self.clauses, clause))

    def execute(self) -> WriteResult:
        """Do it, as one snapshot; see `lakebed.Table.merge`."""
        if not self.clauses:
            raise UsageError.of(
                NOT_CLEAR, "the merge has no clause", remedy="say what is to be done: when_matched_update()"
            )
        operation = _Merge(self.read_source, self.on, self.clauses)
        return run_operation(self.target, operation, self.run, dry_run=self.dry_run)


def merge_frame(
    target: RowTarget, source: DataFrame, on: str | Column, run: WriteRun, *, dry_run: bool
) -> MergeBuilder:
    """A merge of the rows of a frame; see `lakebed.Table.merge`."""
    check_frame(source)
    return MergeBuilder(target, lambda: source, on, run, dry_run)


def merge_from(
    target: RowTarget, source: Any, on: str | Column, asked: MergeKeywords, *, dry_run: bool
) -> MergeBuilder:
    """A merge of the rows of files; see `lakebed.Table.merge_from`."""
    run = WriteRun.of(asked.get("run_id"), asked.get("commit_user"), asked.get("properties"))
    read = partial(read_files, target.context, target.session, target.table, source, asked)
    return MergeBuilder(target, read, on, run, dry_run)


@dataclass(frozen=True, eq=False)
class _Merge:
    """A merge as a change of rows."""

    read_source: Callable[[], DataFrame]
    on: str | Column
    clauses: tuple[Clause, ...]

    name, word = "merge", "MERGE"

    @cached_property
    def source(self) -> DataFrame:
        """The rows that are merged: a run that was done before does not look at them."""
        return self.read_source()

    @property
    def asked(self) -> str:
        """Conditions and values may name a person."""
        said = canonical_json([str(self.on), *(c.text for c in self.clauses)])
        return canonical_json(["merge", sha256(said.encode()).hexdigest()])

    def make(self, start: Start, writer: TableWriter, *, dry_run: bool) -> RowChanges:
        """Join, and write what comes of it."""
        self._check(start)
        source, plan = self._needed(start)
        rows = start.merged(plan) if start.plan.is_keyed else start.placed(plan.files)
        joined = self._acted(rows, source, start.schema)
        with spark_errors():
            # What is found and what is written are the same rows, or Spark fails: it computes none of them again.
            acted = joined.localCheckpoint()
        if start.plan.is_keyed:
            return self._by_key(start, writer, acted, dry_run=dry_run)
        chosen = self._chosen(start, acted, plan.files)
        if dry_run:
            return replace(take_away(start, chosen), counts=self._counted(acted))
        if not chosen and not self._inserts:
            return RowChanges()
        found = write_new_rows(start, writer, self._new(start, acted), kept_rows(start, chosen))
        counts = self._counts(found, sum(c.rows for c in chosen))
        return replace(take_away(start, chosen), counts=counts, reads_new_rows=self._inserts)

    # --- what a merge can do ------------------------------------------------------------------------------------------

    @property
    def _inserts(self) -> bool:
        return any(c.then is Then.INSERT for c in self.clauses)

    def _check(self, start: Start) -> None:
        """Raise an error for what the table does not take."""
        schema, label = start.schema, start.target.table.label
        refuse_updates(start.plan, label)
        if any(c.then is Then.DELETE for c in self.clauses):
            refuse_deletes(start.plan, label)
        if self._inserts and system_roles(schema.logical):
            raise UnsupportedError.of(
                NOT_INSERTED,
                f"a merge cannot insert rows into {label}, whose system columns are filled by an ingest",
                path=label,
                remedy="ingest these rows, and merge only what matches",
            )
        for clause in self.clauses:
            match clause.then:
                case Then.UPDATE:
                    check_set(schema, tuple(self._values(schema, clause)))
                case Then.INSERT:
                    _check_names(schema, tuple(self._values(schema, clause)), label)
                case Then.DELETE:
                    pass

    def _values(self, schema: TableSchema, clause: Clause) -> Mapping[str, Column]:
        if clause.values is not None:
            return clause.values
        keys = {*schema.primary_keys, *schema.partition_keys} if schema.primary_keys else set()
        left_out = keys if clause.then is Then.UPDATE else set()
        return {n: F.col(f"s.{quote_name(n)}") for n in self.source.columns if n not in left_out}

    # --- the rows -----------------------------------------------------------------------------------------------------

    def _needed(self, start: Start) -> tuple[DataFrame, ReadPlan]:
        """The source, and the files of the table that may hold a row that matters."""
        plan, about = start.needed(), {c.when for c in self.clauses}
        if len(plan.files) < _MANY or not isinstance(self.on, str) or When.NOT_MATCHED_BY_SOURCE in about:
            return self.source, plan
        # What Spark does not understand is told before a row is read.
        _ = self._acted(start.no_rows, self.source, start.schema)
        tied = tied_columns(self.source, self.on, start.schema, case_sensitive=is_case_sensitive(start.spark))
        source, values = self.source, tuple[SourceValues, ...]()
        if tied:
            with spark_errors():
                # The rows that are joined are those that were looked at, whatever the source says later.
                source = self.source.localCheckpoint()
            values = read_values(source, tied)
        own = session_condition(start.spark, self.on, alias=ALIASES[0])
        return source, start.narrowed(matchable(values, own))

    def _acted(self, rows: DataFrame, source: DataFrame, schema: TableSchema) -> DataFrame:
        """The joined rows that a clause is about, with its place among the clauses."""
        about = {c.when for c in self.clauses}
        how = {
            (True, True): "full_outer",
            (True, False): "right_outer",
            (False, True): "left_outer",
            (False, False): "inner",
        }[When.NOT_MATCHED in about, When.NOT_MATCHED_BY_SOURCE in about]
        table = rows.withColumn(_IN_TABLE, F.lit(True)).alias("t")
        source = source.withColumn(_IN_SOURCE, F.lit(True)).alias("s")
        with understood(_ON):
            joined = table.join(source, read_expression(self.on, _ON), how)
            _ = joined.schema
        # A side that is not there has no values, only NULLs.
        sides = {When.MATCHED: (), When.NOT_MATCHED: (source,), When.NOT_MATCHED_BY_SOURCE: (table,)}
        for one in self.clauses:
            for frame in (*sides[one.when], joined):
                one.check(frame, {} if one.then is Then.DELETE else self._values(schema, one))
        clause = F.lit(None).cast("int")
        for place, one in reversed(list(enumerate(self.clauses))):
            clause = F.when(one.holds, F.lit(place)).otherwise(clause)
        return joined.select("*", clause.alias(_CLAUSE)).where(F.col(_CLAUSE).isNotNull())

    def _of(self, acted: DataFrame, clause: Clause) -> DataFrame:
        return acted.where(F.col(_CLAUSE) == self.clauses.index(clause))

    def _chosen(self, start: Start, acted: DataFrame, files: tuple[DataFile, ...]) -> tuple[ChosenRows, ...]:
        """The rows of the table that go or change. Raises `UsageError` (LB6553) for one that several rows change."""
        chosen = choose_rows(acted.where(F.col(_IN_TABLE).isNotNull()), files) if files else ()
        several = sum(c.times - c.rows for c in chosen)
        if several:
            raise _several(start.target.table.label)
        return chosen

    @cached_property
    def _changing(self) -> tuple[Clause, ...]:
        """The clauses that give rows, in the order in which they are written."""
        return tuple(c for c in self.clauses if c.then is not Then.DELETE)

    def _new(self, start: Start, acted: DataFrame) -> list[NewRows]:
        new = []
        for clause in self._changing:
            values, rows = self._values(start.schema, clause), self._of(acted, clause)
            new.append(
                NewRows(rows, values) if clause.then is Then.INSERT else changed_rows(start, rows, values, of="t")
            )
        return new

    def _counts(self, found: Sequence[int], gone: int) -> RowCounts:
        """How many rows each clause was about; `gone` are all rows of the table that go or change."""
        by_clause = list(zip(self._changing, found, strict=True))
        updated = sum(n for clause, n in by_clause if clause.then is Then.UPDATE)
        return RowCounts(gone - updated, updated, sum(n for clause, n in by_clause if clause.then is Then.INSERT))

    def _counted(self, acted: DataFrame) -> RowCounts:
        with spark_errors():
            found: dict[int, int] = dict(acted.groupBy(_CLAUSE).count().collect())
        by_kind = {then: sum(found.get(i, 0) for i, c in enumerate(self.clauses) if c.then is then) for then in Then}
        return RowCounts(by_kind[Then.DELETE], by_kind[Then.UPDATE], by_kind[Then.INSERT])

    def _by_key(self, start: Start, writer: TableWriter, acted: DataFrame, *, dry_run: bool) -> RowChanges:
        counts = self._counted(acted)
        if counts.inserted:
            self._refuse_taken_keys(start, acted)
        if dry_run or counts == RowCounts():
            return RowChanges(counts=counts)
        deleted = [self._of(acted, c) for c in self.clauses if c.then is Then.DELETE]
        own = [column.alias(f"v{i}") for i, column in enumerate(own_columns(start.schema, of="t").values())]
        gone = reduce(DataFrame.union, (rows.select(*own) for rows in deleted)) if deleted else None
        write_new_rows(start, writer, self._new(start, acted), gone, "-D")
        if writer.rows != counts.deleted + counts.updated + counts.inserted:
            # Of the rows of one key in a write the last one is written.
            raise _several(start.target.table.label)
        return RowChanges(counts=counts)

    def _refuse_taken_keys(self, start: Start, acted: DataFrame) -> None:
        """Raise `UsageError` (LB6559) where a row that is inserted has the key of a row of the table."""
        keys = [f for f in start.schema.fields if f.name in start.schema.primary_keys]
        is_about_key, new = self._is_about_key(start), []
        for clause in self.clauses:
            values = self._values(start.schema, clause) if clause.then is Then.INSERT else {}
            if values.keys() >= {f.name for f in keys} and not (clause.values is None and is_about_key):
                columns = (values[f.name].try_cast(scan_type(f.type)).alias(str(f.id)) for f in keys)
                new.append(self._of(acted, clause).select(*columns))
        if not new:
            return
        pairs = {f.name: (F.col(f"t.{quote_name(f.name)}"), F.col(f"n.{f.id}")) for f in keys}
        same = same_key(start.schema, [pairs[name] for name in start.schema.primary_keys])
        with spark_errors():
            rows, added = start.merged(start.needed()).alias("t"), reduce(DataFrame.union, new).alias("n")
            taken = rows.join(added, same, "left_semi").limit(1).count()
        if taken:
            raise _taken(start.target.table.label, start.schema.primary_keys)

    def _is_about_key(self, start: Start) -> bool:
        """Whether `on` is seen to be the equality of the primary key, and no more."""
        sensitive = is_case_sensitive(start.spark)
        return isinstance(self.on, str) and equals_key(self.source, self.on, start.schema, case_sensitive=sensitive)


def _taken(label: str, keys: Sequence[str]) -> UsageError:
    same = " AND ".join(f"t.{key} = s.{key}" for key in keys)
    return UsageError.of(
        KEY_TAKEN,
        f"rows that match no row of {label} would be inserted under keys that it has, and take the place of those rows",
        path=label,
        remedy=f"let `on` be {same}, or leave these rows out by the condition of the insert",
    )


def _several(label: str) -> UsageError:
    return UsageError.of(
        SEVERAL_SOURCES,
        f"several rows of the source are about one row of {label}, and nothing says which one counts",
        path=label,
        remedy="let the source have one row for each, or add a condition that one of them fulfils",
    )


def _check_names(schema: TableSchema, names: Sequence[str], label: str) -> None:
    unknown = [name for name in names if schema.field(name) is None]
    if unknown:
        raise UsageError(
            *(
                Diagnostic(
                    NOT_INSERTED,
                    f"rows with a column {name!r} cannot be inserted: it is no column of {label}",
                    path=name,
                    suggestions=near_names(name, schema.field_names),
                    remedy="select the columns of the table, or say the values by column",
                )
                for name in unknown
            )
        )
    missing = [f for f in schema.fields if not f.type.nullable and f.default_value is None and f.name not in names]
    if missing:
        raise SourceMismatchError(
            *(
                Diagnostic(
                    MISSING,
                    f"rows without a value for {f.name!r} cannot be inserted: it is a required column of {label}",
                    path=f.name,
                    remedy="say its value in the clause that inserts, or, where that takes all columns of the source, "
                    "add it there; or declare the column as an Option",
                )
                for f in missing
            )
        )
