"""Counts and explanations of real tables: a count from metadata is the number of rows that come out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import lakebed
from lakebed.errors import UsageError
from lakebed.format.merge_plan import MergePlan
from referees.corpus import SHARED, ExpectedTable
from referees.encoding import Row

EXPECTED = SHARED / "tables" / "expected"
KEYS = sorted(path.stem for path in EXPECTED.glob("*.json")) or ["none"]
_FILES = "files that are read"


class SeenError(Exception):
    """The table has been looked at; its rows are not compared."""


@pytest.mark.parametrize("key", KEYS)
def test_a_count_is_the_number_of_rows(key: str, expected_tables: Callable[..., None]) -> None:
    rows = len(json.loads((EXPECTED / f"{key}.json").read_text())["rows"]) if (EXPECTED / f"{key}.json").exists() else 0

    def look(table: ExpectedTable) -> list[Row]:
        lake = lakebed.open(table.warehouse)
        state: dict[str, Any] = {"snapshot": table.snapshot, "branch": table.branch}
        explained = lake.explain_read(table.table, **state)
        groups = sum(len(one.plan.groups) for one in explained.states)
        if isinstance(explained.states[0].plan.parts, MergePlan) and groups:
            with pytest.raises(UsageError, match="LB5650"):
                lake.count(table.table, **state)
        else:
            assert lake.count(table.table, **state) == rows
        assert str(explained).count(_FILES) == sum(bool(one.plan.files) for one in explained.states)
        assert sum(len(s["files"]) for s in explained.to_json()["states"]) == explained.to_json()["kept"]["files"]
        raise SeenError

    with pytest.raises(SeenError):
        expected_tables(key, look, micros=True)


#: By table: filters of which some files are certain, some are not, some are merged, and some depend on a blob.
WHERES: dict[str, list[str]] = {
    "parquet__append_table_with_rt_branch": ["dt > 20240725 OR length(dt) = 8"],
    "parquet__pk_table_scan_and_read_mor": ["f1 = 20 OR f3 > 15"],
    "parquet__blob_append_table_alter_table_with_cast_with_data_evolution": [
        "{other} IS NOT NULL",
        "length({blob}) < 40",
    ],
}


@pytest.mark.parametrize("key", [key for key in WHERES if key in KEYS] or ["none"])
def test_spark_counts_what_metadata_cannot(key: str, spark: Any, expected_tables: Callable[..., None]) -> None:
    def look(table: ExpectedTable) -> list[Row]:
        lake = lakebed.open(table.warehouse)
        fields = lake.read(spark, table.table).schema.fields
        blobs = [f.name for f in fields if f.dataType.typeName() == "binary"]
        names = {"other": fields[0].name, "blob": (blobs or [""])[0]}
        for where in (text.format(**names) for text in WHERES[key]):
            wanted = lake.read(spark, table.table, where=where).count()
            assert lake.count(table.table, where=where, spark=spark) == wanted, where
        raise SeenError

    with pytest.raises(SeenError):
        expected_tables(key, look, micros=True)
