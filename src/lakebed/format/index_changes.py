"""Change the index files of a table with a commit: deletion vectors grow or go, hash indexes are replaced.

A vector is never changed in its place: an index file one of whose vectors changes or goes gives way to a new one, which
has the others as they were. A table whose buckets mean something has one index file of vectors a bucket; where they
mean nothing there are several, and only those are written again in which something changes.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from lakebed.catalog.option_values import is_set, size_of
from lakebed.catalog.options import DELETION_VECTOR_INDEX_FILE_TARGET_SIZE, DELETION_VECTORS_BITMAP64
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import ConflictError, UsageError
from lakebed.format import binary_row
from lakebed.format.conflicts import Delta
from lakebed.format.deletion_vectors import (
    MAGIC_32,
    MAGIC_64,
    DeletionVector,
    bitmap_of,
    framed_vector,
    read_index_file,
)
from lakebed.format.index_manifest import HASH, INDEX_TYPE, IndexFile, index_path, read_index_manifest
from lakebed.format.live_files import directories, partition_types, plain_path
from lakebed.format.manifest_writer import ManifestWriter
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import DeletedRows, SnapshotChange
from lakebed.store.base import Store

VECTOR_CHANGED = "LB5095"
_FRAME = 8
_FILE_VERSION = b"\x01"

#: A partition in internal values and a bucket.
_Bucket: TypeAlias = tuple[tuple[Any, ...], int]


@dataclass(frozen=True, slots=True)
class _Piece:
    """The vector of a data file as it stands in an index file."""

    name: str
    data: bytes
    length: int
    cardinality: int | None


@dataclass(slots=True)
class _Rewrite:
    """What becomes of the vectors of a bucket: the index files that give way, and the rows that go in addition."""

    partition: bytes
    bucket: int
    old: list[IndexFile] = field(default_factory=list)
    rows: list[DeletedRows] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class IndexChanges:
    """Makes the index manifest of one attempt to commit."""

    store: Store
    table_path: str
    schema: TableSchema
    writer: ManifestWriter

    def write(self, latest: Snapshot | None, change: SnapshotChange, delta: Delta) -> str | None:
        """Write what changes on top of `latest`; the name of the index manifest, that of `latest` if nothing does.

        Raises `ConflictError` (LB5095) where the vector of a file is not what it was when its rows were chosen.
        """
        if latest is None and not change.indexes:
            return None
        if latest is not None and not (delta.removed or change.removes or change.indexes):
            return latest.index_manifest
        decode = binary_row.codec(partition_types(self.schema)).decode
        gone: dict[_Bucket, set[str]] = {}
        for entry in delta.removed:
            gone.setdefault((decode(entry.partition), entry.bucket), set()).add(entry.file.file_name)
        rewrites: dict[_Bucket, _Rewrite] = {}
        for rows in change.deleted_rows:
            at = rows.entry
            place = decode(at.partition), at.bucket
            rewrites.setdefault(place, _Rewrite(at.partition, at.bucket)).rows.append(rows)
        kept: list[IndexFile] = []
        before = [] if latest is None else read_index_manifest(self.store, self.table_path, latest)
        indexed = {(decode(file.partition), file.bucket) for file in change.indexes}
        for file in before:
            place = decode(file.partition), file.bucket
            if file.type == HASH and place in indexed:
                continue
            if change.overwrite is not None and change.overwrite.contains(place[0]):
                continue
            if self._gives_way(file, gone.get(place, set()), rewrites.get(place)):
                rewrites.setdefault(place, _Rewrite(file.partition, file.bucket)).old.append(file)
            else:
                kept.append(file)
        if latest is not None and len(kept) == len(before) and not rewrites and not change.indexes:
            return latest.index_manifest
        kept += change.indexes
        for place, rewrite in rewrites.items():
            kept += self._write_files(rewrite, self._pieces(rewrite, gone.get(place, set())))
        return self.writer.write_index_manifest(kept) if kept else None

    def _gives_way(self, file: IndexFile, gone: set[str], rewrite: _Rewrite | None) -> bool:
        if file.type != INDEX_TYPE:
            return False
        if not gone.isdisjoint(file.ranges):
            return True
        if rewrite is None or not rewrite.rows:
            return False
        return self._one_a_bucket or any(d.entry.file.file_name in file.ranges for d in rewrite.rows)

    @property
    def _one_a_bucket(self) -> bool:
        return bool(self.schema.primary_keys) or self.schema.bucket > 0

    def _pieces(self, rewrite: _Rewrite, lost: set[str]) -> Iterator[_Piece]:
        """The vectors of a bucket from now on, those that stay as they are first."""
        grown = {d.entry.file.file_name: d for d in rewrite.rows}
        known: dict[str, tuple[DeletionVector, bytes]] = {}
        for file in rewrite.old:
            vectors = dict(self._vectors(file))
            if not vectors.keys() - lost:
                continue
            data = read_index_file(self.store, next(iter(vectors.values())))
            for name, vector in vectors.items():
                if name in grown:
                    known[name] = vector, data
                elif name not in lost:
                    framed = framed_vector(data, vector)
                    yield _Piece(name, framed, vector.length or len(framed) - _FRAME, vector.cardinality)
        for name, rows in grown.items():
            yield self._grown(rows, known.get(name))

    def _vectors(self, file: IndexFile) -> Iterator[tuple[str, DeletionVector]]:
        path = self._path(file)
        for name, (offset, length, cardinality) in file.ranges.items():
            yield name, DeletionVector(path, offset, length, cardinality, index_size=file.size)

    def _path(self, file: IndexFile) -> str:
        directory = directories(self.table_path, self.schema)(file.partition, file.bucket)
        return plain_path(index_path(self.table_path, directory, file, self.schema.options))

    def _grown(self, deleted: DeletedRows, known: tuple[DeletionVector, bytes] | None) -> _Piece:
        """The vector of a file with further rows."""
        import pyroaring

        name, rows = deleted.entry.file.file_name, deleted.entry.file.row_count
        check_unchanged(name, deleted.before, known and known[0])
        bitmap = pyroaring.BitMap.deserialize(deleted.rows)
        if bitmap and bitmap.max() >= rows:
            raise UsageError.of(
                "LB5072", f"row {bitmap.max()} of {name} is to be deleted; it has {rows} rows", path=name
            )
        wide = is_set(self.schema.options, DELETION_VECTORS_BITMAP64)
        known_rows = () if known is None else bitmap_of(known[1], known[0])
        merged: Any = (pyroaring.BitMap64 if wide else pyroaring.BitMap)(known_rows)
        merged.update(bitmap)
        payload = struct.pack("<i" if wide else ">i", MAGIC_64 if wide else MAGIC_32) + merged.serialize()
        framed = struct.pack(">i", len(payload)) + payload + struct.pack(">I", zlib.crc32(payload))
        return _Piece(name, framed, len(framed) if wide else len(payload), len(merged))

    def _write_files(self, rewrite: _Rewrite, pieces: Iterable[_Piece]) -> Iterator[IndexFile]:
        """Write the vectors of a bucket as index files."""
        options = self.schema.options
        limit = None if self._one_a_bucket else size_of(options, DELETION_VECTOR_INDEX_FILE_TARGET_SIZE)
        for group in _rolled(pieces, limit):
            data, ranges = b"".join((_FILE_VERSION, *(p.data for p in group))), _ranges(group)
            file = IndexFile(0, INDEX_TYPE, "", rewrite.partition, rewrite.bucket, len(data), len(ranges), ranges)
            yield self.writer.write_index_file(file, data, self._path)


def _rolled(pieces: Iterable[_Piece], limit: int | None) -> Iterator[Sequence[_Piece]]:
    held: list[_Piece] = []
    size = 0
    for piece in pieces:
        if held and limit is not None and size + len(piece.data) > limit:
            yield held
            held, size = [], 0
        held.append(piece)
        size += len(piece.data)
    if held:
        yield held


def _ranges(pieces: Sequence[_Piece]) -> dict[str, tuple[int, int, int | None]]:
    found, offset = {}, 1
    for piece in pieces:
        found[piece.name] = offset, piece.length, piece.cardinality
        offset += len(piece.data)
    return found


def check_unchanged(name: str, before: DeletionVector | None, now: DeletionVector | None) -> None:
    """Raise `ConflictError` (LB5095) where the vector of a file is not what it was.

    A vector only grows; one with as many rows as before is the same, wherever it lies now.
    """
    if before is None or now is None:
        same = before is now
    else:
        same = (before.path, before.offset) == (now.path, now.offset) or (
            before.cardinality is not None and before.cardinality == now.cardinality
        )
    if not same:
        raise ConflictError.of(
            VECTOR_CHANGED,
            f"rows of {name} have been deleted by another commit meanwhile",
            path=name,
            remedy="repeat the operation: it looks at the table as it is by now",
        )
