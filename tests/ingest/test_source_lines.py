"""Bad rows of CSV and JSON lines are told with the lines that they are from, by every way in which they are found."""

from __future__ import annotations

import gzip

import pytest

from ingest.ingest_lake import SmallLake
from lakebed.errors import SourceMismatchError
from lakebed.ingest import checked_write
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.model import Extra, Field, Int32, Option, String
from lakebed.model.extra import ENUM

FIELDS = (Field("k", Int32()), Field("s", Option(String()), Extra({ENUM: ["a", "b,b"]})))
#: Lines 4 and 7 are alike.
CSV = 'k,s\n1,a\n\nx,a\n2,"b,b"\ny,"b,b"\nx,a\n3\nk,s\n'
LINES = '{"k":1}\n{"k":"x"}\n\n{"k":"x"}\n{"k":2,"s":"c"}\n{\n'


def lines(lake: SmallLake) -> list[tuple[str, int | None]]:
    return sorted((row["raw"], row["source_line"]) for row in lake.bad())


@pytest.mark.parametrize("plain", [False, True], ids=["checked", "plain"])
def test_every_row_has_its_line(lake: SmallLake, monkeypatch: pytest.MonkeyPatch, plain: bool) -> None:
    """Also in a quarantine that an earlier version has made."""
    monkeypatch.setattr(checked_write, "PLAIN_FROM", 0 if plain else 1 << 20)
    lake.create(*FIELDS)
    lake.ingest([lake.file("a.csv", CSV), lake.file("b.csv.gz", gzip.compress(CSV.encode()))])
    twice = [
        ('{"k":"k","s":"s"}', 9),
        ('{"k":"x","s":"a"}', 4),
        ('{"k":"x","s":"a"}', 7),
        ('{"k":"y","s":"b,b"}', 6),
        ('{"lakebed.dev/line":"3"}', 8),
    ]
    assert lines(lake) == sorted(twice * 2)
    lake.tables.create_table("db", "u", FIELDS)
    lake.ingest(lake.file("a.json", LINES), "db.u")
    found = sorted((row["raw"], row["source_line"]) for row in lake.bad("db.u"))
    assert found == [("{", 6), ('{"k":"x"}', 2), ('{"k":"x"}', 4), ('{"k":2,"s":"c"}', 5)]


def test_what_is_told_names_the_line(lake: SmallLake) -> None:
    lake.create(*FIELDS)
    source = lake.file("a.csv", CSV)
    (first, *_) = lake.ingest(source, dry_run=True).problems
    assert f"in '{source}:" in first.message
    with pytest.raises(BadRowsError, match=r"a\.csv:[4679]"):
        lake.ingest(source, max_bad_rows=0)
    with pytest.raises(SourceMismatchError, match=r"a line of '.*b\.csv:2' ends"):
        lake.ingest(lake.file("b.csv", 'k,s\n1,"a\n'))


def test_rows_over_lines_have_none(lake: SmallLake) -> None:
    lake.create(*FIELDS)
    lake.ingest(lake.file("a.csv", 'k,s\n1,a\nx,"a"\n'), options={"multiLine": True})
    assert lines(lake) == [('{"k":"x","s":"a"}', None)]
