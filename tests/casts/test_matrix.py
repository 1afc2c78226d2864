"""What can be converted is what the matrix of the table format says."""

from __future__ import annotations

import itertools

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from casts.evaluation import spark_type
from lakebed import physical
from lakebed.codes import register
from lakebed.errors import UnsupportedError, UsageError
from lakebed.evolve.cast_rules import readable
from lakebed.physical import paimon_types as p
from lakebed.spark.casts import cast_column

ATOMIC = (
    "CHAR(3)",
    "VARCHAR(3)",
    "STRING",
    "BOOLEAN",
    "BINARY(3)",
    "BYTES",
    "DECIMAL(10, 2)",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DATE",
    "TIME(3)",
    "TIMESTAMP(6)",
    "TIMESTAMP(6) WITH LOCAL TIME ZONE",
)
OTHERS = (
    p.Variant(),
    p.Blob(),
    p.Array(p.Int()),
    p.Map(p.VarChar(), p.Int()),
    p.Row((p.DataField(0, "a", p.Int()),)),
    p.Multiset(p.Int()),
    p.Vector(p.Float(), 3),
    p.Geometry(),
)


def refusal(source: p.DataType, target: p.DataType) -> UnsupportedError | None:
    try:
        cast_column(F.col("c"), source, target, time_zone="UTC", column="r.a")
    except UnsupportedError as error:
        return error
    return None


def test_the_matrix_is_kept(spark: SparkSession) -> None:
    types = [*map(physical.parse, ATOMIC), *OTHERS]
    pairs = [(a, b) for a, b in itertools.product(types, types) if a != b]
    wrong = [f"{a} -> {b}" for a, b in pairs if (refusal(a, b) is None) != readable(a, b)]
    assert wrong == []
    assert sum(readable(a, b) for a, b in pairs) > 120


@pytest.mark.parametrize("time_zone", ["UTC", "Europe/Berlin"])
def test_results_have_the_scan_type_of_the_target(spark: SparkSession, time_zone: str) -> None:
    pairs = [
        (a, b)
        for a, b in itertools.product(map(physical.parse, ATOMIC), repeat=2)
        if readable(a, b) and not (isinstance(a, p.Binary) and isinstance(b, p.Binary))
    ]
    for on_error in ("error", "null"):
        frame = spark.range(0).select(
            *(
                cast_column(F.lit(None).cast(spark_type(a)), a, b, time_zone=time_zone, on_error=on_error).alias(
                    f"c{i}"
                )
                for i, (a, b) in enumerate(pairs)
            )
        )
        found = [field.dataType for field in frame.schema.fields]
        assert found == [spark_type(b) for _, b in pairs]


def test_the_nullability_of_the_whole_type_does_not_matter(spark: SparkSession) -> None:
    col = F.col("c")
    assert cast_column(col, p.Int(), p.Int(nullable=False), time_zone="UTC") is col
    assert refusal(p.Date(), p.VarChar(nullable=False)) is None


def test_a_refusal_names_the_types_and_the_column(spark: SparkSession) -> None:
    error = refusal(p.Double(), p.Boolean())
    assert error is not None
    assert error.code == "LB6902"
    assert str(error.diagnostics[0].path) == "r.a"
    assert "DOUBLE cannot be read as BOOLEAN (column r.a)" in str(error)


def test_a_misspelt_policy_is_refused(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match="LB6903"):
        cast_column(F.col("c"), p.Int(), p.BigInt(), time_zone="UTC", on_error="ignore")


def test_the_codes_are_registered() -> None:
    assert {"LB6901", "LB6902", "LB6903"} <= set(register())
