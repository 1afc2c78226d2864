"""What a source probably is: said where its first bytes prove it, and only there."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakebed
from ingest.ingest_lake import SmallLake
from lakebed.diagnostics import Severity
from lakebed.errors import IngestError
from lakebed.ingest.ingest import BadRowsError
from lakebed.ingest.sources.source_files import SourceFile, SourceFormat
from lakebed.ingest.sources.source_hints import Reading, hints
from lakebed.ingest.sources.source_options import check_options
from lakebed.model import Field, Int32, Option, String

MISREAD, ALL_BAD, MISSING, UNKNOWN, DOCUMENT = "LB6136", "LB6137", "LB6111", "LB6112", "LB6444"
COLUMNS = ("id", "name", "n")
CSV, JSON = SourceFormat.CSV, SourceFormat.JSON


def found(
    path: Path, content: bytes, kind: SourceFormat, *, is_document: bool = False, **options: object
) -> str | None:
    """The remedy of the one hint."""
    path.write_bytes(content)
    reading = Reading(kind, check_options(kind, options), is_document, COLUMNS, COLUMNS)
    notes = hints([SourceFile(str(path), len(content), "")], reading)
    assert all((n.code, n.path) == (MISREAD, str(path)) for n in notes)
    return notes[0].remedy if notes else None


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_another_separator(tmp_path: Path, separator: str, ending: str) -> None:
    path = tmp_path / f"a.csv{ending}"
    compress = gzip.compress if ending else bytes
    used = "," if separator != "," else ";"
    shown = {"\t": "'sep=\\t'", ",": "sep=,"}.get(separator, f"'sep={separator}'")
    header = separator.join(COLUMNS).encode()
    for text in (header, b'"id"' + header[2:] + b"\r\n1", b"\n" + header + separator.encode() + b"other\n"):
        assert found(path, compress(text), CSV, sep=used) == f"give --option {shown}"
        assert found(path, compress(text), CSV, sep=separator) is None
    row = separator.join(("1", "a", "2")).encode()
    assert found(path, compress(row), CSV, header=False, sep=used)
    assert found(path, compress(b"#" + header + b"\nid"), CSV, sep=used, comment="#") is None
    # Nothing is proven: one name that is known, a name that holds the separator, columns that are others.
    for text in ("id", f"id{used}a{separator}b", f"x{separator}y{separator}z", f"x{separator}id"):
        assert found(path, compress(text.encode()), CSV, sep=used) is None


def test_a_header_where_none_is_said(tmp_path: Path) -> None:
    assert "header=true" in (found(tmp_path / "a.csv", b"n,id\n1,2\n", CSV, header=False) or "")
    assert found(tmp_path / "a.csv", b"id\n1,2,3\n", CSV, header=False) is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings(tmp_path: Path, encoding: str) -> None:
    name = {"utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE"}.get(encoding, encoding.upper())
    csv = "id,name,n\n1,é,2\n".encode(encoding)
    assert found(tmp_path / "a", csv, CSV) == f"give --option encoding={name}"
    assert found(tmp_path / "a", csv, CSV, encoding="UTF-16") is None
    lines = '{"id": 1, "name": "x"}\n'.encode(encoding)
    assert found(tmp_path / "a", lines, JSON) == "convert it to UTF-8"
    assert found(tmp_path / "a", lines, JSON, is_document=True) == f"give --option encoding={name}"


@pytest.mark.parametrize(
    ("content", "kind", "is_document", "expected"),
    [
        (b'[{"id": 1},\n{"id": 2}]', JSON, False, "kind: Json"),
        (b'\xef\xbb\xbf [\n  {\n "id": 1}]', JSON, False, "kind: Json"),
        (b'{\n  "id": 1\n}\n', JSON, False, "kind: Json"),
        (b'{"id": 1}\n', JSON, False, None),
        (b"[1]\n[2]\n", JSON, False, None),
        (b'{"id": 1}\n{"id": 2}\n', JSON, True, "kind: NdJson"),
        (b'[{"id": 1}]', JSON, True, None),
        (b'{"id": 1}\n', CSV, False, "--format json"),
        (b"PAR1\x15\x04", CSV, False, "--format parquet"),
        (gzip.compress(b"id\n", mtime=0), JSON, False, ".gz"),
        (b"", CSV, False, None),
        (b"\n\n", JSON, False, None),
    ],
)
def test_other_formats(
    tmp_path: Path, content: bytes, kind: SourceFormat, is_document: bool, expected: str | None
) -> None:
    remedy = found(tmp_path / "a", content, kind, is_document=is_document)
    assert remedy is None if expected is None else expected in (remedy or "")


@given(st.lists(st.sampled_from([*COLUMNS, "other", "é"]), min_size=1, unique=True), st.binary(max_size=40))
def test_nothing_is_said_of_what_is_read_rightly(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], rest: bytes
) -> None:
    path = tmp_path_factory.mktemp("h") / "a"
    if set(names) & set(COLUMNS):
        assert found(path, ",".join(names).encode() + b"\n" + rest, CSV) is None
    line = json.dumps(dict.fromkeys(names, 1), ensure_ascii=False).encode()
    assert found(path, line + b"\n" + rest, JSON) is None


def test_errors_of_a_misread_source_say_what_it_is(lake: SmallLake) -> None:
    lake.create(Field("id", Int32()), Field("name", Option(String())), Field("n", Option(Int32())))
    semicolons = lake.file("a.csv", "id;name;n\n1;a;2\n")
    wide = lake.file("b.csv", "id,name,n\n1,a,2\n".encode("utf-16"))
    for path, unknown in ((semicolons, 1), (wide, 3)):
        with pytest.raises(IngestError) as error:
            lake.ingest(path)
        assert [d.code for d in error.value.diagnostics] == [MISREAD, MISSING, *[UNKNOWN] * unknown]
        assert all(d.remedy is None and d.suggestions == () for d in error.value.diagnostics[1:])
        with pytest.raises(IngestError) as error:
            lake.ingest(path, merge_schema="add")
        assert [d.code for d in error.value.diagnostics] == [MISREAD]
    array = lake.file("c.json", '[{"id": 1},\n{"id": 2}]')
    with pytest.raises(BadRowsError) as bad:
        lake.ingest(array)
    assert [d.code for d in bad.value.diagnostics].count(MISREAD) == 1
    assert bad.value.diagnostics[0].code == MISREAD
    with pytest.raises(BadRowsError, match=r"the only row is bad, since .*; nothing was written"):
        lake.ingest(lake.file("only.json", '[{"id": 1}]'))
    assert bad.value.exit_code == 14
    assert "kind: Json" in str(bad.value)
    assert (lake.rows(), lake.bad()) == ([], [])
    # Where nothing is proven, bad rows go to quarantine as ever, and the result says that all of them are.
    result = lake.ingest(lake.file("d.csv", "id,name\nx,a\ny,b\n"))
    assert (result.rows_quarantined, [n.code for n in result.notices]) == (2, [ALL_BAD])
    assert lake.ingest(lake.file("e.csv", "id\n1\nx\n")).notices == ()


def test_a_document_that_is_json_lines(lake: SmallLake) -> None:
    opened = lakebed.open(lake.root / "warehouse", layout="paimon")
    content = "{name: db.t, read: {kind: Json}, schema: {fields: [{name: id, type: Int32}]}}"
    text = f"{{kind: Table, version: 1, content: {content}}}"
    opened.apply(opened.plan(lakebed.manifest.parse_manifest(text)))
    with pytest.raises(IngestError) as error:
        lake.ingest(lake.file("a.json", '{"id": 1}\n{"id": 2}\n'))
    assert [d.code for d in error.value.diagnostics] == [MISREAD, DOCUMENT]


def source_of(lake: SmallLake, kind: str) -> object:
    """A source none of whose columns the table has."""
    match kind:
        case "csv":
            return lake.file("a.csv", "ID,Other\n1,a\n")
        case "json":
            return lake.file("a.json", b'{"ID": 1}\n{"Name": "a"}\n')
        case "parquet":
            return lake.parquet("a.parquet", {"ID": [1], "Name": ["a"]})
        case "folder":
            return str(Path(lake.file("in/name=a/a.csv", "ID\n1\n")).parents[1])
        case _:
            return lake.spark.sql("SELECT 1 AS other")


@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "folder", "DataFrame"])
def test_a_source_of_which_nothing_is_known_is_refused_also_where_unknown_columns_are_ignored(
    lake: SmallLake, kind: str
) -> None:
    lake.create(Field("id", Option(Int32())), Field("name", Option(String())))
    with pytest.raises(IngestError) as caught:
        lake.ingest(source_of(lake, kind), unknown_columns="ignore")
    assert [d.code for d in caught.value.diagnostics] == ["LB6140"]
    assert not lake.snapshots()


def test_what_it_probably_is_is_said_beside_that(lake: SmallLake) -> None:
    lake.create(Field("id", Option(Int32())), Field("name", Option(String())))
    with pytest.raises(IngestError) as caught:
        lake.ingest(lake.file("a.csv", "id,name\n1,a\n".encode("utf-16")), unknown_columns="ignore")
    assert {d.code for d in caught.value.diagnostics} >= {MISREAD}
    with pytest.raises(IngestError) as caught:
        lake.ingest(lake.file("b.csv", "id;name\n1;a\n"), unknown_columns="ignore")
    assert caught.value.diagnostics[0].code == MISREAD
    assert lake.ingest(lake.file("c.csv", "id,other\n1,a\n"), unknown_columns="ignore").rows_written == 1


@pytest.mark.parametrize(
    ("files", "read", "rows", "told"),
    [
        ({"a.csv": "id,name\n1,a\n"}, {"header": "false"}, [("1", "a"), ("id", "name")], "a CSV file with a header"),
        ({"a.json": '[\n{"id": "1"},\n{"id": "2"}\n]\n'}, {}, [("2", None)], "a JSON array"),
        ({"a.json": '[{"id": "1"},\n{"id": "2"}]', "b.json": '{"id": "3"}'}, {}, [("3", None)], "a JSON array"),
        ({"a.json": '{\n"id": "1"\n}\n{"id": "4"}'}, {}, [("4", None)], "a JSON document of several lines"),
    ],
)
def test_it_is_said_where_some_rows_come_out_all_the_same(
    lake: SmallLake, files: dict[str, str], read: dict[str, str], rows: list[tuple[str, str | None]], told: str
) -> None:
    lake.create(Field("id", Option(String())), Field("name", Option(String())))
    paths = [lake.file(name, text) for name, text in files.items()]
    result = lake.ingest(paths, options=read)
    (notice,) = result.notices
    assert (notice.code, notice.severity, notice.path, notice.found) == (MISREAD, Severity.WARNING, paths[0], told)
    assert sorted((r["id"], r["name"]) for r in lake.rows()) == rows
    # Files that were ingested before are not looked at again.
    assert lake.ingest(paths, options=read).notices == ()
