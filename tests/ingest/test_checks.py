"""Checks of values: what is no struct, list or map at all, keys that cannot be, and what a problem shows."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from ingest.test_values import CAST, ENUM, NULL, TWICE, outcomes
from lakebed.arrow.plain_problems import SHOWN
from lakebed.catalog.node import Node
from lakebed.convert.paimon import to_paimon
from lakebed.ingest.columns.checkers import problem
from lakebed.ingest.columns.column_checks import CheckBuilder
from lakebed.ingest.columns.column_names import UnknownColumns
from lakebed.ingest.columns.values import Rules
from lakebed.ingest.sources.json_values import parse
from lakebed.ingest.sources.source_types import Json
from lakebed.model import Extra, Field, Int8, Int16, List, LogicalType, Map, Option, Schema, String, Struct

pytestmark = pytest.mark.usefixtures("generated_code")

LOOSE = Struct((Field("a", Option(Int8())), Field("b", Option(List(Option(Int8()))))))


def test_what_has_another_shape_is_bad_also_where_nothing_inside_is_required(spark: SparkSession) -> None:
    """Otherwise a number in the place of a struct would be written as a struct of NULLs."""
    wrong = ["5", '"x"', "true", "[]", '[{"a": 1}]']
    found = outcomes(spark, LOOSE, [*wrong, "{}", "null", '{"b": []}'], source=Json())
    assert found == [[f"c {CAST}"]] * len(wrong) + [(None, None), None, (None, [])]
    inside: dict[str, Any] = {f'[{w}, {{"a": 1}}]': [f"c[0] {CAST}"] for w in wrong}
    assert outcomes(spark, List(LOOSE), list(inside), source=Json()) == list(inside.values())
    values: dict[str, Any] = {f'{{"k": {w}}}': [f"c['k'] {CAST}"] for w in wrong}
    assert outcomes(spark, Map(String(), LOOSE), list(values), source=Json()) == list(values.values())
    member: dict[str, Any] = {f'{{"s": {w}}}': [f"c.s {CAST}"] for w in wrong}
    outer = Struct((Field("s", Option(LOOSE)),))
    assert outcomes(spark, outer, list(member), source=Json()) == list(member.values())
    for type_, others in ((List(Option(Int8())), ["5", "{}", '"[1]"']), (Map(String(), Option(Int8())), ["5", "[]"])):
        assert outcomes(spark, type_, others, source=Json()) == [[f"c {CAST}"]] * len(others)


def test_keys_that_cannot_be_are_problems_of_their_rows(spark: SparkSession) -> None:
    cases = {
        '{"1": 1, "2": 2}': {1: 1, 2: 2},
        '{"1": 1, "01": 2}': [f"c {TWICE}"],
        '{"x": 1}': [f"c.keys[0] {CAST}"],
        '{"": null}': [f"c.keys[0] {CAST}", f"c[''] {NULL}"],
        "{}": {},
    }
    assert outcomes(spark, Map(Int16(), Int8()), list(cases), source=Json()) == list(cases.values())
    typed = {
        "map('1', 1, '2', 2)": {1: 1, 2: 2},
        "map('1', 1, '01', 2)": [f"c {TWICE}"],
        "map('x', 1)": [f"c.keys[0] {CAST}"],
    }
    assert outcomes(spark, Map(Int16(), Int8()), list(typed), source=None) == list(typed.values())


@pytest.mark.parametrize(
    ("type_", "texts"),
    [
        (Map(Int16(), Int8()), ['{"1": 1, "01": 2}', '{"x": 1}', '{"": null}', "5", "[]", '{"1": "x"}']),
        (List(Map(Int16(), LOOSE)), ['[{"1": 5, "01": {}}]', '[{"x": {}}]', "[5]", '[{"1": {"b": 5}}]', "{}"]),
        (Struct((Field("m", Map(Int8(), Int8())),)), ['{"m": {"1": 1, "1.0": 1, "01": 1}}', '{"m": 5}', "5", "{}"]),
    ],
)
def test_no_value_fails_the_query(spark: SparkSession, type_: LogicalType, texts: list[str]) -> None:
    """The value of a bad row means nothing, yet it may be evaluated before anybody asks whether it is bad."""
    schema = Schema((Field("c", Option(type_)),))
    (column,) = to_paimon(schema)
    builder = CheckBuilder(Rules("UTC"), unknown=UnknownColumns.FAIL)
    checker = builder.checker(Node(("c",), column.type, schema.fields[0].type), Json())
    assert checker is not None
    rows = spark.createDataFrame([(text,) for text in texts], "x string").select(parse(F.col("x")).alias("x"))
    found = rows.select(checker.value(F.col("x")).alias("v"), checker.bad(F.col("x"), F.lit(None)).alias("bad"))
    assert [bool(row.bad) for row in found.collect()] == [True] * len(texts)


def test_nothing_that_a_list_of_values_does_not_name_is_in_it(spark: SparkSession) -> None:
    """A null in the list says that NULL is among the values, not a text."""
    extra = Extra({"lakebed.dev/enum": ["a", None, True]})
    texts = ["a", "true", "None", "null", "True", ""]
    enum = [f"c {ENUM}"]
    assert outcomes(spark, String(), texts, extra=extra) == ["a", "true", enum, enum, enum, enum]


def test_a_problem_shows_the_beginning_of_what_was_found(spark: SparkSession) -> None:
    lengths = (0, 1, SHOWN - 1, SHOWN, SHOWN + 1, 5 * SHOWN)
    found = F.explode(F.array(*(F.lit("ä" * n) for n in lengths)))
    rows = spark.sql("SELECT 1").select(found.alias("x")).select(problem(F.lit("c"), "LB6202", "Int8", F.col("x")))
    shown = [row[0].found for row in rows.collect()]
    assert shown == ["ä" * n if n <= SHOWN else "ä" * SHOWN + "…" for n in lengths]
