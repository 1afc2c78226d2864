"""Delete only what really lies below a directory, whatever links say. `Inside` is the one way to delete."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from lakebed.errors import StoreError
from lakebed.store.base import Entry, Store
from lakebed.store.directories import DirectoryStore

OUTSIDE = "LB3610"


@dataclass(frozen=True, slots=True)
class Inside:
    """Looks at and deletes what lies below `root`, which may itself be reached through a link.

    Between `root` and what is deleted there must be no link: what is behind one may be somebody else's, or lie
    elsewhere in the same table under other rules. A link itself can be deleted; what it leads to stays.
    """

    store: Store
    root: str
    #: The store where it knows links; asked once, since many files may go.
    _links: DirectoryStore | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_links", self.store if isinstance(self.store, DirectoryStore) else None)

    def list(self, path: str) -> list[Entry]:
        """The children of a directory; none of one that is a link, or behind one."""
        return self.store.list(path) if self._is_real(path) else []

    def is_link(self, path: str) -> bool:
        """Whether `path` is a link; never where a storage knows none."""
        return self._links is not None and self._links.is_link(path)

    def delete(self, path: str) -> None:
        """Delete one file or link. Raises `StoreError` (LB3610) for what lies elsewhere."""
        self.check(path)
        self.store.delete(path)

    def delete_all(self, paths: Iterable[str], threads: int = 1) -> None:
        """Delete files, so many at a time; with more than one thread in no order. Raises as `delete`, for the first
        that cannot be deleted: others are gone by then, or stay.
        """
        if threads <= 1:
            for path in paths:
                self.delete(path)
            return
        with ThreadPoolExecutor(threads, "lakebed-delete") as pool:
            try:
                for _ in pool.map(self.delete, paths):
                    pass
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def delete_tree(self, path: str) -> None:
        """Delete a directory, `root` itself perhaps, and all below it; of a link, the link. Raises as `delete`."""
        self.check(path)
        self.store.delete_tree(path)

    def remove_directory(self, path: str) -> None:
        """Remove a directory that is empty. Raises as `delete`, and where it is not empty."""
        self.check(path)
        self.store.remove_directory(path)

    def check(self, path: str) -> None:
        """Raise `StoreError` (LB3610) for what may not be deleted."""
        root = self.root.rstrip("/")
        if path.rstrip("/") == root:
            return
        if not self._is_below(path):
            raise _outside(path, self.root, "it lies elsewhere")
        parent = path.rstrip("/").rpartition("/")[0]
        if not self._is_real(parent):
            raise _outside(path, self.root, "it lies behind a link")

    def _is_below(self, path: str) -> bool:
        root = self.root.rstrip("/")
        return path.startswith(f"{root}/") and not {".", "..", ""} & set(path[len(root) + 1 :].rstrip("/").split("/"))

    def _is_real(self, path: str) -> bool:
        """Whether no link lies between the root and this directory, the directory itself included."""
        root, store = self.root.rstrip("/"), self._links
        if path.rstrip("/") == root:
            return True
        if not self._is_below(path):
            return False
        if store is None:
            return True
        steps = path[len(root) + 1 :].rstrip("/").split("/")
        return not any(store.is_link("/".join((root, *steps[: n + 1]))) for n in range(len(steps)))


def _outside(path: str, root: str, why: str) -> StoreError:
    return StoreError.of(
        OUTSIDE,
        f"{path} is not deleted: {why}, not in the directory {root} itself",
        path=path,
        expected=f"a path below {root} with no link on the way",
        remedy="Put the directory itself where the link is, or delete the file by hand if it is yours.",
    )
