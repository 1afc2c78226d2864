"""Convert the logical schema to the JSON Schema (draft 2020-12) of one row as a JSON object.

It describes what `lakebed ingest` takes as NdJson and what `lakebed read --json` prints: decimals, unsigned 64-bit
integers, times and durations as text or numbers, instants as RFC 3339 text, bytes in base64, and maps whose keys are
not text as lists of pairs. Attributes come along: a description as `description`, `lakebed.dev/enum` as `enum`,
`lakebed.dev/pattern` as `pattern`, `lakebed.dev/default` as `default`; all of them under `x-odf`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from lakebed.convert.loss import Loss, LossReport
from lakebed.model import Extra, Field, LogicalType, Schema, canonical_json, required, type_json
from lakebed.model import types as logical
from lakebed.model.extra import DEFAULT, ENUM, MAXIMUM, MINIMUM, PATTERN
from lakebed.physical import path_text

Json: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER_TEXT = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
_INTEGERS: dict[type[LogicalType], tuple[int, int]] = {
    logical.Int8: (-(2**7), 2**7 - 1),
    logical.Int16: (-(2**15), 2**15 - 1),
    logical.Int32: (-(2**31), 2**31 - 1),
    logical.Int64: (-(2**63), 2**63 - 1),
    logical.UInt8: (0, 2**8 - 1),
    logical.UInt16: (0, 2**16 - 1),
    logical.UInt32: (0, 2**32 - 1),
}
_NUMBER: Json = {"type": "number"}
#: What the JSON Schema of a value does not say by itself.
_SAID_BY_ODF = (logical.Decimal, logical.Time, logical.Duration, logical.Timestamp, logical.UInt64, logical.Binary)


def to_row_schema(schema: Schema) -> tuple[Json, LossReport]:
    """The JSON Schema of a row. Losses are the parts of types that no keyword says; `x-odf` keeps them for readers."""
    losses: list[Loss] = []
    out: Json = {"$schema": DIALECT, **_object(schema.fields, (), losses)}
    return out | _annotations(schema.extra, None), LossReport(tuple(losses))


def _object(fields: tuple[Field, ...], path: tuple[str, ...], losses: list[Loss]) -> Json:
    return {
        "type": "object",
        "properties": {field.name: _field(field, path, losses) for field in fields},
        "required": [field.name for field in fields if not field.nullable and field.type != logical.Null()],
        "additionalProperties": False,
    }


def _field(field: Field, path: tuple[str, ...], losses: list[Loss]) -> Json:
    return _nullable(field.type, (*path, field.name), losses, field.extra) | _annotations(field.extra, field.type)


def _nullable(type_: LogicalType, path: tuple[str, ...], losses: list[Loss], extra: Extra = Extra()) -> Json:
    said = _type(required(type_), path, losses)
    pattern, values = extra.get(PATTERN), extra.get(ENUM)
    if isinstance(pattern, str):
        said["pattern"] = f"^(?:{pattern})$"
    if isinstance(values, list):
        said["enum"] = values
    said |= _bounds(said, extra)
    if isinstance(type_, logical.Option):
        return {"anyOf": [said, {"type": "null"}]}
    return said


def _bounds(said: Json, extra: Extra) -> Json:
    """The bounds that are declared for a number; others stay in `x-odf`. JSON Schema looks at them for numbers only."""
    declared = {key: extra[name] for key, name in (("minimum", MINIMUM), ("maximum", MAXIMUM)) if name in extra}
    if said.get("type") == "integer":
        return {key: value for key, value in declared.items() if isinstance(value, int)}
    if not declared or said.get("anyOf", [{}])[0] != _NUMBER:
        return {}
    beyond = {"maximum": "Infinity", "minimum": "-Infinity"}
    named = [name for key, name in beyond.items() if key not in declared]
    return {"anyOf": [_NUMBER | declared, *([{"enum": named}] if named else [])]}


def _annotations(extra: Extra, type_: LogicalType | None) -> Json:
    out: Json = {}
    if extra.description is not None:
        out["description"] = extra.description
    if DEFAULT in extra:
        out["default"] = extra[DEFAULT]
    odf: Json = {}
    if type_ is not None and isinstance(required(type_), _SAID_BY_ODF):
        odf["type"] = type_json(type_)
    if extra:
        odf["extra"] = extra.to_json()
    return out | ({"x-odf": odf} if odf else {})


def _type(type_: LogicalType, path: tuple[str, ...], losses: list[Loss]) -> Json:
    match type_:
        case logical.Bool():
            return {"type": "boolean"}
        case logical.Null():
            return {"type": "null"}
        case logical.String():
            return {"type": "string"}
        case logical.Date():
            return {"type": "string", "format": "date"}
        case logical.Float16() | logical.Float32() | logical.Float64():
            return {"anyOf": [_NUMBER, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
        case logical.List():
            return _list(type_, path, losses)
        case logical.Map():
            return _map(type_, path, losses)
        case logical.Struct():
            return _object(type_.fields, path, losses)
        case _ if type(type_) in _INTEGERS:
            low, high = _INTEGERS[type(type_)]
            return {"type": "integer", "minimum": low, "maximum": high}
        case _:
            losses.append(Loss(path_text(path), f"all of {canonical_json(type_json(type_, normalize=True))}"))
            return _loosely(type_)


def _loosely(type_: LogicalType) -> Json:
    """Values whose range, digits or unit no keyword says."""
    match type_:
        case logical.Binary():
            return {"type": "string", "contentEncoding": "base64"}
        case logical.Timestamp():
            return {"type": "string", "format": "date-time"}
        case logical.UInt64():
            return {"type": ["integer", "string"], "minimum": 0, "maximum": 2**64 - 1, "pattern": r"^\d+$"}
        case logical.Time():
            return {"type": ["string", "integer"]}
        case _:
            return {"type": ["number", "string"], "pattern": _NUMBER_TEXT}


def _list(type_: logical.List, path: tuple[str, ...], losses: list[Loss]) -> Json:
    out: Json = {"type": "array", "items": _nullable(type_.item_type, (*path, "element"), losses)}
    if type_.fixed_length is not None:
        out |= {"minItems": type_.fixed_length, "maxItems": type_.fixed_length}
    return out


def _map(type_: logical.Map, path: tuple[str, ...], losses: list[Loss]) -> Json:
    value = _nullable(type_.value_type, (*path, "value"), losses)
    if type_.keys_sorted:
        losses.append(Loss(path_text(path), "that the keys are sorted"))
    if required(type_.key_type) == logical.String():
        return {"type": "object", "additionalProperties": value}
    pair = [_nullable(type_.key_type, (*path, "key"), losses), value]
    return {"type": "array", "items": {"type": "array", "prefixItems": pair, "items": False, "minItems": 2}}
