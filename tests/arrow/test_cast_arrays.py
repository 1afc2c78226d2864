"""Casts of arrays: what Java Paimon gives for the same values, or a refusal; never another value."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from casts.evaluation import EPOCH, MICROSECOND, Case, java_text, stored
from casts.test_java import cases, intended
from lakebed.arrow.cast_arrays import find_cast
from lakebed.convert.arrow_rows import COUNTED, row_type
from lakebed.physical import paimon_types as p
from lakebed.physical import parse

#: Pairs of types whose values have all to be cast.
WHOLE = {
    *((have, want) for have in ("TINYINT", "SMALLINT", "INT", "BIGINT") for want in ("STRING", "DOUBLE", "BOOLEAN")),
    *(("DOUBLE", want) for want in ("TINYINT", "INT", "BIGINT", "FLOAT")),
    *(("BIGINT", "TINYINT"), ("INT", "SMALLINT"), ("BOOLEAN", "INT"), ("BOOLEAN", "STRING"), ("STRING", "CHAR(5)")),
    *(("DATE", "TIMESTAMP(3)"), ("TIMESTAMP(6)", "DATE"), ("TIMESTAMP(6)", "TIMESTAMP(3)"), ("STRING", "VARCHAR(2)")),
    *(("TIMESTAMP(6)", "BIGINT"), ("INT", "TIMESTAMP(6)"), ("DATE", "STRING"), ("INT", "DECIMAL(20, 0)")),
}


def result(values: pa.Array, type_: p.DataType) -> Any:
    """The one value, in the form of `wanted`."""
    (value,) = values.cast(row_type(type_, COUNTED)).to_pylist()
    match type_:
        case p.Timestamp() | p.LocalZonedTimestamp() if value is not None:
            return java_text((EPOCH + value * MICROSECOND).isoformat(sep=" "))
        case p.Float() | p.Double() if value is not None:
            return repr(value)
        case p.Decimal() if value is not None:
            return f"{value:f}"
        case p.Boolean() if value is not None:
            return str(value).lower()
        case p.Binary() | p.VarBinary() if value is not None:
            return ",".join(map(str, value))
        case _:
            return None if value is None else str(value)


def wanted(text: str | None, type_: p.DataType) -> str | None:
    """The text of a result of Java; of floating point numbers as Python writes them."""
    if text is None or not isinstance(type_, p.Float | p.Double):
        return text
    return repr(pa.scalar(float(text), row_type(type_)).as_py())


def test_values_are_those_of_java_or_refused() -> None:
    cast, refused = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for case in cases():
        have, want = case.types
        made = find_cast(have, want, time_zone=case.time_zone)
        if made is None or intended(case):
            continue
        value = pa.array([stored(have, case.value)], row_type(have))
        try:
            found = made(value)
        except (ValueError, pa.ArrowException):
            refused[case.source, case.target] += 1
            continue
        assert not case.error, str(case)
        assert found.type == row_type(want)
        assert result(found, want) == wanted(case.expected, want), str(case)
        cast[case.source, case.target] += 1
    assert cast.total() > 1000
    assert cast.keys() >= WHOLE
    assert not WHOLE & refused.keys()


@pytest.mark.parametrize(
    ("have", "want", "value", "text"),
    [
        ("TIMESTAMP(9)", "STRING", 1_001, "1970-01-01 00:00:00.001001000"),
        ("TIMESTAMP(3)", "STRING", -1_000, "1969-12-31 23:59:59.999"),
        ("TIMESTAMP(0)", "STRING", 0, "1970-01-01 00:00:00"),
        ("TIMESTAMP(6)", "STRING", 253_402_300_799_999_999, "9999-12-31 23:59:59.999999"),
        ("STRING", "INT", "-0012", "-12"),
        ("STRING", "BIGINT", "+9223372036854775807", "9223372036854775807"),
        ("STRING", "BOOLEAN", "YES", "true"),
        ("STRING", "VARCHAR(2)", "é👍x", "é👍"),
        ("CHAR(2)", "CHAR(4)", "é", "é   "),
        ("DOUBLE", "INT", float("nan"), "0"),
        ("DOUBLE", "BIGINT", 1e300, "9223372036854775807"),
        ("DOUBLE", "TINYINT", -1e300, "0"),
        ("TIMESTAMP(6)", "TIMESTAMP(0)", -1_500_000, "1969-12-31T23:59:59"),
    ],
)
def test_single_values(have: str, want: str, value: Any, text: str) -> None:
    cast = find_cast(parse(have), parse(want))
    assert cast is not None
    array = pa.array([value], pa.int64()).cast(row_type(parse(have))) if isinstance(value, int) else None
    array = pa.array([value], row_type(parse(have))) if array is None else array
    assert result(cast(array), parse(want)) == text
    nulls = pa.nulls(3, row_type(parse(have)))
    assert (cast(nulls).null_count, cast(nulls).type) == (3, row_type(parse(want)))
    assert len(cast(nulls.slice(3))) == 0


@pytest.mark.parametrize(
    ("have", "want", "value"),
    [
        *(("STRING", "INT", text) for text in ("", " 1", "1.5", "1e3", "x", "2147483648", "1\n", "\u0661")),
        *(("STRING", "BOOLEAN", text) for text in ("", "on", " true")),
        ("TIMESTAMP(3)", "STRING", 1),
        ("TIMESTAMP(6)", "STRING", -62_135_596_800_000_001),
        ("TIMESTAMP(6)", "STRING", 253_402_300_800_000_000),
        ("BIGINT", "TIMESTAMP(3)", 2**62),
        ("DATE", "TIMESTAMP(3)", 2**31 - 1),
        ("DATE", "STRING", 3_000_000),
    ],
)
def test_values_whose_outcome_is_not_certain_are_refused(have: str, want: str, value: Any) -> None:
    cast = find_cast(parse(have), parse(want))
    assert cast is not None
    type_ = row_type(parse(have))
    array = (
        pa.array([value], type_) if isinstance(value, str) else pa.array([value]).cast(row_type(parse(have), COUNTED))
    )
    with pytest.raises((ValueError, pa.ArrowException)):
        cast(array.cast(type_))


def test_other_pairs_have_no_cast() -> None:
    for have, want in (
        *(("DOUBLE", "STRING"), ("DECIMAL(9, 2)", "STRING"), ("DECIMAL(9, 4)", "DECIMAL(9, 2)"), ("INT", "VARCHAR(3)")),
        *(("STRING", "DATE"), ("STRING", "DOUBLE"), ("BYTES", "STRING"), ("INT", "DECIMAL(5, 2)"), ("INT", "BYTES")),
    ):
        assert find_cast(parse(have), parse(want), time_zone="UTC") is None, (have, want)


ZONED = "TIMESTAMP(3) WITH LOCAL TIME ZONE"


@pytest.mark.parametrize(
    ("have", "want"),
    [("TIMESTAMP(3)", ZONED), (ZONED, "DATE"), (ZONED, "STRING"), ("DATE", ZONED), (ZONED, "TIMESTAMP(0)")],
)
def test_between_wall_clocks_and_instants_there_are_casts_in_utc_alone(have: str, want: str) -> None:
    assert find_cast(parse(have), parse(want), time_zone="UTC") is not None
    for zone in (None, "Europe/Paris", "+01:00"):
        assert find_cast(parse(have), parse(want), time_zone=zone) is None


def test_every_case_is_of_types_that_are_known() -> None:
    assert {type(kind).__name__ for case in cases() for kind in case.types} >= {"TinyInt", "Timestamp", "Char"}
    assert isinstance(next(cases()), Case)
