"""Find the values in Arrow columns that break a rule for stored values, and count their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.exact_values import is_exact
from lakebed.arrow.java_patterns import LINE_ENDS, same_pattern
from lakebed.arrow.row_filter import matching_rows
from lakebed.evolve.value_rules import Exact, Matching, NoLonger, Unique, Untold, ValueRule
from lakebed.physical import paimon_types as p
from lakebed.physical.paimon_types import DataField, DataType
from lakebed.printable import one_line
from lakebed.read.unfit_values import MOST_VALUES, UntoldError, unfit

#: So many characters of a value are shown.
_SHOWN = 40
#: So many bytes of values are held at once to find those that come twice.
_MOST_HELD = 512 << 20
_VALUE, _ROW = "value", "row"


@dataclass(frozen=True, slots=True)
class Finder:
    """Finds what breaks a rule in a top-level column of the type `column`. Raises `UntoldError` as `find` does."""

    rule: ValueRule
    column: DataType
    time_zone: str

    def find(self, values: pa.Array) -> tuple[int, list[str]]:
        """How many rows break the rule, and values that do, as texts.

        Raises UntoldError for what is not told without Spark, or not at all.
        """
        steps = self.rule.path[1:]
        if steps:
            bad = self._unfit(pa.RecordBatch.from_arrays(_inside(values, self.column, steps), [_VALUE, _ROW]))
        else:
            bad = self._unfit(pa.RecordBatch.from_arrays([values], [_VALUE]))
        number = pc.count_distinct(bad.column(1)).as_py() if steps else bad.num_rows
        return number, [] if self.rule.personal else texts(bad.column(0))

    def _unfit(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a batch of values that break the rule."""
        own, values = DataField(0, _VALUE, self.rule.stored), batch.column(0)
        match self.rule.test:
            case Untold(why=why):
                raise UntoldError(why)
            case Unique():
                raise UntoldError("rows are to be compared with each other")
            case Matching(pattern=pattern):
                return batch.filter(pc.invert(_matches(values, pattern)))
            case NoLonger(length=length, exact=exact):
                return batch.filter((pc.not_equal if exact else pc.greater)(_length(values), length))
            case Exact(type=type_):
                return batch.filter(pc.invert(is_exact(values, self.rule.stored, type_)))
            case _:
                predicate = unfit(self.rule, own, self.time_zone)
                if predicate is None:
                    raise UntoldError(
                        "what is declared is no value of the column, or depends on the rules of a time zone"
                    )
                return matching_rows(predicate, batch)


def _inside(values: pa.Array, type_: DataType, steps: Sequence[str]) -> list[pa.Array]:
    """The values at a place inside of a column, each with the number of its row. What is NULL has nothing inside."""
    rows = pa.array(range(len(values)), pa.int64())
    for step in steps:
        there = pc.is_valid(values)
        values, rows = values.filter(there), rows.filter(there)
        match type_:
            case p.Row():
                at, type_ = next((i, f.type) for i, f in enumerate(type_.fields) if f.name == step)
                values = pc.struct_field(values, [at])
            case p.Array():
                type_ = type_.element
                values, rows = pc.list_flatten(values), rows.take(pc.list_parent_indices(values))
            case p.Map():
                type_ = type_.value
                lists = pa.ListArray.from_arrays(values.offsets, values.items)
                values, rows = pc.list_flatten(lists), rows.take(pc.list_parent_indices(lists))
            case _:
                raise UntoldError("the column is not of the type that its versions say")
    return [values, rows]


def _matches(values: pa.Array, pattern: str) -> pa.Array:
    known = same_pattern(pattern)
    if known is None:
        raise UntoldError(f"only Spark understands the pattern {pattern}")
    if "." in pattern and pc.any(pc.match_substring_regex(values, LINE_ENDS)).as_py():
        raise UntoldError("only Spark tells whether the pattern matches line ends")
    try:
        return pc.match_substring_regex(values, known)
    except pa.ArrowInvalid as error:
        # RE2 repeats a part no more than 1000 times, whatever is around it.
        raise UntoldError(f"only Spark understands the pattern {pattern}") from error


def _length(values: pa.Array) -> pa.Array:
    if pa.types.is_binary(values.type):
        return pc.binary_length(values)
    return pc.utf8_length(values) if pa.types.is_string(values.type) else pc.list_value_length(values)


def texts(values: pa.Array) -> list[str]:
    """Some of the values as texts of one line."""
    some: Iterator[Any] = (scalar.as_py() for scalar in values.drop_null().slice(0, 8 * MOST_VALUES))
    return list(dict.fromkeys(map(_text, some)))[:MOST_VALUES]


def _text(value: Any) -> str:
    shown = value.hex() if isinstance(value, bytes) else one_line(str(value))
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


@dataclass(slots=True)
class RepeatedRows:
    """Gathers the columns of a rule that no two rows may have the same of. Raises UntoldError for too many."""

    rule: ValueRule
    test: Unique
    nulls: int = 0
    _held: list[pa.RecordBatch] = field(default_factory=list)
    _bytes: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Take the columns of some rows."""
        columns = [_comparable(batch.column(i)) for i in range(batch.num_columns)]
        made = pa.RecordBatch.from_arrays(columns, [f"c{i}" for i in range(len(columns))])
        whole = made.drop_null()
        self.nulls += batch.num_rows - whole.num_rows if self.test.key else 0
        self._held.append(whole)
        self._bytes += whole.nbytes
        if self._bytes > _MOST_HELD:
            raise UntoldError(f"more than {_MOST_HELD >> 20} MiB of values are to be compared with each other")

    def find(self) -> tuple[int, list[str]]:
        """How many rows break the rule, and values that several rows have, as texts."""
        if not self._held:
            return self.nulls, []
        table = pa.Table.from_batches(self._held)
        counted = table.group_by(table.column_names).aggregate([([], "count_all")])
        twice = counted.filter(pc.greater(counted.column("count_all"), 1))
        unfit = pc.sum(twice.column("count_all")).as_py() or 0
        one = twice.num_columns == 2 and not self.rule.personal
        shown = texts(twice.combine_chunks().column(0).combine_chunks()) if one and twice.num_rows else []
        return self.nulls + unfit, shown


def _comparable(values: pa.Array) -> pa.Array:
    """Zero has no sign, and NaN is equal to itself."""
    if not pa.types.is_floating(values.type):
        return values
    numbers = pc.add(values, pa.scalar(0.0, values.type))
    return pc.if_else(pc.is_nan(numbers), pa.scalar(float("nan"), values.type), numbers)
