"""One table through all evolutions: after each step the referees read what Lakebed reads."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lakebed
from interop.agreement import READERS, declare, keys_kept, put, rows
from interop.samples import SAMPLES
from interop.story import STAGES, TABLE, Stage, first_rows, first_sampled, sampled_columns, spread
from lakebed.physical import DataField, parse, with_nullability
from lakebed.physical.paimon_types import Array, Map, Row
from referees.client import Referees
from referees.comparison import assert_same_rows
from referees.encoding import Row as EncodedRow
from referees.java import JavaReferee

BY_NAME = {stage.name: stage for stage in STAGES}
NAMES = list(BY_NAME)
#: Java 0.9 refuses nested evolution, and fails on some structs inside of lists and maps, its own ones too.
JAVA_STAGES = [stage.name for stage in STAGES if not stage.nested_evolution]
JAVA_CANNOT = {"m", "rows", "rows_o", "row_map", "row_map_o"}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> dict[str, Path]:
    """The warehouse as it was after each stage."""
    root = tmp_path_factory.mktemp("story")
    (root / "now").mkdir()
    lake = lakebed.open(root / "now")
    copies = {}
    for stage in STAGES:
        declare(lake, stage.manifest())
        if not copies:
            source = root / "first.json"
            source.write_text("".join(f"{json.dumps(row)}\n" for row in first_rows()), encoding="utf-8")
            result = lake.ingest(spark, TABLE, source)
            assert (result.rows_written, result.rows_quarantined) == (len(first_rows()), 0)
        if stage.rows:
            put(lake, spark, TABLE, [spread(row) for row in stage.rows])
        copies[stage.name] = shutil.copytree(root / "now", root / stage.name.replace(" ", "-"))
    return copies


@pytest.fixture(scope="module")
def read(told: dict[str, Path], spark: SparkSession) -> Callable[[str], list[EncodedRow]]:
    """What Lakebed reads after a stage."""
    found: dict[str, list[EncodedRow]] = {}

    def rows_of(name: str) -> list[EncodedRow]:
        if name not in found:
            found[name] = rows(lakebed.open(told[name]), spark, TABLE)
        return found[name]

    return rows_of


@pytest.fixture(scope="module")
def kept(told: dict[str, Path], spark: SparkSession) -> Callable[[str], list[list[Any]]]:
    """What Lakebed keeps by the filters of a stage."""
    found: dict[str, list[list[Any]]] = {}

    def keys_of(name: str) -> list[list[Any]]:
        if name not in found:
            found[name] = keys_kept(lakebed.open(told[name]), spark, TABLE, BY_NAME[name].filters)
        return found[name]

    return keys_of


def test_every_column_is_stored_as_its_carrier(told: dict[str, Path]) -> None:
    schema = lakebed.open(told["create"]).schema(TABLE)
    for sample in SAMPLES:
        if "<" not in sample.paimon:
            found = [schema.field(name).type for name in (sample.name, f"{sample.name}_o")]  # type: ignore[union-attr]
            assert found == [with_nullability(parse(sample.paimon), nullable) for nullable in (False, True)]


def test_every_value_is_read_as_it_was_said(told: dict[str, Path], read: Callable[[str], list[EncodedRow]]) -> None:
    names = lakebed.open(told["create"]).schema(TABLE).field_names
    positions = [names.index(name) for name, _ in sampled_columns()]
    found = [[row[i] for i in positions] for row in read("create")]
    assert_same_rows(first_sampled(), found, sampled_columns())


def test_files_say_what_is_required_and_the_field_ids(told: dict[str, Path]) -> None:
    """pypaimon cannot read a required member of a struct that a file calls optional."""
    (file,) = told["create"].rglob("*.parquet")
    for column, stored in zip(lakebed.open(told["create"]).schema(TABLE).fields, pq.read_schema(file), strict=True):
        check_stored(column, stored)


def check_stored(column: DataField, stored: pa.Field) -> None:
    assert (column.name, column.type.nullable) == (stored.name, stored.nullable)
    assert stored.metadata[b"PARQUET:field_id"] == str(column.id).encode()
    kind, inside = column.type, stored.type
    while not isinstance(kind, Row):
        match kind:
            case Array():
                kind, inside = kind.element, inside.value_type
            case Map():
                kind, inside = kind.value, inside.item_type
            case _:
                return
    for member, field in zip(kind.fields, inside, strict=True):
        check_stored(member, field)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", NAMES)
def test_the_referees_read_the_same_rows(
    name: str, reader: Any, told: dict[str, Path], read: Callable[[str], list[EncodedRow]], referees: Referees
) -> None:
    assert_same_rows(read(name), referees.rows(reader, told[name], TABLE), referees.columns(told[name], TABLE))


@pytest.mark.parametrize("name", JAVA_STAGES)
def test_java_reads_the_same_rows(
    name: str,
    told: dict[str, Path],
    read: Callable[[str], list[EncodedRow]],
    java: JavaReferee,
    referees: Referees,
) -> None:
    columns = referees.columns(told[name], TABLE)
    chosen = [i for i, (column, _) in enumerate(columns) if column not in JAVA_CANNOT]
    expected = [[row[i] for i in chosen] for row in read(name)]
    found = java.rows(told[name], TABLE, columns=[columns[i][0] for i in chosen])
    assert_same_rows(expected, found, [columns[i] for i in chosen])


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("stage", [s for s in STAGES if s.filters], ids=lambda s: s.name)
def test_the_referees_keep_the_same_rows(
    stage: Stage, reader: Any, told: dict[str, Path], kept: Callable[[str], list[list[Any]]], referees: Referees
) -> None:
    found = [
        sorted(k for (k,) in referees.rows(reader, told[stage.name], TABLE, filter=f, columns=["id"]))
        for f in stage.filters
    ]
    assert found == kept(stage.name)
    assert any(found), "a filter that keeps nothing anywhere proves nothing"


@pytest.mark.parametrize("name", NAMES)
def test_old_and_new_rows_are_what_they_were(
    name: str, told: dict[str, Path], read: Callable[[str], list[EncodedRow]]
) -> None:
    names = lakebed.open(told[name]).schema(TABLE).field_names
    by_id = {row[0]: dict(zip(names, row, strict=True)) for row in read(name)}
    spots = BY_NAME[name].spots
    assert {spot: by_id[spot[0]][spot[1]] for spot in spots} == spots
