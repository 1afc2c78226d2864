"""Rows of all types of columns with their internal values, and random filters over them as SQL text."""

from __future__ import annotations

import datetime as dt
import math
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa

from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.arrow_rows import row_type
from lakebed.physical import paimon_types as t

_TYPES: dict[str, tuple[t.DataType, str]] = {
    "ti": (t.TinyInt(), "tinyint"),
    "si": (t.SmallInt(), "smallint"),
    "i": (t.Int(), "int"),
    "bi": (t.BigInt(), "bigint"),
    "d2": (t.Decimal(10, 2), "decimal(10,2)"),
    "d18": (t.Decimal(38, 18), "decimal(38,18)"),
    "d0": (t.Decimal(20, 0), "decimal(20,0)"),
    "f": (t.Float(), "float"),
    "db": (t.Double(), "double"),
    "s": (t.VarChar(), "string"),
    "vc": (t.VarChar(20), "string"),
    "b": (t.Boolean(), "boolean"),
    "by": (t.VarBinary(), "binary"),
    "da": (t.Date(), "date"),
    "nt": (t.Timestamp(9), "timestamp_ntz"),
    "lt": (t.LocalZonedTimestamp(9), "timestamp_ltz"),
    "Odd Name": (t.Int(), "int"),
}
FIELDS = {name: t.DataField(n, name, type_) for n, (name, (type_, _)) in enumerate(_TYPES.items())}
SCHEMA = TableSchema(0, tuple(FIELDS.values()), len(FIELDS))
SPARK_SCHEMA = ", ".join(f"`{name}` {spark}" for name, (_, spark) in _TYPES.items())

_FLOATS = [0.0, -0.0, 1.0, 0.5, -2.5, 16777216.0, math.inf, -math.inf, math.nan]
_DOUBLES = [*_FLOATS, 0.1, -0.1, 1e300, 9007199254740992.0, 0.10000000149011612]
_TEXTS = ["", "a", "ab", "abc", "b", "5", "1.0", "true", "2020-01-01", "é", "\U0001f600", "%", "a_b", "it's"]
_STAMPS = [
    *(
        dt.datetime(1970, 1, 1),
        dt.datetime(2020, 1, 1),
        dt.datetime(2020, 1, 1, 0, 0, 0, 1),
        dt.datetime(1960, 5, 5, 5),
    ),
    *(dt.datetime(2019, 12, 31, 23), dt.datetime(2020, 10, 25, 0, 30), dt.datetime(2020, 10, 25, 1, 30)),
    *(
        dt.datetime(2020, 3, 29, 1, 30),
        dt.datetime(2020, 3, 29, 2, 30),
        dt.datetime(1850, 1, 1),
        dt.datetime(2050, 7, 1),
    ),
    *(dt.datetime(2020, 10, 25, 2, 30), dt.datetime(2020, 1, 1, 5, 30), dt.datetime(2020, 6, 1, 12, 0, 0, 500000)),
]
_VALUES: dict[str, list[Any]] = {
    "ti": [0, 1, 5, -1, 127, -128],
    "si": [0, 1, 5, 300, -32768, 32767],
    "i": [0, 1, 5, -5, 2**31 - 1, -(2**31), 16777217, 16777216, 2020],
    "bi": [0, 1, 5, 2**63 - 1, -(2**63), 2**53, 2**53 + 1, -(2**53) - 1, 16777217],
    "d2": [Decimal(x) for x in ("0.00", "0.10", "1.00", "5.00", "-2.50", "99999999.99", "-99999999.99")],
    "d18": [Decimal(x) for x in ("0", "0.1", "1", "0.100000000000000001", "99999999999999999999.999999999999999999")],
    "d0": [Decimal(x) for x in ("0", "1", "5", "99999999999999999999", "9007199254740993")],
    "f": [*_FLOATS, 0.10000000149011612],
    "db": _DOUBLES,
    "s": _TEXTS,
    "vc": _TEXTS[::-1],
    "b": [True, False],
    "by": [b"", b"\x00", b"\xab", b"\xab\xcd", b"a", b"\xff"],
    "da": [dt.date(1970, 1, 1), dt.date(2020, 1, 1), dt.date(2019, 12, 31), dt.date(1, 1, 1), dt.date(9999, 12, 31)],
    "nt": _STAMPS,
    "lt": [s.replace(tzinfo=dt.UTC) for s in _STAMPS],
    "Odd Name": [0, 1, 2],
}


def rows(count: int, seed: int) -> list[tuple[Any, ...]]:
    """Rows of Spark's values, in which every value of every column stands, if there are enough of them."""
    chosen = random.Random(seed)
    columns = []
    for values in _VALUES.values():
        pool = [*values, None]
        column = [pool[n % len(pool)] for n in range(count)]
        chosen.shuffle(column)
        columns.append(column)
    return list(zip(*columns, strict=True))


def arrow_batch(data: list[tuple[Any, ...]]) -> pa.RecordBatch:
    """Such rows as an Arrow batch, with the number of each in the column `row`."""
    columns = [pa.array(v, row_type(f.type)) for f, v in zip(FIELDS.values(), zip(*data, strict=True), strict=True)]
    return pa.RecordBatch.from_arrays([*columns, pa.array(range(len(data)))], names=[*FIELDS, "row"])


def internal(value: Any) -> Any:
    """The internal value of one of Spark's."""
    if isinstance(value, dt.datetime):
        plain = value.replace(tzinfo=None) - dt.datetime(1970, 1, 1)
        return plain // dt.timedelta(microseconds=1) * 1000
    if isinstance(value, dt.date):
        return (value - dt.date(1970, 1, 1)).days
    return value


_NUMBERS = [
    *(
        "0",
        "1",
        "5",
        "-5",
        "-0",
        "+1",
        "127",
        "128",
        "300",
        "2020",
        "16777217",
        "2147483648",
        "-2147483648",
        "1L",
        "5S",
    ),
    *("9223372036854775807", "-9223372036854775808", "9223372036854775808", "9007199254740993", "1Y", "-(1)", "- 5"),
    *("0.1", "-0.0", "0.10", "1.0", "1.", ".5", "-2.5", "5.00", "0.100000000000000001", "16777217.0", "99999999.99"),
    *("99999999999999999999", "99999999999999999999999999999999999999", "0.00000000000000000000000000000000000001"),
    *("12345678901234567890.123456789012345678", "1.0BD", "0.10BD", "5BD", "CAST('1' AS DECIMAL(38,0))"),
    *("1e0", "1e3", "1E-1", "0.1D", "-0.0D", "5D", "16777217D", "9007199254740993D", "9.007199254740992e15", "1e400"),
    *("0.1F", "1F", "0.5F", "-0.0F", "16777217F", "2.5F", "CAST('NaN' AS DOUBLE)", "CAST(0.1 AS FLOAT)", "1e300"),
    *("CAST(1.5 AS INT)", "CAST('5' AS INT)", "INT('5')", "'5'", "'-5'", "'05'", "' 5'", "'1.0'", "'300'", "'1e0'"),
    *("'0.1'", "1 + 1", "CAST(1 AS DOUBLE)", "CAST(0.1 AS DOUBLE)", "DECIMAL(5)", "CAST(5 AS DECIMAL(3,1))"),
]
_STRINGS = [
    *("''", "'a'", "'ab'", "'abc'", "'b'", "'5'", "'é'", "'\U0001f600'", "'it''s'", '"a"', "'a' 'b'", r"'\u0061'"),
    *("r'a'", "'%'", "'a_b'", "CAST('a' AS STRING)", "'A'", "concat('a', 'b')", "'a' || 'b'"),
]
_DATES = [
    *("DATE '2020-01-01'", "DATE '1970-01-01'", "'2020-01-01'", "'2019-12-31'", "CAST('2020-01-01' AS DATE)"),
    *("DATE '2020-1-1'", "'2020-1-1'", "'2020-01'", "DATE '0001-01-01'", "DATE('2020-01-01')", "DATE '9999-12-31'"),
]
_MOMENTS = [
    *_DATES[:5],
    *(
        "TIMESTAMP '2020-01-01 00:00:00'",
        "TIMESTAMP_NTZ '2020-01-01 00:00:00.000001'",
        "TIMESTAMP '2020-10-25 02:30:00'",
    ),
    *(
        "TIMESTAMP_LTZ '2020-03-29 02:30:00'",
        "TIMESTAMP '2020-01-01 00:00:00Z'",
        "TIMESTAMP '2020-01-01T00:00:00+01:00'",
    ),
    *("'2020-01-01 00:00:00'", "'2020-10-25 02:30:00'", "'2020-01-01 00:00:00Z'", "'2020-06-01 12:00:00.5'"),
    *("'2020-06-01 12:00:00.500'", "CAST('2020-01-01 00:00:00' AS TIMESTAMP)", "TIMESTAMP_NTZ '2020-10-25 01:30:00'"),
    *("TIMESTAMP '1850-01-01 00:00:00'", "TIMESTAMP '2050-07-01 00:00:00'", "TIMESTAMP_NTZ '1960-05-05 05:00:00'"),
    *(
        "'2020-01-01T05:30:00+05:30'",
        "TIMESTAMP '2020-01-01'",
        "'1970-01-01'",
        "TIMESTAMP '2020-01-01 00:00:00.0000019'",
    ),
]
_BYTES = ["X''", "X'AB'", "x'abcd'", "X'FF'", "X'0'", "X'A'", "CAST('a' AS BINARY)"]
_TRUTHS = ["TRUE", "FALSE", "'true'", "true"]
_ALL = [*_NUMBERS, *_STRINGS, *_MOMENTS, *_BYTES, *_TRUTHS]
_OPERATORS = ["=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"]


def _literals(column: str) -> list[str]:
    match _TYPES[column][1]:
        case "string":
            return _STRINGS
        case "boolean":
            return _TRUTHS
        case "binary":
            return _BYTES
        case "date":
            return _DATES
        case "timestamp_ltz" | "timestamp_ntz":
            return _MOMENTS
        case _:
            return _NUMBERS


#: What Spark refuses: always, or in its ANSI mode for columns of numbers.
_REFUSED = {
    *("1e400", "9223372036854775808S", "CAST('1' AS DECIMAL(38,0))", "'05x'", "'1.0'", "'0.1'", "'1e0'", "X'A'"),
}


class Filters:
    """Random filters. `odd` is the part of the literals that are of any type; without any Spark accepts all filters."""

    def __init__(self, seed: int, odd: float = 0) -> None:
        self._random = random.Random(seed)
        self._odd = odd

    def filter(self, depth: int = 3) -> str:
        """One filter."""
        way = self._random.random()
        if depth == 0 or way < 0.35:
            return self._leaf()
        if way < 0.5:
            return f"{self._random.choice(['NOT ', 'not ', '!'])}{self._inner(depth)}"
        joint = self._random.choice([" AND ", " OR ", " or "])
        return joint.join(self._inner(depth) for _ in range(self._random.randint(2, 3)))

    def _inner(self, depth: int) -> str:
        found = self.filter(depth - 1)
        return found if self._random.random() < 0.3 else f"({found})"

    def _leaf(self) -> str:
        choose = self._random.choice
        column = choose(list(_TYPES))
        name = self._name(column)
        way = self._random.random()
        if way < 0.45:
            return f"{name} {choose(_OPERATORS)} {self._literal(column)}"
        if way < 0.55:
            return f"{self._literal(column)} {choose(_OPERATORS)} {name}"
        if way < 0.7:
            count = choose([1, 2, 3, 3, 12])
            return f"{name} {choose(['IN', 'NOT IN'])} ({', '.join(self._literal(column) for _ in range(count))})"
        if way < 0.8:
            how = choose(["BETWEEN", "NOT BETWEEN"])
            return f"{name} {how} {self._literal(column)} AND {self._literal(column)}"
        if way < 0.86:
            return f"{name} IS {choose(['', 'NOT '])}NULL"
        if way < 0.9:
            return f"b IS {choose(['', 'NOT '])}{choose(['TRUE', 'FALSE', 'UNKNOWN'])}"
        if way < 0.95:
            pattern = choose(["'a%'", "'%'", "'ab'", "'a_'", "'%b'", "'a%b%'", "''", "'a%%'"])
            return f"{choose(['s', 'vc', 'i', 'by'])} {choose(['LIKE', 'NOT LIKE'])} {pattern}"
        return choose(
            [
                *("b", "B", "TRUE", "NULL", "startswith(s, 'a')", "startswith(vc, '')", "s IS DISTINCT FROM 'a'"),
                *(
                    "i IS NOT DISTINCT FROM NULL",
                    "i = 1 IS NULL",
                    "length(s) > 1",
                    "(i = 1) = b",
                    "i % 3 + 1 = 2",
                    "1 = 1",
                ),
                *("CASE WHEN b THEN i = 1 ELSE s = 'a' END", "i % 2 = 0", "s LIKE 'a!%' ESCAPE '!'", "ti = si"),
                *("i IN (1, ti)", "s RLIKE 'a'", "s ILIKE 'A%'", "s LIKE ANY ('a%', 'b')", "if(b, i = 1, s = 'a')"),
            ]
        )

    def _name(self, column: str) -> str:
        if " " in column:
            return f"`{column}`"
        return self._random.choice([column, column, column.upper(), f"`{column}`"])

    def _literal(self, column: str) -> str:
        draw = self._random.random()
        if draw < 0.08:
            return "NULL"
        if draw > 1 - self._odd:
            return self._random.choice(_ALL)
        pool = _literals(column)
        return self._random.choice(pool if self._odd else [literal for literal in pool if literal not in _REFUSED])
