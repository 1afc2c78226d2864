"""Read Avro data files as Arrow batches, record by record.

Timestamps, days, times and decimals are taken as the numbers that are stored, with the unit that the writer's schema
names: Python's own values would end at the year 9999. The kind of a timestamp comes from the table, since engines mark
both kinds with either of Avro's marks.
"""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Context, Decimal
from typing import Any, BinaryIO

import pyarrow as pa

from lakebed.diagnostics import reason_of
from lakebed.format.avro_container import arrow_snappy, read_header, with_stored_values, without_snappy

#: How many rows an Arrow batch holds.
_BATCH = 10_000
_EXACT = Context(prec=100)
#: From the unit of a stored number to microseconds: a factor, or what divides it.
_MICROS = {"millis": (1000, 1), "micros": (1, 1), "nanos": (1, 1000)}
#: None stands for values that need no change.
_Convert = Callable[[Any], Any] | None


def avro_batches(data: bytes, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The columns of `schema`, by name; one that the file lacks is NULL. Raises ValueError for what does not fit."""
    header = read_header(data)
    if header.codec == "snappy" and importlib.util.find_spec("cramjam") is None:
        data = without_snappy(data, arrow_snappy)
        header = read_header(data)
    source = io.BytesIO(with_stored_values(data, header))
    names = _Names(header.schema)
    stored = names.fields(header.schema)
    columns = [(f.name, _converter(f.type, stored.get(f.name), names, f.name)) for f in schema]
    rows: list[Mapping[str, Any]] = []
    for record in _records(source):
        rows.append(record)
        if len(rows) == _BATCH:
            yield _batch(rows, columns, schema)
            rows = []
    if rows:
        yield _batch(rows, columns, schema)


def _records(source: BinaryIO) -> Iterator[dict[str, Any]]:
    """Each codec has errors of its own for bytes that are not what they should be."""
    import fastavro

    try:
        for record in fastavro.reader(source):
            assert isinstance(record, dict)
            yield record
    except Exception as e:
        raise ValueError(reason_of(e)) from e


def _batch(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[tuple[str, _Convert]], schema: pa.Schema
) -> pa.RecordBatch:
    arrays = []
    for (name, convert), field in zip(columns, schema, strict=True):
        values = [row.get(name) for row in rows]
        try:
            if convert is not None:
                values = [None if v is None else convert(v) for v in values]
            arrays.append(pa.array(values, type=field.type))
        except (ValueError, TypeError, LookupError, ArithmeticError, pa.ArrowException) as e:
            raise ValueError(f"column {name}: {reason_of(e)}") from e
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


class _Names:
    """The named types of a schema, which later parts of it may refer to."""

    def __init__(self, schema: Any) -> None:
        self._known: dict[str, Any] = {}
        self._collect(schema, "")

    def _collect(self, schema: Any, space: str) -> None:
        match schema:
            case list():
                for branch in schema:
                    self._collect(branch, space)
            case Mapping():
                if isinstance(schema.get("name"), str) and schema.get("type") in ("record", "fixed", "enum"):
                    full = _full_name(schema["name"], schema.get("namespace", space))
                    self._known[full] = schema
                    self._known.setdefault(full.rpartition(".")[2], schema)
                    space = full.rpartition(".")[0]
                inner = [schema.get(k) for k in ("items", "values")] + [f["type"] for f in schema.get("fields", ())]
                if isinstance(schema.get("type"), (list, Mapping)):
                    inner.append(schema["type"])
                for part in inner:
                    self._collect(part, space)

    def resolved(self, schema: Any) -> Any:
        """The type that a schema means: the branch of a union that is not null, what a name stands for."""
        while True:
            match schema:
                case list():
                    branches = [b for b in schema if b != "null"]
                    if len(branches) != 1:
                        raise ValueError(f"a union of {len(branches)} types is not known in data files")
                    schema = branches[0]
                case str() if schema in self._known:
                    schema = self._known[schema]
                case str() if schema.rpartition(".")[2] in self._known:
                    schema = self._known[schema.rpartition(".")[2]]
                case Mapping() if isinstance(schema["type"], (list, Mapping)):
                    schema = schema["type"]
                case _:
                    return schema

    def fields(self, schema: Any) -> dict[str, Any]:
        """The schemas of a record's fields. Raises ValueError for what is no record."""
        found = self.resolved(schema)
        if not isinstance(found, Mapping) or found.get("type") != "record":
            raise ValueError("the file holds something else than records")
        return {f["name"]: f["type"] for f in found["fields"]}


def _full_name(name: str, space: str) -> str:
    return name if "." in name or not space else f"{space}.{name}"


def _converter(type_: pa.DataType, stored: Any, names: _Names, path: str) -> _Convert:
    """From a stored value to what Arrow takes for a type; `stored` None where the file has no such column."""
    if stored is None:
        return None
    found = names.resolved(stored)
    mark = found.get("logicalType", "") if isinstance(found, Mapping) else ""
    if pa.types.is_struct(type_):
        return _struct(type_, names.fields(found), names, path)
    if pa.types.is_list(type_):
        return _each(_converter(type_.value_type, found["items"], names, f"{path}.element"))
    if pa.types.is_map(type_):
        return _map(type_, found, names, path)
    if pa.types.is_timestamp(type_):
        return _scaled(*_unit(mark, found, path))
    if pa.types.is_int32(type_) and mark.startswith("time-"):
        factor, divisor = _unit(mark, found, path)
        return _scaled(factor, divisor * 1000)
    if pa.types.is_decimal(type_):
        return _decimal(-int(found.get("scale", 0)))
    return None


def _struct(type_: pa.DataType, stored: Mapping[str, Any], names: _Names, path: str) -> _Convert:
    members = [(f.name, _converter(f.type, stored.get(f.name), names, f"{path}.{f.name}")) for f in type_]

    def convert(value: Any) -> Any:
        out = {}
        for name, change in members:
            inner = value.get(name)
            out[name] = inner if inner is None or change is None else change(inner)
        return out

    return convert


def _each(change: _Convert) -> _Convert:
    if change is None:
        return None
    return lambda values: [None if v is None else change(v) for v in values]


def _map(type_: pa.DataType, stored: Any, names: _Names, path: str) -> _Convert:
    """A map with text keys is a map in Avro; any other is an array of key and value."""
    if stored["type"] == "map":
        key, value = None, _converter(type_.item_type, stored["values"], names, f"{path}.value")
    else:
        parts = names.fields(stored["items"])
        key = _converter(type_.key_type, parts["key"], names, f"{path}.key")
        value = _converter(type_.item_type, parts["value"], names, f"{path}.value")

    def convert(entries: Any) -> Any:
        pairs = entries.items() if isinstance(entries, Mapping) else ((e["key"], e["value"]) for e in entries)
        return [(_changed(key, k), _changed(value, v)) for k, v in pairs]

    return convert


def _changed(change: _Convert, value: Any) -> Any:
    return value if value is None or change is None else change(value)


def _unit(mark: str, stored: Any, path: str) -> tuple[int, int]:
    unit = _MICROS.get(mark.rpartition("-")[2])
    if unit is None:
        raise ValueError(f"column {path}: the file says of the type {stored!r} no unit of time")
    return unit


def _scaled(factor: int, divisor: int) -> _Convert:
    """Rounds down."""
    return None if factor == divisor else lambda v: v * factor // divisor


def _decimal(exponent: int) -> _Convert:
    return lambda v: Decimal(int.from_bytes(v, "big", signed=True)).scaleb(exponent, _EXACT)
