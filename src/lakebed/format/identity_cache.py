"""Keep what functions made of their last arguments, told apart as objects, not by what they hold.

A schema is the same object for all of its ten thousand files, and takes long to compare: it holds all columns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

#: How many answers of a function are kept; then all are forgotten.
_KEPT = 256


def by_identity(function: Callable[[T, K], Any]) -> Callable[[T, K], Any]:
    """The function, which is asked once for the same object and an equal key.

    The object must be one that does not change. It is kept as long as its answer, so that no other takes its place.
    """
    known: dict[tuple[int, K], tuple[T, Any]] = {}

    @wraps(function)
    def ask(value: T, key: K) -> Any:
        found = known.get((id(value), key))
        if found is None:
            if len(known) >= _KEPT:
                known.clear()
            found = known[id(value), key] = value, function(value, key)
        return found[1]

    return ask
