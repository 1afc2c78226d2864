"""Where the referees are known to give something else than the table format demands.

A `number` is that of the list of known differences in the format's description; None where the list has none. What a
reader is not said to give, it gets right. Every entry has to be true: one that a new version of a referee mends fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interop.declared import HINT, Field, Type, binary, decimal, list_of, map_of, option, struct, time, timestamp
from interop.declared import field as column
from referees.filters import Filter


@dataclass(frozen=True)
class Refusal:
    """The reader fails, with this in its message."""

    message: str


@dataclass(frozen=True)
class Reading:
    """A column whose type is changed after its values were written.

    `stored` are values as JSON, row by row; `right` what must be read, in the encoding of the referees. `wrong` says
    what readers give instead. A type may be a pair of a type and the hint of its Paimon type.
    """

    number: int | None
    name: str
    before: Type | tuple[Type, str]
    after: Type | tuple[Type, str]
    stored: Sequence[Any]
    right: Sequence[Any]
    wrong: Mapping[str, Sequence[Any] | Refusal]

    def declared(self, *, evolved: bool) -> Field:
        given = self.after if evolved else self.before
        type_, hint = given if isinstance(given, tuple) else (given, None)
        return column(self.name, option(type_), hint and {HINT: hint})


@dataclass(frozen=True)
class Keeping:
    """A filter on the evolved table of `READINGS`: the rows that it must keep, by `id`, and those that readers keep."""

    number: int | None
    filter: Filter
    right: Sequence[int]
    wrong: Mapping[str, Sequence[int] | Refusal]


@dataclass(frozen=True)
class Change:
    """A change of `COLUMNS`, in REST JSON, that pypaimon accepts and must not, or the other way round.

    `code` is that of Lakebed's refusal.
    """

    number: int | None
    change: Mapping[str, Any]
    right: bool
    code: str | None = None


_INSTANT, _NAIVE = timestamp("Microsecond"), (timestamp("Microsecond"), "TIMESTAMP(6)")
_NAIVE_MILLIS = (timestamp("Millisecond"), "TIMESTAMP(3)")
_MOMENTS = ["1969-12-31T23:59:58.5", "2023-11-14T22:13:20.999999"]
_ITEMS = column("l", list_of("String"))

READINGS = (
    Reading(
        16,
        "int_decimal",
        "Int32",
        decimal(5, 2),
        [7, 1000],
        ["7.00", None],
        {"pypaimon": Refusal("Precision is not great enough")},
    ),
    Reading(
        16,
        "bigint_decimal",
        "Int64",
        decimal(18, 0),
        [7, 10**17],
        ["7", str(10**17)],
        {"pypaimon": Refusal("Precision is not great enough")},
    ),
    Reading(
        17,
        "naive_bigint",
        _NAIVE,
        "Int64",
        _MOMENTS,
        [-1, 1_700_000_000],
        {"pypaimon": [-1_500_000, 1_700_000_000_999_999], "rust": [-1_500_000, 1_700_000_000_999_999]},
    ),
    Reading(
        17,
        "instant_bigint",
        _INSTANT,
        "Int64",
        [f"{m}Z" for m in _MOMENTS],
        [-1, 1_700_000_000],
        {"pypaimon": [-1_500_000, 1_700_000_000_999_999], "rust": [-1_500_000, 1_700_000_000_999_999]},
    ),
    Reading(
        17,
        "naive_int",
        _NAIVE,
        "Int32",
        _MOMENTS,
        [-1, 1_700_000_000],
        {"pypaimon": Refusal("Unsupported cast from timestamp[us] to int32"), "rust": [-1_500_000, None]},
    ),
    Reading(
        18,
        "bigint_naive",
        "Int64",
        _NAIVE,
        [1_700_000_000, -1],
        ["2023-11-14T22:13:20.000000000", "1969-12-31T23:59:59.000000000"],
        {"pypaimon": ["1970-01-01T00:28:20.000000000", "1969-12-31T23:59:59.999999000"]},
    ),
    Reading(
        18,
        "bigint_naive_millis",
        "Int64",
        _NAIVE_MILLIS,
        [1_700_000_000],
        ["2023-11-14T22:13:20.000000000"],
        {"pypaimon": ["1970-01-20T16:13:20.000000000"]},
    ),
    Reading(
        18,
        "bigint_instant",
        "Int64",
        _INSTANT,
        [1_700_000_000],
        ["2023-11-14T22:13:20.000000000Z"],
        {"pypaimon": ["1970-01-01T00:28:20.000000000Z"], "rust": ["1970-01-01T00:28:20.000000000Z"]},
    ),
    Reading(
        19,
        "string_varchar",
        "String",
        ("String", "VARCHAR(3)"),
        ["abcdefgh", "é👍ab"],
        ["abc", "é👍a"],
        {"pypaimon": ["abcdefgh", "é👍ab"], "rust": ["abcdefgh", "é👍ab"]},
    ),
    Reading(
        19,
        "string_char",
        "String",
        ("String", "CHAR(5)"),
        ["ab", "abcdefgh"],
        ["ab   ", "abcde"],
        {"pypaimon": ["ab", "abcdefgh"], "rust": ["ab", "abcdefgh"]},
    ),
    Reading(
        19,
        "bytes_binary",
        "Binary",
        binary(4),
        ["YWI=", "YWJjZGVm"],
        ["hex:61620000", "hex:61626364"],
        {"pypaimon": ["hex:6162", "hex:616263646566"], "rust": ["hex:6162", "hex:616263646566"]},
    ),
    Reading(
        20,
        "double_string",
        "Float64",
        "String",
        [1e10, 1e-4, 100.0, "Infinity"],
        ["1.0E10", "1.0E-4", "100.0", "Infinity"],
        {"pypaimon": ["1e+10", "0.0001", "100", "inf"], "rust": ["10000000000.0", "0.0001", "100.0", "inf"]},
    ),
    Reading(
        23,
        "struct_replaced",
        struct(column("x", option("Int32"))),
        struct(column("z", option("Int32"))),
        [{"x": 1}],
        [[None]],
        {"rust": [None]},
    ),
    Reading(
        None,
        "int_tinyint",
        "Int32",
        "Int8",
        [200, 383, 5],
        [-56, 127, 5],
        {"rust": [None, None, 5]},
    ),
    Reading(
        None,
        "double_int",
        "Float64",
        "Int32",
        [-1.9, 1e20, "NaN"],
        [-1, 2**31 - 1, 0],
        {"pypaimon": [-1, -(2**31), -(2**31)], "rust": [-1, None, None]},
    ),
    Reading(
        None,
        "double_decimal",
        "Float64",
        decimal(5, 2),
        [1.005, 123456.0],
        ["1.01", None],
        {"pypaimon": ["1.00", "0.00"], "rust": ["1.00", None]},
    ),
    Reading(
        None,
        "string_int",
        "String",
        "Int32",
        ["9", "10", "+11", "12.9"],
        [9, 10, 11, 12],
        {"pypaimon": Refusal("Failed to parse string: '12.9'"), "rust": [9, 10, 11, None]},
    ),
    Reading(
        None,
        "string_decimal",
        "String",
        decimal(5, 2),
        ["1.005", "1234.5"],
        ["1.01", None],
        {"pypaimon": ["1.00", "1234.50"]},
    ),
    Reading(
        None,
        "string_date",
        "String",
        "Date",
        ["2024-02", "123"],
        ["2024-02-01", "1970-05-04"],
        {"pypaimon": Refusal("Failed to parse string"), "rust": [None, None]},
    ),
    Reading(
        None,
        "boolean_decimal",
        "Bool",
        decimal(5, 2),
        [True, False],
        ["1.00", "0.00"],
        {"pypaimon": Refusal("Unsupported cast from bool"), "rust": Refusal("Failed to reconcile")},
    ),
    Reading(
        None,
        "naive_millis",
        _NAIVE,
        _NAIVE_MILLIS,
        ["1969-12-31T23:59:59.9999"],
        ["1969-12-31T23:59:59.999000000"],
        {"pypaimon": ["1970-01-01T00:00:00.000000000"], "rust": ["1970-01-01T00:00:00.000000000"]},
    ),
    Reading(
        None,
        "naive_string",
        _NAIVE,
        "String",
        ["2024-02-29T10:11:12.5"],
        ["2024-02-29 10:11:12.500000"],
        {"rust": ["2024-02-29T10:11:12.500"]},
    ),
    Reading(
        None,
        "time_string",
        time("Millisecond"),
        "String",
        ["10:11:12.5"],
        ["10:11:12.5"],
        {"pypaimon": ["10:11:12.500"], "rust": ["10:11:12.500"]},
    ),
    Reading(
        None,
        "map_of_lists",
        map_of("String", struct(_ITEMS)),
        map_of("String", struct(_ITEMS, column("new", option("Int32")))),
        [{"k": {"l": ["a"]}}],
        [[["k", [["a"], None]]]],
        {"pypaimon": Refusal("Struct child array #1 does not match type field")},
    ),
)

KEEPINGS = (
    Keeping(
        21, ["string_int", ">", 9], [1, 2, 3], {"pypaimon": Refusal("not supported between instances"), "rust": [1, 2]}
    ),
    Keeping(21, ["double_string", "=", "100.0"], [2], {"pypaimon": Refusal("not supported between instances")}),
    Keeping(22, ["int_tinyint", "=", -56], [0], {"pypaimon": [], "rust": []}),
    Keeping(22, ["int_tinyint", "<", 0], [0], {"pypaimon": [], "rust": []}),
)

COLUMNS = (
    ("k", "BIGINT"),
    ("i", "INT"),
    ("b", "BOOLEAN"),
    ("s", "STRING"),
    ("d", "DATE"),
    ("t", "TIME(3)"),
    ("ts", "TIMESTAMP(6)"),
)


def _type(name: str, kind: str) -> dict[str, Any]:
    return {"action": "updateColumnType", "fieldNames": [name], "newDataType": kind, "keepNullability": False}


CHANGES = (
    Change(12, {"action": "renameColumn", "fieldNames": ["s"], "newName": "_ROW_ID"}, False, "LB3315"),
    Change(12, {"action": "setOption", "key": "file.format", "value": "nonsense"}, False, "LB3329"),
    Change(12, {"action": "setOption", "key": "bucket", "value": "0"}, False, "LB4018"),
    Change(
        13,
        {"action": "addColumn", "fieldNames": ["i", "x"], "dataType": "INT", "comment": None, "move": None},
        False,
        "LB4003",
    ),
    Change(15, _type("s", "TIME(3)"), True),
    Change(15, _type("b", "DECIMAL(5, 2)"), True),
    Change(15, _type("i", "DECIMAL(5, 2)"), True),
    Change(15, _type("i", "TIMESTAMP(6)"), True),
    Change(15, _type("t", "TIMESTAMP(6)"), True),
    Change(15, _type("ts", "INT"), True),
    Change(15, _type("d", "VARCHAR(20)"), False, "LB4012"),
    Change(15, _type("b", "BOOLEAN"), False, "LB4012"),
)
