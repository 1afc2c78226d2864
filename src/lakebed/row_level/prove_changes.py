"""Check by statistics of files, or by reading, what planned changes ask of the stored rows.

Statistics come first: where they show that no row of a file breaks the rule of a change, the file is not opened. The
rows of the others are read as Arrow batches in this process, and by Spark where that does not do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lakebed.catalog import TableManager, TableName, TableSchema
from lakebed.errors import CastError, UnsupportedError
from lakebed.evolve.column_places import ColumnPlaces
from lakebed.evolve.evidence import Evidence, Outcome
from lakebed.evolve.value_rules import Unique, Untold, ValueRule, broken_words
from lakebed.format.table_branch import TableBranch
from lakebed.physical.paimon_types import DataField, type_line
from lakebed.read.count import known_rows
from lakebed.read.file_index.keys import keeps_values
from lakebed.read.plan_read import PlannedRead, PlannedState, find_state, plan_read
from lakebed.read.request import ReadRequest
from lakebed.read.table_state import TableState
from lakebed.read.unfit_values import Tally, UntoldError, doubt

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: So many files are named.
_MOST_FILES = 3


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of the tables of a warehouse: called, those of a branch of a table, as they are asked.

    `spark` is a session, or makes one.
    """

    tables: TableManager
    time_zone: str
    verify_checksums: bool
    spark: SparkSession | Callable[[], SparkSession] | None
    only_spark: bool

    def __call__(self, name: TableName, branch: str) -> RowProver:
        spark = self.spark
        session = None if spark is None else spark if callable(spark) else (lambda: spark)
        table = TableBranch(self.tables, name, branch)
        return RowProver(table, self.time_zone, self.verify_checksums, session, self.only_spark)


@dataclass(frozen=True, slots=True)
class RowProver:
    """Asks the rows of a table's branch, in their newest state.

    `spark` gives the session for what is not read without Spark, None where there is none; with `only_spark` all rows
    are read by it.
    """

    table: TableBranch
    time_zone: str
    verify_checksums: bool
    spark: Callable[[], SparkSession] | None = None
    only_spark: bool = False

    def __call__(self, base: TableSchema, rules: Sequence[ValueRule]) -> tuple[Evidence, ...]:
        """What the rows of the table, whose newest version is `base`, say of each rule.

        Raises CorruptMetadataError for damage, and what Spark raises for files that it cannot read.
        """
        request = ReadRequest(schema=base.id, time_zone=self.time_zone, verify_checksums=self.verify_checksums)
        try:
            state = find_state(self.table, request)
        except UnsupportedError as error:
            return tuple(_unknown(error.diagnostics[0].message, None) for _ in rules)
        return tuple(_Question(self, state, rule).answer() for rule in rules)


@dataclass(frozen=True)
class _Question:
    """What one rule asks of the rows of a state."""

    prover: RowProver
    state: TableState
    rule: ValueRule

    @property
    def _columns(self) -> tuple[str, ...]:
        """The top-level columns that have to be read."""
        return self.rule.test.columns if isinstance(self.rule.test, Unique) else self.rule.path[:1]

    @cached_property
    def _fields(self) -> tuple[DataField, ...]:
        found = {f.name: f for f in self.state.schema.fields}
        return tuple(found[name] for name in self._columns)

    @cached_property
    def _request(self) -> ReadRequest:
        return ReadRequest(
            schema=self.state.schema.id,
            columns=self._columns,
            time_zone=self.prover.time_zone,
            verify_checksums=self.prover.verify_checksums,
        )

    @cached_property
    def _rows(self) -> tuple[int | None, int]:
        """How many rows there are, None where that takes reading them, and in how many files they lie."""
        planned = plan_read(self.prover.table, self._request, state=self.state)
        known = [known_rows(self.prover.table.store, one.plan) for one in planned.states]
        files = sum(len(one.plan.files) for one in planned.states)
        return (sum(one.rows for one in known) if all(one.exact for one in known) else None), files

    def answer(self) -> Evidence:
        """What the rows say."""
        snapshot = None if self.state.snapshot is None else self.state.snapshot.id
        if isinstance(self.rule.test, Untold):
            return _unknown(self.rule.test.why, snapshot)
        if self._is_primary_key():
            return Evidence(Outcome.PROVEN, "it is the primary key, of which rows have each its own", snapshot)
        try:
            condition = doubt(self.rule, self.prover.time_zone)
            planned = plan_read(self.prover.table, self._request, condition, state=self.state)
            read = sum(len(one.plan.files) for one in planned.states)
            self._check_casts(planned.main)
            tally = self._tally(planned) if read else None
        except UntoldError as error:
            return _unknown(str(error), snapshot)
        except (UnsupportedError, CastError) as error:
            return _unknown(error.diagnostics[0].message, snapshot)
        if tally is None or not tally.unfit:
            return self._proven(read, snapshot)
        return self._refuted(tally, read, snapshot)

    def _is_primary_key(self) -> bool:
        test = self.rule.test
        return isinstance(test, Unique) and test.columns == self.state.schema.primary_keys

    def _check_casts(self, planned: PlannedState) -> None:
        """Raise UntoldError where values that are to be cast are cast already: from then on they are cast from what is
        stored.
        """
        if not self.rule.cast:
            return
        place = ColumnPlaces.of(self.state.schema.fields).places[self.rule.path]
        for number in sorted({file.meta.schema_id for file in planned.plan.files}):
            stored = ColumnPlaces.of(planned.state.schemas.load_schema(number).fields).types.get(place)
            if stored is not None and not keeps_values(stored, self.rule.stored):
                have, read = type_line(stored), type_line(self.rule.stored)
                raise UntoldError(f"files of version {number} hold {have} there, of which {read} may be another value")

    def _tally(self, planned: PlannedRead) -> Tally:
        """The rows of the planned files that break the rule, without Spark where that can tell."""
        spark = self.prover.spark
        if find_spec("pyarrow") is not None and not (self.prover.only_spark and spark is not None):
            from lakebed.arrow.check_rows import tally_rows

            try:
                return tally_rows(self.prover.table.store, planned, self._fields, self.rule, self._request)
            except (UntoldError, UnsupportedError):
                if spark is None:
                    raise
        if spark is None:
            raise UntoldError("rows are read with PyArrow (lakebed[arrow]) or Spark, and there is neither")
        from lakebed.spark.count_unfit_rows import tally_in_spark

        return tally_in_spark(spark(), self.prover.table, planned, self._fields, self.rule, self._request)

    def _proven(self, read: int, snapshot: int | None) -> Evidence:
        rows, files = self._rows
        if rows == 0:
            return Evidence(Outcome.PROVEN, "the table has no rows", snapshot, rows, 0, 0)
        of = "none of its rows" if rows is None else f"none of {rows:,} rows"
        by = f"{read:,} of {_files(files)} read" if read else f"by statistics of {_files(files)}"
        text = f"{of} {self._broken(1)} ({by}, snapshot {snapshot})"
        return Evidence(Outcome.PROVEN, text, snapshot, rows, 0, 0, read=read)

    def _refuted(self, tally: Tally, read: int, snapshot: int | None) -> Evidence:
        rows, _ = self._rows
        unfit = tally.unfit
        of = f"{unfit:,} {'row' if unfit == 1 else 'rows'}" if rows is None else f"{unfit:,} of {rows:,} rows"
        examples, values = tuple(tally.files[:_MOST_FILES]), tuple(tally.values)
        more = ", ..." if len(tally.files) > len(examples) else ""
        where = f", in {_files(len(tally.files))}: {', '.join(examples)}{more}" if examples else ""
        such = f", such as {', '.join(values)}" if values else ""
        text = f"{of} {self._broken(unfit)}{such}{where} (snapshot {snapshot})"
        files = len(tally.files) or None
        return Evidence(Outcome.REFUTED, text, snapshot, rows, unfit, files, examples, values, read)

    def _broken(self, number: int) -> str:
        return _broken(self.rule, number)


def _broken(rule: ValueRule, number: int) -> str:
    """What rows are that break a rule, with the verb."""
    words = broken_words(rule)
    if len(rule.path) > 1:
        return f"{'holds' if number == 1 else 'hold'} values that are {words}"
    return f"{'is' if number == 1 else 'are'} {words}"


def _unknown(why: str, snapshot: int | None) -> Evidence:
    return Evidence(Outcome.UNKNOWN, f"the rows were not asked: {why}", snapshot)


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"
