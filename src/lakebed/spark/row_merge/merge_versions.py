"""Fold the stored rows of a key, oldest first, into one: partial update and aggregation.

The rows of a key are few; they are collected, sorted and folded by one expression that is made from the table's rules.
A key with a single stored row is that row, whatever its merge engine: the format merges where there are two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from lakebed.format.merge_engine import ColumnRule, MergeEngine, MergeEngineRules
from lakebed.format.row_kinds import INSERTS
from lakebed.spark.file_rows import System
from lakebed.spark.row_merge.aggregates import FIRSTS, Aggregator
from lakebed.spark.row_merge.arithmetic import refused
from lakebed.spark.row_merge.nested_rows import greater_or_equal
from lakebed.spark.sql_names import quote_name

DELETE = 3

_RECORDS, _BENEATH, _MERGED = "_LAKEBED_RECORDS", "_LAKEBED_BENEATH", "_LAKEBED_MERGED"
_KIND, _NUMBER, _FILE, _KEEP = "kind", "number", "file", "keep"
_DELETED, _INSERTED, _FILLED = "deleted", "inserted", "filled"


def folded(rows: DataFrame, rules: MergeEngineRules, key: Sequence[str]) -> DataFrame:
    """One row for each key among `rows` (with the system columns), under the table's columns.

    `key` names the columns that rows of one key share, what tells sections apart among them.
    """
    return _fold(_collected(rows, rules, key), rows.schema, rules, key)


def folded_onto(
    base: DataFrame, delta: DataFrame, rules: MergeEngineRules, key: Sequence[str], hits: DataFrame, *, single: bool
) -> DataFrame:
    """As `folded` of both, less the rows of the base whose key the delta does not hold; the base is not shuffled.

    The base holds a key once, as does the delta if it is `single`. `hits`: the keys of the base that the delta holds.
    The rows of the delta and `hits` are sent to every task.
    """
    records = _alone(delta, rules, key) if single else _collected(delta, rules, key)
    columns = [F.col(quote_name(k)) for k in key]
    new = records.join(F.broadcast(hits), list(key), "left_anti")
    beneath = _alone(base, rules, key).withColumnRenamed(_RECORDS, _BENEATH)
    both = beneath.join(F.broadcast(records), list(key)).select(*columns, F.concat(_BENEATH, _RECORDS).alias(_RECORDS))
    return _fold(both.union(new.select(*columns, F.col(_RECORDS))), delta.schema, rules, key)


def pair_values(schema: T.StructType, rules: MergeEngineRules, other: str, newer: Column | None) -> list[Column]:
    """The value of each column of the table that two rows of a key make, none of them a delete.

    The older row has the columns' own names, the newer one those with `other` before them; or, where `newer` is given,
    the other way round where it is false.
    """
    one = {_value(i): F.col(quote_name(c.name)) for i, c in enumerate(rules.columns)}
    two = {_value(i): F.col(quote_name(other + c.name)) for i, c in enumerate(rules.columns)}
    first, second = one, two
    if newer is not None:
        first = {name: F.when(newer, one[name]).otherwise(two[name]) for name in one}
        second = {name: F.when(newer, two[name]).otherwise(one[name]) for name in one}
    return _Fold(rules, tuple(schema[c.name].dataType for c in rules.columns)).of_inserts(first, second)


def _collected(rows: DataFrame, rules: MergeEngineRules, key: Sequence[str]) -> DataFrame:
    return rows.groupBy(*(F.col(quote_name(k)) for k in key)).agg(F.collect_list(_record(rules)).alias(_RECORDS))


def _alone(rows: DataFrame, rules: MergeEngineRules, key: Sequence[str]) -> DataFrame:
    return rows.select(*(F.col(quote_name(k)) for k in key), F.array(_record(rules)).alias(_RECORDS))


def _record(rules: MergeEngineRules) -> Column:
    return F.struct(
        *(F.col(quote_name(c.name)).alias(_value(i)) for i, c in enumerate(rules.columns)),
        F.col(System.VALUE_KIND).alias(_KIND),
        F.col(System.SEQUENCE_NUMBER).alias(_NUMBER),
        F.col(System.FILE).alias(_FILE),
    )


def _fold(records: DataFrame, schema: T.StructType, rules: MergeEngineRules, key: Sequence[str]) -> DataFrame:
    fold = _Fold(rules, tuple(schema[c.name].dataType for c in rules.columns))
    # An array of one, exploded: the fold is made once, and filters on the key pass it on their way to the files.
    kept = F.filter(F.array(fold.merged(F.col(_RECORDS))), lambda merged: merged[_KEEP])
    merged = records.select(*(F.col(quote_name(k)) for k in key), F.explode(kept).alias(_MERGED))
    # Grouping makes 0.0 of -0.0; the rows still have it.
    told = {k for k in key if not isinstance(schema[k].dataType, T.FloatType | T.DoubleType)}
    return merged.select(
        *(
            F.col(quote_name(c.name)) if c.name in told else F.col(_MERGED)[_value(i)].alias(c.name)
            for i, c in enumerate(rules.columns)
        )
    )


#: A struct, or what it has by the names of its fields.
_Fields: TypeAlias = Column | Mapping[str, Column]


def _value(i: int) -> str:
    return f"v{i}"


def _begun(i: int) -> str:
    return f"b{i}"


@dataclass(frozen=True, slots=True)
class _Step:
    """A row being added to a state; either is a struct, or its fields by name."""

    state: _Fields
    row: _Fields

    @property
    def retracts(self) -> Column:
        return ~self.row[_KIND].isin(*INSERTS)

    @property
    def deletes(self) -> Column:
        return self.row[_KIND] == F.lit(DELETE)


class _Fold:
    """The expression that folds the records of one key."""

    def __init__(self, rules: MergeEngineRules, types: Sequence[T.DataType]) -> None:
        self._rules = rules
        self._types = types
        self._index = {c.name: i for i, c in enumerate(rules.columns)}
        self._aggregators = [
            None if c.aggregate is None else Aggregator(c.name, c.aggregate, t)
            for c, t in zip(rules.columns, types, strict=True)
        ]

    def merged(self, records: Column) -> Column:
        """A struct of the values and whether the row is one of the table's."""
        return F.when(F.size(records) == 1, self._alone(records[0])).otherwise(
            F.aggregate(F.array_sort(records, self._compare), self._start(), self._step, self._end)
        )

    def of_inserts(self, *rows: _Fields) -> list[Column]:
        """The values that these rows make, oldest first, where none is a delete. Nothing but plain expressions."""
        places = range(len(self._types))
        state = {_value(i): F.lit(None).cast(t) for i, t in enumerate(self._types)}
        state |= {_begun(i): F.lit(False) for i in self._stateful()}
        for row in rows:
            made = [self._plus(i, _Step(state, row)) for i in places]
            state = {_value(i): made[i][0] for i in places} | {_begun(i): made[i][1] for i in self._stateful()}
        return [state[_value(i)] for i in places]

    def _plus(self, i: int, step: _Step) -> tuple[Column, Column]:
        """The column's value after a row that is no delete, and whether a function that keeps the first has one."""
        rule, aggregator = self._rules.columns[i], self._aggregators[i]
        if self._rules.engine is MergeEngine.PARTIAL_UPDATE:
            return self._partly_added(i, rule, aggregator, step)
        assert aggregator is not None
        return self._added(aggregator, i, step)

    def _alone(self, record: Column) -> Column:
        values = [record[_value(i)].alias(_value(i)) for i in range(len(self._types))]
        return F.struct(*values, record[_KIND].isin(*INSERTS).alias(_KEEP))

    def _compare(self, a: Column, b: Column) -> Column:
        """Oldest first; NULL is the oldest value of a sequence field, in both orders."""
        found: Column | None = None
        places = [(_value(self._index[f]), self._rules.descending) for f in self._rules.order]
        for place, descending in [*places, (_NUMBER, False), (_FILE, False)]:
            less, more = a[place] < b[place], b[place] < a[place]
            if descending:
                less, more = more, less
            less = (a[place].isNull() & b[place].isNotNull()) | less
            more = (b[place].isNull() & a[place].isNotNull()) | more
            found = F.when(less, -1) if found is None else found.when(less, -1)
            found = found.when(more, 1)
        assert found is not None
        return found.otherwise(0)

    def _start(self) -> Column:
        values = [F.lit(None).cast(t).alias(_value(i)) for i, t in enumerate(self._types)]
        begun = [F.lit(False).alias(_begun(i)) for i in self._stateful()]
        flags = [F.lit(False).alias(name) for name in (_DELETED, _INSERTED, _FILLED)]
        return F.struct(*values, *begun, *flags)

    def _stateful(self) -> list[int]:
        return [i for i, a in enumerate(self._aggregators) if a is not None and a.rule.function in FIRSTS]

    def _end(self, state: Column) -> Column:
        keep = ~state[_DELETED]
        if self._rules.engine is MergeEngine.PARTIAL_UPDATE:
            keep = keep & state[_INSERTED]
        values = [state[_value(i)].alias(_value(i)) for i in range(len(self._types))]
        return F.struct(*values, keep.alias(_KEEP))

    def _step(self, state: Column, row: Column) -> Column:
        step = _Step(state, row)
        if self._rules.engine is MergeEngine.PARTIAL_UPDATE:
            return F.when(step.retracts, self._partial_retract(step)).otherwise(self._partial_add(step))
        return self._aggregate(step)

    # --- states -------------------------------------------------------------------------------------------------------

    def _state(
        self,
        values: Sequence[Column],
        begun: Sequence[Column],
        *,
        deleted: Column,
        inserted: Column,
        filled: Column,
    ) -> Column:
        return F.struct(
            *(v.cast(t).alias(_value(i)) for i, (v, t) in enumerate(zip(values, self._types, strict=True))),
            *(b.alias(_begun(i)) for i, b in zip(self._stateful(), begun, strict=True)),
            deleted.alias(_DELETED),
            inserted.alias(_INSERTED),
            filled.alias(_FILLED),
        )

    def _begun(self, step: _Step) -> list[Column]:
        return [step.state[_begun(i)] for i in self._stateful()]

    def _emptied(self, step: _Step) -> list[Column]:
        """The values after the whole row was deleted: those of columns that are never NULL remain."""
        return [
            F.lit(None).cast(t) if c.nullable else step.row[_value(i)]
            for i, (c, t) in enumerate(zip(self._rules.columns, self._types, strict=True))
        ]

    # --- aggregation --------------------------------------------------------------------------------------------------

    def _aggregate(self, step: _Step) -> Column:
        values, begun = [], []
        for i, aggregator in enumerate(self._aggregators):
            assert aggregator is not None
            acc, value = step.state[_value(i)], step.row[_value(i)]
            added, begins = self._added(aggregator, i, step)
            if i in self._stateful():
                begun.append(F.when(step.retracts, step.state[_begun(i)]).otherwise(begins))
            values.append(F.when(step.retracts, aggregator.retract(acc, value)).otherwise(added))
        flags = {"inserted": F.lit(True), "filled": F.lit(True)}
        changed = self._state(values, begun, deleted=F.lit(False), **flags)
        if not self._rules.remove_on_delete:
            return changed
        removed = self._state(self._emptied(step), self._begun(step), deleted=F.lit(True), **flags)
        return F.when(step.deletes, removed).otherwise(changed)

    def _added(self, aggregator: Aggregator, i: int, step: _Step, *, older: bool = False) -> tuple[Column, Column]:
        """The column's value after the step, and whether a function that keeps the first value has one."""
        acc, value = step.state[_value(i)], step.row[_value(i)]
        function = aggregator.rule.function
        if function not in FIRSTS:
            added = aggregator.add_older(acc, value) if older else aggregator.add(acc, value)
            return added, F.lit(False)
        begun = step.state[_begun(i)]
        first, second = (acc, value) if older else (value, acc)
        if function == "first_value":
            return F.when(begun, second).otherwise(first), F.lit(True)
        takes = ~begun & first.isNotNull()
        return F.when(takes, first).otherwise(second), begun | takes

    # --- partial update -----------------------------------------------------------------------------------------------

    def _newer(self, step: _Step, group: tuple[str, ...]) -> tuple[Column, Column]:
        """Whether the row says something of a sequence group, and whether that is as new as what is there."""
        places = [_value(self._index[f]) for f in group]
        says = F.lit(False)
        for place in places:
            says = says | step.row[place].isNotNull()
        return says, says & greater_or_equal([(step.row[p], step.state[p]) for p in places])

    def _partial_add(self, step: _Step) -> Column:
        values, begun = [], []
        for i, (rule, aggregator) in enumerate(zip(self._rules.columns, self._aggregators, strict=True)):
            value, begins = self._partly_added(i, rule, aggregator, step)
            values.append(value)
            if i in self._stateful():
                begun.append(begins)
        return self._state(values, begun, deleted=F.lit(False), inserted=F.lit(True), filled=F.lit(True))

    def _partly_added(
        self, i: int, rule: ColumnRule, aggregator: Aggregator | None, step: _Step
    ) -> tuple[Column, Column]:
        acc, value = step.state[_value(i)], step.row[_value(i)]
        if not rule.group:
            added = F.coalesce(value, acc) if aggregator is None else aggregator.add(acc, value)
            return added, F.lit(False)
        says, newer = self._newer(step, rule.group)
        if aggregator is None:
            return F.when(newer, value).otherwise(acc), F.lit(False)
        now, now_begun = self._added(aggregator, i, step)
        before, before_begun = self._added(aggregator, i, step, older=True)
        begun = step.state[_begun(i)] if i in self._stateful() else F.lit(False)
        return (
            F.when(newer, now).when(says, before).otherwise(acc),
            F.when(newer, now_begun).when(says, before_begun).otherwise(begun),
        )

    def _partial_retract(self, step: _Step) -> Column:
        rules = self._rules
        flags = {"inserted": step.state[_INSERTED], "filled": F.lit(True)}
        filled = [self._filled(i, step) for i in range(len(self._types))]
        unchanged = self._state(filled, self._begun(step), deleted=F.lit(False), **flags)
        if rules.ignore_delete:
            return unchanged
        removed = self._state(self._emptied(step), self._begun(step), deleted=F.lit(True), **flags)
        if rules.groups:
            values = [self._partly_retracted(i, filled[i], step) for i in range(len(self._types))]
            changed = self._state(values, self._begun(step), deleted=F.lit(False), **flags)
            removes = F.lit(False)
            for group in rules.remove_groups:
                removes = removes | self._newer(step, group)[1]
            return F.when(step.deletes & removes, removed).otherwise(changed) if rules.remove_groups else changed
        if rules.remove_on_delete:
            return F.when(step.deletes, removed).otherwise(unchanged)
        message = "a partial-update table holds a delete, and no option says what it means"
        return F.when(refused("LB5501", message).cast("boolean"), unchanged)

    def _filled(self, i: int, step: _Step) -> Column:
        """A first delete gives columns that are never NULL their values."""
        acc = step.state[_value(i)]
        if self._rules.columns[i].nullable:
            return acc
        return F.when(step.state[_FILLED], acc).otherwise(step.row[_value(i)])

    def _partly_retracted(self, i: int, acc: Column, step: _Step) -> Column:
        rule, aggregator = self._rules.columns[i], self._aggregators[i]
        if not rule.group:
            return acc
        says, newer = self._newer(step, rule.group)
        value = step.row[_value(i)]
        if rule.is_sequence:
            return F.when(newer, value).otherwise(acc)
        if aggregator is None:
            return F.when(newer, F.lit(None).cast(self._types[i])).otherwise(acc)
        return F.when(says, aggregator.retract(acc, value)).otherwise(acc)
