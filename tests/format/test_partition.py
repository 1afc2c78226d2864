from __future__ import annotations

import struct
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import UnsupportedError
from lakebed.format.partition import bucket_directory, data_directory, escape, is_blank, partition_path, unescape
from lakebed.format.value_text import cast_text, java_number, legacy_text
from lakebed.physical import parse

_SQL = {"partition.legacy-name": "false"}
_DAY = 86_400_000_000_000
_MORNING = 19857 * _DAY


def _path(type_: str, value: Any, options: dict[str, str] | None = None, **parts: Any) -> str:
    return partition_path(["p"], [parse(type_)], [value], options or {}, **parts)


@pytest.mark.parametrize(
    ("type_", "value", "legacy", "sql"),
    [
        ("DATE", 19857, "19857", "2024-05-14"),
        ("DATE", 1, "1", "1970-01-02"),
        ("BOOLEAN", True, "true", "true"),
        ("TINYINT", -5, "-5", "-5"),
        ("BIGINT", 2**40, "1099511627776", "1099511627776"),
        ("DECIMAL(10, 2)", Decimal("1.20"), "1.20", "1.20"),
        ("DECIMAL(10, 2)", Decimal("1.2"), "1.20", "1.20"),
        ("DECIMAL(38, 10)", Decimal("0E-10"), "0.0000000000", "0.0000000000"),
        ("DOUBLE", 1e10, "1.0E10", "1.0E10"),
        ("FLOAT", struct.unpack("f", struct.pack("f", 0.1))[0], "0.1", "0.1"),
        ("TIMESTAMP(3)", _MORNING + 123_000_000, "2024-05-14T00%3A00%3A00.123", "2024-05-14 00%3A00%3A00.123"),
        ("TIMESTAMP(3)", _MORNING, "2024-05-14T00%3A00", "2024-05-14 00%3A00%3A00.000"),
        ("TIMESTAMP(0)", _MORNING + 10**9, "2024-05-14T00%3A00%3A01", "2024-05-14 00%3A00%3A01"),
        ("TIMESTAMP(6)", _MORNING + 1_000, "2024-05-14T00%3A00%3A00.000001", "2024-05-14 00%3A00%3A00.000001"),
        ("TIMESTAMP(9)", -1, "1969-12-31T23%3A59%3A59.999999999", "1969-12-31 23%3A59%3A59.999999999"),
        ("TIMESTAMP(6) WITH LOCAL TIME ZONE", _MORNING, "2024-05-14T00%3A00", "2024-05-14 00%3A00%3A00.000000"),
        ("TIME(3)", 36_672_000, "36672000", "10%3A11%3A12.0"),
        ("TIME(0)", 36_672_000, "36672000", "10%3A11%3A12"),
        ("STRING", "a/b=c d", "a%2Fb%3Dc d", "a%2Fb%3Dc d"),
        ("CHAR(3)", "é", "é", "é"),
    ],
)
def test_both_spellings_of_a_value(type_: str, value: Any, legacy: str, sql: str) -> None:
    assert _path(type_, value) == f"p={legacy}"
    assert _path(type_, value, {"partition.legacy-name": "true"}) == f"p={legacy}"
    assert _path(type_, value, _SQL) == f"p={sql}"


def test_an_instant_is_shown_in_the_zone_without_legacy_names() -> None:
    type_ = "TIMESTAMP(3) WITH LOCAL TIME ZONE"
    assert _path(type_, _MORNING, _SQL, time_zone="America/New_York") == "p=2024-05-13 20%3A00%3A00.000"
    assert _path(type_, _MORNING, time_zone="America/New_York") == "p=2024-05-14T00%3A00"


@pytest.mark.parametrize(
    ("years", "text"),
    [
        (0, "1999-12-31 19%3A00%3A00.000"),
        (8000, "9999-12-31 19%3A00%3A00.000"),
        (10_000, "+11999-12-31 19%3A00%3A00.000"),
        (100_000, "+101999-12-31 19%3A00%3A00.000"),
        (-1600, "0399-12-31 19%3A03%3A58.000"),
        (-2000, "-0001-12-31 19%3A03%3A58.000"),
        (-20_000, "-18001-12-31 19%3A03%3A58.000"),
    ],
)
def test_an_instant_of_any_year_is_shown_in_the_zone(years: int, text: str) -> None:
    # 400 years are 146,097 days; before its railways New York was 4:56:02 behind.
    value = (10_957 + years // 400 * 146_097) * _DAY
    found = _path("TIMESTAMP(3) WITH LOCAL TIME ZONE", value, _SQL, time_zone="America/New_York")
    assert found == f"p={text}"


@pytest.mark.parametrize("value", [None, "", " ", "\t\n", "\u2003", "\x1c"])
def test_null_empty_and_blank_share_the_default_directory(value: str | None) -> None:
    assert _path("STRING", value) == "p=__DEFAULT_PARTITION__"
    assert _path("STRING", value, {"partition.default-name": "nix"}) == "p=nix"
    assert _path("INT", None, _SQL) == "p=__DEFAULT_PARTITION__"


@pytest.mark.parametrize("value", ["\xa0", "\u2007", "\u202f", "\x85"])
def test_what_java_does_not_count_as_blank_has_a_directory(value: str) -> None:
    assert not is_blank(value)
    assert _path("STRING", value) == f"p={value}"


def test_keys_stand_in_order_and_are_escaped() -> None:
    path = partition_path(["dt", "a:b"], [parse("DATE"), parse("STRING")], [19857, "x"], {})
    assert path == "dt=19857/a%3Ab=x"
    assert partition_path([], [], [], {}) == ""


@pytest.mark.parametrize("character", list("\"#%'*/:=?\\{}[]^") + [chr(c) for c in range(32)] + ["\x7f"])
def test_special_characters_are_escaped(character: str) -> None:
    assert escape(f"a{character}b") == f"a%{ord(character):02X}b"


@pytest.mark.parametrize("character", [*" +&;,<>|!$()@~`._-é漢🦆\x80"])
def test_other_characters_stay(character: str) -> None:
    assert escape(character) == character


@given(st.text())
def test_unescaping_undoes_escaping(text: str) -> None:
    assert unescape(escape(text)) == text
    assert "/" not in escape(text)


@given(st.text(), st.text())
def test_two_texts_never_share_an_escaped_form(one: str, other: str) -> None:
    assert (escape(one) == escape(other)) == (one == other)


def test_bytes_have_a_text_without_legacy_names_only() -> None:
    with pytest.raises(UnsupportedError) as e:
        _path("BYTES", b"ab")
    assert e.value.code == "LB5030"
    assert _path("BYTES", b"ab", _SQL) == "p=ab"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (100.0, "100.0"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (5e-324, "4.9E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_numbers_are_printed_as_java_prints_them(value: float, text: str) -> None:
    assert java_number(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_number_reads_back(value: float) -> None:
    assert float(java_number(value)) == value


@given(st.dates())
def test_dates_are_iso(day: date) -> None:
    days = (day - date(1970, 1, 1)).days
    assert cast_text(parse("DATE"), days) == day.isoformat()


@pytest.mark.parametrize(
    ("days", "text"), [(-719528, "0000-01-01"), (-719529, "-0001-12-31"), (2932897, "+10000-01-01")]
)
def test_dates_beyond_four_digits(days: int, text: str) -> None:
    assert cast_text(parse("DATE"), days) == text


@given(st.datetimes())
def test_timestamps_are_iso(moment: datetime) -> None:
    micros = (moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    text = legacy_text(parse("TIMESTAMP(6)"), micros * 1000)
    assert datetime.fromisoformat(text) == moment
    assert cast_text(parse("TIMESTAMP(6)"), micros * 1000) == moment.isoformat(" ", "microseconds")


def test_directories() -> None:
    assert bucket_directory(3) == "bucket-3"
    assert bucket_directory(-2) == "bucket-postpone"
    assert data_directory("/t", "", 0, {}) == "/t/bucket-0"
    assert data_directory("/t", "p=1", 0, {"data-file.path-directory": "data/"}) == "/t/data/p=1/bucket-0"
