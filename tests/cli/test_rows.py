"""`lakebed ingest` and `lakebed read`, with the session of this process."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from cli.command_line import CommandLine
from lakebed.cli.commands.read import split_expressions
from lakebed.cli.commands.spark_options import spark_failures
from lakebed.errors import LakebedError, UsageError

EVENTS = """\
kind: Table
version: 1
content:
  name: shop.events
  schema:
    fields:
      - {name: id, type: Int64}
      - {name: at, type: {kind: Option, inner: Timestamp}}
      - {name: paid, type: {kind: Option, inner: {kind: Decimal, precision: 20, scale: 10}}}
"""
ROWS = "id,at,paid\n1,2024-01-01T10:00:00Z,0\n2,2024-01-01T10:00:00+02:00,1.5\nthree,,\n"


@pytest.fixture
def events(lakebed: CommandLine, warehouse: Path, here: Path) -> Path:
    (here / "events.yaml").write_text(EVENTS, encoding="utf-8")
    lakebed.ok("apply", "events.yaml", "--yes")
    (here / "events.csv").write_text(ROWS, encoding="utf-8")
    return here / "events.csv"


def test_from_a_file_to_rows(lakebed: CommandLine, events: Path, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = lakebed("ingest", "shop.events", "events.csv")
    assert (first.code, first.err) == (0, "")
    head, hint = first.out.splitlines()
    assert head.startswith("shop.events: 3 rows read, 2 written, 1 quarantined (snapshot 1, schema 0, run ")
    assert hint == "bad rows and their reasons: lakebed quarantine show shop.events"

    again = lakebed.json("ingest", "shop.events", "events.csv")
    assert (again["rows_read"], again["snapshot_id"], len(again["skipped_files"])) == (0, None, 1)

    shown = lakebed("read", "shop.events", "--select", "id, paid", "--where", "id > 1")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines() == ["id           paid", "─" * 17, " 2   1.5000000000", "(1 row)"]
    assert lakebed.ok("read", "shop.events", "--limit", "1").endswith("\n(the first row; there are more)\n")

    # Spark gives instants in the zone of the process; what is printed does not depend on that.
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        rows = lakebed.ok("--json", "read", "shop.events", "--limit", "2").splitlines()
    time.tzset()
    assert sorted(map(json.loads, rows), key=lambda row: row["id"]) == [
        {"id": 1, "at": "2024-01-01T10:00:00+00:00", "paid": "0.0000000000"},
        {"id": 2, "at": "2024-01-01T08:00:00+00:00", "paid": "1.5000000000"},
    ]
    failed = lakebed("--json", "read", "shop.events", "--where", "1 / (id - 1) > 0")
    assert (failed.code, failed.codes) == (1, ["LB7012"])
    assert failed.json["diagnostics"][0]["message"].startswith("Spark failed: [DIVIDE_BY_ZERO] ")
    days = "sequence(date'-0001-12-31', date'0000-01-01') as l, named_struct('d', date'10000-01-01') as s"
    far = f"{days}, map(timestamp_ntz'0000-02-29 01:02:03.4', timestamp'+12000-01-01 00:00:00Z') as m, d"
    far += ", date'2024-02-29' as n"
    shown = lakebed.ok("--json", "read", "shop.events", "--limit", "1", "--select", far.replace(", d,", ", at as d,"))
    row = json.loads(shown)
    assert row["l"] == ["-0001-12-31", "0000-01-01"]
    assert row["s"] == {"d": "+10000-01-01"}
    assert row["m"] == [["0000-02-29T01:02:03.400000", "+12000-01-01T00:00:00+00:00"]]
    assert (row["n"], row["d"][:4]) == ("2024-02-29", "2024")
    assert "+10000-01-01" in lakebed.ok("read", "shop.events", "--select", "date_add(date'9999-12-31', 1) as d")


def test_more_bad_rows_than_allowed_end_with_14(lakebed: CommandLine, events: Path, spark: Any) -> None:
    result = lakebed("ingest", "shop.events", "events.csv", "--max-bad-rows", "0")
    assert (result.code, result.out) == (14, "")
    assert result.err.startswith("error[LB6120]: shop.events: 1 of 3 rows is bad, more than 0")
    assert lakebed.json("history", "shop.events")["snapshots"] == []
    for wrong in ("5", "0.05", "101%", "-1%", "x"):
        assert lakebed("ingest", "shop.events", "events.csv", f"--max-bad-share={wrong}").code == 2
    looked = lakebed.json("ingest", "shop.events", "events.csv", "--dry-run", "--max-bad-share", "33.4%")
    assert (looked["dry_run"], looked["rows_written"], looked["rows_quarantined"]) == (True, 2, 1)
    assert len(looked["problems"]) == 1
    assert lakebed.json("history", "shop.events")["snapshots"] == []
    assert "shop.events__quarantine" not in lakebed.ok("tables", "--quarantine")


def test_a_directory_is_watched(lakebed: CommandLine, events: Path, here: Path, spark: Any) -> None:
    (here / "in").mkdir()
    (here / "in" / "events.csv").write_bytes(events.read_bytes())
    watch = ("ingest", "shop.events", "in", "--watch", "--watch-every", "1s", "--stop-after-idle", "0s")
    first = lakebed(*watch)
    assert first.code == 0
    assert first.out.count("rows read") == 1
    again = lakebed(*watch, "--json")
    [line] = [json.loads(text) for text in again.out.splitlines()]
    assert (again.code, line["rows_read"], len(line["skipped_files"])) == (0, 0, 1)
    for wrong in (["--watch-every", "1s"], ["--watch", "--dry-run"], ["--watch", "--run-id", "r"]):
        assert lakebed("ingest", "shop.events", "in", *wrong).code == 2


def test_what_an_ingest_leaves_out_and_warns_of(lakebed: CommandLine, events: Path, here: Path, spark: Any) -> None:
    for name in ("id=1/a.csv", "id=x/b.csv", "_hidden.csv", "readme.txt", "old/a.csv"):
        (here / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (here / "in" / name).write_text("paid\n2\n", encoding="utf-8")
    refused = lakebed("ingest", "shop.events", "in")
    assert (refused.code, refused.out) == (2, "")
    assert "error[LB6103]" in refused.err
    words = ("ingest", "shop.events", "in", "--include", "id=*/*.csv", "--include", "*.txt", "--exclude", "readme*")
    first = lakebed(*words)
    assert (first.code, first.err) == (0, "")
    lines = first.out.splitlines()
    assert lines[0].startswith("shop.events: 2 rows read, 1 written, 1 quarantined")
    assert lines[1:5] == [
        "left out 3 files:",
        f"  {here}/in/_hidden.csv (hidden)",
        f"  {here}/in/old/a.csv (not included)",
        f"  {here}/in/readme.txt (excluded)",
    ]
    twice = lakebed(*words, "--again")
    assert twice.code == 0
    assert twice.err.startswith("warning[LB6135]: the good rows of ")
    other = lakebed(*words, "--option", "nullValue=-", "--json")
    assert (other.code, other.codes, len(other.json["result"]["left_out"])) == (0, ["LB6134"], 3)
    bad = lakebed()
    (here / "bad.csv").write_text("id\nx\ny\n", encoding="utf-8")
    bad = lakebed("ingest", "shop.events", "bad.csv")
    assert (bad.code, "2 quarantined" in bad.out) == (14, True)
    assert bad.err.startswith("warning[LB6137]: all 2 rows are bad")


def test_expressions_that_spark_does_not_understand(lakebed: CommandLine, events: Path, spark: Any) -> None:
    for words, said in (
        (["--where", "id > no_such(1)"], "LB6555]: Spark does not understand the filter: [UNRESOLVED_ROUTINE]"),
        (["--where", "s.idd > 1"], "LB6555]: Spark does not understand the filter: [UNRESOLVED_COLUMN.WITH_SUGG"),
        (["--select", "id +"], "LB7011]: Spark does not understand that: [PARSE_SYNTAX_ERROR]"),
    ):
        result = lakebed("read", "shop.events", *words)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"error[{said}")
        assert len(result.err.splitlines()) == 2
    failed = lakebed("--json", "read", "shop.events", "--where", "s.idd > 1")
    assert (failed.json["ok"], failed.codes, len(failed.out.splitlines())) == (False, ["LB6555"], 1)
    assert logging.getLogger("SQLQueryContextLogger").level > logging.CRITICAL


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["read", "shop.nothing"], 1, "there is no table shop.nothing"),
        (["read", "shop.events@snap:7"], 1, "snapshot 7 does not exist"),
        (["ingest", "shop.nothing", "events.csv"], 1, "there is no table shop.nothing"),
        (["ingest", "shop.events@0", "events.csv"], 2, "no version can be given here"),
        (["ingest", "shop.events", "events.csv", "--option", "nullValue"], 2, "--option takes KEY=VALUE"),
    ],
)
def test_what_is_wrong_without_spark_is_said_before_it_starts(
    lakebed: CommandLine, events: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, said: str
) -> None:
    def started(*_: object) -> None:
        raise AssertionError("Spark is not needed for that")

    monkeypatch.setattr(f"lakebed.cli.commands.{words[0]}.spark_session", started)
    result = lakebed(*words)
    assert (result.code, result.out) == (code, "")
    assert said in result.err


def test_without_java_it_says_what_to_install(
    lakebed: CommandLine, events: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    result = lakebed("read", "shop.events", "--engine", "spark")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error[LB6125]: JAVA_HOME is '/nowhere'")


class TestFailures:
    def test_others_pass(self) -> None:
        for error in (LakebedError.of("LB7001", "x"), KeyError("x"), OSError("x")):
            with pytest.raises(type(error)) as caught, spark_failures():
                raise error
            assert caught.value is error

    def test_the_line_that_matters(self) -> None:
        from pyspark.errors import AnalysisException, PySparkException

        text = "Job aborted\n\tat x.y\nCaused by: java.io.IOException: gone\n\tat z"
        with pytest.raises(LakebedError) as caught, spark_failures():
            raise PySparkException(text)
        assert str(caught.value) == "error[LB7012]: Spark failed: java.io.IOException: gone"
        with pytest.raises(UsageError, match="does not understand that: no;"), spark_failures():
            raise AnalysisException("no; such")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", ["a"]),
        (" a , b ", ["a", "b"]),
        ("concat(a, b), c", ["concat(a, b)", "c"]),
        ("`a,b`, 'x, y' as z, m['k,v']", ["`a,b`", "'x, y' as z", "m['k,v']"]),
        (",a,,", ["a"]),
        ("a)", ["a)"]),
    ],
)
def test_selected_expressions_are_split_at_outer_commas(text: str, parts: list[str]) -> None:
    assert split_expressions(text) == parts


def test_rows_are_deleted(lakebed: CommandLine, events: Path, spark: Any) -> None:
    lakebed.ok("ingest", "shop.events", "events.csv")
    delete = ("delete", "shop.events", "--where", "paid = 0")
    looked = lakebed.ok(*delete, "--dry-run")
    assert looked == "shop.events: would delete 1 row\n"
    refused = lakebed(*delete)
    assert (refused.code, "not confirmed, nothing was changed" in refused.err) == (2, True)
    assert lakebed("delete", "shop.events", "--where", "piad = 0").codes_of_text == ["LB6463"]
    made = lakebed.json(*delete, "--yes", "--run-id", "r")
    assert (made["operation"], made["rows_deleted"], made["snapshot_id"]) == ("delete", 1, 2)
    again = lakebed.ok(*delete, "--yes", "--run-id", "r")
    assert again.splitlines() == [
        "shop.events: deleted 1 row (snapshot 2, schema 0)",
        "this run was done before; nothing was done now",
    ]
    assert lakebed.ok(*delete, "--yes") == "shop.events: no row matches, nothing to delete.\n"


def test_files_take_the_place_of_rows_of_a_filter(lakebed: CommandLine, events: Path, spark: Any) -> None:
    lakebed.ok("ingest", "shop.events", "events.csv")
    lines = ROWS.splitlines()
    (events.parent / "one.csv").write_text("\n".join(lines[:2]), encoding="utf-8")
    overwrite = ("overwrite", "shop.events", "one.csv", "--ignore-folders")
    assert lakebed(*overwrite, "--where", "piad = 0").codes_of_text == ["LB6463"]
    refused = lakebed(*overwrite, "--where", "id = 1")
    assert (refused.code, "overwrite the rows with id = 1" in refused.err) == (2, True)
    assert lakebed(*overwrite, "--where", "id = 1", "--whole", "--yes").codes_of_text == ["LB5104"]
    for command in (overwrite, ("ingest", *overwrite[1:])):
        yes = ("--yes",) if command is overwrite else ()
        assert lakebed(*command, "--order-by", "id", "--order-by", "piad", *yes).codes_of_text == ["LB6512"]
    misfit = lakebed(*overwrite, "--where", "id = 2", "--yes")
    assert (misfit.code, misfit.codes_of_text) == (14, ["LB6570"])
    said = lakebed.ok(*overwrite, "--where", "id = 1", "--order-by", "id", "--yes")
    assert said == "shop.events: deleted 1 row, inserted 1 row (snapshot 2, schema 0)\n"


def rows_of(lakebed: CommandLine, columns: str) -> list[tuple[Any, ...]]:
    lines = lakebed.ok("--json", "read", "shop.events", "--select", columns).splitlines()
    return sorted(tuple(json.loads(line).values()) for line in lines)


def test_rows_are_updated(lakebed: CommandLine, events: Path, spark: Any) -> None:
    lakebed.ok("ingest", "shop.events", "events.csv")
    update = ("update", "shop.events", "--set", "paid=paid + id", "--set", "at = NULL", "--where", "id = 1")
    assert lakebed.ok(*update, "--dry-run") == "shop.events: would update 1 row\n"
    refused = lakebed(*update)
    assert (refused.code, "update rows of shop.events: not confirmed" in refused.err) == (2, True)
    for wrong in (["paid"], ["=1"], ["paid="], ["paid=1", "paid = 2"]):
        given = [text for one in wrong for text in ("--set", one)]
        assert lakebed("update", "shop.events", *given, "--where", "true").code == 2
    made = lakebed.json(*update, "--yes", "--run-id", "r")
    assert (made["operation"], made["rows_updated"], made["snapshot_id"]) == ("update", 1, 2)
    assert lakebed.json(*update, "--yes", "--run-id", "r")["repeated"]
    assert rows_of(lakebed, "id, at IS NULL, CAST(paid AS INT)") == [(1, True, 1), (2, False, 1)]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_files_are_merged(lakebed: CommandLine, events: Path, spark: Any, form: str) -> None:
    lakebed.ok("ingest", "shop.events", "events.csv")
    here = events.parent
    # Columns that the source has not stay as they are.
    texts = {
        "csv": ["id,paid\n1,9\n", "paid,id\n5,5\n", "id,paid\n7,x\n", "id\n9\n", "id,pain\n9,1\n"],
        "json": ['{"id": 1, "paid": 9}', '{"id": 5, "paid": 5}', '{"id": 7, "paid": "x"}', ""],
    }
    texts["json"].append('{"id": 9, "paid": 1}\n{"id": 10, "PAID": 1}')
    names = [f"{i}.{form}" for i in range(5)]
    for name, text in zip(names, texts[form], strict=True):
        (here / name).write_text(text, encoding="utf-8")
    merge = ("merge", "shop.events", "--on", "t.id = s.id", "--ignore-folders")
    both = ("--when-matched", "update", "--when-not-matched", "insert")
    looked = lakebed.ok(*merge, *names[:2], *both, "--dry-run")
    assert looked == "shop.events: would update 1 row, would insert 1 row\n"
    refused = lakebed(*merge, *names[:2], *both)
    assert (refused.code, "merge rows of shop.events: not confirmed" in refused.err) == (2, True)
    made = lakebed.json(*merge, *names[:2], *both, "--yes", "--run-id", "r")
    assert lakebed.json(*merge, "gone.csv", *both, "--yes", "--run-id", "r")["repeated"]
    assert (made["rows_updated"], made["rows_inserted"], made["rows_deleted"]) == (1, 1, 0)
    assert rows_of(lakebed, "id, at IS NULL, CAST(paid AS INT)") == [(1, False, 9), (2, False, 1), (5, True, 5)]
    # All of it is refused where a row is bad, a column is unknown, or files differ.
    assert lakebed(*merge, names[2], *both, "--yes").codes_of_text[0] == "LB6120"
    assert lakebed(*merge, names[4], *both, "--yes").codes_of_text == ["LB6112"]
    if form == "csv":
        assert lakebed(*merge, names[0], names[3], *both, "--yes").codes_of_text == ["LB6572"]
    assert lakebed(*merge, names[0], "--yes").code == 2
    assert (
        lakebed.json(*merge, names[4], "--ignore-unknown-columns", "--when-matched", "delete", "--yes")["snapshot_id"]
        is None
    )
    deleted = lakebed.json(*merge, names[1], "--when-matched", "delete", "--yes")
    assert (deleted["rows_deleted"], deleted["operation"]) == (1, "merge")
