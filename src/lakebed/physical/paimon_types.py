"""Define Paimon's data types as a closed union of frozen dataclasses (Paimon schema spec, "DataField").

Every type has `nullable`. `str(t)` is the canonical text of an atomic type and the JSON text of a nested one;
`t.to_json()` is what a schema file holds. Equality is on the parsed type: INT equals INTEGER, STRING equals
VARCHAR(2147483647). `Unknown` keeps the text of a type of the future, so that the table's other columns stay readable.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias, assert_never, cast

MAX_LENGTH = 2147483647
#: Field ids from here on belong to system columns.
FIRST_SYSTEM_ID = 1073741823
#: The id of a field that has not been given one yet.
UNASSIGNED = -1


class _Rendered:
    """`str()` and `to_json()` for every type, by the one renderer in `lakebed.physical.paimon_types`."""

    __slots__ = ()

    def __str__(self) -> str:
        from lakebed.physical.paimon_types import type_text

        return type_text(cast("DataType", self))

    def to_json(self) -> str | dict[str, Any]:
        from lakebed.physical.paimon_types import type_json

        return type_json(cast("DataType", self))


@dataclass(frozen=True, slots=True)
class Boolean(_Rendered):
    root: ClassVar[str] = "BOOLEAN"
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class TinyInt(_Rendered):
    root: ClassVar[str] = "TINYINT"
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class SmallInt(_Rendered):
    root: ClassVar[str] = "SMALLINT"
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Int(_Rendered):
    root: ClassVar[str] = "INT"
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class BigInt(_Rendered):
    root: ClassVar[str] = "BIGINT"
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Float(_Rendered):
    root: ClassVar[str] = "FLOAT"
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Double(_Rendered):
    root: ClassVar[str] = "DOUBLE"
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Decimal(_Rendered):
    root: ClassVar[str] = "DECIMAL"
    precision: int = 10
    scale: int = 0
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Char(_Rendered):
    root: ClassVar[str] = "CHAR"
    length: int = 1
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class VarChar(_Rendered):
    """VARCHAR(n); with the maximal length it is STRING."""

    root: ClassVar[str] = "VARCHAR"
    length: int = MAX_LENGTH
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Binary(_Rendered):
    root: ClassVar[str] = "BINARY"
    length: int = 1
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class VarBinary(_Rendered):
    """VARBINARY(n); with the maximal length it is BYTES."""

    root: ClassVar[str] = "VARBINARY"
    length: int = MAX_LENGTH
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Date(_Rendered):
    root: ClassVar[str] = "DATE"
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Time(_Rendered):
    root: ClassVar[str] = "TIME"
    precision: int = 0
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Timestamp(_Rendered):
    """TIMESTAMP(p): wall clock without a zone."""

    root: ClassVar[str] = "TIMESTAMP"
    precision: int = 6
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class LocalZonedTimestamp(_Rendered):
    """TIMESTAMP(p) WITH LOCAL TIME ZONE: an instant."""

    root: ClassVar[str] = "TIMESTAMP_LTZ"
    precision: int = 6
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Variant(_Rendered):
    root: ClassVar[str] = "VARIANT"
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Blob(_Rendered):
    root: ClassVar[str] = "BLOB"
    nullable: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Geometry(_Rendered):
    """Shapes in a coordinate reference system, whose name is compared without regard to case."""

    root: ClassVar[str] = "GEOMETRY"
    crs: str = "OGC:CRS84"
    nullable: bool = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Geometry) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, str, bool]:
        return self.root, self.crs.lower(), self.nullable


@dataclass(frozen=True, slots=True, eq=False)
class Geography(_Rendered):
    """Shapes on a sphere or spheroid; the name of the reference system is compared without regard to case."""

    root: ClassVar[str] = "GEOGRAPHY"
    crs: str = "OGC:CRS84"
    algorithm: str = "spherical"
    nullable: bool = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Geography) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, str, str, bool]:
        return self.root, self.crs.lower(), self.algorithm, self.nullable


@dataclass(frozen=True, slots=True)
class Array(_Rendered):
    root: ClassVar[str] = "ARRAY"
    element: DataType
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Map(_Rendered):
    root: ClassVar[str] = "MAP"
    key: DataType
    value: DataType
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Multiset(_Rendered):
    root: ClassVar[str] = "MULTISET"
    element: DataType
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Row(_Rendered):
    root: ClassVar[str] = "ROW"
    fields: tuple[DataField, ...]
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Vector(_Rendered):
    root: ClassVar[str] = "VECTOR"
    element: DataType
    length: int
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Unknown(_Rendered):
    """A type that this version does not know: `text` is its type text or the JSON text of its object, as found."""

    root: ClassVar[str] = "UNKNOWN"
    text: str
    nullable: bool = True


#: The types that hold no other one.
AtomicType: TypeAlias = (
    Boolean
    | TinyInt
    | SmallInt
    | Int
    | BigInt
    | Float
    | Double
    | Decimal
    | Char
    | VarChar
    | Binary
    | VarBinary
    | Date
    | Time
    | Timestamp
    | LocalZonedTimestamp
    | Variant
    | Blob
    | Geometry
    | Geography
    | Unknown
)
DataType: TypeAlias = AtomicType | Array | Map | Multiset | Row | Vector


@dataclass(frozen=True, slots=True)
class DataField:
    """A column or a member of a ROW. `id` is its identity for life; `UNASSIGNED` until one is allocated."""

    id: int
    name: str
    type: DataType
    description: str | None = None
    default_value: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The field object of a schema file: `id`, `name`, `type`, then `description`, `defaultValue` if not None."""
        out: dict[str, Any] = {"id": self.id, "name": self.name, "type": self.type.to_json()}
        if self.description is not None:
            out["description"] = self.description
        if self.default_value is not None:
            out["defaultValue"] = self.default_value
        return out


STRING = VarChar()
BYTES = VarBinary()


def with_nullability(type_: DataType, nullable: bool) -> DataType:
    """The same type, nullable or not at its outermost level."""
    return type_ if type_.nullable == nullable else replace(type_, nullable=nullable)


def equal_ignoring_nullability(a: DataType, b: DataType) -> bool:
    """Whether two types differ at most in the nullability of the outermost level."""
    return with_nullability(a, True) == with_nullability(b, True)


def type_text(type_: DataType) -> str:
    """Canonical text: `DECIMAL(10, 2) NOT NULL`; for a nested type the compact text of its JSON object."""
    form = type_json(type_)
    return form if isinstance(form, str) else json.dumps(form, ensure_ascii=False, separators=(",", ":"))


def type_line(type_: DataType) -> str:
    """The type as people read it, on one line and without ids: `ARRAY<ROW<a INT NOT NULL>>`.

    Every message that shows a stored type shows it so.
    """
    null = "" if type_.nullable else " NOT NULL"
    match type_:
        case Array() | Multiset():
            return f"{type_.root}<{type_line(type_.element)}>{null}"
        case Vector():
            return f"VECTOR<{type_line(type_.element)}, {type_.length}>{null}"
        case Map():
            return f"MAP<{type_line(type_.key)}, {type_line(type_.value)}>{null}"
        case Row():
            return f"ROW<{', '.join(f'{f.name} {type_line(f.type)}' for f in type_.fields)}>{null}"
        case _:
            return type_text(type_)


def type_json(type_: DataType) -> str | dict[str, Any]:
    """What a schema file holds for the type: text, or for ARRAY, MAP, MULTISET, ROW and VECTOR an object."""
    suffix = "" if type_.nullable else " NOT NULL"
    match type_:
        case Array() | Multiset():
            return {"type": type_.root + suffix, "element": type_json(type_.element)}
        case Vector():
            return {"type": type_.root + suffix, "element": type_json(type_.element), "length": type_.length}
        case Map():
            return {"type": type_.root + suffix, "key": type_json(type_.key), "value": type_json(type_.value)}
        case Row():
            return {"type": type_.root + suffix, "fields": [f.to_json() for f in type_.fields]}
        case Unknown() if (found := json_of(type_)) is not None:
            return {**found, "type": found["type"] + suffix}
        case _:
            return _atomic_text(type_) + suffix


def json_of(type_: Unknown) -> dict[str, Any] | None:
    """The JSON object that the text of an unknown type is, None where it is a mere text."""
    if not type_.text.startswith("{"):
        return None
    try:
        found = json.loads(type_.text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("type"), str) else None


def _atomic_text(type_: AtomicType) -> str:
    match type_:
        case Boolean() | TinyInt() | SmallInt() | Int() | BigInt() | Float() | Double() | Date() | Variant() | Blob():
            return type_.root
        case Decimal():
            return f"DECIMAL({type_.precision}, {type_.scale})"
        case VarChar(length=length) if length == MAX_LENGTH:
            return "STRING"
        case VarBinary(length=length) if length == MAX_LENGTH:
            return "BYTES"
        case Char() | VarChar() | Binary() | VarBinary():
            return f"{type_.root}({type_.length})"
        case Time() | Timestamp():
            return f"{type_.root}({type_.precision})"
        case LocalZonedTimestamp():
            return f"TIMESTAMP({type_.precision}) WITH LOCAL TIME ZONE"
        case Geometry():
            return f"GEOMETRY({_crs_text(type_.crs)})"
        case Geography():
            return f"GEOGRAPHY({_crs_text(type_.crs)}, {type_.algorithm})"
        case Unknown():
            return type_.text
        case _:
            assert_never(type_)


def _crs_text(crs: str) -> str:
    if crs[0].isdigit() or any(c.isspace() or c in "<>(),.'`" for c in crs):
        return "'" + crs.replace("'", "''") + "'"
    return crs
