"""Convert Arrow schemas from and to JSON, in the form of the Rust implementation.

Open Data Fabric's tools show it as `arrow-json`.

There is no standard; this form reads back to the same schema.
"""

from __future__ import annotations

import base64
import json
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


_DECIMALS = ("Decimal32", "Decimal64", "Decimal128", "Decimal256")
_UNIT = " or ".join(f'"{unit}"' for unit in _BY_UNIT)
_FIELD = "a field with `name`, `data_type` and `nullable`"
#: What stands behind the name of each type that has parts.
_EXPECTED = {
    "Timestamp": f"Timestamp with a list of a unit ({_UNIT}) and a time zone or null",
    **{name: f"{name} with a unit ({_UNIT})" for name in _TIMES},
    **{name: f"{name} with {_FIELD}" for name in _LISTS},
    **{name: f"{name} with a list of two whole numbers, precision and scale" for name in _DECIMALS},
    "FixedSizeBinary": "FixedSizeBinary with a whole number of bytes",
    "FixedSizeList": f"FixedSizeList with a list of {_FIELD} and a whole number of items",
    "Struct": "Struct with a list of fields",
    "Map": "Map with a list of a field whose type is a Struct of two fields, key and value, and true or false (sorted)",
    "Dictionary": "Dictionary with a list of two types, of the index and of the values",
    "RunEndEncoded": "RunEndEncoded with a list of two fields, the ends and the values",
}
#: So much of what was found is shown.
_LONGEST = 100


def to_arrow_json(schema: pa.Schema) -> dict[str, Any]:
    """The JSON object of an Arrow schema. Raises `ConversionError` for a type that has no logical type either."""
    return {"fields": [_field_json(field) for field in schema], "metadata": _metadata_json(schema.metadata)}


def from_arrow_json(value: Any) -> pa.Schema:
    """The Arrow schema of its JSON object. Raises `ConversionError` for what is none."""
    match value:
        case {"fields": list(parts)} if isinstance(value.get("metadata"), dict | None):
            pass
        case _:
            raise _unreadable("", "an object with `fields`, a list, and perhaps `metadata`, an object of texts", value)
    try:
        return pa.schema([_field(part, "") for part in parts], _metadata(value.get("metadata")) or None)
    except (TypeError, ValueError, AttributeError, pa.ArrowException, RecursionError) as error:
        raise _unreadable("", f"parts that Arrow can make a schema of ({reason_of(error)})", value) from error


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


def _field(value: Any, where: str) -> pa.Field:
    match value:
        case {"name": str(name), "data_type": data_type, "nullable": bool(nullable)}:
            pass
        case _:
            raise _unreadable(where, "an object with `name`, `data_type` and `nullable` (true or false)", value)
    inside = f"{where}.{name}" if where else name
    type_ = _type(data_type, inside)
    if value.get("dict_is_ordered") and pa.types.is_dictionary(type_):
        type_ = pa.dictionary(type_.index_type, type_.value_type, True)
    metadata = value.get("metadata")
    if not isinstance(metadata, dict | None):
        raise _unreadable(inside, "metadata as an object of texts", metadata)
    return pa.field(name, type_, nullable, _metadata(metadata) or None)


def _type(value: Any, where: str) -> pa.DataType:
    try:
        found = _made(value, where)
    except (ValueError, TypeError, OverflowError, pa.ArrowException) as error:
        raise _unreadable(where, f"a type that Arrow can make ({reason_of(error)})", value) from error
    if found is None:
        name = next(iter(value)) if isinstance(value, dict) and len(value) == 1 else None
        raise _unreadable(where, _EXPECTED.get(str(name), "a type that this PyArrow has"), value)
    return found


def _made(value: Any, where: str) -> pa.DataType | None:
    """The type, or None where its parts are not those of a type."""
    match value:
        case str():
            return _PLAIN.get(value)
        case {"Timestamp": [str(unit), str() | None as zone]} if unit in _BY_UNIT:
            return pa.timestamp(_BY_UNIT[unit], zone)
        case {"FixedSizeBinary": int(width)}:
            return pa.binary(width)
        case {"FixedSizeList": [item, int(size)]}:
            return pa.list_(_field(item, where), size)
        case {"Struct": list(members)}:
            return pa.struct([_field(member, where) for member in members])
        case {"Map": [{"data_type": {"Struct": [key, item]}}, bool(is_sorted)]}:
            return pa.map_(_field(key, where), _field(item, where), is_sorted)
        case {"Dictionary": [index, values]}:
            return pa.dictionary(_type(index, where), _type(values, where))
        case {"RunEndEncoded": [{"data_type": ends}, {"data_type": values}]}:
            return pa.run_end_encoded(_type(ends, where), _type(values, where))
        case dict() if len(value) == 1:
            return _of_name(*next(iter(value.items())), where)
    return None


def _of_name(name: str, inside: Any, where: str) -> pa.DataType | None:
    if name in _TIMES and isinstance(inside, str) and inside in _BY_UNIT:
        return _TIMES[name][1](_BY_UNIT[inside])
    if name in _LISTS:
        return _LISTS[name][1](_field(inside, where))
    if name in _DECIMALS and hasattr(pa, name.lower()):
        match inside:
            case [int(precision), int(scale)]:
                return getattr(pa, name.lower())(precision, scale)
    return None


def _unreadable(where: str, expected: str, found: Any) -> ConversionError:
    shown = json.dumps(found, ensure_ascii=False, default=str)
    shown = shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "..."
    message = f"this is no Arrow schema in JSON: {f'{where}: ' if where else ''}expected {expected}, found {shown}"
    remedy = "give a schema as `to_arrow_json`, and `lakebed convert --to arrow-json`, make it"
    diagnostic = Diagnostic("LB2409", message, path=where or None, expected=expected, found=shown, remedy=remedy)
    return ConversionError(diagnostic)
