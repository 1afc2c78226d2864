"""Read `eventTime`: when records of a source happened, by the rules of Open Data Fabric.

    read: {kind: Csv, eventTime: {kind: FromPath, pattern: "rates-([0-9-]+)[.]csv", timestampFormat: yyyy-MM-dd}}

`FromSystemTime` is the time of the run, `FromMetadata` the time at which the file was changed, `FromPath` what the
first group of a regular expression finds in the file's path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any


class EventTimeKind(StrEnum):
    """Where the time is taken from."""

    SYSTEM_TIME = "FromSystemTime"
    METADATA = "FromMetadata"
    PATH = "FromPath"


_DEFAULT_FORMAT = "%Y-%m-%d"
#: Letters of Java's datetime patterns, by how often they stand.
_DIRECTIVES: Mapping[str, str] = {
    "yyyy": "%Y",
    "yy": "%y",
    "MMMM": "%B",
    "MMM": "%b",
    "MM": "%m",
    "M": "%m",
    "dd": "%d",
    "d": "%d",
    "DDD": "%j",
    "HH": "%H",
    "H": "%H",
    "mm": "%M",
    "m": "%M",
    "ss": "%S",
    "s": "%S",
    "S": "%f",
    "SS": "%f",
    "SSS": "%f",
    "SSSSSS": "%f",
    "Z": "%z",
    "X": "%z",
    "XX": "%z",
    "XXX": "%z",
}
_PIECE = re.compile(r"'((?:[^']|'')*)'|(([A-Za-z])\3*)|([^A-Za-z']+)")


@dataclass(frozen=True, slots=True)
class EventTime:
    """A rule; `pattern` and `timestamp_format` belong to `FromPath`."""

    kind: EventTimeKind
    pattern: str | None = None
    timestamp_format: str | None = None

    def to_json(self) -> dict[str, str]:
        """The object in a manifest."""
        said = {"kind": self.kind.value, "pattern": self.pattern, "timestampFormat": self.timestamp_format}
        return {key: value for key, value in said.items() if value is not None}

    @staticmethod
    def stored(value: Any) -> EventTime | None:
        """The rule that an object means; None where it means none, or one that cannot be followed."""
        if not isinstance(value, Mapping):
            return None
        kinds = {spelled: k for k in EventTimeKind for spelled in (k.value, k.value[0].lower() + k.value[1:])}
        kinds |= {k.value.lower(): k for k in EventTimeKind}
        kind = kinds.get(str(value.get("kind")))
        pattern, form = value.get("pattern"), value.get("timestampFormat")
        if kind is None:
            return None
        if kind is not EventTimeKind.PATH:
            return EventTime(kind)
        rule = EventTime(kind, None if pattern is None else str(pattern), None if form is None else str(form))
        return rule if rule.problem() is None else None

    def problem(self) -> str | None:
        """What is wrong with the rule."""
        if self.kind is not EventTimeKind.PATH:
            return None
        if self.pattern is None:
            return "FromPath needs a `pattern`"
        try:
            groups = re.compile(self.pattern).groups
        except re.error as error:
            return f"{self.pattern!r} is no regular expression: {error}"
        if groups < 1:
            return f"{self.pattern!r} has no group for the time"
        if self.timestamp_format is None or _directives(self.timestamp_format) is not None:
            return None
        return f"{self.timestamp_format!r} is no pattern of years, months, days, hours, minutes, seconds and offsets"

    def of_path(self, path: str) -> datetime | None:
        """What a path says, in UTC where it names no offset; None where it says nothing that can be read."""
        found = re.search(self.pattern or "(?!)", path)
        text = found.group(1) if found else None
        form = _directives(self.timestamp_format) if self.timestamp_format is not None else _DEFAULT_FORMAT
        if text is None or form is None:
            return None
        try:
            moment = datetime.strptime(text, form)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            return None


def _directives(pattern: str) -> str | None:
    """A Java pattern by Python's directives; one with `%` has them already. None where it cannot be said by them."""
    if "%" in pattern:
        return pattern
    out, at = "", 0
    for piece in _PIECE.finditer(pattern):
        quoted, letters, _, other = piece.groups()
        if piece.start() != at:
            return None
        at = piece.end()
        if quoted is not None:
            out += quoted.replace("''", "'") or "'"
        elif other is not None:
            out += other
        elif letters in _DIRECTIVES:
            out += _DIRECTIVES[letters]
        else:
            return None
    return out if at == len(pattern) else None
