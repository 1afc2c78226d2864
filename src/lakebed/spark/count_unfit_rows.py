"""Count the rows that break a rule for stored values by Spark: workers look at Arrow batches, counts come back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.arrow.unfit_rows import Finder
from lakebed.convert.arrow_rows import row_type
from lakebed.evolve.value_rules import Among, Matching, Unique, ValueRule
from lakebed.format.table_branch import TableBranch
from lakebed.physical.paimon_types import DataField
from lakebed.read.plan_read import PlannedRead
from lakebed.read.request import ReadRequest
from lakebed.read.unfit_values import MOST_VALUES, Tally
from lakebed.spark.read import Executor, like, rows_of_plan
from lakebed.spark.spark_errors import file_failures, known_failures
from lakebed.spark.sql_names import quote_name
from lakebed.spark.worker_python import check_workers

_FOUND = "unfit bigint, shown array<string>"
_FOUND_TYPES = pa.schema([("unfit", pa.int64()), ("shown", pa.list_(pa.string()))])


@known_failures()
def tally_in_spark(
    spark: SparkSession,
    table: TableBranch,
    planned: PlannedRead,
    fields: Sequence[DataField],
    rule: ValueRule,
    request: ReadRequest,
) -> Tally:
    """As `lakebed.arrow.check_rows.tally_rows`, of any table that Spark reads; files are not told apart.

    Raises UntoldError as that does, but for patterns of top-level columns and for many values.
    """
    rows = _rows(spark, table, planned, request).select(*(F.col(quote_name(f.name)) for f in fields))
    tally = Tally()
    if isinstance(rule.test, Unique):
        tally.add(None, _repeated(rows, fields, key=rule.test.key), [])
        return tally
    if isinstance(rule.test, Matching) and len(rule.path) == 1:
        value = F.col(quote_name(fields[0].name))
        rows = rows.select(F.when(~value.rlike(rf"^(?:{rule.test.pattern})\z"), value))
        rule = replace(rule, test=Among(()))
    finder = Finder(rule, fields[0].type, request.time_zone)
    # What is not told is said here, and not by a worker.
    finder.find(pa.nulls(0, row_type(fields[0].type)))
    check_workers(spark)
    found = rows.mapInArrow(_Search(finder), _FOUND)
    with file_failures():
        one = found.agg(F.sum("unfit"), F.slice(F.flatten(F.collect_list("shown")), 1, MOST_VALUES)).first()
    assert one is not None
    tally.add(None, one[0] or 0, one[1] or [])
    return tally


def _rows(spark: SparkSession, table: TableBranch, planned: PlannedRead, request: ReadRequest) -> DataFrame:
    """The rows of the planned files, as columns of the main branch."""
    executor, main = Executor.of(spark, table, request, None), planned.main.state.schema
    frames = [
        like(rows_of_plan(executor.reader(one.state), one.plan, one.state.schema), one.state.schema, main)
        for one in planned.states
    ]
    return reduce(DataFrame.union, frames)


class _Search:
    """What a worker does: for its batches the rows that break the rule, and values of them."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        unfit, values = 0, dict[str, None]()
        for batch in batches:
            number, shown = self._finder.find(batch.column(0).cast(row_type(self._finder.column)))
            unfit += number
            values.update(dict.fromkeys(shown))
        yield pa.RecordBatch.from_pylist([{"unfit": unfit, "shown": list(values)[:MOST_VALUES]}], _FOUND_TYPES)


def _repeated(rows: DataFrame, fields: Sequence[DataField], *, key: bool) -> int:
    """How many rows have what others have, too; in a key also those that lack a value."""
    lacks: Column = reduce(or_, (F.col(quote_name(f.name)).isNull() for f in fields))
    counted = rows.groupBy(*(quote_name(f.name) for f in fields)).count()
    repeated = F.when(lacks, F.col("count") if key else F.lit(0)).when(F.col("count") > 1, F.col("count"))
    with file_failures():
        found = counted.agg(F.sum(repeated)).first()
    return 0 if found is None else found[0] or 0
