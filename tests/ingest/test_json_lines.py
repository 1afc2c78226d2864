"""Lines of JSON: comments where they are allowed, the reasons of malformed ones, and names that are odd."""

from __future__ import annotations

import time

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from ingest.ingest_lake import SmallLake
from lakebed.errors import IngestError, UsageError
from lakebed.ingest.sources.json_exact import in_doubt, wanted, written_again
from lakebed.ingest.sources.json_values import is_nothing, is_one_object, parse_line
from lakebed.model import Decimal, Field, Int32, List, Map, Option, String, Struct
from lakebed.physical.paimon_types import STRING, Array, DataField, Row
from lakebed.physical.paimon_types import Map as StoredMap

COMMENTS = {"allowComments": True}
ALLOWED = {"allowcomments": "true"}


def test_comments_may_stand_wherever_blanks_may(lake: SmallLake) -> None:
    lake.create(Field("i", Int32()), Field("t", Option(String())), Field("d", Option(Decimal(5, 2))))
    good = [
        '/* a */ {"i": 0} // b',
        '// only a comment "',
        '{"i": 1, "t": "/* no */ // comment"} /* " */',
        ' /* { */ /* * / */ {"i": /**/ 2, /* "t": "x", */ "t": 1.10 /* , */} ',
        "/* nothing */ // at all",
        '{"i": 3, "d": 2.50 // }',
        '/* [ */{"i": 4, "t": {"b": 1.0}, "d": /*"*/ 1e0}//',
    ]
    bad = ['/ {"i": 5}', '{"i": 6} / 2', '{"i": 7 /* }', '/* a */ [{"i": 8}]', '{"i": 1/**/0}', '{"i": 9}/**/{"i": 9}']
    result = lake.ingest(lake.file("a.json", "\n".join([*good, *bad])), options=COMMENTS)
    assert (result.rows_written, result.rows_quarantined) == (4, 7)
    assert [(r["i"], r["t"], r["d"] and str(r["d"])) for r in lake.rows(order="i")] == [
        (0, None, None),
        (1, "/* no */ // comment", None),
        (2, "1.10", None),
        (4, '{"b": 1.0}', "1.00"),
    ]
    assert {r["raw"] for r in lake.bad()} == {good[5], *bad}
    without = lake.ingest(lake.file("b.json", good[0]))
    assert without.rows_quarantined == 1


@pytest.mark.parametrize("allowed", [{}, ALLOWED, {**ALLOWED, "allowsinglequotes": "true"}], ids=str)
def test_hostile_lines_take_time_that_grows_with_their_length(spark: SparkSession, allowed: dict[str, str]) -> None:
    """Ten times as long, and about ten times as much time: a hundred times would be minutes."""
    parts = ["/*", ",/*", '"\\"', ',"', "{/*", '{"a":/*', "//", "[/", "'\\'", '"a":[1,', "/**/", '"a" /*', "\\", '\\"']
    row = DataField(0, "a", STRING)
    wants = [wanted(t) for t in (Row((row,)), Array(STRING), StoredMap(STRING, STRING), Array(Row((row,))))]
    line = F.col("line")
    checks = [in_doubt(line, want, allowed) for want in wants]
    checks += [F.coalesce(F.length(written_again(line, wants[0], allowed)), F.lit(0))]
    checks += [is_nothing(line, allowed), is_one_object(line, parse_line(line, allowed), allowed)]
    took = []
    for size in (100, 20_000, 200_000):
        lines = [(start + part * (size // len(part)),) for part in parts for start in ('{"a":', "")]
        started = time.monotonic()
        frame = spark.createDataFrame(lines, "line string").select(*(c.alias(f"c{i}") for i, c in enumerate(checks)))
        frame.write.format("noop").mode("overwrite").save()
        took.append(time.monotonic() - started)
    assert took[2] < 30 * took[1] + 10, took


def test_the_reason_of_a_malformed_line_is_the_reason(lake: SmallLake) -> None:
    lake.create(Field("t", Option(String())))
    half, number, twice, deep = (
        "one JSON object, with \\ud800 to \\udfff in pairs only",
        "one JSON object, with numbers of up to 1000 characters",
        "one JSON object in which no key is there twice",
        "one JSON object, nested up to 1000 levels deep",
    )
    lines = {
        '{"t": "\\ud800"}': half,
        '{"t": "a\\udc00b"}': half,
        '{"x": {"\\uDBFF": 1}}': half,
        '{"t": ["\\\\\\ud800"]}': half,
        '{"t": "\\ud83d\\ude00\\\\ud800", "t": 1}': twice,
        f'{{"t": {"1" * 1001}}}': number,
        f'{{"t": [-0.{"1" * 1001}]}}': number,
        f'{{"t": "{"1" * 1001}", "t": 2}}': twice,
        f'{{"t": {"[" * 1001}{"]" * 1001}}}': deep,
        f'{{"t": "{"[" * 1001}"': "one JSON object",
        '{"t": 1': "one JSON object",
    }
    result = lake.ingest(lake.file("a.json", "\n".join(lines)))
    assert result.rows_written == 0
    found = {r["raw"]: [(p["code"], p["expected"]) for p in r["problems"]] for r in lake.bad()}
    assert found == {line: [("LB6208", expected)] for line, expected in lines.items()}


def test_an_unknown_key_is_told_by_its_name_however_odd(lake: SmallLake) -> None:
    inner = Struct((Field("a", Option(Int32())),))
    lake.create(
        Field("v", Option(inner)), Field("l", Option(List(inner))), Field("m", Option(Map(String(), Option(inner))))
    )
    cases = {
        '{"": 1}': "``",
        '{"v": {"": 1}}': "v.``",
        '{"v": {"a.b": 1}}': "v.`a.b`",
        '{"l": [{"": 1}]}': "l[].``",
        '{"m": {"": {"": 1}}}': "m[''].``",
        '{"v": {"a ": 1}}': "v.`a `",
    }
    with pytest.raises(IngestError) as error:
        lake.ingest(lake.file("a.json", "\n".join(cases)))
    problems = {problem.path: problem for problem in error.value.diagnostics}
    assert sorted(problems) == sorted(cases.values())
    for name, problem in problems.items():
        assert problem.code == "LB6112"
        assert f"has a column {name}, which" in problem.message
    assert problems["v.`a `"].suggestions == ("a",)


@pytest.mark.parametrize("name", ["windows-1252", "cp1252", "latin2", "utf8x", "Shift_JIS", "hex", "\0"])
@pytest.mark.parametrize("ending", ["csv", "json"])
def test_an_encoding_that_spark_lacks_is_refused_before_it_starts(lake: SmallLake, name: str, ending: str) -> None:
    def spark() -> SparkSession:
        raise AssertionError("Spark was started")

    lake.create(Field("v", Option(Int32())))
    lake.spark = spark  # type: ignore[assignment]
    with pytest.raises(UsageError) as error:
        lake.ingest(lake.file(f"a.{ending}", "v\n1\n"), options={"encoding": name})
    (problem,) = error.value.diagnostics
    assert (problem.code, problem.path) == ("LB6107", "encoding")
    assert "ISO-8859-1" in str(problem.expected)
    assert "UTF-8" in str(problem.remedy)


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "latin1", "ISO_8859_1", "us-ascii"])
def test_encodings_go_by_the_names_of_python_and_java(lake: SmallLake, encoding: str) -> None:
    lake.create(Field("v", Option(String())))
    text = "e" if "ascii" in encoding else "é"
    for name, content in (("a.csv", f"v\n{text}\n"), ("a.json", f'{{"v": "{text}"}}\n')):
        lake.ingest(lake.file(name, content.encode(encoding)), options={"encoding": encoding})
    assert [r["v"] for r in lake.rows()] == [text, text]


def test_files_with_colons_in_their_names(lake: SmallLake) -> None:
    lake.create(Field("v", Option(Int32())))
    paths = [lake.file("a:b.csv", "v\n1\n"), lake.file("q:r/2024-01-01T10:00.csv", 'v\n"2"\n')]
    lake.ingest(paths)
    lake.ingest(lake.file("a:b.json", '{"v": 3}\nx\n'))
    lake.ingest(lake.parquet("a:b%3A.parquet", {"v": [4]}))
    lake.ingest(str(lake.root / "q:r"), again=True)
    assert sorted(r["v"] for r in lake.rows()) == [1, 2, 2, 3, 4]
    assert [r["source_file"] for r in lake.bad()] == [str(lake.root / "a:b.json")]
