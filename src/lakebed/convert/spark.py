"""Convert the logical schema from and to PySpark types. No session is needed.

A Spark type says less than a Paimon type and much less than a logical one. What it does not say stands in the metadata
of the `StructField`: the description under `comment`, where Spark itself looks for it, the rest under `lakebed`:

    {"type": <long form, its Structs left empty>, "extra": {...}, "json": {...}, "schema": {...}}

each part only where there is something to say. Spark cannot hold every JSON value as metadata (no lists of lists or of
mixed values); an attribute that it cannot hold stands under `json` as text. `schema` is the text of the whole schema's
attributes, on the first column. The lengths of CHAR and VARCHAR stand where Spark itself keeps them
(`lakebed.convert.spark_lengths`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import types as spark_types

from lakebed.convert.fit import bare_logical
from lakebed.convert.loss import LossReport
from lakebed.convert.notes import is_spark_metadata
from lakebed.convert.paimon import carrier, hint, repeated_names, to_paimon
from lakebed.convert.scan_types import MAX_MICROS, scan_schema, scan_type
from lakebed.convert.spark_lengths import LENGTHS_KEY, lengths_text, unread_metadata, with_lengths
from lakebed.convert.spark_tree import fold, transform
from lakebed.diagnostics import Diagnostic, reason_of
from lakebed.errors import ConversionError, TypeTextError, UnsupportedError
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit, canonical_json, required, type_json
from lakebed.model import types as logical
from lakebed.model.extra import DESCRIPTION, PAIMON_TYPE
from lakebed.model.from_json import type_from_json
from lakebed.model.logical_tree import fields_inside
from lakebed.physical import DataType, parse, path_text, with_nullability
from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_tree import bare, without_nullability

METADATA_KEY = "lakebed"
COMMENT_KEY = "comment"

_Path = tuple[str, ...]
_LOGICAL: dict[type[spark_types.DataType], LogicalType] = {
    spark_types.BooleanType: logical.Bool(),
    spark_types.ByteType: logical.Int8(),
    spark_types.ShortType: logical.Int16(),
    spark_types.IntegerType: logical.Int32(),
    spark_types.LongType: logical.Int64(),
    spark_types.FloatType: logical.Float32(),
    spark_types.DoubleType: logical.Float64(),
    spark_types.BinaryType: logical.Binary(),
    spark_types.DateType: logical.Date(),
    spark_types.TimestampType: logical.Timestamp(TimeUnit.MICROSECOND),
    spark_types.TimestampNTZType: logical.Timestamp(TimeUnit.MICROSECOND),
    spark_types.VariantType: logical.String(),
    spark_types.NullType: logical.Null(),
}


def to_spark(schema: Schema) -> tuple[spark_types.StructType, LossReport]:
    """The Spark schema of the rows of a declared schema, annotated by metadata at every level.

    Nothing is lost: `from_spark` leads back to exactly this schema. CHAR and VARCHAR are said as Spark says them, which
    then pads what is compared with a CHAR; `lake.read` leaves that out. Raises `ConversionError` for a type that Paimon
    cannot store, `UnsupportedError` for one that Spark cannot hold.
    """
    columns = to_paimon(schema)
    bare_struct = scan_schema(columns)
    fields = _annotated_fields(bare_struct, schema.fields)
    if schema.extra and fields:
        fields[0].metadata = column_metadata(schema.fields[0], schema_extra=schema.extra)
    for field, column, scanned in zip(fields, columns, bare_struct.fields, strict=True):
        lengths = lengths_text(column.type, scanned.dataType)
        if lengths is not None:
            field.metadata = {**(field.metadata or {}), LENGTHS_KEY: lengths}
    return spark_types.StructType(fields), LossReport()


def to_struct_type(schema: Schema) -> spark_types.StructType:
    """What `to_spark` gives, without the report."""
    return to_spark(schema)[0]


def with_metadata(struct: spark_types.StructType, schema: Schema) -> spark_types.StructType:
    """The Spark schema of rows, with the annotations of the logical schema of the same columns at every level."""
    return spark_types.StructType(_annotated_fields(struct, schema.fields))


def has_nested_metadata(schema: Schema) -> bool:
    """Whether a member of a struct, at any depth, has something to say that its Spark type does not."""
    return any(len(path) > 1 and column_metadata(field) for path, field in fields_inside(schema.fields))


def _annotated_fields(struct: spark_types.StructType, members: tuple[Field, ...]) -> list[spark_types.StructField]:
    return [
        spark_types.StructField(m.name, _annotated(f.dataType, m.type), m.nullable, column_metadata(m))
        for f, m in zip(struct.fields, members, strict=True)
    ]


def _annotated(type_: spark_types.DataType, declared: LogicalType) -> spark_types.DataType:
    """The Spark type with the nullability and the metadata that the declared type has inside."""
    own = required(declared)
    if isinstance(type_, spark_types.ArrayType) and isinstance(own, logical.List):
        return spark_types.ArrayType(
            _annotated(type_.elementType, own.item_type), isinstance(own.item_type, logical.Option)
        )
    if isinstance(type_, spark_types.MapType) and isinstance(own, logical.Map):
        key, value = _annotated(type_.keyType, own.key_type), _annotated(type_.valueType, own.value_type)
        return spark_types.MapType(key, value, isinstance(own.value_type, logical.Option))
    if isinstance(type_, spark_types.StructType) and isinstance(own, logical.Struct):
        return spark_types.StructType(_annotated_fields(type_, own.fields))
    return type_


def column_metadata(field: Field, *, schema_extra: Extra | None = None) -> dict[str, Any]:
    """The metadata of a `StructField` (or of `Column.alias`) that says what its Spark type does not; often empty.

    Attributes of members of a Struct are not in it: nested fields have metadata of their own.
    """
    found: dict[str, Any] = {}
    declared = bare_logical(field.type)
    extra = field.extra
    (column,) = to_paimon(Schema((Field("c", declared, Extra(_hint_only(extra))),)))
    if _nearest(_annotated(scan_type(column.type), declared), field.nullable) != declared:
        found["type"] = type_json(declared, normalize=True)
    if extra.description is not None:
        extra = extra.without(DESCRIPTION)
    for key, value in sorted(extra.items()):
        if is_spark_metadata(value):
            found.setdefault("extra", {})[key] = value
        else:
            found.setdefault("json", {})[key] = canonical_json(value)
    if schema_extra:
        found["schema"] = schema_extra.text
    out: dict[str, Any] = {} if field.description is None else {COMMENT_KEY: field.description}
    return out | ({METADATA_KEY: found} if found else {})


def _hint_only(extra: Extra) -> dict[str, Any]:
    return {PAIMON_TYPE: extra[PAIMON_TYPE]} if PAIMON_TYPE in extra else {}


def from_spark(struct: spark_types.StructType) -> tuple[Schema, LossReport]:
    """The logical schema of a Spark schema, with the annotations that its metadata holds.

    Lost is metadata that a logical schema has no place for, such as Spark's own defaults.

    Without metadata a column gets the nearest logical type, and where that is not enough the hint
    `paimon.apache.org/type` (`timestamp_ntz` is TIMESTAMP(6), also inside of lists and maps). Raises `ConversionError`
    with all columns whose type has no logical type, whose metadata belongs to another type, or whose name is there
    twice.
    """
    problems: list[Diagnostic] = []
    fields = tuple(_field(f, (f.name,), problems) for f in struct.fields)
    problems += repeated_names(fields)
    if problems:
        raise ConversionError(*problems)
    extras = (_of_schema(f) for f in struct.fields)
    lost = unread_metadata(struct, frozenset((METADATA_KEY, COMMENT_KEY, LENGTHS_KEY)))
    return Schema(fields, next((extra for extra in extras if extra), Extra())), LossReport(tuple(lost))


def from_struct_type(struct: spark_types.StructType) -> Schema:
    """What `from_spark` gives, without the report."""
    return from_spark(struct)[0]


def _notes(field: spark_types.StructField) -> Mapping[str, Any]:
    """What the metadata of a column says under our key."""
    found = (field.metadata or {}).get(METADATA_KEY)
    return found if isinstance(found, dict) else {}


def _of_schema(field: spark_types.StructField) -> Extra:
    """The attributes of the whole schema, where the column carries them."""
    text = _notes(field).get("schema")
    if text is None:
        return Extra()
    return Extra(_attributes({"json": {"schema": text}}, (field.name,))["schema"])


def _field(field: spark_types.StructField, path: _Path, problems: list[Diagnostic]) -> Field:
    notes, comment = _notes(field), (field.metadata or {}).get(COMMENT_KEY)
    extra: dict[str, Any] = {}
    type_: LogicalType = logical.String()
    try:
        spark_type = with_lengths(field, path)
        extra |= {**_hint_of(spark_type), **_attributes(notes, path)}
        if isinstance(comment, str):
            extra[DESCRIPTION] = comment
        declared = type_from_json(notes["type"]) if "type" in notes else None
        _check_stored(declared, extra.get(PAIMON_TYPE), field, path)
        type_ = _logical(spark_type, field.nullable, declared, path, problems)
    except (ConversionError, TypeTextError, UnsupportedError) as error:
        problems += error.diagnostics
    return Field(field.name, type_, Extra(extra))


def _attributes(notes: Mapping[str, Any], path: _Path) -> dict[str, Any]:
    """The attributes of a column, those that Spark holds as they are and those that it holds as text."""
    try:
        return dict(notes.get("extra", {})) | {key: json.loads(text) for key, text in notes.get("json", {}).items()}
    except (AttributeError, TypeError, ValueError) as error:
        message = f"the metadata under {METADATA_KEY!r} cannot be read: {reason_of(error)}"
        remedy = f"drop {METADATA_KEY!r} from the column's metadata"
        raise ConversionError.of("LB2111", message, path=path_text(path), remedy=remedy) from error


def _check_stored(declared: LogicalType | None, hint: Any, field: spark_types.StructField, path: _Path) -> None:
    """Refuse metadata that says a type which is not stored as the type that the column has."""
    if hint is not None:
        said, stored = str(hint), parse(hint, unknown="keep", allow_missing_ids=True)
    elif declared is not None:
        said, stored = type_json(declared)["kind"], carrier(bare_logical(declared))
    else:
        return
    expected = scan_type(without_nullability(bare(stored)))
    if expected != _shape(field.dataType):
        found = field.dataType.simpleString()
        raise ConversionError.of(
            "LB2111",
            f"the metadata of the column {field.name!r} says {said}, which is not stored as {found}",
            path=path_text(path),
            expected=expected.simpleString(),
            found=found,
            remedy=f"drop {METADATA_KEY!r} from the column's metadata, or cast the column back",
        )


def _shape(type_: spark_types.DataType) -> spark_types.DataType:
    """The type with everything inside nullable and every struct emptied, as `scan_type` gives a bare type."""

    def shape(part: spark_types.DataType) -> spark_types.DataType:
        match part:
            case spark_types.ArrayType():
                return spark_types.ArrayType(part.elementType)
            case spark_types.MapType():
                return spark_types.MapType(part.keyType, part.valueType)
            case spark_types.StructType():
                return spark_types.StructType([])
            case spark_types.CharType() | spark_types.VarcharType():
                return spark_types.StringType()
            case _:
                return part

    return transform(type_, shape)


def _nearest(type_: spark_types.DataType, nullable: bool) -> LogicalType:
    """The logical type that is read without metadata."""
    problems: list[Diagnostic] = []
    found = _logical(type_, nullable, None, (), problems)
    return bare_logical(found)


def _logical(
    type_: spark_types.DataType, nullable: bool, declared: LogicalType | None, path: _Path, problems: list[Diagnostic]
) -> LogicalType:
    """The logical type, read as `declared` where given; nullability is Spark's, which says none for map keys."""
    own = None if declared is None else required(declared)
    found: LogicalType
    match type_:
        case spark_types.ArrayType():
            item, length = (own.item_type, own.fixed_length) if isinstance(own, logical.List) else (None, None)
            inner = _logical(type_.elementType, type_.containsNull, item, (*path, "element"), problems)
            found = logical.List(inner, length)
        case spark_types.MapType():
            key, value = (own.key_type, own.value_type) if isinstance(own, logical.Map) else (None, None)
            sorted_ = own.keys_sorted if isinstance(own, logical.Map) else None
            key = _logical(type_.keyType, isinstance(key, logical.Option), key, (*path, "key"), problems)
            value = _logical(type_.valueType, type_.valueContainsNull, value, (*path, "value"), problems)
            found = logical.Map(key, value, sorted_)
        case spark_types.StructType():
            found = logical.Struct(tuple(_field(f, (*path, f.name), problems) for f in type_.fields))
        case _:
            found = own if own is not None else _atomic(type_, path)
    return logical.Option(found) if nullable else found


def _atomic(type_: spark_types.DataType, path: _Path) -> LogicalType:
    if type(type_) in _LOGICAL:
        return _LOGICAL[type(type_)]
    match type_:
        case spark_types.DecimalType():
            return logical.Decimal(type_.precision, type_.scale)
        case spark_types.CharType() | spark_types.VarcharType():
            return logical.String()
        case spark_types.StringType() if getattr(type_, "collation", "UTF8_BINARY") == "UTF8_BINARY":
            return logical.String()
        case _ if type_.typeName() == "time":
            digits = getattr(type_, "precision", MAX_MICROS)
            return logical.Time(next(u for u in TimeUnit if u.digits >= digits))
    name = type_.simpleString()
    raise ConversionError.of(
        "LB2110",
        f"the Spark type {name} has no logical type",
        path=path_text(path) or None,
        found=name,
        remedy="cast the column to another type first",
    )


def _hint_of(type_: spark_types.DataType) -> Extra:
    """The hint for a column whose Spark type is, or holds, a Paimon type which no logical type stands for."""
    exact = _exact(type_)
    return Extra() if exact is None else hint(exact)


def _exact(type_: spark_types.DataType) -> DataType | None:
    """The Paimon type that the Spark type means, where the nearest logical type means another one.

    Structs are left empty: their members have hints of their own.
    """
    return fold(type_, _exact_of)


def _exact_of(type_: spark_types.DataType, inner: tuple[DataType | None, ...]) -> DataType | None:
    match type_:
        case spark_types.TimestampNTZType():
            return physical.Timestamp(MAX_MICROS)
        case spark_types.CharType():
            return physical.Char(type_.length)
        case spark_types.VarcharType():
            return physical.VarChar(type_.length)
        case spark_types.VariantType():
            return physical.Variant()
        case spark_types.ArrayType():
            (element,) = inner
            return None if element is None else physical.Array(with_nullability(element, type_.containsNull))
        case spark_types.MapType():
            key, value = inner
            if key is None and value is None:
                return None
            key = carrier(_nearest(type_.keyType, False)) if key is None else key
            value = carrier(_nearest(type_.valueType, False)) if value is None else value
            return physical.Map(with_nullability(key, False), with_nullability(value, type_.valueContainsNull))
        case _:
            return None
