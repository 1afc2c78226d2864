"""Read the rows of files that may break a rule for stored values, and count those that do, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from lakebed.arrow.plan_work import Work, WorkPlanner, columns_by_state, open_rows
from lakebed.arrow.unfit_rows import Finder, RepeatedRows
from lakebed.evolve.value_rules import Unique, ValueRule
from lakebed.format.live_files import DataFile
from lakebed.physical.paimon_types import DataField
from lakebed.read.plan_read import PlannedRead, PlannedState
from lakebed.read.request import ReadRequest
from lakebed.read.unfit_values import Tally
from lakebed.store.base import Store

#: About how many bytes of a file are fetched at a time.
_SPLIT_SIZE = 128 << 20


def tally_rows(
    store: Store, planned: PlannedRead, fields: Sequence[DataField], rule: ValueRule, request: ReadRequest
) -> Tally:
    """The rows of the planned files, of the top-level columns `fields`, that break a rule.

    Raises UntoldError for what Arrow does not tell, UnsupportedError for what would be read otherwise than by
    `lake.read`, CorruptMetadataError for damage.
    """
    tally = Tally()
    if isinstance(rule.test, Unique):
        repeated = RepeatedRows(rule, rule.test)
        for _, batch in _batches(store, planned, fields, request):
            repeated.add(batch)
        tally.add(None, *repeated.find())
        return tally
    finder = Finder(rule, fields[0].type, request.time_zone)
    for file, batch in _batches(store, planned, fields, request):
        tally.add(file, *finder.find(batch.column(0)))
    return tally


def _batches(
    store: Store, planned: PlannedRead, fields: Sequence[DataField], request: ReadRequest
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows, each batch with the name of its file, or of the first of those that are merged with each other."""
    for one, columns in columns_by_state(planned, fields):
        schema, load = one.state.schema, one.state.schemas.load_schema
        planner = WorkPlanner(
            schema, load, columns, request.verify_checksums, orc_apart=True, time_zone=request.time_zone
        )
        for files, work in _works(one, planner):
            for batch in open_rows(store, work):
                yield files[0].meta.file_name, batch


def _works(planned: PlannedState, planner: WorkPlanner) -> Iterator[tuple[Sequence[DataFile], Work]]:
    """The work for each file by itself, and for files whose rows are only told together."""
    for file in planned.plan.as_they_are:
        yield from (((file,), work) for work in planner.split((file,), _SPLIT_SIZE))
    for group in planned.plan.groups:
        yield from ((group, work) for work in planner.plan_groups([group]))
