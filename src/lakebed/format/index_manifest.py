"""Read and write index manifests: all live index files of a snapshot (Paimon, "Table Index").

Index files hold deletion vectors, the hashes of the keys of a bucket, or a global index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakebed.catalog.option_values import is_set
from lakebed.catalog.options import INDEX_FILE_IN_DATA_FILE_DIR
from lakebed.diagnostics import reason_of
from lakebed.errors import CorruptMetadataError, LakebedError, UnsupportedError
from lakebed.format.avro_schemas import GLOBAL_INDEX_PARTS, index_schema, read_records, write_container
from lakebed.format.deletion_vectors import LEAST
from lakebed.format.manifest import manifest_path
from lakebed.format.snapshot import Snapshot
from lakebed.store.base import Store

INDEX_TYPE = "DELETION_VECTORS"
#: Which keys a bucket of a table with dynamic buckets has; readers need them not.
HASH = "HASH"
INDEX_VERSION = 1
_ADDED, _REMOVED = 0, 1
_PARTS = {
    *("_VERSION", "_KIND", "_PARTITION", "_BUCKET", "_INDEX_TYPE", "_FILE_NAME", "_FILE_SIZE", "_ROW_COUNT"),
    *("_DELETIONS_VECTORS_RANGES", "_EXTERNAL_PATH", "_GLOBAL_INDEX"),
}


@dataclass(frozen=True, slots=True)
class IndexFile:
    """One entry of an index manifest. `ranges` holds, by data file name, offset, length and cardinality of vectors.

    `global_index` is what a global index says of itself; `unknown` are the parts of the entry that are not understood.
    """

    kind: int
    type: str
    name: str
    partition: bytes
    bucket: int
    size: int
    row_count: int
    ranges: Mapping[str, tuple[int, int, int | None]]
    external_path: str | None = None
    global_index: Mapping[str, Any] | None = None
    unknown: tuple[str, ...] = ()


def read_index_manifest(store: Store, table_path: str, snapshot: Snapshot) -> list[IndexFile]:
    """The live index files of a snapshot; none where it names no index manifest.

    An index manifest holds all live files, not what a commit changed. Should it say that a file is removed, then that
    file is not live, wherever it stands. What it says of vectors is held against itself. Raises CorruptMetadataError
    for what does not fit, also for vectors that are removed and were never added, UnsupportedError for kinds of entries
    and indexes that are not known: passing over them could bring deleted rows back.
    """
    if snapshot.index_manifest is None:
        return []
    source = manifest_path(table_path, snapshot.index_manifest)
    files = index_files_of(store.read(source), source)
    added, removed = ({_identity(f) for f in files if f.kind == kind} for kind in (_ADDED, _REMOVED))
    for file in files:
        if file.type == INDEX_TYPE and _identity(file) in removed - added:
            raise _unfit(source, f"says that index file {file.name} is removed, which it does not hold")
    return [f for f in files if _identity(f) not in removed]


def index_files_of(data: bytes, source: str) -> list[IndexFile]:
    """The entries of an index manifest, whatever becomes of them; see `read_index_manifest`."""
    try:
        return [_index_file(record, source) for record in read_records(data, source=source)]
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise CorruptMetadataError.of(
            "LB5010", f"{source} lacks a part or has a strange one: {reason_of(e)}", path=source
        ) from e


def _identity(file: IndexFile) -> tuple[bytes, int, str, str]:
    return file.partition, file.bucket, file.type, file.name


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
        record.get("_GLOBAL_INDEX"),
        tuple(key for key, value in record.items() if key not in _PARTS and value is not None),
    )
    _refuse_unknown(file, record, source)
    if file.type == INDEX_TYPE:
        _check_ranges(file, len(ranges), source)
    elif ranges:
        raise _unfit(source, f"index file {file.name} of type {file.type} has ranges of deletion vectors")
    return file


def _refuse_unknown(file: IndexFile, record: Mapping[str, Any], source: str) -> None:
    """Global indexes, which only make reads faster, are known by what they say of themselves, whatever their type."""
    version, is_global = record.get("_VERSION", INDEX_VERSION), record.get("_GLOBAL_INDEX") is not None
    if version != INDEX_VERSION:
        raise _unknown(source, f"has index manifest version {version}", str(INDEX_VERSION), str(version))
    if file.kind not in (_ADDED, _REMOVED):
        raise _unknown(source, f"has an entry of kind {file.kind} for index file {file.name}", "0 or 1", str(file.kind))
    if file.type not in (INDEX_TYPE, HASH) and not is_global:
        expected = f"{INDEX_TYPE}, {HASH} or a global index"
        raise _unknown(source, f"names index file {file.name} of type {file.type!r}", expected, file.type)


def _check_ranges(file: IndexFile, count: int, source: str) -> None:
    """A range for each vector that is promised, each for a file of its own, and all within the index file."""
    if not file.row_count == count == len(file.ranges):
        raise _unfit(
            source,
            f"has ranges for {len(file.ranges)} data files where index file {file.name} holds {file.row_count} vectors",
        )
    for name, (offset, length, _) in file.ranges.items():
        if offset < 1 or length < LEAST or offset + length > file.size:
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


def index_manifest_bytes(files: Sequence[IndexFile], compression: str = "zstd") -> bytes:
    """The bytes of an index manifest. Raises UnsupportedError (LB5096) where an entry would lose what it says."""
    tail = any(f.global_index is not None for f in files)
    return write_container(index_schema(tail=tail), (_record(f, tail=tail) for f in files), compression)


def _record(file: IndexFile, *, tail: bool) -> dict[str, Any]:
    lost = [*file.unknown, *(k for k, v in (file.global_index or {}).items() if k not in GLOBAL_INDEX_PARTS and v)]
    if lost:
        raise UnsupportedError.of(
            "LB5096",
            f"the entry of index file {file.name} says {', '.join(lost)}, which is not known and would be lost",
            path=file.name,
            found=", ".join(lost),
            remedy="write the table with a newer Lakebed, or with the engine that made the index",
        )
    ranges = [{"f0": n, "f1": o, "f2": s, "_CARDINALITY": c} for n, (o, s, c) in file.ranges.items()]
    record = {
        "_VERSION": INDEX_VERSION,
        "_KIND": file.kind,
        "_PARTITION": file.partition,
        "_BUCKET": file.bucket,
        "_INDEX_TYPE": file.type,
        "_FILE_NAME": file.name,
        "_FILE_SIZE": file.size,
        "_ROW_COUNT": file.row_count,
        "_DELETIONS_VECTORS_RANGES": ranges or None,
        "_EXTERNAL_PATH": file.external_path,
    }
    return record | ({"_GLOBAL_INDEX": file.global_index} if tail else {})
