"""`lakebed read --engine`: the same output by Arrow as by Spark, and which of them reads."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import lakebed as package
from cli.command_line import CommandLine
from lakebed.cli.read_engine import plain_names
from read.foreign_files import put_rows
from read.keyed_tables import INSERT, KeyedTable, Record
from read.test_formats import COLUMNS, LATER, ROWS, evolve

FIELDS = [("id", "INT"), ("at", "TIMESTAMP(6) WITH LOCAL TIME ZONE"), ("price", "DECIMAL(5, 2)"), ("note", "STRING")]


class StartedError(Exception):
    """Spark would be started."""


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: Any, **__: Any) -> None:
        raise StartedError

    monkeypatch.setattr("lakebed.cli.commands.read.spark_session", started)


@pytest.fixture
def lake(warehouse: Path) -> package.Lake:
    """`db.t`, with three rows in two files."""
    made = package.open(warehouse)
    made.tables.create_table("db", "t", FIELDS)
    put_rows(made, "db.t", "parquet", [{"id": 1, "at": 0, "price": Decimal("1.10")}, {"id": 2, "note": "x,y"}])
    put_rows(made, "db.t", "avro", [{"id": 3, "at": -62_198_755_200_000_000}])
    return made


@pytest.mark.usefixtures("no_spark", "lake")
def test_rows_are_read_without_spark_where_nothing_needs_it(lakebed: CommandLine) -> None:
    shown = lakebed("read", "db.t", "--limit", "2")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines() == [
        "id   at                          price   note",
        "─" * 45,
        " 1   1970-01-01T00:00:00+00:00    1.10   NULL",
        " 2   NULL                         NULL   x,y",
        "(the first 2 rows; there are more)",
    ]
    assert lakebed.ok("read", "db.t", "--select", "note, `id`", "--where", "id in (2, 9)").splitlines()[2:] == [
        "x,y     2",
        "(1 row)",
    ]
    rows = [json.loads(line) for line in lakebed.ok("--json", "read", "db.t", "--engine", "arrow").splitlines()]
    assert rows[0] == {"id": 1, "at": "1970-01-01T00:00:00+00:00", "price": "1.10", "note": None}
    assert [row["at"] for row in rows[1:]] == [None, "-0001-01-01T00:00:00+00:00"]
    assert len(lakebed.ok("--json", "read", "db.t", "--limit", "1").splitlines()) == 1
    assert lakebed.ok("read", "db.t", "--count", "--where", "id > 1") == "2\n"
    assert lakebed.json_of("read", "db.t", "--count", "--where", "note = 'x,y'", "--engine=arrow")["rows"] == 1
    assert lakebed.ok("read", "db.t@snap:1", "--limit", "0").endswith("(2 rows)\n")


@pytest.mark.usefixtures("no_spark", "lake")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--select", "upper(note)"], "LB7014"),
        (["--select", "current_date"], "LB7014"),
        (["--null-on-cast-error"], "LB7014"),
        (["--where", "upper(note) = 'X'"], "LB5610"),
        (["--count", "--where", "id % 2 = 1"], "LB5610"),
    ],
)
def test_what_needs_spark_starts_it_unless_arrow_is_asked_for(
    lakebed: CommandLine, words: list[str], code: str
) -> None:
    failed = lakebed("read", "db.t", *words, "--engine", "arrow")
    assert failed.codes_of_text == [code]
    assert "--engine" in failed.err
    for engine in ([], ["--engine", "auto"], ["--engine", "spark"]):
        with pytest.raises(StartedError):
            lakebed("read", "db.t", *words, *engine)


@pytest.mark.usefixtures("no_spark")
def test_a_server_and_tables_that_arrow_refuses_are_read_by_spark(
    lakebed: CommandLine, lake: package.Lake, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in (["--engine", "spark"], ["--remote", "sc://nowhere"]):
        with pytest.raises(StartedError):
            lakebed("read", "db.t", *words)
    assert lakebed("read", "db.t", "--remote", "sc://nowhere", "--engine", "arrow").code == 0
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    import pyarrow as pa

    table = KeyedTable(warehouse, "sums", {"k": ("INT", pa.int32()), "v": ("INT", pa.int32())}, options=options)
    for number in (0, 1):
        table.add([Record(INSERT, number, {"k": 1, "v": 1})], level=0)
    table.commit()
    for words in ([], ["--count"]):
        with pytest.raises(StartedError):
            lakebed("read", "db.sums", *words)
        assert lakebed("read", "db.sums", *words, "--engine", "arrow").codes_of_text == ["LB5605"]
    monkeypatch.setattr("lakebed.cli.read_engine.find_spec", lambda _: None)
    with pytest.raises(StartedError):
        lakebed("read", "db.t")


def test_names_alone_are_told_from_expressions() -> None:
    assert plain_names(["a", "`b c`", "_d1"]) == ["a", "b c", "_d1"]
    for text in ("a.b", "a as b", "NULL", "true", "current_date", "now", "1", "`a``b`", "*", "a b", "é"):
        assert plain_names([text]) is None


def test_both_engines_print_the_same(lakebed: CommandLine, warehouse: Path, spark: Any) -> None:
    made = package.open(warehouse)
    made.tables.create_table("db", "t", COLUMNS)
    put_rows(made, "db.t", "parquet", ROWS)
    evolve(made, "db.t")
    put_rows(made, "db.t", "avro", LATER)
    flat = "id, flag, f, x, q, huge, c, v, b, y, day, time, ms, zus, zns, l, rows"
    asked = (["--select", flat], ["--select", "q", "--where", "q > 0 OR id = 0", "--limit", "9"])
    for words in (*(["read", "db.t", *some] for some in asked), ["--json", "read", "db.t"]):
        arrow, by_spark = (lakebed.ok(*words, "--engine", engine).splitlines() for engine in ("arrow", "spark"))
        assert len(arrow) >= 5
        if words[0] == "--json":
            # Entries of maps are in no order.
            assert sorted(map(_unordered, arrow)) == sorted(map(_unordered, by_spark))
        else:
            # The order of rows is nobody's.
            assert sorted(arrow) == sorted(by_spark)


@pytest.mark.usefixtures("spark")
def test_columns_that_are_not_selected_stand_in_nobodys_way(lakebed: CommandLine, warehouse: Path) -> None:
    made = package.open(warehouse)
    made.tables.create_table("db", "t", ["id INT"])
    put_rows(made, "db.t", "parquet", [{"id": 1}])
    vector = {"type": "VECTOR", "element": "FLOAT", "length": 2}
    made.tables.alter_table("db", "t", [{"action": "addColumn", "fieldNames": ["far"], "dataType": vector}])
    assert lakebed("read", "db.t", "--engine", "spark").code == 1
    for engine in ("spark", "arrow"):
        assert lakebed.ok("--json", "read", "db.t", "--engine", engine, "--select", "id") == '{"id": 1}\n'
    assert lakebed.ok("--json", "read", "db.t", "--select", "ID + 1 AS n", "--where", "`id` = 1") == '{"n": 2}\n'


def test_both_engines_understand_a_filter_in_the_time_zone_of_the_lake(
    lakebed: CommandLine, lake: package.Lake, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEBED_TIME_ZONE", "+02:00")
    words = ["read", "db.t", "--select", "id, at", "--where", "at >= TIMESTAMP '1970-01-01 02:00:00'"]
    try:
        shown = [lakebed.ok(*words, "--engine", engine).splitlines() for engine in ("arrow", "spark")]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert shown == [["id   at", "─" * 30, " 1   1970-01-01T02:00:00+02:00", "(1 row)"]] * 2


def _unordered(line: str) -> str:
    row = json.loads(line)
    return json.dumps({**row, "n": sorted(row["n"] or [], key=str), "days": sorted(row["days"] or [])}, sort_keys=True)
