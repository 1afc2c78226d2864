"""The times of partitions: as Java Paimon reads them, and which partitions have outlived their time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from format.building import table_schema
from lakebed.errors import UnsupportedError, UsageError
from lakebed.maintenance.datetime_formatter import DateTimeFormatter
from lakebed.maintenance.partition_times import PartitionExpiration, read_time
from referees.java import JavaReferee

TEXTS = [
    *("2023-01-01 20:08:08", "2023-1-1 20:08:08", "2023-01-01", "2023-1-1", "20230101", "2023-01-01T20:08:08"),
    *("2023-02-31", "2023-13-45", "2023-00-00", "0000-01-01", "2023-01-01 25:61:61", "2023-01-01 24:00:00"),
    *("2023-01-01 1:2:3.5", "2023-01-01 01:02:03.123456", "2023-01-01 01:02", "2023-01-01 ", " 2023-01-01", ""),
    *("12023-01-01", "+2023-01-01", "-2023-01-01", "20230132", "20231301", "20230230", "2023010112", "230101"),
    *("2023010124", "20230101 2400", "2023/01/01", "day 20230101", "2023-01-01 12:30", "01.02.2023", "1.2.2023"),
    *(
        "20230431",
        "20240229",
        "20230229",
        "2023010112:30",
        "20230101123000123",
        "\u0662\u0660\u0662\u0663-01-01",
        "it's 20230101",
    ),
    *("unknown", "2023-01", "2023-1-1 1:1:1.1234567890", "2023-01-01 12:30:15.5", "999999999-1-1", "20230101T05"),
]
FORMATTERS = [
    *("yyyyMMdd", "uuuuMMdd", "yyMMdd", "yyyy-MM-dd", "y-M-d", "yyyy-MM-dd HH:mm:ss", "yyyyMMddHH", "yyyyMMddHHmmss"),
    *("yyyyMMdd HHmm", "yyyy/MM/dd", "'day 'yyyyMMdd", "'it''s 'yyyyMMdd", "dd.MM.yyyy", "d.M.y", "yyyy-MM-dd[ HH:mm]"),
    *("yyyyMMdd'T'HH", "yyyyMMddHH:mm", "yyyy-MM-dd HH:mm[:ss[.S]]", "yyyyMMdd ss", "yyyyMMddyyyy", "yyyy-MM-dd mm:HH"),
]


def shown(time: datetime | None) -> str | None:
    """As Java prints a LocalDateTime, which leaves seconds of zero out; years from 1 to 9999 only."""
    if time is None:
        return None
    text = time.isoformat(timespec="minutes")
    if time.second or time.microsecond:
        text = time.isoformat(timespec="seconds")
    if time.microsecond:
        fraction = f"{time.microsecond:06d}"
        text += "." + (fraction[:3] if fraction.endswith("000") else fraction)
    return text


def in_years(text: str | None) -> str | None:
    """What Java says, but for years that Python does not have."""
    return text if text is not None and text[:1].isdigit() and not text.startswith("0000") else None


def test_texts_are_read_as_java_reads_them(java: JavaReferee) -> None:
    assert {t: shown(read_time(t)) for t in TEXTS} == {t: in_years(java.partition_time({"p": t})) for t in TEXTS}


@pytest.mark.parametrize("pattern", FORMATTERS)
def test_formatters_are_those_of_java(java: JavaReferee, pattern: str) -> None:
    formatter = DateTimeFormatter.of(pattern)
    said = {t: in_years(java.partition_time({"p": t}, formatter=pattern)) for t in TEXTS}
    assert {t: shown(formatter.parse(t)) for t in TEXTS} == said


@pytest.mark.parametrize(
    "pattern",
    [
        *("yyyy-MM", "HH:mm", "", "yyyyMMddT", "EEE dd MMM yyyy", "yyyyyMMdd", "yyyMMdd", "yyyyMMddSSSSSSSSSS", "yMd"),
        *("yyyy-MM-dd'", "yyyy-MM-dd]", "yyyy-MM-dd{", "yyyy-MM-dd hh:mm a", "yyyy-DDD", "yyyy-MM-dd#", "QQ yyyyMMdd"),
    ],
)
def test_a_formatter_that_is_not_followed_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        DateTimeFormatter.of(pattern)
    assert caught.value.code == "LB5108"


def times(*columns: tuple[str, str], zone: str = "UTC", **options: str) -> Any:
    """Reads times of partitions of these types."""
    named = {f"partition.{name.replace('_', '-')}": value for name, value in options.items()}
    keys = [name for name, _ in columns]
    schema = table_schema([*columns, ("v", "INT")], partition_keys=keys, options=named)
    rules = PartitionExpiration.of(schema, timedelta(days=1), time_zone=zone)
    return lambda *values: rules.time_of(values)


DAY = 19_723  # 2024-01-01
NOON = (DAY * 86_400 + 43_200) * 10**9


class TestValues:
    @pytest.mark.parametrize("values", [("2024", "1", "31"), ("2024", "2", "31"), ("2024", "a", "1")])
    def test_a_pattern_is_filled_as_java_fills_it(self, java: JavaReferee, values: tuple[str, ...]) -> None:
        pattern = "$year-$month-$day 00:00:00"
        read = times(("year", "STRING"), ("month", "STRING"), ("day", "STRING"), timestamp_pattern=pattern)
        said = java.partition_time(dict(zip(("year", "month", "day"), values, strict=True)), pattern)
        assert shown(read(*values).time) == said

    def test_numbers_are_texts(self, java: JavaReferee) -> None:
        read = times(("day", "INT"), timestamp_formatter="yyyyMMdd")
        assert shown(read(20_240_131).time) == java.partition_time({"day": 20_240_131}, formatter="yyyyMMdd")
        assert times(("y", "INT"), ("m", "INT"), timestamp_pattern="$y-$m-1")(2024, 2).time == datetime(2024, 2, 1)
        assert times(("day", "INT"))(DAY).problem == "'19723' is no time"

    def test_dates_and_times_are_what_they_are(self) -> None:
        assert times(("day", "DATE"))(DAY).time == datetime(2024, 1, 1)
        assert times(("day", "DATE"), timestamp_formatter="yyyyMMdd")(DAY).time == datetime(2024, 1, 1)
        assert times(("at", "TIMESTAMP(3)"))(NOON).time == datetime(2024, 1, 1, 12)
        instant = times(("at", "TIMESTAMP(3) WITH LOCAL TIME ZONE"), zone="Asia/Tokyo")
        assert instant(NOON).time == datetime(2024, 1, 1, 21)
        pattern = {"timestamp_pattern": "$day $hour:00:00"}
        assert times(("day", "DATE"), ("hour", "INT"), **pattern)(DAY, 5).time == datetime(2024, 1, 1, 5)

    def test_the_first_key_counts_without_a_pattern(self) -> None:
        assert times(("day", "STRING"), ("region", "STRING"))("2024-01-01", None).time == datetime(2024, 1, 1)

    def test_what_is_no_time_is_told(self) -> None:
        assert times(("day", "STRING"))("other").problem == "'other' is no time"
        assert times(("day", "STRING"))(None).problem == "day is NULL"
        assert times(("day", "DATE"))(10**9).time is None
        read = times(("day", "STRING"), timestamp_formatter="yyyyMMdd")
        assert read("2024-01-01").problem == "'2024-01-01' is no time of the form yyyyMMdd"
        both = times(("day", "STRING"), ("region", "STRING"), timestamp_pattern="$day")
        assert both("2024-01-01", None).problem == "region is NULL"


class TestRules:
    def test_an_age_has_to_be_said(self) -> None:
        schema = table_schema([("day", "STRING")], partition_keys=["day"])
        with pytest.raises(UsageError) as caught:
            PartitionExpiration.of(schema, None, time_zone="UTC")
        assert caught.value.code == "LB5106"
        with pytest.raises(UsageError) as caught:
            PartitionExpiration.of(schema, timedelta(days=-1), time_zone="UTC")
        assert caught.value.code == "LB5110"

    @pytest.mark.parametrize(
        ("options", "code"),
        [
            ({"partition.expiration-strategy": "by-name"}, "LB5107"),
            ({"partition.expiration-strategy": "Values-Time"}, "LB5107"),
            ({"partition.timestamp-formatter": "EEEE"}, "LB5108"),
        ],
    )
    def test_what_is_not_known(self, options: dict[str, str], code: str) -> None:
        schema = table_schema([("day", "STRING")], partition_keys=["day"], options=options)
        with pytest.raises(UnsupportedError) as caught:
            PartitionExpiration.of(schema, timedelta(0), time_zone="UTC")
        assert caught.value.code == code

    def test_the_option_of_a_number(self) -> None:
        schema = table_schema([("day", "STRING")], options={"partition.expiration-time": "a while"})
        with pytest.raises(UsageError) as caught:
            PartitionExpiration.of(schema, None, time_zone="UTC")
        assert caught.value.code == "LB5073"
