"""Arrow schemas as JSON, in the form of the Rust implementation, which Open Data Fabric's tools show as `arrow-json`.

There is no standard; this form reads back to the same schema.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from lakebed.diagnostics import Diagnostic, reason_of
from lakebed.errors import ConversionError

_PLAIN: dict[str, pa.DataType] = {
    "Null": pa.null(),
    "Boolean": pa.bool_(),
    **{
        f"{sign}Int{bits}": getattr(pa, f"{prefix}int{bits}")()
        for sign, prefix in (("", ""), ("U", "u"))
        for bits in (8, 16, 32, 64)
    },
    **{f"Float{bits}": getattr(pa, f"float{bits}")() for bits in (16, 32, 64)},
    "Utf8": pa.string(),
    "LargeUtf8": pa.large_string(),
    "Utf8View": pa.string_view(),
    "Binary": pa.binary(),
    "LargeBinary": pa.large_binary(),
    "BinaryView": pa.binary_view(),
    "Date32": pa.date32(),
    "Date64": pa.date64(),
}
_NAMES = {type_: name for name, type_ in _PLAIN.items()}
_UNITS = {"s": "Second", "ms": "Millisecond", "us": "Microsecond", "ns": "Nanosecond"}
_BY_UNIT = {name: unit for unit, name in _UNITS.items()}
_LISTS: dict[str, tuple[Callable[[pa.DataType], bool], Callable[[pa.Field], pa.DataType]]] = {
    "List": (pa.types.is_list, pa.list_),
    "LargeList": (pa.types.is_large_list, pa.large_list),
    "ListView": (pa.types.is_list_view, pa.list_view),
    "LargeListView": (pa.types.is_large_list_view, pa.large_list_view),
}
_TIMES: dict[str, tuple[Callable[[pa.DataType], bool], Callable[[str], pa.DataType]]] = {
    "Time32": (pa.types.is_time32, pa.time32),
    "Time64": (pa.types.is_time64, pa.time64),
    "Duration": (pa.types.is_duration, pa.duration),
}


def to_arrow_json(schema: pa.Schema) -> dict[str, Any]:
    """The JSON object of an Arrow schema. Raises `ConversionError` for a type that has no logical type either."""
    return {"fields": [_field_json(field) for field in schema], "metadata": _metadata_json(schema.metadata)}


def from_arrow_json(value: Any) -> pa.Schema:
    """The Arrow schema of its JSON object. Raises `ConversionError` for what is none."""
    try:
        fields = [_field(part) for part in value["fields"]]
        return pa.schema(fields, _metadata(value.get("metadata")) or None)
    except (KeyError, TypeError, ValueError, AttributeError, pa.ArrowException, RecursionError) as error:
        raise _unreadable(reason_of(error)) from error


def _metadata_json(metadata: Mapping[bytes, bytes] | None) -> dict[str, str]:
    return {_text(key): _text(value) for key, value in sorted((metadata or {}).items())}


def _text(part: bytes) -> str:
    try:
        return part.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(part).decode()


def _metadata(value: Any) -> dict[bytes, bytes]:
    return {_bytes(key): _bytes(part) for key, part in (value or {}).items()}


def _bytes(text: str) -> bytes:
    return base64.b64decode(text[7:], validate=True) if text.startswith("base64:") else text.encode()


def _field_json(field: pa.Field) -> dict[str, Any]:
    ordered = field.type.ordered if pa.types.is_dictionary(field.type) else False
    return {
        "name": field.name,
        "data_type": _type_json(field.type),
        "nullable": field.nullable,
        "dict_id": 0,
        "dict_is_ordered": ordered,
        "metadata": _metadata_json(field.metadata),
    }


def _type_json(type_: pa.DataType) -> Any:
    if type_ in _NAMES:
        return _NAMES[type_]
    for name, (is_kind, _) in _TIMES.items():
        if is_kind(type_):
            return {name: _UNITS[type_.unit]}
    for name, (is_list, _) in _LISTS.items():
        if is_list(type_):
            return {name: _field_json(type_.value_field)}
    if pa.types.is_timestamp(type_):
        return {"Timestamp": [_UNITS[type_.unit], type_.tz]}
    if pa.types.is_decimal(type_):
        return {f"Decimal{type_.bit_width}": [type_.precision, type_.scale]}
    if pa.types.is_fixed_size_binary(type_) and not isinstance(type_, pa.BaseExtensionType):
        return {"FixedSizeBinary": type_.byte_width}
    return _nested_json(type_)


def _nested_json(type_: pa.DataType) -> Any:
    if pa.types.is_fixed_size_list(type_):
        return {"FixedSizeList": [_field_json(type_.value_field), type_.list_size]}
    if pa.types.is_struct(type_):
        return {"Struct": [_field_json(type_.field(i)) for i in range(type_.num_fields)]}
    if pa.types.is_map(type_):
        entries = pa.field("entries", pa.struct([type_.key_field, type_.item_field]), False)
        return {"Map": [_field_json(entries), type_.keys_sorted]}
    if pa.types.is_dictionary(type_):
        return {"Dictionary": [_type_json(type_.index_type), _type_json(type_.value_type)]}
    if pa.types.is_run_end_encoded(type_):
        ends, values = pa.field("run_ends", type_.run_end_type, False), pa.field("values", type_.value_type)
        return {"RunEndEncoded": [_field_json(ends), _field_json(values)]}
    raise ConversionError.of("LB2401", f"the Arrow type {type_} cannot be said in JSON", found=str(type_))


def _field(value: Any) -> pa.Field:
    type_ = _type(value["data_type"])
    if value.get("dict_is_ordered") and pa.types.is_dictionary(type_):
        type_ = pa.dictionary(type_.index_type, type_.value_type, True)
    return pa.field(value["name"], type_, value["nullable"], _metadata(value.get("metadata")) or None)


def _type(value: Any) -> pa.DataType:
    match value:
        case str() if value in _PLAIN:
            return _PLAIN[value]
        case {"Timestamp": [str(unit), str() | None as zone]}:
            return pa.timestamp(_BY_UNIT[unit], zone)
        case {"FixedSizeBinary": int(width)}:
            return pa.binary(width)
        case {"FixedSizeList": [item, int(size)]}:
            return pa.list_(_field(item), size)
        case {"Struct": list(members)}:
            return pa.struct([_field(member) for member in members])
        case {"Map": [entries, bool(is_sorted)]}:
            key, item = (_field(part) for part in entries["data_type"]["Struct"])
            return pa.map_(key, item, is_sorted)
        case {"Dictionary": [index, values]}:
            return pa.dictionary(_type(index), _type(values))
        case {"RunEndEncoded": [ends, values]}:
            return pa.run_end_encoded(_type(ends["data_type"]), _type(values["data_type"]))
        case dict() if len(value) == 1:
            ((name, inside),) = value.items()
            if name in _TIMES:
                return _TIMES[name][1](_BY_UNIT[inside])
            if name in _LISTS:
                return _LISTS[name][1](_field(inside))
            if name in ("Decimal32", "Decimal64", "Decimal128", "Decimal256") and hasattr(pa, name.lower()):
                precision, scale = inside
                return getattr(pa, name.lower())(precision, scale)
    raise _unreadable(f"{str(value)[:100]} is no type that this PyArrow has")


def _unreadable(reason: str) -> ConversionError:
    remedy = "give a schema as `to_arrow_json`, and `lakebed convert --to arrow-json`, make it"
    return ConversionError(Diagnostic("LB2409", f"this is no Arrow schema in JSON: {reason}", remedy=remedy))
