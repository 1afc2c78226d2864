"""Check the storage of a warehouse: whether it takes files and publishes exclusively, and what its clock says."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from lakebed.catalog import PathFactory, TableManager, open_warehouse
from lakebed.doctor.report import Check, State, checked
from lakebed.errors import LakebedError, StoreError
from lakebed.redaction import redact
from lakebed.store import DirectoryStore, Store, temporary
from lakebed.store.safe_delete import Inside

BAD_CLOCK = "LB7072"
BROKEN_PROMISE = "LB7071"

_WRITERS = 4
_ROUNDS = 3
#: Storages say times to the second, and an answer takes a while.
_MOST_SKEW_MILLIS = 5_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a warehouse is, and how it is reached; as `lakebed.open` takes it."""

    warehouse: str
    layout: str = "auto"
    storage_options: Mapping[str, Any] | None = None
    allow_overwrite_races: bool = False

    def open(self) -> tuple[PathFactory, Store]:
        """Its paths and its store. Raises `LakebedError`."""
        return open_warehouse(
            self.warehouse,
            layout=self.layout,
            storage_options=self.storage_options,
            allow_overwrite_races=self.allow_overwrite_races,
        )


def check_storage(place: Place, clock: Callable[[], int], *, write: bool) -> list[Check]:
    """The warehouse, and where it is reached and may be written to, how its storage publishes and its clock.

    What is written lies in one directory of the warehouse, which is removed again; `clock` gives milliseconds.
    """
    reached = checked("warehouse", lambda: _described(place))
    if reached.state is not State.OK or not write:
        return [reached]
    paths, store = place.open()
    scratch = _Scratch(store, paths.warehouse)
    checks = [reached]
    try:
        checks += _written(scratch, place, clock)
    finally:
        left = checked("scratch", scratch.remove)
    return checks if left.state is State.OK else [*checks, left]


def _described(place: Place) -> str:
    paths, store = place.open()
    databases = TableManager(paths, store).list_databases()
    count = f"{len(databases):,} database{'' if len(databases) == 1 else 's'}"
    return f"{redact(paths.warehouse)} ({paths.layout.value} layout, {count})"


def _written(scratch: _Scratch, place: Place, clock: Callable[[], int]) -> list[Check]:
    writable = checked("writable", scratch.write)
    if writable.state is not State.OK:
        return [writable]
    return [writable, _publishing(scratch, place), _clock(scratch, clock)]


class _Scratch:
    """A directory in the warehouse that nobody else has. The clean-up of orphan files knows it, too."""

    def __init__(self, store: Store, root: str) -> None:
        self.store = store
        self._inside = Inside(store, root)
        self._parent = f"{root}/{temporary.SCRATCH}"
        self.path = f"{self._parent}/{temporary.scratch_list()}"

    def write(self) -> str:
        """Write a file, and read it."""
        self._inside.check(f"{self.path}/written")
        self.store.replace(f"{self.path}/written", b"lakebed")
        if self.store.read(f"{self.path}/written") != b"lakebed":
            raise StoreError.of(BROKEN_PROMISE, "the storage gives back other bytes than were written", path=self.path)
        return "a file was written, read and removed"

    def remove(self) -> str:
        """Remove it, and the directory of such directories where it is empty then."""
        self._inside.delete_tree(self.path)
        if isinstance(self.store, DirectoryStore) and self.store.is_directory(self._parent):
            # Where another run has a directory in it, the storage refuses.
            with suppress(StoreError):
                self._inside.remove_directory(self._parent)
        return "removed"


def _publishing(scratch: _Scratch, place: Place) -> Check:
    """Let several writers publish one name at the same time: one has to win, and its bytes have to stay."""
    name = "publishing"

    def look() -> str:
        for number in range(_ROUNDS):
            _race(scratch.store, f"{scratch.path}/published-{number}")
        return f"exclusive: of {_WRITERS} writers of one name one won, {_ROUNDS} times"

    found = checked(name, look)
    if place.allow_overwrite_races and getattr(scratch.store, "is_exclusive", True) is False:
        remedy = "let only one process write, or use a storage with conditional writes"
        problem = "the storage cannot create a file exclusively, and allow_overwrite_races accepts that"
        return Check(name, State.WARN, problem, found.code or "LB3605", remedy)
    return found


def _race(store: Store, path: str) -> None:
    """Raise `StoreError` unless exactly one of several writers wins, also against one that comes later."""
    start = threading.Barrier(_WRITERS)

    def publish(writer: int) -> bool:
        start.wait()
        return store.create_if_absent(path, str(writer).encode())

    with ThreadPoolExecutor(_WRITERS, "lakebed-doctor") as pool:
        won = [writer for writer, has_won in enumerate(pool.map(publish, range(_WRITERS))) if has_won]
    late = store.create_if_absent(path, b"late")
    kept = store.read(path)
    if len(won) != 1 or late or kept != str(won[0]).encode():
        raise StoreError.of(
            BROKEN_PROMISE,
            f"{len(won) + late} of {_WRITERS + 1} writers of one name believe that they have won",
            path=path,
            expected="one",
            remedy="use another storage: two writers of one version would both go on, and one would lose its rows",
        )


def _clock(scratch: _Scratch, clock: Callable[[], int]) -> Check:
    """Compare this machine's clock with the time that the storage gives a file."""
    name, path = "clock", f"{scratch.path}/timed"
    try:
        before = clock()
        scratch.store.replace(path, b"")
        after = clock()
        entry = next(e for e in scratch.store.list(scratch.path) if e.name == "timed")
    except LakebedError as error:
        return Check.of(name, error.diagnostics[0])
    if entry.modified is None:
        return Check(name, State.OK, "the storage does not say when a file was written")
    skew = entry.modified - after if entry.modified > after else min(entry.modified - before, 0)
    # Times to the second are cut off.
    skew = 0 if -1000 < skew < 0 and entry.modified % 1000 == 0 else skew
    if abs(skew) <= _MOST_SKEW_MILLIS:
        return Check(name, State.OK, f"that of the storage, but for {abs(skew) / 1000:.1f} s")
    behind = "ahead of" if skew > 0 else "behind"
    return Check(
        name,
        State.WARN,
        f"the storage's clock is {abs(skew) / 1000:,.0f} s {behind} this machine's",
        BAD_CLOCK,
        "let both follow a time server (chrony, systemd-timesyncd): ages of files decide what is cleaned up",
    )


def wall_clock() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000
