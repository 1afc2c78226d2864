"""Join columns of the same rows from several data files and blob files (data evolution), in Arrow.

What `spark.row_tracking` does by a shuffle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.file_part import Column, FilePart, batch_schema, rows_of
from lakebed.arrow.read_blobs import BlobColumn, BlobFile, with_blobs
from lakebed.errors import CorruptMetadataError, LakebedError, UnsupportedError
from lakebed.format.blob_columns import holds_blobs
from lakebed.format.deletion_vectors import DeletionVector, read_positions
from lakebed.format.live_files import DataFile
from lakebed.format.row_ranges import Versions, column_sequence, first_row_id, is_blob_file, stored_fields
from lakebed.store.base import Store

#: How many bytes of files a task puts together at most: all of their rows are in memory at once.
_MOST = 1 << 30


@dataclass(frozen=True, slots=True)
class SideBySide:
    """For each column the number of the file that has it; `deletions` of any file delete the whole row.

    `blobs` are the columns whose values are in blob files.
    """

    sources: tuple[int, ...]
    deletions: tuple[DeletionVector, ...]
    blobs: tuple[BlobColumn, ...] = ()


def row_files(group: Sequence[DataFile]) -> list[tuple[DataFile, ...]]:
    """The data files of a group of a `RangePlan`, those together that hold parts of the same rows.

    Raises UnsupportedError (LB5605) where rows have values in blob files alone, or such a file deletes rows.
    """
    ranges: dict[tuple[int, int], list[DataFile]] = {}
    for file in group:
        if not is_blob_file(file):
            ranges.setdefault((first_row_id(file), file.meta.row_count), []).append(file)
    blobs = [file for file in group if is_blob_file(file)]
    if not ranges or any(f.deletions for f in blobs):
        raise _refused(group, "hold blobs of rows without other columns, or of rows that blob files delete")
    if sum(file.size for files in ranges.values() for file in files) > _MOST:
        raise _refused(group, "hold parts of the same rows, and are too big for one task")
    return [tuple(files) for files in ranges.values()]


def side_by_side(files: Sequence[DataFile], columns: Sequence[Column], version: Versions) -> SideBySide:
    """Which of the files, all of which hold the same rows, has each column: the newest one that holds it at all."""
    held = [{f.id: f.name for f in stored_fields(version, file)} for file in files]

    def source(column: Column) -> int:
        own = -1 if column.field is None else column.field.id
        ages = [(column_sequence(files[i], names[own]), -i) for i, names in enumerate(held) if own in names]
        return -max(ages)[1] if ages else 0

    return SideBySide(tuple(map(source, columns)), tuple(f.deletions for f in files if f.deletions is not None))


def blob_columns(
    group: Sequence[DataFile], file: DataFile, columns: Sequence[Column], version: Versions
) -> tuple[BlobColumn, ...]:
    """The columns of which blob files of a group, the newest first in it, hold values for the rows of a data file."""
    start, rows = first_row_id(file), file.meta.row_count
    found = []
    for place, column in enumerate(columns):
        if column.field is None or not holds_blobs(column.field.type):
            continue
        own = [
            BlobFile(f.path, f.size, f.meta.row_count, first_row_id(f) - start)
            for f in group
            if is_blob_file(f) and any(stored.id == column.field.id for stored in stored_fields(version, f))
        ]
        beside = tuple(f for f in own if f.first < rows and f.first + f.rows > 0)
        if beside:
            found.append(BlobColumn(place, beside))
    return tuple(found)


def put_together(
    store: Store, parts: Sequence[FilePart], columns: Sequence[Column], rule: SideBySide
) -> Iterator[pa.RecordBatch]:
    """The rows of files that hold parts of them."""
    arrays: dict[int, pa.ChunkedArray] = {}
    for number, part in enumerate(parts):
        places = [i for i, source in enumerate(rule.sources) if source == number]
        if not places:
            continue
        own = tuple(columns[i] for i in places)
        table = pa.Table.from_batches(rows_of(store, part, own), schema=batch_schema(own))
        if table.num_rows != parts[0].rows:
            raise CorruptMetadataError.of(
                "LB5560",
                f"data file {part.path} holds {table.num_rows} rows where {parts[0].rows} are promised",
                path=part.path,
            )
        arrays.update(zip(places, table.columns, strict=True))
    made = pa.Table.from_arrays([arrays[i] for i in range(len(columns))], schema=batch_schema(columns))
    deleted = [place for positions in read_positions(store, rule.deletions) for place in positions]
    if rule.blobs:
        kept = sorted(set(range(made.num_rows)).difference(deleted)) if deleted else range(made.num_rows)
        yield from with_blobs(store, made, rule.blobs, kept)
        return
    if deleted:
        places_of_rows = pa.array(range(made.num_rows), pa.int64())
        made = made.filter(pc.invert(pc.is_in(places_of_rows, pa.array(deleted, pa.int64()))))
    yield from made.combine_chunks().to_batches(1 << 16)


def _refused(group: Sequence[DataFile], message: str) -> LakebedError:
    return UnsupportedError.of(
        "LB5605",
        f"data file {group[0].path} and {len(group) - 1} more {message}: they are not put together in Arrow",
        path=group[0].path,
        remedy="read with --engine spark, which puts them together",
        python_remedy="use lake.read(...), which puts them together in Spark",
    )
