"""Evaluate a comparison by a file's statistics or its partition's values.

Statistics speak of the stored values, a predicate of the values that are read. They are used where both are the same,
or differ so little that bounds remain bounds; else nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, assert_never

from lakebed.catalog.table_schema import TableSchema
from lakebed.format import binary_row
from lakebed.format.blob_columns import holds_blobs
from lakebed.format.identity_cache import by_identity
from lakebed.format.live_files import DataFile, PartitionBounds
from lakebed.format.manifest import ColumnStatistics
from lakebed.format.merge_plan import key_types, trimmed_key
from lakebed.format.statistics import statistics_of_column
from lakebed.physical.paimon_types import (
    MAX_LENGTH,
    Char,
    DataField,
    DataType,
    Date,
    Double,
    Float,
    LocalZonedTimestamp,
    Timestamp,
    VarChar,
)
from lakebed.read.file_index.keys import GREGORIAN_DAY, keeps_values
from lakebed.read.predicate import Compare, Evidence, IsIn, IsNull, Leaf, Operator, StartsWith, Truths

_NANOS_PER_MICRO = 1_000
_MICROS, _NANOS = 6, 9


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a column's values in some rows.

    Those that are no NULL lie between `minimum` and `maximum`, both included; None is no bound. `nulls` and `values`
    say whether there may be NULLs, and whether there may be anything else.
    """

    minimum: Any = None
    maximum: Any = None
    nulls: bool = True
    values: bool = True

    def truths(self, leaf: Leaf) -> Truths:
        """What a leaf over the column may be."""
        if isinstance(leaf, IsNull):
            return _either(self.nulls, self.values)
        found = self._of_values(leaf) if self.values else Truths.NONE
        return _OR_NULL[found] if self.nulls else found

    def _of_values(self, leaf: Compare | IsIn | StartsWith) -> Truths:
        match leaf:
            case Compare(operator=operator, value=value):
                return self._compared(operator, value)
            case IsIn(values=values):
                found = Truths.TRUE if any(self._reaches(v) for v in values) else Truths.NONE
                same = any(self._is_only(v) for v in values)
                return found if same else found | Truths.FALSE
            case StartsWith(prefix=prefix):
                return self._starting(prefix)
        assert_never(leaf)

    def _compared(self, operator: Operator, value: Any) -> Truths:
        if value != value:
            return Truths.TRUE | Truths.FALSE
        less = self.minimum is None or self.minimum < value
        equal = self._reaches(value)
        greater = self.maximum is None or self.maximum > value
        match operator:
            case Operator.EQUAL:
                return _either(equal, less or greater)
            case Operator.NOT_EQUAL:
                return _either(less or greater, equal)
            case Operator.LESS:
                return _either(less, equal or greater)
            case Operator.LESS_OR_EQUAL:
                return _either(less or equal, greater)
            case Operator.GREATER:
                return _either(greater, less or equal)
            case Operator.GREATER_OR_EQUAL:
                return _either(equal or greater, less)
        assert_never(operator)

    def _reaches(self, value: Any) -> bool:
        """Whether the value lies within the bounds; NaN may, whatever they are."""
        if value != value:
            return True
        return (self.minimum is None or self.minimum <= value) and (self.maximum is None or self.maximum >= value)

    def _is_only(self, value: Any) -> bool:
        return self.minimum is not None and bool(self.minimum == self.maximum == value)

    def _starting(self, prefix: str) -> Truths:
        low, high = self.minimum, self.maximum
        below = low is not None and low[: len(prefix)] > prefix
        above = high is not None and high < prefix
        all_start = low is not None and high is not None and low.startswith(prefix) and high.startswith(prefix)
        return _either(not (below or above), not all_start)


UNKNOWN, ALL_NULL = Known(), Known(values=False)


def _either(true: bool, false: bool) -> Truths:
    return _EITHER[true][false]


_EITHER = ((Truths.NONE, Truths.FALSE), (Truths.TRUE, Truths.TRUE | Truths.FALSE))
_OR_NULL = tuple(Truths(number) | Truths.NULL for number in range(Truths.ANY + 1))


def partition_evidence(fields: Mapping[int, Any]) -> Evidence:
    """Evidence from the values of a partition, by field id; other columns may hold anything."""

    def evidence(leaf: Leaf) -> Truths:
        if leaf.column.id not in fields:
            return Truths.ANY
        value = fields[leaf.column.id]
        if value is None:
            return ALL_NULL.truths(leaf)
        value = as_read(leaf.column.type, value)
        known = Known(None, None, nulls=False) if value != value else Known(value, value, nulls=False)
        return known.truths(leaf)

    return evidence


def bounds_evidence(bounds: PartitionBounds, keys: tuple[int, ...]) -> Evidence:
    """Evidence from what a manifest says of its partitions; `keys` are the field ids of the partition keys."""
    columns = {
        key: ColumnStatistics(low, high, nulls)
        for key, low, high, nulls in zip(keys, bounds.minimum, bounds.maximum, bounds.null_counts, strict=True)
    }

    def evidence(leaf: Leaf) -> Truths:
        found = columns.get(leaf.column.id)
        return Truths.ANY if found is None else _known(leaf.column.type, found, bounds.entries).truths(leaf)

    return evidence


def file_evidence(file: DataFile, written: TableSchema, stored: tuple[DataField, ...]) -> Evidence:
    """Evidence from the statistics that a manifest has of a data file.

    `written` is the schema version that the file was written under, `stored` those of its fields that the file holds;
    any other column is NULL in all rows.
    """
    last: tuple[DataField, Known] | None = None

    def evidence(leaf: Leaf) -> Truths:
        nonlocal last
        # The leaves of a predicate are mostly about one column, which is one object.
        if last is None or last[0] is not leaf.column:
            last = leaf.column, known_values(file, written, stored, leaf.column)
        return last[1].truths(leaf)

    return evidence


def known_values(file: DataFile, written: TableSchema, stored: tuple[DataField, ...], column: DataField) -> Known:
    """What the statistics of a data file say of the values of a column that is read; see `file_evidence`."""
    own = _stored_as(stored, column)
    return own if isinstance(own, Known) else _of_column(file, written, own)


@by_identity
def _stored_as(stored: tuple[DataField, ...], column: DataField) -> DataField | Known:
    """The column of a file that tells of a column that is read; or what is known of that without a look at the file."""
    if holds_blobs(column.type):
        return UNKNOWN
    own = next((f for f in stored if f.id == column.id), None)
    if own is None:
        return ALL_NULL
    return own if keeps_values(own.type, column.type) else UNKNOWN


def _of_column(file: DataFile, written: TableSchema, own: DataField) -> Known:
    found = statistics_of_column(file.meta, written, own.id)
    if found is None:
        return UNKNOWN
    if is_orc(file) and changed_by_orc(own.type, found.minimum):
        return _known(own.type, ColumnStatistics(None, None, found.null_count), -1)
    return _known(own.type, found, file.meta.row_count)


def _known(type_: DataType, found: ColumnStatistics, rows: int) -> Known:
    """`type_` is the stored one. `rows` is how many there are, -1 where as many NULLs would prove nothing."""
    low, high = range_as_read(type_, found.minimum, found.maximum)
    if low is None and high is None and found.null_count == rows:
        return ALL_NULL
    if isinstance(type_, Float | Double):
        # NaN is above all, and many writers leave it out of their bounds.
        low, high = (None if low is None or low != low else low), None
    return Known(low, high, nulls=found.null_count != 0)


def as_read(type_: DataType, value: Any) -> Any:
    """A stored value as reads give it: microseconds, where nanoseconds are stored."""
    if isinstance(type_, Timestamp | LocalZonedTimestamp) and value is not None:
        return value // _NANOS_PER_MICRO * _NANOS_PER_MICRO
    return value


def range_as_read(type_: DataType, low: Any, high: Any) -> tuple[Any, Any]:
    """Bounds of stored values as bounds of the values that are read.

    A file may hold finer parts of a timestamp than its type has; what a writer said of them has the type's precision,
    rounded in whichever direction.
    """
    if isinstance(type_, Timestamp | LocalZonedTimestamp) and type_.precision < _MICROS:
        unit = 10 ** (_NANOS - type_.precision)
        return None if low is None else low - unit, None if high is None else high + unit
    return as_read(type_, low), as_read(type_, high)


def is_orc(file: DataFile) -> bool:
    """Whether a data file is an ORC file."""
    return file.path.lower().endswith(".orc")


def changed_by_orc(type_: DataType, least: Any = None) -> bool:
    """Whether ORC may give back other values than the writer put in, of which `least` is the smallest, if known."""
    match type_:
        case Char() | Timestamp() | LocalZonedTimestamp():
            return True
        case VarChar(length=length):
            return length < MAX_LENGTH
        case Date():
            return least is None or bool(least < GREGORIAN_DAY)
        case _:
            return False


def parts_evidence(parts: Sequence[tuple[frozenset[int], Evidence]]) -> Evidence:
    """Evidence for rows whose columns lie in several files: which field ids each file holds, and its evidence.

    Any file that holds a column may give a row's value; where none does, it is NULL.
    """

    def evidence(leaf: Leaf) -> Truths:
        found = (own(leaf) for held, own in parts if leaf.column.id in held)
        return reduce(or_, found, ALL_NULL.truths(leaf))

    return evidence


def key_evidence(file: DataFile, schema: TableSchema) -> Evidence:
    """Evidence from the first and the last key of a file, for the columns of the primary key."""
    known = _key_columns(file, schema)
    return lambda leaf: known[leaf.column.id].truths(leaf) if leaf.column.id in known else Truths.ANY


def _key_columns(file: DataFile, schema: TableSchema) -> dict[int, Known]:
    """The first column of the key, and each further one as long as those before have one value."""
    types = tuple(key_types(schema))
    arity = len(types).to_bytes(binary_row.PREFIX, "big")
    if file.meta.min_key[: binary_row.PREFIX] != arity or file.meta.max_key[: binary_row.PREFIX] != arity:
        return {}
    codec = binary_row.codec(types)
    known: dict[int, Known] = {}
    for name, low, high in zip(
        trimmed_key(schema), codec.decode(file.meta.min_key), codec.decode(file.meta.max_key), strict=True
    ):
        column = schema.field(name)
        if column is None or low is None or high is None or isinstance(column.type, Float | Double):
            break
        if is_orc(file) and changed_by_orc(column.type, low):
            break
        known[column.id] = Known(*range_as_read(column.type, low, high), nulls=False)
        if low != high:
            break
    return known
