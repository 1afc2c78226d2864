"""Commit the next version of a table, made again after each lost race."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol

from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConflictError, RefusedError, ValidationError

RACE = "LB3128"
GAVE_UP = "LB3609"

#: So many lost races in a row mean that something else is wrong.
MOST = 200
#: Seconds after the second lost race, doubled so many times at most.
_FIRST_WAIT = 0.005
_LONGEST_WAIT = 6


class Versions(Protocol):
    """Where the versions of one table are kept: a `SchemaManager`."""

    @property
    def label(self) -> str:
        """What messages call the table."""

    def path(self, schema_id: int) -> str:
        """The file of a version."""

    def load_latest_schema(self) -> TableSchema:
        """The newest version."""

    def refuse_newer(self, schema: TableSchema) -> None:
        """Raise for a version that cannot be written on."""

    def publish(self, schema: TableSchema) -> bool:
        """Make the file of a version; False when somebody else was first."""

    def as_stored(self, schema: TableSchema) -> TableSchema:
        """A version that was published, as it is read again."""


def commit_version(
    versions: Versions,
    base: TableSchema,
    make: Callable[[TableSchema], TableSchema],
    is_meant: Callable[[TableSchema, TableSchema], bool],
    *,
    code: str = RACE,
) -> TableSchema:
    """Publish the version that `make` makes of `base`, the newest; `base`, and nothing written, where it says the same.

    After a lost race it is made again of the newer version, unless `is_meant`, which gets the version that it was made
    of before and the newer one, denies that it would be the same change there.

    Raises:
        ConflictError: somebody was first, and the version is not meant, or refused, after the newer one.
        RefusedError, ValidationError: the version is refused after the one that was there first.
        UnsupportedError: the newest version is newer than this Lakebed.
    """
    former = base
    for lost in _attempts(versions.label):
        versions.refuse_newer(base)
        try:
            if lost and not is_meant(former, base):
                raise conflict(versions, code, base.id)
            new = make(base)
        except (RefusedError, ValidationError) as error:
            if lost:
                raise conflict(versions, code, base.id, *error.diagnostics) from error
            raise
        if says_the_same(base, new):
            return base
        if versions.publish(new):
            return versions.as_stored(new)
        _part(lost)
        former, base = base, versions.load_latest_schema()
    raise AssertionError("the last attempt returns or raises")


def conflict(versions: Versions, code: str, newest: int, *reasons: Diagnostic) -> ConflictError:
    """Somebody else has made the version `newest` first."""
    message = f"somebody else changed {versions.label} first; its newest version is now {newest}"
    remedy = "Look at the present schema and make the change again."
    return ConflictError(Diagnostic(code, message, path=versions.path(newest), remedy=remedy), *reasons)


def says_the_same(base: TableSchema, new: TableSchema) -> bool:
    """Whether a next version differs from its base in nothing but its number and its time."""
    return replace(new, id=base.id, time_millis=base.time_millis, version=base.version) == base


def _attempts(table: str) -> Iterator[int]:
    """Numbers the attempts from 0.

    Raises:
        ConflictError: the last attempt (LB3609) was lost too.
    """
    yield from range(MOST)
    raise ConflictError.of(
        GAVE_UP,
        f"{MOST} attempts to make the next version of {table} lost the race against others; nothing was written",
        path=table,
        remedy="Look at who changes this table, and repeat the command when it is quiet.",
    )


def _part(attempt: int) -> None:
    """Wait after a lost attempt, but the first, so that rivals who step on each other's feet part."""
    if attempt:
        time.sleep(random.uniform(0, _FIRST_WAIT * 2.0 ** min(attempt, _LONGEST_WAIT)))
