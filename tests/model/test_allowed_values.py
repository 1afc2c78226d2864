"""Attributes that allow fewer values than before: judged as if each value was tried."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.model import Date, Decimal, Extra, Field, Int8, Int64, LogicalType, Schema, String, Timestamp, TimeUnit
from lakebed.model.allowed_values import refuses_more
from lakebed.model.compare import compare
from lakebed.model.differences import Party
from lakebed.model.extra import ENUM, EXTENDED_TYPE, MAXIMUM, MINIMUM, PATTERN, UNIQUE

SMALL = range(-4, 5)
BOUNDS = st.none() | st.sampled_from(SMALL)
VALUES = {
    MINIMUM: BOUNDS,
    MAXIMUM: BOUNDS,
    ENUM: st.none() | st.lists(st.sampled_from(SMALL), min_size=1, unique=True),
}


def allows(key: str, declared: Any, value: int) -> bool:
    if declared is None:
        return True
    return value in declared if key == ENUM else value >= declared if key == MINIMUM else value <= declared


@given(st.data())
def test_more_is_refused_where_a_value_is_that_was_allowed(data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(VALUES)))
    before, after = data.draw(VALUES[key]), data.draw(VALUES[key])
    expected = any(allows(key, before, v) and not allows(key, after, v) for v in range(-5, 6))
    assert refuses_more(key, (before, Int8()), (after, Int64())) is expected
    old, new = (Extra() if v is None else Extra({key: v}) for v in (before, after))
    found = compare(Schema((Field("a", Int8(), old),)), Schema((Field("a", Int8(), new),)))
    back = any(allows(key, after, v) and not allows(key, before, v) for v in range(-5, 6))
    wanted = {Party.PRODUCER: expected, Party.CONSUMER: back}
    assert found.breaks == {party for party, breaks in wanted.items() if breaks}


STAMP = Timestamp(TimeUnit.MILLISECOND, "UTC")


@pytest.mark.parametrize(
    ("key", "type_", "before", "after", "expected"),
    [
        (MINIMUM, Decimal(5, 2), "9.5", "10", True),
        (MINIMUM, Decimal(5, 2), "10", "9.50", False),
        (MINIMUM, Decimal(5, 2), "1.0", "1.00", False),
        (MAXIMUM, Date(), "2024-10-1", "2024-9-30", True),
        (MAXIMUM, Date(), "2024-9-30", "2024-10-01", False),
        (MINIMUM, STAMP, "2024-01-01T00:00:00Z", "2024-01-01T01:00:00+02:00", False),
        (MINIMUM, STAMP, "2024-01-01T00:00:00Z", "2024-01-01T01:00:00-02:00", True),
        (MINIMUM, STAMP, "2024-01-01T00:00:00Z", "2023-01-01T00:00:00", True),
        (ENUM, Decimal(5, 2), ["1.0"], ["1", "2"], False),
        (ENUM, String(), ["a", "b"], ["b", "a", "c"], False),
        (ENUM, String(), ["a", "b"], ["a"], True),
        (ENUM, String(), None, ["a"], True),
        (PATTERN, String(), "a+", "a*", True),
        (PATTERN, String(), None, "a*", True),
        (PATTERN, String(), "a+", None, False),
        (UNIQUE, String(), None, True, True),
        (UNIQUE, String(), False, True, True),
        (UNIQUE, String(), True, False, False),
        (EXTENDED_TYPE, String(), None, "Did", True),
        (EXTENDED_TYPE, String(), {"kind": "Did"}, "did", False),
        (EXTENDED_TYPE, String(), "Did", {"kind": "Multihash"}, True),
        (EXTENDED_TYPE, String(), "Multihash", {"kind": "ObjectLink", "linkType": {"kind": "Multihash"}}, False),
        (EXTENDED_TYPE, String(), None, {"kind": "String"}, False),
        (EXTENDED_TYPE, String(), None, {"kind": "Later"}, False),
        ("x.org/p", String(), 1, 2, False),
    ],
)
def test_each_attribute(key: str, type_: LogicalType, before: Any, after: Any, expected: bool) -> None:
    assert refuses_more(key, (before, type_), (after, type_)) is expected
