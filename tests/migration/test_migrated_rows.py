"""Rows of a table of the mini layout: ingested, quarantined, migrated, and read by Lakebed and by other engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lakebed
from lakebed.catalog import DataType, Field
from lakebed.errors import UnsupportedError
from migration.mini_files import version
from referees.client import Referees


def test_rows_go_from_the_mini_layout_to_every_engine(tmp_path: Path, spark: Any, referees: Referees) -> None:
    (tmp_path / "mini").mkdir()
    lake = lakebed.open(tmp_path / "mini", layout="mini")
    columns = [Field("id", DataType.LONG), Field("town", DataType.STRING), Field("at", DataType.TIMESTAMP)]
    lake.tables.create_table("shop", "visits", columns)
    first = tmp_path / "first.csv"
    first.write_text("id,town,at\n1,Ulm,2024-01-02T03:04:05.5\nx,Köln,\n2,,\n", encoding="utf-8")
    result = lake.ingest(spark, "shop.visits", str(first))
    assert (result.rows_written, result.rows_quarantined) == (2, 1)
    bad = lake.read(spark, "shop.visits__quarantine").collect()
    assert [(p["path"], p["code"], p["found"]) for row in bad for p in row.problems] == [("id", "LB6202", "x")]
    assert bad[0].schema_id == 0

    lake.tables.get_schema_manager("shop", "visits").create_new_schema_version([*columns, Field("n", DataType.INT)])
    second = tmp_path / "second.jsonl"
    second.write_text(
        json.dumps({"id": 3, "town": "Bonn", "at": "2024-01-02T00:00:00", "n": 7}) + "\n", encoding="utf-8"
    )
    lake.ingest(spark, "shop.visits", str(second))
    # Mini Paimon itself renames by writing the new name, and no more.
    table = tmp_path / "mini/shop/visits"
    renamed = version(2, ("id", "LONG"), ("city", "STRING"), ("at", "TIMESTAMP"), ("n", "LONG"))
    (table / "schema/schema-2").write_bytes(renamed)

    lake.migrate(lake.plan_migration(tmp_path / "new", renames=["shop.visits:2:town=city"]))
    new = lakebed.open(tmp_path / "new")
    assert new.tables.get_schema_manager("shop", "visits").ids() == [0, 1, 2]
    rows = sorted(tuple(row) for row in new.read(spark, "shop.visits").select("id", "city", "n").collect())
    assert rows == [(1, "Ulm", None), (2, None, None), (3, "Bonn", 7)]
    found = sorted(referees.rows("pypaimon", new.warehouse, "shop.visits"))
    assert found == sorted(referees.rows("rust", new.warehouse, "shop.visits"))
    assert [(row[0], row[1], row[3]) for row in found] == rows
    assert found[0][2] == "2024-01-02T03:04:05.500000000"
    old = new.read(spark, "shop.visits", schema=0)
    assert old.columns == ["id", "town", "at"]
    assert old.where("town = 'Ulm'").count() == 1
    assert len(referees.rows("pypaimon", new.warehouse, "shop.visits__quarantine")) == 1

    (table / "data").mkdir()
    (table / "data/data-0-000.sst").write_bytes(b"x")
    for act in (lambda: lake.read(spark, "shop.visits"), lambda: lake.ingest(spark, "shop.visits", str(first))):
        with pytest.raises(UnsupportedError) as caught:
            act()
        assert caught.value.code == "LB3405"
