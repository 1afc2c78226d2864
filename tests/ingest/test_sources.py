"""Reading sources: which columns there are, what is malformed, and nothing that is lost without a word."""

from __future__ import annotations

import bz2
import gzip
import json
from datetime import UTC, date, datetime, time
from decimal import Decimal as Number
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from ingest.ingest_lake import SmallLake
from lakebed.errors import IngestError, LakebedError, NotFoundError, UnsupportedError, UsageError
from lakebed.model import (
    Date,
    Decimal,
    Field,
    Float64,
    Int32,
    Int64,
    List,
    Map,
    Option,
    String,
    Struct,
    Time,
    Timestamp,
    TimeUnit,
)

ID = Field("id", Int32())
NAME = Field("name", Option(String()))
MALFORMED, REQUIRED, CAST = "LB6208", "LB6201", "LB6202"


def codes(error: pytest.ExceptionInfo[LakebedError]) -> list[str]:
    return [d.code for d in error.value.diagnostics]


# -- CSV -----------------------------------------------------------------------------------------------------------


def test_columns_are_matched_by_the_header_of_each_file(lake: SmallLake) -> None:
    lake.create(ID, NAME, Field("n", Option(Int32())))
    lake.file("in/a.csv", "id,name,n\n1,a,10\n")
    lake.file("in/b.csv", "n,id\n20,2\n")
    lake.file("in/c.csv", "name,n,id\nc,30,3\n")
    lake.file("in/_hidden.csv", "id\n9\n")
    lake.file("in/d/e.csv", "id,name,n\n4,e,40\n")
    lake.file("in/empty.csv", "")
    result = lake.ingest(str(lake.root / "in"))
    assert (result.rows_read, result.rows_written) == (4, 4)
    assert lake.rows(order="id") == [
        {"id": 1, "name": "a", "n": 10},
        {"id": 2, "name": None, "n": 20},
        {"id": 3, "name": "c", "n": 30},
        {"id": 4, "name": "e", "n": 40},
    ]


def test_malformed_lines_are_quarantined_as_they_are(lake: SmallLake) -> None:
    lake.create(ID, NAME)
    path = lake.file("a.csv", 'id,name\n1,a\n2\n3,b,c\n"4","x ""y"", z"\n')
    result = lake.ingest(path)
    assert (result.rows_read, result.rows_written, result.rows_quarantined) == (4, 2, 2)
    assert {r["raw"] for r in lake.bad()} == {'{"lakebed.dev/line":"2"}', '{"lakebed.dev/line":"3,b,c"}'}
    assert {r["source_file"] for r in lake.bad()} == {path}
    assert lake.problems() == {(None, MALFORMED, "2"), (None, MALFORMED, "3,b,c")}
    assert lake.rows(order="id")[1] == {"id": 4, "name": 'x "y", z'}


def test_options_of_the_reader_are_passed_on(lake: SmallLake) -> None:
    lake.create(ID, NAME, Field("x", Option(Float64())), Field("d", Option(Date())))
    text = "# a note\nid;name;x;d\n 1 ;NA;n/a;09.02.2024\n2;ü;NA;NA\n"
    path = lake.file("a.txt", text.encode("latin1"))
    options = {"sep": ";", "NullValue": "NA", "encoding": "ISO-8859-1", "comment": "#", "nanValue": "n/a"}
    options["dateFormat"] = "dd.MM.yyyy"
    lake.ingest(path, format="csv", options=options)
    first, second = lake.rows(order="id")
    assert first["x"] != first["x"]
    assert (first["name"], first["d"]) == (None, date(2024, 2, 9))
    assert second == {"id": 2, "name": "ü", "x": None, "d": None}


def test_without_a_header_columns_go_by_position(lake: SmallLake) -> None:
    lake.create(ID, NAME)
    result = lake.ingest(lake.file("a.csv", "1,a\n2,b\n3\n"), options={"header": False})
    assert (result.rows_written, result.rows_quarantined) == (2, 1)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"mode": "DROPMALFORMED"}, "LB6105"),
        ({"inferSchema": True}, "LB6105"),
        ({"columnNameOfCorruptRecord": "x"}, "LB6105"),
        ({"schema": "id INT"}, "LB6105"),
        ({"nulValue": "NA"}, "LB6106"),
        ({"encoding": "klingon"}, "LB6107"),
    ],
)
def test_options_that_would_defeat_the_checks_are_refused(lake: SmallLake, options: dict[str, Any], code: str) -> None:
    lake.create(ID)
    with pytest.raises(UsageError) as error:
        lake.ingest(lake.file("a.csv", "id\n1\n"), options=options)
    assert codes(error) == [code]
    if code == "LB6106":
        assert error.value.diagnostics[0].suggestions[0] == "nullValue"


def test_compressed_texts_are_read(lake: SmallLake) -> None:
    lake.create(ID)
    lake.file("a.csv.gz", gzip.compress(b"id\n1\n"))
    lake.file("b.csv.bz2", bz2.compress(b"id\n2\n"))
    lake.ingest([str(lake.root / "*.csv.*")])
    assert [r["id"] for r in lake.rows(order="id")] == [1, 2]


def test_a_byte_order_mark_is_no_part_of_the_first_name(lake: SmallLake) -> None:
    lake.create(ID)
    lake.ingest(lake.file("a.csv", b"\xef\xbb\xbfid\r\n1\r\n"))
    assert lake.rows() == [{"id": 1}]


@pytest.mark.parametrize(
    "name", ["a b.csv", "100%.csv", "a+b.csv", "a[1].csv", "x{y}.csv", "q?.csv", "ü%20#.csv", "b\\s.csv"]
)
def test_any_file_name_will_do(lake: SmallLake, name: str) -> None:
    lake.create(ID)
    path = lake.file(name, "id\n1\nx\n")
    assert lake.ingest(path).rows_read == 2
    assert [r["source_file"] for r in lake.bad()] == [path]


def test_names_that_differ_in_case_are_other_names(lake: SmallLake) -> None:
    lake.create(ID)
    with pytest.raises(IngestError) as error:
        lake.ingest(lake.file("a.csv", "id,ID\n1,2\n"))
    assert codes(error) == ["LB6112"]
    assert error.value.diagnostics[0].path == "ID"
    lake.ingest(lake.file("b.csv", "ID,id\n1,2\n"), unknown_columns="ignore")
    assert lake.rows() == [{"id": 2}]


def test_all_that_is_wrong_with_the_columns_is_said_at_once(lake: SmallLake) -> None:
    lake.create(ID, NAME, Field("must", Int32()))
    with pytest.raises(IngestError) as error:
        lake.ingest(lake.file("a.csv", "id,nmae,Must\n1,a,2\n"))
    found = {(d.code, d.path, d.suggestions) for d in error.value.diagnostics}
    assert found == {("LB6111", "must", ("Must",)), ("LB6112", "nmae", ("name",)), ("LB6112", "Must", ("must",))}
    assert lake.snapshots() == []
    assert lake.data_files() == set()


def test_a_header_that_cannot_be_trusted_is_an_error(lake: SmallLake) -> None:
    lake.create(ID)
    for text in ("id,id\n1,2\n", 'id,"a\nb"\n1,2\n'):
        with pytest.raises(IngestError) as error:
            lake.ingest(lake.file("a.csv", text), unknown_columns="ignore")
        assert codes(error) == ["LB6113"]


def test_strange_column_names(lake: SmallLake) -> None:
    names = ["a.b", "c`d", "e f", "g,h", "naïve", "😀", "c0", "v0", "bad", "raw", "malformed", "lakebed_partition"]
    lake.create(*(Field(n, Option(Int32())) for n in names), partition_keys=["a.b", "lakebed_partition"])
    header = ",".join(f'"{n}"' for n in names)
    result = lake.ingest(lake.file("a.csv", f"{header}\n{','.join(map(str, range(12)))}\n{','.join('x' * 12)}\n"))
    assert (result.rows_written, result.rows_quarantined) == (1, 1)
    assert lake.rows() == [dict(zip(names, range(12), strict=True))]
    assert {p["path"] for p in lake.bad()[0]["problems"]} == {"`a.b`", "`c``d`", "`e f`", *names[3:]}
    assert json.loads(lake.bad()[0]["raw"]) == dict.fromkeys(names, "x")


# -- JSON ----------------------------------------------------------------------------------------------------------

POINT = Option(Struct((Field("x", Int32()), Field("tags", Option(List(Option(String())))))))


def test_json_lines(lake: SmallLake) -> None:
    lake.create(ID, Field("p", POINT), Field("m", Option(Map(String(), Int64()))), Field("a.b?", Option(String())))
    lines = [
        '{"id": 1, "p": {"x": "5", "tags": ["a", null, 7]}, "m": {"k": 1}, "a.b?": "odd"}',
        "",
        '{"id": 2, "p": null}',
        '{"id": 3, "p": {"x": 1.5}}',
        '{"id": 4, "p": [1]}',
        '{"id": 5} {"id": 6}',
        '{"id": 7}, {"id": 8}',
        '{"id": 9, "id": 10}',
        '{"id": 11',
        "[1]",
        "null",
        '{"id": 12} rest',
        "{'id': 13}",
    ]
    result = lake.ingest(lake.file("a.jsonl", "\n".join(lines)))
    assert (result.rows_read, result.rows_written, result.rows_quarantined) == (12, 2, 10)
    assert lake.rows(order="id") == [
        {"id": 1, "p": {"x": 5, "tags": ["a", None, "7"]}, "m": [("k", 1)], "a.b?": "odd"},
        {"id": 2, "p": None, "m": None, "a.b?": None},
    ]
    assert {r["raw"] for r in lake.bad()} == set(lines[3:])
    found = lake.problems()
    assert {p for p in found if p[1] != MALFORMED} == {("p.x", "LB6204", "1.5"), ("p", CAST, "[1]")}


def test_unknown_json_keys_fail_at_every_level_and_leave_nothing(lake: SmallLake) -> None:
    lake.create(ID, Field("p", POINT), Field("m", Option(Map(String(), Int32()))))
    path = lake.file(
        "a.json", '{"id": 1, "p": {"x": 1, "y": 2}, "m": {"any": 1}}\n{"id": 2, "Id": 3, "extra": {"z": 1}}\n'
    )
    with pytest.raises(IngestError) as error:
        lake.ingest(path)
    assert {(d.code, d.path) for d in error.value.diagnostics} == {("LB6112", n) for n in ("p.y", "Id", "extra")}
    assert lake.data_files() == set()
    assert lake.snapshots() == []
    assert lake.ingest(path, unknown_columns="ignore").rows_written == 2


def test_a_required_json_key_that_no_line_has_fails(lake: SmallLake) -> None:
    lake.create(ID, Field("must", Int32()))
    with pytest.raises(IngestError) as error:
        lake.ingest(lake.file("a.ndjson", '{"id": 1}\n{"id": 2}\n'))
    assert codes(error) == ["LB6111"]
    result = lake.ingest(lake.file("b.ndjson", '{"id": 1}\n{"id": 2, "must": 3}\n'))
    assert (result.rows_written, result.rows_quarantined) == (1, 1)


def test_json_options(lake: SmallLake) -> None:
    lake.create(ID, NAME)
    path = lake.file("a.json", "{'id': 1, 'name': 'é'}\n".encode("latin1"))
    lake.ingest(path, options={"allowSingleQuotes": True, "encoding": "ISO-8859-1"})
    assert lake.rows() == [{"id": 1, "name": "é"}]
    with pytest.raises(UsageError) as error:
        lake.ingest(path, options={"encoding": "UTF-16"}, again=True)
    assert codes(error) == ["LB6107"]
    with pytest.raises(UsageError) as error:
        lake.ingest(path, options={"multiLine": True})
    assert codes(error) == ["LB6105"]


def test_text_that_is_no_utf8_is_malformed(lake: SmallLake) -> None:
    lake.create(ID, NAME)
    result = lake.ingest(lake.file("a.json", b'{"id": 1, "name": "\xff"}\n'))
    assert result.rows_quarantined == 1


# -- Parquet -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("generated_code")
def test_parquet_files_are_each_read_by_their_own_columns(lake: SmallLake) -> None:
    lake.create(ID, NAME, Field("n", Option(Decimal(5, 2))))
    files = [
        lake.parquet("a.parquet", {"id": pa.array([1], pa.int64()), "n": pa.array([1.5])}),
        lake.parquet("b.parquet", {"n": pa.array([Number("2.25")], pa.decimal128(9, 4)), "id": pa.array(["2"])}),
        lake.parquet("c.parquet", {"id": pa.array([3], pa.uint8()), "name": pa.array(["c"]), "n": pa.array([3])}),
    ]
    assert lake.ingest(files).rows_written == 3
    assert lake.rows(order="id") == [
        {"id": 1, "name": None, "n": Number("1.50")},
        {"id": 2, "name": None, "n": Number("2.25")},
        {"id": 3, "name": "c", "n": Number("3.00")},
    ]


@pytest.mark.usefixtures("generated_code")
def test_positions_in_parquet_files_are_kept(lake: SmallLake) -> None:
    lake.create(ID)
    path = lake.parquet("a.parquet", {"id": pa.array([1, 2**40, 3, None], pa.int64())})
    lake.ingest(path)
    assert {(r["source_offset"], r["raw"]) for r in lake.bad()} == {(1, '{"id":1099511627776}'), (3, '{"id":null}')}
    assert lake.problems() == {("id", "LB6203", str(2**40)), ("id", REQUIRED, "NULL")}


@pytest.mark.usefixtures("generated_code")
def test_times_and_nanoseconds_of_parquet(lake: SmallLake) -> None:
    micro = Option(Timestamp(TimeUnit.MICROSECOND))
    columns = [
        Field("t", Option(Time())),
        Field("u", Option(Time(TimeUnit.MICROSECOND))),
        Field("n", micro),
        Field("i", micro),
    ]
    lake.create(*columns)
    nanos = pa.array([-1000, 1_700_000_000_123_456_000, 1], pa.timestamp("ns", "UTC"))
    clock = [time(0, 0, 0, 1000), time(23, 59, 59, 999000), None]
    table = {
        "t": pa.array(clock, pa.time32("ms")),
        "u": pa.array(clock, pa.time64("us")),
        "n": nanos,
    }
    lake.parquet("a.parquet", table)
    old = pa.array([datetime(2024, 1, 1, 12)], pa.timestamp("ns"))
    lake.parquet("b.parquet", {"i": old}, use_deprecated_int96_timestamps=True)
    result = lake.ingest(str(lake.root / "?.parquet"))
    assert (result.rows_written, result.rows_quarantined) == (3, 1)
    rows = lake.rows()
    assert {r["t"] for r in rows} == set(clock)
    assert {r["u"] for r in rows} == {1000, 86399999000, None}
    assert {r["n"] for r in rows if r["n"]} == {
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=UTC),
    }
    assert [r["i"] for r in rows if r["i"]] == [datetime(2024, 1, 1, 12, tzinfo=UTC)]
    assert lake.problems() == {("n", "LB6204", "1")}


@pytest.mark.usefixtures("generated_code")
def test_a_type_that_never_fits_fails_before_any_row(lake: SmallLake) -> None:
    lake.create(ID, Field("d", Option(Date())), Field("p", POINT))
    table = {"id": pa.array([[1]]), "d": pa.array([1.5]), "p": pa.array([{"x": 1, "zz": 2}])}
    with pytest.raises(IngestError) as error:
        lake.ingest(lake.parquet("a.parquet", table))
    assert sorted((d.code, str(d.path)) for d in error.value.diagnostics) == [
        ("LB6110", "d"),
        ("LB6110", "id"),
        ("LB6112", "p.zz"),
    ]
    wide = pa.table({"id": pa.array([Number(1)], pa.decimal256(50, 0))})
    with pytest.raises(UnsupportedError) as refused:
        lake.ingest(lake.parquet("b.parquet", wide))
    assert codes(refused) == ["LB6115"]


# -- DataFrames ----------------------------------------------------------------------------------------------------


def test_a_dataframe_with_strange_names(lake: SmallLake, conf: Any) -> None:
    conf({"spark.sql.session.timeZone": "America/New_York", "spark.sql.ansi.enabled": "false"})
    lake.create(Field("a.b", Int32()), Field("c`d e", Option(Struct((Field("x.y", Int32()),)))))
    frame = lake.spark.range(3).select(
        F.col("id").alias("a.b"), F.struct((F.col("id") * 2_000_000_000).alias("x.y")).alias("c`d e")
    )
    result = lake.ingest(frame)
    assert (result.rows_read, result.rows_written, result.rows_quarantined) == (3, 2, 1)
    assert {(p, c) for p, c, _ in lake.problems()} == {("`c``d e`.`x.y`", "LB6203")}
    assert lake.bad()[0]["source_file"] is None
    assert not frame.storageLevel.useMemory


def test_names_of_a_dataframe_that_only_spark_confuses(lake: SmallLake, conf: Any) -> None:
    lake.create(ID)
    frame = lake.spark.sql("SELECT 1 AS id, 2 AS ID")
    with pytest.raises(IngestError) as error:
        lake.ingest(frame, unknown_columns="ignore")
    assert codes(error) == ["LB6114"]
    conf({"spark.sql.caseSensitive": "true"})
    lake.ingest(lake.spark.sql("SELECT 1 AS id, 2 AS ID"), unknown_columns="ignore")
    assert lake.rows() == [{"id": 1}]


def test_a_dataframe_that_is_cached_stays_cached(lake: SmallLake) -> None:
    lake.create(ID)
    frame = lake.spark.range(3).select(F.col("id").cast("int")).persist()
    lake.ingest(frame)
    assert frame.storageLevel.useMemory
    frame.unpersist()


# -- what is no source ---------------------------------------------------------------------------------------------


def test_sources_that_are_none(lake: SmallLake, tmp_path: Path) -> None:
    lake.create(ID)
    with pytest.raises(NotFoundError) as missing:
        lake.ingest([str(tmp_path / "no.csv"), str(tmp_path / "*.none"), lake.file("a.csv", "id\n")])
    assert codes(missing) == ["LB6101", "LB6101"]
    with pytest.raises(IngestError) as hidden:
        lake.ingest(lake.file("_a.csv", "id\n1\n"))
    assert codes(hidden) == ["LB6102"]
    for source, parts, code in (
        (lake.file("a.xlsx", ""), {}, "LB6103"),
        (lake.file("a.csv", "id\n"), {"format": "parqet"}, "LB6103"),
        ([lake.file("a.csv", "id\n"), lake.file("a.json", "")], {}, "LB6104"),
        ([], {}, "LB6108"),
        (5, {}, "LB6108"),
    ):
        with pytest.raises(UsageError) as error:
            lake.ingest(source, **parts)
        assert codes(error) == [code]
