"""Project a file's columns to the wanted schema, by field id, at every nesting level.

A data file holds the columns of the schema version that it was written under, by the names of that version.
`lakebed.read.stored_layout` says which of them a query needs; `project` builds the expression that turns them into a
wanted column. Both go by field ids: a name never decides what a value means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.convert.scan_types import scan_type
from lakebed.errors import CorruptMetadataError
from lakebed.physical.paimon_types import Array, DataField, DataType, Map, Row, type_line
from lakebed.read.stored_layout import bare_type
from lakebed.spark.casts import cast_column


@dataclass(frozen=True, slots=True)
class CastRules:
    """How stored values are turned into the wanted type.

    `time_zone` is the zone of casts between wall clocks and instants; `on_error` is "error" or "null". `file` is the
    path of each row's file, for messages. `verify_checksums`: hold pages of Parquet files against their checksums.
    """

    time_zone: str = "UTC"
    on_error: str = "error"
    file: Column | None = None
    verify_checksums: bool = True


def project(wanted: DataField, stored: DataField | None, column: Column | None, rules: CastRules) -> Column:
    """The value of `wanted` from the stored column of the same id, or NULL where the file has none."""
    if stored is None or column is None:
        return F.lit(None).cast(scan_type(wanted.type))
    return _convert(column, bare_type(stored.type), bare_type(wanted.type), rules, wanted.name)


def _convert(column: Column, have: DataType, want: DataType, rules: CastRules, path: str) -> Column:
    if have == want:
        return column
    match have, want:
        case Row(), Row():
            return _convert_row(column, have, want, rules, path)
        case Array(), Array():
            element = _lambda(have.element, want.element, rules, f"{path}.element")
            return F.transform(column, element)
        case Map(), Map():
            if have.key != want.key:
                raise CorruptMetadataError.of(
                    "LB6707",
                    f"the key type of map {path!r} differs between schema versions: "
                    f"{type_line(have.key)} and {type_line(want.key)}",
                    path=path,
                    expected=type_line(want.key),
                    found=type_line(have.key),
                    remedy="map keys cannot change their type; read the table under the older schema",
                )
            value = _lambda(have.value, want.value, rules, f"{path}.value")
            return F.transform_values(column, lambda _, v: value(v))
        case _:
            how = {"time_zone": rules.time_zone, "on_error": rules.on_error, "column": path}
            return cast_column(column, have, want, file=rules.file, **how)


def _lambda(have: DataType, want: DataType, rules: CastRules, path: str) -> Callable[[Column], Column]:
    return lambda inner: _convert(inner, have, want, rules, path)


def _convert_row(column: Column, have: Row, want: Row, rules: CastRules, path: str) -> Column:
    """Rebuild a struct member by member; a NULL struct stays NULL, also when all its wanted members are new."""
    stored = {f.id: f for f in have.fields}
    members = []
    for member in want.fields:
        old = stored.get(member.id)
        inner = column.getField(old.name) if old is not None else None
        value = project(replace(member, name=f"{path}.{member.name}"), old, inner, rules)
        members.append(value.alias(member.name))
    return F.when(column.isNotNull(), F.struct(*members))
