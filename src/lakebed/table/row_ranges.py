"""Files of a table with data evolution: the columns of one range of rows may lie in several files.

Each row of such a table has an id: that of its file's first row plus its place in the file. Files whose ranges of row
ids overlap hold parts of the same rows; of a column that several of them hold, the file with the highest sequence
number has the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import CorruptMetadataError
from lakebed.table.scan import DataFile

_ENABLED = "data-evolution.enabled"


@dataclass(frozen=True, slots=True)
class RangePlan:
    """`whole`: files that alone hold their rows. `groups`: files to be put together by row id, oldest first."""

    whole: tuple[DataFile, ...]
    groups: tuple[tuple[DataFile, ...], ...]


def has_data_evolution(schema: TableSchema) -> bool:
    """Whether files of the table may hold a part of the columns."""
    return schema.options.get(_ENABLED, "false").strip().lower() == "true"


def plan_ranges(files: Iterable[DataFile]) -> RangePlan:
    """Sort files into those that stand alone and those that share their rows with others of their bucket.

    Files without a first row id were written before rows had ids and stand alone.
    """
    whole: list[DataFile] = []
    buckets: dict[tuple[tuple[Any, ...], int], list[DataFile]] = {}
    for file in files:
        if file.meta.first_row_id is None:
            whole.append(file)
        else:
            buckets.setdefault((file.partition, file.bucket), []).append(file)
    groups = []
    for bucket in buckets.values():
        for group in _overlapping(bucket):
            if len(group) == 1:
                whole += group
            else:
                groups.append(tuple(sorted(group, key=lambda f: f.meta.max_sequence_number)))
    return RangePlan(tuple(whole), tuple(groups))


def _overlapping(files: Sequence[DataFile]) -> Iterator[list[DataFile]]:
    """Runs of files whose ranges of row ids overlap, directly or through others."""
    group: list[DataFile] = []
    end = 0
    for file in sorted(files, key=first_row_id):
        start = first_row_id(file)
        if group and start >= end:
            yield group
            group = []
        end = max(end, start + file.meta.row_count)
        group.append(file)
    yield group


def first_row_id(file: DataFile) -> int:
    """The id of the file's first row. Raises CorruptMetadataError where it has none."""
    found = file.meta.first_row_id
    if found is None:
        raise CorruptMetadataError(
            Diagnostic("LB5015", f"data file {file.path} has no row ids", path=file.path, expected="_FIRST_ROW_ID")
        )
    return found
