"""Read the footers of many files at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

_Found = TypeVar("_Found")
_READERS = 8


def of_each_file(read: Callable[..., _Found], *arguments: Iterable[Any]) -> Iterator[_Found]:
    """What `read` gives for each file, in order, as `map` would; what it raises is raised."""
    with ThreadPoolExecutor(_READERS) as pool:
        yield from pool.map(read, *arguments)
