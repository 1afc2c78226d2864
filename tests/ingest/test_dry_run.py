"""A dry run of an ingest tells what would come of it, and writes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.ingest_lake import SmallLake
from lakebed.errors import UsageError
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.model import Field, Int32, Option, String

FIELDS = (Field("k", Int32()), Field("s", Option(String())))


def everything(lake: SmallLake) -> set[str]:
    return {str(path) for path in (lake.root / "warehouse").rglob("*")}


def told(result: Any) -> list[tuple[str, str | None, str | None]]:
    return [(p.code, p.path, p.found) for p in result.problems]


@pytest.mark.parametrize(
    "parts", [{}, {"primary_keys": ("k",), "options": {"bucket": "1"}}], ids=["append table", "primary key"]
)
def test_what_is_told_is_what_a_run_does(lake: SmallLake, parts: dict[str, Any]) -> None:
    lake.create(*FIELDS, **parts)
    source = lake.file("a.csv", "k,s\n1,a\nx,b\n2,c\ny,d\n3\n")
    before = everything(lake)
    looked = lake.ingest(source, dry_run=True)
    assert everything(lake) == before
    assert (looked.rows_read, looked.rows_written, looked.rows_quarantined) == (5, 2, 3)
    assert (looked.snapshot_id, looked.quarantine_snapshot_id, looked.dry_run) == (None, None, True)
    assert [(code, path) for code, path, _ in told(looked)] == [("LB6202", "k"), ("LB6208", None)]
    assert "2 times: column k, expected Int32, found for example" in looked.problems[0].message
    text = str(looked)
    assert text.startswith(
        "db.t: 5 rows read, 2 good, 3 bad (schema 0; a dry run, nothing was written)\n  LB6202 2 times"
    )

    done = lake.ingest(source)
    assert (done.rows_read, done.rows_written, done.rows_quarantined, done.dry_run) == (5, 2, 3, False)
    assert lake.ingest(source, dry_run=True).skipped_files == (source,)


def test_a_dry_run_of_a_frame_and_of_json(lake: SmallLake) -> None:
    lake.create(*FIELDS)
    frame = lake.spark.sql("select * from values ('1', 'a'), ('z', 'b') as t(k, s)")
    before = everything(lake)
    assert told(lake.ingest(frame, dry_run=True)) == [("LB6202", "k", "z")]
    looked = lake.ingest(lake.file("a.json", '{"k":1}\n{"k":null}\n{\n'), dry_run=True)
    assert {code for code, _, _ in told(looked)} == {"LB6201", "LB6208"}
    assert looked.rows_written == 1
    assert everything(lake) == before


def test_a_dry_run_ends_as_the_run_would(lake: SmallLake) -> None:
    lake.create(*FIELDS)
    source = lake.file("a.csv", "k,s\n1,a\nx,b\n")
    before = everything(lake)
    with pytest.raises(BadRowsError, match="1 of 2 rows is bad, more than 0"):
        lake.ingest(source, dry_run=True, max_bad_rows=0)
    with pytest.raises(BadRowsError, match="1 of 2 rows is bad, more than 49% of them"):
        lake.ingest(source, dry_run=True, max_bad_share=0.49)
    with pytest.raises(UsageError, match="a dry run changes no schema"):
        lake.ingest(source, dry_run=True, merge_schema="add")
    assert everything(lake) == before
