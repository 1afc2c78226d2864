"""Compute which keys of an index make a comparison true, and which make it false.

A cut lies just below a key, `(key, 0)`, or just above it, `(key, 1)`; a span is what lies between two cuts, None being
no limit. A key is inside where `(key, 0)` is not below the lower cut, and below the upper one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from lakebed.read.file_index.keys import Coding, Key
from lakebed.read.predicate import Compare, IsIn, Leaf, Operator, StartsWith

Cut: TypeAlias = tuple[Key, int]
Span: TypeAlias = tuple[Cut | None, Cut | None]


@dataclass(frozen=True, slots=True)
class Reach:
    """The spans whose keys may make a leaf true, and those that may make it false; both are sorted and disjoint.

    Where `exact`, no key is in both. `equal` holds the keys that an equality asks for, None where the leaf asks for
    other than certain keys.
    """

    true: tuple[Span, ...]
    false: tuple[Span, ...]
    exact: bool
    equal: tuple[Key, ...] | None = None

    @property
    def negated(self) -> Reach:
        """The same for the leaf's negation."""
        return Reach(self.false, self.true, self.exact)


def reach(leaf: Leaf, coding: Coding) -> Reach | None:
    """Where a leaf is true and false; None where the leaf cannot be said in keys (also `IS NULL`, which has none)."""
    match leaf:
        case Compare(operator=operator, value=value):
            keys = coding.keys(value)
            return _compared(operator, keys, coding.exact) if keys else None
        case IsIn(values=values):
            asked = [coding.keys(value) for value in values]
            if not all(asked):
                return None
            return _among(tuple(sorted({key for keys in asked for key in keys})), coding.exact)
        case StartsWith(prefix=prefix):
            keys = coding.keys(prefix)
            start = keys[0] if keys else None
            return _prefixed(start) if isinstance(start, bytes) else None
        case _:
            return None


def _compared(operator: Operator, keys: tuple[Key, ...], exact: bool) -> Reach:
    below, above = (keys[0], 0), (keys[-1], 1)
    match operator:
        case Operator.EQUAL:
            return _among(keys, exact)
        case Operator.NOT_EQUAL:
            return _among(keys, exact).negated
        case Operator.LESS:
            return _halves(below if exact else above, below, exact)
        case Operator.LESS_OR_EQUAL:
            return _halves(above, above if exact else below, exact)
        case Operator.GREATER:
            return _compared(Operator.LESS_OR_EQUAL, keys, exact).negated
        case Operator.GREATER_OR_EQUAL:
            return _compared(Operator.LESS, keys, exact).negated
    assert_never(operator)


def _halves(true_end: Cut, false_start: Cut, exact: bool) -> Reach:
    return Reach(((None, true_end),), ((false_start, None),), exact)


def _among(keys: tuple[Key, ...], exact: bool) -> Reach:
    spans: tuple[Span, ...] = tuple(((key, 0), (key, 1)) for key in keys)
    return Reach(spans, _outside(spans) if exact else ((None, None),), exact, keys)


def _prefixed(prefix: bytes) -> Reach:
    if not prefix:
        return Reach(((None, None),), (), True)
    # No byte of UTF-8 is 0xFF, so that the last one always has a successor.
    after = prefix[:-1] + bytes([prefix[-1] + 1])
    spans: tuple[Span, ...] = (((prefix, 0), (after, 0)),)
    return Reach(spans, _outside(spans), True)


def _outside(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """What lies between sorted, disjoint spans, below and above them."""
    found: list[Span] = []
    start: Cut | None = None
    for low, high in spans:
        found.append((start, low))
        start = high
    return (*found, (start, None))
