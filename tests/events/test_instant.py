from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import CorruptMetadataError
from lakebed.events.instant import NANOS, pack, parse, text, unpack

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EVER = st.integers(-(2**31) * 31_000_000 * NANOS, (2**31) * 31_000_000 * NANOS)


@given(st.datetimes(timezones=st.just(UTC)))
def test_python_agrees(moment: datetime) -> None:
    since = moment - EPOCH
    nanos = (since.days * 86_400 + since.seconds) * NANOS + since.microseconds * 1000
    data = pack(nanos)
    year, ordinal, of_day, fraction = struct.unpack("<iHxxII", data)
    assert (year, ordinal) == (moment.year, moment.timetuple().tm_yday)
    assert (of_day, fraction) == (
        moment.hour * 3600 + moment.minute * 60 + moment.second,
        moment.microsecond * 1000,
    )
    assert datetime.fromisoformat(text(nanos)) == moment
    assert parse(moment.isoformat()) == nanos


@given(EVER)
def test_bytes_and_text_come_back_in_any_year(nanos: int) -> None:
    assert unpack(pack(nanos)) == nanos
    assert parse(text(nanos)) == nanos


def test_texts() -> None:
    assert text(0) == "1970-01-01T00:00:00Z"
    assert text(-1) == "1969-12-31T23:59:59.999999999Z"
    assert text(parse("2024-02-29T23:59:59.5Z")) == "2024-02-29T23:59:59.500Z"
    assert text(parse("2024-02-29t23:59:59.000001z")) == "2024-02-29T23:59:59.000001Z"
    assert text(parse("-0001-12-31T00:00:00Z")) == "-00001-12-31T00:00:00Z"
    zone = timezone(timedelta(hours=-3, minutes=-30))
    assert parse("2020-01-01T00:00:00-03:30") == parse(datetime(2020, 1, 1, tzinfo=zone).astimezone(UTC).isoformat())


@pytest.mark.parametrize(
    "written",
    [
        "",
        "2020-01-01",
        "2020-01-01T00:00:00",
        "2021-02-29T00:00:00Z",
        "2020-01-01T24:00:00Z",
        "2020-13-01T00:00:00Z",
        "٢020-01-01T00:00:00Z",
    ],
)
def test_what_is_no_time(written: str) -> None:
    with pytest.raises(CorruptMetadataError) as caught:
        parse(written)
    assert caught.value.code == "LB2504"


@pytest.mark.parametrize(
    "parts", [(2021, 366, 0, 0), (2020, 367, 0, 0), (2020, 0, 0, 0), (2020, 1, 86_400, 0), (2020, 1, 0, 2 * NANOS)]
)
def test_what_is_no_day_or_time(parts: tuple[int, int, int, int]) -> None:
    with pytest.raises(CorruptMetadataError):
        unpack(struct.pack("<iHxxII", *parts))


def test_a_leap_second_counts_into_the_next() -> None:
    assert unpack(struct.pack("<iHxxII", 2016, 366, 86_399, NANOS)) == parse("2017-01-01T00:00:00Z")


def test_a_year_beyond_the_struct_is_refused() -> None:
    with pytest.raises(CorruptMetadataError, match="beyond"):
        pack(2**31 * 32_000_000 * NANOS)
