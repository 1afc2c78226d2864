"""Find timestamps of Parquet files at which Spark's rebase of old days would fail.

Files of Spark before 3.0, those that say so, and all files where an option says so, have days of the Julian calendar
before 1582, which Spark's reader moves to the Gregorian one. It fails the query, without a column's name, at a moment
that does not fit 64 bits of microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from lakebed.diagnostics import Diagnostic
from lakebed.errors import IngestError
from lakebed.format.parquet_footer import read_footer
from lakebed.ingest.sources.source_listing import LOCAL, SourceStorage
from lakebed.spark.spark_errors import SparkFailedError

REBASED_OVERFLOW = "LB6470"

_VERSION, _LEGACY = b"org.apache.spark.version", b"org.apache.spark.legacyDateTime"
_FIRST_CORRECT = b"3.0.0"
_LEGACY_INT96 = b"org.apache.spark.legacyINT96"
_DAYS = ("DATE", "TIMESTAMP")
#: What Java says where 64 bits do not hold a number.
_OVERFLOW = "long overflow"
#: 1900-01-02, in milliseconds since 1970: from then on both calendars, and all zones of Java, agree.
_AGREED = -2_208_902_400_000
_LEAST, _MOST = -(2**63) // 1000 + 1, (2**63 - 1) // 1000


class Millis(Enum):
    """How a rebased column of milliseconds can be read: as the numbers that are stored, as Spark's timestamps, which it
    rebases, or not at all, since it has both moments that have to be rebased and moments that do not fit.
    """

    AS_COUNTED = auto()
    AS_TIMESTAMP = auto()
    UNREADABLE = auto()


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf column of a Parquet file, by its footer."""

    footer: Any
    index: int

    @property
    def physical(self) -> str:
        """Parquet's name of its physical type."""
        found: str = self.footer.schema.column(self.index).physical_type
        return found

    def millis(self) -> Millis:
        """How its milliseconds can be read, by the statistics; where there are none, they are taken to fit."""
        found = [s for i in range(self.footer.num_row_groups) if (s := self._statistics(i)) is not None]
        least, most = min((s.min_raw for s in found), default=0), max((s.max_raw for s in found), default=0)
        if least >= _LEAST and most <= _MOST:
            return Millis.AS_TIMESTAMP
        known = len(found) == self.footer.num_row_groups
        return Millis.AS_COUNTED if known and least >= _AGREED else Millis.UNREADABLE

    def _statistics(self, group: int) -> Any:
        found = self.footer.row_group(group).column(self.index).statistics
        return found if found is not None and found.has_min_max else None


def is_rebased(footer: Any, otherwise: bool) -> bool:
    """Whether Spark's reader rebases the old days of a file; `otherwise` counts for files that Spark did not write."""
    said = footer.metadata or {}
    return otherwise if _VERSION not in said else said[_VERSION] < _FIRST_CORRECT or _LEGACY in said


def needs_spark(footer: Any, *, rebase: bool) -> bool:
    """Whether only Spark's own reader makes the rows of a file: it has days of the Julian calendar, or may have, or
    INT96 within others. `rebase`: an option takes old days for those of the Julian calendar.
    """
    leaves = [footer.schema.column(i) for i in range(footer.num_columns)]
    if any(leaf.physical_type == "INT96" and "." in leaf.path for leaf in leaves):
        return True
    has_days = any(leaf.physical_type == "INT96" or leaf.logical_type.type in _DAYS for leaf in leaves)
    return has_days and (rebase or is_rebased(footer, False) or _LEGACY_INT96 in (footer.metadata or {}))


def overflow(path: str, columns: Sequence[str]) -> Diagnostic:
    """The problem of a file with such columns."""
    named = ", ".join(columns)
    return Diagnostic(
        REBASED_OVERFLOW,
        f"{path!r} has a timestamp beyond 64 bits of microseconds in {named}, and days of the Julian calendar: "
        "Spark's reader fails at it",
        path=path,
        expected="moments from -290307-12-21 to +294247-01-10",
        found=named,
        remedy="mend the timestamps in the file, for example with PyArrow, or leave the file out",
    )


@contextmanager
def naming_columns(files: Callable[[], Sequence[str]], storage: SourceStorage = LOCAL) -> Iterator[None]:
    """Name the columns at which Spark may have failed where it has failed at one of the Parquet `files` in this way."""
    try:
        yield
    except SparkFailedError as error:
        path = error.file if _OVERFLOW in error.cause else None
        columns = _timestamps(read_footer(*storage.open(path))) if path is not None and path in files() else ()
        if path is None or not columns:
            raise
        raise IngestError(overflow(path, columns)) from error


def _timestamps(footer: Any) -> tuple[str, ...]:
    leaves = (footer.schema.column(i) for i in range(footer.num_columns))
    return tuple(c.path for c in leaves if c.physical_type == "INT96" or c.logical_type.type == "TIMESTAMP")
