"""The rows that a predicate is true for, batch by batch, against what each of its leaves is for a single value."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.arrow.row_filter import judged_columns, matching_rows
from lakebed.convert.arrow_rows import row_type
from lakebed.errors import UnsupportedError
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.read.predicate import Compare, Not, Opaque, Operator, Or, Predicate, Truths, leaves, possible
from lakebed.read.where_sql import parse_where
from read.leaf_truth import truth
from read.where_cases import FIELDS, SCHEMA, Filters, arrow_batch, internal, rows

ROWS = rows(90, seed=2)
BATCH = arrow_batch(ROWS)
VALUES = [dict(zip(FIELDS, map(internal, row), strict=True)) for row in ROWS]


def by_value(predicate: Predicate) -> list[int]:
    """The rows whose only possible truth is TRUE, each leaf being known."""
    return [
        n
        for n, values in enumerate(VALUES)
        if possible(predicate, lambda leaf, values=values: truth(leaf, values[leaf.column.name])) == Truths.TRUE
    ]


@pytest.mark.parametrize("seed", range(8))
def test_filters_choose_the_rows_that_they_are_true_for(seed: int) -> None:
    random = Filters(seed, odd=0.1)
    understood = 0
    for depth in range(100):
        sql = random.filter(depth % 4)
        predicate = parse_where(sql, SCHEMA, time_zone="UTC")
        if any(isinstance(leaf, Opaque) for leaf in leaves(predicate)):
            with pytest.raises(UnsupportedError, match="LB5610"):
                judged_columns(predicate)
            continue
        understood += 1
        assert {f.name for f in judged_columns(predicate)} <= set(FIELDS)
        assert matching_rows(predicate, BATCH).column("row").to_pylist() == by_value(predicate), sql
    assert understood > 30


_literals = st.one_of(
    st.integers(-(2**70), 2**70),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=7),
    st.sampled_from([0, 1, -1, 2**63, -(2**63), 2**63 - 1, Decimal("0.5"), Decimal("-1.5")]),
)


@given(
    st.sampled_from(["TINYINT", "BIGINT", "DECIMAL(38, 0)", "DECIMAL(20, 3)"]),
    st.sampled_from(list(Operator)),
    _literals,
    st.lists(st.none() | st.integers(-128, 127), max_size=5),
)
def test_numbers_are_compared_with_every_literal_whatever_its_size(
    type_: str, operator: Operator, literal: Any, numbers: list[int | None]
) -> None:
    field = DataField(0, "n", parse(type_))
    arrow = row_type(field.type)
    shift = getattr(field.type, "scale", 0)
    plain = [None if n is None else Decimal(n).scaleb(-shift) if pa.types.is_decimal(arrow) else n for n in numbers]
    batch = pa.RecordBatch.from_arrays([pa.array(plain, arrow)], names=["n"])
    compare = Compare(field, operator, literal)
    for predicate, wanted in ((compare, Truths.TRUE), (Not(compare), Truths.FALSE)):
        kept = [n for n in plain if truth(compare, n) == wanted]
        assert matching_rows(predicate, batch).column(0).to_pylist() == kept


def test_a_literal_between_two_microseconds_is_between_them() -> None:
    field = DataField(0, "t", parse("TIMESTAMP(9)"))
    batch = pa.RecordBatch.from_arrays([pa.array([1, 2, None], pa.timestamp("us"))], names=["t"])
    for operator, kept in ((Operator.LESS, [1]), (Operator.GREATER_OR_EQUAL, [2]), (Operator.NOT_EQUAL, [1, 2])):
        found = matching_rows(Compare(field, operator, 1500), batch)
        assert found.column(0).cast(pa.int64()).to_pylist() == kept


def test_what_cannot_be_judged_is_named() -> None:
    part = Compare(FIELDS["i"], Operator.EQUAL, 1)
    with pytest.raises(UnsupportedError, match="upper"):
        judged_columns(Or((part, Not(Or((part, Opaque("upper(s) = 'A'")))))))


def test_days_are_those_of_the_calendar() -> None:
    predicate = parse_where("da = DATE '2020-01-01'", SCHEMA, time_zone="UTC")
    found = set(matching_rows(predicate, BATCH).column("da").to_pylist())
    assert found == {dt.date(2020, 1, 1)}
