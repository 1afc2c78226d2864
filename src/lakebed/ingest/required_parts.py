"""Write required columns and members as required: Spark would make them optional, being expressions.

pypaimon cannot read a struct whose members are optional in the file and NOT NULL in the schema. Items of lists and
values of maps make no difference to readers, and are touched only where structs inside of them have to be.
"""

from __future__ import annotations

import datetime
from decimal import Decimal as Number

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lakebed.ingest.timestamp_encoding import StampForms
from lakebed.ingest.write_types import FIELD_ID, write_type
from lakebed.physical.paimon_tree import fold
from lakebed.physical.paimon_types import (
    Array,
    Binary,
    Boolean,
    Char,
    DataType,
    Date,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Timestamp,
    VarBinary,
    VarChar,
    Variant,
)

_MISSING = "a required value is missing in a row that was found to be good"


def with_required_parts(x: Column, type_: DataType, stamps: StampForms) -> Column:
    """The same value, not nullable to Spark where `type_` is NOT NULL, at the top and in members of structs.

    `x` is of the column's write type and NULL only where `type_` allows it; another NULL fails the query.
    """
    value = _exact(x, type_, stamps)
    # Spark drops the field ids of members where it merges two types that differ in nullability.
    return value.cast(_exact_type(type_, stamps)) if _has_members(type_) else value


def _exact(x: Column, type_: DataType, stamps: StampForms) -> Column:
    if type_.nullable or isinstance(type_, Variant):
        return _inside(x, type_, stamps)
    present = F.coalesce(x, F.raise_error(F.lit(_MISSING)).cast(write_type(type_, stamps)))
    if isinstance(type_, Row):
        return _struct(present, type_, stamps)
    return F.coalesce(_inside(present, type_, stamps), _some_value(type_, stamps))


def _inside(x: Column, type_: DataType, stamps: StampForms) -> Column:
    if not _has_required_members(type_):
        return x
    match type_:
        case Row():
            return F.when(x.isNotNull(), _struct(x, type_, stamps))
        case Array():
            return F.transform(x, lambda item: _exact(item, type_.element, stamps))
        case Map():
            return F.transform_values(x, lambda _, value: _exact(value, type_.value, stamps))
        case _:
            return x


def _struct(x: Column, type_: Row, stamps: StampForms) -> Column:
    return F.struct(*(_exact(x.getField(f.name), f.type, stamps).alias(f.name) for f in type_.fields))


def _has_required_members(type_: DataType) -> bool:
    """Keys of maps are left as they are."""

    def has(part: DataType, inner: tuple[bool, ...]) -> bool:
        match part:
            case Row():
                return any(inner) or not all(f.type.nullable for f in part.fields)
            case Array() | Map():
                return inner[-1]
            case _:
                return False

    return fold(type_, has)


def _has_members(type_: DataType) -> bool:
    return isinstance(type_, Row) or _has_required_members(type_)


def _exact_type(type_: DataType, stamps: StampForms) -> spark.DataType:
    """The type of what `_exact` gives, with the field ids of members."""

    def exact(part: DataType, inner: tuple[spark.DataType, ...]) -> spark.DataType:
        match part:
            case Row():
                members = zip(part.fields, inner, strict=True)
                fields = [spark.StructField(f.name, t, f.type.nullable, {FIELD_ID: f.id}) for f, t in members]
                return spark.StructType(fields)
            case Array():
                return spark.ArrayType(inner[0], not _has_required_members(part) or part.element.nullable)
            case Map():
                untouched = not _has_required_members(part)
                return spark.MapType(write_type(part.key, stamps), inner[1], untouched or part.value.nullable)
            case _:
                return write_type(part, stamps)

    return fold(type_, exact)


def _some_value(type_: DataType, stamps: StampForms) -> Column:
    """Any value of the type, which tells Spark that there is no NULL; it is never used."""

    def some(part: DataType, inner: tuple[Column, ...]) -> Column:
        match part:
            case Row():
                return F.struct(*(value.alias(f.name) for f, value in zip(part.fields, inner, strict=True)))
            case Array():
                return F.array_repeat(inner[0], 0)
            case Map():
                return F.map_from_arrays(*(F.array_repeat(value, 0) for value in inner))
            case Multiset():
                return F.map_from_arrays(F.array_repeat(inner[0], 0), F.array_repeat(F.lit(0), 0))
            case Decimal():
                return F.lit(Number(0).scaleb(-part.scale))
            case Boolean():
                return F.lit(False)
            case Char() | VarChar():
                return F.lit("")
            case Binary() | VarBinary():
                return F.lit(b"")
            case Date():
                return F.lit(datetime.date(1970, 1, 1))
            case Timestamp() | LocalZonedTimestamp():
                kind = stamps.spark_type(part).typeName()
                return F.expr(f"{kind} '1970-01-01 00:00:00{'Z' if kind == 'timestamp' else ''}'")
            case _:
                return F.lit(0).cast(write_type(part, stamps))

    return fold(type_, some)
