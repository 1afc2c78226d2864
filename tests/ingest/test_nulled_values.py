"""Bad values that become NULL, where the run, the schema or the column says so."""

from __future__ import annotations

from typing import Any

import pytest

import lakebed
from ingest.ingest_lake import SmallLake
from lakebed.errors import UsageError
from lakebed.ingest import checked_write
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.ingest.nulled_values import NulledValues, nulled_text, parse_nulled, summed
from lakebed.model import Extra, Field, Int8, Int32, List, Option, Schema, String, Struct
from lakebed.model.extra import MAXIMUM, ON_BAD_ROW


def field(name: str, type_: Any, action: str | None = None, **more: Any) -> Field:
    return Field(name, type_, Extra({**({} if action is None else {ON_BAD_ROW: action}), **more}))


def nulled(result: Any) -> set[tuple[str, str, int]]:
    return {(n.column, n.code, n.rows) for n in result.nulled}


INNER = Struct((Field("m", Int8()),))
LINES = (
    '{"id": 1, "n": "x", "s": "a", "l": [{"m": 1}]}\n'
    '{"id": 2, "n": 300, "s": "b", "l": [{"m": null}]}\n'
    '{"id": "x", "n": "y", "s": "c", "l": []}\n'
    '{"id": 4, "n": 11, "s": 5, "l": [{"m": 1}, {"m": 999}]}\n'
    '{"id": 5, "n": null}\n'
    "{\n"
)


def test_a_bad_value_becomes_null_where_its_column_takes_null(lake: SmallLake) -> None:
    lake.create(
        Field("id", Int32()),
        field("n", Option(Int8()), **{MAXIMUM: 10, "lakebed.dev/default": 7}),
        field("s", String()),
        field("l", Option(List(INNER))),
    )
    lines = LINES.replace('"n": null}', '"n": null, "s": "e"}')
    source = lake.file("a.json", lines)
    told = {("n", "LB6202", 1), ("n", "LB6203", 1), ("n", "LB6212", 1), ("l", "LB6201", 1), ("l", "LB6203", 1)}
    looked = lake.ingest(source, on_bad_rows="null", dry_run=True)
    assert nulled(looked) == told
    assert "would become NULL: 1 value of column n (LB6212)" in str(looked)
    done = lake.ingest(source, on_bad_rows="null", run_id="r")
    assert (done.rows_written, done.rows_quarantined, nulled(done)) == (4, 2, told)
    # NULL becomes the default where there is one, as elsewhere.
    assert [(row["id"], row["n"], row["s"], row["l"]) for row in lake.rows(order="id")] == [
        (1, 7, "a", [{"m": 1}]),
        (2, 7, "b", None),
        (4, 7, "5", None),
        (5, 7, "e", None),
    ]
    # A row that is bad keeps all its problems.
    assert lake.problems() == {("id", "LB6202", "x"), ("n", "LB6202", "y"), (None, "LB6208", "{")}
    assert nulled(lake.ingest(source, on_bad_rows="null", run_id="r")) == told


def test_a_column_says_more_than_the_schema_and_that_more_than_the_run(
    lake: SmallLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where workers convert plain values by themselves, and leave the others to the checks."""
    fields = (
        Field("id", Int32()),
        field("keep", Option(Int8()), "quarantine"),
        field("gone", Option(Int8()), "null"),
        Field("other", Option(Int8())),
    )
    lake.create(*fields)
    text = "id,keep,gone,other\n1,x,1,1\n2,1,x,1\n3,1,1,x\nx,1,1,1\n"
    source = lake.file("a.csv", text)
    looked = lake.ingest(source, dry_run=True)
    assert (looked.rows_written, nulled(looked)) == (1, {("gone", "LB6202", 1)})
    monkeypatch.setattr(checked_write, "PLAIN_FROM", 0)
    for dry_run in (True, False):
        looked = lake.ingest(source, on_bad_rows="null", dry_run=dry_run)
        assert (looked.rows_written, nulled(looked)) == (2, {("gone", "LB6202", 1), ("other", "LB6202", 1)})
    with pytest.raises(BadRowsError, match="2 bad rows of the kind") as error:
        lake.ingest(source, on_bad_rows="fail", again=True)
    assert error.value.code == "LB6121"
    assert lake.ingest(lake.file("b.csv", text[: text.index("3")]), on_bad_rows="fail").rows_quarantined == 1
    with pytest.raises(UsageError, match="on_bad_rows is 'ignore'"):
        lake.ingest(source, on_bad_rows="ignore")


def test_a_schema_says_it_for_all_its_columns(lake: SmallLake) -> None:
    """A run may not loosen it. A DataFrame and a table with a key are as files and others are."""
    fields = (Field("id", Int32()), Field("n", Option(Int8())), field("q", Option(Int8()), "quarantine"))
    lake.tables.create_table(
        "db", "t", Schema(fields, Extra({ON_BAD_ROW: "fail"})), primary_keys=("id",), options={"bucket": "1"}
    )
    frame = lake.spark.sql("select * from values (1, 1, 1000), (2, 1, 1) as t(id, n, q)")
    assert lake.ingest(frame, on_bad_rows="null").rows_quarantined == 1
    with pytest.raises(BadRowsError, match="1 bad rows of the kind"):
        lake.ingest(lake.spark.sql("select 3 as id, 1000 as n, 1 as q"), on_bad_rows="null")
    assert [row["id"] for row in lake.rows()] == [2]


def test_a_replay_does_as_the_columns_declare(lake: SmallLake) -> None:
    lake.create(Field("id", Int32()), field("n", Option(Int8()), "null"))
    lake.ingest(lake.file("a.csv", "id,n\n1;0,x\n"))
    bad = lakebed.open(str(lake.root / "warehouse")).quarantine("db.t")
    mended = lake.file("b.csv", "id,n\n1,x\n")
    done = bad.replay(lake.spark, mended, run_id=bad.list(lake.spark)[0].run_id)
    assert (done.rows_replayed, nulled(done)) == (1, {("n", "LB6202", 1)})
    assert str(done).endswith("became NULL: 1 value of column n (LB6202)")


def test_writes_that_have_no_quarantine_make_nothing_null(lake: SmallLake) -> None:
    lake.create(Field("id", Int32()), field("n", Option(Int8()), "null"))
    table = lakebed.open(str(lake.root / "warehouse")).table("db.t")
    with pytest.raises(BadRowsError):
        table.append(lake.spark.sql("select 1 as id, 1000 as n"))
    assert lake.snapshots() == []


def test_what_a_snapshot_says_is_read_back() -> None:
    found = [NulledValues("b", "LB6202", 1), NulledValues("a.b", "LB6203", 2), NulledValues("b", "LB6202", 4)]
    assert summed(found) == (NulledValues("b", "LB6202", 5), NulledValues("a.b", "LB6203", 2))
    assert parse_nulled(nulled_text(found)) == tuple(found)
    for broken in (None, "", "{}", "[1]", "[[1,2]]", '[["a","b","c"]]', "nonsense"):
        assert parse_nulled(broken) == ()
