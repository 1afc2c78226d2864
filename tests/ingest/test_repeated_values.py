"""Values that several rows of a run have, in a column of which each row has its own."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import lakebed
from ingest.ingest_lake import SmallLake
from lakebed.errors import SourceMismatchError, UnsupportedError
from lakebed.ingest import checked_write
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.model import Extra, Field, Float64, Int32, Int64, List, Option, String
from lakebed.model.extra import ENUM, ON_BAD_ROW, SYSTEM_COLUMN, UNIQUE

REPEATED = "LB6213"


def unique(name: str, type_: Any, **more: Any) -> Field:
    return Field(name, type_, Extra({UNIQUE: True, **more}))


K, N, S = unique("k", Option(Int32())), Field("n", Int32()), unique("s", Option(String()))
#: k, n and s of rows: a value twice and thrice, NULL, values that are bad, in rows that are bad for another reason.
ROWS: list[tuple[Any, Any, Any]] = [
    (1, 0, "a"),
    (2, 1, "b"),
    (1, 2, "c"),
    (None, 3, None),
    (None, 4, None),
    (3, "x", "d"),
    (3, 6, "e"),
    ("x", 7, "f"),
    ("x", 8, "b"),
    (5, 9, "A"),
    (6, 10, "g"),
    (6, 11, "g"),
    (6, 12, ""),
]


def expected_problems() -> dict[int, set[tuple[str, str]]]:
    """What is wrong with each row, by its place."""

    def whole(value: Any) -> bool:
        return isinstance(value, int)

    k = Counter(row[0] for row in ROWS if whole(row[0]))
    s = Counter(row[2] for row in ROWS if row[2])
    found: dict[int, set[tuple[str, str]]] = {}
    for i, row in enumerate(ROWS):
        wrong = {("k", "LB6202")} if row[0] is not None and not whole(row[0]) else set()
        wrong |= {("n", "LB6202")} if not whole(row[1]) else set()
        wrong |= {("k", REPEATED)} if k[row[0]] > 1 else set()
        wrong |= {("s", REPEATED)} if s[row[2]] > 1 else set()
        if wrong:
            found[i] = wrong
    return found


def csv(rows: list[tuple[Any, Any, Any]]) -> str:
    lines = (",".join("" if v is None else str(v) for v in row) for row in rows)
    return "\n".join(["k,n,s", *lines]) + "\n"


def told(lake: SmallLake) -> list[set[tuple[str | None, str]]]:
    return [{(p["path"], p["code"]) for p in row["problems"]} for row in lake.bad()]


def as_multiset(found: Any) -> Counter[frozenset[tuple[str, str]]]:
    return Counter(frozenset(wrong) for wrong in found)


def test_all_rows_of_a_run_that_have_a_value_are_bad(lake: SmallLake, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one file and over two, as a model counts them; no worker converts plain values by itself here."""
    monkeypatch.setattr(checked_write, "PLAIN_FROM", 0)
    lake.create(K, N, S)
    wrong = expected_problems()
    one = lake.file("one.csv", csv(ROWS))
    looked = lake.ingest(one, dry_run=True)
    assert {(p.path, p.code): p.message.split(":")[0] for p in looked.problems}["k", REPEATED] == "7 times"
    assert (looked.rows_written, looked.rows_quarantined) == (len(ROWS) - len(wrong), len(wrong))

    done = lake.ingest([lake.file("a.csv", csv(ROWS[::2])), lake.file("b.csv", csv(ROWS[1::2]))])
    assert (done.rows_written, done.rows_quarantined) == (len(ROWS) - len(wrong), len(wrong))
    assert {row["n"] for row in lake.rows()} == set(range(len(ROWS))) - set(wrong)
    assert as_multiset(told(lake)) == as_multiset(wrong.values())
    found = {
        (p["path"], p["found"], p["expected"]) for row in lake.bad() for p in row["problems"] if p["code"] == REPEATED
    }
    assert ("s", "g", "a value that no other row of the run has") in found
    assert all(row["raw"] and row["source_file"] for row in lake.bad())


def test_a_replay_looks_at_the_rows_that_it_takes_up(lake: SmallLake) -> None:
    """And a run not at the rows that the table has."""
    lake.create(K, N)
    assert lake.ingest(lake.file("a.csv", "k,n\n1,0\n1,1\n2,2\n3,x\n")).rows_quarantined == 3
    again = lake.file("b.json", '{"k":2,"n":0}\n{"k":7,"n":1}\n')
    assert lake.ingest(again).rows_written == 2
    bad = lakebed.open(str(lake.root / "warehouse")).quarantine("db.t")
    done = bad.replay(lake.spark, where='raw LIKE \'%"n":"1"%\'')
    assert (done.rows_chosen, done.rows_replayed) == (1, 1)


def test_numbers_that_are_equal_are_one_value(lake: SmallLake) -> None:
    lake.create(unique("f", Option(Float64())))
    assert lake.ingest(lake.file("a.csv", "f\n0.0\n-0.0\nNaN\nNaN\n1\n1.0\n2\n")).rows_written == 1
    frame = lake.spark.sql("select * from values (0.1d), (0.1d), (double('infinity')) as t(f)")
    with pytest.raises(BadRowsError, match="2 of 3 rows are bad, more than 0"):
        lake.ingest(frame, max_bad_rows=0)


def test_such_a_row_ends_the_run_where_the_column_says_so(lake: SmallLake) -> None:
    lake.create(unique("k", Int32(), **{ON_BAD_ROW: "fail"}), N)
    assert lake.ingest(lake.file("a.csv", "k,n\n1,0\n2,x\n")).rows_quarantined == 1
    with pytest.raises(BadRowsError) as error:
        lake.ingest(lake.file("b.csv", "k,n\n3,0\n3,1\n"))
    assert [(d.code, d.path) for d in error.value.diagnostics] == [("LB6121", None), (REPEATED, "k")]
    assert len(lake.snapshots()) == 1


def test_the_last_row_of_a_key_stays_the_last_one(lake: SmallLake) -> None:
    """Rows are brought together by the unique values, and come to their keys in the order of the file all the same."""
    lake.create(Field("k", Int32()), unique("s", Option(Int64())), primary_keys=("k",), options={"bucket": "1"})
    rows = [(i % 3, (i * 7919) % 1000) for i in range(200)]
    rows += [(2, 5000), (2, 5000)]
    lines = "".join(f"{k},{s}\n" for k, s in rows)
    assert lake.ingest(lake.file("a.csv", "k,s\n" + lines)).rows_quarantined == 2
    last = {k: s for k, s in rows if s != 5000}
    assert {row["k"]: row["s"] for row in lake.rows()} == last


def test_what_cannot_be_held_to_be_unique_is_refused(lake: SmallLake) -> None:
    lake.create(Field("offset", Int64(), Extra({SYSTEM_COLUMN: "offset"})), unique("k", Int32()))
    with pytest.raises(UnsupportedError) as error:
        lake.ingest(lake.file("a.csv", "k\n1\n"))
    assert error.value.code == "LB6143"


def test_lists_are_not_held_to_be_unique(lake: SmallLake) -> None:
    lake.create(unique("k", List(Int32())), Field("e", Option(String()), Extra({ENUM: ["a"]})))
    with pytest.raises(SourceMismatchError) as error:
        lake.ingest(lake.file("a.json", '{"k":[1]}\n'))
    assert (error.value.code, error.value.diagnostics[0].path) == ("LB6142", "k")
