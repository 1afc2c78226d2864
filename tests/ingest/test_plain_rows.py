"""Rows that workers convert by themselves come out as the checks would have them, and the others go through these."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lakebed
from ingest.ingest_lake import SmallLake
from ingest.test_read_schemas import applied, optional
from lakebed.arrow.plain_lines import read_lines
from lakebed.arrow.plain_problems import judge_texts
from lakebed.arrow.plain_rows import PART, PROBLEMS, PlainLines, PlainPart, PlainRows
from lakebed.arrow.plain_values import PlainColumn, convert_texts, is_taken
from lakebed.errors import LakebedError
from lakebed.ingest import checked_write
from lakebed.ingest.ingest import IngestResult
from lakebed.model import (
    Bool,
    Date,
    Decimal,
    Field,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    LogicalType,
    Option,
    String,
    Struct,
    Timestamp,
    UInt8,
    UInt32,
)
from lakebed.model.extra import DEFAULT, ON_BAD_ROW, Extra
from lakebed.physical import paimon_types as physical

TYPES: dict[str, LogicalType] = {
    "flag": Bool(),
    "tiny": Int8(),
    "small": Int16(),
    "whole": Int32(),
    "large": Int64(),
    "byte": UInt8(),
    "word": UInt32(),
    "money": Decimal(7, 2),
    "count": Decimal(20, 0),
    "part": Decimal(3, 3),
    "single": Float32(),
    "double": Float64(),
    "day": Date(),
    "moment": Timestamp(),
    "name": String(),
}
NUMBERS = """0|-0|7|-7|+7|007|127|128|-128|-129|255|256|32767|32768|2147483647|2147483648|-2147483648|4294967295
4294967296|9223372036854775807|9223372036854775808|1.0|1.5|-1.25|1.255|12345.67|123456.78|99999.99|1e3|1E-3|1e400|-1e400|1e-400
.5|5.|0.125|0x1F|1f|1d|1_000| 7|7 |NaN|inf|Infinity|-inf|1,5|--1|1-|-|1e38|3.5e38|16777217|0.1|1111111111111111111
11111111111111111111|99999999999999999999999999999999999999|4.9e-324|1.7976931348623157e308|99999999999999999999
100000000000000000000|0.999|0.9999|1000000000000000000000000000000000000000000000.5|\u0663"""
DAYS = """2024-02-29|2023-02-29|2024-02-30|1970-01-01|0001-01-01|1582-10-10|9999-12-31|10000-01-01|2024-2-9|2024-13-01
2024-00-10|24-02-09|2024/02/09|2024-02-09Z|2024-02-09 |-2024-02-09|2024"""
CLOCKS = """00:00:00|23:59:59|24:00:00|23:60:00|23:59:60|1:02:03|12:34|12|12:34:56.1|12:34:56.123456|12:34:56.1234567
12:34:56.|12:34:56Z|12:34:56.5Z|12:34:56+02:00|12:34:56 UTC|12:34:56z|12:34:56ZZ|12:34:56 Z|123456|1234"""
WORDS = "true|false|TRUE|True|t|yes|1|null|NULL|\u00e9|a\tb|\\|\u65e5\u672c\u8a9e|\u200b7"


def split(texts: str) -> list[str]:
    return re.split(r"[|\n]", texts)


SOME_DAYS = ("2024-02-29", "2023-02-29", "1883-11-18", "2024-03-31")
STAMPS = [f"{day}{mark}{clock}" for day, mark, clock in product(SOME_DAYS, " T", split(CLOCKS))]
TEXTS = [*split(NUMBERS), *split(DAYS), *STAMPS, *split(WORDS)]


def some_texts() -> list[str]:
    """Texts as they are, and with a character more, less or other."""
    random, found = Random(7), list(TEXTS)
    for text in TEXTS:
        at = random.randrange(len(text))
        found += [text[:at] + random.choice("0159.-+eEZT: x") + text[at + random.randint(0, 1) :] or "0"]
    return list(dict.fromkeys(found))


def some_values(names: Sequence[str]) -> list[tuple[str, str]]:
    """Texts, each with some of the columns."""
    random = Random(8)
    return [pair for pair in product(some_texts(), names) if random.random() < 0.2]


@pytest.fixture
def always_plain(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Whether workers look for plain rows, however small the files are."""
    return lambda looked_for: monkeypatch.setattr(checked_write, "PLAIN_FROM", 0 if looked_for else 2**62)


def fields() -> list[Field | str]:
    flat = (Field(name, Option(type_)) for name, type_ in TYPES.items())
    return [Field("id", Int32()), *flat, "wall TIMESTAMP(3)", "short VARCHAR(3)"]


def told(lake: SmallLake, table: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The rows of the table, and the bad ones with their problems."""
    bad = lake.rows(f"{table}__quarantine")
    return sorted(map(repr, lake.rows(table))), sorted((row["raw"], repr(row["problems"])) for row in bad)


def both_ways(lake: SmallLake, path: str, always_plain: Callable[[bool], None], **options: Any) -> Sequence[Any]:
    """What an ingest tells, with and without plain rows."""
    found = []
    for name, looked_for in (("checked", False), ("plain", True)):
        always_plain(looked_for)
        lake.tables.create_table("db", name, fields())
        result = lake.ingest(path, f"db.{name}", **options)
        # One file more than the checks alone make: that of plain rows.
        assert len(lake.files(f"db.{name}")) == 1 + looked_for
        found.append((counts(result), *told(lake, f"db.{name}")))
    return found


def counts(result: IngestResult) -> tuple[int, ...]:
    return result.rows_read, result.rows_written, result.rows_quarantined


def assert_same(checked: Any, plain: Any) -> None:
    """Like `==`, and says what differs."""
    assert checked[0] == plain[0]
    for expected, found in zip(checked[1:], plain[1:], strict=True):
        differ = [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]]
        assert differ[:3] == []


def test_values_of_csv_are_those_of_the_checks(lake: SmallLake, always_plain: Callable[[bool], None]) -> None:
    """Each text in each column, one odd value a row; also lines with too few values and ones without any."""
    names = [*TYPES, "wall", "short"]
    lines = [",".join(["id", *names])]
    for i, (text, name) in enumerate(some_values(names)):
        shown = '"' + text + '"' if "," in text else text
        lines.append(",".join([str(i), *(shown if n == name else "" for n in names)]))
    lines += ["x", "7", "", "1" + "," * len(names), '8,""' + "," * (len(names) - 1), "9,true" + "," * (len(names) - 1)]
    lines += [",maybe,300" + "," * (len(names) - 2), f"9,{'no' * 200}" + "," * (len(names) - 1), "z" + "," * len(names)]
    path = lake.file("a.csv", "\n".join(lines) + "\n")
    checked, plain = both_ways(lake, path, always_plain)
    assert_same(checked, plain)
    assert min(checked[0]) > 100


def test_values_of_json_are_those_of_the_checks(lake: SmallLake, always_plain: Callable[[bool], None]) -> None:
    """Each text in each column, as a string and as it is; keys that are unknown, there twice, or of no object."""
    lines = []
    for i, (text, name) in enumerate(some_values([*TYPES, "wall", "short"])):
        lines.append(f'{{"id":{i},"{name}":{json.dumps(text)}}}')
        if not i % 7:
            lines.append(f'{{"id":{i},"{name}":{text}}}')
    lines += [
        '{"id":1,"id":2}',
        '{"id":1,"\\u0069d":2}',
        '{"id":1}{"id":2}',
        '{"id":1} ',
        ' {"id":1}',
        "[1]",
        "{}",
        "7",
    ]
    lines += ['{"id":1,"name":"\\ud800"}', '{"id":1,"name":"\\ud83d\\ude00"}', '{"id":1,"name":"a\\u0000b"}']
    lines += [
        '{"id":1,"name":{"a":[{}',
        "{}]}}",
        '{"id":null}',
        '{"id":1,"name":null}',
        '{"id":1,"name":"' + "x" * 2000 + '"}',
    ]
    lines += [
        f'{{"id":1,"double":{"1" * 1200}}}',
        '{"id":1,"name":[1]}',
        '{"id":1,"flag":true,"name":7}',
        '{"id":1,"ID":2}',
        '{"id":"x","tiny":"300","flag":"maybe","short":"long","day":"2024-02-30","double":1.5}',
        '{"id":"x","id":"y"}',
        '{"flag":"","day":"","whole":""}',
        '{"id":7,"whole":"a\\"b"}',
        '{"id":7,"whole":"a\tb"}',
        f'{{"id":"{"é" * 300}","name":"\\"id\\":\\"x\\""}}',
        f'{{"id":1,"whole" : "{"x" * 201}"}}',
    ]
    path = lake.file("a.json", "\n".join(lines) + "\n")
    checked, plain = both_ways(lake, path, always_plain, unknown_columns="ignore")
    assert_same(checked, plain)
    assert min(checked[0]) > 100


def test_files_of_several_kinds_into_partitions(lake: SmallLake, always_plain: Callable[[bool], None]) -> None:
    """Columns that a file has not, in another order, quoted, under defaults; partitions by a text and by a number."""
    declared = [
        Field("p", String()),
        Field("n", Int32()),
        Field("d", Option(Int32()), extra=Extra({DEFAULT: 7})),
        Field("s", Option(String()), extra=Extra({DEFAULT: "none"})),
        Field("t", Option(Date())),
    ]
    files = [
        lake.file("a.csv", "p,n,d,s\n" + "".join(f"p{i % 3},{i % 2},{i if i % 5 else ''},x{i}\n" for i in range(50))),
        lake.file("b.csv", 't,n,p\n2024-01-02,1,"p1"\n2024-02-30,1,p1\n,01,""\n2024-01-03,,p2\n'),
        lake.file("c.csv", "n,p,extra\n0,p0,1\n"),
    ]
    lines = lake.file("d.json", '{"p":"p1","n":1}\n{"n":0,"p":"p2","d":null,"s":"y"}\n{"n":2}\n{"p":"p1","n":"1"}\n')
    for source in (files, lines):
        found = []
        for looked_for in (False, True):
            always_plain(looked_for)
            table = f"{'one' if source is lines else 'many'}_{looked_for}".lower()
            lake.tables.create_table("db", table, declared, partition_keys=["p", "n"])
            result = lake.ingest(source, f"db.{table}", unknown_columns="ignore")
            found.append((counts(result), *told(lake, f"db.{table}")))
        assert found[0] == found[1]
        assert found[1][0] == ((55, 53, 2) if source is files else (4, 3, 1))


@pytest.mark.parametrize("unknown", ["fail", "ignore", "quarantine"])
def test_what_does_not_fit_is_told_alike(lake: SmallLake, always_plain: Callable[[bool], None], unknown: str) -> None:
    """Columns that only plain rows have, with a value or without, are columns of the source, too."""
    declared = [Field("k", Int32()), Field("amount", Option(Int32())), Field("note", Option(String()))]
    lines = ['{"k":1,"amount":5}', '{"k":2,"note":null}', '{"k":3,"amoun":6,"not":7}', '{"k":"x"}']
    path, found = lake.file("a.json", "\n".join(lines)), []
    for name, looked_for in (("checked", False), ("plain", True)):
        always_plain(looked_for)
        lake.tables.create_table("db", name, declared)
        try:
            result = lake.ingest(path, f"db.{name}", unknown_columns=unknown)
            notices = [str(n) for n in result.notices]
            found.append((counts(result), result.ignored_columns, notices, told(lake, f"db.{name}")))
        except LakebedError as error:
            found.append([d.to_json() for d in error.diagnostics])
    assert found[0] == found[1]
    assert "amoun" in str(found[0])


def test_keys_that_differ_only_in_case_are_told_apart(lake: SmallLake, always_plain: Callable[[bool], None]) -> None:
    """Also where each row has the same keys but for their case, at any level; none is lost without a word."""
    inner = Option(Struct((Field("x", Option(Int32())),)))
    lake.create(Field("k", Option(Int32())), Field("s", inner))
    path = lake.file("a.json", '{"k":1,"s":{"x":1}}\n{"K":2,"s":{"x":1}}\n{"k":3,"s":{"X":1}}\n')
    with pytest.raises(LakebedError) as raised:
        lake.ingest(path)
    assert all(f"a column {key}, which" in str(raised.value) for key in ("K", "s.X"))
    always_plain(True)
    lake.tables.create_table("db", "flat", [Field("k", Option(Int32()))])
    flat = lake.file("b.json", '{"k":1}\n{"k":" 2"}\n{"K":3}\n')
    with pytest.raises(LakebedError, match=r"LB6112.*column K,"):
        lake.ingest(flat, "db.flat")
    assert not [*lake.files(), *lake.files("db.flat")]


@pytest.mark.parametrize("action", ["null", "fail"])
def test_what_becomes_of_bad_values_is_alike(
    lake: SmallLake, always_plain: Callable[[bool], None], action: str
) -> None:
    """Workers leave rows to the checks where one of their values may end the run, or become NULL."""
    declared = [Field("k", Int32()), Field("s", Option(Int32()), extra=Extra({ON_BAD_ROW: action}))]
    path, found = lake.file("a.csv", "k,s\n1,5\n2,no\nx,7\nx,no\n"), []
    for name, looked_for in (("checked", False), ("plain", True)):
        always_plain(looked_for)
        lake.tables.create_table("db", name, declared)
        try:
            result = lake.ingest(path, f"db.{name}")
            found.append((counts(result), result.nulled, told(lake, f"db.{name}")))
        except LakebedError as error:
            found.append([d.to_json() | {"message": ""} for d in error.diagnostics])
    assert found[0] == found[1]
    assert isinstance(found[0], list) == (action == "fail")


def test_what_the_source_declares_is_required(
    tmp_path: Path, spark: SparkSession, always_plain: Callable[[bool], None]
) -> None:
    """Also where the table takes NULL."""
    read = "{kind: Csv, schema: {fields: [{name: k, type: Int32}, {name: s, type: String}]}}"
    small = applied(tmp_path, spark, read, f"{optional('k', 'Int32')}, {optional('s', 'String')}")
    always_plain(True)
    assert counts(small.ingest(small.file("a.csv", '1,a\n2,\n3,""\n'))) == (3, 2, 1)


def test_rows_that_take_the_place_of_others_are_judged(
    lake: SmallLake, always_plain: Callable[[bool], None], spark: SparkSession
) -> None:
    """An overwrite with a filter looks at every row that comes."""
    lake.create(Field("k", Int32()), Field("s", Option(String())))
    lake.ingest(lake.file("a.csv", "k,s\n1,a\n2,b\n"))
    always_plain(True)
    table = lakebed.open(lake.root / "warehouse", layout="paimon").table("db.t")
    with pytest.raises(LakebedError, match="LB6570"):
        table.overwrite_from(spark, lake.file("b.csv", "k,s\n9,b\n7,zz\n"), where="s = 'b'")
    table.overwrite_from(spark, lake.file("c.json", '{"k":9,"s":"b"}\n{"k":"8","s":"b"}\n'), where="s = 'b'")
    assert [(row["k"], row["s"]) for row in lake.rows(order="k")] == [(1, "a"), (8, "b"), (9, "b")]
    assert not [p for p in lake.path().iterdir() if p.name.startswith(".staging")]


def test_large_texts_are_plain_too(lake: SmallLake) -> None:
    """Batches of them are cut by their bytes. The file is as large as those of which workers look for plain rows."""
    lake.create(Field("k", Int32()), Field("s", Option(String())))
    text = "x" * (2 << 20)
    assert len(text) > checked_write.PLAIN_FROM
    result = lake.ingest(lake.file("a.csv", f"k,s\n1,{text}\n2,b\n?,c\n 4,d\n"))
    assert counts(result) == (4, 3, 1)
    assert {row["k"]: len(row["s"]) for row in lake.rows()} == {1: len(text), 2: 1, 4: 1}
    assert len(lake.files()) == 2


def column(type_: Any, **parts: Any) -> PlainColumn:
    return PlainColumn("a", "v0", type_, **parts)


def plain_texts(texts: Sequence[str | None], of: PlainColumn) -> list[Any]:
    """The values of texts that are plain and taken, `...` for others."""
    values, plain = convert_texts(pa.array(texts, pa.string()), of)
    kept = zip(values.to_pylist(), plain.to_pylist(), is_taken(values, of).to_pylist(), strict=True)
    return [value if is_plain and taken else ... for value, is_plain, taken in kept]


def test_most_usual_texts_are_plain() -> None:
    """Else they were right and slow."""
    assert plain_texts(["1", "-2147483648", None, "x"], column(physical.Int())) == [1, -(2**31), None, ...]
    assert plain_texts(["2147483648", "1.0"], column(physical.Int())) == [..., ...]
    assert plain_texts(["0.5", "1e3", "-7"], column(physical.Double())) == [0.5, 1000, -7]
    assert [str(v) for v in plain_texts(["1.5", "-12"], column(physical.Decimal(5, 2)))] == ["1.50", "-12.00"]
    assert plain_texts(["true", "false", "yes"], column(physical.Boolean())) == [True, False, ...]
    assert plain_texts(["2024-02-29", "2023-02-29"], column(physical.Date()))[1] is ...
    wall, instant = column(physical.Timestamp(3)), column(physical.LocalZonedTimestamp(6))
    assert [str(v) for v in plain_texts(["2024-01-02 03:04:05.678"], wall)] == ["2024-01-02 03:04:05.678000"]
    assert plain_texts(["2024-01-02 03:04:05.6789", "2024-01-02 03:04:05Z"], wall) == [..., ...]
    assert plain_texts(["2024-01-02 03:04:05"], instant) == [...]
    assert str(plain_texts(["2024-01-02T03:04:05Z"], instant)[0]) == "2024-01-02 03:04:05+00:00"
    assert plain_texts(["ab", "abc", None], column(physical.VarChar(2))) == ["ab", ..., None]
    assert plain_texts([None, "1"], column(physical.Int(), takes_null=False)) == [..., 1]
    assert plain_texts(["255", "256", "-1"], column(physical.SmallInt(), limits=(0, 255))) == [255, ..., ...]


def codes(texts: Sequence[str | None], of: PlainColumn) -> list[str | None]:
    return judge_texts(pa.array(texts, pa.string()), of).codes.to_pylist()


def test_usual_faults_are_told_by_workers() -> None:
    """Else they were right and slow. What may be a value is none of them."""
    assert codes(["none", "1,5", "2147483648", "1.5", " 7", "-", "1", None], column(physical.Int())) == [
        *("LB6202", "LB6202", "LB6203"),
        *[None] * 5,
    ]
    assert codes(["256", "-1", "x", "7"], column(physical.SmallInt(), limits=(0, 255)))[:3] == ["LB6203"] * 2 + [
        "LB6202"
    ]
    assert codes(["none", "nan", "-inf", "1d", "0x1F", "1e999"], column(physical.Double())) == ["LB6202", *[None] * 5]
    assert codes(["1234", "123.45", "n/a", "\u0663"], column(physical.Decimal(5, 2))) == [
        "LB6203",
        None,
        "LB6202",
        None,
    ]
    assert codes(["2024-02-30", "15.01.2024", "2024-2-9", None], column(physical.Date()))[:3] == ["LB6202"] * 2 + [None]
    assert codes(["2024-02-30 00:00:00", "2024-02-09 25:00:00"], column(physical.Timestamp(3))) == ["LB6202"] * 2
    assert codes(["maybe", "YES", "0", " t"], column(physical.Boolean())) == ["LB6202", None, None, None]
    assert codes(["\u00e9\u00e9\u00e9", "abcd", None], column(physical.VarChar(3))) == [None, "LB6205", None]
    assert codes([None, "1"], column(physical.Int(), takes_null=False)) == ["LB6201", None]


def known(rows: PlainRows, lines: Sequence[str]) -> list[Any]:
    """The codes of rows that workers know to be bad, by column; None for rows in doubt."""
    _, rest = rows.split(pa.record_batch([pa.array(lines), pa.repeat(pa.scalar(0), len(lines))], ["line", PART]))
    assert rest is not None
    told = rest.column(PROBLEMS).to_pylist()
    return [None if some is None else {p["path"]: p["code"] for p in some} for some in told]


def test_a_row_is_bad_where_all_of_it_is_known() -> None:
    of = [(f, PlainColumn(f, f, physical.Int(), path=f, expected="Int32", takes_null=f != "a")) for f in "ab"]
    rows = PlainRows((PlainPart(PlainLines("line"), tuple(c for _, c in of)),))
    lines = ['{"a":"x","b":"y"}', '{"a":"x","b":7}', '{"a":"x","b":" 7"}', '{"b":"x"}', '{"a":"x","c":1}']
    assert known(rows, lines) == [{"a": "LB6202", "b": "LB6202"}, {"a": "LB6202"}, None, None, None]
    assert (rows.bad, rows.found) == (2, {"a", "b"})
    told_by_checks = PlainRows((PlainPart(PlainLines("line"), (of[1][1], replace(of[0][1], expected=None))),))
    assert known(told_by_checks, ['{"a":"x"}']) == [None]


def test_lines_are_told_from_their_neighbours() -> None:
    """Arrow takes line breaks between any two tokens."""
    columns = [PlainColumn("a", "v0", physical.Int()), PlainColumn("b", "v1", physical.VarChar(10))]

    def read(*lines: str) -> list[Any]:
        values, plain = read_lines(pa.array(lines, pa.string()), columns)
        rows = zip(*(v.to_pylist() for v in values), strict=True)
        return [row if is_plain else ... for row, is_plain in zip(rows, plain.to_pylist(), strict=True)]

    assert read('{"a":1}', '{"b":"x","a":2}', '{"a":null}') == [(1, None), (2, "x"), (None, None)]
    assert read('{"a":1}{"a":2}', '{"a":', "3}", '{"a":4}') == [..., ..., ..., (4, None)]
    assert read('{"a":1,', '"b":"x"}', '{"a":1}{"a":2}') == [..., ..., ...]
    assert read('{"a":1,"a":2}', '{"a":1,"c":2}', '{"a":1.5}', '{"a":7}') == [..., ..., ..., (7, None)]
    assert read('{"a":"1"}', '{"a":"2"}', '{"a":"none"}', '{"a":3}') == [(1, None), (2, None), ..., ...]
    assert read('{"b":"\\ud800"}', '{"b":"\\u00e9"}', '{"b":"é"}') == [..., (None, "é"), (None, "é")]
    assert read() == []
    assert read('{"a":1}', '{"a":' + "[" * 100_000 + "}", '{"a":2}') == [(1, None), ..., (2, None)]
    long = '{"b":"' + "x" * 20_000_000 + '"}'
    assert read(long, '{"a":1}') == [..., (1, None)]
    no_text = pa.array([b'{"b":"x"}', b'{"b":"\xff"}', b'{"a":"1"}', b'{"a":1}'], pa.binary()).cast(
        pa.string(), safe=False
    )
    assert read_lines(no_text, columns)[1].to_pylist() == [True, False, False, True]
