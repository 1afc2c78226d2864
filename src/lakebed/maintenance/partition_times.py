"""Tell which partitions have outlived their time, by their values or by their last change (Paimon's PartitionExpire).

As the options `partition.expiration-time`, `partition.expiration-strategy`, `partition.timestamp-pattern` and
`partition.timestamp-formatter` say. Values are wall clocks of the lake's time zone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from operator import itemgetter
from typing import Any

from lakebed.catalog.option_values import duration_of, whole_number
from lakebed.catalog.options import (
    PARTITION_EXPIRATION_MAX_NUM,
    PARTITION_EXPIRATION_STRATEGY,
    PARTITION_EXPIRATION_TIME,
    PARTITION_TIMESTAMP_FORMATTER,
    PARTITION_TIMESTAMP_PATTERN,
)
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import near_names
from lakebed.errors import UnsupportedError, UsageError
from lakebed.format import binary_row
from lakebed.format.live_files import live_entries, partition_types
from lakebed.format.manifest import ManifestEntry
from lakebed.format.new_files import wall_clock
from lakebed.format.value_text import cast_text, zone_offset
from lakebed.maintenance.datetime_formatter import DateTimeFormatter
from lakebed.maintenance.durations import millis_of
from lakebed.physical.paimon_types import DataType, Date, LocalZonedTimestamp, Timestamp

NO_AGE, UNKNOWN_STRATEGY, BAD_AGE = "LB5106", "LB5107", "LB5110"
VALUES_TIME, UPDATE_TIME = "values-time", "update-time"

_EPOCH = datetime(1970, 1, 1)
_WALL_CLOCK = re.compile(
    r"([0-9]{1,10})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?: ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]{1,9}))?)?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class PartitionTime:
    """The time of a partition, in internal values; None where it has none, and why."""

    partition: tuple[Any, ...]
    time: datetime | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class PartitionChoice:
    """The partitions that expire, those that stay since nobody knows their time, and how many more are due."""

    expired: tuple[PartitionTime, ...] = ()
    unknown: tuple[PartitionTime, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class PartitionExpiration:
    """When partitions of a table expire: `age` after their time, at most `most` at once."""

    schema: TableSchema
    age: timedelta
    strategy: str
    most: int
    time_zone: str
    pattern: str | None = None
    formatter: DateTimeFormatter | None = None

    @classmethod
    def of(cls, schema: TableSchema, age: timedelta | None, *, time_zone: str) -> PartitionExpiration:
        """As the options say, but for an age that is asked for.

        Raises `UsageError` where neither says an age (LB5106) and for one below zero (LB5110), `UnsupportedError` for a
        strategy (LB5107) and for a formatter (LB5108) that is not known.
        """
        options = schema.options
        if age is None and PARTITION_EXPIRATION_TIME not in options:
            raise UsageError.of(
                NO_AGE,
                "nothing says when partitions expire",
                expected=f"the option {PARTITION_EXPIRATION_TIME} of the table, or an age",
                remedy=f"set {PARTITION_EXPIRATION_TIME}, or give --older-than, such as --older-than 30d",
                python_remedy=f"set {PARTITION_EXPIRATION_TIME}, or give older_than=timedelta(days=30)",
            )
        if age is not None and age < timedelta(0):
            raise UsageError.of(BAD_AGE, f"partitions cannot be older than {age}", remedy="Give an age of 0 or more.")
        strategy = options.get(PARTITION_EXPIRATION_STRATEGY, VALUES_TIME)
        if strategy not in (VALUES_TIME, UPDATE_TIME):
            raise UnsupportedError.of(
                UNKNOWN_STRATEGY,
                f"there is no way {strategy!r} to tell the age of partitions",
                path=PARTITION_EXPIRATION_STRATEGY,
                expected=f"{VALUES_TIME} or {UPDATE_TIME}",
                found=strategy,
                suggestions=near_names(strategy, (VALUES_TIME, UPDATE_TIME)),
                remedy=f"Set {VALUES_TIME} or {UPDATE_TIME}, or let the engine that knows it expire the partitions.",
            )
        formatter = options.get(PARTITION_TIMESTAMP_FORMATTER)
        return cls(
            schema,
            duration_of(options, PARTITION_EXPIRATION_TIME) if age is None else age,
            strategy,
            whole_number(options, PARTITION_EXPIRATION_MAX_NUM),
            time_zone,
            options.get(PARTITION_TIMESTAMP_PATTERN),
            None if formatter is None or strategy == UPDATE_TIME else DateTimeFormatter.of(formatter),
        )

    def choose(self, entries: Iterable[ManifestEntry], now: int) -> PartitionChoice:
        """Of the partitions with live files, those whose time is longer ago than the age.

        `entries` are all of a state, `now` milliseconds since 1970. Raises what cannot be read of them.
        """
        read = list(entries)
        types = partition_types(self.schema)
        decode = cache(binary_row.codec(types).decode)
        live = {decode(entry.partition) for entry in live_entries(read, types)}
        if self.strategy == UPDATE_TIME:
            changed = _last_changes(read, decode)
            times = [_updated(partition, changed[partition]) for partition in live]
        else:
            times = list(map(self.time_of, live))
        before = self._before(now)
        due = [(t.time, self._texts(t.partition), t) for t in times if t.time is not None and t.time < before]
        unknown = [t for t in times if t.time is None]
        ordered = [t for *_, t in sorted(due, key=itemgetter(0, 1))]
        return PartitionChoice(
            tuple(ordered[: self.most]),
            tuple(sorted(unknown, key=lambda t: self._texts(t.partition))),
            max(len(ordered) - self.most, 0),
        )

    def _before(self, now: int) -> datetime:
        """The time that an expired partition is before, on the clock that times of partitions are on."""
        # When files were made their writers put down by their own clocks, which are taken to be those of this machine.
        wall = (
            wall_clock(now) if self.strategy == UPDATE_TIME else now + zone_offset(now * 10**6, self.time_zone) // 10**6
        )
        return moment((wall - millis_of(self.age)) * 1000) or datetime.min

    def time_of(self, partition: tuple[Any, ...]) -> PartitionTime:
        """The time that the values of a partition say; of a day it is midnight."""
        keys, types = self.schema.partition_keys, partition_types(self.schema)
        wanted = range(len(keys)) if self.pattern is not None else range(1)
        missing = next((keys[i] for i in wanted if partition[i] is None), None)
        if missing is not None:
            return PartitionTime(partition, None, f"{missing} is NULL")
        if self.pattern is None:
            found = self._own_time(types[0], partition[0])
            if found is not None:
                return PartitionTime(partition, found)
            text = self._text(types[0], partition[0])
        else:
            text = self.pattern
            for key, type_, value in zip(keys, types, partition, strict=True):
                text = text.replace(f"${key}", self._text(type_, value))
        time = read_time(text) if self.formatter is None else self.formatter.parse(text)
        return PartitionTime(partition, time, None if time else f"{text!r} is no time{self._expected()}")

    def _expected(self) -> str:
        return "" if self.formatter is None else f" of the form {self.formatter.pattern}"

    def _own_time(self, type_: DataType, value: Any) -> datetime | None:
        match type_:
            case Date():
                return moment(value * 86_400 * 10**6)
            case Timestamp():
                return moment(value // 1000)
            case LocalZonedTimestamp():
                return moment((value + zone_offset(value, self.time_zone)) // 1000)
            case _:
                return None

    def _text(self, type_: DataType, value: Any) -> str:
        return cast_text(type_, value, time_zone=self.time_zone)

    def _texts(self, partition: tuple[Any, ...]) -> tuple[str, ...]:
        types = partition_types(self.schema)
        return tuple("" if v is None else self._text(t, v) for t, v in zip(types, partition, strict=True))


def moment(micros: int) -> datetime | None:
    """A wall clock by its microseconds since 1970; None outside of the years 1 to 9999."""
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return None


def read_time(text: str) -> datetime | None:
    """`2024-1-31`, or with `12:00:00` and a fraction; beyond the end of a month or a day it goes on, as in Java."""
    match = _WALL_CLOCK.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(n or 0) for n in match.groups()[:6])
    micros = int((match[7] or "0").ljust(9, "0")[:6])
    years, months = divmod(month - 1, 12)
    try:
        start = datetime(year + years, months + 1, 1)
        return start + timedelta(days=day - 1, hours=hour, minutes=minute, seconds=second, microseconds=micros)
    except (OverflowError, ValueError):
        return None


def _last_changes(
    entries: Iterable[ManifestEntry], decode: Callable[[bytes], tuple[Any, ...]]
) -> Mapping[tuple[Any, ...], int | None]:
    """When the last file of each partition was made, also of those that have gone; None where that is not known."""
    found: dict[tuple[Any, ...], int | None] = {}
    for entry in entries:
        partition, made = decode(entry.partition), entry.file.creation_time
        before = found.get(partition, made)
        found[partition] = None if made is None or before is None else max(made, before)
    return found


def _updated(partition: tuple[Any, ...], millis: int | None) -> PartitionTime:
    time = None if millis is None else moment(millis * 1000)
    return PartitionTime(partition, time, None if time else "it is not known when its files were made")
