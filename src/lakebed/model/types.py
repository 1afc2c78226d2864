"""Define the 24 logical types of Open Data Fabric (RFC-016) as a closed union of frozen dataclasses.

Nullability exists only as `Option`. Optional parameters that the author left out stay None, so that text round trips;
equality and hash know the defaults (an absent unit is a millisecond, an absent zone is UTC, absent `keys_sorted` is
false), as the specification says.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

from lakebed.model.extra import Extra, canonical_json
from lakebed.readable import Displayable


class TimeUnit(StrEnum):
    """The unit of a time, timestamp or duration; the value is its canonical spelling."""

    SECOND = "Second"
    MILLISECOND = "Millisecond"
    MICROSECOND = "Microsecond"
    NANOSECOND = "Nanosecond"

    @property
    def digits(self) -> int:
        """Digits of a second's fraction: 0, 3, 6 or 9."""
        return {"Second": 0, "Millisecond": 3, "Microsecond": 6, "Nanosecond": 9}[self.value]


DEFAULT_UNIT = TimeUnit.MILLISECOND
DEFAULT_ZONE = "UTC"


@dataclass(frozen=True, slots=True)
class Binary:
    """Bytes; of one length when `fixed_length` is given."""

    kind: ClassVar[str] = "Binary"
    fixed_length: int | None = None


@dataclass(frozen=True, slots=True)
class Bool:
    """True or false."""

    kind: ClassVar[str] = "Bool"


@dataclass(frozen=True, slots=True)
class Date:
    """A calendar date."""

    kind: ClassVar[str] = "Date"


@dataclass(frozen=True, slots=True)
class Decimal:
    """Fixed point; a negative scale means zeros to the right of the digits."""

    kind: ClassVar[str] = "Decimal"
    precision: int
    scale: int


@dataclass(frozen=True, slots=True, eq=False)
class Duration:
    """Elapsed time. `unit` None means milliseconds."""

    kind: ClassVar[str] = "Duration"
    unit: TimeUnit | None = None

    @property
    def effective_unit(self) -> TimeUnit:
        return self.unit or DEFAULT_UNIT

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and self.effective_unit == other.effective_unit

    def __hash__(self) -> int:
        return hash((self.kind, self.effective_unit))


@dataclass(frozen=True, slots=True)
class Float16:
    kind: ClassVar[str] = "Float16"


@dataclass(frozen=True, slots=True)
class Float32:
    kind: ClassVar[str] = "Float32"


@dataclass(frozen=True, slots=True)
class Float64:
    kind: ClassVar[str] = "Float64"


@dataclass(frozen=True, slots=True)
class Int8:
    kind: ClassVar[str] = "Int8"


@dataclass(frozen=True, slots=True)
class Int16:
    kind: ClassVar[str] = "Int16"


@dataclass(frozen=True, slots=True)
class Int32:
    kind: ClassVar[str] = "Int32"


@dataclass(frozen=True, slots=True)
class Int64:
    kind: ClassVar[str] = "Int64"


@dataclass(frozen=True, slots=True)
class UInt8:
    kind: ClassVar[str] = "UInt8"


@dataclass(frozen=True, slots=True)
class UInt16:
    kind: ClassVar[str] = "UInt16"


@dataclass(frozen=True, slots=True)
class UInt32:
    kind: ClassVar[str] = "UInt32"


@dataclass(frozen=True, slots=True)
class UInt64:
    kind: ClassVar[str] = "UInt64"


@dataclass(frozen=True, slots=True)
class List:
    """A list of items of one type; of one length when `fixed_length` is given."""

    kind: ClassVar[str] = "List"
    item_type: LogicalType
    fixed_length: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """Key and value entries. `keys_sorted` None means false."""

    kind: ClassVar[str] = "Map"
    key_type: LogicalType
    value_type: LogicalType
    keys_sorted: bool | None = None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Map)
            and self.key_type == other.key_type
            and self.value_type == other.value_type
            and bool(self.keys_sorted) == bool(other.keys_sorted)
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.key_type, self.value_type, bool(self.keys_sorted)))


@dataclass(frozen=True, slots=True)
class Null:
    """Only null."""

    kind: ClassVar[str] = "Null"


@dataclass(frozen=True, slots=True)
class Option:
    """A nullable `inner`. `Option` of `Option` has no meaning and is refused by the manifest decoder."""

    kind: ClassVar[str] = "Option"
    inner: LogicalType


@dataclass(frozen=True, slots=True)
class Struct:
    """Ordered named fields."""

    kind: ClassVar[str] = "Struct"
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Time:
    """Time of day. `unit` None means milliseconds."""

    kind: ClassVar[str] = "Time"
    unit: TimeUnit | None = None

    @property
    def effective_unit(self) -> TimeUnit:
        return self.unit or DEFAULT_UNIT

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Time) and self.effective_unit == other.effective_unit

    def __hash__(self) -> int:
        return hash((self.kind, self.effective_unit))


@dataclass(frozen=True, slots=True, eq=False)
class Timestamp:
    """An instant. `unit` None means milliseconds, `timezone` None means UTC."""

    kind: ClassVar[str] = "Timestamp"
    unit: TimeUnit | None = None
    timezone: str | None = None

    @property
    def effective_unit(self) -> TimeUnit:
        return self.unit or DEFAULT_UNIT

    @property
    def effective_timezone(self) -> str:
        return self.timezone or DEFAULT_ZONE

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Timestamp)
            and self.effective_unit == other.effective_unit
            and self.effective_timezone == other.effective_timezone
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.effective_unit, self.effective_timezone))


@dataclass(frozen=True, slots=True)
class String:
    """Unicode text."""

    kind: ClassVar[str] = "String"


LogicalType: TypeAlias = (
    Binary
    | Bool
    | Date
    | Decimal
    | Duration
    | Float16
    | Float32
    | Float64
    | Int8
    | Int16
    | Int32
    | Int64
    | UInt8
    | UInt16
    | UInt32
    | UInt64
    | List
    | Map
    | Null
    | Option
    | Struct
    | Time
    | Timestamp
    | String
)

ALL_TYPES: tuple[type[LogicalType], ...] = LogicalType.__args__
BY_KIND: dict[str, type[LogicalType]] = {t.kind: t for t in ALL_TYPES}


def required(type_: LogicalType) -> LogicalType:
    """The type without its outer `Option`."""
    return type_.inner if isinstance(type_, Option) else type_


def optional(type_: LogicalType) -> LogicalType:
    """The type with an outer `Option`, put on only where there is none."""
    return type_ if isinstance(type_, Option) else Option(type_)


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
class Schema(Displayable):
    """Ordered fields and the attributes of the whole (RFC-016 `DataSchema`)."""

    html_renderer: ClassVar[str] = "lakebed.render.notebook_html:schema_html"

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
