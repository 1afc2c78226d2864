"""A large compacted base beneath a small delta: each engine's merge of the two is what the format says of all records.

Most rows of such a base are read without a merge, the others meet the delta in ways that do not shuffle the base.
Sequence numbers of base and delta overlap and are equal at times; the base may hold deletes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakebed
from lakebed.read.statistics_evidence import Known
from lakebed.spark.row_merge import merge_onto_base as ways
from read.keyed_tables import DELETE, INSERT, KeyedTable, Record
from read.lakes import got
from read.merge_oracle import merge
from read.test_merge_engines import CASES, KEY, NO_DELETES, PLAIN, Case, _plain
from read.test_merge_ways import plan_of

BASE_KEYS, DELTA_KEYS = range(0, 160, 2), range(0, 170)
#: By case of the engines' tests: how many files each bucket's delta has.
DELTAS = {
    "deduplicate": 1,
    "deduplicate by sequence": 1,
    "deduplicate by sequence, descending": 3,
    "partial update": 1,
    "partial update, deletes remove": 3,
    "aggregates by sequence": 1,
    "aggregates, deletes remove": 3,
    "sequence groups": 1,
    "aggregates": 1,
    "sequence groups, firm": 1,
}
#: Cases whose deltas come after their bases, the tables' statistics say so of columns that are sequence fields.
LATER = {"deduplicate by sequence": 1, "deduplicate by sequence, descending": 3, "partial update": 1, "aggregates": 1}
CHOSEN = {name: (CASES[name], pieces) for name, pieces in DELTAS.items()} | {
    "deletes ignored": (Case(PLAIN.columns, PLAIN.values, {"ignore-delete": "true"}, PLAIN.kinds), 1),
    "deletes ignored by sequence": (
        Case(
            CASES["deduplicate by sequence"].columns,
            CASES["deduplicate by sequence"].values,
            {**CASES["deduplicate by sequence"].options, "ignore-delete": "true"},
            PLAIN.kinds,
        ),
        3,
    ),
}


def file_of(
    case: Case, chance: random.Random, keys: Sequence[int], kinds: Sequence[int], later: int = 0
) -> list[Record]:
    """`later` is added to sequence numbers and sequence fields; these are NULL in older rows alone then."""

    def values() -> dict[str, Any]:
        made = {c: make(chance) for c, make in case.values.items()}
        down = case.options.get("sequence.field.sort-order") == "descending"
        return made | {c: (made[c] or 0) + (-later if down else later) for c in order_of(case) if later}

    return [Record(chance.choice(kinds), later + chance.randint(0, 9), {"k": k, **values()}) for k in keys]


def order_of(case: Case) -> list[str]:
    return [name for name in case.options.get("sequence.field", "").split(",") if name]


def add_bucket(
    table: KeyedTable, case: Case, chance: random.Random, bucket: int, pieces: int, later: int = 0
) -> list[list[Record]]:
    """A base and `pieces` files of a delta over keys of this bucket alone; the files, oldest first."""
    shift = 1000 * bucket
    base = file_of(case, chance, [k + shift for k in BASE_KEYS], case.kinds)
    files = [base]
    table.add(base, level=5, bucket=bucket)
    for _ in range(pieces):
        keys = sorted(k + shift for k in chance.sample(DELTA_KEYS, 36 // pieces))
        files.append(file_of(case, chance, keys, case.kinds, later))
        table.add(files[-1], bucket=bucket)
    return files


def expected(files: Sequence[Sequence[Record]], case: Case) -> dict[int, Any]:
    columns = ["k", *case.columns]
    records: dict[int, list[Record]] = {}
    for record in (r for file in files for r in file):
        if case.options.get("ignore-delete") != "true" or record.kind in NO_DELETES:
            records.setdefault(record.values["k"], []).append(record)
    rows = {k: merge(found, columns, ["k"], _first(case.options)) for k, found in records.items()}
    return {k: _plain(row) for k, row in rows.items() if row is not None}


def _first(options: Mapping[str, str]) -> Mapping[str, str]:
    return {k: v for k, v in options.items() if k != "ignore-delete"}


@pytest.mark.parametrize(
    ("name", "whole"),
    [*((name, False) for name in CHOSEN), ("deduplicate by sequence", True), ("aggregates by sequence", True)],
)
def test_a_base_and_a_delta_merge_as_all_their_records_do(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, whole: bool
) -> None:
    """`whole`: the way of a delta that is too large to be sent to every task."""
    if whole:
        monkeypatch.setattr(ways, "broadcast_bytes", lambda spark: 0)
    case, pieces = CHOSEN[name]
    chance = random.Random(name)
    table = KeyedTable(tmp_path, "t", KEY | dict(case.columns), options=case.options)
    # One section at times, several at others: their number is part of the key then.
    buckets = range(1 + (len(name) % 2))
    files = [f for bucket in buckets for f in add_bucket(table, case, chance, bucket, pieces)]
    table.commit()
    frame = lakebed.open(tmp_path).read(spark, "db.t")
    assert "LeftAnti" in plan_of(frame)
    assert ("LeftSemi" in plan_of(frame)) or name in {"deduplicate", "deletes ignored"}
    found = {row[0]: list(row) for row in got(frame)}
    wanted = expected(files, case)
    assert found.keys() == wanted.keys()
    for k, row in wanted.items():
        assert found[k] == list(row), k


@pytest.mark.parametrize("name", LATER)
def test_a_delta_that_comes_after_its_base_by_statistics_is_compared_with_no_row_of_it(
    spark: Any, tmp_path: Path, name: str
) -> None:
    case, chance = CASES[name], random.Random(name)
    counted = tuple(order_of(case))
    table = KeyedTable(tmp_path, "t", KEY | dict(case.columns), options=case.options, counted=counted)
    files = add_bucket(table, case, chance, 0, LATER[name], later=10)
    table.commit()
    frame = lakebed.open(tmp_path).read(spark, "db.t")
    assert ("_LAKEBED_OTHER_" if name.startswith("deduplicate") else "_LAKEBED_NEWER") not in plan_of(frame)
    found = {row[0]: list(row) for row in got(frame)}
    assert found == {k: list(row) for k, row in expected(files, case).items()}


def known(values: Sequence[int | None]) -> Known:
    some = [v for v in values if v is not None]
    return Known(min(some, default=None), max(some, default=None), nulls=len(some) < len(values), values=bool(some))


@given(*[st.lists(st.lists(st.none() | st.integers(0, 9), min_size=1), min_size=1) for _ in "ab"], st.booleans())
def test_what_statistics_say_of_the_order_holds_for_every_two_rows(
    below: list[list[int | None]], above: list[list[int | None]], descending: bool
) -> None:
    def place(value: int | None) -> tuple[bool, int]:
        return value is not None, (-value if descending else value) if value is not None else 0

    said = ways.is_above([known(v) for v in below], [known(v) for v in above], descending=descending)
    low, high = ([place(v) for values in files for v in values] for files in (below, above))
    assert said == (min(high) > max(low) and None not in [v for values in above for v in values])


def test_without_bounds_nothing_is_said_of_the_order() -> None:
    assert not ways.is_above([Known()], [Known(5, 9, nulls=False)], descending=False)
    assert not ways.is_above([Known(1, 2)], [Known(nulls=False)], descending=False)
    assert not ways.is_above([Known(5, 9)], [Known(nulls=False)], descending=True)


@pytest.mark.parametrize("engine", ["deduplicate", "partial-update"])
def test_zeros_of_both_signs_and_nan_are_keys_of_their_own(spark: Any, tmp_path: Path, engine: str) -> None:
    columns = {"k": ("DOUBLE", pa.float64()), "a": ("INT", pa.int32()), "b": ("INT", pa.int32())}
    table = KeyedTable(tmp_path, "t", columns, options={"merge-engine": engine})
    nan = float("nan")
    base = {-1.5: 1, -0.0: 2, 1.5: 4, 2.5: 5, 3.5: 6, 4.5: 7, nan: 8}
    table.add([Record(INSERT, 0, {"k": k, "a": a, "b": a}) for k, a in base.items()], level=5)
    # Files of one level, which holds a key once.
    for keys in ((0.0,), (1.5, nan)):
        table.add([Record(INSERT, 9, {"k": k, "b": 20}) for k in keys], level=3)
    table.commit()
    found = {repr(row[0]): row[1:] for row in got(lakebed.open(tmp_path).read(spark, "db.t"))}
    kept = (lambda a: (a, 20)) if engine == "partial-update" else (lambda a: (None, 20))
    wanted = {repr(k): (a, a) for k, a in base.items()}
    assert found == wanted | {"0.0": (None, 20), "1.5": kept(4), "nan": kept(8)}


@pytest.mark.parametrize("engine", ["deduplicate", "partial-update"])
def test_no_row_of_the_base_is_shuffled_and_filters_on_the_key_reach_every_scan(
    spark: Any, tmp_path: Path, engine: str
) -> None:
    options = {"merge-engine": engine, **({"sequence.field": "v"} if engine == "deduplicate" else {})}
    table = KeyedTable(tmp_path, "t", {**KEY, "v": ("INT", pa.int32())}, options=options)
    chance = random.Random(engine)
    base = [Record(INSERT, k, {"k": k, "v": chance.randint(0, 99)}) for k in range(200)]
    delta = [Record(INSERT, 500 + k, {"k": k, "v": chance.randint(0, 99)}) for k in range(0, 240, 6)]
    table.add(base, level=5)
    table.add(delta)
    table.commit()
    frame = lakebed.open(tmp_path).read(spark, "db.t").where("k = 12")
    plan = plan_of(frame)
    assert not re.search(r"hashpartitioning|Window", plan)
    scans = re.findall(r"FileScan parquet .*", plan)
    assert len(scans) >= 4
    # Spark infers nothing for the keys of the delta beneath an anti-join's other side; the delta is the small one.
    assert sum("EqualTo(k,12)" not in scan for scan in scans) <= 1
    newer = max(base[12], delta[2], key=lambda r: (r.values["v"], r.number)) if engine == "deduplicate" else delta[2]
    assert got(frame) == [(12, newer.values["v"])]


def test_the_first_row_of_base_and_delta(spark: Any, tmp_path: Path) -> None:
    options = {"merge-engine": "first-row", "ignore-delete": "true"}
    table = KeyedTable(tmp_path, "t", {**KEY, "v": ("INT", pa.int32())}, options=options)
    chance = random.Random(3)
    base, delta = (
        [Record(chance.choice((INSERT, INSERT, DELETE)), chance.randint(0, 9), {"k": k, "v": place}) for k in keys]
        for place, keys in ((0, range(0, 80)), (1, range(0, 90, 3)))
    )
    table.add(base, level=5)
    table.add(delta, level=4)
    table.commit()
    wanted: dict[int, Record] = {}
    for record in [*base, *delta]:
        if record.kind == INSERT:
            known = wanted.setdefault(record.values["k"], record)
            wanted[record.values["k"]] = record if record.number < known.number else known
    rows = got(lakebed.open(tmp_path).read(spark, "db.t"))
    assert rows == [(k, wanted[k].values["v"]) for k in sorted(wanted)]
