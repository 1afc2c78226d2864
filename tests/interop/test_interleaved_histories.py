"""Lakebed and other writers change one table in turn: at each snapshot all readers see the rows of a plain model."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lakebed
from interop.interleaved_histories import History, Remembered
from referees.client import Referees
from referees.java import JavaReferee

OURS = ("put", "delete", "update", "merge", "overwrite", "compact", "add a column", "rename a column")


@dataclass(frozen=True)
class Line:
    """A table and those who write it beside Lakebed; `readers` understand what all of them write."""

    keyed: bool
    options: Mapping[str, str]
    theirs: Sequence[str]
    readers: Sequence[Any]
    ours: Sequence[str] = OURS

    @property
    def engine(self) -> str:
        return self.options.get("merge-engine", "deduplicate")


_KEYED = {"bucket": "2"}
_PYPAIMON = ("pypaimon puts", "rust puts", "pypaimon overwrites", "pypaimon puts")
#: What merge engines take that keep more of older rows than their place.
_ADDING = ("put", "overwrite", "compact", "add a column", "put", "compact")
_JAVA = ("java puts", "java overwrites", "java compacts", "java puts")
LINES = {
    # Java 0.9 reads no files of pypaimon-rust in tables with keys, nor pypaimon the manifests of Java 0.9.
    "append, pypaimon": Line(False, {"deletion-vectors.enabled": "true"}, _PYPAIMON, ("pypaimon", "rust")),
    "keyed, pypaimon": Line(True, _KEYED, _PYPAIMON, ("pypaimon", "rust")),
    "dynamic buckets, pypaimon": Line(
        True, {"dynamic-bucket.target-row-num": "3"}, ("pypaimon puts", "pypaimon overwrites"), ("pypaimon", "rust")
    ),
    "append, java": Line(False, {"bucket": "2", "bucket-key": "k"}, _JAVA, ("rust", "java")),
    "keyed, java": Line(True, _KEYED, (*_JAVA, "java deletes"), ("rust", "java")),
    "first-row, pypaimon": Line(
        True, {"bucket": "1", "merge-engine": "first-row"}, _PYPAIMON, ("pypaimon", "rust"), _ADDING
    ),
    "first-row, java": Line(True, {"bucket": "1", "merge-engine": "first-row"}, _JAVA, ("rust", "java"), _ADDING),
    "partial-update, pypaimon": Line(
        True, _KEYED | {"merge-engine": "partial-update"}, _PYPAIMON, ("pypaimon", "rust"), _ADDING
    ),
    "aggregation, java": Line(
        True,
        _KEYED | {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"},
        _JAVA,
        ("rust", "java"),
        _ADDING,
    ),
}
#: `LAKEBED_HISTORIES=9` tells more of them than the suite has time for.
SEEDS = range(int(os.environ.get("LAKEBED_HISTORIES", "1")))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", LINES)
def test_all_readers_agree_at_every_snapshot(
    name: str, seed: int, lake: lakebed.Lake, spark: SparkSession, referees: Referees, java: JavaReferee
) -> None:
    line = LINES[name]
    chance = random.Random(f"{name} {seed}")
    history = History(lake, "t", line.keyed, chance, spark, referees, java, line.engine)
    history.create(line.options)
    steps = [*line.ours, *line.theirs]
    chance.shuffle(steps)
    first = "java puts" if "java puts" in steps else "pypaimon puts"
    history.tell(["put", first, *steps])
    told = [*history.told, history.now(None, "all")]
    assert sum(bool(remembered.rows) for remembered in told) > 6
    found = read_by_lakebed(history, told)
    for remembered, ours in zip(told, found, strict=True):
        wanted = in_order(remembered.rows)
        where = f"after {remembered.step}, snapshot {remembered.snapshot}, of {steps}"
        assert in_order(ours) == wanted, f"lakebed {where}"
        for reader in line.readers:
            asked = referees.rows if reader != "java" else java.rows
            named = (reader, lake.warehouse, "db.t") if reader != "java" else (lake.warehouse, "db.t")
            rows = asked(*named, snapshot=remembered.snapshot, columns=remembered.columns)
            assert in_order(rows) == wanted, f"{reader} {where}"


def in_order(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, rows), key=repr)


def read_by_lakebed(history: History, told: Sequence[Remembered]) -> list[list[list[Any]]]:
    """The rows of each snapshot, in one query."""
    frames = []
    for number, remembered in enumerate(told):
        frame = history.handle.read(history.spark, snapshot=remembered.snapshot)
        assert tuple(frame.columns) == remembered.columns
        texts = F.to_json(F.struct(*frame.columns), {"ignoreNullFields": "false"})
        frames.append(frame.select(F.lit(number), texts))
    found: list[list[list[Any]]] = [[] for _ in told]
    for number, text in reduce(DataFrame.union, frames).collect():
        found[number].append(list(json.loads(text).values()))
    return found
