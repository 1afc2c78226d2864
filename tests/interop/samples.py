"""Every logical type that has a carrier, with values as a source says them and as all readers have to give them.

Values that are read are in the encoding of `referees.encoding`.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from interop.declared import (
    HINT,
    Field,
    Type,
    binary,
    decimal,
    field,
    list_of,
    map_of,
    option,
    struct,
    time,
    timestamp,
)


@dataclass(frozen=True)
class Sample:
    """A type: the column `name` is required, `name_o` an Option. `values` are pairs: what JSON says, what is read."""

    name: str
    type: Type
    paimon: str
    values: tuple[tuple[Any, Any], ...]
    hint: str | None = None

    def fields(self, *, relaxed: bool = False, widened: tuple[Type, str | None] | None = None) -> list[Field]:
        """Both columns. `relaxed` makes the first an Option too, `widened` is another type and hint of the second."""
        first = (option(self.type) if relaxed else self.type, self.hint)
        second = (self.type, self.hint) if widened is None else widened
        return [
            field(name, type_, hint and {HINT: hint})
            for name, (type_, hint) in ((self.name, first), (f"{self.name}_o", (option(second[0]), second[1])))
        ]

    def said(self, row: int) -> Any:
        """What the source says in a row."""
        return self.values[row % len(self.values)][0]

    def read(self, row: int) -> Any:
        """What is read in that row."""
        return self.values[row % len(self.values)][1]


def _same(*values: Any) -> tuple[tuple[Any, Any], ...]:
    return tuple((v, v) for v in values)


def _base64(*digits: str) -> tuple[tuple[Any, Any], ...]:
    return tuple((base64.b64encode(bytes.fromhex(d)).decode(), f"hex:{d}") for d in digits)


def _moments(*values: str) -> tuple[tuple[Any, Any], ...]:
    """ISO texts, read with nine digits of fraction."""
    out = []
    for text in values:
        whole, _, fraction = text.removesuffix("Z").partition(".")
        out.append((text, f"{whole}.{fraction.ljust(9, '0')}{'Z' if text.endswith('Z') else ''}"))
    return tuple(out)


_ROW = struct(field("x", option("Int32")), field("y", option("String")))
_ITEM = struct(field("x", "Int32"), field("y", option(timestamp("Millisecond"))))
_DEEP = struct(
    field("x", decimal(9, 2)),
    field("in", option(list_of(option(struct(field("z", binary(4)), field("w", option("UInt64"))))))),
)

SAMPLES = (
    Sample("bool", "Bool", "BOOLEAN", _same(True, False)),
    Sample("i8", "Int8", "TINYINT", _same(-(2**7), 2**7 - 1)),
    Sample("i16", "Int16", "SMALLINT", _same(-(2**15), 2**15 - 1)),
    Sample("i32", "Int32", "INT", _same(-(2**31), 2**31 - 1)),
    Sample("i64", "Int64", "BIGINT", _same(-(2**63), 2**63 - 1)),
    Sample("u8", "UInt8", "SMALLINT", _same(0, 2**8 - 1)),
    Sample("u16", "UInt16", "INT", _same(0, 2**16 - 1)),
    Sample("u32", "UInt32", "BIGINT", _same(0, 2**32 - 1)),
    Sample("u64", "UInt64", "DECIMAL(20, 0)", ((0, "0"), (2**64 - 1, str(2**64 - 1)), (2**63, str(2**63)))),
    Sample("f16", "Float16", "FLOAT", _same(1.5, -65504.0, "NaN")),
    Sample("f32", "Float32", "FLOAT", _same(0.1, "NaN", "Infinity", "-Infinity", 3.4028235e38)),
    Sample("f64", "Float64", "DOUBLE", _same(0.1, "NaN", "Infinity", "-Infinity", 5e-324)),
    Sample("d9", decimal(9, 2), "DECIMAL(9, 2)", ((1.25, "1.25"), ("-9999999.99", "-9999999.99"), (0, "0.00"))),
    Sample("d18", decimal(18, 4), "DECIMAL(18, 4)", _same("0.0001", "-99999999999999.9999", "99999999999999.9999")),
    Sample("d38", decimal(38, 10), "DECIMAL(38, 10)", _same("0.0000000001", f"-{'9' * 28}.{'9' * 10}")),
    Sample("text", "String", "STRING", _same("plain", "", "größe 列 👍 \x00\n\"'`\\")),
    Sample("bytes", "Binary", "BYTES", _base64("00ff", "")),
    Sample("bytes4", binary(4), "BINARY(4)", _base64("00000000", "deadbeef")),
    Sample("date", "Date", "DATE", _same("1969-12-31", "0001-01-01", "9999-12-31", "1582-10-10", "2024-02-29")),
    Sample("time0", time("Second"), "TIME(0)", _same("00:00:00", "23:59:59")),
    Sample("time3", time("Millisecond"), "TIME(3)", (("00:00:00", "00:00:00"), ("23:59:59.999", "23:59:59.999000"))),
    Sample("time6", time("Microsecond"), "BIGINT", (("00:00:00", 0), ("23:59:59.999999", 86_399_999_999))),
    Sample("time9", time("Nanosecond"), "BIGINT", (("00:00:00", 0), ("23:59:59.999999999", 86_399_999_999_999))),
    Sample(
        "instant0",
        timestamp("Second"),
        "TIMESTAMP(0) WITH LOCAL TIME ZONE",
        (*_moments("1969-12-31T23:59:59Z"), ("2024-02-29T12:00:00+05:00", "2024-02-29T07:00:00.000000000Z")),
    ),
    Sample(
        "instant3",
        timestamp("Millisecond", "Europe/Paris"),
        "TIMESTAMP(3) WITH LOCAL TIME ZONE",
        _moments("1969-12-31T23:59:59.999Z", "1500-01-01T00:00:00.001Z"),
    ),
    Sample(
        "instant6",
        timestamp("Microsecond"),
        "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        _moments("1969-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ),
    Sample(
        "naive0",
        timestamp("Second"),
        "TIMESTAMP(0)",
        _moments("1969-12-31T23:59:59", "2024-02-29T00:00:00"),
        "TIMESTAMP(0)",
    ),
    Sample(
        "naive3",
        timestamp("Millisecond"),
        "TIMESTAMP(3)",
        _moments("1969-12-31T23:59:59.999", "1500-01-01T00:00:00.001"),
        "TIMESTAMP(3)",
    ),
    Sample(
        "naive6",
        timestamp("Microsecond"),
        "TIMESTAMP(6)",
        _moments("1969-12-31T23:59:59.999999", "9999-12-31T23:59:59.999999"),
        "TIMESTAMP(6)",
    ),
    Sample("duration", {"kind": "Duration", "unit": "Second"}, "BIGINT", _same(-5, 2**62)),
    Sample("list", list_of(option("Int32")), "ARRAY<INT>", _same([1, None, -3], [])),
    Sample("list2", list_of("UInt8", 2), "ARRAY<SMALLINT NOT NULL>", _same([0, 255], [1, 2])),
    Sample(
        "map",
        map_of("String", option("Float64")),
        "MAP<STRING NOT NULL, DOUBLE>",
        (({"b": 1.5, "a": None}, [["a", None], ["b", 1.5]]), ({}, [])),
    ),
    Sample(
        "map_days", map_of("Int32", "Date"), "MAP<INT, DATE>", (({"7": "1969-12-31"}, [[7, "1969-12-31"]]), ({}, []))
    ),
    Sample("row", _ROW, "ROW<`x` INT, `y` STRING>", (({"x": 1, "y": "one"}, [1, "one"]), ({"x": 2}, [2, None]))),
    Sample(
        "rows",
        list_of(option(_ITEM)),
        "ARRAY<ROW<`x` INT, `y` TIMESTAMP_LTZ(3)>>",
        (
            (
                [{"x": 1, "y": "2024-01-01T00:00:00.123Z"}, None, {"x": 2, "y": None}],
                [[1, "2024-01-01T00:00:00.123000000Z"], None, [2, None]],
            ),
            ([], []),
        ),
    ),
    Sample(
        "row_map",
        map_of("String", _DEEP),
        "MAP<STRING, ROW<`x` DECIMAL(9, 2), `in` ARRAY<ROW<`z` BINARY(4), `w` DECIMAL(20, 0)>>>>",
        (
            (
                {"k": {"x": 1.5, "in": [{"z": "3q2+7w==", "w": 2**64 - 1}]}, "j": {"x": 2, "in": None}},
                [["j", ["2.00", None]], ["k", ["1.50", [["hex:deadbeef", str(2**64 - 1)]]]]],
            ),
            ({}, []),
        ),
    ),
)

BY_NAME = {sample.name: sample for sample in SAMPLES}
