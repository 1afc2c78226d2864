"""One text-friendly encoding of rows, so that the answers of different engines can be compared.

A row is a list in column order. Booleans, integers and texts are themselves; a FLOAT is the shortest decimal that
means it; NaN and the infinities are texts; DECIMAL is text with all its digits; bytes are `hex:` and hex digits; dates
and times are ISO; a timestamp is ISO with nine digits of fraction and a final `Z` where it means an instant. ARRAY is a
list, ROW a list in field order, MAP a list of [key, value] sorted by text.

Only pyarrow is imported: the worker in the referees' environment loads this file too.
"""

from __future__ import annotations

import datetime
import decimal
import itertools
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

Value = Any
Row = list[Value]

_NANOS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_EPOCH = datetime.datetime(1970, 1, 1)


def arrow_rows(table: pa.Table | pa.RecordBatch) -> list[Row]:
    """The rows of an Arrow table."""
    columns = [_encode(table.column(i)) for i in range(table.num_columns)]
    return [list(row) for row in zip(*columns, strict=True)]


def spark_rows(frame: Any) -> list[Row]:
    """The rows of a Spark data frame. A TIME column is its integer: milliseconds of the day."""
    return arrow_rows(frame.toArrow())


def arrow_table(rows: Iterable[Sequence[Value] | Mapping[str, Value]], schema: pa.Schema) -> pa.Table:
    """Rows in the encoding (or plain Python values, or objects by column name) as an Arrow table."""
    named = [row if isinstance(row, Mapping) else dict(zip(schema.names, row, strict=True)) for row in rows]
    columns = [pa.array([decode(row.get(f.name), f.type) for row in named], type=f.type) for f in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def decode(value: Value, kind: pa.DataType) -> Value:
    """A value of the encoding as what pyarrow takes for a type; values of Python pass through."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        pairs = value.items() if isinstance(value, Mapping) else value
        return [(decode(k, kind.key_type), decode(v, kind.item_type)) for k, v in pairs]
    if pa.types.is_struct(kind):
        return _decode_struct(value, kind)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [decode(item, kind.value_type) for item in value]
    if pa.types.is_decimal(kind):
        return value if isinstance(value, decimal.Decimal) else decimal.Decimal(str(value))
    return _decode_text(value, kind) if isinstance(value, str) else value


def _decode_struct(value: Value, kind: pa.StructType) -> dict[str, Value]:
    fields = [kind.field(i) for i in range(kind.num_fields)]
    if isinstance(value, Mapping):
        return {f.name: decode(value.get(f.name), f.type) for f in fields}
    return {f.name: decode(item, f.type) for f, item in zip(fields, value, strict=True)}


def _decode_text(text: str, kind: pa.DataType) -> Value:
    if pa.types.is_timestamp(kind):
        return _nanoseconds(text) // _NANOS[kind.unit]
    if pa.types.is_date(kind):
        return datetime.date.fromisoformat(text)
    if pa.types.is_time(kind):
        return datetime.time.fromisoformat(text)
    if pa.types.is_floating(kind):
        return float(text)
    if text.startswith("hex:") and (
        pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    ):
        return bytes.fromhex(text.removeprefix("hex:"))
    return text


def _nanoseconds(text: str) -> int:
    """Nanoseconds since the epoch of ISO text with up to nine digits of fraction, read as UTC."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    seconds = (datetime.datetime.fromisoformat(whole) - _EPOCH) // datetime.timedelta(seconds=1)
    return seconds * 1_000_000_000 + int(fraction.ljust(9, "0") or 0)


def _encode(array: Any) -> list[Value]:
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in _encode(chunk)]
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _encode(array.storage)
    if pa.types.is_dictionary(kind):
        return _encode(array.dictionary_decode())
    if pa.types.is_nested(kind):
        return _encode_nested(array, kind)
    if pa.types.is_timestamp(kind):
        # Through integers: Python's datetime has no nanoseconds.
        return [None if v is None else _timestamp(v, kind) for v in array.view(pa.int64()).to_pylist()]
    return [None if v is None else _scalar(v, kind) for v in array.to_pylist()]


def _encode_nested(array: Any, kind: pa.DataType) -> list[Value]:
    present = array.is_valid().to_pylist()
    if pa.types.is_struct(kind):
        children = [_encode(array.field(i)) for i in range(kind.num_fields)]
        return [[child[i] for child in children] if there else None for i, there in enumerate(present)]
    if pa.types.is_fixed_size_list(kind):
        items = _encode(array.values)
        bounds = [
            ((array.offset + i) * kind.list_size, (array.offset + i + 1) * kind.list_size) for i in range(len(array))
        ]
    else:
        bounds = list(itertools.pairwise(array.offsets.to_pylist()))
        if pa.types.is_map(kind):
            keys, values = _encode(array.keys), _encode(array.items)
            items = [list(pair) for pair in zip(keys, values, strict=True)]
        else:
            items = _encode(array.values)
    lists = [items[start:end] if there else None for (start, end), there in zip(bounds, present, strict=True)]
    if pa.types.is_map(kind):
        return [None if entries is None else sorted(entries, key=str) for entries in lists]
    return lists


def _timestamp(count: int, kind: pa.TimestampType) -> str:
    seconds, fraction = divmod(count * _NANOS[kind.unit], 1_000_000_000)
    text = (_EPOCH + datetime.timedelta(seconds=seconds)).isoformat()
    return f"{text}.{fraction:09d}{'Z' if kind.tz else ''}"


def _scalar(value: Value, kind: pa.DataType) -> Value:
    if isinstance(value, float):
        if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return shortest_float(value) if pa.types.is_float32(kind) else value
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return f"hex:{value.hex()}"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value


def shortest_float(value: float) -> float:
    """The double with the fewest digits that is the same single-precision number."""
    for digits in range(1, 10):
        candidate = float(f"{value:.{digits}g}")
        if abs(candidate) <= 3.4028235677973366e38 and struct.pack("<f", candidate) == struct.pack("<f", value):
            return candidate
    return value
