"""Text that is easily read wrongly: quotes over lines, bytes that are no text, wide encodings, JSON, options."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import math
import re
from decimal import Decimal as Number
from typing import Literal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.ingest_lake import SmallLake
from lakebed.errors import IngestError, LakebedError, SourceMismatchError, UsageError
from lakebed.ingest.sources.csv_source import complete_line
from lakebed.ingest.sources.source_files import SourceFormat
from lakebed.ingest.sources.source_options import check_options
from lakebed.ingest.sources.text_scan import MARKS, TextScan
from lakebed.model import Decimal, Field, Float32, Float64, Int32, List, Option, String

ID = Field("id", Int32())
NAME = Field("name", Option(String()))


def test_a_quoted_value_over_two_lines(lake: SmallLake) -> None:
    lake.create(ID, NAME)
    path = lake.file("a.csv", 'id,name\n1,"two\nlines"\n2,5" pipe\n3,"x""y"\n')
    with pytest.raises(IngestError) as error:
        lake.ingest(path)
    (problem,) = error.value.diagnostics
    assert (problem.code, problem.path) == ("LB6410", path)
    assert repr(f"{path}:2") in problem.message
    assert "two" in problem.message
    assert "--option multiLine=true" in (problem.remedy or "")
    assert "options={'multiLine': 'true'}" in (problem.python_remedy or "")
    assert lake.snapshots() == []
    result = lake.ingest(path, options={"multiLine": False})
    assert (result.rows_written, result.rows_quarantined) == (2, 2)
    assert {r["name"] for r in lake.rows()} == {'5" pipe', 'x"y'}
    assert {p[1] for p in lake.problems()} == {"LB6410", "LB6208"}
    lake.ingest(path, options={"multiLine": True}, again=True)
    assert "two\nlines" in {r["name"] for r in lake.rows()}


@given(st.lists(st.lists(st.text('ab", ', max_size=6), min_size=1, max_size=4), min_size=1, max_size=3))
def test_a_line_is_complete_if_no_quote_is_left_open(rows: list[list[str]]) -> None:
    pattern = re.compile(
        complete_line(check_options(SourceFormat.CSV, None)).replace("\\x{2c}", ",").replace("\\z", "\\Z")
    )
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    for line in out.getvalue().splitlines():
        assert pattern.search(line)
        assert not pattern.search(line + ',"open')
        assert not pattern.search(line + ',"op""en, ""')


def test_text_that_is_none_in_its_encoding(lake: SmallLake) -> None:
    lake.create(ID, NAME)
    bad = lake.file("a.csv", b"id,name\n1,caf\xe9\n2,ok\n")
    good = lake.file("b.csv", "id,name\n3,\ufffd\n".encode())
    result = lake.ingest([bad, good])
    assert (result.rows_written, result.rows_quarantined) == (2, 1)
    assert {p[1] for p in lake.problems()} == {"LB6411"}
    assert {r["name"] for r in lake.rows()} == {"ok", "\ufffd"}


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-16LE", "UTF-32"])
def test_wide_encodings(lake: SmallLake, encoding: str) -> None:
    lake.create(ID, NAME)
    path = lake.file("a.csv", "id,name\n1,é€\n2,b\n".encode(encoding))
    lake.ingest(path, options={"encoding": encoding})
    assert [r["name"] for r in lake.rows(order="id")] == ["é€", "b"]
    with pytest.raises(UsageError):
        lake.ingest(path, options={"encoding": encoding, "multiLine": False}, again=True)


#: Values with the characters that Spark's CSV parser takes for marks of its own.
MARKED = ["a\0", "\0a", "a\0b", 'a"\0', '\0"a', '"\0"', "x,\0", "\0,x", "\0\0 ", "x\ty\0"]
MARKED += [value.replace("\0", "\uffff") for value in MARKED] + ["\ufffe\uffff", "\uffff\ufffe"]


@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
@pytest.mark.parametrize(
    ("ending", "encoding"),
    [("", "UTF-8"), (".gz", "UTF-8"), (".bz2", "UTF-8"), ("", "ISO-8859-1"), (".gz", "ISO-8859-1")],
)
def test_rows_with_characters_that_are_marks_to_the_parser_are_bad(
    lake: SmallLake, ending: str, encoding: str, quoting: Literal[0, 1]
) -> None:
    lake.create(Field("id", Int32()), Field("s", String()), Field("t", String()), Field("u", String()))
    marked = [value for value in MARKED if encoding == "UTF-8" or value.isascii()]
    good = ["a", 'a"', "x,y", "\ufffd\ufeff", "\ufffe", "\x01\x1f\x7f", "\u0085\u2028"]
    good = [value for value in good if encoding == "UTF-8" or value.isascii()] + ["ï¿¿"]
    rows = [(value, "x", "y") for value in marked] + [("x", value, "y") for value in marked]
    rows += [("x", "y", value) for value in marked] + [(value, value, value) for value in good]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=quoting).writerows([("id", "s", "t", "u"), *_numbered(rows)])
    compress = {".gz": gzip.compress, ".bz2": bz2.compress}.get(ending, bytes)
    path = lake.file(f"a.csv{ending}", compress(out.getvalue().encode(encoding)))
    result = lake.ingest(path, options={"encoding": encoding})
    assert (result.rows_written, result.rows_quarantined) == (len(good), 3 * len(marked))
    assert [(r["s"], r["t"], r["u"]) for r in lake.rows(order="id")] == [(value,) * 3 for value in good]
    assert {(p["path"], p["code"]) for row in lake.bad() for p in row["problems"]} == {(None, "LB6412")}
    lines = out.getvalue().split("\n")[1 : 1 + 3 * len(marked)]
    assert sorted(json.loads(row["raw"])["lakebed.dev/line"] for row in lake.bad()) == sorted(lines)


def _numbered(rows: list[tuple[str, str, str]]) -> list[tuple[int, str, str, str]]:
    return [(i, *row) for i, row in enumerate(rows)]


@pytest.mark.parametrize(
    "options", [{"multiLine": "true"}, {"encoding": "UTF-16"}, {"multiLine": "true", "encoding": "latin1"}]
)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_files_with_such_characters_are_refused_where_rows_are_no_lines(
    lake: SmallLake, options: dict[str, str], ending: str
) -> None:
    lake.create(ID, NAME)
    encoding = options.get("encoding", "utf-8")
    compress = gzip.compress if ending else bytes
    good, other = (lake.file(f"{n}.csv{ending}", compress(f"id,name\n1,{n}\n".encode(encoding))) for n in "ab")
    bad = lake.file(f"c.csv{ending}", compress('id,name\n1,"a""\0"\n'.encode(encoding)))
    with pytest.raises(SourceMismatchError) as caught:
        lake.ingest([good, bad], options=options)
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [("LB6412", bad)]
    assert (lake.rows(), lake.bad()) == ([], [])
    assert lake.ingest([good, other], options=options).rows_written == 2


def test_json_and_parquet_keep_such_characters(lake: SmallLake) -> None:
    lake.create(ID, NAME)
    given = [{"id": i, "name": value} for i, value in enumerate(MARKED)]
    plain, escaped = ("\n".join(json.dumps(row, ensure_ascii=ascii) for row in given) for ascii in (False, True))
    for name, text in (("a.jsonl", plain), ("b.jsonl", escaped)):
        lake.ingest(lake.file(name, text))
    lake.ingest(lake.parquet("c.parquet", pa.Table.from_pylist(given)))
    assert sorted(r["name"] for r in lake.rows()) == sorted(3 * MARKED)


@given(st.text("a\0\uffff\ufffeé", max_size=30), st.integers(1, 7), st.sampled_from(["utf-8", "utf-16", "utf-32-be"]))
def test_pieces_make_no_difference_to_what_has_marks(text: str, size: int, encoding: str) -> None:
    scan, data = TextScan(encoding, '"'), text.encode(encoding)
    for at in range(0, len(data), size):
        scan.feed(data[at : at + size])
    assert scan.findings().has_marks == any(mark in text for mark in MARKS)


@given(st.binary(max_size=60), st.integers(1, 7), st.sampled_from(["utf-8", "latin-1", "utf-16-le", "cp1252"]))
def test_pieces_make_no_difference_to_what_is_text(data: bytes, size: int, encoding: str) -> None:
    scan = TextScan(encoding, '"')
    for at in range(0, len(data), size):
        scan.feed(data[at : at + size])
    found = scan.findings()
    start = None
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        start = error.start
    assert found.invalid_at == start


def test_numbers_of_json_are_read_as_they_are_written(lake: SmallLake) -> None:
    lake.create(ID, Field("d", Option(Decimal(38, 18))), Field("f", Option(Float64())))
    lines = [
        '{"id": 1, "d": 1.2345678901234567e5, "f": -0.0}',
        '{"id": 2, "d": 0.1234567890123456789012345678901234567890, "f": 1.5}',
        '{"id": 3, "d": 12345678901234567890.123456789012345678, "f": 0}',
        '{"id": 4, "d": 1, "f": -0}',
    ]
    result = lake.ingest(lake.file("a.json", "\n".join(lines)))
    assert (result.rows_written, result.rows_quarantined) == (3, 1)
    assert {p[:2] for p in lake.problems()} == {("d", "LB6204")}
    first, third, fourth = lake.rows(order="id")
    assert first["d"] == Number("123456.78901234567")
    assert third["d"] == Number("12345678901234567890.123456789012345678")
    assert [math.copysign(1, r["f"]) for r in (third, fourth)] == [1, -1]


@pytest.mark.parametrize(
    "options",
    [{"sep": ""}, {"encoding": "rot13"}, {"quote": "ab"}, {"maxColumns": "many"}, {"lineSep": ""}, {"header": "yes"}],
)
def test_values_of_options_that_spark_would_trip_over(lake: SmallLake, options: dict[str, str]) -> None:
    lake.create(ID)
    with pytest.raises(UsageError) as error:
        lake.ingest(lake.file("a.csv", "id\n1\n"), options=options)
    assert error.value.code == "LB6107"


def test_the_header_goes_by_the_options_too(lake: SmallLake) -> None:
    lake.create(ID, NAME)
    lake.ingest(lake.file("a.csv", "name,id;x,1;y,2;"), options={"lineSep": ";"})
    assert [r["name"] for r in lake.rows(order="id")] == ["x", "y"]
    with pytest.raises(LakebedError) as error:
        lake.ingest(lake.file("b.csv", "id,name\n1,a\n"), options={"maxColumns": 1})
    assert error.value.code == "LB6113"
    lake.ingest("file:" + lake.file("c.csv", "id\n3\n"))
    assert len(lake.rows()) == 3


def test_unsigned_numbers_in_floating_columns(lake: SmallLake) -> None:
    import pyarrow as pa

    lake.create(Field("x", Float32()), Field("l", Option(List(Option(Int32())))))
    lake.ingest(lake.parquet("a.parquet", {"x": pa.array([2**64 - 1, 7], pa.uint64())}))
    assert [r["x"] for r in lake.rows(order="x")] == [7.0, 2.0**64]
