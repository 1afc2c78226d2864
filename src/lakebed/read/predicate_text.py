"""Print predicates as readable SQL of Spark's dialect."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal as Number
from typing import Any, assert_never

from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_types import DataField, DataType
from lakebed.read.predicate import (
    And,
    Compare,
    Constant,
    IsIn,
    IsNull,
    Not,
    Opaque,
    Operator,
    Or,
    Predicate,
    StartsWith,
)

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_EPOCH = datetime(1970, 1, 1)
_FIRST_DAY = date(1970, 1, 1)
_NANOS_PER_SECOND = 1_000_000_000


def text(predicate: Predicate) -> str:
    """The SQL of a predicate, names quoted where they have to be, on one line unless a text has more."""
    match predicate:
        case Compare(column=column, operator=Operator.EQUAL, value=True):
            return name(column)
        case Compare(column=column, operator=operator, value=value):
            return f"{name(column)} {operator} {literal(column.type, value)}"
        case IsIn():
            return _is_in(predicate, "IN")
        case IsNull(column=column):
            return f"{name(column)} IS NULL"
        case StartsWith(column=column, prefix=prefix):
            return f"startswith({name(column)}, {quoted(prefix)})"
        case Constant(value=value):
            return "NULL" if value is None else str(value).upper()
        case Opaque(text=sql):
            return sql
        case Not(part=IsNull(column=column)):
            return f"{name(column)} IS NOT NULL"
        case Not(part=IsIn() as part):
            return _is_in(part, "NOT IN")
        case Not(part=part):
            return f"NOT ({text(part)})"
        case And(parts=parts):
            return " AND ".join(_part(part) for part in parts)
        case Or(parts=parts):
            return " OR ".join(_part(part) for part in parts)
    assert_never(predicate)


def _part(predicate: Predicate) -> str:
    return f"({text(predicate)})" if isinstance(predicate, (And, Or, Opaque)) else text(predicate)


def _is_in(predicate: IsIn, how: str) -> str:
    column = predicate.column
    return f"{name(column)} {how} ({', '.join(literal(column.type, value) for value in predicate.values)})"


def name(column: DataField) -> str:
    """The column's name, in backticks where it is not plain."""
    return column.name if _PLAIN_NAME.fullmatch(column.name) else "`" + column.name.replace("`", "``") + "`"


def quoted(value: str) -> str:
    """A text in single quotes."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def literal(type_: DataType, value: Any) -> str:
    """An internal value of a column of this type, no NULL, as a literal."""
    match type_, value:
        case _, bool():
            return str(value).upper()
        case _, str():
            return quoted(value)
        case _, bytes():
            return f"X'{value.hex().upper()}'"
        case _, float():
            return f"{value!r}D"
        case _, Number():
            return f"{value:f}"
        case physical.Date(), int():
            return f"DATE '{_day(value)}'"
        case physical.Timestamp(), int():
            return f"TIMESTAMP_NTZ '{_clock(value)}'"
        case physical.LocalZonedTimestamp(), int():
            return f"TIMESTAMP '{_clock(value)}Z'"
        case _:
            return str(value)


def _day(days: int) -> str:
    try:
        return (_FIRST_DAY + timedelta(days=days)).isoformat()
    except OverflowError:
        return f"1970-01-01 {days:+} days"


def _clock(nanos: int) -> str:
    seconds, part = divmod(nanos, _NANOS_PER_SECOND)
    try:
        whole = (_EPOCH + timedelta(seconds=seconds)).isoformat(sep=" ")
    except OverflowError:
        return f"1970-01-01 00:00:00 {seconds:+} seconds"
    return whole + (f".{part:09}".rstrip("0") if part else "")
