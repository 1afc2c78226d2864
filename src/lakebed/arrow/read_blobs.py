"""Read values from blob files by where they lie, for rows whose other columns lie in data files beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from lakebed.arrow.blob_file import PLACEHOLDER, BlobPlace, Placeholder, blob_places, index_size, payload_at
from lakebed.arrow.blob_values import Decode, value_decoder
from lakebed.diagnostics import reason_of
from lakebed.errors import CorruptMetadataError
from lakebed.store.base import Store

#: Enough for the index of most files in one read.
_FIRST_READ = 64 * 1024
#: How many rows and about how many bytes of contents a batch holds; a row that is larger stands alone.
_ROWS, _BYTES = 1 << 16, 16 << 20


@dataclass(frozen=True, slots=True)
class BlobFile:
    """A blob file beside some rows: `first` is the place among these of the file's first row, which may be negative."""

    path: str
    size: int
    rows: int
    first: int


@dataclass(frozen=True, slots=True)
class BlobColumn:
    """A column of blobs by its place among the columns, and the files that hold its values, the newest first."""

    place: int
    files: tuple[BlobFile, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where the value of one row lies."""

    path: str
    place: BlobPlace


_Found = _Entry | Placeholder | None


def read_places(store: Store, path: str, size: int) -> Sequence[BlobPlace | Placeholder | None]:
    """Where the values of a blob file lie, row by row. Raises CorruptMetadataError for a damaged index."""
    try:
        tail = store.read_range(path, -_FIRST_READ, _FIRST_READ)
        length = index_size(tail)
        if length > size:
            raise ValueError("the index is cut")
        if length > len(tail):
            tail = store.read_range(path, -length, length)
        return blob_places(tail[-length:], size)
    except ValueError as e:
        raise CorruptMetadataError.of("LB5561", f"data file {path} is damaged: {e}", path=path) from e


def with_blobs(
    store: Store, rows: pa.Table, columns: Sequence[BlobColumn], kept: Sequence[int]
) -> Iterator[pa.RecordBatch]:
    """Those rows whose places are `kept`, with the values of the columns of blobs; what no blob file says stays.

    Of contents no more than a batch is in memory. Raises CorruptMetadataError for damage.
    """
    found = [_newest(store, column, rows.num_rows) for column in columns]
    decoders = [value_decoder(rows.schema.field(column.place).type) for column in columns]
    for places in _batched(found, kept):
        batch = rows.take(pa.array(places, pa.int64()))
        for column, entries, decode in zip(columns, found, decoders, strict=True):
            field = batch.schema.field(column.place)
            values = _values(store, [entries[at] for at in places], decode, batch.column(column.place))
            batch = batch.set_column(column.place, field, pa.array(values, field.type))
        yield from batch.combine_chunks().to_batches()


def _newest(store: Store, column: BlobColumn, rows: int) -> list[_Found]:
    """Where each row's value lies: in the newest file that has no placeholder for it."""
    found: list[_Found] = [PLACEHOLDER] * rows
    for file in column.files:
        places = read_places(store, file.path, file.size)
        if len(places) != file.rows:
            raise CorruptMetadataError.of(
                "LB5560",
                f"data file {file.path} holds {len(places)} rows where {file.rows} are promised",
                path=file.path,
            )
        for at, place in enumerate(places, file.first):
            if 0 <= at < rows and found[at] is PLACEHOLDER:
                found[at] = _Entry(file.path, place) if isinstance(place, BlobPlace) else place
    return found


def _batched(found: Sequence[Sequence[_Found]], kept: Sequence[int]) -> Iterator[list[int]]:
    batch: list[int] = []
    size = 0
    for at in kept:
        own = sum(e.place.length for entries in found if isinstance(e := entries[at], _Entry))
        if batch and (len(batch) == _ROWS or size + own > _BYTES):
            yield batch
            batch, size = [], 0
        batch.append(at)
        size += own
    if batch:
        yield batch


def _values(store: Store, entries: Sequence[_Found], decode: Decode, otherwise: pa.ChunkedArray) -> list[Any]:
    """The values of rows; `otherwise` are those that count where there is a placeholder."""
    values: list[Any] = []
    for run in _runs(entries):
        if isinstance(run[0], _Entry):
            values += _read_run(store, [e for e in run if isinstance(e, _Entry)], decode)
        else:
            start = len(values)
            values += (otherwise[start + i].as_py() if e is PLACEHOLDER else None for i, e in enumerate(run))
    return values


def _runs(entries: Sequence[_Found]) -> Iterator[list[_Found]]:
    """Entries that follow one another in a file, which are read at once, and rows without any."""
    run: list[_Found] = []
    for entry in entries:
        if run and not _goes_on(run[-1], entry):
            yield run
            run = []
        run.append(entry)
    if run:
        yield run


def _goes_on(before: _Found, entry: _Found) -> bool:
    if isinstance(before, _Entry) and isinstance(entry, _Entry):
        return before.path == entry.path and before.place.entry[1] == entry.place.entry[0]
    return not isinstance(before, _Entry) and not isinstance(entry, _Entry)


def _read_run(store: Store, entries: Sequence[_Entry], decode: Decode) -> Iterator[Any]:
    path, start, end = entries[0].path, entries[0].place.entry[0], entries[-1].place.entry[1]
    data = store.read_range(path, start, end - start)
    try:
        if len(data) != end - start:
            raise ValueError("the file ends before a value")
        yield from (decode(payload_at(data, BlobPlace(e.place.offset - start, e.place.length))) for e in entries)
    except ValueError as e:
        raise CorruptMetadataError.of("LB5561", f"data file {path} cannot be decoded: {reason_of(e)}", path=path) from e
