"""Simulate stores in memory that fail, crash and race on command."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from lakebed.store.base import Entry
from lakebed.store.failures import failed, not_empty, not_found, occupied, outcome_unknown, wrong_kind


class SimulatedCrash(BaseException):
    """The process died here. Not an `Exception`, so that no handler of the code under test goes on as if it lived."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One step that a store was asked for. `name` is the method's; deleting a tree is one step for each file."""

    name: str
    path: str


Action: TypeAlias = Callable[[], None]
Entries: TypeAlias = list[Entry]


@dataclass(frozen=True, slots=True)
class _Plan:
    at: int
    action: Action
    after: bool


class MemoryObjectStore:
    """A store with the manners of an object store: a conditional put, no move of a whole tree, no directories.

    A directory that is made is an empty object whose name ends in a slash, as S3's clients do it.

    `operations` records every step. `fail_at`, `crash_at` and `race_at` count steps from the moment they are called,
    the next one being 0; with `after=True` the step has had its effect when the fault strikes.
    """

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self._files: dict[str, bytes] = {_clean(path): data for path, data in (files or {}).items()}
        self._times: dict[str, int] = {}
        #: Milliseconds since 1970, for the times of files.
        self.clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000
        self._lock = threading.RLock()
        self._plans: list[_Plan] = []
        self._outside = 0
        self._dead = False
        self.operations: list[Operation] = []

    # -- faults ------------------------------------------------------------------------------------------------------

    def fail_at(self, step: int, error: Exception | None = None, *, after: bool = False) -> None:
        """Raise `error` once, at that step; by default a `StoreError`, of an unknown outcome where it publishes."""

        def strike() -> None:
            step, lost = self.operations[-1], OSError("injected fault")
            unknown = step.name == "create_if_absent"
            raise error or (outcome_unknown(step.path, lost) if unknown else failed("reach", "the store", lost))

        self._plan(step, strike, after)

    def crash_at(self, step: int, *, after: bool = False) -> None:
        """Die at that step: it raises `SimulatedCrash`, and so does every later one until `restart`."""

        def strike() -> None:
            self._dead = True
            raise SimulatedCrash

        self._plan(step, strike, after)

    def race_at(self, step: int, action: Action, *, after: bool = False) -> None:
        """Let another process do `action` at that step; what it does here is not counted."""
        self._plan(step, action, after)

    def restart(self) -> None:
        """A new process on the same files: no faults, nothing recorded."""
        self._dead = False
        self._plans.clear()
        self.operations.clear()

    def _plan(self, step: int, action: Action, after: bool) -> None:
        self._plans.append(_Plan(len(self.operations) + step, action, after))

    @contextmanager
    def _step(self, name: str, path: str) -> Iterator[str]:
        with self._lock:
            if self._outside:
                yield _clean(path)
                return
            if self._dead:
                raise SimulatedCrash
            number = len(self.operations)
            self.operations.append(Operation(name, _clean(path)))
            self._strike(number, after=False)
            yield _clean(path)
            self._strike(number, after=True)

    def _strike(self, number: int, *, after: bool) -> None:
        for plan in [p for p in self._plans if p.at == number and p.after == after]:
            self._plans.remove(plan)
            self._outside += 1
            try:
                plan.action()
            finally:
                self._outside -= 1

    # -- the store ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, bytes]:
        """A copy of all files."""
        with self._lock:
            return dict(self._files)

    def read(self, path: str) -> bytes:
        """The whole content."""
        with self._step("read", path) as name:
            return self._content(name)

    def read_range(self, path: str, start: int, length: int) -> bytes:
        """`length` bytes from `start`; a negative `start` counts from the end."""
        with self._step("read_range", path) as name:
            data = self._content(name)
            first = start if start >= 0 else max(0, len(data) + start)
            return data[first : first + length]

    def exists(self, path: str) -> bool:
        """Whether a file, or anything below `path`, is there."""
        with self._step("exists", path) as name:
            return name in self._files or any(below != name + "/" for below in self._below(name))

    def size(self, path: str) -> int:
        """Bytes of a file."""
        with self._step("size", path) as name:
            return len(self._content(name))

    def list(self, path: str) -> Entries:
        """The direct children, sorted by name."""
        with self._step("list", path) as name:
            if name in self._files:
                raise wrong_kind(path, "directory")
            return self._children(name)

    def create_if_absent(self, path: str, data: bytes) -> bool:
        """Publish `data` at `path`; False when it exists."""
        with self._step("create_if_absent", path) as name:
            if self._taken(name):
                return False
            self._put(name, data)
            return True

    def replace(self, path: str, data: bytes) -> None:
        """Write `data` at `path`, over what may be there."""
        with self._step("replace", path) as name:
            self._put(name, data)

    def open_output(self, path: str) -> MemoryOutput:
        """Start a file; each `write`, `close` and `discard` of it is a step too."""
        with self._step("open_output", path) as name:
            if self._taken(name):
                raise occupied(path)
            return MemoryOutput(self, name)

    def move(self, source: str, target: str) -> None:
        """Move one file to a place where nothing is yet."""
        with self._step("move", source) as name:
            if self._taken(_clean(target)):
                raise occupied(target)
            self._put(_clean(target), self._content(name))
            del self._files[name]

    def delete(self, path: str) -> None:
        """Delete one file; no error when it is not there."""
        with self._step("delete", path) as name:
            self._files.pop(name, None)

    def delete_tree(self, path: str) -> None:
        """Delete all below `path`, one step for each file."""
        with self._lock:
            root = _clean(path)
            below = sorted([root, *self._below(root)])
            for name in below:
                if name in self._files and not name.endswith("/"):
                    self.delete(name)
            for name in reversed(below):
                if name != "/" and name.endswith("/"):
                    self.remove_directory(name)

    def make_directory(self, path: str) -> None:
        """Put an object that stands for the directory."""
        with self._step("make_directory", path) as name:
            self._files[name.rstrip("/") + "/"] = b""

    def remove_directory(self, path: str) -> None:
        """Delete the object that stands for the directory."""
        with self._step("remove_directory", path) as name:
            if any(below != name + "/" for below in self._below(name)):
                raise not_empty(path)
            self._files.pop(name.rstrip("/") + "/", None)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _content(self, name: str) -> bytes:
        try:
            return self._files[name]
        except KeyError:
            raise (wrong_kind(name, "file") if any(self._below(name)) else not_found(name)) from None

    def _below(self, name: str) -> Iterator[str]:
        prefix = name.rstrip("/") + "/"
        return (path for path in self._files if path.startswith(prefix))

    def _taken(self, name: str) -> bool:
        return name in self._files

    def _put(self, name: str, data: bytes) -> None:
        self._files[name] = bytes(data)
        self._times[name] = self.clock()

    def _children(self, name: str) -> Entries:
        start = len(name.rstrip("/")) + 1
        found: dict[str, Entry] = {}
        for path in self._below(name):
            child, deeper, _ = path[start:].partition("/")
            if not child or (deeper and child in found):
                continue
            size, modified = (0, None) if deeper else (len(self._files[path]), self._times.get(path))
            found[child] = Entry(child, bool(deeper), size, modified)
        return [found[child] for child in sorted(found)]


class MemoryOutput:
    """Implements `Output` in a store in memory; `is_seen` is whether a file grows in its place, for all to see."""

    def __init__(self, store: MemoryObjectStore, name: str, *, is_seen: bool = False) -> None:
        self._store, self._name, self._is_seen = store, name, is_seen
        self._data: bytearray | None = bytearray()
        self.size = 0
        self._show()

    def write(self, data: bytes | memoryview) -> int:
        """Write all of `data`."""
        with self._store._step("write_output", self._name):
            self._content().extend(data)
            self._show()
        self.size += len(data)
        return len(data)

    def close(self) -> None:
        """Make the file whole."""
        with self._store._step("close_output", self._name):
            self._store._put(self._name, bytes(self._content()))
            self._data = None

    def discard(self) -> None:
        """Give the file up."""
        with self._store._step("discard_output", self._name):
            self._data = None
            self._store._files.pop(self._name, None)

    def _content(self) -> bytearray:
        if self._data is None:
            raise failed("write", self._name, ValueError("the file is closed"))
        return self._data

    def _show(self) -> None:
        if self._is_seen:
            self._store._put(self._name, bytes(self._content()))


class MemoryStore(MemoryObjectStore):
    """Implements `DirectoryStore`: like a local file system, directories exist by themselves and can be moved."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        super().__init__(files)
        self._directories: set[str] = {"/"}
        for path in self._files:
            self._make(_parent(path))

    def make_directory(self, path: str) -> None:
        """Make a directory and its parents."""
        with self._step("make_directory", path) as name:
            self._make(name)

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""
        with self._step("remove_directory", path) as name:
            if self._children(name):
                raise not_empty(path)
            self._directories.discard(name)

    def open_output(self, path: str) -> MemoryOutput:
        """Start a file that grows in its place."""
        with self._step("open_output", path) as name:
            if self._taken(name):
                raise occupied(path)
            return MemoryOutput(self, name, is_seen=True)

    def is_directory(self, path: str) -> bool:
        """Whether `path` is a directory, be it empty."""
        with self._step("is_directory", path) as name:
            return name in self._directories

    def is_link(self, path: str) -> bool:
        """Never: there are no links in memory."""
        with self._step("is_link", path):
            return False

    def move_directory(self, source: str, target: str) -> None:
        """Move a directory with all below it to a place where nothing is yet."""
        with self._step("move_directory", source) as name:
            new = _clean(target)
            if name not in self._directories:
                raise not_found(source)
            if self._taken(new):
                raise occupied(target)
            self._make(_parent(new))
            moved = {d for d in self._directories if d == name or d.startswith(name + "/")}
            self._directories = (self._directories - moved) | {new + d[len(name) :] for d in moved}
            for path in list(self._below(name)):
                self._files[new + path[len(name) :]] = self._files.pop(path)
                self._times[new + path[len(name) :]] = self._times.get(path, 0)

    def delete_tree(self, path: str) -> None:
        """Delete a directory and all below it, one step for each file and one for the directories."""
        super().delete_tree(path)
        with self._step("delete_tree", path) as name:
            self._directories -= {d for d in self._directories if d == name or d.startswith(name + "/")}

    def _taken(self, name: str) -> bool:
        return name in self._files or name in self._directories

    def _put(self, name: str, data: bytes) -> None:
        if name in self._directories:
            raise wrong_kind(name, "file")
        self._make(_parent(name))
        super()._put(name, data)

    def _make(self, name: str) -> None:
        while name and name not in self._directories:
            if name in self._files:
                raise wrong_kind(name, "directory")
            self._directories.add(name)
            name = _parent(name)

    def _children(self, name: str) -> Entries:
        found = {entry.name: entry for entry in super()._children(name)}
        start = len(name.rstrip("/")) + 1
        for directory in self._directories:
            if directory.startswith(name.rstrip("/") + "/") and len(directory) > start:
                child = directory[start:].partition("/")[0]
                found[child] = Entry(child, True)
        return [found[child] for child in sorted(found)]

    def exists(self, path: str) -> bool:
        """Whether a file, or a directory with anything in it, is there."""
        with self._step("exists", path) as name:
            return name in self._files or bool(self._children(name))


def _clean(path: str) -> str:
    return path.rstrip("/") or "/"


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or ("/" if path.startswith("/") and path != "/" else "")
