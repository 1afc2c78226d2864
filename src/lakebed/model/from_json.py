"""Read logical types back from their JSON long form, for stored annotations (RFC-016, "Manifest Schema Format").

Manifests, which need positions and all their problems at once, have a decoder of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lakebed.diagnostics import near_names
from lakebed.errors import ConversionError
from lakebed.model import types as logical
from lakebed.model.extra import Extra
from lakebed.model.types import BY_KIND, Field, LogicalType, Schema, TimeUnit, field_json

_TYPE, _FIELDS, _NUMBER, _FLAG, _UNIT, _TEXT = "type", "fields", "number", "flag", "unit", "text"

# Parameters of each kind that has some: JSON name -> (attribute, what it holds, whether it is required).
_PARAMETERS: dict[str, dict[str, tuple[str, str, bool]]] = {
    "Binary": {"fixedLength": ("fixed_length", _NUMBER, False)},
    "Decimal": {"precision": ("precision", _NUMBER, True), "scale": ("scale", _NUMBER, True)},
    "Duration": {"unit": ("unit", _UNIT, False)},
    "Time": {"unit": ("unit", _UNIT, False)},
    "Timestamp": {"unit": ("unit", _UNIT, False), "timezone": ("timezone", _TEXT, False)},
    "List": {"itemType": ("item_type", _TYPE, True), "fixedLength": ("fixed_length", _NUMBER, False)},
    "Map": {
        "keyType": ("key_type", _TYPE, True),
        "valueType": ("value_type", _TYPE, True),
        "keysSorted": ("keys_sorted", _FLAG, False),
    },
    "Option": {"inner": ("inner", _TYPE, True)},
    "Struct": {"fields": ("fields", _FIELDS, True)},
}
_MAX_DEPTH = 128


def type_from_json(value: object, depth: int = 0) -> LogicalType:
    """The logical type of its long form (or of a bare kind name). Raises `ConversionError` at the first problem."""
    if depth > _MAX_DEPTH:
        raise _error(f"a type is nested more than {_MAX_DEPTH} levels deep")
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, Mapping):
        raise _error(f"a type must be an object with a 'kind', found {value!r}")
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in BY_KIND:
        raise _error(f"{kind!r} is not a kind of type", near_names(str(kind), BY_KIND))
    known = _PARAMETERS.get(kind, {})
    unknown = [key for key in value if key not in known and key != "kind"]
    if unknown:
        raise _error(f"{kind} has no property {unknown[0]!r}", near_names(str(unknown[0]), known))
    given: dict[str, Any] = {}
    for key, (attribute, holds, needed) in known.items():
        if value.get(key) is not None:
            given[attribute] = _parameter(value[key], holds, f"{kind}.{key}", depth)
        elif needed:
            raise _error(f"{kind} needs the property {key!r}")
    return BY_KIND[kind](**given)


def field_from_json(value: object, depth: int = 0) -> Field:
    """A field of its JSON object: `name`, `type` and, where there is any, `extra`."""
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
        raise _error("a field must be an object with a 'name' that is text")
    if "type" not in value:
        raise _error(f"the field {value['name']!r} has no 'type'")
    extra = value.get("extra") or {}
    if not isinstance(extra, Mapping):
        raise _error(f"the 'extra' of the field {value['name']!r} must be an object")
    return Field(value["name"], type_from_json(value["type"], depth), Extra(extra))


def _parameter(value: Any, holds: str, where: str, depth: int) -> Any:
    match holds:
        case "type":
            return type_from_json(value, depth + 1)
        case "fields" if isinstance(value, list):
            return tuple(field_from_json(item, depth + 1) for item in value)
        case "number" if isinstance(value, int) and not isinstance(value, bool):
            return value
        case "flag" if isinstance(value, bool):
            return value
        case "unit" if value in list(TimeUnit):
            return logical.TimeUnit(value)
        case "text" if isinstance(value, str):
            return value
    raise _error(f"{where} cannot be {value!r}")


def _error(message: str, suggestions: tuple[str, ...] = ()) -> ConversionError:
    return ConversionError.of("LB2112", message, suggestions=suggestions)


def normalize(schema: Schema) -> Schema:
    """The schema without units, zones and `keysSorted` that equal their default, at every depth.

    The result equals `schema`, since equality knows the defaults; of equal schemas the normal forms print alike.
    """
    return replace(schema, fields=tuple(field_from_json(field_json(f, normalize=True)) for f in schema.fields))
