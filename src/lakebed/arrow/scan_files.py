"""Scan data files in Spark's workers, through the store of their table, for a Spark that cannot open them itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from lakebed.arrow.convert_arrays import Stored, check_exact
from lakebed.arrow.decode_files import ORDINAL, POSITION
from lakebed.arrow.file_part import OPENING, Column, FilePart, batch_schema, part_count, placed_rows
from lakebed.physical.paimon_types import DataField
from lakebed.store.base import Store

#: A task reads about so many bytes; opening a file counts as some of them.
_TASK_BYTES = 128 << 20


class Piece(NamedTuple):
    """What is read of a file at a time, and the ordinal that its rows carry."""

    path: str
    size: int
    part: int
    parts: int
    ordinal: int


def pieces(files: Iterable[tuple[str, int, int]]) -> tuple[pa.Table, int]:
    """A row for each piece of the files, given by path, size and ordinal, and how many tasks are to read them.

    A big Parquet file is read in several pieces, others as they are.
    """
    found: list[Piece] = []
    weight = 0
    for path, size, ordinal in files:
        count = part_count(path, size, _TASK_BYTES)
        found += (Piece(path, size, number, count, ordinal) for number in range(count))
        weight += size + count * OPENING
    columns = zip(*found, strict=True)
    types = (pa.string(), pa.int64(), pa.int32(), pa.int32(), pa.int32())
    arrays = [pa.array(values, type_) for values, type_ in zip(columns, types, strict=True)]
    return pa.table(arrays, names=Piece._fields), min(-(-weight // _TASK_BYTES), len(found))


def scanner(
    store: Store, fields: Sequence[DataField], *, verify_checksums: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """From batches of `pieces` to rows of the files' columns `fields`, followed by the ordinal and the row's place.

    Raises UnsupportedError for what would come out otherwise than by Spark's own readers, CorruptMetadataError for
    damage.
    """
    columns = tuple(Column(f.name, f, f) for f in fields)
    added = [pa.field(ORDINAL, pa.int32()), pa.field(POSITION, pa.int64())]
    schema = pa.schema([*batch_schema(columns), *added])
    whole = FilePart("", 0, 0, tuple(fields), verify_checksums=verify_checksums)

    def scan(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for piece in (Piece(**row) for row in batch.to_pylist()):
                part = replace(whole, path=piece.path, size=piece.size, part=piece.part, parts=piece.parts)
                for start, rows in placed_rows(store, part, columns):
                    ordinals = pa.repeat(pa.scalar(piece.ordinal, pa.int32()), rows.num_rows)
                    places = pa.array(range(start, start + rows.num_rows), pa.int64())
                    yield pa.RecordBatch.from_arrays([*rows.columns, ordinals, places], schema=schema)

    return scan


def refuse_inexact(path: str, fields: Iterable[DataField]) -> None:
    """Raise UnsupportedError (LB5604) for columns of a file that only Spark's own readers read as they are."""
    for field in fields:
        at = Stored(path, field.name)
        check_exact(field.type, field.type, at, orc=path.lower().endswith(".orc"))
