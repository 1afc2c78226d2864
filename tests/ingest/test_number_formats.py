"""Numbers with other separators than JSON's, and several patterns of dates and timestamps."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal as Number
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lakebed.manifest
from ingest.ingest_lake import SmallLake
from ingest.test_read_schemas import TABLE, applied
from lakebed.cli.commands.spark_options import key_values
from lakebed.errors import ManifestError, UsageError
from lakebed.ingest.sources.source_files import SourceFormat
from lakebed.ingest.sources.source_options import check_options
from lakebed.model import (
    Decimal,
    Extra,
    Field,
    Float64,
    Int32,
    List,
    Map,
    Option,
    String,
    Struct,
)

EUROPEAN = {"decimalSeparator": ",", "groupingSeparator": "."}


def optional(name: str, type_: Any, **extra: Any) -> Field:
    return Field(name, Option(type_), Extra(extra))


def declared(lake: SmallLake) -> None:
    inner = Struct((optional("f", Float64()), optional("t", String())))
    lake.create(
        Field("i", Int32()),
        optional("f", Float64()),
        optional("d", Decimal(12, 2), **{"lakebed.dev/enum": [1234.56, 1.5, -0.5, 1000000]}),
        optional("t", String()),
        optional("l", List(Option(inner))),
        optional("m", Map(String(), Option(Decimal(6, 1)))),
    )


def test_every_numeric_type_of_a_csv_file_and_of_json_in_it(lake: SmallLake) -> None:
    declared(lake)
    text = (
        "i;f;d;t;l;m\n"
        '1.000;1.234.567,5;1.234,56;1.234,56;"[{""f"": ""1.000,5"", ""t"": ""1,5""}, {""f"": 1000.5, ""t"": 1.50}]";\n'
        '2; -,5e3 ;1.000.000;"";;"{""a"": ""1.234,5"", ""b"": 2.5}"\n'
        "3;NaN;-0,5;;;\n"
        "4;1.23,5;;;;\n5;1234.5;;;;\n6;1,2,3;;;;\n7;;1.5;;;\n8;;1,555;;;\n9,0;;;;;\n9,5;;;;;\n"
    )
    result = lake.ingest(lake.file("a.csv", text), options={"sep": ";", **EUROPEAN})
    rows = sorted(lake.rows(), key=lambda r: r["i"])
    assert [r["i"] for r in rows] == [2, 3, 9, 1000]
    nine = rows.pop(2)
    assert (nine["f"], nine["d"]) == (None, None)
    assert [str(r["f"]) for r in rows] == ["-500.0", "nan", "1234567.5"]
    assert [r["d"] for r in rows] == [Number("1000000"), Number("-0.50"), Number("1234.56")]
    assert [r["t"] for r in rows] == ["", None, "1.234,56"]
    assert rows[2]["l"] == [{"f": 1000.5, "t": "1,5"}, {"f": 1000.5, "t": "1.50"}]
    assert dict(rows[0]["m"]) == {"a": Number("1234.5"), "b": Number("2.5")}
    assert result.rows_quarantined == 6
    assert lake.problems() == {
        ("f", "LB6202", "1.23,5"),
        ("f", "LB6202", "1234.5"),
        ("f", "LB6202", "1,2,3"),
        ("d", "LB6202", "1.5"),
        ("d", "LB6204", "1,555"),
        ("i", "LB6204", "9,5"),
    }


def test_strings_of_json_and_of_typed_sources_but_no_numbers(lake: SmallLake) -> None:
    declared(lake)
    lines = [
        '{"i": 1, "f": 1.234, "d": 1234.56, "m": {"a": 2.5}, '
        '"l": [{"f": 1.234, "t": 1.50}, {"f": "1.234", "t": "1.234"}]}',
        '{"i": "2.000", "f": "1.234", "d": "1.234,56", "m": {"a": "2,5"}}',
        '{"i": 3, "f": -0.0, "d": 1.50, "l": [{"f": 123456789012345678901234567890123456789012.5}]}',
        '{"i": 4, "f": 1e400}',
    ]
    lake.ingest(lake.file("a.json", "\n".join(lines)), options=EUROPEAN)
    rows = sorted(lake.rows(), key=lambda r: r["i"])
    assert [r["i"] for r in rows] == [1, 3, 2000]
    assert [str(r["f"]) for r in rows] == ["1.234", "-0.0", "1234.0"]
    assert [r["d"] for r in rows] == [Number("1234.56"), Number("1.50"), Number("1234.56")]
    assert rows[0]["l"] == [{"f": 1.234, "t": "1.50"}, {"f": 1234.0, "t": "1.234"}]
    assert rows[1]["l"] == [{"f": 1.2345678901234568e41, "t": None}]
    assert [dict(r["m"] or ()) for r in rows] == [{"a": Number("2.5")}, {}, {"a": Number("2.5")}]
    assert {(path, code) for path, code, _ in lake.problems()} == {("f", "LB6203")}
    columns = {"i": pa.array([5], pa.int32()), "f": pa.array(["1.234,5"]), "d": pa.array([Number("1.50")])}
    lake.ingest(lake.parquet("a.parquet", columns), options=EUROPEAN)
    lake.ingest(lake.spark.sql("select 6 i, '1.234,5' f, 1.5D d"), options=EUROPEAN)
    rows = sorted(lake.rows(), key=lambda r: r["i"])
    assert [(r["i"], r["f"], r["d"]) for r in rows[2:4]] == [(5, 1234.5, Number("1.5")), (6, 1234.5, Number("1.5"))]


def test_the_first_pattern_that_fits_counts(tmp_path: Path, spark: SparkSession) -> None:
    read = (
        "{kind: Csv, header: true, separator: ';', decimalSeparator: ',', groupingSeparator: ' ', "
        "dateFormat: [dd.MM.yyyy, MM/dd/yyyy, dd/MM/yyyy], "
        "timestampFormat: ['dd.MM.yyyy HH:mm', \"yyyy-MM-dd'T'HH:mmXXX\"]}"
    )
    kinds = {"d": "Date", "t": "Timestamp", "f": "Float64"}
    fields = ", ".join(f"{{name: {n}, type: {{kind: Option, inner: {t}}}}}" for n, t in kinds.items())
    lake = applied(tmp_path, spark, read, fields)
    text = "d;t;f\n09.02.2024;09.02.2024 10:11;1 000,5\n02/03/2024;2024-02-09T10:11+01:00;1000,5\n"
    text += "31/12/2024;;\n2024-02-09;;\n"
    result = lake.ingest(lake.file("a.csv", text))
    rows = lake.rows()
    assert [r["d"] for r in rows] == [date(2024, 2, 9), date(2024, 2, 3), date(2024, 12, 31)]
    found = [r["t"] and r["t"].replace(tzinfo=UTC) for r in rows]
    assert found == [datetime(2024, 2, 9, 10, 11, tzinfo=UTC), datetime(2024, 2, 9, 9, 11, tzinfo=UTC), None]
    assert [r["f"] for r in rows] == [1000.5, 1000.5, None]
    assert (result.rows_quarantined, lake.problems()) == (1, {("d", "LB6202", "2024-02-09")})
    two = lake.file("b.csv", "d;t;f\n2024:02:09;;\n")
    assert lake.ingest(two, options={"dateFormat": ["yyyy.MM.dd", "yyyy:MM:dd"]}).rows_written == 1


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"groupingSeparator": "."}, "groupingSeparator"),
        ({"decimalSeparator": ",", "groupingSeparator": ","}, "groupingSeparator"),
        ({"decimalSeparator": ",,"}, "decimalSeparator"),
        ({"decimalSeparator": ""}, "decimalSeparator"),
        ({"groupingSeparator": "-"}, "groupingSeparator"),
        ({"decimalSeparator": "e"}, "decimalSeparator"),
        ({"decimalSeparator": "5"}, "decimalSeparator"),
        ({"decimalSeparator": ",", "quote": ""}, "decimalSeparator"),
        ({"decimalSeparator": ",", "groupingSeparator": ";", "sep": ";", "quote": ""}, "groupingSeparator"),
        ({"dateFormat": ["yyyy-MM-dd", ""]}, "dateFormat"),
    ],
)
def test_nonsense_is_refused(options: dict[str, object], path: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_options(SourceFormat.CSV, options)
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [("LB6107", path)]


def test_a_separator_of_values_may_be_one_of_numbers_where_values_are_quoted() -> None:
    formats = check_options(SourceFormat.CSV, {"groupingSeparator": ","}).formats
    assert (formats.decimal, formats.grouping, formats.has_usual_numbers) == (".", ",", False)


def test_a_manifest_is_told_where_it_is_wrong() -> None:
    wrong = ("{kind: Csv, decimalSeparator: ',,'}", "{kind: NdJson, groupingSeparator: '1'}", "{kind: Csv, quote: [a]}")
    for read in wrong:
        with pytest.raises(ManifestError):
            lakebed.manifest.parse_manifest(TABLE % (read, "", "{name: a, type: String}"))


def test_patterns_of_the_command_line_and_of_options_in_a_manifest() -> None:
    given = ("dateFormat=dd.MM.yyyy", "sep=,", "dateFormat=yyyy", "sep=;")
    assert key_values(given, "--option") == {"dateFormat": "dd.MM.yyyy\nyyyy", "sep": ";"}
    read = "{format: csv, options: {DateFormat: [dd.MM.yyyy, yyyy], sep: ;}}"
    (table,) = lakebed.manifest.parse_manifest(TABLE % (read, "", "{name: a, type: String}")).tables
    assert "- dd.MM.yyyy\n        - yyyy\n" in lakebed.manifest.dump_table(table)
    assert table.read is not None
    assert table.read.options["DateFormat"] == "dd.MM.yyyy\nyyyy"
