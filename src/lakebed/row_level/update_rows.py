"""Update the rows of a table that a filter is true for: they go, and come again with new values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from pyspark.sql import Column, DataFrame

from lakebed.errors import UsageError
from lakebed.model import canonical_json
from lakebed.row_level.chosen_rows import choose_rows, with_chosen
from lakebed.row_level.delete_rows import kept_rows, take_away
from lakebed.row_level.new_values import NOT_SET, changed_rows, check_set, refuse_updates, write_new_rows
from lakebed.row_level.row_expressions import check_values, read_expression, value_of
from lakebed.row_level.row_level_commit import RowChanges, RowCounts, check_where, run_operation
from lakebed.row_level.row_target import RowTarget, Start
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.table_writer import TableWriter
from lakebed.write.write_result import WriteResult, WriteRun


def update_rows(
    target: RowTarget, where: str | None, values: Mapping[str, str | Column], run: WriteRun, *, dry_run: bool = False
) -> WriteResult:
    """Update rows; see `lakebed.Table.update`."""
    operation = UpdateWhere(check_where(where, "an update"), expressions(values))
    return run_operation(target, operation, run, dry_run=dry_run)


def expressions(values: Mapping[str, str | Column]) -> dict[str, Column]:
    """New values as Spark's columns. Raises `UsageError` for Python values (LB6549) and what is no SQL (LB6555)."""
    if not isinstance(values, Mapping):
        raise UsageError.of(
            NOT_SET,
            f"new values are told by column: {values!r} is no mapping",
            expected='a mapping of expressions by column, such as {"state": "\'late\'"}',
            found=repr(values),
        )
    found = {}
    for name, value in values.items():
        if not isinstance(value, str | Column):
            raise UsageError.of(
                NOT_SET,
                f"the new value of column {name!r} is no expression: {value!r}",
                path=name,
                expected='Spark SQL, such as "\'late\'" or "amount + 1", or a Column',
                found=repr(value),
            )
        found[name] = read_expression(value, value_of(name))
    return found


@dataclass(frozen=True, slots=True)
class UpdateWhere:
    """An update of the rows that a filter is true for."""

    where: str
    values: Mapping[str, Column]

    name, word = "update", "UPDATE"

    @property
    def asked(self) -> str:
        """Values may name a person."""
        said = canonical_json([self.where, {name: str(value) for name, value in self.values.items()}])
        return canonical_json(["update", sha256(said.encode()).hexdigest()])

    def make(self, start: Start, writer: TableWriter, *, dry_run: bool) -> RowChanges:
        """Find the rows, and write them with their new values."""
        refuse_updates(start.plan, start.target.table.label)
        check_set(start.schema, tuple(self.values))
        check_values(start.no_rows, {value_of(name): value for name, value in self.values.items()})
        plan = start.needed(self.where)
        if not plan.files:
            return RowChanges()
        if start.plan.is_keyed:
            return self._of_keys(start, writer, start.merged(plan).where(self.where), dry_run=dry_run)
        chosen = choose_rows(start.placed(plan.files).where(self.where), plan.files)
        changes = replace(take_away(start, chosen), counts=RowCounts(updated=sum(c.rows for c in chosen)))
        if chosen and not dry_run:
            rows = with_chosen(start.placed(tuple(c.file for c in chosen)), chosen)
            write_new_rows(start, writer, [changed_rows(start, rows, self.values)], kept_rows(start, chosen))
        return changes

    def _of_keys(self, start: Start, writer: TableWriter, rows: DataFrame, *, dry_run: bool) -> RowChanges:
        if dry_run:
            with spark_errors():
                return RowChanges(counts=RowCounts(updated=rows.count()))
        if start.plan.has_changelog:
            with spark_errors():
                # What a row was and what it becomes are told of the same rows, whatever the filter says next.
                rows = rows.localCheckpoint()
        (count,) = write_new_rows(start, writer, [changed_rows(start, rows, self.values)])
        return RowChanges(counts=RowCounts(updated=count))
