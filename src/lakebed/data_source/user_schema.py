"""Match the columns that a reader chose by `.schema(...)` to the table's fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import types as spark_types

from lakebed.arrow.convert_arrays import find
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.scan_types import scan_type
from lakebed.convert.spark_tree import transform_struct
from lakebed.diagnostics import near_names
from lakebed.errors import LakebedError, UsageError
from lakebed.format.row_kinds import ROW_KIND
from lakebed.physical.paimon_types import Array, DataField, DataType, Map, Row


def with_row_kind(schema: spark_types.StructType) -> spark_types.StructType:
    """The columns of a stream with row kinds."""
    return spark_types.StructType([spark_types.StructField(ROW_KIND, spark_types.StringType()), *schema.fields])


def chosen_fields(wanted: spark_types.StructType, schema: TableSchema, table: str) -> tuple[DataField, ...]:
    """The table's fields for columns that are wanted, in their order and by their names, members of structs alike.

    Raises UsageError for a column that the table does not have (LB5601), or has of another type (LB5602).
    """
    if not wanted.fields:
        raise UsageError.of("LB5601", f"no column of table {table} is chosen", remedy="name at least one column")
    return tuple(_fields(wanted.fields, schema.fields, "", table))


def _fields(
    wanted: Iterable[spark_types.StructField], fields: tuple[DataField, ...], path: str, table: str
) -> Iterable[DataField]:
    names = [f.name for f in fields]
    for column in wanted:
        place = find(names, column.name)
        if place is None:
            raise unknown_column(column.name, names, f"table {table}", path)
        field = fields[place]
        if not column.nullable and (path or field.type.nullable):
            raise _other(table, path + column.name, f"{column.dataType.simpleString()} NOT NULL", field.type)
        yield DataField(field.id, column.name, _type(column.dataType, field.type, path + column.name, table))


def all_nullable(struct: spark_types.StructType) -> spark_types.StructType:
    """The same columns, as files give them: nothing that is stored is certain not to be NULL."""
    return transform_struct(struct, _nullable_parts)


def plain_types(struct: spark_types.StructType) -> spark_types.StructType:
    """The same columns, nullable everywhere and without annotations."""
    return transform_struct(all_nullable(struct), _without_metadata)


def _without_metadata(type_: spark_types.DataType) -> spark_types.DataType:
    if isinstance(type_, spark_types.StructType):
        return spark_types.StructType([spark_types.StructField(f.name, f.dataType, f.nullable) for f in type_.fields])
    return type_


def _nullable_parts(type_: spark_types.DataType) -> spark_types.DataType:
    match type_:
        case spark_types.StructType():
            fields = [spark_types.StructField(f.name, f.dataType, True, f.metadata) for f in type_.fields]
            return spark_types.StructType(fields)
        case spark_types.ArrayType():
            return spark_types.ArrayType(type_.elementType)
        case spark_types.MapType():
            return spark_types.MapType(type_.keyType, type_.valueType)
        case _:
            return type_


def unknown_column(name: str, names: Sequence[str], table: str, path: str = "") -> LakebedError:
    """The error of a column that a table does not have."""
    return UsageError.of(
        "LB5601",
        f"{table} has no column {path + name!r}",
        path=path + name,
        expected=", ".join(names),
        remedy=f"the schema that is given chooses among {', '.join(names)}",
        suggestions=near_names(name, names),
    )


def _type(wanted: spark_types.DataType, have: DataType, path: str, table: str) -> DataType:
    match wanted, have:
        case spark_types.StructType(), Row():
            return Row(tuple(_fields(wanted.fields, have.fields, f"{path}.", table)), nullable=have.nullable)
        case spark_types.ArrayType(containsNull=True), Array():
            return Array(_type(wanted.elementType, have.element, f"{path}.element", table), nullable=have.nullable)
        case spark_types.MapType(valueContainsNull=True), Map():
            _type(wanted.keyType, have.key, f"{path}.key", table)
            return Map(have.key, _type(wanted.valueType, have.value, f"{path}.value", table), nullable=have.nullable)
        case _ if wanted == scan_type(have):
            return have
    raise _other(table, path, wanted.simpleString(), have)


def _other(table: str, path: str, wanted: str, have: DataType) -> LakebedError:
    own = scan_type(have).simpleString()
    return UsageError.of(
        "LB5602",
        f"column {path!r} of table {table} is {have}, and the schema that is given says {wanted}",
        path=path,
        expected=own,
        found=wanted,
        remedy=f"say {own}, nullable at every level as all columns of a read are, and cast the column after the read",
    )
