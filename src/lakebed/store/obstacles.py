"""Refuse a directory or a broken link that takes the name of a file to be created once.

Such a thing takes the name and is no version, snapshot or tag, so that trying again would never end.
"""

from __future__ import annotations

from lakebed.errors import NotFoundError, StoreError, WrongKindError
from lakebed.store.base import Store

IN_THE_WAY = "LB3608"


def refuse_obstacle(store: Store, path: str, what: str) -> None:
    """Raise `StoreError` (LB3608) where the name of a file is taken by something that is no file.

    `what` is the thing that belongs there, for the message. A file, and nothing at all, are no obstacle.
    """
    directory, _, name = path.rpartition("/")
    entry = next((e for e in store.list(directory) if e.name == name), None)
    if entry is None:
        return
    if entry.is_directory:
        kind = "a directory"
    elif not _is_there(store, path):
        kind = "a link that leads to nothing"
    else:
        return
    raise StoreError.of(
        IN_THE_WAY,
        f"{path} is {kind}, and {what} belongs there",
        path=path,
        expected="a file, or nothing",
        found=kind,
        remedy="Look at what is there and move it away, then repeat the command: nothing was published.",
    )


def is_file(store: Store, path: str) -> bool:
    """Whether a file is there; a directory is none, and neither is a link that leads nowhere."""
    try:
        store.size(path)
    except (NotFoundError, WrongKindError):
        return False
    return True


def _is_there(store: Store, path: str) -> bool:
    try:
        return store.exists(path)
    except (StoreError, NotFoundError):
        return False
