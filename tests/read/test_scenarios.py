"""The three scenarios that break readers which match by name: rename, swap of two names, drop and re-add of a name.

Each at top level and inside a struct, a list of structs and a map, and each with a filter on the column concerned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import lakebed
from read.lakes import declare, got, manifest, put
from referees.client import Referees
from referees.comparison import assert_same_rows
from referees.encoding import spark_rows


@dataclass(frozen=True)
class Place:
    """Where the members are: how they are declared, typed for Spark, wrapped, and reached in a filter."""

    name: str
    field: str
    spark: str
    reached: str

    def declared(self, members: str) -> str:
        """The fields of a manifest; `members` are in flow style, separated by newlines."""
        lines = [line.strip() for line in members.strip().splitlines()]
        wrapped = "\n".join(lines) if self.name == "top level" else self.field % ", ".join(lines)
        return manifest("{name: k, type: Int64}\n" + wrapped)

    def schema(self, members: str) -> str:
        """The Spark schema of rows; `members` like `a int, b int`."""
        if self.name == "top level":
            return f"k bigint, {members}"
        inner = self.spark % ",".join(":".join(member.split()) for member in members.split(","))
        return f"k bigint, {inner}"

    def row(self, key: int, *values: Any) -> tuple[Any, ...]:
        """A row to write, or as it must be read."""
        match self.name:
            case "top level":
                return (key, *values)
            case "struct":
                return (key, values)
            case "list of structs":
                return (key, [values])
            case _:
                return (key, {"x": values})

    def where(self, column: str, test: str) -> str:
        """A filter on a member."""
        return self.reached.format(column=column, test=test)


_STRUCT = "{kind: Struct, fields: [%s]}"
PLACES = [
    Place("top level", "", "", "{column} {test}"),
    Place("struct", "{name: w, type: " + _STRUCT + "}", "w struct<%s>", "w.{column} {test}"),
    Place(
        "list of structs",
        "{name: w, type: {kind: List, itemType: " + _STRUCT + "}}",
        "w array<struct<%s>>",
        "exists(w, e -> e.{column} {test})",
    ),
    Place(
        "map",
        "{name: w, type: {kind: Map, keyType: String, valueType: " + _STRUCT + "}}",
        "w map<string,struct<%s>>",
        "w['x'].{column} {test}",
    ),
]
AB = "{name: a, type: {kind: Option, inner: Int32}}\n{name: b, type: {kind: Option, inner: Int32}}"


@pytest.fixture(params=PLACES, ids=lambda p: p.name.replace(" ", "_"))
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    return found


def keys(lake: lakebed.Lake, spark: Any, condition: str) -> list[int]:
    """The keys of the rows that a filter keeps, which must be those that it keeps of all rows read before."""
    frame = lake.read(spark, "db.t")
    filtered = [row[0] for row in got(frame.where(condition).select("k"))]
    everything = spark.createDataFrame(frame.collect(), frame.schema)
    assert filtered == [row[0] for row in got(everything.where(condition).select("k"))]
    return filtered


def check_referees(lake: lakebed.Lake, spark: Any, referees: Referees) -> None:
    """pypaimon and paimon-rust read the same rows."""
    mine = spark_rows(lake.read(spark, "db.t"))
    for reader in ("pypaimon", "rust"):
        assert_same_rows(referees.rows(reader, lake.warehouse, "db.t"), mine)  # type: ignore[arg-type]


def test_rename(lake: lakebed.Lake, spark: Any, referees: Referees, place: Place) -> None:
    declare(lake, place.declared(AB))
    put(lake, spark, [place.row(1, 10, 1), place.row(2, 20, 2)], place.schema("a int, b int"))
    declare(lake, place.declared(AB.replace("{name: a,", "{name: z, extra: {lakebed.dev/renamedFrom: a},")))
    put(lake, spark, [place.row(3, 30, 3), place.row(4, 10, 4)], place.schema("z int, b int"))
    wanted = [place.row(1, 10, 1), place.row(2, 20, 2), place.row(3, 30, 3), place.row(4, 10, 4)]
    assert got(lake.read(spark, "db.t")) == wanted
    assert keys(lake, spark, place.where("z", "= 10")) == [1, 4]
    assert keys(lake, spark, place.where("z", "> 15")) == [2, 3]
    assert keys(lake, spark, place.where("z", "is null")) == []
    check_referees(lake, spark, referees)


def test_swap_of_two_names(lake: lakebed.Lake, spark: Any, referees: Referees, place: Place) -> None:
    declare(lake, place.declared(AB))
    put(lake, spark, [place.row(1, 1000, 3), place.row(2, 2000, 4)], place.schema("a int, b int"))
    swapped = (
        "{name: a, type: {kind: Option, inner: Int32}, extra: {lakebed.dev/renamedFrom: b}}\n"
        "{name: b, type: {kind: Option, inner: Int32}, extra: {lakebed.dev/renamedFrom: a}}"
    )
    declare(lake, place.declared(swapped))
    put(lake, spark, [place.row(3, 5, 3000)], place.schema("a int, b int"))
    assert got(lake.read(spark, "db.t")) == [place.row(1, 3, 1000), place.row(2, 4, 2000), place.row(3, 5, 3000)]
    assert keys(lake, spark, place.where("b", ">= 1000")) == [1, 2, 3]
    assert keys(lake, spark, place.where("a", "= 3")) == [1]
    assert keys(lake, spark, place.where("a", ">= 1000")) == []
    check_referees(lake, spark, referees)


def test_drop_and_re_add_of_a_name(lake: lakebed.Lake, spark: Any, referees: Referees, place: Place) -> None:
    declare(lake, place.declared(AB))
    put(lake, spark, [place.row(1, 10, 1), place.row(2, 20, 2)], place.schema("a int, b int"))
    declare(lake, place.declared(AB.splitlines()[1]))
    put(lake, spark, [place.row(3, 3)], place.schema("b int"))
    declare(lake, place.declared("\n".join(reversed(AB.splitlines()))))
    put(lake, spark, [place.row(4, 4, 40), place.row(5, 5, 10)], place.schema("b int, a int"))
    wanted = [
        place.row(1, 1, None),
        place.row(2, 2, None),
        place.row(3, 3, None),
        place.row(4, 4, 40),
        place.row(5, 5, 10),
    ]
    assert got(lake.read(spark, "db.t")) == wanted
    assert keys(lake, spark, place.where("a", "is null")) == [1, 2, 3]
    assert keys(lake, spark, place.where("a", "= 10")) == [5]
    assert keys(lake, spark, place.where("a", "is not null")) == [4, 5]
    check_referees(lake, spark, referees)
