"""Judge whether rows of a DataFrame can be written as they are, without what only Lakebed's own writes check."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import types as spark_types

from lakebed.arrow.convert_arrays import find
from lakebed.catalog.node import Node, siblings
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.paimon import nearest
from lakebed.convert.scan_types import MAX_MICROS, scan_type
from lakebed.data_source.user_schema import plain_types
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import UnsupportedError, UsageError
from lakebed.format.new_files import UNAWARE
from lakebed.ingest.system_columns import system_roles
from lakebed.model import LogicalType, required
from lakebed.model import types as logical
from lakebed.model.extra import ENUM, EXTENDED_TYPE, MAXIMUM, MINIMUM, PATTERN, UNIQUE
from lakebed.physical import paimon_types as physical
from lakebed.physical import path_text
from lakebed.write.plan_write import WritePlan

NOT_SO = "LB5608"
NO_ROWS_OF_IT = "LB5609"

#: Types all of whose values Spark has as well.
_PLAIN = (
    *(physical.Boolean, physical.TinyInt, physical.SmallInt, physical.Int, physical.BigInt),
    *(physical.Float, physical.Double, physical.Decimal, physical.Date, physical.Blob),
)
_WHOLE = (spark_types.ByteType, spark_types.ShortType, spark_types.IntegerType, spark_types.LongType)


def refuse_unfit_table(plan: WritePlan, table: str) -> None:
    """Raise `UnsupportedError` (LB5608) where a write has to do more than to put rows into files."""
    schema, call = plan.schema, "append(df)"
    problems: list[tuple[str, str | None]] = []
    if plan.is_keyed:
        call = "upsert(df)"
        problems.append(("it has a primary key, by which rows have to be brought together", None))
    elif plan.buckets != UNAWARE:
        problems.append(("it has buckets, to which rows have to be brought", None))
    for role, name in system_roles(schema.logical).items():
        problems.append((f"Lakebed fills its system column {name!r} ({role})", name))
    for node in siblings(schema.fields, schema.logical.fields):
        for part, why in _checked(node):
            path = path_text(part.path)
            problems.append((f"values of column {path} are {why}", path))
    if problems:
        raise UnsupportedError(
            *(
                Diagnostic(
                    NOT_SO,
                    f"table {table} is not written by the data source: {why}",
                    path=path or table,
                    remedy=f"write with lake.table({table!r}).{call} or .overwrite(df), a stream with .stream_writer",
                )
                for why, path in problems
            )
        )


def _checked(column: Node) -> tuple[tuple[Node, str], ...]:
    """The places of a column whose values are looked at by a write, and what they are looked at for."""

    def combine(node: Node, inner: tuple[tuple[tuple[Node, str], ...], ...]) -> tuple[tuple[Node, str], ...]:
        found = tuple(one for part in inner for one in part)
        why = _why_checked(node)
        return found if why is None else (*found, (node, why))

    return column.fold(combine)


def _why_checked(node: Node) -> str | None:
    if any(name in node.extra for name in (ENUM, PATTERN, MINIMUM, MAXIMUM, UNIQUE, EXTENDED_TYPE)):
        return "checked by the column's attributes"
    match node.stored, node.own:
        case physical.Array(), logical.List(fixed_length=length):
            return None if length is None else f"lists of {length} items"
        case (physical.Map(), logical.Map()) | (physical.Row(), logical.Struct()):
            return None
    if required(nearest(node.stored)) != node.own or not _is_plain(node.stored):
        return f"checked for {_words(node.own)}, which is stored as {node.stored}"
    return None


def _words(type_: LogicalType) -> str:
    return type(type_).__name__


def _is_plain(type_: physical.DataType) -> bool:
    match type_:
        case physical.VarChar() | physical.VarBinary():
            return type_.length == physical.MAX_LENGTH
        case physical.Timestamp() | physical.LocalZonedTimestamp():
            return type_.precision == MAX_MICROS
        case _:
            return isinstance(type_, _PLAIN)


def written_names(given: spark_types.StructType, schema: TableSchema, table: str) -> dict[str, str]:
    """The table's columns by the names of the frame. Raises `UsageError` (LB5609) for a frame of other columns.

    All columns have to be there, in any order, of their types or of ones that lose nothing.
    """
    problems = tuple(_misfits(plain_types(given), schema, table))
    if problems:
        raise UsageError(*problems)
    names = schema.field_names
    return {column: names[place] for column in given.names if (place := find(names, column)) is not None}


def _misfits(given: spark_types.StructType, schema: TableSchema, table: str) -> Iterator[Diagnostic]:
    names, seen = schema.field_names, set[str]()
    for column in given.fields:
        place = find(names, column.name)
        name = None if place is None else names[place]
        if name is None or name in seen:
            what = "is no column of" if name is None else "is given twice for"
            near = near_names(column.name, names) if name is None else ()
            yield _misfit(f"{column.name!r} {what} table {table}", column.name, table, ", ".join(names), near)
            continue
        seen.add(name)
        wanted = scan_type(schema.fields[names.index(name)].type)
        if not _holds(wanted, column.dataType):
            have, want = column.dataType.simpleString(), wanted.simpleString()
            yield _misfit(f"column {name!r} of table {table} is {want}, the rows have {have}", name, table, want)
    for name in names:
        if name not in seen:
            yield _misfit(f"the rows have no column {name!r} of table {table}", name, table, ", ".join(names))


def _misfit(message: str, path: str, table: str, expected: str, near: tuple[str, ...] = ()) -> Diagnostic:
    remedy = f"select the table's columns and cast them, or write with lake.table({table!r}).append(df), which converts"
    return Diagnostic(NO_ROWS_OF_IT, message, path=path, expected=expected, remedy=remedy, suggestions=near)


def _holds(wanted: spark_types.DataType, given: spark_types.DataType) -> bool:
    """Whether every value of one type is one of the other's."""
    if isinstance(wanted, _WHOLE) and isinstance(given, _WHOLE):
        return _WHOLE.index(type(given)) <= _WHOLE.index(type(wanted))
    match wanted, given:
        case spark_types.DoubleType(), spark_types.FloatType():
            return True
        case spark_types.DecimalType(), spark_types.DecimalType():
            return given.scale <= wanted.scale and given.precision - given.scale <= wanted.precision - wanted.scale
        case _:
            return wanted == given
