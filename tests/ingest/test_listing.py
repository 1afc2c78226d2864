"""Which files a source names, on every storage, and what is left out of them."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

import lakebed
from ingest.ingest_lake import SmallLake
from lakebed.errors import IngestError, NotFoundError, StoreError, UsageError
from lakebed.ingest.sources.source_files import format_of, identify
from lakebed.ingest.sources.source_listing import Reason, SourceStorage, file_choice, find_files, storage_like
from lakebed.model import Field, Int32
from lakebed.store import open_store

NO_SOURCE, HIDDEN, NO_FORMAT, BAD_PATTERN = "LB6101", "LB6102", "LB6103", "LB6128"

NAMES = (
    "a.csv",
    "b.csv",
    "_b.csv",
    ".c.csv",
    "readme.txt",
    "x[1].csv",
    "site=n/a.csv",
    "site=n/_SUCCESS",
    "site=s/deep/a.csv",
    "site=s/deep/b.csv",
    "_tmp/a.csv",
    "_tmp/more/b.csv",
)
Place = tuple[str, SourceStorage]


@pytest.fixture(params=["local", "file", "memory", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A directory `in` with files on one kind of storage, and how sources are opened."""
    match request.param:
        case "local" | "file":
            root = str(tmp_path) if request.param == "local" else tmp_path.as_uri()
            storage = SourceStorage()
            yield filled(root, storage), storage
        case "memory":
            storage = SourceStorage()
            yield filled(f"memory://{uuid4().hex}", storage), storage
        case _:
            pytest.importorskip("moto")
            from store.s3_server import S3Server

            with S3Server() as server:
                import s3fs

                bucket = f"b{uuid4().hex}"
                s3fs.S3FileSystem(**server.options, skip_instance_cache=True).mkdir(bucket)
                # The lake lies in another bucket, opened as s3a; sources are on the same storage.
                storage = storage_like("s3a://lake/warehouse", server.options)
                yield filled(f"s3://{bucket}/data", storage), storage


def filled(root: str, storage: SourceStorage) -> str:
    store, path = storage.open(root)
    for name in NAMES:
        store.replace(f"{path}/in/{name}", b"id\n1\n")
    return root


def names(place: Place, source: str, **choice: str | tuple[str, ...] | None) -> tuple[list[str], dict[str, Reason]]:
    root, storage = place
    path = storage.open(root)[1]
    patterns = file_choice(choice.get("include"), choice.get("exclude"))
    found = find_files([f"{root}/{source}"], patterns, storage)
    assert all(f.path.endswith(f"/{f.below}") for f in found.files)
    return [p.removeprefix(f"{path}/in/") for p in found.paths], {
        x.path.removeprefix(f"{path}/in/"): x.reason for x in found.left_out
    }


def test_directories_files_and_patterns(place: Place) -> None:
    hidden = dict.fromkeys(("_b.csv", ".c.csv", "site=n/_SUCCESS", "_tmp/"), Reason.HIDDEN)
    shown = [n for n in sorted(NAMES) if "/_" not in n and not n.startswith(("_", "."))]
    assert names(place, "in") == (shown, hidden)
    assert names(place, "in/a.csv") == (["a.csv"], {})
    assert names(place, "in/x[1].csv") == (["x[1].csv"], {})
    assert names(place, "in/*.csv") == (
        ["a.csv", "b.csv", "x[1].csv"],
        {"_b.csv": Reason.HIDDEN, ".c.csv": Reason.HIDDEN},
    )
    assert names(place, "in/site=*")[0] == ["site=n/a.csv", "site=s/deep/a.csv", "site=s/deep/b.csv"]
    assert names(place, "in/site=*/*.csv")[0] == ["site=n/a.csv"]
    assert names(place, "in/**/a.csv")[0] == ["a.csv", "site=n/a.csv", "site=s/deep/a.csv"]
    assert names(place, "in/**")[0] == shown
    for nothing in ("in/c.csv", "in/*.json", "other", "in/site=*/x/a.csv"):
        with pytest.raises(NotFoundError) as error:
            names(place, nothing)
        assert error.value.code == NO_SOURCE
    with pytest.raises(IngestError) as refused:
        names(place, "in/_b.csv")
    assert refused.value.code == HIDDEN


def test_patterns_choose_and_what_they_leave_out_is_told(place: Place) -> None:
    found, left_out = names(place, "in", include="*.csv", exclude=("b.csv", "site=n/*"))
    assert found == ["a.csv", "site=s/deep/a.csv", "x[1].csv"]
    assert {n: r for n, r in left_out.items() if r is not Reason.HIDDEN} == {
        "b.csv": Reason.EXCLUDED,
        "readme.txt": Reason.NOT_INCLUDED,
        "site=n/a.csv": Reason.EXCLUDED,
        "site=s/deep/b.csv": Reason.EXCLUDED,
    }
    assert names(place, "in", include=("**/deep/a.csv", "/a.csv"))[0] == ["a.csv", "site=s/deep/a.csv"]
    with pytest.raises(NotFoundError, match=r"'.*a.csv' \(excluded\) left out"):
        names(place, "in/a.csv", exclude="a*")


def test_files_are_identified_with_the_options_of_the_lake(place: Place) -> None:
    root, storage = place
    found = find_files([f"{root}/in/site=s"], None, storage)
    (first, _) = identify(found.files, None, storage)
    assert (first.size, [(f.key, f.value) for f in first.folders]) == (5, [("site", "s")])


def test_options_of_the_lake_go_to_the_same_kind_of_storage_only() -> None:
    storage = storage_like("s3://lake", {"anon": True})
    assert storage.open("/tmp")[1] == "/tmp"
    assert storage.open("memory://x")[1] == "memory://x"
    with pytest.raises(StoreError):
        storage_like("s3://lake", {"no_such_option": 1}).open("s3a://other")


@pytest.mark.parametrize("pattern", ["", "/", ("*.csv", "")])
def test_what_is_no_pattern(pattern: str | tuple[str, ...]) -> None:
    for given in ({"include": pattern, "exclude": None}, {"include": None, "exclude": pattern}):
        with pytest.raises(UsageError) as error:
            file_choice(**given)
        assert error.value.code == BAD_PATTERN


def test_all_names_without_a_format_are_told_at_once() -> None:
    with pytest.raises(UsageError) as error:
        format_of(["a.csv", "readme.txt", "notes"], None)
    assert [(d.code, d.path) for d in error.value.diagnostics] == [(NO_FORMAT, "readme.txt"), (NO_FORMAT, "notes")]
    assert "exclude" in (error.value.diagnostics[0].remedy or "")


def test_a_run_says_what_it_left_out(lake: SmallLake) -> None:
    lake.create(Field("id", Int32()))
    for name in ("a.csv", "_x.csv", "readme.txt"):
        lake.file(f"in/{name}", "id\n1\n")
    with pytest.raises(UsageError):
        lake.ingest(str(lake.root / "in"))
    result = lake.ingest(str(lake.root / "in"), exclude="*.txt")
    assert result.rows_written == 1
    assert result.to_json()["left_out"] == [
        {"path": str(lake.root / "in/_x.csv"), "reason": "hidden"},
        {"path": str(lake.root / "in/readme.txt"), "reason": "excluded"},
    ]


def test_documents_are_read_from_storages_that_spark_does_not_know(lake: SmallLake) -> None:
    opened = lakebed.open(lake.root / "warehouse", layout="paimon")
    fields = "{name: id, type: Int32}, {name: site, type: {kind: Option, inner: String}}"
    content = f"{{name: db.t, read: {{kind: Json}}, schema: {{fields: [{fields}]}}}}"
    opened.apply(opened.plan(lakebed.manifest.parse_manifest(f"{{kind: Table, version: 1, content: {content}}}")))
    root = f"memory://{uuid4().hex}"
    store, path = open_store(root)
    for number, name in enumerate(("site=a b/x.json", "site=c/x.json.gz", "y.json")):
        text = f'[{{"id": {number}}}]'.encode()
        store.replace(f"{path}/{name}", gzip.compress(text) if name.endswith(".gz") else text)
    assert lake.ingest(f"{root}/site=*/*").rows_written == 2
    assert lake.ingest([root, f"{root}/y.json"]).rows_written == 1
    assert [r["site"] for r in lake.rows(order="id")] == ["a b", "c", None]


def test_the_table_says_which_files_are_read(lake: SmallLake) -> None:
    opened = lakebed.open(lake.root / "warehouse", layout="paimon")
    content = "{name: db.t, read: {include: '*.csv', exclude: [old/**]}, schema: {fields: [{name: id, type: Int32}]}}"
    manifest = lakebed.manifest.parse_manifest(f"{{kind: Table, version: 1, content: {content}}}")
    opened.apply(opened.plan(manifest))
    written = lakebed.manifest.dump_table(opened.infer("db.t"))
    assert not opened.plan(lakebed.manifest.parse_manifest(written)).tables[0].changes
    for number, name in enumerate(("a.csv", "old/b.csv", "old/new/c.csv", "d.txt")):
        lake.file(f"in/{name}", f"id\n{number}\n")
    source = str(lake.root / "in")
    result = lake.ingest(source)
    assert [x.reason.value for x in result.left_out] == ["not included", "excluded", "excluded"]
    # What the caller says of one of the two goes before it.
    assert lake.ingest(source, exclude="nothing").rows_written == 2
    assert lake.ingest(source, include="*.txt", format="csv").rows_written == 1
    assert [r["id"] for r in lake.rows(order="id")] == [0, 1, 2, 3]


def test_a_file_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "march.csv").write_text("id\n", encoding="utf-8")
    with pytest.raises(NotFoundError) as error:
        find_files(["in/marhc.csv", str(tmp_path / "in" / "mrch.csv"), "in/*.json"])
    relative, absolute, pattern = error.value.diagnostics
    assert relative.suggestions == ("in/march.csv",)
    assert f"looked for as '{tmp_path}/in/marhc.csv'" in relative.message
    assert absolute.suggestions == (f"{tmp_path}/in/march.csv",)
    assert "looked for" not in absolute.message
    assert pattern.suggestions == ()
    assert all(d.remedy for d in error.value.diagnostics)
