"""Fetch rows that a command prints, by Spark or as Arrow batches without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from lakebed.cli.invocation import Session
from lakebed.errors import LakebedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lakebed.arrow.read_batches import BatchRead
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
    rows: Iterator[list[Any]]
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
        return cls(names, map(encode, rows), limit)

    @classmethod
    def of_batches(cls, session: Session, lake: Lake, read: BatchRead, limit: int) -> FetchedRows:
        """The rows of a read, one more than the limit where it has one. Those that people see are all read now."""
        from lakebed.render.rows import batch_rows

        rows = batch_rows(read.batches(), read.fields, lake.time_zone)
        if session.json_mode:
            rows = _begun(islice(rows, limit) if limit else rows)
        return cls([f.name for f in read.fields], iter(rows if session.json_mode else list(rows)), limit)

    def print_json(self, session: Session) -> None:
        """Print one JSON object a line."""
        for row in self.rows:
            session.output.row(dict(zip(self.names, row, strict=True)))

    def shown(self) -> tuple[list[list[Any]], bool]:
        """The values of the rows, and whether there are more rows."""
        values = list(self.rows)
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


def _stream_rows(frame: DataFrame, limit: int) -> Iterator[Any]:
    """The rows one by one, the first of them there already."""
    return _begun((frame.limit(limit) if limit else frame).toLocalIterator(prefetchPartitions=True))


def _begun(rows: Iterable[Any]) -> Iterator[Any]:
    """The same, the first of them read now."""
    left = iter(rows)
    return chain(list(islice(left, 1)), left)


def _collect_rows(frame: DataFrame, limit: int) -> Iterator[Any]:
    """One row more than the limit, where there is one, which tells that there is."""
    return iter((frame.limit(limit + 1) if limit else frame).collect())
