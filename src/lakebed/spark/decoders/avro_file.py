"""Avro data files, decoded record by record."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import time
from typing import Any

import pyarrow as pa

#: How many rows an Arrow batch holds.
_BATCH = 10_000
_Convert = Callable[[Any], Any]


def avro_batches(data: bytes, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The columns of `schema`, by name; one that the file lacks is NULL."""
    import fastavro

    records = fastavro.reader(io.BytesIO(data))
    columns = [(field.name, _converter(field.type)) for field in schema]
    rows: list[Mapping[str, Any]] = []
    for record in records:
        if not isinstance(record, dict):
            raise ValueError("the file holds something else than records")
        rows.append(record)
        if len(rows) == _BATCH:
            yield _batch(rows, columns, schema)
            rows = []
    if rows:
        yield _batch(rows, columns, schema)


def _batch(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[tuple[str, _Convert]], schema: pa.Schema
) -> pa.RecordBatch:
    arrays = [
        pa.array([convert(row.get(name)) for row in rows], type=field.type)
        for (name, convert), field in zip(columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _converter(type_: pa.DataType) -> _Convert:
    """From what the Avro library gives to what Arrow takes for a type."""
    if pa.types.is_struct(type_):
        members = [(f.name, _converter(f.type)) for f in type_.fields]
        return lambda v: None if v is None else {n: convert(v.get(n)) for n, convert in members}
    if pa.types.is_list(type_):
        element = _converter(type_.value_type)
        return lambda v: None if v is None else [element(e) for e in v]
    if pa.types.is_map(type_):
        key, value = _converter(type_.key_type), _converter(type_.item_type)
        return lambda v: None if v is None else [(key(k), value(i)) for k, i in _entries(v)]
    if pa.types.is_int32(type_):
        return lambda v: _millis(v) if isinstance(v, time) else v
    return lambda v: v


def _entries(value: Any) -> Iterator[tuple[Any, Any]]:
    """A map with text keys is a map in Avro; any other is an array of key and value."""
    if isinstance(value, Mapping):
        yield from value.items()
    else:
        for entry in value:
            yield entry["key"], entry["value"]


def _millis(moment: time) -> int:
    return ((moment.hour * 60 + moment.minute) * 60 + moment.second) * 1000 + moment.microsecond // 1000
