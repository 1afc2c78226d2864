"""Choose how far one batch of a stream goes, within limits: whole parts in order. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from lakebed.data_source.stream_offset import Offset, StreamPlace
from lakebed.errors import ConflictError, LakebedError
from lakebed.format.live_files import DataFile


@dataclass(frozen=True, slots=True)
class Part:
    """Files that are read together, since rows of one may replace rows of another; most often one file.

    `merge`: only a merge of all of them gives the table's rows. `kinds`: rows are changes, with kinds of their own.
    """

    files: tuple[DataFile, ...]
    snapshot: int
    number: int
    merge: bool = False
    kinds: bool = False

    @property
    def rows(self) -> int:
        """Physical rows."""
        return sum(f.meta.row_count for f in self.files)

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(f.size for f in self.files)


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """What one batch may take at most; None is no limit. A first part that exceeds them is a batch of its own."""

    files: int | None = None
    size: int | None = None
    rows: int | None = None

    def holds(self, files: int, size: int, rows: int) -> bool:
        """Whether this is within the limits."""
        pairs = (self.files, files), (self.size, size), (self.rows, rows)
        return all(limit is None or taken <= limit for limit, taken in pairs)


NO_LIMITS = BatchLimits()


class StreamHistory(Protocol):
    """What a stream knows of a table. Snapshots are immutable, so all answers about one stay the same."""

    def parts(self, place: StreamPlace) -> Sequence[Part]:
        """All parts of the place's snapshot, in an order that never changes."""

    def identity(self, snapshot: int) -> str | None:
        """What tells a snapshot from another one of its number; None where it is not there."""


def advance(history: StreamHistory, start: Offset, limits: BatchLimits, newest: int) -> Offset:
    """The end of the batch that begins at `start`: `start` itself where snapshots up to `newest` hold no more.

    Snapshots without parts are passed over, so that a checkpoint does not depend on them. A snapshot that stops the
    stream does so at the beginning of a batch: what lies before it is a batch of its own.
    """
    at, files, size, rows = start.at, 0, 0, 0
    while at.snapshot <= newest:
        try:
            parts = history.parts(at)
        except LakebedError:
            if not files:
                raise
            break
        for part in parts[at.part :]:
            taken = files + len(part.files), size + part.size, rows + part.rows
            if files and not limits.holds(*taken):
                return _offset(history, start.origin, at)
            files, size, rows = taken
            at = at.next_part()
        at = at.next_snapshot()
    return start if at == start.at else _offset(history, start.origin, at)


def begin(history: StreamHistory, at: StreamPlace) -> Offset:
    """The offset of a stream that begins at a place."""
    return _offset(history, at, at)


def _offset(history: StreamHistory, origin: StreamPlace, at: StreamPlace) -> Offset:
    read = history.identity(Offset(origin, at).read_snapshot)
    return Offset(origin, at, read, digest(history.parts(at)[: at.part]) if at.part else None)


def between(history: StreamHistory, start: Offset, end: Offset) -> Iterator[Part]:
    """The parts of the batch from `start` to `end`, in order; the same whenever it is asked for.

    A batch that begins where the stream begins begins where `end` says that it did.
    """
    at = start.at
    if start.origin != end.origin:
        if start.at != start.origin:
            raise changed_history(f"the stream began at {end.origin}, not at {start.origin}")
        at = end.origin
    while at.snapshot < end.at.snapshot:
        yield from history.parts(at)[at.part :]
        at = at.next_snapshot()
    if end.at.part > at.part:
        yield from history.parts(end.at)[at.part : end.at.part]


def check_history(history: StreamHistory, offset: Offset, newest: int | None) -> None:
    """Raise ConflictError (LB5618) where the table does not have the history that was read up to `offset`.

    Snapshots that have expired cannot be compared; that they are gone is said where they are needed.
    """
    at, newest = offset.at, newest or 0
    if offset.read_snapshot > newest:
        raise changed_history(f"snapshot {offset.read_snapshot} has been read, and the newest is {newest or 'none'}")
    known = history.identity(offset.read_snapshot)
    if known is not None and offset.read is not None and known != offset.read:
        raise changed_history(f"snapshot {offset.read_snapshot} is not the one that has been read")
    if at.part and digest(history.parts(at)[: at.part]) != offset.parts:
        raise changed_history(f"the first {at.part} parts of snapshot {at.snapshot} are not those that have been read")


def digest(parts: Sequence[Part]) -> str:
    """What tells a sequence of parts from another one."""
    names = "\n".join("\t".join(f.meta.file_name for f in part.files) for part in parts)
    return f"{len(parts)}-{sha256(names.encode()).hexdigest()[:16]}"


def changed_history(message: str) -> LakebedError:
    """The error of a table that is not the one that was read."""
    return ConflictError.of(
        "LB5618",
        f"the table has another history than the stream has read: {message}",
        remedy="the table was rolled back or made anew: begin with a new checkpoint",
    )
