"""Scan files of a source in Spark's workers: lines of text, and rows of Parquet that no table wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakebed.arrow.convert_arrays import INT96_END
from lakebed.arrow.file_part import FilePart, open_ranges, row_groups
from lakebed.arrow.scan_files import Piece
from lakebed.arrow.text_lines import LinePiece, LineRules, line_batches
from lakebed.errors import UnsupportedError
from lakebed.store.base import Store

#: How the store of a path or URL is opened, and its root there.
OpenStore: TypeAlias = Callable[[str], tuple[Store, str]]
Scanner: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

#: Beside the columns of files: the URL of the file, quoted as Spark does, and a place in it. A line has that of the
#: piece of the file that it was read in, in bytes, a row of Parquet its number.
URL, PLACE = "_LAKEBED_SOURCE", "_LAKEBED_PLACE"
BESIDE = pa.schema([(URL, pa.string()), (PLACE, pa.int64())])
_BATCH = 1 << 16


def line_scanner(open_store: OpenStore, rules: LineRules) -> Scanner:
    """From batches of `LinePiece` to the lines of the files, as the bytes `line`, with what is `BESIDE` them."""
    schema = pa.schema([("line", pa.binary()), *BESIDE])

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for piece in (LinePiece(**row) for batch in batches for row in batch.to_pylist()):
            store, root = open_store(piece.path)
            for lines in line_batches(store, root, piece, rules):
                arrays = [pa.array(lines, pa.binary()), *_beside(piece.path, [piece.start] * len(lines))]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return read


def parquet_scanner(open_store: OpenStore, wanted: pa.Schema, *, verify_checksums: bool) -> Scanner:
    """From batches of `pieces` to rows of Parquet files, as columns of `wanted`, with what is `BESIDE` them."""
    schema = pa.schema([*wanted, *BESIDE])

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for piece in (Piece(**row) for batch in batches for row in batch.to_pylist()):
            store, root = open_store(piece.path)
            part = FilePart(
                piece.path, piece.size, 0, (), part=piece.part, parts=piece.parts, verify_checksums=verify_checksums
            )
            for start, arrays in parquet_rows(store, root, part, wanted):
                places = range(start, start + len(arrays[0]))
                yield pa.RecordBatch.from_arrays([*arrays, *_beside(piece.path, places)], schema=schema)

    return read


def _beside(path: str, places: Sequence[int]) -> tuple[pa.Array, pa.Array]:
    url = path if "://" in path else f"file://{Path(path).absolute()}"
    urls = pa.repeat(pa.scalar(quote(url, safe="/:")), len(places))
    return urls, pa.array(places, pa.int64())


def parquet_rows(store: Store, root: str, part: FilePart, schema: pa.Schema) -> Iterator[tuple[int, list[pa.Array]]]:
    """The columns of a part of the file at `root`, with the place of their first row in it, some rows at a time.

    They are those of `schema`, by their places; times, durations and moments come as the numbers that are stored where
    it has integers. Raises UnsupportedError (LB5604) for a moment of INT96 that may be another one.
    """
    with open_ranges(store, root, part.size) as source:
        file = pq.ParquetFile(
            source,
            pre_buffer=True,
            page_checksum_verification=part.verify_checksums,
            coerce_int96_timestamp_unit="us",
        )
        groups, start = row_groups(file.metadata, part)
        for batch in file.iter_batches(_BATCH, row_groups=groups) if groups else ():
            for index, name in _int96(file.metadata):
                _check_moments(batch.column(index), part.path, name)
            yield start, [_as(array, field.type) for array, field in zip(batch.columns, schema, strict=True)]
            start += batch.num_rows


def _as(array: pa.Array, type_: pa.DataType) -> pa.Array:
    return array.dictionary_decode().cast(type_) if isinstance(array, pa.DictionaryArray) else array.cast(type_)


def _int96(metadata: pq.FileMetaData) -> list[tuple[int, str]]:
    """The places and names of columns of INT96; a file that has them within others is not read here."""
    leaves = [metadata.schema.column(i) for i in range(metadata.num_columns)]
    names = metadata.schema.to_arrow_schema().names
    return [(names.index(c.path), c.path) for c in leaves if c.physical_type == "INT96"]


def _check_moments(array: pa.Array, path: str, name: str) -> None:
    if (pc.max(array.cast(pa.int64())).as_py() or 0) >= INT96_END:
        raise UnsupportedError.of(
            "LB5604",
            f"file {path}: column {name}: an INT96 timestamp from the year 2262 on can mean one before 1970, too",
            path=path,
            remedy="start Spark with a connector for the storage: Spark's own reader reads it",
        )
