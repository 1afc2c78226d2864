"""`raw` of the quarantine, for each format: one line, from which the row can be ingested again."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, time
from decimal import Decimal as Number
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from ingest.ingest_lake import SmallLake
from lakebed.model import (
    Binary,
    Date,
    Decimal,
    Field,
    Float64,
    Int32,
    List,
    Map,
    Option,
    String,
    Struct,
    Time,
    Timestamp,
    TimeUnit,
)

DOCS = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "bad-rows.md"


def test_the_recipe_of_the_page(tmp_path: Path, lake: SmallLake, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)[-1]
    fields = (Field("month", String()), Field("carrier", Int32()), Field("departure_delay", Option(Int32())))
    lake.tables.create_table("nyc", "flights", fields)
    text = 'month,carrier,departure_delay\nUA,1,5\n"U ""A",x,\nAA,3\n"",4,late\nB6,5,1,2\n'
    lake.ingest(lake.file("january.csv", text), "nyc.flights")
    monkeypatch.chdir(tmp_path)
    before, after = recipe.split("# edit both files, then:\n")
    names = {"lake": lakebed.open(tmp_path / "warehouse"), "spark": lake.spark}
    exec(before, names)
    objects, lines = Path("mended.jsonl"), Path("mended.csv")
    assert objects.read_text().splitlines() == [
        '{"month":"U \\"A","carrier":"x","departure_delay":null}',
        '{"month":"","carrier":"4","departure_delay":"late"}',
    ]
    assert lines.read_text().splitlines()[1:] == ["AA,3", "B6,5,1,2"]
    objects.write_text(objects.read_text().replace('"x"', '"2"').replace('"late"', '"9"'))
    lines.write_text(lines.read_text().replace("AA,3", "AA,3,").replace("1,2", "1"))
    exec(after, names)
    found = {(r["month"], r["carrier"], r["departure_delay"]) for r in lake.rows("nyc.flights")}
    assert found == {("UA", 1, 5), ('U "A', 2, None), ("AA", 3, None), ("", 4, 9), ("B6", 5, 1)}
    (run,) = names["lake"].quarantine("nyc.flights").list(lake.spark)
    assert (run.rows, run.mended) == (4, 4)


@pytest.mark.parametrize("source", ["parquet", "frame"])
def test_typed_rows_come_back_as_they_were(lake: SmallLake, source: str) -> None:
    micros, millis = TimeUnit.MICROSECOND, TimeUnit.MILLISECOND
    inner = Struct((Field("t", Option(Timestamp(micros))), Field("d", Option(Date()))))
    lake.create(
        Field("i", Int32()),
        Field("t", Option(Timestamp(micros))),
        Field("m", Option(Timestamp(millis))),
        Field("n", Option(Timestamp(micros))),
        Field("c", Option(Time(millis))),
        Field("b", Option(Binary())),
        Field("f", Option(Float64())),
        Field("d", Option(Decimal(20, 4))),
        Field("l", Option(List(Option(inner)))),
        Field("k", Option(Map(Date(), Option(inner)))),
    )
    moment = datetime(1969, 12, 31, 23, 59, 59, 123456, UTC)
    nested = {"t": moment, "d": date(1, 2, 3)}
    stamp = pa.timestamp("us", "UTC")
    struct = pa.struct([("t", stamp), ("d", pa.date32())])
    row = {
        "i": pa.array([2**40], pa.int64()),
        "t": pa.array([moment], stamp),
        "m": pa.array([-877], pa.timestamp("ms", "UTC")),
        "n": pa.array([-876_544_000], pa.timestamp("ns", "UTC")),
        "c": pa.array([time(1, 2, 3, 4000)], pa.time32("ms")),
        "b": pa.array([b"\x00\xff"]),
        "f": pa.array([float("inf")]),
        "d": pa.array([Number("1.1000")], pa.decimal128(20, 4)),
        "l": pa.array([[nested, None]], pa.list_(struct)),
        "k": pa.array([[(date(2024, 2, 29), nested)]], pa.map_(pa.date32(), struct)),
    }
    table = pa.table(row)
    if source == "parquet":
        lake.ingest(lake.parquet("a.parquet", table))
    else:
        lake.ingest(lake.spark.createDataFrame(table.drop_columns(["c"])))
    (bad,) = lake.bad()
    assert {p["path"] for p in bad["problems"]} == {"i"}
    mended = json.loads(bad["raw"])
    assert mended["l"][0] == {"t": "1969-12-31 23:59:59.123456Z", "d": "0001-02-03"}
    mended["i"] = 1
    result = lake.ingest(lake.file("mended.json", json.dumps(mended)))
    assert result.rows_quarantined == 0
    (made,) = lake.rows()
    assert (made["b"], made["f"], made["d"]) == (b"\x00\xff", float("inf"), Number("1.1000"))
    assert [made[n].replace(tzinfo=UTC) for n in "tmn"] == [moment, moment.replace(microsecond=123000), moment]
    assert made["c"] == (time(1, 2, 3, 4000) if source == "parquet" else None)
    assert made["l"][1] is None
    day = date(2024, 2, 29)
    for struct_made in (made["l"][0], dict(made["k"])[day]):
        assert {**struct_made, "t": struct_made["t"].replace(tzinfo=UTC)} == nested


def test_what_has_no_text_is_the_number_that_was_stored(lake: SmallLake) -> None:
    lake.create(Field("t", Timestamp(TimeUnit.MILLISECOND)))
    lake.ingest(lake.parquet("a.parquet", {"t": pa.array([2**62], pa.timestamp("ms"))}))
    assert [r["raw"] for r in lake.bad()] == [json.dumps({"t": str(2**62)}, separators=(",", ":"))]
