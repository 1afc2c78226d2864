"""Read the options of a stream: where it begins, how much a batch takes, what stops it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from lakebed.catalog.option_values import size_of
from lakebed.catalog.options import CONSUMER_ID
from lakebed.data_source.stream_admission import NO_LIMITS, BatchLimits
from lakebed.diagnostics import near_names
from lakebed.errors import LakebedError, UsageError
from lakebed.maintenance.consumers import check_consumer
from lakebed.read.plan_changes import OnOverwrite

_T = TypeVar("_T", bound=StrEnum)
_D = TypeVar("_D")


#: So many files a batch takes where the options limit nothing: what waits is planned in bounded memory.
MOST_FILES = 10_000


class Start(StrEnum):
    """What comes first: the whole state of a snapshot and then what changes it, or changes only."""

    FULL = "full"
    CHANGES = "changes"
    LATEST = "latest"


class OnSchemaChange(StrEnum):
    """What rows mean that the schema of the stream cannot show whole: the end of the stream, or what it can show."""

    FAIL = "fail"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The options of a stream. `from_timestamp` is ISO text or milliseconds since 1970, as it was given.

    `on_schema_change` None: fail, unless the reader chose its columns or a version of the schema itself. `consumer` is
    the name under which the table notes what the stream has still to read.
    """

    start: Start = Start.FULL
    from_snapshot: int | None = None
    from_timestamp: str | None = None
    limits: BatchLimits = NO_LIMITS
    on_overwrite: OnOverwrite = OnOverwrite.FAIL
    on_schema_change: OnSchemaChange | None = None
    row_kinds: bool = False
    consumer: str | None = None


#: The names of the options, in the order in which the documentation has them.
STREAM_OPTIONS = (
    *("start", "from-snapshot", "from-timestamp"),
    *("max-files-per-trigger", "max-bytes-per-trigger", "max-rows-per-trigger"),
    *("on-overwrite", "on-schema-change", "row-kinds", CONSUMER_ID),
)


def stream_options(given: Mapping[str, str]) -> StreamOptions:
    """Read the options among `given` (names in any case) that are a stream's. Raises UsageError (LB5615)."""
    texts = {k.lower(): v.strip() for k, v in given.items() if k.lower() in STREAM_OPTIONS}
    if "from-snapshot" in texts and "from-timestamp" in texts:
        raise UsageError.of(
            "LB5615", "from-snapshot and from-timestamp cannot be given together", remedy="give one of them"
        )
    from_somewhere = "from-snapshot" in texts or "from-timestamp" in texts
    start = _choice(texts, "start", Start, Start.CHANGES if from_somewhere else Start.FULL)
    if (start is Start.LATEST and from_somewhere) or (start is Start.CHANGES and not from_somewhere):
        raise UsageError.of(
            "LB5615",
            f"start={start} {'cannot be given with' if from_somewhere else 'needs'} from-snapshot or from-timestamp",
            path="start",
            found=start.value,
            remedy="start=latest begins after the newest snapshot, start=full with the rows of the newest one",
        )
    limits = BatchLimits(
        _number(texts, "max-files-per-trigger"),
        _bytes(texts, "max-bytes-per-trigger"),
        _number(texts, "max-rows-per-trigger"),
    )
    return StreamOptions(
        start,
        _number(texts, "from-snapshot"),
        texts.get("from-timestamp"),
        BatchLimits(files=MOST_FILES) if limits == NO_LIMITS else limits,
        _choice(texts, "on-overwrite", OnOverwrite, OnOverwrite.FAIL),
        _choice(texts, "on-schema-change", OnSchemaChange, None),
        _flag(texts, "row-kinds"),
        _consumer(texts.get(CONSUMER_ID)),
    )


def _consumer(name: str | None) -> str | None:
    if name is not None:
        check_consumer(name)
    return name


def _choice(texts: Mapping[str, str], name: str, kinds: type[_T], default: _D) -> _T | _D:
    text = texts.get(name)
    if text is None:
        return default
    try:
        return kinds(text.lower())
    except ValueError:
        raise _bad(name, text, ", ".join(kinds), near_names(text.lower(), list(kinds))) from None


def _number(texts: Mapping[str, str], name: str) -> int | None:
    text = texts.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 1 << 63):
        raise _bad(name, text, "a whole number from 1")
    return int(text)


def _bytes(texts: Mapping[str, str], name: str) -> int | None:
    if name not in texts:
        return None
    try:
        size = size_of(texts, name, 0)
    except UsageError:
        size = 0
    if not 0 < size < 1 << 63:
        raise _bad(name, texts[name], "a size such as 64 mb")
    return size


def _flag(texts: Mapping[str, str], name: str) -> bool:
    text = texts.get(name, "false").lower()
    if text not in ("true", "false"):
        raise _bad(name, text, "true or false")
    return text == "true"


def _bad(name: str, text: str, expected: str, suggestions: tuple[str, ...] = ()) -> LakebedError:
    return UsageError.of(
        "LB5615",
        f"option {name} is {text!r}",
        path=name,
        expected=expected,
        found=text,
        remedy=f"give {expected}",
        suggestions=suggestions,
    )
