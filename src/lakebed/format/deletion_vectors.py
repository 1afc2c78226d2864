"""Find and decode deletion vectors: which rows of a data file are deleted (Paimon, "Table Index").

Reads apply them where they scan files: `spark.scan` and `arrow.file_part`.

An index manifest, named by a snapshot, says where the vector of each data file lies: a range of bytes in an index file.
Two forms are known, for positions of 32 and of 64 bits.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakebed.catalog.option_values import is_set
from lakebed.catalog.options import DELETION_VECTORS_ENABLED, INDEX_FILE_IN_DATA_FILE_DIR
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import reason_of
from lakebed.errors import CorruptMetadataError, LakebedError, UnsupportedError
from lakebed.format.avro_records import read_records
from lakebed.format.manifest import manifest_path
from lakebed.format.snapshot import Snapshot
from lakebed.store.base import Store

INDEX_TYPE = "DELETION_VECTORS"
#: Which keys a bucket of a table with dynamic buckets has; readers need them not.
_HASH = "HASH"
_INDEX_VERSION = 1
_MAGIC_32 = 1581511376
_MAGIC_64 = 1681511377
_LENGTH, _CHECKSUM = 4, 4
#: The least that a bitmap takes: a mark of its form and what follows.
_LEAST = 8
_ADDED, _REMOVED = 0, 1


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
    file is not live, wherever it stands. What it says of vectors is held against itself. Raises CorruptMetadataError
    for what does not fit, UnsupportedError for kinds of entries and indexes that are not known: passing over them could
    bring deleted rows back.
    """
    if snapshot.index_manifest is None:
        return []
    source = manifest_path(table_path, snapshot.index_manifest)
    try:
        files = [_index_file(record, source) for record in read_records(store.read(source), source=source)]
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise CorruptMetadataError.of(
            "LB5010", f"{source} lacks a part or has a strange one: {reason_of(e)}", path=source
        ) from e
    removed = {(f.partition, f.bucket, f.type, f.name) for f in files if f.kind == _REMOVED}
    return [f for f in files if (f.partition, f.bucket, f.type, f.name) not in removed]


def _index_file(record: Mapping[str, Any], source: str) -> IndexFile:
    ranges = [r for r in record.get("_DELETIONS_VECTORS_RANGES") or () if r is not None]
    file = IndexFile(
        int(record.get("_KIND") or 0),
        record["_INDEX_TYPE"],
        record["_FILE_NAME"],
        record["_PARTITION"],
        record["_BUCKET"],
        record["_FILE_SIZE"],
        record["_ROW_COUNT"],
        {r["f0"]: (r["f1"], r["f2"], r.get("_CARDINALITY")) for r in ranges},
        record.get("_EXTERNAL_PATH"),
    )
    _refuse_unknown(file, record, source)
    if file.type == INDEX_TYPE:
        _check_ranges(file, len(ranges), source)
    elif ranges:
        raise _unfit(source, f"index file {file.name} of type {file.type} has ranges of deletion vectors")
    return file


def _refuse_unknown(file: IndexFile, record: Mapping[str, Any], source: str) -> None:
    """Global indexes, which only make reads faster, are known by what they say of themselves, whatever their type."""
    version, is_global = record.get("_VERSION", _INDEX_VERSION), record.get("_GLOBAL_INDEX") is not None
    if version != _INDEX_VERSION:
        raise _unknown(source, f"has index manifest version {version}", str(_INDEX_VERSION), str(version))
    if file.kind not in (_ADDED, _REMOVED):
        raise _unknown(source, f"has an entry of kind {file.kind} for index file {file.name}", "0 or 1", str(file.kind))
    if file.type not in (INDEX_TYPE, _HASH) and not is_global:
        expected = f"{INDEX_TYPE}, {_HASH} or a global index"
        raise _unknown(source, f"names index file {file.name} of type {file.type!r}", expected, file.type)


def _check_ranges(file: IndexFile, count: int, source: str) -> None:
    """A range for each vector that is promised, each for a file of its own, and all within the index file."""
    if not file.row_count == count == len(file.ranges):
        raise _unfit(
            source,
            f"has ranges for {len(file.ranges)} data files where index file {file.name} holds {file.row_count} vectors",
        )
    for name, (offset, length, _) in file.ranges.items():
        if offset < 1 or length < _LEAST or offset + length > file.size:
            raise _unfit(
                source,
                f"says that the vector of {name} takes {length} bytes from {offset} in index file {file.name}, "
                f"which has {file.size}",
            )


def _unknown(source: str, message: str, expected: str, found: str) -> LakebedError:
    return UnsupportedError.of(
        "LB5076",
        f"{source} {message}",
        path=source,
        expected=expected,
        found=found,
        remedy="read the table with a newer Lakebed, or let the engine that wrote it compact it",
    )


def _unfit(source: str, message: str) -> CorruptMetadataError:
    return CorruptMetadataError.of("LB5075", f"{source} {message}", path=source)


def index_path(table_path: str, data_directory: str, file: IndexFile, options: Mapping[str, str]) -> str:
    """Where an index file lies; `data_directory` is the directory of its partition and bucket."""
    if file.external_path is not None:
        return file.external_path
    beside_data = is_set(options, INDEX_FILE_IN_DATA_FILE_DIR)
    return f"{data_directory if beside_data else table_path + '/index'}/{file.name}"


def read_positions(store: Store, vectors: Sequence[DeletionVector]) -> list[Sequence[int]]:
    """The deleted positions of each vector, ascending, from 0. Each index file is read once.

    Raises CorruptMetadataError for damage, and for positions that the data file does not have.
    """
    contents: dict[str, bytes] = {}
    for vector in vectors:
        if vector.path not in contents:
            data = contents[vector.path] = store.read(vector.path)
            if vector.index_size not in (None, len(data)):
                raise _corrupt(vector, f"has {len(data)} bytes where {vector.index_size} are promised")
    return [decode(contents[v.path], v) for v in vectors]


def decode(data: bytes, vector: DeletionVector) -> Sequence[int]:
    """The positions of one vector from the bytes of its index file. Raises CorruptMetadataError for damage."""
    start = vector.offset + _LENGTH
    if vector.offset < 0 or len(data) < start:
        raise _corrupt(vector, f"ends before its offset {vector.offset}")
    (length,) = struct.unpack_from(">i", data, vector.offset)
    payload = data[start : start + length]
    if length < _LEAST or len(payload) != length or len(data) < start + length + _CHECKSUM:
        raise _corrupt(vector, f"is cut at offset {vector.offset}")
    (checksum,) = struct.unpack_from(">I", data, start + length)
    if checksum != zlib.crc32(payload):
        raise _corrupt(vector, f"has a wrong checksum at offset {vector.offset}")
    # Of the form with 64 bits the manifest counts the length field and the checksum, too.
    if vector.length not in (None, length, length + _LENGTH + _CHECKSUM):
        raise _corrupt(vector, f"has {length} bytes at offset {vector.offset} where {vector.length} are promised")
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
    return CorruptMetadataError.of("LB5010", f"index file {vector.path} {message}", path=vector.path)


def has_deletion_vectors(schema: TableSchema) -> bool:
    """Whether the table's option says that deletes are kept as vectors."""
    return is_set(schema.options, DELETION_VECTORS_ENABLED)
