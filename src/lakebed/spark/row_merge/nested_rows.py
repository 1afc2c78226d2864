"""Aggregate arrays and maps: collect lists, merge maps, update nested tables.

Where the format leaves the order of elements to a hash table, they stand in the order of their first appearance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import cast

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from lakebed.convert.spark_tree import types_inside
from lakebed.format.merge_engine import Aggregate, NullKeys
from lakebed.spark.row_merge.arithmetic import refused


def greater_or_equal(pairs: Sequence[tuple[Column, Column]]) -> Column:
    """Whether the first values are at least the second ones, the first pair deciding first; NULL is the smallest."""
    found = F.lit(True)
    for a, b in reversed(pairs):
        greater = F.when(a.isNull(), F.lit(False)).when(b.isNull(), F.lit(True)).otherwise(a > b)
        found = greater | (a.eqNullSafe(b) & found)
    return found


def holds_map(kind: T.DataType) -> bool:
    """Whether values of a type cannot be compared, since there is a map in them."""
    return any(isinstance(part, T.MapType) for part in types_inside(kind))


# --- collect ----------------------------------------------------------------------------------------------------------


def collected(acc: Column, value: Column, rule: Aggregate) -> Column:
    """Both lists, each element once where the rule says `distinct`."""
    if not rule.distinct:
        return F.when(acc.isNull(), value).when(value.isNull(), acc).otherwise(F.concat(acc, value))
    both = F.when(acc.isNull(), value).when(value.isNull(), acc).otherwise(F.concat(acc, value))
    return F.array_distinct(both)


def uncollected(acc: Column, value: Column) -> Column:
    """The list without the elements of `value`, each of which takes one equal element with it, the first one."""

    def stays(x: Column, i: Column) -> Column:
        seen = F.size(F.filter(F.slice(acc, F.lit(1), i + F.lit(1)), lambda y: y.eqNullSafe(x)))
        return seen > F.size(F.filter(value, lambda y: y.eqNullSafe(x)))

    return F.when(value.isNull(), acc).otherwise(F.filter(acc, stays))


# --- maps -------------------------------------------------------------------------------------------------------------


def merged_maps(acc: Column, value: Column) -> Column:
    """Both maps; where both have a key, the value of `value`. Neither is NULL."""
    keys = F.map_keys(value)
    return F.map_concat(F.map_filter(acc, lambda k, _: ~F.array_contains(keys, k)), value)


def without_keys(acc: Column, value: Column) -> Column:
    """The map without the keys of another."""
    keys = F.map_keys(value)
    return F.when(acc.isNull() | value.isNull(), acc).otherwise(
        F.map_filter(acc, lambda k, _: ~F.array_contains(keys, k))
    )


def merged_by_time(acc: Column, value: Column, time: str) -> Column:
    """Both maps of structs; where both have a key, the entry of the later time; a NULL entry takes its key away."""

    def replaced(k: Column, old: Column) -> Column:
        new = F.try_element_at(value, k)
        later = new[time].isNotNull() & (old.isNull() | old[time].isNull() | (new[time] > old[time]))
        return F.array_contains(F.map_keys(value), k) & (new.isNull() | F.coalesce(later, F.lit(False)))

    def taken(k: Column, new: Column) -> Column:
        old = F.try_element_at(acc, k)
        later = old.isNull() | old[time].isNull() | (new[time] > old[time])
        return F.coalesce(new.isNotNull() & new[time].isNotNull() & later, F.lit(False))

    return F.map_concat(F.map_filter(acc, lambda k, v: ~replaced(k, v)), F.map_filter(value, taken))


# --- nested tables ----------------------------------------------------------------------------------------------------


def nested_updated(acc: Column, value: Column, kind: T.ArrayType, rule: Aggregate) -> Column:
    """The nested table with the rows of `value` added, or put in the place of those with the same nested key."""
    if not rule.nested_key:
        return F.when(value.isNull(), acc).otherwise(_appended(acc, value, rule.limit))
    first = _put(F.array().cast(kind), _rows(acc, kind), rule, kind, limit=None)
    return F.when(value.isNull(), acc).otherwise(_put(first, _rows(value, kind), rule, kind, limit=rule.limit))


def nested_removed(acc: Column, value: Column, kind: T.ArrayType, rule: Aggregate) -> Column:
    """The nested table without the rows of `value`: equal ones, or those with the same nested key."""
    if not rule.nested_key:
        left = F.filter(_present(acc), lambda x: ~F.exists(_present(value), lambda y: y.eqNullSafe(x)))
    else:
        rows = _put(F.array().cast(kind), _rows(acc, kind), _unordered(rule), kind, limit=None)
        gone = _rows(value, kind)
        left = F.filter(rows, lambda x: ~F.exists(gone, lambda y: _same_key(x, y, rule)))
    return F.when(acc.isNull() | value.isNull(), acc).otherwise(left)


def nested_partially_updated(acc: Column, value: Column, kind: T.ArrayType, rule: Aggregate) -> Column:
    """The nested table with the non-NULL fields of `value`'s rows laid over those of the same nested key."""
    element = cast("T.StructType", kind.elementType)

    def laid_over(old: Column, new: Column) -> Column:
        fields = [F.coalesce(new[n], old[n]).alias(n) for n in element.fieldNames()]
        return F.struct(*fields).cast(element)

    start = F.array().cast(kind)
    every = F.concat(_rows(acc, kind, rule), _rows(value, kind, rule))
    laid = F.aggregate(every, start, lambda state, row: _place(state, row, rule, kind, laid_over, None))
    return F.when(value.isNull(), acc).otherwise(laid)


def _unordered(rule: Aggregate) -> Aggregate:
    return Aggregate(rule.function, nested_key=rule.nested_key, null_keys=rule.null_keys)


def _present(rows: Column) -> Column:
    return F.filter(rows, lambda x: x.isNotNull())


def _appended(acc: Column, value: Column, limit: int | None) -> Column:
    known = F.coalesce(F.size(acc), F.lit(0)) if limit is not None else F.lit(0)
    new = _present(value)
    if limit is None:
        return F.when(acc.isNull(), new).otherwise(F.concat(_present(acc), new))
    first = F.slice(new, F.lit(1), F.lit(limit))
    rest = F.slice(new, F.lit(1), F.greatest(F.lit(0), F.lit(limit) - known))
    return F.when(acc.isNull(), first).when(F.size(acc) >= limit, acc).otherwise(F.concat(_present(acc), rest))


def _rows(rows: Column, kind: T.ArrayType, rule: Aggregate | None = None) -> Column:
    present = F.coalesce(_present(rows), F.array().cast(kind))
    return present if rule is None else F.filter(present, lambda x: _accepted(x, rule))


def _accepted(row: Column, rule: Aggregate) -> Column:
    complete = reduce(Column.__and__, [row[k].isNotNull() for k in rule.nested_key])
    match rule.null_keys:
        case NullKeys.MERGE:
            return F.lit(True)
        case NullKeys.IGNORE:
            return complete
        case NullKeys.ERROR:
            message = f"a row has NULL in its nested key ({', '.join(rule.nested_key)})"
            return F.when(complete, F.lit(True)).otherwise(refused("LB5508", message).cast("boolean"))


def _same_key(a: Column, b: Column, rule: Aggregate) -> Column:
    return reduce(Column.__and__, [a[k].eqNullSafe(b[k]) for k in rule.nested_key])


def _put(state: Column, rows: Column, rule: Aggregate, kind: T.ArrayType, *, limit: int | None) -> Column:
    def newer(old: Column, new: Column) -> Column:
        if not rule.nested_sequence:
            return new
        return F.when(greater_or_equal([(new[s], old[s]) for s in rule.nested_sequence]), new).otherwise(old)

    accepted = F.filter(rows, lambda x: _accepted(x, rule))
    return F.aggregate(accepted, state, lambda found, row: _place(found, row, rule, kind, newer, limit))


def _place(
    state: Column,
    row: Column,
    rule: Aggregate,
    kind: T.ArrayType,
    combine: Callable[[Column, Column], Column],
    limit: int | None,
) -> Column:
    known = F.exists(state, lambda x: _same_key(x, row, rule))
    replaced = F.transform(state, lambda x: F.when(_same_key(x, row, rule), combine(x, row)).otherwise(x))
    grown = F.concat(state, F.array(row)).cast(kind)
    if limit is not None:
        grown = F.when(F.size(state) < limit, grown).otherwise(state)
    return F.when(known, replaced).otherwise(grown)
