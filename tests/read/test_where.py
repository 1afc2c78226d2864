"""Filters as predicates: whatever Spark says of a row is among what is possible of the predicate."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.arrow.row_filter import matching_rows
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UsageError
from lakebed.physical import paimon_types as t
from lakebed.read.predicate import (
    And,
    Compare,
    Constant,
    IsIn,
    IsNull,
    Leaf,
    Not,
    Opaque,
    Operator,
    Or,
    Predicate,
    StartsWith,
    Truths,
    leaves,
    possible,
)
from lakebed.read.predicate_text import text
from lakebed.read.pushed_filters import from_filters
from lakebed.read.where_sql import parse_where, unknown_names
from read.leaf_truth import truth
from read.where_cases import FIELDS, SCHEMA, SPARK_SCHEMA, Filters, arrow_batch, internal, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TRUTHS = {True: Truths.TRUE, False: Truths.FALSE, None: Truths.NULL}
_EACH = (Truths.TRUE, Truths.FALSE, Truths.NULL)


def where(sql: str, *, time_zone: str = "UTC", case_sensitive: bool = False) -> Predicate:
    return parse_where(sql, SCHEMA, time_zone=time_zone, case_sensitive=case_sensitive)


def is_understood(predicate: Predicate) -> bool:
    return not any(isinstance(leaf, Opaque) for leaf in leaves(predicate))


@pytest.fixture(
    params=[("true", "UTC", "TIMESTAMP_LTZ"), ("false", "Europe/Berlin", "TIMESTAMP_NTZ")], ids=["ansi", "not ansi"]
)
def session(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[tuple[SparkSession, str]]:
    """Spark with and without its ANSI mode, and its time zone."""
    ansi, zone, kind = request.param
    settings = {"spark.sql.ansi.enabled": ansi, "spark.sql.session.timeZone": zone, "spark.sql.timestampType": kind}
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield spark, zone
    for name, value in before.items():
        spark.conf.set(name, str(value))


def test_what_spark_says_is_possible(session: tuple[SparkSession, str]) -> None:
    from pyspark.sql import functions as F

    spark, zone = session
    random = Filters(seed=3)
    filters = [random.filter(depth % 4) for depth in range(160)]
    data = rows(45, seed=1)
    frame = spark.createDataFrame(data, SPARK_SCHEMA)
    said = frame.select(*(F.expr(f).cast("boolean").alias(f"p{n}") for n, f in enumerate(filters))).collect()
    predicates = [where(f, time_zone=zone) for f in filters]
    assert sum(map(is_understood, predicates)) > len(filters) / 3
    for row, answers in zip(data, said, strict=True):
        values = dict(zip(FIELDS, map(internal, row), strict=True))
        for sql, predicate, answer in zip(filters, predicates, answers, strict=True):
            found = possible(predicate, lambda leaf, values=values: truth(leaf, values[leaf.column.name]))
            assert _TRUTHS[answer] in found, f"{sql}: Spark says {answer} for {values}, not {text(predicate)}"
    # What is wholly understood chooses in Arrow the rows that Spark chooses.
    batch = arrow_batch(data)
    for place, (sql, predicate) in enumerate(zip(filters, predicates, strict=True)):
        if is_understood(predicate):
            kept = [n for n, answers in enumerate(said) if answers[place]]
            assert matching_rows(predicate, batch).column("row").to_pylist() == kept, sql


_LEAVES = [IsNull(t.DataField(n, f"c{n}", t.Int())) for n in range(3)]
_PARTS = st.recursive(
    st.sampled_from(_LEAVES) | st.sampled_from([Constant(True), Constant(False), Constant(None)]),
    lambda inner: (
        inner.map(Not)
        | st.lists(inner, min_size=1, max_size=3).map(lambda parts: And(tuple(parts)))
        | st.lists(inner, min_size=1, max_size=3).map(lambda parts: Or(tuple(parts)))
    ),
    max_leaves=8,
)


def kleene(predicate: Predicate, truths: dict[Leaf, bool | None]) -> bool | None:
    """SQL's logic of three truths, by the book."""
    match predicate:
        case Constant(value=value):
            return value
        case Not(part=part):
            found = kleene(part, truths)
            return None if found is None else not found
        case And(parts=parts):
            all_ = [kleene(part, truths) for part in parts]
            return False if False in all_ else None if None in all_ else True
        case Or(parts=parts):
            all_ = [kleene(part, truths) for part in parts]
            return True if True in all_ else None if None in all_ else False
        case Opaque():
            raise AssertionError(predicate)
        case leaf:
            return truths[leaf]


@given(_PARTS, st.lists(st.integers(1, 7).map(Truths), min_size=3, max_size=3))
def test_all_that_kleenes_logic_gives_is_possible(predicate: Predicate, known: list[Truths]) -> None:
    evidence = dict(zip(_LEAVES, known, strict=True))
    found = possible(predicate, lambda leaf: evidence[leaf])
    choices = [[value for value, truth_ in _TRUTHS.items() if truth_ in evidence[leaf]] for leaf in _LEAVES]
    for chosen in itertools.product(*choices):
        assert _TRUTHS[kleene(predicate, dict(zip(_LEAVES, chosen, strict=True)))] in found
    if all(one in _EACH for one in known):
        assert found in _EACH


@pytest.mark.parametrize(
    ("sql", "column", "operator", "value"),
    [
        ("i = 5", "i", "=", 5),
        ("5 < I", "i", ">", 5),
        ("`i` == '-5'", "i", "=", -5),
        ("bi <= 9223372036854775807", "bi", "<=", 2**63 - 1),
        ("i >= 1e3", "i", ">=", 1000),
        ("d2 <> 1.50", "d2", "<>", Decimal("1.5")),
        ("f = 0.1", "f", "=", 0.1),
        ("f = 0.1F", "f", "=", 0.10000000149011612),
        ("db = -0.0D", "db", "=", 0.0),
        ("s = 'é'", "s", "=", "é"),
        ("s LIKE 'ab'", "s", "=", "ab"),
        ("b", "b", "=", True),
        ("by = x'abCD'", "by", "=", b"\xab\xcd"),
        ("da = '2020-01-01'", "da", "=", 18262),
        ("da = CAST('1969-12-31' AS DATE)", "da", "=", -1),
        ("nt = DATE '1970-01-02'", "nt", "=", 86_400_000_000_000),
        ("nt < TIMESTAMP '1970-01-01 00:00:00.5'", "nt", "<", 500_000_000),
        ("lt < '1970-01-01T01:00:00+01:00'", "lt", "<", 0),
        ("`odd name` = 1", "Odd Name", "=", 1),
        ("(((i))) = ((1))", "i", "=", 1),
    ],
)
def test_what_is_compared(sql: str, column: str, operator: str, value: Any) -> None:
    found = where(sql)
    assert found == Compare(FIELDS[column], Operator(operator), value)
    assert type(found.value) is type(value)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("s LIKE 'ab%'", "startswith(s, 'ab')"),
        ("startswith(s, '')", "startswith(s, '')"),
        ("s NOT LIKE 'ab%'", "NOT (startswith(s, 'ab'))"),
        ("i IN (1, NULL, 2.0)", "i IN (1, 2) OR NULL"),
        ("i NOT IN (1)", "i NOT IN (1)"),
        ("i NOT BETWEEN -3 AND NULL", "NOT (i >= -3 AND NULL)"),
        ("i <=> NULL", "i IS NULL"),
        ("i <=> 3", "i IS NOT NULL AND i = 3"),
        ("b IS NOT TRUE", "NOT (b IS NOT NULL AND b)"),
        ("i = NULL", "NULL"),
        ("`Odd Name` = 1 OR NOT (nt > TIMESTAMP_NTZ '2020-01-01 00:00:00.25' AND TRUE)",
         "`Odd Name` = 1 OR NOT (nt > TIMESTAMP_NTZ '2020-01-01 00:00:00.25' AND TRUE)"),
        ("lt = TIMESTAMP '2020-01-01 00:00:00Z'", "lt = TIMESTAMP '2020-01-01 00:00:00Z'"),
        ("da > DATE '2020-01-31' AND by = X'00FF'", "da > DATE '2020-01-31' AND by = X'00FF'"),
    ],
)  # fmt: skip
def test_text_of_what_is_understood(sql: str, expected: str) -> None:
    found = where(sql)
    assert is_understood(found)
    assert text(found) == expected
    assert where(expected) == found or "startswith" not in expected


@pytest.mark.parametrize(
    "sql",
    [
        "nope = 1", "i.x = 1", "ti = si", "i + 1 = 2", "i = 2.5", "i = 9999999999.0", "d2 = 0.1D", "d2 = '0.1'",
        "d18 = 0.0000000000000000000000000001", "bi = 9007199254740993D", "f = 16777217", "i = ' 5'", "ti = '300'",
        "i IN (1, '1')", "bi IN (1, 1.5D)", "i IN (SELECT 1)", "i IN (1, ti)", "nt IN ('2020-01-01 00:00:00')",
        "s = 5", "s = \"a\"", "s = 'a' 'b'", "s = 'it''s'", r"s = '\u0061'", "s = r'a'", "s = 'a' -- so",
        "s = 'a' /* */",
        "s LIKE '%a%'", "s LIKE 'a_'", "s LIKE 'a%' ESCAPE '!'", "s LIKE ANY ('a%')", "s ILIKE 'a%'", "i LIKE '1%'",
        "s = 'a' COLLATE utf8_lcase", "b = 'true'", "b = 1", "by = 'a'", "by = X'A'", "da = '2020-1-1'", "da = 1",
        "da = TIMESTAMP '2020-01-01 00:00:00'", "nt = '2020-01-01 00:00:00Z'", "nt = '2020-02-30'",
        "db = CAST('NaN' AS DOUBLE)",
        "db = 1e400", "i = CAST(1.5 AS INT)", "d0 = CAST('1' AS DECIMAL(38, 0))", "i BETWEEN SYMMETRIC 1 AND 2",
        "i = 1 AND", "i =", "'", "i = ${x}", "i = :x", "a(", "SELECT 1", "i = 1; DROP TABLE t", "i = 1 IS NULL",
    ],
)  # fmt: skip
def test_what_is_not_certain_is_left_to_spark(sql: str) -> None:
    found = where(sql)
    assert isinstance(found, Opaque)
    assert found.text


def test_what_is_not_certain_leaves_the_rest() -> None:
    found = where("nope = 1 AND i = 5 AND s = \"x\"")  # fmt: skip
    assert isinstance(found, And)
    assert found.parts[1] == Compare(FIELDS["i"], Operator.EQUAL, 5)
    assert isinstance(found.parts[0], Opaque)
    assert isinstance(found.parts[2], Opaque)


def test_names_that_differ_in_case_only() -> None:
    schema = TableSchema(0, (t.DataField(0, "a", t.Int()), t.DataField(1, "A", t.Int())), 1)
    assert isinstance(parse_where("a = 1", schema, time_zone="UTC"), Opaque)
    exact = parse_where("A = 1", schema, time_zone="UTC", case_sensitive=True)
    assert exact == Compare(schema.fields[1], Operator.EQUAL, 1)
    assert isinstance(where("I = 1", case_sensitive=True), Opaque)


def test_a_named_zone_is_not_trusted_to_the_hour() -> None:
    """What two collections of a zone's rules may differ in stays open; all else is decided."""
    found = where("lt >= '2026-07-01 00:00:00'", time_zone="Europe/Berlin")
    noon = int(datetime(2026, 6, 30, 22, tzinfo=UTC).timestamp()) * 10**9
    hour = 3600 * 10**9

    def at(nanos: int) -> Truths:
        return possible(found, lambda leaf: truth(leaf, nanos))

    assert at(noon) is Truths.ANY
    assert at(noon + 4 * hour) is Truths.TRUE
    assert at(noon - 4 * hour) is Truths.FALSE
    assert isinstance(where("lt >= '2026-07-01'", time_zone="Nowhere/At_All"), Opaque)
    assert is_understood(where("lt >= '2026-07-01'", time_zone="+05:30"))


def test_an_empty_filter_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        where(" \n")
    assert caught.value.code == "LB5630"


def test_deep_filters_do_not_fail() -> None:
    assert isinstance(where(" OR ".join(f"i = {n}" for n in range(3000))), (Or, Opaque))
    assert isinstance(where("(" * 3000 + "i = 1" + ")" * 3000), (Compare, Opaque))


def test_pushed_filters() -> None:
    from pyspark.sql import datasource as pushed

    found = from_filters(
        [
            pushed.EqualTo(("i",), 5),
            pushed.Not(pushed.In(("s",), ("a", None))),
            pushed.GreaterThan(("lt",), datetime(1970, 1, 1, 1, tzinfo=UTC)),
            pushed.LessThanOrEqual(("nt",), datetime(1970, 1, 1)),
            pushed.EqualNullSafe(("da",), date(1970, 1, 2)),
            pushed.IsNotNull(("f",)),
            pushed.StringStartsWith(("vc",), "x"),
            pushed.LessThan(("d2",), Decimal("1.50")),
            pushed.StringContains(("s",), "x"),
            pushed.EqualTo(("i", "x"), 1),
            pushed.GreaterThanOrEqual(("db",), float("nan")),
            pushed.Not(pushed.StringEndsWith(("s",), "x")),
        ],
        SCHEMA,
        time_zone="Europe/Berlin",
    )
    assert found.understood == (True,) * 8 + (False,) * 4
    assert isinstance(found.predicate, And)
    assert found.predicate.parts[:8] == (
        Compare(FIELDS["i"], Operator.EQUAL, 5),
        Not(Or((IsIn(FIELDS["s"], ("a",)), Constant(None)))),
        Compare(FIELDS["lt"], Operator.GREATER, 3600 * 10**9),
        Compare(FIELDS["nt"], Operator.LESS_OR_EQUAL, 0),
        And((Not(IsNull(FIELDS["da"])), Compare(FIELDS["da"], Operator.EQUAL, 1))),
        Not(IsNull(FIELDS["f"])),
        StartsWith(FIELDS["vc"], "x"),
        Compare(FIELDS["d2"], Operator.LESS, Decimal("1.5")),
    )
    assert from_filters([], SCHEMA, time_zone="UTC").predicate == Constant(True)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("a = 1 AND amont > 3", ("amont",)),
        ("`A` = 1 OR nope IS NULL OR nope = 2", ("nope",)),
        ("exists(xs, x -> x > 1) AND current_date > DATE '2020-01-01'", ("xs",)),
        ("a > upper('b')", ()),
        ("s.member = 1", ()),
        ("a = ", ()),
        ('a = "text"', ()),
    ],
)
def test_names_that_are_no_columns(sql: str, expected: tuple[str, ...]) -> None:
    schema = TableSchema(0, (t.DataField(0, "a", t.Int()),), 0, (), ())
    assert unknown_names(sql, schema) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("*, a + 1 AS b, b * 2", ()),
        ("A, nope, sum(`no pe`) over (order by a) as x", ("nope", "no pe")),
        ("transform(xs, x -> x + y) as z", ("xs",)),
        ("(select max(q) from other) as m, a", ()),
        ("s.member, current_date, count(*)", ()),
        ("a +", ()),
    ],
)
def test_names_in_what_is_selected(sql: str, expected: tuple[str, ...]) -> None:
    schema = TableSchema(0, (t.DataField(0, "a", t.Int()),), 0, (), ())
    assert unknown_names(sql, schema, selected=True) == expected
