"""Partitioned tables: values that are hard to write as a path, evolution, and filters on the partition."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import lakebed
from interop.agreement import READERS, declare, keys_kept, put, rows
from interop.declared import HINT, add, decimal, field, manifest, option, rename, retype, timestamp
from referees.client import Referees
from referees.comparison import assert_same_rows
from referees.filters import Filter
from referees.java import JavaReferee

TABLE = "db.parts"
KEYS = ("kind", "day", "number")
KINDS = ("plain", "", None, " ", "a/b=c d", "%41", "é列👍", "2024-01-01", "__DEFAULT_PARTITION__", "{x}'\"\\")
DAYS = ("1969-12-31", None, "2024-02-29")
NUMBERS = (-1, None, 7)

FILTERS: tuple[Filter, ...] = (
    ["kind", "=", "plain"],
    ["kind", "=", ""],
    ["kind", "is null"],
    ["kind", "=", "a/b=c d"],
    ["kind", "in", ["é列👍", "%41", "none"]],
    ["kind", "=", "__DEFAULT_PARTITION__"],
    ["day", "=", "1969-12-31"],
    ["day", "is null"],
    ["day", ">", "2000-01-01"],
    ["number", "<", 0],
    ["number", "is null"],
    ["and", ["number", "=", 7], ["day", "=", "2024-02-29"]],
    ["and", ["kind", "=", "plain"], ["w", ">", 5]],
    ["or", ["kind", "=", "plain"], ["number", "=", 7]],
    ["w", ">", 2**33],
)
#: Java 0.9 fails where statistics are of the type that a column had before.
JAVA_FILTERS = [f for f in FILTERS if not {"day", "w"} & set(re.findall(r'"(\w+)"', json.dumps(f)))]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> lakebed.Lake:
    """Rows before and after a rename, a widening and an addition in front of the partition columns."""
    root = tmp_path_factory.mktemp("parts")
    (root / "warehouse").mkdir()
    lake = lakebed.open(root / "warehouse")
    fields = (
        field("id", "Int64"),
        field("kind", option("String")),
        field("v", option("Int32")),
        field("day", option("Date")),
        field("number", option("Int32")),
    )
    declare(lake, manifest(fields, name=TABLE, partition_keys=KEYS))
    first = [
        {"id": i, "v": i, "kind": kind, "day": DAYS[i % 3], "number": NUMBERS[i // 2 % 3]}
        for i, kind in enumerate(KINDS)
    ]
    source = root / "first.json"
    source.write_text("".join(f"{json.dumps(row)}\n" for row in first), encoding="utf-8")
    assert lake.ingest(spark, TABLE, source).rows_written == len(first)
    fields = add(retype(rename(fields, v="w"), v="Int64"), field("new", option("String")))
    fields = retype(fields, w=option("Int64"))
    declare(lake, manifest(fields, name=TABLE, partition_keys=KEYS))
    put(
        lake,
        spark,
        TABLE,
        [
            {"id": 20, "w": 2**40, "kind": "plain", "number": -1, "new": "n"},
            {"id": 21, "w": None, "kind": "", "number": None, "new": None},
            {"id": 22, "w": 22, "kind": None, "number": None, "new": "n"},
        ],
    )
    return lake


@pytest.fixture(scope="module")
def expected(lake: lakebed.Lake, spark: SparkSession) -> list[Any]:
    return rows(lake, spark, TABLE)


@pytest.fixture(scope="module")
def kept(lake: lakebed.Lake, spark: SparkSession) -> list[list[Any]]:
    return keys_kept(lake, spark, TABLE, FILTERS)


def test_values_are_those_that_were_said(expected: list[Any]) -> None:
    by_id = {row[1]: row for row in expected}
    assert [by_id[i][2] for i in range(len(KINDS))] == list(KINDS)
    assert [by_id[i][4] for i in range(len(KINDS))] == [DAYS[i % 3] for i in range(len(KINDS))]
    assert by_id[20] == ["n", 20, "plain", 2**40, None, -1]


@pytest.mark.parametrize("reader", READERS)
def test_the_referees_read_the_same_rows(
    reader: Any, lake: lakebed.Lake, expected: list[Any], referees: Referees
) -> None:
    assert_same_rows(expected, referees.rows(reader, lake.warehouse, TABLE), referees.columns(lake.warehouse, TABLE))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("number", range(len(FILTERS)), ids=lambda i: str(FILTERS[i]))
def test_the_referees_keep_the_same_rows(
    number: int, reader: Any, lake: lakebed.Lake, kept: list[list[Any]], referees: Referees
) -> None:
    found = referees.rows(reader, lake.warehouse, TABLE, filter=FILTERS[number], columns=["id"])
    assert sorted(k for (k,) in found) == kept[number]
    assert kept[number]


def test_java_reads_and_keeps_the_same_rows(
    lake: lakebed.Lake, expected: list[Any], kept: list[list[Any]], java: JavaReferee
) -> None:
    assert_same_rows(expected, java.rows(lake.warehouse, TABLE))
    for f in JAVA_FILTERS:
        found = java.rows(lake.warehouse, TABLE, filter=f, columns=["id"])
        assert sorted(k for (k,) in found) == kept[FILTERS.index(f)], f


def test_partitions_of_other_types(
    lake: lakebed.Lake, spark: SparkSession, referees: Referees, java: JavaReferee, tmp_path: Path
) -> None:
    keys = {
        "flag": ("Bool", None, [True, False, None]),
        "price": (decimal(10, 2), None, ["1.20", "-0.01", None]),
        "at": (timestamp("Millisecond"), "TIMESTAMP(3)", ["2024-02-29T00:00:00", "1969-12-31T23:59:59.999", None]),
        "seen": (timestamp("Microsecond"), None, ["2024-02-29T00:00:00.000001Z", "1969-12-31T23:59:59Z", None]),
        "big": ("UInt64", None, [2**64 - 1, 0, None]),
    }
    fields = [field("id", "Int64")]
    fields += [field(name, option(kind), hint and {HINT: hint}) for name, (kind, hint, _) in keys.items()]
    declare(lake, manifest(fields, name="db.others", partition_keys=keys))
    source = tmp_path / "others.json"
    said = [{"id": i} | {name: values[i] for name, (_, _, values) in keys.items()} for i in range(3)]
    source.write_text("".join(f"{json.dumps(row)}\n" for row in said), encoding="utf-8")
    assert lake.ingest(spark, "db.others", source).rows_written == 3
    columns = referees.columns(lake.warehouse, "db.others")
    found = rows(lake, spark, "db.others")
    first = [0, True, "1.20", "2024-02-29T00:00:00.000000000", "2024-02-29T00:00:00.000001000Z", str(2**64 - 1)]
    assert_same_rows([first], [row for row in found if row[0] == 0], columns)
    for reader in READERS:
        assert_same_rows(found, referees.rows(reader, lake.warehouse, "db.others"), columns)
    assert_same_rows(found, java.rows(lake.warehouse, "db.others"), columns)
