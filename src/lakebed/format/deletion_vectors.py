"""Decode deletion vectors: which rows of a data file are deleted (Paimon, "Table Index").

Reads apply them where they scan files: `spark.scan` and `arrow.file_part`.

An index manifest, named by a snapshot, says where the vector of each data file lies: a range of bytes in an index file.
Two forms are known, for positions of 32 and of 64 bits.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lakebed.catalog.option_values import is_set
from lakebed.catalog.options import DELETION_VECTORS_ENABLED
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import reason_of
from lakebed.errors import CorruptMetadataError
from lakebed.store.base import Store

MAGIC_32 = 1581511376
MAGIC_64 = 1681511377
_LENGTH, _CHECKSUM = 4, 4
#: The least that a bitmap takes: a mark of its form and what follows.
LEAST = 8


@dataclass(frozen=True, slots=True)
class DeletionVector:
    """Where the vector of a data file lies: `offset` is that of its length field, `length` what the manifest says.

    `cardinality` is the number of deleted rows, None where the writer left it out; `rows` is that of the data file's
    rows, `index_size` the bytes of the whole index file. None is unknown.
    """

    path: str
    offset: int
    length: int | None
    cardinality: int | None
    rows: int | None = None
    index_size: int | None = None


def read_positions(store: Store, vectors: Sequence[DeletionVector]) -> list[Sequence[int]]:
    """The deleted positions of each vector, ascending, from 0. Each index file is read once.

    Raises CorruptMetadataError for damage, and for positions that the data file does not have.
    """
    contents = {path: read_index_file(store, vector) for path, vector in {v.path: v for v in vectors}.items()}
    return [decode(contents[v.path], v) for v in vectors]


def read_index_file(store: Store, vector: DeletionVector) -> bytes:
    """The bytes of the index file that a vector lies in. Raises CorruptMetadataError for a wrong number."""
    data = store.read(vector.path)
    if vector.index_size not in (None, len(data)):
        raise _corrupt(vector, f"has {len(data)} bytes where {vector.index_size} are promised")
    return data


def decode(data: bytes, vector: DeletionVector) -> Sequence[int]:
    """The positions of one vector from the bytes of its index file. Raises CorruptMetadataError for damage."""
    positions: Sequence[int] = bitmap_of(data, vector).to_array()
    return positions


def framed_vector(data: bytes, vector: DeletionVector) -> bytes:
    """The bytes of one vector in its index file, its length and its checksum among them; raises as `decode`."""
    start = vector.offset + _LENGTH
    if vector.offset < 0 or len(data) < start:
        raise _corrupt(vector, f"ends before its offset {vector.offset}")
    (length,) = struct.unpack_from(">i", data, vector.offset)
    payload = data[start : start + length]
    if length < LEAST or len(payload) != length or len(data) < start + length + _CHECKSUM:
        raise _corrupt(vector, f"is cut at offset {vector.offset}")
    (checksum,) = struct.unpack_from(">I", data, start + length)
    if checksum != zlib.crc32(payload):
        raise _corrupt(vector, f"has a wrong checksum at offset {vector.offset}")
    # Of the form with 64 bits the manifest counts the length field and the checksum, too.
    if vector.length not in (None, length, length + _LENGTH + _CHECKSUM):
        raise _corrupt(vector, f"has {length} bytes at offset {vector.offset} where {vector.length} are promised")
    return data[vector.offset : start + length + _CHECKSUM]


def bitmap_of(data: bytes, vector: DeletionVector) -> Any:
    """The bitmap of one vector, of PyRoaring's; raises as `decode`.

    No number is made of a position before their count and the last are known to be right.
    """
    bitmap = _bitmap(framed_vector(data, vector)[_LENGTH:-_CHECKSUM], vector)
    count = len(bitmap)
    if vector.cardinality is not None and vector.cardinality != count:
        raise _corrupt(vector, f"holds {count} positions where {vector.cardinality} are promised")
    if count and vector.rows is not None and bitmap.max() >= vector.rows:
        raise _corrupt(vector, f"deletes row {bitmap.max()} of a file of {vector.rows} rows")
    return bitmap


def _bitmap(payload: bytes, vector: DeletionVector) -> Any:
    import pyroaring

    try:
        if struct.unpack_from(">i", payload)[0] == MAGIC_32:
            return pyroaring.BitMap.deserialize(payload[4:])
        if struct.unpack_from("<i", payload)[0] == MAGIC_64:
            return pyroaring.BitMap64.deserialize(payload[4:])
    except (ValueError, IndexError) as e:
        raise _corrupt(vector, f"holds no bitmap at offset {vector.offset}: {reason_of(e)}") from e
    raise _corrupt(vector, f"holds no bitmap of a known form at offset {vector.offset}")


def _corrupt(vector: DeletionVector, message: str) -> CorruptMetadataError:
    return CorruptMetadataError.of("LB5010", f"index file {vector.path} {message}", path=vector.path)


def has_deletion_vectors(schema: TableSchema) -> bool:
    """Whether the table's option says that deletes are kept as vectors."""
    return is_set(schema.options, DELETION_VECTORS_ENABLED)
