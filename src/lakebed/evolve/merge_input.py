"""Read the columns of data to be merged: a DataFrame, its schema, a declared schema, or columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from lakebed.catalog.columns import AnyFields, Columns, to_columns
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import ValidationError
from lakebed.evolve.nested_paths import Fields
from lakebed.physical.paimon_tree import without_ids
from lakebed.physical.paimon_types import UNASSIGNED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as spark

    from lakebed.manifest.table_manifest import TableManifest

NOT_COLUMNS = "LB4505"

AnyColumns: TypeAlias = "DataFrame | spark.StructType | TableManifest | TableSchema | AnyFields"


def incoming_columns(data: AnyColumns) -> Columns:
    """The columns of data, in the table format's types and, where they are known, in logical ones; without ids.

    Of a DataFrame the schema is taken; its columns of the type `void`, which hold nothing but NULL, are left out.

    Raises:
        ValidationError: not any form of columns (LB4505), or columns that cannot be understood.
        ConversionError: columns of a type that a table cannot hold.
    """
    given: Any = data
    if type(given).__module__.startswith("pyspark."):
        given = _of_spark(given)
    elif isinstance(given, TableSchema):
        given = _without_ids(given.fields)
    elif hasattr(given, "schema") and not callable(given.schema):
        given = given.schema
    if isinstance(given, str | bytes) or not (hasattr(given, "fields") or hasattr(given, "__iter__")):
        raise ValidationError.of(
            NOT_COLUMNS,
            f"{type(data).__name__} says no columns",
            expected="a DataFrame, a StructType, a schema, or a list of columns",
            found=type(data).__name__,
            remedy='give a list, such as ["id BIGINT", "note STRING"]',
        )
    columns = to_columns(given)
    return replace(columns, fields=_without_ids(columns.fields))


def _without_ids(fields: Fields) -> Fields:
    return tuple(replace(f, id=UNASSIGNED, type=without_ids(f.type)) for f in fields)


def _of_spark(given: Any) -> Any:
    from pyspark.sql import types as spark

    from lakebed.convert.spark import from_spark

    struct = given if isinstance(given, spark.StructType) else getattr(given, "schema", None)
    return from_spark(_known_only(struct))[0] if isinstance(struct, spark.StructType) else given


def _known_only(struct: spark.StructType) -> spark.StructType:
    """The struct less the members of the type `void`, at every level."""
    from pyspark.sql import types as spark

    from lakebed.convert.spark_tree import transform_struct

    def known(type_: spark.DataType) -> spark.DataType:
        if not isinstance(type_, spark.StructType):
            return type_
        return spark.StructType([f for f in type_.fields if not _is_void(f.dataType)])

    return transform_struct(struct, known)


def _is_void(type_: spark.DataType) -> bool:
    """Whether values hold nothing but NULL: an array of `void`, too."""
    from pyspark.sql import types as spark

    from lakebed.convert.spark_tree import fold

    def void(part: spark.DataType, inner: tuple[bool, ...]) -> bool:
        return isinstance(part, spark.NullType) or (not isinstance(part, spark.StructType) and any(inner))

    return fold(type_, void)
