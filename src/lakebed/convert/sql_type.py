"""Convert types from and to the texts that Spark's SQL has for them, and read those of other databases.

Contracts name the types of columns by such texts: `bigint`, `decimal(10,2)`, `array<struct<a: int not null>>`. They
are parsed by sqlglot, as Spark reads them, and where it does not, as other databases do: `numeric(10, 2)`, `float64`,
`timestamptz`, `integer[]`. TIMESTAMP is an instant, as in Spark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lakebed.convert.foreign_decimal import fitted_decimal
from lakebed.convert.foreign_json import refuse_type
from lakebed.convert.loss import Loss
from lakebed.convert.stated_type import StatedType, list_of, map_of
from lakebed.model import Field, LogicalType, TimeUnit
from lakebed.model import types as logical
from lakebed.model.logical_tree import ELEMENT, KEY, VALUE, Path
from lakebed.model.type_name import type_name
from lakebed.physical import MAX_LENGTH, DataType, path_text
from lakebed.physical import paimon_types as physical

if TYPE_CHECKING:
    from sqlglot import exp

_US = TimeUnit.MICROSECOND
_LEAVES: dict[type[LogicalType], str] = {
    logical.Bool: "boolean",
    logical.Int8: "tinyint",
    **dict.fromkeys((logical.Int16, logical.UInt8), "smallint"),
    **dict.fromkeys((logical.Int32, logical.UInt16), "int"),
    **dict.fromkeys((logical.Int64, logical.UInt32, logical.Duration), "bigint"),
    logical.UInt64: "decimal(20,0)",
    **dict.fromkeys((logical.Float16, logical.Float32), "float"),
    logical.Float64: "double",
    logical.String: "string",
    logical.Binary: "binary",
    logical.Date: "date",
    # No value of it but null; sqlglot does not know the `void` of Spark inside of other types.
    logical.Null: "string",
}
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Where Spark's words end: those of sqlglot's dialects that are asked one after the other.
_DIALECTS = ("spark", "bigquery", "snowflake", "postgres")
_NAIVE = re.compile(r"timestamp\s*(?:\(\s*(\d)\s*\))?\s*without\s+time\s+zone", re.IGNORECASE)
#: The kinds of sqlglot, by their names.
_KINDS: dict[str, LogicalType] = {
    "BOOLEAN": logical.Bool(),
    "TINYINT": logical.Int8(),
    "SMALLINT": logical.Int16(),
    **dict.fromkeys(("INT", "MEDIUMINT"), logical.Int32()),
    "BIGINT": logical.Int64(),
    "UTINYINT": logical.UInt8(),
    "USMALLINT": logical.UInt16(),
    **dict.fromkeys(("UINT", "UMEDIUMINT"), logical.UInt32()),
    "UBIGINT": logical.UInt64(),
    "FLOAT": logical.Float32(),
    "DOUBLE": logical.Float64(),
    **dict.fromkeys(("DATE", "DATE32"), logical.Date()),
    **dict.fromkeys(("TEXT", "VARCHAR", "NVARCHAR", "CHAR", "NCHAR", "BPCHAR", "NAME"), logical.String()),
    **dict.fromkeys(("MEDIUMTEXT", "LONGTEXT", "TINYTEXT"), logical.String()),
    **dict.fromkeys(("BINARY", "VARBINARY", "BLOB", "LONGBLOB", "MEDIUMBLOB", "TINYBLOB"), logical.Binary()),
    **dict.fromkeys(("TIME", "TIMETZ"), logical.Time(_US)),
    "NULL": logical.Null(),
}
_EXACT: dict[str, DataType] = {
    **dict.fromkeys(("VARIANT", "JSON", "JSONB"), physical.Variant()),
    "GEOMETRY": physical.Geometry(),
    "GEOGRAPHY": physical.Geography(),
}
_INSTANTS = ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ")
_WALL_CLOCKS = ("TIMESTAMPNTZ", "DATETIME", "DATETIME2", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
#: BigQuery's NUMERIC, which databases that want no digits come nearest to.
_NO_DIGITS = logical.Decimal(38, 9)


def sql_text(type_: LogicalType, exact: DataType | None, parts: tuple[str, ...]) -> str:
    """The text of a type, of the texts of what is in it, as `fold_at` has them; `exact` is the type of a hint."""
    match type_:
        case logical.Option():
            return parts[0]
        case logical.Struct(fields=()):
            return "struct< >"
        case logical.Struct():
            return f"struct<{', '.join(_member(*known) for known in zip(type_.fields, parts, strict=True))}>"
        case logical.List():
            return f"array<{parts[0]}>"
        case logical.Map():
            return f"map<{parts[0]}, {parts[1]}>"
        case logical.Decimal():
            fit = fitted_decimal(type_)
            return f"decimal({fit.precision},{fit.scale})"
        case logical.Time():
            return "int" if type_.effective_unit.digits <= 3 else "bigint"
        case logical.Timestamp():
            return "timestamp_ntz" if isinstance(exact, physical.Timestamp) else "timestamp"
        case logical.String() if isinstance(exact, physical.Variant):
            return "variant"
        case logical.String() if isinstance(exact, physical.Char | physical.VarChar) and exact.length < MAX_LENGTH:
            return f"{exact.root.lower()}({exact.length})"
        case _:
            return _LEAVES[type(type_)]


def _member(member: Field, text: str) -> str:
    name = member.name if _PLAIN_NAME.fullmatch(member.name) else f"`{member.name.replace('`', '``')}`"
    return f"{name}: {text}" if isinstance(member.type, logical.Option) else f"{name}: {text} not null"


class SqlTypes:
    """Reads texts of types, and notes what they say that has no place in a logical type."""

    def __init__(self, losses: list[Loss]) -> None:
        self._losses = losses

    def read(self, text: str, path: Path) -> StatedType:
        """The type of a text. Raises `ConversionError` (LB2603) where no database has it."""
        naive = _NAIVE.fullmatch(text.strip())
        if naive is not None:
            return _timestamp(int(naive[1] or 6), naive=True)
        if text.strip().lower() == "void":
            return StatedType(logical.Null())
        parsed = _parsed(text)
        return refuse_type(path, text, "SQL") if parsed is None else self._read(parsed, path)

    def _read(self, type_: exp.DataType, path: Path) -> StatedType:
        kind = type_.this.name
        nested = _NESTED.get(kind)
        if nested is not None:
            return nested(self, type_, path)
        digits = [int(part.name) for part in type_.expressions if part.name.isdigit()]
        if kind in _EXACT:
            return StatedType(
                logical.String() if kind in ("VARIANT", "JSON", "JSONB") else logical.Binary(), _EXACT[kind]
            )
        if kind in _INSTANTS or kind in _WALL_CLOCKS:
            return _timestamp(_precision(kind, digits), naive=kind in _WALL_CLOCKS)
        if kind == "UUID":
            self._losses.append(Loss(path_text(path), "that the text is a UUID"))
            return StatedType(logical.String())
        if kind in ("DECIMAL", "BIGDECIMAL"):
            return StatedType(self._decimal(digits, path))
        if kind not in _KINDS:
            refuse_type(path, type_.sql("spark"), "SQL")
        return StatedType(_KINDS[kind], _sized(kind, digits))

    def _decimal(self, digits: list[int], path: Path) -> logical.Decimal:
        if digits:
            return logical.Decimal(digits[0], digits[1] if len(digits) > 1 else 0)
        said = f"the digits of the decimal, which are not said; {type_name(_NO_DIGITS)} is taken"
        self._losses.append(Loss(path_text(path), said))
        return _NO_DIGITS

    def _array(self, type_: exp.DataType, path: Path) -> StatedType:
        inner = self._inner(type_, 1, path)
        return list_of(self._read(inner[0], (*path, ELEMENT)).or_null())

    def _map(self, type_: exp.DataType, path: Path) -> StatedType:
        key, value = self._inner(type_, 2, path)
        return map_of(self._read(key, (*path, KEY)), self._read(value, (*path, VALUE)).or_null())

    def _inner(self, type_: exp.DataType, count: int, path: Path) -> list[Any]:
        inner = list(type_.expressions)
        return inner if len(inner) == count else refuse_type(path, type_.sql("spark"), "SQL")

    def _struct(self, type_: exp.DataType, path: Path) -> StatedType:
        return StatedType(logical.Struct(tuple(self._field(member, path) for member in type_.expressions)))

    def _field(self, member: Any, path: Path) -> Field:
        from sqlglot import exp

        if not isinstance(member, exp.ColumnDef) or not isinstance(member.args.get("kind"), exp.DataType):
            refuse_type(path, f"the member {member.sql('spark')} of a struct", "SQL")
        here = (*path, member.name)
        is_required = False
        for constraint in member.args.get("constraints") or []:
            if isinstance(constraint.kind, exp.NotNullColumnConstraint):
                is_required = not constraint.kind.args.get("allow_null")
            else:
                self._losses.append(Loss(path_text(here), constraint.sql("spark")))
        return self._read(member.args["kind"], here).or_null(not is_required).field(member.name)


_NESTED: Mapping[str, Callable[[SqlTypes, Any, Path], StatedType]] = {
    "ARRAY": SqlTypes._array,
    "LIST": SqlTypes._array,
    "MAP": SqlTypes._map,
    "STRUCT": SqlTypes._struct,
    "OBJECT": SqlTypes._struct,
}


def _parsed(text: str) -> exp.DataType | None:
    """What sqlglot makes of a text, by the first of the dialects that knows it."""
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    for dialect in _DIALECTS:
        try:
            found = exp.DataType.build(text, dialect=dialect)
        except (SqlglotError, ValueError, RecursionError):
            continue
        if found.this.name not in ("USERDEFINED", "UNKNOWN"):
            return found
    return None


def _precision(kind: str, digits: list[int]) -> int:
    said = {"TIMESTAMP_S": 0, "TIMESTAMP_MS": 3, "TIMESTAMP_NS": 9}.get(kind)
    return said if said is not None else digits[0] if digits and digits[0] <= 9 else 6


def _timestamp(precision: int, *, naive: bool) -> StatedType:
    unit = next(u for u in TimeUnit if u.digits >= precision)
    return StatedType(logical.Timestamp(unit), physical.Timestamp(precision) if naive else None)


def _sized(kind: str, digits: list[int]) -> DataType | None:
    """The type of Paimon that has the length of a text."""
    if not digits or not 1 <= digits[0] < MAX_LENGTH:
        return None
    if kind in ("VARCHAR", "NVARCHAR"):
        return physical.VarChar(digits[0])
    if kind in ("CHAR", "NCHAR", "BPCHAR"):
        return physical.Char(digits[0])
    return physical.VarBinary(digits[0]) if kind in ("BINARY", "VARBINARY") else None
