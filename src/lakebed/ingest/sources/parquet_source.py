"""Read the columns of a Parquet source from its footer, and choose the types Spark reads them as.

Spark's own inference looks at one file, cannot read TIME and nanoseconds, and calls them by types that they are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import types as spark

from lakebed.diagnostics import Diagnostic
from lakebed.errors import UnsupportedError
from lakebed.ingest.sources.parquet_rebase import Leaf, Millis, is_rebased, overflow
from lakebed.ingest.sources.source_types import Clock, Entries, Items, Members, Plain, SourceType, Ticks

UNREADABLE_TYPE = "LB6115"

_MAX_PRECISION = 38
_UNIT_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


@dataclass(frozen=True, slots=True)
class ParquetColumns:
    """The columns of one or more files of the same layout."""

    members: Members
    schema: spark.StructType = field(compare=False)


def parquet_columns(path: str, metadata: Any, *, rebase: bool = False) -> ParquetColumns:
    """The columns of a file, by the metadata of its footer.

    Raises `UnsupportedError` with every column of a type, or with moments, that Spark does not read.

    `rebase`: the reader takes old days for those of the Julian calendar, as it does by itself for files that say so.
    """
    leaves = [Leaf(metadata, i) for i in range(metadata.num_columns)]
    reader = _Reader(iter(leaves), path, is_rebased(metadata, rebase))
    members, fields = [], []
    for column in metadata.schema.to_arrow_schema():
        source, type_ = reader.type(column.type, column.name)
        members.append((column.name, source))
        fields.append(spark.StructField(column.name, type_))
    if reader.problems:
        raise UnsupportedError(*reader.problems)
    return ParquetColumns(Members(tuple(members)), spark.StructType(fields))


_Pair = tuple[SourceType, spark.DataType]


@dataclass(slots=True)
class _Reader:
    """Walks the Arrow types of a file and, beside them, its leaves in order."""

    leaves: Iterator[Leaf]
    path: str
    is_rebased: bool
    problems: list[Diagnostic] = field(default_factory=list)

    def type(self, type_: Any, name: str) -> _Pair:
        import pyarrow.types as t

        if t.is_struct(type_):
            inner = [type_.field(i) for i in range(type_.num_fields)]
            parts = [(f.name, *self.type(f.type, f"{name}.{f.name}")) for f in inner]
            return (
                Members(tuple((n, s) for n, s, _ in parts)),
                spark.StructType([spark.StructField(n, d) for n, _, d in parts]),
            )
        if t.is_map(type_):
            key, value = self.type(type_.key_type, f"{name}.key"), self.type(type_.item_type, f"{name}.value")
            return Entries(key[0], value[0]), spark.MapType(key[1], value[1])
        if t.is_list(type_) or t.is_large_list(type_) or t.is_fixed_size_list(type_):
            item = self.type(type_.value_type, f"{name}.element")
            return Items(item[0]), spark.ArrayType(item[1])
        return self._flat(type_, name, next(self.leaves))

    def _flat(self, type_: Any, name: str, leaf: Leaf) -> _Pair:
        import pyarrow.types as t

        physical = leaf.physical
        if t.is_dictionary(type_):
            return self._flat(type_.value_type, name, leaf)
        if t.is_time(type_):
            digits = _UNIT_DIGITS[type_.unit]
            return Clock(digits), spark.IntegerType() if physical == "INT32" else spark.LongType()
        if t.is_null(type_):
            # Spark does not read the type, but its values, which are all NULL. As integers it would look them up in the
            # empty dictionary of a list.
            return Plain(spark.NullType()), spark.LongType()
        if t.is_timestamp(type_) and physical == "INT64" and type_.unit == "ns":
            return Ticks(_UNIT_DIGITS["ns"], type_.tz is not None), spark.LongType()
        if t.is_timestamp(type_) and physical == "INT64" and type_.unit == "ms":
            # Spark would fail the whole query at one that has too many microseconds.
            match leaf.millis() if self.is_rebased else Millis.AS_COUNTED:
                case Millis.AS_COUNTED:
                    return Ticks(_UNIT_DIGITS["ms"], type_.tz is not None), spark.LongType()
                case Millis.UNREADABLE:
                    self.problems.append(overflow(self.path, (name,)))
        found = _spark_type(type_, physical)
        if found is None:
            self.problems.append(
                Diagnostic(
                    UNREADABLE_TYPE,
                    f"column {name!r} of {self.path!r} has the type {type_}, which Spark does not read",
                    path=name,
                    found=str(type_),
                    remedy="convert the column in the file",
                )
            )
            found = spark.NullType()
        return Plain(found), found


def _spark_type(type_: Any, physical: str) -> spark.DataType | None:
    import pyarrow.types as t

    if t.is_timestamp(type_):
        # INT96 is an instant for every engine that writes it, whatever Arrow calls it.
        return spark.TimestampType() if type_.tz is not None or physical == "INT96" else spark.TimestampNTZType()
    if t.is_decimal(type_):
        return spark.DecimalType(type_.precision, type_.scale) if type_.precision <= _MAX_PRECISION else None
    if t.is_string(type_) or t.is_large_string(type_) or t.is_string_view(type_):
        return spark.StringType()
    if t.is_binary(type_) or t.is_large_binary(type_) or t.is_fixed_size_binary(type_) or t.is_binary_view(type_):
        return spark.BinaryType()
    if t.is_duration(type_):
        return spark.LongType()
    return _BY_NAME.get(str(type_))


_BY_NAME: dict[str, spark.DataType] = {
    "bool": spark.BooleanType(),
    "int8": spark.ByteType(),
    "int16": spark.ShortType(),
    "int32": spark.IntegerType(),
    "int64": spark.LongType(),
    "uint8": spark.ShortType(),
    "uint16": spark.IntegerType(),
    "uint32": spark.LongType(),
    "uint64": spark.DecimalType(20, 0),
    "float": spark.FloatType(),
    "double": spark.DoubleType(),
    "date32[day]": spark.DateType(),
    "date64[ms]": spark.DateType(),
}
