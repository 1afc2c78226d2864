"""Merges: which rows are updated, deleted and inserted, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed import Lake
from lakebed.errors import LakebedError, SourceMismatchError, UsageError
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.physical import DataField
from lakebed.physical import paimon_types as physical
from lakebed.read.predicate import Truths, possible
from lakebed.read.statistics_evidence import partition_evidence
from lakebed.row_level import merge_rows
from lakebed.row_level.merge_rows import MergeBuilder
from lakebed.row_level.row_target import Start
from lakebed.row_level.source_values import SourceValues
from lakebed.spark.table_writer import TableWriter
from referees.client import Referees
from referees.java import JavaReferee
from row_level.changed_tables import COLUMNS, FEW_KINDS, FIELDS, Changed, Make, Row, rows_in_order, rows_of


def source(spark: SparkSession, rows: Sequence[Row]) -> DataFrame:
    return spark.createDataFrame([tuple(r[c] for c in COLUMNS) for r in rows], "k bigint, p string, n int, s string")


def new(*numbers: int) -> list[Row]:
    """Rows of these keys whose other values are new ones."""
    return [row | {"n": 100 + row["k"], "s": f"new {row['k']}"} for row in rows_of(numbers)]


def everything(merge: MergeBuilder) -> MergeBuilder:
    """Each clause once, or twice."""
    return (
        merge.when_matched_delete(condition="s.n % 2 = 1")
        .when_matched_update({"s": "t.k || ' was ' || coalesce(t.s, '-')", "n": F.col("s.n")}, condition="t.k < 10")
        .when_matched_update()
        .when_not_matched_insert({"k": "s.k", "p": "lower(s.p)", "n": "7"}, condition="s.k > 50")
        .when_not_matched_insert()
        .when_not_matched_by_source_delete(condition="t.k = 8")
        .when_not_matched_by_source_update({"s": "'left'"}, condition="t.k IN (9, 10)")
    )


def expected(old: Sequence[Row], incoming: Sequence[Row]) -> tuple[list[Row], tuple[int, int, int]]:
    """What comes of it, and how many rows were deleted, updated and inserted."""
    by_key = {row["k"]: row for row in incoming}
    out, counts = [], [0, 0, 0]
    for row in old:
        match = by_key.pop(row["k"], None)
        if row["k"] == 8 if match is None else match["n"] % 2 == 1:
            counts[0] += 1
            continue
        changes: Row = {}
        if match is not None and row["k"] < 10:
            changes = {"s": f"{row['k']} was {row['s'] or '-'}", "n": match["n"]}
        elif match is not None:
            changes = match
        elif row["k"] in (9, 10):
            changes = {"s": "left"}
        counts[1] += bool(changes)
        out.append(row | changes)
    for row in by_key.values():
        counts[2] += 1
        out.append({**row, "n": 7, "s": None} if row["k"] > 50 else row)
    return out, (counts[0], counts[1], counts[2])


@pytest.mark.parametrize("kind", FEW_KINDS)
def test_every_clause_as_every_reader_sees_it(
    spark: SparkSession, make: Make, referees: Referees, java: JavaReferee, kind: str
) -> None:
    made = make(kind)
    incoming = new(2, 3, 11, 12, 20, 40, 60)
    wanted, counts = expected(made.rows, incoming)
    merge = made.table.merge(spark, source(spark, incoming), on="t.k = s.k")
    result = everything(merge).execute()
    made.rows = wanted
    made.check()
    assert (result.rows_deleted, result.rows_updated, result.rows_inserted) == counts
    assert result.operation == "merge"
    if "key" in kind:
        kinds = {"-D": counts[0], "+U": counts[1], "+I": counts[2]}
        assert result.rows_by_kind == kinds
    warehouse = str(Path(made.table.table_path).parents[1])
    for rows in (
        *(referees.rows(reader, warehouse, "db.t") for reader in ("pypaimon", "rust")),
        java.rows(warehouse, "db.t"),
    ):
        assert sorted(map(tuple, rows), key=repr) == rows_in_order(made.rows)


@pytest.mark.parametrize("kind", ["append", "key"])
def test_a_plan_counts_and_writes_nothing(spark: SparkSession, make: Make, kind: str) -> None:
    made = make(kind)
    incoming = new(2, 3, 40)
    before = made.on_disk()
    looked = everything(made.table.merge(spark, source(spark, incoming), on="t.k = s.k", dry_run=True)).execute()
    assert (looked.rows_deleted, looked.rows_updated, looked.rows_inserted) == expected(made.rows, incoming)[1]
    assert (looked.snapshot_id, made.on_disk()) == (None, before)
    # Nothing matches: nothing is committed.
    none = made.table.merge(spark, source(spark, new(99)), on="t.k = s.k").when_matched_update().execute()
    assert none.snapshot_id is None
    made.check()


@pytest.mark.parametrize("kind", ["append", "vectors", "key"])
def test_a_row_that_several_rows_would_change_is_an_error(spark: SparkSession, make: Make, kind: str) -> None:
    made = make(kind)
    before = made.on_disk()
    twice = made.table.merge(spark, source(spark, [*new(3), *new(3), *new(41)]), on="t.k = s.k")
    for merge in (twice.when_matched_update(), twice.when_matched_delete().when_not_matched_insert()):
        with pytest.raises(UsageError, match="several rows of the source") as caught:
            merge.execute()
        assert caught.value.code == "LB6553"
    # Of several that match only one does something.
    one = made.table.merge(spark, source(spark, [*new(3), *rows_of([3])]), on="t.k = s.k")
    assert one.when_matched_update(condition="s.n > 50").execute().rows_updated == 1
    made.update(lambda r: r["k"] == 3, lambda _: new(3)[0])
    made.check()
    if kind == "key":
        inserts = made.table.merge(spark, source(spark, [*new(50), *new(50)]), on="t.k = s.k")
        with pytest.raises(UsageError, match="several rows of the source"):
            inserts.when_not_matched_insert().execute()
    assert made.on_disk() >= before


@pytest.mark.parametrize(
    ("on", "number", "values"),
    [
        ("t.s = s.s", 3, None),
        # The file of the row is not read for this.
        ("t.k = s.k AND t.p = 'x'", 3, None),
        ("t.k = s.k", 89, {"k": "string(s.k % 86)", "p": "s.p"}),
    ],
)
def test_a_key_that_a_row_has_is_not_inserted(
    spark: SparkSession, make: Make, on: str, number: int, values: Any
) -> None:
    made = make("key")
    files = made.on_disk()
    merge = made.table.merge(spark, source(spark, new(number, 90)), on=on)
    with pytest.raises(UsageError, match="under keys that it has") as caught:
        merge.when_matched_update().when_not_matched_insert(values).execute()
    assert caught.value.code == "LB6559"
    assert made.on_disk() == files
    made.check()


def test_new_values_are_checked(spark: SparkSession, make: Make) -> None:
    made = make("append")
    before = made.on_disk()
    merge = made.table.merge(
        spark, spark.sql("SELECT 3L AS k, 'x' AS p, 'no number' AS n UNION ALL SELECT 77, 'y', '1'"), on="t.k = s.k"
    )
    with pytest.raises(BadRowsError, match="the only row is given"):
        merge.when_matched_update().when_not_matched_insert().execute()
    with pytest.raises(SourceMismatchError, match="without a value for 'p'"):
        merge.when_not_matched_insert({"k": "s.k"}).execute()
    assert made.on_disk() == before
    # A text that is a number, and a column that gets nothing.
    assert merge.when_not_matched_insert().execute().rows_inserted == 1
    made.rows.append({"k": 77, "p": "y", "n": 1, "s": None})
    made.check()


@pytest.mark.parametrize("kind", ["append", "key"])
def test_what_others_insert_meanwhile_is_not_inserted_again(
    spark: SparkSession, make: Make, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    made = make(kind)
    real, raced = TableWriter.commit, list[str]()

    def commit(self: TableWriter, *parts: Any) -> Any:
        if not raced:
            raced.append("other")
            with monkeypatch.context() as patch:
                patch.setattr(TableWriter, "commit", real)
                made.append(rows_of([40]))
        return real(self, *parts)

    monkeypatch.setattr(TableWriter, "commit", commit)
    merge = made.table.merge(spark, source(spark, new(40, 41)), on="t.k = s.k")
    result = merge.when_matched_update().when_not_matched_insert().execute()
    assert (result.rows_updated, result.rows_inserted) == (1, 1)
    made.update(lambda r: r["k"] == 40, lambda _: new(40)[0])
    made.rows += new(41)
    made.check()


def test_what_is_found_is_what_is_written(spark: SparkSession, make: Make) -> None:
    made = make("append")
    # A source that says something else each time.
    coin = F.udf(lambda: random.random() < 0.5, "boolean").asNondeterministic()
    incoming = source(spark, new(*range(16))).withColumn("coin", coin())
    merge = made.table.merge(spark, incoming, on="t.k = s.k")
    result = merge.when_matched_update({"s": "s.s"}, condition="s.coin").execute()
    rows = made.table.read(spark).collect()
    assert sorted(row.k for row in rows) == sorted(row["k"] for row in made.rows)
    assert sum((row.s or "").startswith("new") for row in rows) == result.rows_updated


def test_an_empty_table_gets_rows(spark: SparkSession, lake: Lake) -> None:
    for name, parts in (("plain", {}), ("keyed", {"primary_keys": ["k"], "options": {"bucket": "1"}})):
        lake.tables.create_table("db", name, FIELDS, **parts)
        merge = lake.table(f"db.{name}").merge(spark, source(spark, new(1, 2)), on="t.k = s.k")
        result = merge.when_matched_delete().when_not_matched_insert().execute()
        assert (result.rows_inserted, lake.count(f"db.{name}")) == (2, 2)


def test_a_run_is_done_once(spark: SparkSession, make: Make) -> None:
    made = make("append")

    def merged(text: str) -> Any:
        merge = made.table.merge(spark, source(spark, new(3)), on="t.k = s.k", run_id="r")
        return merge.when_matched_update({"s": text}).execute()

    first, again = merged("'x'"), merged("'x'")
    assert again.to_json() == {**first.to_json(), "repeated": True}
    with pytest.raises(UsageError, match="has made snapshot"):
        merged("'y'")


@pytest.mark.parametrize(
    ("kind", "build", "code"),
    [
        ("append", lambda m: m, "LB6552"),
        ("append", lambda m: m.when_matched_delete().when_matched_update(), "LB6552"),
        ("key", lambda m: m.when_matched_update({"k": "1"}), "LB6549"),
        ("append", lambda m: m.when_matched_update({"ss": "1"}), "LB6549"),
        ("append", lambda m: m.when_matched_update({"s": 1}), "LB6549"),
        ("append", lambda m: m.when_not_matched_insert({"ss": "1"}), "LB6554"),
        ("key", lambda m: m.when_not_matched_insert({"n": "1"}), "LB6111"),
        ("key", lambda m: m.when_matched_update({"n": "t.n - 1"}), "LB6551"),
    ],
)
def test_what_is_refused(
    spark: SparkSession, make: Make, kind: str, build: Callable[[MergeBuilder], MergeBuilder], code: str
) -> None:
    made: Changed = make(kind)
    with pytest.raises(LakebedError) as caught:
        build(made.table.merge(spark, source(spark, new(3)), on="t.k = s.k")).execute()
    assert caught.value.code == code
    assert {Path(path).name for f in made.files() for path in f.paths} == made.on_disk()


#: Conditions whose equalities tell which files matter, and what they say of a row and one of the source.
TYING: dict[str, Callable[[Row, Row], bool]] = {
    "t.k = s.k": lambda t, s: t["k"] == s["k"],
    "s.p = t.p AND (T.K = s.k)": lambda t, s: (t["k"], t["p"]) == (s["k"], s["p"]),
    "t.k = s.k AND t.p = 'a' AND s.n > 100": lambda t, s: t["k"] == s["k"] and t["p"] == "a" and s["n"] > 100,
    "t.s = s.s AND t.k = s.k": lambda t, s: t["s"] is not None and (t["s"], t["k"]) == (s["s"], s["k"]),
}


@pytest.mark.parametrize(
    ("kind", "conditions"), [("partitions, avro", [0, 3]), ("key in partitions, avro", [1, 2])], ids=["append", "key"]
)
def test_files_without_a_value_of_the_source_are_not_read(
    spark: SparkSession, make: Make, monkeypatch: pytest.MonkeyPatch, kind: str, conditions: list[int]
) -> None:
    made, numbers = make(kind), random.Random(kind)
    real, plans = Start.narrowed, list[int]()

    def narrowed(self: Start, *parts: Any) -> Any:
        plan = real(self, *parts)
        plans.append(len(plan.files))
        return plan

    for on, ties in [list(TYING.items())[i] for i in conditions]:
        at = numbers.choice([0, 10, 20])
        rows = rows_of([at + numbers.randrange(6), at + 3, 77, 78])
        incoming = [row | {"n": 101, "p": "a" if row["k"] == 78 else row["p"]} for row in rows if row["k"] != at + 3]
        incoming.append(rows_of([at + 3])[0] | {"n": 100})

        def merge(*, on: str = on, incoming: list[Row] = incoming, dry: bool) -> Any:
            merged = made.table.merge(spark, source(spark, incoming), on=on, dry_run=dry)
            return merged.when_matched_update({"n": "s.n"}).when_not_matched_insert(condition="s.k = 78").execute()

        with monkeypatch.context() as patch:
            patch.setattr(merge_rows, "_MANY", 1000)
            whole = merge(dry=True)
        with monkeypatch.context() as patch:
            patch.setattr(Start, "narrowed", narrowed)
            result = merge(dry=False)
        assert (result.rows_updated, result.rows_inserted) == (whole.rows_updated, whole.rows_inserted), on
        found = {r["k"]: s["n"] for r in made.rows for s in incoming if ties(r, s)}
        there = {(r["k"], r["p"]) for r in made.rows for s in incoming if ties(r, s)}
        made.update(lambda r, found=found: r["k"] in found, lambda r, found=found: {"n": found[r["k"]]})
        made.rows += [s for s in incoming if s["k"] == 78 and (78, s["p"]) not in there]
        if "key" in kind:
            made.rows = list({(r["k"], r["p"]): r for r in made.rows}.values())
        made.check()
        every, some = plans[-2:]
        assert some < every, on
    # Rows that no row of the source matches matter: all files are read.
    plans.clear()
    with monkeypatch.context() as patch:
        patch.setattr(Start, "narrowed", narrowed)
        all_rows = made.table.merge(spark, source(spark, []), on="t.k = s.k", dry_run=True)
        assert all_rows.when_not_matched_by_source_delete().execute().rows_deleted == len(made.rows)
    assert len(plans) == 1


_COLUMNS = {
    "k": (physical.BigInt(), st.integers(-9, 9), lambda v: v),
    "n": (physical.SmallInt(), st.integers(-9, 9), lambda v: v),
    "s": (physical.VarChar(9), st.text("ab\u00e9\uffff\U0001f600", max_size=3), lambda v: v),
    "d": (physical.Date(), st.dates(date(1960, 1, 1), date(1980, 1, 1)), lambda v: (v - date(1970, 1, 1)).days),
    "b": (physical.Boolean(), st.booleans(), lambda v: v),
    "x": (physical.Decimal(6, 2), st.decimals(-99, 99, places=2), lambda v: v),
}


@given(st.sampled_from(sorted(_COLUMNS)), st.data())
def test_a_row_with_a_value_of_the_source_is_never_passed_over(name: str, data: st.DataObject) -> None:
    type_, values, stored = _COLUMNS[name]
    found = data.draw(st.lists(values, min_size=1, max_size=5))
    ends = min(found), max(found)
    column = DataField(0, name, type_)
    for few in ((), tuple(set(found))):
        predicate = SourceValues(column, *ends, few).predicate()
        for value in found:
            assert Truths.TRUE in possible(predicate, partition_evidence({0: stored(value)}))
        other = data.draw(values)
        if few and other not in found:
            assert possible(predicate, partition_evidence({0: stored(other)})) == Truths.FALSE
    nothing = SourceValues(column, None, None).predicate()
    assert possible(nothing, partition_evidence({0: stored(found[0])})) == Truths.FALSE
