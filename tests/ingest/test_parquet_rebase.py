"""Parquet files whose old days Spark rebases: a timestamp that does not fit is a bad row, or is named."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from ingest.ingest_lake import SmallLake
from lakebed.errors import LakebedError
from lakebed.model import Field, Int32, List, Option, Struct, Timestamp, TimeUnit

pytestmark = pytest.mark.usefixtures("generated_code")

OLD, MODERN, BEYOND = -14_000_000_000_000, 1_700_000_000_000, 9_223_372_036_854_776
#: How files say that their old days are of the Julian calendar.
SPARK_2 = {b"org.apache.spark.version": b"2.4.5"}
SPARK_3 = {b"org.apache.spark.version": b"3.2.0", b"org.apache.spark.legacyDateTime": b""}
STAMP = Timestamp(TimeUnit.MILLISECOND)


def source(lake: SmallLake, name: str, values: list[int | None], metadata: dict[bytes, bytes], **options: Any) -> str:
    stamps = pa.array(values, pa.int64()).cast(pa.timestamp("ms", "UTC"))
    struct = pa.StructArray.from_arrays([stamps], ["t"])
    lists = pa.array([[]] * len(values), pa.list_(pa.timestamp("ms", "UTC")))
    table = pa.table({"i": pa.array(range(len(values)), pa.int32()), "t": stamps, "s": struct, "l": lists})
    return lake.parquet(name, table.replace_schema_metadata(metadata), **options)


@pytest.fixture
def table(lake: SmallLake) -> SmallLake:
    lake.create(
        Field("i", Int32()),
        Field("t", Option(STAMP)),
        Field("s", Option(Struct((Field("t", Option(STAMP)),)))),
        Field("l", Option(List(STAMP))),
    )
    return lake


@pytest.mark.parametrize("metadata", [SPARK_2, SPARK_3])
def test_rows_that_do_not_fit_are_bad_where_no_day_is_rebased(table: SmallLake, metadata: dict[bytes, bytes]) -> None:
    result = table.ingest(source(table, "a.parquet", [MODERN, BEYOND, None], metadata))
    assert (result.rows_written, result.rows_quarantined) == (2, 1)
    assert {(p, c) for p, c, _ in table.problems()} == {("t", "LB6203"), ("s.t", "LB6203")}


def test_old_days_are_rebased_by_what_the_file_says_and_not_the_session(table: SmallLake, conf: Any) -> None:
    conf({"spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY"})
    gregorian = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=OLD)
    julian = gregorian - timedelta(days=10)
    said = {"spark2": SPARK_2, "spark3": SPARK_3, "none": {}, "new": {b"org.apache.spark.version": b"3.2.0"}}
    table.ingest([source(table, f"{name}.parquet", [OLD] * i, said[name]) for i, name in enumerate(said, 1)])
    found = [(row["t"], row["s"]["t"]) for row in table.rows()]
    assert sorted(found) == [(julian, julian)] * 3 + [(gregorian, gregorian)] * 7


@pytest.mark.parametrize("has_statistics", [True, False])
def test_the_file_and_the_columns_are_named_where_spark_gives_no_row(table: SmallLake, has_statistics: bool) -> None:
    good = source(table, "good.parquet", [OLD, MODERN], SPARK_2)
    bad = source(table, "b ad.parquet", [OLD, BEYOND], SPARK_2, write_statistics=has_statistics)
    with pytest.raises(LakebedError) as error:
        table.ingest([good, bad])
    assert {(d.code, d.path) for d in error.value.diagnostics} == {("LB6470", bad)}
    said = " ".join(d.message for d in error.value.diagnostics)
    assert bad in said
    assert "t" in str(error.value.diagnostics[0].found)
    assert "s.t" in said
    assert table.rows() == []
