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
