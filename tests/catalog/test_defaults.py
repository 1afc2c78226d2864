"""Which text can be the default of which type."""

from __future__ import annotations

import pytest

from lakebed.catalog.defaults import is_default_for
from lakebed.physical import parse

GOOD = {
    "INT": ["1", "-1", "+12", "12.9", ".5", "1.", "2147483647", "'7'"],
    "TINYINT": ["127", "-128"],
    "BIGINT": ["9223372036854775807"],
    "BOOLEAN": ["true", "F", "yes", "0", "'no'"],
    "DOUBLE": ["1", "1e3", " 1.5 ", "NaN", "-Infinity", "1.0f", "1d"],
    "DECIMAL(3, 2)": ["1.25", "9.99", "9.994", "12e-1", ".5", "0e9", "-0.001", "'1.5'"],
    "STRING": ["", "null", "x" * 100],
    "VARCHAR(2)": ["abcdef"],
    "BYTES": ["x"],
    "DATE": ["2024-01-01", "2024-2-9", "2024-02", "2024-02-29 10:11:12", "123"],
    "TIME(3)": ["10:11:12.3456", "10", "25:00:00"],
    "TIMESTAMP(3)": ["2024-01-01", "'2024-01-01 01:02:03'", "2024-01-01T01:02", "1700000000000"],
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": ["2024-01-01 01:02:03.5"],
}
BAD = {
    "INT": ["abc", "", " 12", "1e3", "2147483648", "+", ".", "1.5x"],
    "TINYINT": ["128", "-129"],
    "BOOLEAN": ["on", " true", "2"],
    "DOUBLE": ["", "x", "1e"],
    "DECIMAL(3, 2)": ["x", "", "NaN", "1234", "1e1", "9.995", "1e999999999"],
    "DATE": ["2023-02-29", "yesterday", "2024/01/01"],
    "TIME(3)": ["noon", "10:11:"],
    "TIMESTAMP(3)": ["2024-01-01 25:00:00", "2024-01-01 01:02:03 UTC", "2024-01-01 01"],
    "TIMESTAMP(5)": ["1700000000000"],
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": ["1700000000000"],
    "VARIANT": ["1"],
    "BLOB": ["x"],
}
NESTED = {
    '{"type":"ARRAY","element":"INT"}': (["[1, 2]", "ARRAY(1, 2)", "[]"], ["1, 2", "[1", "MAP(a, 1)"]),
    '{"type":"MAP","key":"STRING","value":"INT"}': (["{a -> 1}", "MAP('a', 1)"], ["a", "[a]"]),
    '{"type":"ROW","fields":[{"id":1,"name":"a","type":"INT"}]}': (["{5}", "STRUCT(5)"], ["5"]),
}


@pytest.mark.parametrize(("type_", "text"), [(t, text) for t, texts in GOOD.items() for text in texts])
def test_accepted(type_, text):
    assert is_default_for(text, parse(type_))


@pytest.mark.parametrize(("type_", "text"), [(t, text) for t, texts in BAD.items() for text in texts])
def test_rejected(type_, text):
    assert not is_default_for(text, parse(type_))


@pytest.mark.parametrize("type_", NESTED)
def test_nested(type_):
    good, bad = NESTED[type_]
    assert [text for text in good if not is_default_for(text, parse(type_))] == []
    assert [text for text in bad if is_default_for(text, parse(type_))] == []
