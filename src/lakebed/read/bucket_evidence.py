"""Prune buckets by a predicate on the bucket key (Paimon specification, "Bucketed Table")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal as Number
from functools import cache
from itertools import product
from math import prod
from typing import Any

from lakebed.catalog.option_values import columns_of, word
from lakebed.catalog.options import BUCKET_FUNCTION_TYPE, BUCKET_KEY
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import LakebedError
from lakebed.format.bucket_hash import bucket_of_hash, hash_key
from lakebed.format.live_files import DataFile
from lakebed.format.merge_plan import trimmed_key
from lakebed.physical.paimon_types import (
    BigInt,
    DataField,
    DataType,
    Date,
    Decimal,
    Int,
    LocalZonedTimestamp,
    SmallInt,
    Timestamp,
    TinyInt,
    VarChar,
    with_nullability,
)
from lakebed.read.predicate import Compare, IsIn, Operator, Predicate, conjuncts

#: Up to so many combinations of key values are looked up.
_MOST = 1_000
#: So many buckets are named where it is said why a file is left out.
_NAMED = 5
_MICROS = 6

#: The buckets, among a number of them, that can hold a wanted row.
Buckets = Callable[[int], frozenset[int]]


def bucket_key(schema: TableSchema) -> tuple[str, ...]:
    """The columns that choose a row's bucket."""
    named = columns_of(schema.options, BUCKET_KEY)
    return named or trimmed_key(schema)


def wanted_buckets(predicate: Predicate, schema: TableSchema, versions: Iterable[TableSchema]) -> Buckets | None:
    """The buckets that a predicate needs; None where it needs all or it is not certain.

    Every column of the bucket key has to be given values by `=` or IN. `versions` are those that files were written
    under: where one had another key, or a key of another type, rows lie where that put them, and nothing is certain.
    """
    keys, function = _keys(schema), word(schema.options, BUCKET_FUNCTION_TYPE)
    if not keys or any(_places(version) != _places(schema) for version in versions):
        return None
    values = [_values(predicate, key) for key in keys]
    known = [v for v in values if v is not None]
    if len(known) != len(keys) or prod(map(len, known)) > _MOST:
        return None
    types = tuple(key.type for key in keys)
    try:
        hashes = frozenset(hash_key(types, combination, function) for combination in product(*known))
    except (ValueError, LakebedError):
        # A value that the type cannot hold: no row has it, and statistics will tell. Or a key that cannot be hashed.
        return None
    return cache(lambda total: frozenset(bucket_of_hash(hashed, total, function) for hashed in hashes))


def _keys(schema: TableSchema) -> tuple[DataField, ...] | None:
    """The columns that choose a row's bucket; None where one is missing."""
    fields = [schema.field(name) for name in bucket_key(schema)]
    return None if None in fields else tuple(f for f in fields if f is not None)


def _places(schema: TableSchema) -> tuple[str, tuple[tuple[int, DataType], ...]] | None:
    """What a row's bucket depends on."""
    keys = _keys(schema)
    if keys is None:
        return None
    function = word(schema.options, BUCKET_FUNCTION_TYPE)
    return function, tuple((f.id, with_nullability(f.type, True)) for f in keys)


def _values(predicate: Predicate, key: DataField) -> tuple[Any, ...] | None:
    """The values that a row of the predicate has in a column, as its type holds them; None where any is possible."""
    for given in _given(predicate, key):
        values = tuple(_as_stored(key.type, value) for value in given)
        if None not in values:
            return values
    return None


def _given(predicate: Predicate, key: DataField) -> Iterator[tuple[Any, ...]]:
    for part in conjuncts(predicate):
        match part:
            case Compare(column=column, operator=Operator.EQUAL, value=value) if column.id == key.id:
                yield (value,)
            case IsIn(column=column, values=values) if column.id == key.id:
                yield values
            case _:
                pass


def _as_stored(type_: DataType, value: Any) -> Any:
    """A value that compares equal, as the type holds it; None where it has none or several, as floats' zeros."""
    match type_, value:
        case ((TinyInt() | SmallInt() | Int() | BigInt() | Date()), (int() | Number())) if not isinstance(value, bool):
            return int(value) if value == int(value) else None
        case Decimal(), (int() | Number()) if not isinstance(value, bool):
            return Number(value)
        case ((Timestamp(precision=p) | LocalZonedTimestamp(precision=p)), int()) if p <= _MICROS:
            return value
        case VarChar(), str():
            return value
        case _:
            return None


def against_bucket(file: DataFile, buckets: Buckets) -> str | None:
    """Why no row of a file is in one of the wanted buckets; None where one may be."""
    if file.bucket < 0 or file.total_buckets <= 0:
        return None
    wanted = buckets(file.total_buckets)
    if file.bucket in wanted:
        return None
    return f"the key is in bucket {_named(sorted(wanted))} of {file.total_buckets:,}"


def _named(buckets: list[int]) -> str:
    shown = ", ".join(map(str, buckets[:_NAMED]))
    more = len(buckets) - _NAMED
    return shown if more <= 0 else f"{shown} or {more:,} more"
