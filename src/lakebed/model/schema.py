"""The logical schema: what people declare and what conversions turn into something else."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from lakebed.model.extra import Extra, canonical_json
from lakebed.model.types import (
    Binary,
    Decimal,
    Duration,
    List,
    LogicalType,
    Map,
    Option,
    Struct,
    Time,
    Timestamp,
)


@dataclass(frozen=True, slots=True)
class Field:
    """A named, annotated member of a schema or of a `Struct` (RFC-016 `DataField`)."""

    name: str
    type: LogicalType
    extra: Extra = Extra()

    @property
    def nullable(self) -> bool:
        """Whether the type is an `Option`."""
        return isinstance(self.type, Option)

    @property
    def description(self) -> str | None:
        """`opendatafabric.org/description`."""
        return self.extra.description


@dataclass(frozen=True, slots=True)
class Schema:
    """Ordered fields and the attributes of the whole (RFC-016 `DataSchema`)."""

    fields: tuple[Field, ...]
    extra: Extra = Extra()

    def field(self, name: str) -> Field | None:
        """The top-level field of exactly this name, or None."""
        return next((f for f in self.fields if f.name == name), None)

    @property
    def fingerprint(self) -> str:
        """`sha256:` and the hex digest of the canonical JSON with defaults dropped: equal schemas hash equal."""
        text = canonical_json(schema_json(self, normalize=True))
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Canonical long form; defaults that the author wrote are kept, absent ones are not invented."""
        return schema_json(self)


def type_json(type_: LogicalType, *, normalize: bool = False) -> dict[str, Any]:
    """The long form of a type, `kind` first, parameters in the order of the specification.

    With `normalize`, parameters that equal their default are dropped.
    """
    out: dict[str, Any] = {"kind": type_.kind}

    def put(key: str, value: Any, default: Any = None) -> None:
        if value is not None and not (normalize and value == default):
            out[key] = value

    match type_:
        case Binary():
            put("fixedLength", type_.fixed_length)
        case Decimal():
            out |= {"precision": type_.precision, "scale": type_.scale}
        case Duration() | Time():
            put("unit", type_.unit.value if type_.unit else None, "Millisecond")
        case Timestamp():
            put("unit", type_.unit.value if type_.unit else None, "Millisecond")
            put("timezone", type_.timezone, "UTC")
        case List():
            out["itemType"] = type_json(type_.item_type, normalize=normalize)
            put("fixedLength", type_.fixed_length)
        case Map():
            out["keyType"] = type_json(type_.key_type, normalize=normalize)
            out["valueType"] = type_json(type_.value_type, normalize=normalize)
            put("keysSorted", type_.keys_sorted, False)
        case Option():
            out["inner"] = type_json(type_.inner, normalize=normalize)
        case Struct():
            out["fields"] = [field_json(f, normalize=normalize) for f in type_.fields]
        case _:
            pass
    return out


def field_json(field: Field, *, normalize: bool = False) -> dict[str, Any]:
    """`name`, `type`, and `extra` where there is any."""
    out: dict[str, Any] = {"name": field.name, "type": type_json(field.type, normalize=normalize)}
    if field.extra:
        out["extra"] = field.extra.to_json()
    return out


def schema_json(schema: Schema, *, normalize: bool = False) -> dict[str, Any]:
    """`fields`, and `extra` where there is any."""
    out: dict[str, Any] = {"fields": [field_json(f, normalize=normalize) for f in schema.fields]}
    if schema.extra:
        out["extra"] = schema.extra.to_json()
    return out
