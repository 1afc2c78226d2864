"""Merge the newer files of a bucket with a large compacted base beneath them, without shuffling the base.

A base holds a key once, and most of its rows have a key that the newer files, the delta, do not hold: these need no
merge under any engine. What the delta holds is sent to every task, keys or whole rows, as far as memory allows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.format.live_files import DataFile
from lakebed.format.merge_engine import MergeEngine, MergeEngineRules
from lakebed.format.merge_plan import Section, has_no_deletes, is_older, is_one_run
from lakebed.format.row_ranges import stored_fields
from lakebed.read.statistics_evidence import Known, known_values
from lakebed.spark.file_rows import FileRows, System
from lakebed.spark.row_merge.merge_by_engine import Merge, inserted
from lakebed.spark.row_merge.merge_versions import folded_onto, pair_values
from lakebed.spark.sql_names import quote_name

_OTHER, _NEWER = "_LAKEBED_OTHER_", "_LAKEBED_NEWER"
#: About what a row takes in memory that is sent to every task, beside its values, and what a number does.
_ROW_BYTES, _NUMBER_BYTES = 64, 8
#: How many times more bytes rows take in memory than in files.
_UNPACKED = 3
#: The share of the memory of a process that what is sent to every task may take.
_SHARE = 6
_MEMORY = "1g"
_UNITS = {"": 20, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_SIZE = re.compile(r"(\d+)([bkmgt]?)b?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DeltaFacts:
    """What metadata says of deltas and of the bases beneath them.

    `keys_fit`, `twice_fit` and `rows_fit`: whether the keys of the deltas, the keys two times, and whole rows beside
    these, are few enough to be sent to every task. `is_newer`: every row of a delta comes after every row of its base.
    `holds_once`: a delta holds a key once. `delta_is_whole` and `base_is_whole`: none of their rows is a delete.
    """

    keys_fit: bool
    twice_fit: bool
    rows_fit: bool
    is_newer: bool
    holds_once: bool
    delta_is_whole: bool
    base_is_whole: bool

    @classmethod
    def of(cls, reader: FileRows, splits: Sequence[tuple[Section, Section]], merge: Merge) -> DeltaFacts:
        """Of (base, delta) for each section."""
        bases, files = ([f for split in splits for f in split[i]] for i in range(2))
        most = broadcast_bytes(reader.spark)
        keys = sum(_key_bytes(f, merge.rules) for f in files)
        rows = sum(f.meta.row_count * _ROW_BYTES + f.size * _UNPACKED for f in files)
        return cls(
            keys_fit=keys <= most,
            twice_fit=2 * keys <= most,
            rows_fit=2 * keys + rows <= most,
            is_newer=all(_comes_after(reader, *split, merge) for split in splits),
            holds_once=all(len(delta) == 1 or is_one_run(delta) for _, delta in splits),
            delta_is_whole=all(map(has_no_deletes, files)),
            base_is_whole=all(map(has_no_deletes, bases)),
        )


def broadcast_bytes(spark: SparkSession) -> int:
    """How many bytes may be sent to every task; the driver makes of them what tasks look up, so its memory counts."""
    memory = [_bytes(spark.conf.get("spark.driver.memory", _MEMORY))]
    if not (spark.conf.get("spark.master", "") or "").startswith("local"):
        memory.append(_bytes(spark.conf.get("spark.executor.memory", _MEMORY)))
    return min(memory) // _SHARE


def _bytes(text: str | None) -> int:
    """A size as Spark writes sizes of memory: a number without a unit counts megabytes."""
    found = _SIZE.fullmatch((text or _MEMORY).strip())
    return int(found[1]) << _UNITS[found[2].lower()] if found else 0


def _key_bytes(file: DataFile, rules: MergeEngineRules) -> int:
    """About what the keys of a file take in memory, with what orders the rows of a key."""
    key = max(len(file.meta.min_key), len(file.meta.max_key))
    return file.meta.row_count * (_ROW_BYTES + key + _NUMBER_BYTES * len(rules.order))


def _comes_after(reader: FileRows, base: Section, delta: Section, merge: Merge) -> bool:
    """Whether every row of a delta is known to come after every row of its base.

    By the sequence numbers, or by the statistics of the first sequence field where the table has one.
    """
    if not merge.rules.order:
        return is_older(base, delta)
    field = merge.schema.field(merge.rules.order[0])
    assert field is not None

    def known(files: Iterable[DataFile]) -> list[Known]:
        version = reader.version
        return [known_values(f, version(f.meta.schema_id), stored_fields(version, f), field) for f in files]

    return is_above(known(base), known(delta), descending=merge.rules.descending)


def is_above(below: Sequence[Known], above: Sequence[Known], *, descending: bool) -> bool:
    """Whether each value of `above` comes after each of `below`; NULL is the oldest, in both orders."""
    if any(known.nulls for known in above):
        return False
    held = [known for known in below if known.values]
    greater, less = (held, above) if descending else (above, held)
    lows, highs = [known.minimum for known in greater], [known.maximum for known in less]
    return None not in lows and None not in highs and all(low > high for low in lows for high in highs)


@dataclass(frozen=True, slots=True)
class BaseAndDelta:
    """Rows of bases and deltas, both with the system columns; `on` are the columns that rows of one key share."""

    merge: Merge
    base: DataFrame
    delta: DataFrame
    on: Sequence[str]
    facts: DeltaFacts

    def merged(self) -> list[DataFrame]:
        """The table's rows, in several parts."""
        if self.merge.rules.engine is MergeEngine.DEDUPLICATE and self.merge.rules.ignore_delete:
            return replace(self, delta=self.delta.where(inserted()))._merged()
        return self._merged()

    def _merged(self) -> list[DataFrame]:
        merge, facts = self.merge, self.facts
        chooses = merge.rules.engine is MergeEngine.DEDUPLICATE
        if chooses and merge.rules.order and facts.twice_fit and not facts.is_newer:
            return self._newer_of_two()
        if chooses and facts.is_newer:
            single = facts.holds_once
            made = merge.of_single_rows(self.delta).select(*merge.columns()) if single else merge.of_rows(self.delta)
            return [self._untouched(), made]
        if merge.folds and facts.rows_fit:
            if facts.holds_once and facts.delta_is_whole and facts.base_is_whole:
                return self._pairs()
            key = merge.key()
            made = folded_onto(self.base, self.delta, merge.rules, key, self._held(key), single=facts.holds_once)
            return [self._untouched(), made]
        touched = self.base.join(self._keys(), list(self.on), "left_semi")
        return [self._untouched(), merge.of_rows(touched.select(*self.delta.columns).union(self.delta))]

    def _keys(self) -> DataFrame:
        """The keys of the delta, a key as often as it holds it."""
        keys = self.delta.select(*_named(self.on))
        return F.broadcast(keys) if self.facts.keys_fit else keys

    def _held(self, columns: Sequence[str]) -> DataFrame:
        """These columns of the rows of the base whose keys the delta holds."""
        names = dict.fromkeys((*columns, *self.on))
        return self.base.select(*_named(names)).join(self._keys(), list(self.on), "left_semi").select(*_named(columns))

    def _untouched(self) -> DataFrame:
        """The rows of the base whose keys the delta does not hold. Primary keys are never NULL."""
        rows = self.base.join(self._keys(), list(self.on), "left_anti")
        rows = rows if self.facts.base_is_whole else self.merge.of_single_rows(rows)
        return rows.select(*self.merge.columns())

    def _newer_of_two(self) -> list[DataFrame]:
        """The rows of either that no newer row of the other replaces; neither is shuffled."""
        merge = self.merge
        base = self.base.where(inserted()) if merge.rules.ignore_delete else self.base
        delta = self.delta if self.facts.holds_once else merge.newest(self.delta)
        order = _order(merge.rules)
        wanted = tuple(dict.fromkeys((*self.on, *order)))
        other = F.broadcast(_renamed(delta, wanted))
        same, replaced = _is_same(self.on), _is_newer(order, merge.rules)
        older = base.select(*_named(wanted)).join(other, same & ~replaced, "left_semi").select(*_named(self.on))
        left = (
            base.join(other, same & replaced, "left_anti"),
            delta.join(F.broadcast(older), list(self.on), "left_anti"),
        )
        return [merge.of_single_rows(rows).select(*merge.columns()) for rows in left]

    def _pairs(self) -> list[DataFrame]:
        """Each row of the base, folded with the delta's row of its key where there is one; the delta's other rows.

        No row is a delete, and either holds a key once.
        """
        merge, rules = self.merge, self.merge.rules
        names = [field.name for field in merge.schema.fields]
        order = () if self.facts.is_newer else _order(rules)
        other = _renamed(self.delta, tuple(dict.fromkeys((*self.on, *names, *order))))
        pairs = self.base.join(F.broadcast(other), _is_same(self.on), "left")
        newer = None
        if order:
            pairs, newer = pairs.withColumn(_NEWER, _is_newer(order, rules)), F.col(_NEWER)
        values = pair_values(pairs.schema, rules, _OTHER, newer)
        keys = merge.schema.primary_keys
        found = F.col(quote_name(_OTHER + keys[0])).isNotNull()
        made = [
            own if name in keys else F.when(found, value).otherwise(own).alias(name)
            for name, own, value in zip(names, merge.columns(), values, strict=True)
        ]
        new = self.delta.join(F.broadcast(self._held(self.on)), list(self.on), "left_anti")
        return [pairs.select(*made), new.select(*merge.columns())]


def _order(rules: MergeEngineRules) -> tuple[str, ...]:
    """The columns that order rows of one key."""
    return (*rules.order, System.SEQUENCE_NUMBER.value)


def _renamed(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    return rows.select(*(F.col(quote_name(c)).alias(_OTHER + c) for c in columns))


def _is_same(on: Sequence[str]) -> Column:
    return reduce(Column.__and__, (F.col(quote_name(k)) == F.col(quote_name(_OTHER + k)) for k in on))


def _is_newer(order: Sequence[str], rules: MergeEngineRules) -> Column:
    """Whether the other row comes after this one; NULL is the oldest value of a sequence field, in both orders."""
    found = F.when(F.lit(False), True)
    for name in order:
        one, other = F.col(quote_name(name)), F.col(quote_name(_OTHER + name))
        less, more = other < one, other > one
        if rules.descending and name in rules.order:
            less, more = more, less
        found = found.when((one.isNull() & other.isNotNull()) | more, True)
        found = found.when((other.isNull() & one.isNotNull()) | less, False)
    return found.otherwise(True)


def _named(names: Iterable[str]) -> list[Column]:
    return [F.col(quote_name(n)) for n in names]
