"""Declare `DirectoryStore`, what a storage with real directories can do beyond `Store`. Object stores cannot."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from lakebed.store.base import Store


@runtime_checkable
class DirectoryStore(Store, Protocol):
    """A store whose directories exist by themselves and can be moved in one step.

    Ask with `isinstance(store, DirectoryStore)`; code has to work without it.
    """

    def is_directory(self, path: str) -> bool:
        """Whether `path` is a directory, be it empty; a link to a directory counts."""
        ...

    def is_link(self, path: str) -> bool:
        """Whether `path` is a symbolic link."""
        ...

    def move_directory(self, source: str, target: str) -> None:
        """Move a directory with all below it, atomically, to a place where nothing is yet."""
        ...
