"""Describe new data files as the entries that add them to a table, and give their rows ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from lakebed.catalog.table_schema import TableSchema
from lakebed.format import binary_row
from lakebed.format.index_manifest import IndexFile
from lakebed.format.live_files import partition_types
from lakebed.format.manifest import DataFileMeta, FileSource, Kind, ManifestEntry, SimpleStats
from lakebed.format.row_kinds import ROW_ID
from lakebed.format.row_ranges import is_blob_name

#: The number of buckets that entries of tables without buckets say.
UNAWARE = -1


@dataclass(frozen=True, slots=True)
class NewFiles:
    """Entries of files that were written: of data files, of changelog files beside them, and of hash indexes."""

    added: tuple[ManifestEntry, ...] = ()
    changelog: tuple[ManifestEntry, ...] = ()
    indexes: tuple[IndexFile, ...] = ()

    @property
    def entries(self) -> tuple[ManifestEntry, ...]:
        """Those of the files with rows."""
        return (*self.added, *self.changelog)


def rows_of_entries(entries: Iterable[ManifestEntry]) -> int:
    """How many rows files hold, each row once: several may have parts of its columns, and a blob file one of them."""
    files = [entry.file for entry in entries if not is_blob_name(entry.file.file_name)]
    ranges = {(f.first_row_id, f.row_count) for f in files if f.first_row_id is not None}
    return sum(rows for _, rows in ranges) + sum(f.row_count for f in files if f.first_row_id is None)


def new_append_file(
    schema: TableSchema,
    partition: tuple[Any, ...],
    *,
    file_name: str,
    size: int,
    rows: int,
    stats: SimpleStats,
    created: int,
) -> ManifestEntry:
    """The entry of a complete file that lies in its place, of a table without keys and buckets.

    `partition` holds internal values in the order of the partition keys, `size` exact bytes, `rows` physical rows,
    `stats` the statistics of all columns of the schema, under which the file was written. `created` is in milliseconds
    since 1970. Raises ValueError for a partition that the table cannot have.
    """
    file = DataFileMeta(
        file_name=file_name,
        file_size=size,
        row_count=rows,
        schema_id=schema.id,
        value_stats=stats,
        max_sequence_number=max(rows - 1, 0),
        creation_time=wall_clock(created),
        delete_row_count=0,
        file_source=int(FileSource.APPEND),
    )
    return ManifestEntry(int(Kind.ADD), binary_row.encode(partition_types(schema), partition), 0, UNAWARE, file)


def wall_clock(millis: int) -> int:
    """The local wall clock at an instant, in milliseconds as if it were UTC: what writers put down for new files."""
    offset = datetime.fromtimestamp(millis / 1000).astimezone().utcoffset()
    return millis + (int(offset.total_seconds()) * 1000 if offset else 0)


def assign_row_ids(
    entries: Sequence[ManifestEntry], *, snapshot_id: int, next_row_id: int
) -> tuple[tuple[ManifestEntry, ...], int]:
    """The entries with ids for their rows, and the id that is free after them.

    A new file takes as many ids as it has rows. Files of blobs belong to the rows of the file before them. What was
    compacted, and what has its ids already or brings them in a column, keeps them. The sequence numbers of rows that a
    commit adds are the number of its snapshot.
    """
    assigned: list[ManifestEntry] = []
    start = first = next_row_id
    blobs: dict[str, int] = {}
    for entry in entries:
        file = _numbered(entry.file, snapshot_id)
        if _takes_ids(file) and is_blob_name(file.file_name):
            column = (file.write_cols or ("",))[0]
            place = blobs.get(column, first)
            blobs[column] = place + file.row_count
            file = replace(file, first_row_id=place)
        elif _takes_ids(file):
            first, start = start, start + file.row_count
            blobs.clear()
            file = replace(file, first_row_id=first)
        assigned.append(replace(entry, file=file))
    return tuple(assigned), start


def _takes_ids(file: DataFileMeta) -> bool:
    is_new = file.file_source == FileSource.APPEND and file.first_row_id is None
    return is_new and ROW_ID.name not in (file.write_cols or ())


def _numbered(file: DataFileMeta, snapshot_id: int) -> DataFileMeta:
    if file.min_sequence_number == 0:
        return replace(file, min_sequence_number=snapshot_id, max_sequence_number=snapshot_id)
    return replace(file, max_sequence_number=snapshot_id) if file.max_sequence_number == 0 else file
