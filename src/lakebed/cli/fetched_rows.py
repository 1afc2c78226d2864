"""Fetch rows that a command prints: of a table, or the bad ones of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from lakebed.cli.invocation import Session
from lakebed.errors import LakebedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from lakebed.lake import Lake

_DEFAULT_LIMIT = 20


def row_limit(session: Session, asked: int | None) -> int:
    """How many rows are printed at most, 0 for all: without a number 20, and all as JSON."""
    if asked is not None:
        return asked
    return 0 if session.json_mode else _DEFAULT_LIMIT


@dataclass(frozen=True, slots=True)
class FetchedRows:
    """Rows on their way to a reader: for JSON one by one, for people all that are shown."""

    names: list[str]
    rows: Iterator[Row]
    encode: Callable[[Any], list[Any]]
    limit: int

    @classmethod
    def of(
        cls, session: Session, lake: Lake, frame: DataFrame, limit: int, progress: Callable[[str], None]
    ) -> FetchedRows:
        """The first rows of a frame. Spark runs now, and for JSON goes on while they are printed."""
        from lakebed.render.rows import row_encoder
        from lakebed.spark.counted_moments import with_counted_moments

        encode = row_encoder(frame.schema, lake.time_zone)
        # Moments of any year come as numbers, which Python can hold.
        names, frame = frame.columns, with_counted_moments(frame)
        progress("reading")
        rows = _stream_rows(frame, limit) if session.json_mode else _collect_rows(frame, limit)
        return cls(names, rows, encode, limit)

    def print_json(self, session: Session) -> None:
        """Print one JSON object a line."""
        for row in self.rows:
            session.output.row(dict(zip(self.names, self.encode(row), strict=True)))

    def shown(self) -> tuple[list[list[Any]], bool]:
        """The values of the rows, and whether there are more rows."""
        values = [self.encode(row) for row in self.rows]
        more = 0 < self.limit < len(values)
        return values[: self.limit] if more else values, more


@contextmanager
def showable() -> Iterator[None]:
    """What Python cannot hold, such as the year 0 in a VARIANT, is a `ValueError` while rows are fetched."""
    try:
        yield
    except (ValueError, OverflowError) as error:
        raise LakebedError.of(
            "LB7013",
            f"a value cannot be shown: {error}",
            remedy="make it a text with --select 'cast(COLUMN as string) as COLUMN'",
        ) from error


def _stream_rows(frame: DataFrame, limit: int) -> Iterator[Row]:
    """The rows one by one, the first of them there already."""
    rows = iter((frame.limit(limit) if limit else frame).toLocalIterator(prefetchPartitions=True))
    return chain(list(islice(rows, 1)), rows)


def _collect_rows(frame: DataFrame, limit: int) -> Iterator[Row]:
    """One row more than the limit, where there is one, which tells that there is."""
    return iter((frame.limit(limit + 1) if limit else frame).collect())
