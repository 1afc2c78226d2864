"""Data files in every format, as other engines write them, and their commits.

Rows are given as raw values: days and milliseconds as numbers, timestamps as microseconds, maps as lists of pairs,
structs as dicts. Each format gets the same rows in its own form.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal
from itertools import count
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

import lakebed
from lakebed.catalog import TableName
from lakebed.format import binary_row
from lakebed.format.live_files import partition_types, snapshot_manifests
from lakebed.format.manifest import (
    DataFileMeta,
    Kind,
    ManifestEntry,
    ManifestFileMeta,
    describe,
    manifest_path,
    write_list,
    write_manifest,
)
from lakebed.format.partition import data_directory, partition_path
from lakebed.format.snapshot import Snapshot, SnapshotManager
from lakebed.physical import paimon_types as p
from lakebed.physical.paimon_types import DataField, DataType
from lakebed.store import LocalStore

FORMATS = ("parquet", "orc", "avro")
Row = Mapping[str, Any]
_MILLIS, _MICROS = 3, 6
_numbers = count(1)
_FLAT = {
    p.Boolean: pa.bool_(),
    p.TinyInt: pa.int8(),
    p.SmallInt: pa.int16(),
    p.Int: pa.int32(),
    p.BigInt: pa.int64(),
    p.Float: pa.float32(),
    p.Double: pa.float64(),
    p.Char: pa.string(),
    p.VarChar: pa.string(),
    p.Binary: pa.binary(),
    p.VarBinary: pa.binary(),
    p.Date: pa.date32(),
}
_AVRO = {
    p.Boolean: "boolean",
    p.TinyInt: "int",
    p.SmallInt: "int",
    p.Int: "int",
    p.BigInt: "long",
    p.Float: "float",
    p.Double: "double",
    p.Char: "string",
    p.VarChar: "string",
    p.Binary: "bytes",
    p.VarBinary: "bytes",
    p.Date: {"type": "int", "logicalType": "date"},
    p.Time: {"type": "int", "logicalType": "time-millis"},
}


def file_bytes(format: str, fields: Sequence[DataField], rows: Sequence[Row], **options: Any) -> bytes:
    """A file of these rows; `options` are those of the format's writer."""
    out = io.BytesIO()
    if format == "avro":
        schema = {"type": "record", "name": "org.apache.paimon.avro.generated.record", "fields": []}
        schema["fields"] = [_avro_field(f, "record") for f in fields]
        records = [{f.name: _avro_value(f.type, row.get(f.name)) for f in fields} for row in rows]
        fastavro.writer(out, schema, records, codec=options.get("codec", "zstandard"))
        return out.getvalue()
    table = pa.table(
        {
            f.name: pa.array([_arrow_value(f.type, row.get(f.name)) for row in rows], _arrow(f.type, format))
            for f in fields
        }
    )
    if format == "orc":
        orc.write_table(table, out, **options)
    else:
        pq.write_table(table, out, **options)
    return out.getvalue()


def put_rows(
    lake: lakebed.Lake,
    table: str,
    format: str,
    rows: Sequence[Row],
    *,
    name: str | None = None,
    partition: tuple[Any, ...] = (),
    directory: str | None = None,
    **options: Any,
) -> Path:
    """Commit one file under the newest schema; `directory` puts it outside of the table."""
    database, _, short = table.partition(".")
    path = lake.tables.table_path(TableName(database, short))
    schema = lake.tables.get_schema_manager(database, short).load_latest_schema()
    content = file_bytes(format, schema.fields, rows, **options)
    name = name or f"foreign-{next(_numbers)}.{format}"
    place = Path(directory.removeprefix("file:")) if directory else Path(path, "bucket-0")
    if partition:
        where = partition_path(schema.partition_keys, partition_types(schema), partition, schema.options)
        place = Path(data_directory(path, where, 0, schema.options))
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes(content)
    external = None if directory is None else f"{directory}/{name}"
    meta = DataFileMeta(
        file_name=name,
        file_size=len(content),
        row_count=len(rows),
        schema_id=schema.id,
        value_stats_cols=(),
        external_path=external,
    )
    row = binary_row.codec(partition_types(schema)).encode(partition)
    commit(path, [ManifestEntry(Kind.ADD, row, 0, -1, meta)], partition_types(schema), schema.id)
    return place / name


def commit(
    table_path: str,
    entries: Sequence[ManifestEntry],
    types: Sequence[DataType],
    schema_id: int,
    *,
    manifest: Callable[[Sequence[ManifestEntry]], bytes] = write_manifest,
    manifest_list: Callable[[Sequence[ManifestFileMeta]], bytes] = write_list,
) -> Snapshot:
    """One more snapshot, without hints; `manifest` and `manifest_list` give the bytes of its files."""
    store = LocalStore()
    snapshots = SnapshotManager(store, table_path)
    last = snapshots.latest()
    number = 1 if last is None else last.id + 1
    before = [] if last is None else snapshot_manifests(store, table_path, last)
    content = manifest(entries)
    described = describe(f"manifest-{number}", len(content), entries, types, schema_id)
    files = {
        described.file_name: content,
        f"list-{number}-base": manifest_list(before),
        f"list-{number}-delta": manifest_list([described]),
    }
    for name, data in files.items():
        store.create_if_absent(manifest_path(table_path, name), data)
    snapshot = Snapshot(
        id=number,
        schema_id=schema_id,
        base_manifest_list=f"list-{number}-base",
        delta_manifest_list=f"list-{number}-delta",
        commit_user="foreign",
        commit_identifier=number,
        commit_kind="APPEND",
        time_millis=number,
    )
    store.create_if_absent(snapshots.path(number), snapshot.dumps())
    return snapshot


def _arrow(type_: DataType, format: str) -> pa.DataType:
    match type_:
        case p.Decimal():
            return pa.decimal128(type_.precision, type_.scale)
        case p.Time():
            return pa.int32() if format == "orc" else pa.time32("ms")
        case p.Timestamp() | p.LocalZonedTimestamp():
            zone = "UTC" if isinstance(type_, p.LocalZonedTimestamp) else None
            return pa.timestamp(_unit(type_.precision), zone)
        case p.Array():
            return pa.list_(_arrow(type_.element, format))
        case p.Map():
            return pa.map_(_arrow(type_.key, format), _arrow(type_.value, format))
        case p.Multiset():
            return pa.map_(_arrow(type_.element, format), pa.int32())
        case p.Row():
            return pa.struct([(f.name, _arrow(f.type, format)) for f in type_.fields])
        case _:
            return _FLAT[type(type_)]


def _unit(precision: int) -> str:
    return "ms" if precision <= _MILLIS else "us" if precision <= _MICROS else "ns"


def _arrow_value(type_: DataType, value: Any) -> Any:
    if value is None:
        return None
    match type_:
        case p.Timestamp(precision=digits) | p.LocalZonedTimestamp(precision=digits):
            return value // 1000 if digits <= _MILLIS else value if digits <= _MICROS else value * 1000
        case p.Array():
            return [_arrow_value(type_.element, v) for v in value]
        case p.Map():
            return [(_arrow_value(type_.key, k), _arrow_value(type_.value, v)) for k, v in value]
        case p.Row():
            return {f.name: _arrow_value(f.type, value.get(f.name)) for f in type_.fields}
        case _:
            return value


def _avro_field(field: DataField, name: str) -> dict[str, Any]:
    return {"name": field.name, "type": ["null", _avro(field.type, f"{name}_{field.name}")], "default": None}


def _avro(type_: DataType, name: str) -> Any:
    match type_:
        case p.Decimal():
            return {"type": "bytes", "logicalType": "decimal", "precision": type_.precision, "scale": type_.scale}
        case p.Timestamp(precision=digits) | p.LocalZonedTimestamp(precision=digits):
            # Java Paimon marks the two kinds the other way round.
            local = "local-" if isinstance(type_, p.LocalZonedTimestamp) else ""
            unit = "millis" if digits <= _MILLIS else "micros" if digits <= _MICROS else "nanos"
            return {"type": "long", "logicalType": f"{local}timestamp-{unit}"}
        case p.Array():
            return {"type": "array", "items": ["null", _avro(type_.element, name)]}
        case p.Map() | p.Multiset():
            key = type_.key if isinstance(type_, p.Map) else type_.element
            value = type_.value if isinstance(type_, p.Map) else p.Int()
            inner = ["null", _avro(value, f"{name}_value")]
            if isinstance(key, (p.VarChar, p.Char)):
                return {"type": "map", "values": inner}
            fields = [{"name": "key", "type": _avro(key, f"{name}_key")}, {"name": "value", "type": inner}]
            return {"type": "array", "logicalType": "map", "items": {"type": "record", "name": name, "fields": fields}}
        case p.Row():
            return {"type": "record", "name": name, "fields": [_avro_field(f, name) for f in type_.fields]}
        case _:
            return _AVRO[type(type_)]


def _avro_value(type_: DataType, value: Any) -> Any:
    if value is None:
        return None
    match type_:
        case p.Decimal():
            return _unscaled(value, type_.scale)
        case p.Map() | p.Multiset():
            key = type_.key if isinstance(type_, p.Map) else type_.element
            inner = type_.value if isinstance(type_, p.Map) else p.Int()
            pairs = [(_avro_value(key, k), _avro_value(inner, v)) for k, v in value]
            return dict(pairs) if isinstance(key, (p.VarChar, p.Char)) else [{"key": k, "value": v} for k, v in pairs]
        case p.Array():
            return [_avro_value(type_.element, v) for v in value]
        case p.Row():
            return {f.name: _avro_value(f.type, value.get(f.name)) for f in type_.fields}
        case _:
            return _arrow_value(type_, value)


def _unscaled(value: Decimal, scale: int) -> bytes:
    number = int(value.scaleb(scale, Context(prec=60)))
    return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
