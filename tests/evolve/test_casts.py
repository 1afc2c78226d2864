"""The cast matrix against the answers of the reference, and its rules."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lakebed.evolve.cast_rules import MATRIX, castable, cell, readable
from lakebed.physical import paimon_types as t
from lakebed.physical import parse

SAMPLES: dict[str, t.DataType] = {
    "CHAR": t.Char(3),
    "VARCHAR": t.VarChar(3),
    "STRING": t.STRING,
    "BOOLEAN": t.Boolean(),
    "BINARY": t.Binary(3),
    "BYTES": t.BYTES,
    "DECIMAL": t.Decimal(10, 2),
    "TINYINT": t.TinyInt(),
    "SMALLINT": t.SmallInt(),
    "INT": t.Int(),
    "BIGINT": t.BigInt(),
    "FLOAT": t.Float(),
    "DOUBLE": t.Double(),
    "DATE": t.Date(),
    "TIME": t.Time(3),
    "TS": t.Timestamp(6),
    "LTZ": t.LocalZonedTimestamp(6),
    "VARIANT": t.Variant(),
    "BLOB": t.Blob(),
    "ARRAY": t.Array(t.Int()),
    "MAP": t.Map(t.Int(), t.Int()),
    "ROW": t.Row((t.DataField(0, "a", t.Int()),)),
    "MULTISET": t.Multiset(t.Int()),
    "VECTOR": t.Vector(t.Float(), 3),
}


def test_the_table_covers_every_pair() -> None:
    assert len(MATRIX) == len(SAMPLES) * 17
    assert set(MATRIX.values()) <= {"Ix", "I.", "Ex", "E.", "-."}
    for (source, target), letters in MATRIX.items():
        assert cell(SAMPLES[source], SAMPLES[target]) == letters


def test_other_pairs_only_stay_what_they_are_and_not_by_a_cast() -> None:
    assert cell(t.Geometry(), t.Geometry("x")) == "I."
    assert cell(t.Array(t.Int()), t.Array(t.BigInt())) == "I."
    assert cell(t.Int(), t.Variant()) == "-."
    assert cell(t.Unknown("FANCY"), t.STRING) == "-."
    assert not castable(t.Blob(), t.Blob())


def test_every_conversion_that_the_reference_carries_out_is_readable(shared: Path) -> None:
    with (shared / "vectors/paimon/casts.tsv").open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if r["result"] == "ok"]
    assert len(rows) > 40
    nested = ("<",)
    for entry in rows:
        if not any(mark in entry["from"] + entry["to"] for mark in nested):
            assert readable(parse(entry["from"]), parse(entry["to"])), entry


@pytest.mark.parametrize("source", [t.Date(), t.Time(3), t.Timestamp(3), t.LocalZonedTimestamp(3)])
def test_dates_and_times_become_exactly_the_nullable_string(source: t.DataType) -> None:
    assert castable(source, t.STRING)
    for target in (t.VarChar(nullable=False), t.VarChar(20), t.Char(20)):
        assert not castable(source, target)


def test_explicit_casts_can_be_switched_off() -> None:
    assert castable(t.BigInt(), t.Int())
    assert not castable(t.BigInt(), t.Int(), explicit=False)
    assert castable(t.Int(), t.BigInt(), explicit=False)
    assert not castable(t.Decimal(10, 2), t.Timestamp())
