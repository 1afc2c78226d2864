"""Read one data file, or a part of it, as Arrow batches, applying its deletion vector.

A `FilePart` is planned where the metadata is read and travels to the worker that reads it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakebed.arrow.avro_file import avro_batches
from lakebed.arrow.blob_values import blob_batches
from lakebed.arrow.convert_arrays import Stored, convert, find, nulls
from lakebed.convert.arrow_rows import row_schema, row_type
from lakebed.diagnostics import reason_of
from lakebed.errors import CorruptMetadataError, LakebedError, UnsupportedError
from lakebed.format.deletion_vectors import DeletionVector, read_positions
from lakebed.format.orc_process import read_orc
from lakebed.format.page_checksums import failed_checksum, is_failed_checksum
from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import DataField, Date, LocalZonedTimestamp, Timestamp
from lakebed.store.base import Store
from lakebed.store.local import LocalStore

#: What opening a file costs, in bytes that could be read meanwhile, as Spark counts it.
OPENING = 4 << 20
_BATCH = 1 << 16
#: What Spark before 3.0, or later when told so, writes of old days: by a calendar that is not the table format's.
_LEGACY = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_SPARK_VERSION = b"org.apache.spark.version"


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is wanted: its name in the rows, and the table's field; None where every row has NULL."""

    name: str
    wanted: DataField
    field: DataField | None


@dataclass(frozen=True, slots=True)
class FilePart:
    """One of `parts` parts of a data file, number `part` from 0. `size` and `rows` are the whole file's.

    `stored` are the columns of its schema version that answer for the wanted ones, `constants` values by field id that
    the manifest has, in internal values (see `lakebed.format.binary_row`). `verify_checksums`: hold pages of
    Parquet files against their checksums. `orc_apart`: decode an ORC file in another process, since a damaged one can
    crash that which decodes it. `time_zone`: see `Stored`.
    """

    path: str
    size: int
    rows: int
    stored: tuple[DataField, ...]
    constants: tuple[tuple[int, Any], ...] = ()
    deletions: DeletionVector | None = None
    part: int = 0
    parts: int = 1
    verify_checksums: bool = True
    orc_apart: bool = False
    time_zone: str | None = None

    @property
    def format(self) -> str:
        """The format, by the extension of the name."""
        return self.path.rpartition(".")[2].lower()


def part_count(path: str, size: int, most: int) -> int:
    """In how many parts of at most about `most` bytes a file is read: a Parquet file in several, others whole."""
    return max(-(-size // most), 1) if path.lower().endswith(".parquet") else 1


def rows_of(store: Store, part: FilePart, columns: Sequence[Column]) -> Iterator[pa.RecordBatch]:
    """The rows of a part of a file, less those that its deletion vector deletes, in their order.

    Raises UnsupportedError for what would come out otherwise than by `lake.read`, CorruptMetadataError for damage.
    """
    deleted = None
    if part.deletions is not None:
        deleted = pa.array(read_positions(store, [part.deletions])[0], pa.int64())
    for start, rows in placed_rows(store, part, columns):
        left = rows
        if deleted is not None and len(deleted):
            places = pa.array(range(start, start + rows.num_rows), pa.int64())
            left = rows.filter(pc.invert(pc.is_in(places, deleted)))
        if left.num_rows:
            yield left


def placed_rows(store: Store, part: FilePart, columns: Sequence[Column]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """All rows of a part of a file, in batches with the place of their first row in the file. Raises as `rows_of`."""
    constants = dict(part.constants)
    by_id = {f.id: f for f in part.stored}
    for start, batch, int96 in _stored_batches(store, part):
        names = batch.schema.names
        arrays = [
            _column(column, batch, names, by_id, constants, Stored(part.path, column.name, int96, part.time_zone))
            for column in columns
        ]
        made = pa.RecordBatch.from_arrays(arrays, schema=batch_schema(columns)) if arrays else batch.select([])
        yield start, made


def batch_schema(columns: Sequence[Column]) -> pa.Schema:
    """The Arrow schema of rows."""
    return pa.schema([(c.name, row_type(c.wanted.type)) for c in columns])


def _column(
    column: Column,
    batch: pa.RecordBatch,
    names: Sequence[str],
    stored: dict[int, DataField],
    constants: dict[int, Any],
    at: Stored,
) -> pa.Array:
    wanted, field = column.wanted, column.field
    if field is None:
        return nulls(batch.num_rows, wanted.type)
    if field.id in constants:
        return pa.repeat(constant(wanted, constants[field.id]), batch.num_rows)
    own = stored.get(field.id)
    place = None if own is None else find(names, own.name)
    if own is None or place is None:
        return nulls(batch.num_rows, wanted.type)
    return convert(batch.column(place), own.type, wanted.type, at)


def constant(field: DataField, value: Any) -> pa.Scalar:
    """An internal value as a value of the column; timestamps are cut to microseconds."""
    type_ = row_type(field.type)
    if value is not None and isinstance(field.type, Timestamp | LocalZonedTimestamp):
        return pa.array([value // 1000], pa.int64()).cast(type_)[0]
    if value is not None and isinstance(field.type, Date):
        return pa.array([value], pa.int32()).cast(type_)[0]
    return pa.scalar(value, type_)


def _stored_batches(store: Store, part: FilePart) -> Iterator[tuple[int, pa.RecordBatch, bool]]:
    """Batches of a file, each with the place of its first row, and whether the file holds INT96."""
    try:
        match part.format:
            case "parquet":
                yield from _parquet(store, part)
            case "orc":
                yield from _orc_apart(store, part) if part.orc_apart else _orc(store, part)
            case "blob":
                yield from _blobs(store, part)
            case _:
                yield from _avro(store, part)
    except LakebedError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, EOFError, LookupError, ArithmeticError) as e:
        if is_failed_checksum(str(e)):
            raise failed_checksum(part.path) from e
        raise CorruptMetadataError.of(
            "LB5561", f"data file {part.path} cannot be decoded: {reason_of(e)}", path=part.path
        ) from e


def _parquet(store: Store, part: FilePart) -> Iterator[tuple[int, pa.RecordBatch, bool]]:
    with open_ranges(store, part.path, part.size) as source:
        metadata = pq.read_metadata(source)
        source.seek(0)
        int96 = any(metadata.schema.column(i).physical_type == "INT96" for i in range(metadata.num_columns))
        _refuse_legacy(part, metadata.metadata or {})
        unit = {"coerce_int96_timestamp_unit": "us"} if int96 else {}
        file = pq.ParquetFile(
            source, metadata=metadata, pre_buffer=True, page_checksum_verification=part.verify_checksums, **unit
        )
        names = [f.name for f in metadata.schema.to_arrow_schema()]
        wanted = [names[i] for i in _places(names, part.stored)]
        groups, start = row_groups(metadata, part)
        if not wanted:
            total = sum(metadata.row_group(i).num_rows for i in groups)
            yield from _empty(start, total)
            return
        for batch in file.iter_batches(_BATCH, row_groups=groups, columns=wanted) if groups else ():
            yield start, batch, int96
            start += batch.num_rows


def _places(names: Sequence[str], stored: Sequence[DataField]) -> list[int]:
    return sorted({place for f in stored if (place := find(names, f.name)) is not None})


def _empty(start: int, rows: int) -> Iterator[tuple[int, pa.RecordBatch, bool]]:
    """Rows of which no stored column is wanted."""
    while rows > 0:
        count = min(rows, _BATCH)
        yield start, pa.RecordBatch.from_arrays([pa.nulls(count)], names=[""]), False
        start, rows = start + count, rows - count


def row_groups(metadata: pq.FileMetaData, part: FilePart) -> tuple[list[int], int]:
    """The row groups whose middle lies in a part of the file, one after the other, and the place of their first row."""
    groups: list[int] = []
    start = place = offset = 0
    length = -(-part.size // part.parts)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        size = sum(group.column(i).total_compressed_size for i in range(group.num_columns))
        if min((offset + size // 2) // length, part.parts - 1) == part.part:
            start = start if groups else place
            groups.append(number)
        place, offset = place + group.num_rows, offset + size
    return groups, start


def _refuse_legacy(part: FilePart, marks: dict[bytes, bytes]) -> None:
    old = marks.get(_SPARK_VERSION, b"3")[:2] in (b"1.", b"2.") or any(mark in marks for mark in _LEGACY)
    kinds = (Date, Timestamp, LocalZonedTimestamp)
    held = next((f for f in part.stored if any(isinstance(t, kinds) for t in types_inside(f.type))), None)
    if old and held is not None:
        raise Stored(part.path, held.name).refused("LB5604", "days are stored by the calendar of Spark before 3.0")


def _orc(store: Store, part: FilePart) -> Iterator[tuple[int, pa.RecordBatch, bool]]:
    from pyarrow import orc

    with open_ranges(store, part.path, part.size) as source:
        file = orc.ORCFile(source)
        names = file.schema.names
        places = _places(names, part.stored)
        start = 0
        if not places:
            yield from _empty(0, file.nrows)
            return
        for number in range(file.nstripes):
            whole = file.read_stripe(number, columns=[names[i] for i in places])
            for offset in range(0, whole.num_rows, _BATCH):
                batch = whole.slice(offset, _BATCH)
                yield start, batch, False
                start += batch.num_rows


def _orc_apart(store: Store, part: FilePart) -> Iterator[tuple[int, pa.RecordBatch, bool]]:
    """The same with all of the wanted columns in memory."""
    data = store.read(part.path)
    names = read_orc(data, schema_only=True).schema.names
    places = _places(names, part.stored)
    if not places:
        yield from _empty(0, part.rows)
        return
    start = 0
    for batch in read_orc(data, columns=[names[i] for i in places]).to_batches(_BATCH):
        yield start, batch, False
        start += batch.num_rows


def _avro(store: Store, part: FilePart) -> Iterator[tuple[int, pa.RecordBatch, bool]]:
    start = 0
    schema = row_schema(part.stored)
    if not part.stored:
        yield from _empty(0, part.rows)
        return
    for batch in avro_batches(store.read(part.path), schema):
        yield start, batch, False
        start += batch.num_rows


def _blobs(store: Store, part: FilePart) -> Iterator[tuple[int, pa.RecordBatch, bool]]:
    start = 0
    for batch in blob_batches(store.read(part.path), row_schema(part.stored)):
        yield start, batch, False
        start += batch.num_rows


def open_ranges(store: Store, path: str, size: int) -> pa.NativeFile:
    """A file of `size` bytes, of which only those that are asked for are read."""
    if isinstance(store, LocalStore):
        return pa.memory_map(path)
    return pa.PythonFile(_Ranges(store, path, size), mode="r")


class _Ranges(io.RawIOBase):
    """A file of a store, read by ranges of bytes."""

    def __init__(self, store: Store, path: str, size: int) -> None:
        self._store, self._path, self._size, self._at = store, path, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        left = max(self._size - self._at, 0)
        length = left if size is None or size < 0 else min(size, left)
        data = self._store.read_range(self._path, self._at, length) if length else b""
        self._at += len(data)
        return data


def refuse_format(path: str) -> None:
    """Raise UnsupportedError for a file of a format that is not read here."""
    extension = path.rpartition(".")[2].lower()
    if extension not in ("parquet", "orc", "avro"):
        raise UnsupportedError.of(
            "LB5605",
            f"data file {path} is of format {extension}",
            path=path,
            remedy="read with --engine spark, which reads it",
            python_remedy="use lake.read(...), which reads it",
        )
