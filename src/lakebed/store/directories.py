"""Declare what a storage with real directories can do beyond `Store`, which object stores cannot: `DirectoryStore`."""

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


@runtime_checkable
class NamingStore(Protocol):
    """A store to which names alone cost less than `list`, which looks at each file for its size and its time."""

    def file_names(self, path: str) -> list[str]:
        """The names of the children that are no directories, in no order; none of a directory that does not exist."""
        ...


def file_names(store: Store, path: str) -> list[str]:
    """The names of what `store.list` has that is no directory, in no order."""
    if isinstance(store, NamingStore):
        return store.file_names(path)
    return [entry.name for entry in store.list(path) if not entry.is_directory]
