"""Partitions that callers name become internal values; what cannot be one is refused, all problems at once."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from format.building import table_schema
from lakebed.errors import UsageError
from lakebed.format.partition import partition_text
from lakebed.write.partition_specs import partition_specs

SECOND = 1_000_000_000
DAY = 19_723  # 2024-01-01


def _one(type_: str, value: Any, **parts: Any) -> Any:
    schema = table_schema([("k", type_), ("v", "INT")], partition_keys=["k"], **parts)
    (spec,) = partition_specs(schema, [{"k": value}], time_zone="UTC")
    return spec["k"]


@pytest.mark.parametrize(
    ("type_", "value", "internal"),
    [
        ("STRING", "a b", "a b"),
        ("STRING", "", ""),
        ("VARCHAR(3)", "x=y", "x=y"),
        ("CHAR(3)", "3", "3"),
        ("INT", "3", 3),
        ("INT", 3, 3),
        ("INT", "-3", -3),
        ("TINYINT", "127", 127),
        ("BIGINT", str(2**63 - 1), 2**63 - 1),
        ("DECIMAL(10, 2)", "1.20", Decimal("1.2")),
        ("DECIMAL(10, 2)", Decimal("1.2"), Decimal("1.2")),
        ("DECIMAL(10, 2)", 3, 3),
        ("DOUBLE", "0.1", 0.1),
        ("FLOAT", "0.5", 0.5),
        ("FLOAT", "0.1", 0.10000000149011612),
        ("BOOLEAN", "true", True),
        ("BOOLEAN", "FALSE", False),
        ("BOOLEAN", True, True),
        ("DATE", "2024-01-01", DAY),
        ("DATE", date(2024, 1, 1), DAY),
        ("TIMESTAMP(3)", "2024-01-01 00:00:01.5", DAY * 86_400 * SECOND + 1_500_000_000),
        ("TIMESTAMP(6)", datetime(2024, 1, 1), DAY * 86_400 * SECOND),
        ("TIMESTAMP(6)", date(2024, 1, 1), DAY * 86_400 * SECOND),
        ("TIMESTAMP(3)", "2024-01-01", DAY * 86_400 * SECOND),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "2024-01-01 01:00:00+01:00", DAY * 86_400 * SECOND),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "2024-01-01 00:00:00", DAY * 86_400 * SECOND),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", datetime(2024, 1, 1, tzinfo=UTC), DAY * 86_400 * SECOND),
        (
            "TIMESTAMP(3) WITH LOCAL TIME ZONE",
            datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
            DAY * 86_400 * SECOND,
        ),
        ("BYTES", b"x", b"x"),
        ("BYTES", "é", "é".encode()),
        ("INT", None, None),
        ("INT", "__DEFAULT_PARTITION__", None),
        ("STRING", "__DEFAULT_PARTITION__", None),
    ],
)
def test_values_of_every_type(type_: str, value: Any, internal: Any) -> None:
    found = _one(type_, value)
    assert found == internal
    assert isinstance(found, bool) == isinstance(internal, bool)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("INT", "x"),
        ("INT", ""),
        ("INT", "3.5"),
        ("INT", 3.5),
        ("INT", True),
        ("INT", str(2**31)),
        ("INT", 2**31),
        ("DECIMAL(10, 2)", "1.234"),
        ("DECIMAL(3, 2)", "123.4"),
        ("TIMESTAMP(3)", "2024-01-01 00:00:00.000001"),
        ("TINYINT", "128"),
        ("DECIMAL(10, 2)", "1e2"),
        ("DECIMAL(10, 2)", Decimal("NaN")),
        ("DOUBLE", "nan"),
        ("BOOLEAN", "1"),
        ("BOOLEAN", 1),
        ("DATE", "01.02.2024"),
        ("DATE", "2024-13-01"),
        ("DATE", "19723"),
        ("DATE", datetime(2024, 1, 1, 12)),
        ("TIMESTAMP(3)", "2024-01-01 00:00:00Z"),
        ("TIMESTAMP(3)", "noon"),
        ("STRING", 3),
        ("STRING", ["a"]),
        ("BYTES", 3),
    ],
)
def test_values_that_the_type_does_not_have(type_: str, value: Any) -> None:
    with pytest.raises(UsageError) as e:
        _one(type_, value)
    assert (e.value.code, e.value.diagnostics[0].path) == ("LB5103", "k")


def test_an_instant_in_a_zone_whose_rules_may_differ_is_not_guessed() -> None:
    schema = table_schema([("k", "TIMESTAMP(3) WITH LOCAL TIME ZONE")], partition_keys=["k"])
    with pytest.raises(UsageError) as e:
        partition_specs(schema, "k=2024-01-01 00:00:00", time_zone="Europe/Berlin")
    assert e.value.code == "LB5103"
    (spec,) = partition_specs(schema, "k=2024-01-01 00:00:00Z", time_zone="Europe/Berlin")
    assert spec == {"k": DAY * 86_400 * SECOND}


def test_another_name_for_null() -> None:
    options = {"partition.default-name": "none"}
    assert _one("INT", "none", options=options) is None
    assert _one("STRING", "__DEFAULT_PARTITION__", options=options) == "__DEFAULT_PARTITION__"


TWO = table_schema([("day", "DATE"), ("region", "STRING"), ("v", "INT")], partition_keys=["day", "region"])


@pytest.mark.parametrize(
    ("named", "specs"),
    [
        ("day=2024-01-01", [{"day": DAY}]),
        ("day=2024-01-01/region=eu", [{"day": DAY, "region": "eu"}]),
        ("region=eu/day=2024-01-01", [{"day": DAY, "region": "eu"}]),
        ("region=a/b=c/d", [{"region": "a/b=c/d"}]),
        ("region=/eu/", [{"region": "/eu/"}]),
        ("region=", [{"region": ""}]),
        ({"region": "eu"}, [{"region": "eu"}]),
        (["region=eu", {"day": None}], [{"region": "eu"}, {"day": None}]),
        (("region=eu",), [{"region": "eu"}]),
        (iter(["region=eu"]), [{"region": "eu"}]),
    ],
)
def test_how_partitions_are_named(named: Any, specs: list[dict[str, Any]]) -> None:
    assert list(partition_specs(TWO, named, time_zone="UTC")) == specs


@pytest.mark.parametrize(
    ("named", "code"),
    [
        ([], "LB5102"),
        ({}, "LB5102"),
        ("", "LB5102"),
        ([{}], "LB5102"),
        ("2024-01-01", "LB5102"),
        ("day=2024-01-01/day=2024-01-02", "LB5102"),
        ("dya=2024-01-01", "LB5101"),
        ({"v": 3}, "LB5101"),
        ({"Day": "2024-01-01"}, "LB5101"),
    ],
)
def test_what_names_no_partition_of_the_table(named: Any, code: str) -> None:
    with pytest.raises(UsageError) as e:
        partition_specs(TWO, named, time_zone="UTC")
    assert e.value.code == code


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(UsageError) as e:
        partition_specs(TWO, ["day=x", "dya=2", {"v": 3}, "region=eu"], time_zone="UTC")
    assert [d.code for d in e.value.diagnostics] == ["LB5103", "LB5101", "LB5101"]
    assert e.value.diagnostics[1].suggestions == ("day",)
    assert "a column, and no partition key" in str(e.value.diagnostics[2])


def test_a_table_without_partitions() -> None:
    with pytest.raises(UsageError) as e:
        partition_specs(table_schema([("v", "INT")]), "v=3", time_zone="UTC")
    assert e.value.code == "LB5100"


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "STRING": st.text(),
    "INT": st.integers(-(2**31), 2**31 - 1),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "DECIMAL(12, 3)": st.integers(-(10**12) + 1, 10**12 - 1).map(lambda n: Decimal(n).scaleb(-3)),
    "BOOLEAN": st.booleans(),
    "DATE": st.integers(-700_000, 2_900_000),
    "TIMESTAMP(3)": st.integers(-(10**13), 10**14).map(lambda n: n * 1_000_000),
    "TIMESTAMP(6)": st.integers(-(10**16), 10**17).map(lambda n: n * 1_000),
}


@pytest.mark.parametrize("type_", VALUES)
def test_what_is_shown_of_a_partition_names_it(type_: str) -> None:
    schema = table_schema([("k", type_), ("v", "INT")], partition_keys=["k"])

    @given(st.none() | VALUES[type_])
    def law(value: Any) -> None:
        shown = partition_text(["k"], [schema.fields[0].type], [value], {})
        (spec,) = partition_specs(schema, shown, time_zone="UTC")
        assert spec == {"k": value}

    law()
