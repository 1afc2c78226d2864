"""How a merge is made: which files it touches, what reaches the scans, the way for a large base, what is refused."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from lakebed.codes import register
from lakebed.errors import LakebedError
from lakebed.format.partition import POSTPONED
from read.keyed_tables import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, KeyedTable, Record
from read.lakes import got
from read.merge_oracle import merge

COLUMNS = {"k": ("INT", pa.int32()), "v": ("INT", pa.int32())}


def table(tmp_path: Path, name: str = "t", **options: str) -> KeyedTable:
    return KeyedTable(tmp_path, name, COLUMNS, options={k.replace("_", "-"): v for k, v in options.items()})


def records(keys: Sequence[int], start: int, kinds: Sequence[int] = (INSERT,)) -> list[Record]:
    """A record for each key, of the kinds in turn."""
    return [
        Record(kinds[i % len(kinds)], start + i, {"k": k, "v": start + i if i % 5 else None})
        for i, k in enumerate(keys)
    ]


def plan_of(frame: Any) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def merged(files: Sequence[Sequence[Record]], options: Mapping[str, str]) -> list[tuple[Any, ...]]:
    by_key: dict[int, list[Record]] = {}
    for record in (r for file in files for r in file):
        by_key.setdefault(record.values["k"], []).append(record)
    rows = [merge(by_key[k], ["k", "v"], ["k"], options) for k in sorted(by_key)]
    return [tuple(row) for row in rows if row is not None]


def test_files_that_overlap_with_none_are_read_as_they_are(spark: Any, tmp_path: Path) -> None:
    made = table(tmp_path)
    made.add(records(range(10), 0), level=5)
    made.add(records(range(10, 20), 100))
    made.add(records(range(30, 40), 200))
    made.add(records(range(35, 45), 300), bucket=1)
    made.commit()
    frame = lakebed.open(tmp_path).read(spark, "db.t")
    plan = plan_of(frame)
    assert "Window" not in plan
    assert "Exchange" not in plan
    assert frame.count() == 40


def test_only_the_files_that_overlap_are_merged(spark: Any, tmp_path: Path) -> None:
    made = table(tmp_path)
    alone, one, other = records(range(10), 0), records(range(20, 30), 100), records(range(25, 35), 200)
    for file in (alone, one, other):
        made.add(file)
    made.commit()
    frame = lakebed.open(tmp_path).read(spark, "db.t")
    scans = re.findall(r"FileScan parquet [^\]]*\]", plan_of(frame))
    assert [("_VALUE_KIND" in scan) for scan in scans] == [False, True]
    assert got(frame) == merged([alone, one, other], {})


@pytest.mark.parametrize("knows_deletes", [True, False])
def test_a_file_that_may_hold_deletes_is_merged(spark: Any, tmp_path: Path, knows_deletes: bool) -> None:
    made = table(tmp_path)
    rows = records(range(12), 0, (INSERT, DELETE, UPDATE_AFTER, UPDATE_BEFORE))
    made.add(rows, level=5, knows_deletes=knows_deletes)
    made.commit()
    frame = lakebed.open(tmp_path).read(spark, "db.t")
    assert "Window" in plan_of(frame)
    assert got(frame) == merged([rows], {})


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("options", [{}, {"deduplicate.ignore-delete": "true"}], ids=["deletes", "deletes ignored"])
def test_a_large_base_is_not_sorted(spark: Any, tmp_path: Path, options: dict[str, str], pieces: int) -> None:
    chance = random.Random(7)
    made = KeyedTable(tmp_path, "t", COLUMNS, options=options)
    base = [records(range(0, 300), 0), records(range(300, 600), 300)]
    kinds = (INSERT, DELETE, UPDATE_AFTER, DELETE, UPDATE_BEFORE)
    delta = [records(sorted(chance.sample(range(0, 700), 60)), start, kinds) for start in (1000, 2000, 3000)]
    delta = delta[:pieces]
    for file in base:
        made.add(file, level=5)
    made.add(delta[0], level=3)
    for file in delta[1:]:
        made.add(file)
    made.commit()
    frame = lakebed.open(tmp_path).read(spark, "db.t")
    plan = plan_of(frame)
    assert "LeftAnti" in plan
    assert ("Window" in plan) is (pieces > 1)
    files = [*base, *delta]
    if options:
        files = [[r for r in file if r.kind in (INSERT, UPDATE_AFTER)] for file in files]
    assert got(frame) == merged(files, {})
    # A filter on the key reaches the base, the delta's keys and the delta.
    assert plan_of(frame.where("k = 77")).count("EqualTo(k,77)") >= 3


@pytest.mark.parametrize("engine", ["deduplicate", "partial-update", "aggregation"])
def test_filters_on_the_key_reach_the_files_and_a_fold_is_made_once(spark: Any, tmp_path: Path, engine: str) -> None:
    made = table(tmp_path, merge_engine=engine)
    one, other = records(range(50), 0), records(range(40, 90), 100)
    made.add(one)
    made.add(other)
    made.commit()
    rows = lakebed.open(tmp_path).read(spark, "db.t")
    frame = rows.where("k = 42 and v > 0")
    plan = plan_of(frame)
    assert "EqualTo(k,42)" in plan
    assert "GreaterThan(v,0)" not in plan
    if engine != "deduplicate":
        assert plan.count("aggregate(") == 1
    expected = [row for row in merged([one, other], {"merge-engine": engine}) if row[0] == 42 and (row[1] or 0) > 0]
    assert got(frame) == expected


def test_first_row_shows_what_is_compacted(spark: Any, tmp_path: Path) -> None:
    made = table(tmp_path, merge_engine="first-row", **{"first-row.ignore-delete": "true"})
    made.add(records(range(10), 0), level=5)
    made.add(records(range(5, 15), 100, (INSERT, DELETE)), level=4)
    made.add(records(range(50, 60), 200))
    made.commit()
    found = got(lakebed.open(tmp_path).read(spark, "db.t"))
    assert found == [(k, k if k % 5 else None) for k in range(10)] + [(11, 106), (13, 108)]


def test_postponed_data_is_not_visible(spark: Any, tmp_path: Path) -> None:
    made = table(tmp_path, merge_engine="aggregation")
    made.add(records(range(5), 0))
    made.add(records(range(3, 9), 100), bucket=POSTPONED)
    made.commit()
    assert [row[0] for row in got(lakebed.open(tmp_path).read(spark, "db.t"))] == list(range(5))


# --- refusals ---------------------------------------------------------------------------------------------------------

AGGREGATION = {"merge-engine": "aggregation"}
WIDE = "DECIMAL(30, 10)"


@pytest.mark.parametrize(
    ("code", "options", "kinds"),
    [
        ("LB5501", {"merge-engine": "partial-update"}, (INSERT, DELETE)),
        ("LB5502", {"merge-engine": "first-row"}, (INSERT, DELETE)),
        ("LB5505", AGGREGATION | {"fields.v.aggregate-function": "max"}, (INSERT, UPDATE_BEFORE)),
        ("LB5505", AGGREGATION | {"fields.v.aggregate-function": "first_value"}, (INSERT, DELETE)),
        ("LB5507", AGGREGATION | {"fields.v.aggregate-function": "product"}, (INSERT,)),
    ],
)
def test_rows_that_the_rules_do_not_cover_fail_the_query(
    spark: Any, tmp_path: Path, code: str, options: dict[str, str], kinds: tuple[int, ...]
) -> None:
    made = KeyedTable(tmp_path, "t", COLUMNS, options=options)
    for level, start in ((5, 2_000_000_000), (4, 2_100_000_000)):
        made.add(records([2, 1, 3], start, (INSERT,) if start < 2_100_000_000 else kinds[::-1]), level=level)
    made.commit()
    with pytest.raises(Exception, match=code):
        lakebed.open(tmp_path).read(spark, "db.t").collect()


@pytest.mark.parametrize(
    ("code", "kind", "options"),
    [
        ("LB5503", "BYTES", {"aggregate-function": "hll_sketch"}),
        ("LB5503", "BYTES", {"aggregate-function": "rbm32"}),
        ("LB5503", "INT", {"aggregate-function": "median"}),
        ("LB5504", "STRING", {"aggregate-function": "sum"}),
        ("LB5504", "INT", {"aggregate-function": "listagg"}),
        ("LB5504", "STRING", {"aggregate-function": "count"}),
        ("LB5504", "INT", {"aggregate-function": "nested_update"}),
        ("LB5510", "DECIMAL(30, 10)", {"aggregate-function": "product"}),
        ("LB5510", "DECIMAL(38, 10)", {"aggregate-function": "sum"}),
    ],
)
def test_functions_that_are_not_computed_are_refused(
    spark: Any, tmp_path: Path, code: str, kind: str, options: dict[str, str]
) -> None:
    said = AGGREGATION | {f"fields.v.{key}": value for key, value in options.items()}
    made = KeyedTable(tmp_path, "t", {"k": ("INT", pa.int32()), "v": (kind, pa.binary())}, options=said)
    made.add([Record(INSERT, 0, {"k": 1})])
    made.commit()
    if code == "LB5503":
        # Without a merge there is nothing to compute.
        assert lakebed.open(tmp_path).read(spark, "db.t").columns == ["k", "v"]
    again = KeyedTable(tmp_path / "again", "t", made.columns, options=said)
    for number in range(2):
        again.add([Record(INSERT, number, {"k": 1})])
    again.commit()
    with pytest.raises(LakebedError) as caught:
        lakebed.open(tmp_path / "again").read(spark, "db.t")
    assert (caught.value.code, caught.value.diagnostics[0].path) == (code, "v")


def test_every_code_is_explained() -> None:
    assert {c for c in register() if "LB5500" <= c < "LB5530"} == {f"LB55{n:02}" for n in range(11)}


def test_a_nested_key_that_is_null_fails_where_the_table_says_so(spark: Any, tmp_path: Path) -> None:
    nested = {"type": "ARRAY", "element": {"type": "ROW", "fields": [{"id": 9, "name": "id", "type": "INT"}]}}
    kind = pa.list_(pa.struct([("id", pa.int32())]))
    field = {"aggregate-function": "nested_update", "nested-key": "id", "nested-key-null-strategy": "error"}
    said = AGGREGATION | {f"fields.v.{key}": value for key, value in field.items()}
    made = KeyedTable(tmp_path, "t", {"k": ("INT", pa.int32()), "v": (nested, kind)}, options=said)
    for number in range(2):
        made.add([Record(INSERT, number, {"k": 1, "v": [{"id": 1}, {"id": None}]})])
    made.commit()
    with pytest.raises(Exception, match="LB5508"):
        lakebed.open(tmp_path).read(spark, "db.t").collect()


@pytest.mark.parametrize("engine", ["deduplicate", "aggregation"])
@pytest.mark.parametrize("base", [1, 9])
def test_zero_and_negative_zero_are_two_keys(spark: Any, tmp_path: Path, engine: str, base: int) -> None:
    """`base`: rows of an older level, of which few or most are not in the newer file."""
    options = {"merge-engine": engine, "fields.v.aggregate-function": "sum"}
    made = KeyedTable(tmp_path, "t", {"k": ("DOUBLE", pa.float64()), "v": ("INT", pa.int32())}, options=options)
    keys = [-1.0, -0.0, 0.0, *(float(n) for n in range(1, base))]
    made.add([Record(INSERT, i, {"k": k, "v": i}) for i, k in enumerate(keys)], level=5)
    made.add([Record(INSERT, 100, {"k": -0.0, "v": 100})])
    made.commit()
    found = lakebed.open(tmp_path).read(spark, "db.t").collect()
    wanted = {str(k): i for i, k in enumerate(keys)}
    wanted["-0.0"] = 101 if engine == "aggregation" else 100
    assert {str(row.k): row.v for row in found} == wanted
    assert len(found) == len(keys)
