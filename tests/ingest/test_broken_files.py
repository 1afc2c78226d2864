"""Files that are not what they should be: the error names each of them, and nothing is ingested."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakebed
from ingest.ingest_lake import SmallLake
from lakebed.errors import IngestError, LakebedError
from lakebed.ingest.sources.source_head import open_head
from lakebed.ingest.sources.text_scan import TextScan
from lakebed.model import Field, Int32, Option, String

SPARK, BROKEN, PARQUET, DOCUMENT, UNREADABLE = "LB6118", "LB6131", "LB5040", "LB6444", "LB3611"
CSV = b"id,name\n" + b"".join(b"%d,%d\n" % (i, i * 7919) for i in range(5000))
LINES = b"".join(b'{"id": %d, "name": "%d"}\n' % (i, i * 7919) for i in range(5000))
COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress}


def damaged(data: bytes) -> dict[str, bytes]:
    middle = len(data) // 2
    return {
        "cut": data[:middle],
        "cut-early": data[:3],
        "empty": b"",
        "cut-late": data[:-1],
        "changed": data[:middle] + bytes(20) + data[middle + 20 :],
        "checksum": data[:-6] + bytes(6),
        "followed": data + b"more",
    }


def refused(lake: SmallLake, paths: Iterable[str], table: str = "db.t") -> list[tuple[str, str | None]]:
    with pytest.raises(LakebedError) as error:
        lake.ingest(list(paths), table)
    assert all(str(d.path) in d.message for d in error.value.diagnostics)
    return [(d.code, d.path) for d in error.value.diagnostics]


def test_every_file_that_cannot_be_decompressed_is_named(lake: SmallLake) -> None:
    lake.create(Field("id", Int32()), Field("name", Option(String())))
    for name, content in (("a.csv", CSV), ("a.jsonl", LINES)):
        paths = []
        for ending, compress in COMPRESS.items():
            broken = {"not": content, **damaged(compress(content))}
            paths += [lake.file(f"{kind}/{name}{ending}", data) for kind, data in broken.items()]
        good = [lake.file(f"{name}{e}", c(content)) for e, c in COMPRESS.items()]
        assert refused(lake, [*good, *paths]) == [(BROKEN, p) for p in paths]
        # Several members, and zeros that fill a block of a tape.
        whole = gzip.compress(content[:10000]) + gzip.compress(content[10000:]) + bytes(512)
        scan = TextScan(None, "", ".gz")
        scan.feed(whole)
        assert scan.findings().broken is None
    assert lake.rows() == []


def test_documents_and_parquet_files_are_named(tmp_path: Path, lake: SmallLake) -> None:
    lake.create(Field("id", Int32()), Field("name", Option(String())))
    whole = Path(
        lake.parquet("good.parquet", {"id": list(range(9000)), "name": [str(i) for i in range(9000)]})
    ).read_bytes()
    for name, data in {"no.parquet": CSV, "empty.parquet": b"", "cut.parquet": whole[:-9]}.items():
        path = lake.file(name, data)
        assert refused(lake, [path]) == [(PARQUET, path)]
    inside = lake.file("a b%é.parquet", whole[:1500] + b"\xff" * 3000 + whole[4500:])
    assert refused(lake, [str(tmp_path / "good.parquet"), inside]) == [(SPARK, inside)]
    opened = lakebed.open(lake.root / "warehouse", layout="paimon")
    opened.apply(
        opened.plan(
            lakebed.manifest.parse_manifest(
                "{kind: Table, version: 1, content: {name: db.d, read: {kind: Json}, "
                "schema: {fields: [{name: id, type: Int32}]}}}"
            )
        )
    )
    content = b'[{"id": 1}]'
    broken: dict[str, bytes] = {"a.json": b"[{", "b.json": "[{}]".encode("utf-16"), "c.json": b""}
    broken |= {f"{k}.json.gz": d for k, d in damaged(gzip.compress(content)).items()}
    broken |= {f"{k}.json.bz2": d for k, d in damaged(bz2.compress(content)).items() if k != "followed"}
    paths = [lake.file(name, data) for name, data in broken.items()]
    hint = ("LB6136", paths[list(broken).index("b.json")])
    assert refused(lake, paths, "db.d") == [hint, *((DOCUMENT, p) for p in paths)]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl.gz", "a.parquet"])
def test_files_that_cannot_be_read_are_named(lake: SmallLake, monkeypatch: Any, name: str) -> None:
    lake.create(Field("id", Int32()))
    path = lake.file(name, b"")
    real = Path.open

    def denied(self: Path, *args: Any, **options: Any) -> Any:
        if str(self) == path:
            raise PermissionError(13, "Permission denied")
        return real(self, *args, **options)

    monkeypatch.setattr(Path, "open", denied)
    assert refused(lake, [path]) == [(UNREADABLE, path)]


@given(st.binary(max_size=60), st.sampled_from([".gz", ".bz2"]), st.binary(max_size=60), st.booleans())
def test_the_beginning_of_any_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, ending: str, noise: bytes, compress: bool
) -> None:
    path = tmp_path_factory.mktemp("head") / f"a{ending}"
    path.write_bytes(COMPRESS[ending](content) if compress else noise)
    if compress or (not noise and ending == ".gz"):
        with open_head(str(path)) as head:
            assert head.read() == (content if compress else b"")
        return
    with pytest.raises(IngestError) as error, open_head(str(path)) as head:
        head.read()
    assert (error.value.code, error.value.diagnostics[0].path) == (BROKEN, str(path))


def test_gzip_files_are_decompressed_by_spark(lake: SmallLake, monkeypatch: pytest.MonkeyPatch) -> None:
    def fed(self: TextScan, data: bytes) -> None:
        raise AssertionError("the driver decompresses a gzip file")

    monkeypatch.setattr(TextScan, "feed", fed)
    lake.create(Field("id", Int32()), Field("name", Option(String())))
    lake.ingest([lake.file("a.csv.gz", gzip.compress(CSV)), lake.file("empty.csv.gz", gzip.compress(b""))])
    members = gzip.compress(LINES[:9999]) + gzip.compress(LINES[9999:])
    lake.ingest(lake.file("a.jsonl.gz", members))
    assert len(lake.rows()) == 10_000


def test_every_gzip_file_that_spark_fails_at_is_named(lake: SmallLake) -> None:
    lake.create(Field("id", Int32()), Field("name", Option(String())))
    for name, content in (("a.csv.gz", CSV), ("a.jsonl.gz", LINES)):
        late = {k: d for k, d in damaged(gzip.compress(content)).items() if k not in ("cut-early", "empty")}
        paths = [lake.file(f"{kind}/{name}", data) for kind, data in late.items()]
        good = lake.file(name, gzip.compress(content))
        assert refused(lake, [good, *paths]) == [(BROKEN, p) for p in paths]
        with pytest.raises(IngestError) as error:
            lake.ingest([good, *paths], merge_schema="add")
        assert [d.path for d in error.value.diagnostics] == paths
    assert lake.rows() == []


def test_blocks_of_a_bzip2_file_are_not_left_out(lake: SmallLake) -> None:
    lake.create(Field("id", Int32()), Field("name", Option(String())))
    data = bz2.compress(b"id,name\n" + b"".join(b"%d,%d\n" % (i, i * 7919 % 99991) for i in range(60_000)), 1)
    bits = bin(int.from_bytes(data, "big"))[2:].zfill(8 * len(data))
    blocks = [i for i in range(len(bits)) if bits.startswith(f"{0x314159265359:048b}", i)]
    third = blocks[2] // 8
    for name, broken in (("a", data[:third] + bytes(8) + data[third + 8 :]), ("b", data[: third + 1])):
        path = lake.file(f"{name}.csv.bz2", broken)
        assert refused(lake, [path]) == [(BROKEN, path)]


@pytest.mark.parametrize("options", [{}, {"encoding": "latin1"}, {"multiLine": True}, {"comment": "§"}], ids=str)
def test_lines_of_gzip_files_are_what_those_of_others_are(lake: SmallLake, options: dict[str, Any]) -> None:
    lake.create(Field("id", Int32()), Field("name", Option(String())))
    lines = [
        "id,name",
        "1,é",
        '2,"a, ""€"" \U0001f600"',
        "3,\ufffd",
        "4,\xa0\x85x",
        "5,",
        '6,""',
        "§,7",
        "8",
        "9,a\ttab",
    ]
    valid = "\r\n".join(lines).encode()
    for invalid in (b"", b"\n10,\xff\xfea\n11,ok\n12,\xc3\n"):
        found = []
        for name, data in (("a.csv", valid + invalid), ("a.csv.gz", gzip.compress(valid + invalid))):
            before, bad = len(lake.rows()), len(lake.bad())
            lake.ingest(lake.file(f"{len(invalid)}{name}", data), options=options)
            rows = sorted((r["id"], r["name"]) for r in lake.rows())
            problems = sorted((r["raw"], str(r["problems"])) for r in lake.bad())
            found.append((len(rows) - before, len(problems) - bad, set(rows), set(problems)))
        assert found[0] == found[1]
    if not options:
        assert (3, "\ufffd") in found[0][2]
        assert [raw for raw, said in found[0][3] if "LB6411" in said]
