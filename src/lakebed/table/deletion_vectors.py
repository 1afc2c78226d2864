"""Deletion vectors: which rows of a data file are deleted (Paimon specification, "Table Index").

An index manifest, named by a snapshot, says where the vector of each data file lies: a range of bytes in an index file.
Two forms are known, for positions of 32 and of 64 bits.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, reason_of
from lakebed.errors import CorruptMetadataError
from lakebed.store.base import Store
from lakebed.table.manifest import manifest_path
from lakebed.table.options import is_set
from lakebed.table.records import read_records
from lakebed.table.snapshot import Snapshot

INDEX_TYPE = "DELETION_VECTORS"
_IN_DATA_DIRECTORY = "index-file-in-data-file-dir"
_MAGIC_32 = 1581511376
_MAGIC_64 = 1681511377
_LENGTH, _CHECKSUM = 4, 4
_REMOVED = 1


@dataclass(frozen=True, slots=True)
class DeletionVector:
    """Where the vector of a data file lies: `offset` is that of its length field, `length` what the manifest says.

    `cardinality` is the number of deleted rows, None where the writer left it out; `rows` is that of the data file's
    rows, None where it is not known.
    """

    path: str
    offset: int
    length: int
    cardinality: int | None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class IndexFile:
    """One entry of an index manifest. `ranges` holds, by data file name, offset, length and cardinality of vectors."""

    kind: int
    type: str
    name: str
    partition: bytes
    bucket: int
    size: int
    row_count: int
    ranges: Mapping[str, tuple[int, int, int | None]]
    external_path: str | None


def read_index_manifest(store: Store, table_path: str, snapshot: Snapshot) -> list[IndexFile]:
    """The live index files of a snapshot; none where it names no index manifest.

    An index manifest holds all live files, not what a commit changed. Should it say that a file is removed, then that
    file is not live, wherever it stands.
    """
    if snapshot.index_manifest is None:
        return []
    source = manifest_path(table_path, snapshot.index_manifest)
    try:
        files = [_index_file(record) for record in read_records(store.read(source), source=source)]
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise CorruptMetadataError.of(
            "LB5010", f"{source} lacks a part or has a strange one: {reason_of(e)}", path=source
        ) from e
    removed = {(f.partition, f.bucket, f.type, f.name) for f in files if f.kind == _REMOVED}
    return [f for f in files if (f.partition, f.bucket, f.type, f.name) not in removed]


def _index_file(record: Mapping[str, Any]) -> IndexFile:
    ranges = record.get("_DELETIONS_VECTORS_RANGES") or ()
    return IndexFile(
        int(record.get("_KIND") or 0),
        record["_INDEX_TYPE"],
        record["_FILE_NAME"],
        record["_PARTITION"],
        record["_BUCKET"],
        record["_FILE_SIZE"],
        record["_ROW_COUNT"],
        {r["f0"]: (r["f1"], r["f2"], r.get("_CARDINALITY")) for r in ranges if r is not None},
        record.get("_EXTERNAL_PATH"),
    )


def index_path(table_path: str, data_directory: str, file: IndexFile, options: Mapping[str, str]) -> str:
    """Where an index file lies; `data_directory` is the directory of its partition and bucket."""
    if file.external_path is not None:
        return file.external_path
    beside_data = is_set(options, _IN_DATA_DIRECTORY)
    return f"{data_directory if beside_data else table_path + '/index'}/{file.name}"


def read_positions(store: Store, vectors: Sequence[DeletionVector]) -> list[Sequence[int]]:
    """The deleted positions of each vector, ascending, from 0. Each index file is read once.

    Raises CorruptMetadataError for damage, and for positions that the data file does not have.
    """
    contents: dict[str, bytes] = {}
    for vector in vectors:
        if vector.path not in contents:
            contents[vector.path] = store.read(vector.path)
    return [decode(contents[v.path], v) for v in vectors]


def decode(data: bytes, vector: DeletionVector) -> Sequence[int]:
    """The positions of one vector from the bytes of its index file. Raises CorruptMetadataError for damage."""
    start = vector.offset + _LENGTH
    if vector.offset < 0 or len(data) < start:
        raise _corrupt(vector, f"ends before its offset {vector.offset}")
    (length,) = struct.unpack_from(">i", data, vector.offset)
    payload = data[start : start + length]
    if length < 8 or len(payload) != length or len(data) < start + length + _CHECKSUM:
        raise _corrupt(vector, f"is cut at offset {vector.offset}")
    (checksum,) = struct.unpack_from(">I", data, start + length)
    if checksum != zlib.crc32(payload):
        raise _corrupt(vector, f"has a wrong checksum at offset {vector.offset}")
    return _positions(payload, vector)


def _positions(payload: bytes, vector: DeletionVector) -> Sequence[int]:
    """The positions of a bitmap; none is made a number of before their count and the last are known to be right."""
    bitmap = _bitmap(payload, vector)
    count = len(bitmap)
    if vector.cardinality is not None and vector.cardinality != count:
        raise _corrupt(vector, f"holds {count} positions where {vector.cardinality} are promised")
    if count and vector.rows is not None and bitmap.max() >= vector.rows:
        raise _corrupt(vector, f"deletes row {bitmap.max()} of a file of {vector.rows} rows")
    positions: Sequence[int] = bitmap.to_array()
    return positions


def _bitmap(payload: bytes, vector: DeletionVector) -> Any:
    import pyroaring

    try:
        if struct.unpack_from(">i", payload)[0] == _MAGIC_32:
            return pyroaring.BitMap.deserialize(payload[4:])
        if struct.unpack_from("<i", payload)[0] == _MAGIC_64:
            return pyroaring.BitMap64.deserialize(payload[4:])
    except (ValueError, IndexError) as e:
        raise _corrupt(vector, f"holds no bitmap at offset {vector.offset}: {reason_of(e)}") from e
    raise _corrupt(vector, f"holds no bitmap of a known form at offset {vector.offset}")


def _corrupt(vector: DeletionVector, message: str) -> CorruptMetadataError:
    return CorruptMetadataError(Diagnostic("LB5010", f"index file {vector.path} {message}", path=vector.path))


def has_deletion_vectors(schema: TableSchema) -> bool:
    """Whether the table's option says that deletes are kept as vectors."""
    return is_set(schema.options, "deletion-vectors.enabled")
