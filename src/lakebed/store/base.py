"""Declare `Store`, the only way in which metadata touches bytes. Paths are absolute POSIX paths or URLs, as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Entry:
    """One child of a directory. `size` is in bytes, 0 for a directory.

    `modified` is in milliseconds since 1970, by the storage's clock; None where the storage does not say.
    """

    name: str
    is_directory: bool
    size: int = 0
    modified: int | None = field(default=None, compare=False)


class Output(Protocol):
    """A file that is being written, from its first byte to its last."""

    @property
    def size(self) -> int:
        """How many bytes have been written."""
        ...

    def write(self, data: bytes | memoryview) -> int:
        """Write all of `data`; how many bytes that were."""
        ...

    def close(self) -> None:
        """Make the file whole and durable. After an error it is as unfinished as before: `discard` it."""
        ...

    def discard(self) -> None:
        """Give the file up, also one that is closed: nothing of it stays. May be repeated."""
        ...


class Store(Protocol):
    """What a storage must be able to do. A path that does not exist raises `NotFoundError` where a value is owed."""

    def read(self, path: str) -> bytes:
        """The whole content."""
        ...

    def read_range(self, path: str, start: int, length: int) -> bytes:
        """`length` bytes from `start`; a negative `start` counts from the end. Fewer bytes when the file is shorter."""
        ...

    def exists(self, path: str) -> bool:
        """Whether a file, or a directory with anything below it, is there."""
        ...

    def size(self, path: str) -> int:
        """Bytes of a file."""
        ...

    def list(self, path: str) -> list[Entry]:
        """The direct children, sorted by name; empty for a directory that does not exist. Other failures are raised."""
        ...

    def create_if_absent(self, path: str, data: bytes) -> bool:
        """Publish `data` at `path` atomically and durably. False when `path` exists; it is never overwritten.

        An `OutcomeUnknownError` says that `data` may be there, or may still appear.
        """
        ...

    def replace(self, path: str, data: bytes) -> None:
        """Write `data` at `path` atomically, over what may be there. For hints and records, never for versions."""
        ...

    def open_output(self, path: str) -> Output:
        """Start a file at `path`, a name that nobody else has, and write it as it comes, without a copy elsewhere.

        It is no file for readers before `close`: some of it may be seen at `path` by then. Where a storage can tell
        at once that something is there, that is an `AlreadyExistsError`; nothing is ever written over on such.
        """
        ...

    def move(self, source: str, target: str) -> None:
        """Move one file to a place where nothing is yet."""
        ...

    def delete(self, path: str) -> None:
        """Delete one file; no error when it is not there."""
        ...

    def delete_tree(self, path: str) -> None:
        """Delete a directory and all below it; symbolic links are removed, never followed."""
        ...

    def make_directory(self, path: str) -> None:
        """Make a directory and its parents, or what stands for it where a storage knows no directories."""
        ...

    def remove_directory(self, path: str) -> None:
        """Remove a directory that is empty, or what stands for it; a directory that is not empty is an error."""
        ...
