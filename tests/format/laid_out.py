"""Tables laid out file by file, with what no writer here writes: deletion vectors, row ids, parts of rows, blobs."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc as po
import pyroaring

from format.building import parquet_bytes
from lakebed.catalog import schema_file
from lakebed.catalog.table_schema import TableSchema
from lakebed.format import binary_row
from lakebed.format.live_files import partition_types
from lakebed.format.manifest import DataFileMeta, Kind, ManifestEntry
from lakebed.format.manifest_writer import ManifestWriter
from lakebed.format.partition import data_directory, partition_path
from lakebed.format.snapshot import Snapshot, SnapshotManager
from lakebed.store.base import Store

_RANGE = {
    "type": "record",
    "name": "range",
    "fields": [
        {"name": "f0", "type": "string"},
        {"name": "f1", "type": "int"},
        {"name": "f2", "type": "int"},
        {"name": "_CARDINALITY", "type": ["null", "long"], "default": None},
    ],
}
INDEX_MANIFEST = fastavro.parse_schema(
    {
        "type": "record",
        "name": "entry",
        "fields": [
            {"name": "_VERSION", "type": "int"},
            {"name": "_KIND", "type": "int"},
            {"name": "_PARTITION", "type": "bytes"},
            {"name": "_BUCKET", "type": "int"},
            {"name": "_INDEX_TYPE", "type": "string"},
            {"name": "_FILE_NAME", "type": "string"},
            {"name": "_FILE_SIZE", "type": "long"},
            {"name": "_ROW_COUNT", "type": "long"},
            {"name": "_DELETIONS_VECTORS_RANGES", "type": ["null", {"type": "array", "items": ["null", _RANGE]}]},
            {"name": "_EXTERNAL_PATH", "type": ["null", "string"], "default": None},
        ],
    }
)


def bitmap(positions: Iterable[int], bits: int) -> bytes:
    """The payload of a deletion vector: magic number and bitmap."""
    if bits == 32:
        return struct.pack(">i", 1581511376) + pyroaring.BitMap(positions).serialize()
    return struct.pack("<i", 1681511377) + pyroaring.BitMap64(positions).serialize()


def framed(payload: bytes) -> bytes:
    """A payload as it stands in an index file: length, payload, checksum."""
    return struct.pack(">i", len(payload)) + payload + struct.pack(">I", zlib.crc32(payload))


@dataclass(frozen=True)
class Vector:
    """Positions that are deleted of a file, and where and how the vector is to be written.

    `place` is "index", "data" (option `index-file-in-data-file-dir`) or an absolute path.
    """

    positions: Sequence[int]
    bits: int = 32
    place: str = "index"


@dataclass
class LaidOut:
    """A table of the schema; `add` and `index` collect, `commit` publishes a snapshot with all that there is."""

    store: Store
    path: str
    schema: TableSchema
    entries: list[ManifestEntry] = field(default_factory=list)
    indexes: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.evolve(self.schema)

    def evolve(self, schema: TableSchema) -> None:
        """Files that are added from now on are written under this version."""
        self.schema = schema
        self.store.create_if_absent(f"{self.path}/schema/schema-{schema.id}", schema_file.dumps(schema))

    def _directory(self, partition: tuple[Any, ...]) -> str:
        types = partition_types(self.schema)
        where = partition_path(self.schema.partition_keys, types, partition, self.schema.options)
        return data_directory(self.path, where, 0, self.schema.options)

    def _binary(self, partition: tuple[Any, ...]) -> bytes:
        return binary_row.codec(partition_types(self.schema)).encode(partition)

    def add(self, name: str, content: bytes, rows: int, partition: tuple[Any, ...] = (), **meta: Any) -> str:
        """Write a file and take it into the table; `meta` are parts of `DataFileMeta`. Its path."""
        path = f"{self._directory(partition)}/{name}"
        self.store.create_if_absent(path, content)
        known = {"file_name": name, "file_size": len(content), "row_count": rows, "schema_id": self.schema.id}
        found = DataFileMeta(**known, **meta)
        place = {"partition": self._binary(partition), "bucket": 0, "total_buckets": -1}
        self.entries.append(ManifestEntry(kind=Kind.ADD, file=found, **place))
        return path

    def delete(self, vectors: dict[str, Vector], partition: tuple[Any, ...] = ()) -> None:
        """Write one index file with the vectors of these data files, all of the same place."""
        data, ranges = b"\x01", []
        for name, vector in vectors.items():
            piece = framed(bitmap(vector.positions, vector.bits))
            # The two forms differ in whether the length field and the checksum count.
            size = len(piece) - 8 if vector.bits == 32 else len(piece)
            ranges.append({"f0": name, "f1": len(data), "f2": size, "_CARDINALITY": len(vector.positions)})
            data += piece
        place = next(iter(vectors.values())).place
        name = f"index-{len(self.indexes)}"
        inside = {"index": f"{self.path}/index/{name}", "data": f"{self._directory(partition)}/{name}"}
        self.store.create_if_absent(inside.get(place, place), data)
        self.indexes.append(
            {
                "_VERSION": 1,
                "_KIND": 0,
                "_PARTITION": self._binary(partition),
                "_BUCKET": 0,
                "_INDEX_TYPE": "DELETION_VECTORS",
                "_FILE_NAME": name,
                "_FILE_SIZE": len(data),
                "_ROW_COUNT": len(vectors),
                "_DELETIONS_VECTORS_RANGES": ranges,
                "_EXTERNAL_PATH": None if place in inside else place,
            }
        )

    def commit(self) -> Snapshot:
        """Publish a snapshot of all files so far."""
        snapshots = SnapshotManager(self.store, self.path)
        number = (snapshots.latest_id() or 0) + 1
        writer = ManifestWriter(self.store, self.path, self.schema)
        base, base_size = writer.write_list(writer.write(self.entries))
        delta, delta_size = writer.write_list([])
        index = None
        if self.indexes:
            index = f"index-manifest-{number}"
            out = io.BytesIO()
            fastavro.writer(out, INDEX_MANIFEST, self.indexes)
            self.store.create_if_absent(f"{self.path}/manifest/{index}", out.getvalue())
        rows = sum(e.file.row_count for e in self.entries)
        snapshot = Snapshot(
            id=number,
            schema_id=self.schema.id,
            base_manifest_list=base,
            delta_manifest_list=delta,
            commit_user="test",
            commit_identifier=number,
            commit_kind="OVERWRITE",
            time_millis=1_700_000_000_000 + number,
            total_record_count=rows,
            delta_record_count=0,
            base_manifest_list_size=base_size,
            delta_manifest_list_size=delta_size,
            index_manifest=index,
        )
        assert snapshots.publish(snapshot)
        return snapshot


def file_bytes(format: str, data: pa.Table) -> bytes:
    """A table of BIGINT and STRING columns as a file of this format, in small parts that can be read one by one."""
    if format == "parquet":
        return parquet_bytes(data, row_group_size=100)
    out = io.BytesIO()
    if format == "orc":
        # Incompressible stripes, so that a file has many splits.
        po.write_table(data, out, stripe_size=1024, batch_size=256, compression="uncompressed")
    else:
        kinds = {pa.int64(): "long", pa.string(): "string"}
        fields = [{"name": f.name, "type": ["null", kinds[f.type]]} for f in data.schema]
        fastavro.writer(out, {"type": "record", "name": "r", "fields": fields}, data.to_pylist())
    return out.getvalue()
