"""The story of one table: made with every type that can be stored, then evolved step by step, rows added after each.

The sampled columns (`samples.py`) stay. Beside them evolve a few columns at the top level, and the members of a struct
that stands in four places: as it is, optional, in a list and in a map.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from interop.declared import (
    DESCRIPTION,
    Fields,
    Type,
    add,
    decimal,
    drop,
    list_of,
    manifest,
    map_of,
    option,
    rename,
    reorder,
    retype,
    struct,
    timestamp,
)
from interop.declared import field as column
from interop.samples import SAMPLES
from referees.filters import Filter

TABLE = "db.story"
#: Rows of the first stage: one for each value of every sample, and one with NULL wherever it is allowed.
FULL_ROWS = max(len(sample.values) for sample in SAMPLES)

_WIDENED: dict[str, tuple[Type, str | None]] = {
    "i8": ("Int16", None),
    "i16": ("Float32", None),
    "i32": ("Int64", None),
    "i64": (decimal(20, 0), None),
    "u8": ("UInt16", None),
    "u16": ("UInt32", None),
    "u32": ("UInt64", None),
    "f16": ("Float64", None),
    "f32": ("Float64", None),
    "d9": (decimal(18, 4), None),
    "d18": (decimal(38, 4), None),
    "instant0": (timestamp("Microsecond"), None),
    "instant3": (timestamp("Microsecond", "Europe/Paris"), None),
    "naive0": (timestamp("Millisecond"), "TIMESTAMP(3)"),
    "naive3": (timestamp("Microsecond"), "TIMESTAMP(6)"),
    "bytes4": ("Binary", None),
}
_INT, _LONG, _TEXT, _DAY = option("Int32"), option("Int64"), option("String"), option("Date")


@dataclass(frozen=True)
class Stage:
    """One step: what the manifest declares from then on, and what follows.

    `rows` are added after the change, by column; `everywhere` stands for the four places of the struct. `filters` are
    asked of all readers. `spots` are values by row and column that must be read then.
    """

    name: str
    columns: Fields
    members: Fields
    rows: Sequence[Mapping[str, Any]] = ()
    filters: Sequence[Filter] = ()
    spots: Mapping[tuple[int, str], Any] = field(default_factory=dict)
    relaxed: bool = True
    widened: bool = True
    owner: str = "others"
    nested_evolution: bool = True

    def manifest(self) -> str:
        """The declaration of the table."""
        shape = struct(*self.members)
        places = (
            column("s", shape, {"example.org/place": "struct"}),
            column("o", option(shape)),
            column("l", option(list_of(option(shape)))),
            column("m", option(map_of("String", shape))),
        )
        sampled = [
            f
            for sample in SAMPLES
            for f in sample.fields(relaxed=self.relaxed, widened=_WIDENED.get(sample.name) if self.widened else None)
        ]
        return manifest(
            (column("id", "Int64"), *self.columns, *places, *sampled),
            name=TABLE,
            options={"owner": self.owner},
            description=f"the story until: {self.name}",
            extra={"example.org/stage": self.name},
        )


def first_rows() -> list[dict[str, Any]]:
    """The rows of the first stage as JSON says them."""
    inner = {"a": 1, "b": 10, "e": 100, "c": "old", "d": 0.1, "deep": [{"x": 5, "y": "five"}, None]}
    rows = []
    for number in range(FULL_ROWS + 1):
        full = number < FULL_ROWS
        row: dict[str, Any] = {"id": number, "before": 1000 + number, "s": {"a": number}}
        if full:
            row |= {"left": number, "right": -number, "gone": f"gone {number}", "s": inner | {"a": number}}
            row |= {"o": inner, "l": [inner | {"a": 7}, None, {"a": 8}], "m": {"k": inner, "j": {"a": 9}}}
        for sample in SAMPLES:
            row[sample.name] = sample.said(number)
            row[f"{sample.name}_o"] = sample.said(number) if full else None
        rows.append(row)
    return rows


def first_sampled() -> list[list[Any]]:
    """What must be read of `id` and the sampled columns after the first stage."""
    return [
        [number, *(v for s in SAMPLES for v in (s.read(number), s.read(number) if number < FULL_ROWS else None))]
        for number in range(FULL_ROWS + 1)
    ]


def sampled_columns() -> list[tuple[str, str]]:
    """Names and types of the columns of `first_sampled`."""
    return [("id", "BIGINT"), *((name, s.paimon) for s in SAMPLES for name in (s.name, f"{s.name}_o"))]


def spread(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row to add, `everywhere` put into the four places."""
    rest = dict(row)
    inner = rest.pop("everywhere", None)
    return rest if inner is None else {"s": inner, "o": inner, "l": [inner, None], "m": {"k": inner}} | rest


def _stages() -> tuple[Stage, ...]:
    columns: Fields = (
        column("before", "Int32"),
        column("left", _LONG),
        column("right", _LONG),
        column("gone", _TEXT),
    )
    deep: Fields = (column("x", "Int32"), column("y", _TEXT))
    members: Fields = (
        column("a", "Int32"),
        column("b", _INT),
        column("e", _INT),
        column("c", _TEXT),
        column("d", option("Float32")),
        column("deep", option(list_of(option(struct(*deep))))),
    )
    flat: dict[str, Any] = {"nested_evolution": False}
    stages = [
        Stage(
            "create",
            columns,
            members,
            relaxed=False,
            widened=False,
            owner="us",
            **flat,
            filters=(
                ["i64", "=", 2**63 - 1],
                ["u64", ">", str(2**63)],
                ["text_o", "=", ""],
                ["date_o", "<", "1582-10-15"],
                ["f64_o", "is null"],
                ["d38", "<", "0"],
                ["instant3_o", "<", "1969-12-31T23:59:59.999Z"],
                ["naive6", ">", "1970-01-01T00:00:00"],
                ["gone", "in", ["gone 1", "gone 3"]],
            ),
        )
    ]
    stages.append(
        Stage(
            "relax",
            columns,
            members,
            widened=False,
            **flat,
            rows=(
                {"id": 10, "before": 10, "s": {"a": 10}, "f32": -0.0, "f64": -0.0, "text": "later"},
                {"id": 11, "before": 11, "s": {"a": 11}, "left": 1},
            ),
            filters=(["text", "is null"], ["i8", ">", 0], ["or", ["id", "=", 11], ["i8_o", "is null"]]),
            spots={(11, "i64"): None, (0, "i64"): -(2**63), (10, "text"): "later"},
        )
    )

    columns = rename(columns, before="after", left="right", right="left")
    stages.append(
        Stage(
            "rename and swap",
            columns,
            members,
            widened=False,
            **flat,
            rows=(
                {"id": 20, "after": 20, "s": {"a": 20}, "left": -20, "right": 20},
                {"id": 21, "after": 1003, "s": {"a": 21}},
            ),
            filters=(
                ["after", "=", 1003],
                ["left", "<", 0],
                ["right", ">", 1],
                ["and", ["left", "is null"], ["after", ">=", 11]],
            ),
            spots={(1, "left"): -1, (1, "right"): 1, (2, "after"): 1002, (20, "right"): 20},
        )
    )

    columns = retype(columns, after="Int64")
    stages.append(
        Stage(
            "widen",
            columns,
            members,
            **flat,
            rows=(
                {
                    "id": 30,
                    "after": 2**40,
                    "s": {"a": 30},
                    "i8_o": 300,
                    "i16_o": 0.5,
                    "i32_o": 2**40,
                    "i64_o": Decimal(2**64),
                    "u8_o": 300,
                    "u16_o": 2**31,
                    "u32_o": Decimal(2**64 - 1),
                    "f16_o": 0.1,
                    "f32_o": 0.1,
                    "d9_o": Decimal("1.2345"),
                    "d18_o": Decimal("12345678901234567890.1234"),
                    "naive0_o": datetime.datetime(2024, 2, 29, 1, 2, 3, 4000),
                    "naive3_o": datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
                    "instant3_o": datetime.datetime(1969, 12, 31, 23, 59, 59, 4, datetime.UTC),
                    "bytes4_o": b"longer than four",
                },
                {"id": 31, "after": 31, "s": {"a": 31}},
            ),
            filters=(
                ["after", ">", 2**32],
                ["after", "<=", 1001],
                ["i32_o", "<", 2**33],
                ["u32_o", "=", str(2**32 - 1)],
                ["d9_o", ">=", "1.2345"],
                ["f32_o", "=", 0.10000000149011612],
                ["naive3_o", "<", "1969-12-31T23:59:59.999000000"],
                ["instant3_o", "is not null"],
            ),
            spots={
                (0, "f32_o"): 0.10000000149011612,
                (0, "u32_o"): "0",
                (1, "u32_o"): str(2**32 - 1),
                (0, "d9_o"): "1.2500",
                (30, "after"): 2**40,
                (30, "naive3_o"): "2024-02-29T01:02:03.000004000",
            },
        )
    )

    columns = add(columns, column("head", _DAY, {DESCRIPTION: "comes first"}))
    grown = struct(column("p", "Int32"), column("q", _DAY))
    columns = add(columns, column("beside", option(grown)), after="after")
    stages.append(
        Stage(
            "add",
            columns,
            members,
            **flat,
            rows=(
                {"id": 40, "after": 40, "s": {"a": 40}, "head": datetime.date(1969, 7, 20), "beside": {"p": 4}},
                {"id": 41, "after": 41, "s": {"a": 41}},
            ),
            filters=(["head", "is null"], ["head", "<", "1970-01-01"], ["beside", "is not null"]),
            spots={(0, "head"): None, (0, "beside"): None, (40, "beside"): [4, None]},
        )
    )

    members = rename(members, a="a2", b="e", e="b")
    deep = rename(deep, x="x2")
    members = retype(members, deep=option(list_of(option(struct(*deep)))))
    stages.append(
        Stage(
            "rename and swap inside",
            columns,
            members,
            rows=(
                {"id": 50, "after": 50, "everywhere": {"a2": 50, "b": 100, "e": 10, "deep": [{"x2": 50}]}},
                {"id": 51, "after": 51, "s": {"a2": 51}},
            ),
            filters=(["id", ">=", 50], ["after", "=", 1003]),
            spots={
                (3, "s"): [3, 10, 100, "old", 0.1, [[5, "five"], None]],
                (50, "o"): [50, 10, 100, None, None, [[50, None]]],
            },
        )
    )

    members = retype(members, a2="Int64", d=option("Float64"))
    members = add(
        add(members, column("first", option("Bool"))), column("near", option(list_of(option("String")))), after="a2"
    )
    deep = add(retype(deep, x2="Int64"), column("z", _DAY))
    members = retype(members, deep=option(list_of(option(struct(*deep)))))
    stages.append(
        Stage(
            "add and widen inside",
            columns,
            members,
            rows=(
                {
                    "id": 60,
                    "after": 60,
                    "everywhere": {"first": True, "a2": 2**40, "near": ["n"], "d": 0.1, "deep": [{"x2": 2**40}, None]},
                },
                {"id": 61, "after": 61, "s": {"a2": 61}},
            ),
            filters=(["l", "is null"],),
            spots={
                (3, "s"): [None, 3, None, 10, 100, "old", 0.10000000149011612, [[None, 5, "five"], None]],
                (60, "m"): [["k", [True, 2**40, ["n"], None, None, None, 0.1, [[None, 2**40, None], None]]]],
            },
        )
    )

    columns, members = drop(columns, "gone"), drop(members, "c")
    stages.append(
        Stage(
            "drop",
            columns,
            members,
            rows=({"id": 70, "after": 70, "everywhere": {"a2": 70, "e": 7}},),
            spots={(3, "s"): [None, 3, None, 10, 100, 0.10000000149011612, [[None, 5, "five"], None]]},
        )
    )

    columns, members = (*columns, column("gone", _DAY)), add(members, column("c", _INT), after="d")
    stages.append(
        Stage(
            "add again with another type",
            columns,
            members,
            rows=(
                {"id": 80, "after": 80, "gone": datetime.date(2024, 2, 29), "everywhere": {"a2": 80, "c": 8}},
                {"id": 81, "after": 81, "s": {"a2": 81}},
            ),
            filters=(["gone", "is null"], ["gone", "=", "2024-02-29"], ["gone", "is not null"]),
            spots={
                (3, "gone"): None,
                (3, "s"): [None, 3, None, 10, 100, 0.10000000149011612, None, [[None, 5, "five"], None]],
                (80, "l"): [[None, 80, None, None, None, None, 8, None], None],
            },
        )
    )

    columns = reorder(columns, "gone", "left", "head", "right", "beside", "after")
    members = reorder(members, "deep", "c", "d", "b", "e", "near", "a2", "first")
    stages.append(
        Stage(
            "reorder",
            columns,
            members,
            rows=({"id": 90, "after": 90, "left": 9, "everywhere": {"a2": 90, "c": 9, "first": False}},),
            filters=(["left", "=", 9], ["and", ["right", "is not null"], ["left", "is not null"]]),
            spots={(3, "s"): [[[None, 5, "five"], None], None, 0.10000000149011612, 100, 10, None, 3, None]},
        )
    )
    return tuple(stages)


STAGES = _stages()
