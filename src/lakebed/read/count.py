"""Count the rows of a read from metadata, without opening data files.

A file's row count in the manifest is exact, and so is the number of rows that a deletion vector takes away. What is not
known are the rows of files that have to be merged, and which rows of a file fit where some may and some may not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lakebed.errors import NotCountableError
from lakebed.format.deletion_vectors import read_positions
from lakebed.format.live_files import DataFile
from lakebed.format.merge_plan import MergePlan
from lakebed.format.row_ranges import RangePlan, first_row_id, row_ids
from lakebed.format.table_branch import TableBranch
from lakebed.read.needed_files import EVERY_ROW, Plain, ReadPlan
from lakebed.read.plan_read import plan_read
from lakebed.read.request import ReadRequest
from lakebed.read.where_sql import unknown_names
from lakebed.store.base import Store


def rows_of_files(store: Store, files: Iterable[DataFile]) -> int:
    """The rows of files whose rows are the table's, less the deleted ones.

    Only vectors whose writers did not say how many rows they delete are read. Raises CorruptMetadataError for damage.
    """
    rows, untold = 0, []
    for file in files:
        rows += file.meta.row_count
        if file.deletions is None:
            continue
        if file.deletions.cardinality is None:
            untold.append(file.deletions)
        else:
            rows -= file.deletions.cardinality
    return rows - sum(map(len, read_positions(store, untold)))


def rows_of_group(store: Store, group: Sequence[DataFile]) -> int:
    """The rows of files that hold parts of the same rows, each counted once; see `lakebed.format.row_ranges`.

    A row that the vector of one of the files deletes is gone from all.
    """
    rows = sum(end - start for start, end in row_ids(group))
    marked = [(first_row_id(file), file.deletions) for file in group if file.deletions is not None]
    if len(marked) == 1 and (known := marked[0][1].cardinality) is not None:
        return rows - known
    positions = read_positions(store, [vector for _, vector in marked])
    return rows - len({start + at for (start, _), places in zip(marked, positions, strict=True) for at in places})


@dataclass(frozen=True, slots=True)
class KnownRows:
    """`rows` that metadata are certain of, and the plan of what has to be read to count the others."""

    rows: int
    rest: ReadPlan

    @property
    def exact(self) -> bool:
        """Whether nothing has to be read."""
        return not self.rest.files

    @property
    def obstacle(self) -> str:
        """What stands in the way of an exact number."""
        groups = sum(map(len, self.rest.groups))
        parts = []
        if self.rest.as_they_are:
            parts.append(f"of {_files(len(self.rest.as_they_are))} it is not known which rows match")
        if groups:
            doing = "merged" if isinstance(self.rest.parts, MergePlan) else "put together"
            parts.append(f"{_files(groups)} must be {doing}")
        return " and ".join(parts)


def known_rows(store: Store, plan: ReadPlan) -> KnownRows:
    """How many rows a plan gives, as far as that is certain without reading data files."""
    sure = [file for file in plan.as_they_are if file.path in plan.certain]
    unsure = tuple(file for file in plan.as_they_are if file.path not in plan.certain)
    rows = rows_of_files(store, sure)
    match plan.parts:
        case Plain():
            return KnownRows(rows, replace(plan, parts=Plain(unsure)))
        case MergePlan(sections=sections):
            return KnownRows(rows, replace(plan, parts=MergePlan(unsure, sections)))
        case RangePlan(groups=groups):
            if plan.predicate == EVERY_ROW:
                rows, groups = rows + sum(rows_of_group(store, group) for group in groups), ()
            return KnownRows(rows, replace(plan, parts=RangePlan(unsure, groups)))


def count_from_metadata(table: TableBranch, request: ReadRequest) -> int:
    """How many rows a read gives. Raises `NotCountableError` (LB5650) with what stands in the way."""
    planned = plan_read(table, request)
    known = [known_rows(table.store, one.plan) for one in planned.states]
    unknown = () if request.where is None else unknown_names(request.where, planned.main.state.schema)
    obstacles = [one.obstacle for one in known if not one.exact]
    obstacles += [f"{name} in the filter is no column" for name in unknown]
    if obstacles:
        raise NotCountableError.of(
            "LB5650",
            f"the rows of {table.label} cannot be counted from metadata: {' and '.join(obstacles)}",
            remedy="give a Spark session: lake.count(table, spark=spark)",
        )
    return sum(one.rows for one in known)


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"
