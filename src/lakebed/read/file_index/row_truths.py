"""Evaluate a predicate for each row of a file, by indexes that know the rows.

Between the leaves of one row nothing is taken as independent that is not: `a = 1 AND b = 2` is impossible where no row
has both, though some have either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

from lakebed.read.file_index.exact import ExactIndex
from lakebed.read.file_index.roaring import BitMap
from lakebed.read.file_index.spans import Reach, Span
from lakebed.read.predicate import (
    And,
    Compare,
    Constant,
    IsIn,
    IsNull,
    Leaf,
    Not,
    Opaque,
    Or,
    Predicate,
    StartsWith,
    Truths,
)


@dataclass(frozen=True, slots=True)
class RowTruths:
    """The rows for which a predicate may be true, false and NULL; a row is in as many of them as it must be."""

    true: BitMap
    false: BitMap
    null: BitMap

    @property
    def negated(self) -> RowTruths:
        """The same for the negation."""
        return RowTruths(self.false, self.true, self.null)

    def both(self, other: RowTruths) -> RowTruths:
        """The same for the conjunction with another predicate."""
        null = (self.null & (other.true | other.null)) | (other.null & self.true)
        return RowTruths(self.true & other.true, self.false | other.false, null)

    def less(self, other: RowTruths) -> RowTruths:
        """What two sources of one predicate both leave open."""
        return RowTruths(self.true & other.true, self.false & other.false, self.null & other.null)

    def truths(self, deleted: BitMap) -> Truths:
        """What the predicate may be over all rows that are not deleted."""
        found = Truths.TRUE if self.true - deleted else Truths.NONE
        found |= Truths.FALSE if self.false - deleted else Truths.NONE
        return found | (Truths.NULL if self.null - deleted else Truths.NONE)

    def count(self, deleted: BitMap) -> int | None:
        """How many rows that are not deleted make it true; None where that is not certain of each."""
        true = self.true - deleted
        return len(true) if true.isdisjoint(self.false | self.null) else None


def uniform(truths: Truths, rows: int) -> RowTruths:
    """Every row may be all that some row may be."""
    import pyroaring

    every, none = pyroaring.BitMap(range(rows)), pyroaring.BitMap()
    return RowTruths(*(every if t in truths else none for t in (Truths.TRUE, Truths.FALSE, Truths.NULL)))


def of_predicate(predicate: Predicate, of_leaf: Callable[[Leaf], RowTruths], rows: int) -> RowTruths:
    """The truths of each row of a file, by those of the leaves."""

    def of(part: Predicate) -> RowTruths:
        return of_predicate(part, of_leaf, rows)

    match predicate:
        case Compare() | IsIn() | IsNull() | StartsWith():
            return of_leaf(predicate)
        case Constant(value=value):
            return uniform(Truths.NULL if value is None else Truths.TRUE if value else Truths.FALSE, rows)
        case Opaque():
            return uniform(Truths.ANY, rows)
        case Not(part=part):
            return of(part).negated
        case And(parts=parts):
            return reduce(RowTruths.both, map(of, parts))
        case Or(parts=parts):
            return reduce(RowTruths.both, (of(part).negated for part in parts)).negated
    assert_never(predicate)


def of_index(index: ExactIndex, asked: Reach | None) -> RowTruths | None:
    """The truths of each row by one index; `asked` None is `IS NULL`. None where telling them would take too long."""
    import pyroaring

    null = index.null_rows()
    known = null.flip(0, index.rows)
    if asked is None:
        return RowTruths(null, known, pyroaring.BitMap())
    if not asked.exact:
        true, false = _rows(index, asked.true), _rows(index, asked.false)
        return None if true is None or false is None else RowTruths(true, false, null)
    if len(asked.true) <= len(asked.false):
        true = _rows(index, asked.true)
        return None if true is None else RowTruths(true, known - true, null)
    false = _rows(index, asked.false)
    return None if false is None else RowTruths(known - false, false, null)


def _rows(index: ExactIndex, spans: tuple[Span, ...]) -> BitMap | None:
    import pyroaring

    parts = []
    for span in spans:
        found = index.rows_in(span)
        if found is None:
            return None
        parts.append(found)
    return pyroaring.BitMap.union(pyroaring.BitMap(), *parts)
