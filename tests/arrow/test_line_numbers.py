"""Bad rows are found again in their files, each on its own line, where lines are equal and pieces begin anywhere."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lakebed.arrow import line_numbers
from lakebed.arrow.line_numbers import CsvValues, LineLookup
from lakebed.arrow.text_lines import LineRules
from lakebed.store.base import Store
from lakebed.store.local import LocalStore

USUAL = CsvValues(",", '"', '"')
CSV_RULES = LineRules(skips_blank=True, comment=b"#", header=True)


def opened(path: str) -> tuple[Store, str]:
    return LocalStore(), path


def lookup(tmp_path: Path, content: bytes, name: str = "a.csv", **how: Any) -> LineLookup:
    path = tmp_path / name
    path.write_bytes(content)
    usual: dict[str, Any] = {"rules": CSV_RULES, "values": USUAL, "encoding": "UTF-8"}
    return LineLookup(opened, {"a": (str(path), len(content))}, **{**usual, **how})


def found(made: LineLookup, rows: Sequence[tuple[str | None, int]], batch: int = 100) -> list[int | None]:
    """The lines of rows, each its text and the start of its piece."""
    table = pa.table({"raw": [r for r, _ in rows], "file": ["a"] * len(rows), "start": [s for _, s in rows]})
    return [n for b in made.with_lines(table.to_batches(batch)) for n in b.column("line_number").to_pylist()]


def values(*of: str | None) -> str:
    return json.dumps({f"c{i}": value for i, value in enumerate(of)}, separators=(",", ":"))


@pytest.mark.parametrize(("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)])
def test_lines_are_counted_as_they_are_in_the_file(tmp_path: Path, ending: str, pack: Any) -> None:
    """With the header, also where a row is written like it, blank lines, comments and every end of line."""
    text = b'\xef\xbb\xbf\n# what\nid,at\r\n1,x\r2,\n\n1,x\nid,at\n3,"a,""b"""\n4,x,y\n1,x'
    made = lookup(tmp_path, pack(text), f"a.csv{ending}")
    rows = [values("1", "x"), values("3", 'a,"b"'), values("id", "at"), json.dumps({"lakebed.dev/line": "4,x,y"})]
    rows += [values("1", "x"), values("2", None), values("1", "x"), values("1", "x"), None, values("7")]
    assert found(made, [(row, 0) for row in rows]) == [4, 9, 8, 10, 7, 5, 11, None, None, None]


def test_rows_of_a_piece_are_on_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of Spark have the lines that begin behind their start, those of workers also the one that begins at it."""
    monkeypatch.setattr(line_numbers, "_CHUNK", 3)
    content = b"x,1\r\nx,1\nx,1\r\nx,1\n"
    begins = [0, 5, 9, 14]
    for start in range(1, len(content)):
        for is_behind in (False, True):
            made = lookup(tmp_path, content, rules=LineRules(), is_behind=is_behind)
            expected = [i + 1 for i, at in enumerate(begins) if at > start or (at == start and not is_behind)]
            several = [(values("x", "1"), start)] * len(begins)
            assert found(made, several) == [*expected, *[None] * (len(begins) - len(expected))], (start, is_behind)
    monkeypatch.setattr(line_numbers, "_MOST_ROWS", 1)
    made = lookup(tmp_path, content, rules=LineRules(), is_behind=True)
    assert found(made, [(values("x", "1"), 0), (values("x", "1"), 7), (values("x", "1"), 0)], 1) == [1, 3, 2]


def test_how_values_are_written(tmp_path: Path) -> None:
    """By what the reader was told; and lines of JSON, which are what they are."""
    content = "k;s\n NA ;'ä;x'\n1;\\'\n1;NA\n".encode("latin-1")
    odd = CsvValues(";", "'", "\\", "NA", (True, True))
    made = lookup(tmp_path, content, values=odd, encoding="latin-1")
    assert found(made, [(values(None, "ä;x"), 0), (values("1", None), 0)]) == [2, 4]
    lines = b'{"a": 1}\n\n{"a": "\xff"}\n{"a": 1}\n'
    made = lookup(tmp_path, lines, "a.json", values=None, rules=LineRules())
    assert found(made, [('{"a": 1}', 0), ('{"a": "\ufffd"}', 0), ('{"a": 1}', 0)]) == [1, 3, 4]


def test_batches_may_differ_in_what_is_not_looked_at(tmp_path: Path) -> None:
    made = lookup(tmp_path, b"x\n1\n2\n")
    start, other = pa.array([0], pa.int32()), pa.array([0], pa.int64())
    first = pa.record_batch({"raw": [values("1")], "file": ["a"], "start": start, "more": start})
    second = pa.record_batch({"raw": [values("2")], "file": ["a"], "start": other, "more": pa.nulls(1)})
    batches = [first, second]
    assert [b.column("line_number").to_pylist() for b in made.with_lines(batches)] == [[2], [3]]
