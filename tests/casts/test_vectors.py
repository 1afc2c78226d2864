"""The shared vectors, all of them, in every place where a value can stand, under two kinds of session."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from casts.evaluation import SHAPES, Case, raw, results, session_settings, spark_type, store, stored
from lakebed import physical
from lakebed.errors import UnsupportedError
from lakebed.spark.casts import cast_column

#: What Spark cannot give, since it holds microseconds: (from, to, value) -> (the format's text, the text here).
NANOSECONDS = {
    ("TIMESTAMP(9)", "STRING", "2024-02-29T10:11:12.123456789"): (
        "2024-02-29 10:11:12.123456789",
        "2024-02-29 10:11:12.123456000",
    ),
    ("TIMESTAMP(9)", "TIMESTAMP(8)", "2024-02-29T10:11:12.123456789"): (
        "2024-02-29T10:11:12.123456780",
        "2024-02-29T10:11:12.123456",
    ),
    ("TIMESTAMP(7)", "TIMESTAMP(9) WITH LOCAL TIME ZONE", "2024-02-29T10:11:12.123456700"): (
        "2024-02-29T10:11:12.123456700",
        "2024-02-29T10:11:12.123456",
    ),
    ("STRING", "TIMESTAMP(9)", "2024-02-29 10:11:12.000000500"): (
        "2024-02-29T10:11:12.000000500",
        "2024-02-29T10:11:12",
    ),
    ("STRING", "TIMESTAMP(9)", "1700000000123456789"): (
        "2023-11-14T22:13:20.123456789",
        "2023-11-14T22:13:20.123456",
    ),
}


@pytest.fixture(scope="module")
def vectors(shared: Path) -> tuple[Case, ...]:
    lines = (shared / "vectors" / "paimon" / "casts.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    return tuple(
        Case(source, target, value, None if text == "NULL" or result == "error" else text, result == "error")
        for source, target, value, result, text in rows
    )


def has_conversion(case: Case) -> bool:
    source, target = case.types
    try:
        cast_column(F.col("c"), source, target, time_zone="UTC")
    except UnsupportedError:
        return False
    return True


@pytest.fixture(scope="module")
def convertible(spark: SparkSession, vectors: tuple[Case, ...]) -> tuple[Case, ...]:
    return tuple(case for case in vectors if has_conversion(case))


@pytest.fixture(scope="module")
def stored_vectors(
    spark: SparkSession, convertible: tuple[Case, ...], tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    return store(spark, convertible, tmp_path_factory.mktemp("casts") / "vectors")


def test_the_vectors_are_what_they_are_thought_to_be(vectors: tuple[Case, ...]) -> None:
    assert len(vectors) == 79
    assert sum(case.error for case in vectors) == 12


@pytest.mark.parametrize(
    ("time_zone", "ansi"), [("America/New_York", "true"), ("Asia/Kathmandu", "false")], ids=["ansi", "not-ansi"]
)
def test_every_vector_in_every_place(
    spark: SparkSession, convertible: tuple[Case, ...], stored_vectors: DataFrame, time_zone: str, ansi: str
) -> None:
    with session_settings(spark, time_zone=time_zone, ansi=ansi):
        found = results(stored_vectors, convertible)
    wrong = [
        f"{case}, {shape}: {text!r} instead of {case.expected!r}"
        for case, by_shape in zip(convertible, found, strict=True)
        for shape, text in by_shape.items()
        if text != case.expected
    ]
    assert not wrong, "\n".join(wrong)
    assert {*found[0]} == {*SHAPES}


def test_values_that_convert_do_so_where_failures_are_errors(
    spark: SparkSession, convertible: tuple[Case, ...], stored_vectors: DataFrame
) -> None:
    good = [(i, case) for i, case in enumerate(convertible) if not case.error]
    columns = [
        raw(cast_column(F.col(f"c{i}"), *case.types, time_zone="UTC"), case.types[1]).isNull().alias(f"c{i}")
        for i, case in good
    ]
    (row,) = stored_vectors.select(*columns).collect()
    assert {str(case) for i, case in good if row[f"c{i}"]} == {str(case) for _, case in good if case.expected is None}


def test_vectors_that_are_errors_fail_the_query(
    spark: SparkSession, vectors: tuple[Case, ...], convertible: tuple[Case, ...], stored_vectors: DataFrame
) -> None:
    assert {(c.source, c.target) for c in vectors if not has_conversion(c)} == {
        ("DOUBLE", "BOOLEAN"),
        ("TIMESTAMP(6)", "DOUBLE"),
        ("TIMESTAMP(6)", "DECIMAL(20, 3)"),
        ("SMALLINT", "TIMESTAMP(3)"),
        ("DOUBLE", "TIMESTAMP(3)"),
    }
    for i, case in enumerate(convertible):
        if not case.error:
            continue
        bad = cast_column(F.col(f"c{i}"), *case.types, time_zone="UTC", column="r.a")
        with pytest.raises(Exception, match="LB6901") as failure:
            stored_vectors.select(bad.alias("x")).collect()
        message = str(failure.value)
        for part in ("column r.a", case.source, case.target, repr(case.value)):
            assert part in message, str(case)


def test_nanoseconds_are_the_only_loss(spark: SparkSession, tmp_path: Path) -> None:
    cases = [Case(*key, here) for key, (_, here) in NANOSECONDS.items()]
    found = results(store(spark, cases, tmp_path / "n"), cases, shapes=("column",))
    assert [case.expected for case in cases] == [text["column"] for text in found]
    assert all(exact != here for exact, here in NANOSECONDS.values())


def test_null_stays_null(spark: SparkSession, convertible: tuple[Case, ...]) -> None:
    pairs = sorted({(case.source, case.target) for case in convertible})
    columns = [
        cast_column(
            F.lit(None).cast(spark_type(physical.parse(source))),
            physical.parse(source),
            physical.parse(target),
            time_zone="UTC",
        )
        for source, target in pairs
    ]
    (row,) = spark.range(1).select(*(c.alias(f"c{i}") for i, c in enumerate(columns))).collect()
    assert [pair for pair, value in zip(pairs, row, strict=True) if value is not None] == []


def test_the_texts_of_the_vectors_can_be_stored(vectors: tuple[Case, ...]) -> None:
    assert stored(physical.parse("TIMESTAMP(3)"), "2024-02-29T10:11:12.5").microsecond == 500_000
    assert stored(physical.parse("BYTES"), "0xff61") == b"\xffa"
