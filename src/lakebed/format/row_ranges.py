"""Plan reads with data evolution: tell what each file holds, and group files that hold parts of the same rows.

Each row of such a table has an id: that of its file's first row plus its place in the file. Files whose ranges of row
ids overlap hold parts of the same rows; of a column that several of them hold, the file with the highest sequence
number has the value. Values of blobs lie in files of their own, several of which may share a range.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from lakebed.catalog.option_values import is_set
from lakebed.catalog.options import DATA_EVOLUTION_ENABLED, ROW_TRACKING_ENABLED
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import CorruptMetadataError
from lakebed.format.blob_columns import in_blob_files
from lakebed.format.live_files import DataFile
from lakebed.format.merge_plan import overlapping
from lakebed.physical.paimon_types import DataField

#: How the names of blob files end, after a dot.
BLOB = "blob"
Range = tuple[int, int]
#: The schema version of an id.
Versions = Callable[[int], TableSchema]


@dataclass(frozen=True, slots=True)
class RangePlan:
    """`whole`: files that alone hold their rows. `groups`: files to be put together by row id.

    In a group data files come first, then blob files, and in both the newest first.
    """

    whole: tuple[DataFile, ...]
    groups: tuple[tuple[DataFile, ...], ...]


def has_data_evolution(schema: TableSchema) -> bool:
    """Whether files of the table may hold a part of the columns."""
    return is_set(schema.options, DATA_EVOLUTION_ENABLED)


def has_row_tracking(schema: TableSchema) -> bool:
    """Whether rows of the table have ids."""
    return not schema.primary_keys and (
        is_set(schema.options, ROW_TRACKING_ENABLED) or is_set(schema.options, DATA_EVOLUTION_ENABLED)
    )


def is_blob_file(file: DataFile) -> bool:
    """Whether a file holds the values of one column of blobs."""
    return is_blob_name(file.path)


def is_blob_name(name: str) -> bool:
    """Whether a file of this name, or path, holds the values of one column of blobs."""
    return name.lower().endswith(f".{BLOB}")


def plan_ranges(
    files: Iterable[DataFile], column_of: Callable[[DataFile], Hashable] = lambda file: file.meta.write_cols
) -> RangePlan:
    """Sort files into those that stand alone and those that share their rows with others of their bucket.

    `column_of` tells the columns of blob files apart; a name does so only as long as it does not change.

    Files without a first row id were written before rows had ids and stand alone. Raises CorruptMetadataError for
    files that share some rows and not others. Between equal sequence numbers the file that was committed first wins.
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
        for group in overlapping(bucket, _rows_of):
            if len(group) == 1:
                whole += group
            else:
                _check_ranges(group, column_of)
                groups.append(tuple(sorted(group, key=lambda f: (is_blob_file(f), -f.meta.max_sequence_number))))
    return RangePlan(tuple(whole), tuple(groups))


def _check_ranges(group: Sequence[DataFile], column_of: Callable[[DataFile], Hashable]) -> None:
    """Data files have equal ranges or ones that do not touch; each column of blobs covers the same rows as they do."""
    data = [f for f in group if not is_blob_file(f)]
    ranges = sorted({_range(f) for f in data})
    for (_, end), (start, _) in pairwise(ranges):
        if start < end:
            raise _misfit(data, "share some of their rows and not others")
    blobs: dict[Hashable, list[DataFile]] = {}
    for file in group:
        if is_blob_file(file):
            blobs.setdefault(column_of(file), []).append(file)
    wanted = row_ids(group)
    for files in blobs.values():
        if _merged(map(_range, files)) != wanted:
            raise _misfit([*data[:1], *files], "do not hold the same rows")


def row_ids(group: Sequence[DataFile]) -> list[Range]:
    """The ids of a group's rows, each once: ascending ranges, without their ends."""
    data = [f for f in group if not is_blob_file(f)]
    return _merged(map(_range, data or group))


def _range(file: DataFile) -> Range:
    start = first_row_id(file)
    return start, start + file.meta.row_count


def _rows_of(file: DataFile) -> Range:
    """The ids of the first and the last row."""
    start, end = _range(file)
    return start, end - 1


def _merged(ranges: Iterable[Range]) -> list[Range]:
    found: list[Range] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def _misfit(files: Sequence[DataFile], problem: str) -> CorruptMetadataError:
    said = ", ".join(f"{f.meta.file_name} (rows {_range(f)[0]} to {_range(f)[1] - 1})" for f in files[:5])
    return CorruptMetadataError.of("LB5560", f"files {problem}: {said}", path=files[0].path)


def column_sequence(file: DataFile, name: str) -> int:
    """The sequence number of a column's values: that of the file, unless its meta data say one for each column."""
    names, sequences = file.meta.write_cols, file.meta.write_cols_sequences
    if names is not None and sequences is not None and len(names) == len(sequences) and name in names:
        return sequences[names.index(name)]
    return file.meta.max_sequence_number


def first_row_id(file: DataFile) -> int:
    """The id of the file's first row. Raises CorruptMetadataError where it has none."""
    found = file.meta.first_row_id
    if found is None:
        raise CorruptMetadataError.of(
            "LB5015", f"data file {file.path} has no row ids", path=file.path, expected="_FIRST_ROW_ID"
        )
    return found


def stored_fields(version: Versions, file: DataFile) -> tuple[DataField, ...]:
    """The columns that a file holds: those of its schema version, or of them the ones that its meta data names.

    Where it names none, columns of blobs are among them, which the file need not hold (`doubtful_fields`).
    """
    fields = version(file.meta.schema_id).fields
    names = file.meta.write_cols
    return fields if names is None else tuple(f for f in fields if f.name in names)


def doubtful_fields(version: Versions, file: DataFile) -> frozenset[int]:
    """The ids of those of `stored_fields` that hold blobs and most likely lie in blob files instead."""
    if file.meta.write_cols is not None or is_blob_file(file):
        return frozenset()
    return in_blob_files(version(file.meta.schema_id))
