"""The three scenarios that break readers which match by name: rename, swap of two names, drop and re-add of a name.

Each at top level and inside a struct, a list of structs and a map, and each with a filter on the column concerned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import lakebed
from read.lakes import declare, empty_lake, manifest, put
from referees.client import Referees
from referees.comparison import assert_same_rows
from referees.encoding import spark_rows


@dataclass(frozen=True)
class Place:
    """Where two members `a` and `b` are: how they are declared, typed for Spark, wrapped, and reached in a filter."""

    name: str
    field: str
    spark: str
    wrap: Callable[[tuple[Any, ...]], tuple[Any, ...]]
    reached: str


_STRUCT = "{kind: Struct, fields: [%s]}"
#: All are in one table; those at the top level are its columns.
PLACES = [
    Place("top level", "%s", "%s", lambda values: values, "{column} {test}"),
    Place("struct", "{name: w, type: " + _STRUCT + "}", "w struct<%s>", lambda values: (values,), "w.{column} {test}"),
    Place(
        "list of structs",
        "{name: l, type: {kind: List, itemType: " + _STRUCT + "}}",
        "l array<struct<%s>>",
        lambda values: ([values],),
        "exists(l, e -> e.{column} {test})",
    ),
    Place(
        "map",
        "{name: m, type: {kind: Map, keyType: String, valueType: " + _STRUCT + "}}",
        "m map<string,struct<%s>>",
        lambda values: ({"x": values},),
        "m['x'].{column} {test}",
    ),
]
A, B = (f"{{name: {name}, type: {{kind: Option, inner: Int32}}}}" for name in "ab")


def renamed(field: str, name: str) -> str:
    old = field[len("{name: ") :].partition(",")[0]
    return field.replace(f"{{name: {old},", f"{{name: {name}, extra: {{lakebed.dev/renamedFrom: {old}}},")


@dataclass(frozen=True)
class Step:
    """A version whose members are these, and the rows that are written under it: a key and a value for each member."""

    members: Sequence[str]
    rows: Sequence[tuple[int, ...]]

    def manifest(self) -> str:
        fields = [place.field % ", ".join(self.members) for place in PLACES[1:]]
        return manifest("\n".join(["{name: k, type: Int64}", *self.members, *fields]))

    def schema(self) -> str:
        """The Spark schema of the rows."""
        names = [member[len("{name: ") :].partition(",")[0] for member in self.members]
        inside = ",".join(f"{name}:int" for name in names)
        top = ", ".join(f"{name} int" for name in names)
        return ", ".join(["k bigint", top, *(place.spark % inside for place in PLACES[1:])])


def spread(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row whose values are in every place."""
    return (row[0], *(value for place in PLACES for value in place.wrap(row[1:])))


@dataclass(frozen=True)
class Scenario:
    """What is done to a table, the rows that must be read then, and the keys that filters `(member, test)` keep."""

    name: str
    steps: Sequence[Step]
    rows: Sequence[tuple[Any, ...]]
    kept: Mapping[tuple[str, str], list[int]]


SCENARIOS = [
    Scenario(
        "rename",
        [
            Step([A, B], [(1, 10, 1), (2, 20, 2)]),
            Step([renamed(A, "z"), B], [(3, 30, 3), (4, 10, 4)]),
        ],
        [(1, 10, 1), (2, 20, 2), (3, 30, 3), (4, 10, 4)],
        {("z", "= 10"): [1, 4], ("z", "> 15"): [2, 3], ("z", "is null"): []},
    ),
    Scenario(
        "swap of two names",
        [
            Step([A, B], [(1, 1000, 3), (2, 2000, 4)]),
            Step([renamed(B, "a"), renamed(A, "b")], [(3, 5, 3000)]),
        ],
        [(1, 3, 1000), (2, 4, 2000), (3, 5, 3000)],
        {("b", ">= 1000"): [1, 2, 3], ("a", "= 3"): [1], ("a", ">= 1000"): []},
    ),
    Scenario(
        "drop and re-add of a name",
        [
            Step([A, B], [(1, 10, 1), (2, 20, 2)]),
            Step([B], [(3, 3)]),
            Step([B, A], [(4, 4, 40), (5, 5, 10)]),
        ],
        [(1, 1, None), (2, 2, None), (3, 3, None), (4, 4, 40), (5, 5, 10)],
        {("a", "is null"): [1, 2, 3], ("a", "= 10"): [5], ("a", "is not null"): [4, 5]},
    ),
]


@pytest.fixture(scope="module", params=SCENARIOS, ids=lambda s: s.name.replace(" ", "_"))
def scenario(request: pytest.FixtureRequest) -> Scenario:
    found: Scenario = request.param
    return found


@pytest.fixture(scope="module")
def done(scenario: Scenario, spark: Any, tmp_path_factory: pytest.TempPathFactory) -> lakebed.Lake:
    """A lake after the steps of the scenario."""
    lake = empty_lake(tmp_path_factory.mktemp("scenario"))
    for step in scenario.steps:
        declare(lake, step.manifest())
        put(lake, spark, [spread(row) for row in step.rows], step.schema())
    return lake


@pytest.fixture(scope="module")
def kept(scenario: Scenario, done: lakebed.Lake, spark: Any) -> dict[tuple[str, str, str], list[int]]:
    """The keys that each filter keeps in each place, by one query."""
    frame = done.read(spark, "db.t")
    filters = {
        (place.name, *filter): frame.where(place.reached.format(column=filter[0], test=filter[1]))
        for place in PLACES
        for filter in scenario.kept
    }
    parts = [found.select(F.lit(number), "k") for number, found in enumerate(filters.values())]
    rows = reduce(DataFrame.union, parts).collect()
    return {filter: sorted(k for n, k in rows if n == number) for number, filter in enumerate(filters)}


def test_the_rows_are_those_of_the_ids(scenario: Scenario, done: lakebed.Lake, spark: Any, referees: Referees) -> None:
    mine = spark_rows(done.read(spark, "db.t"))
    # A struct is a list there, and a map a list of pairs.
    wanted = [[k, *v, list(v), [list(v)], [["x", list(v)]]] for k, *v in scenario.rows]
    assert sorted(mine) == wanted
    for reader in ("pypaimon", "rust"):
        assert_same_rows(referees.rows(reader, done.warehouse, "db.t"), mine)  # type: ignore[arg-type]


@pytest.mark.parametrize("place", [place.name for place in PLACES])
def test_filters_keep_rows_of_all_versions(
    scenario: Scenario, kept: Mapping[tuple[str, str, str], list[int]], place: str
) -> None:
    assert {filter: kept[place, *filter] for filter in scenario.kept} == scenario.kept
