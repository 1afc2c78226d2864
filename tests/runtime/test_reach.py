"""What Spark cannot do is known before a job: URLs without a connector, and ORC files that its version cannot read."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pytest
from pyspark.errors import PySparkException

import lakebed
from lakebed.errors import CorruptMetadataError, LakebedError, StoreError, UnsupportedError
from lakebed.format.orc_footer import has_instants
from lakebed.spark.orc_values import refuse_orc_instants
from lakebed.spark.reach import check_reach
from lakebed.spark.spark_errors import cause_of, name_of, spark_errors
from lakebed.testing.memory_store import MemoryStore

MANIFEST = """\
kind: Table
version: 1
content:
  name: db.t
  schema: {fields: [{name: a, type: Int32}]}
"""
INSTANT, CLOCK = pa.timestamp("us", "UTC"), pa.timestamp("us")


def code_of(error: pytest.ExceptionInfo[LakebedError]) -> str:
    return error.value.diagnostics[0].code


def test_a_url_without_a_connector_is_refused_before_the_job(spark: Any, tmp_path: Any) -> None:
    fs = pytest.importorskip("fsspec").filesystem("memory")
    fs.pipe_file("/reach/in/a.csv", b"a\n1\n")
    manifest = tmp_path / "t.yaml"
    manifest.write_text(MANIFEST)
    warehouse = tmp_path / "warehouse"
    warehouse.mkdir()
    near, far = lakebed.open(warehouse), lakebed.open("memory://reach/warehouse")
    for lake in (near, far):
        lake.apply(lake.plan(manifest))
    source = tmp_path / "in.csv"
    source.write_text("a\n1\n")
    with pytest.raises(UnsupportedError) as refused:
        near.ingest(spark, "db.t", "memory://reach/in")
    [problem] = refused.value.diagnostics
    assert problem.code == "LB6462"
    assert 'No FileSystem for scheme "memory"' in problem.message
    assert "An error occurred" not in problem.message
    assert "connector" in (problem.remedy or "")
    # Workers write without a connector, each into a memory of its own.
    with pytest.raises(StoreError) as unseen:
        far.ingest(spark, "db.t", str(source))
    assert unseen.value.diagnostics[0].code == "LB6531"
    assert not list(warehouse.rglob("bucket-*"))
    near.ingest(spark, "db.t", str(source))
    for path in warehouse.rglob("*"):
        if path.is_file():
            fs.pipe_file(f"/reach/warehouse/{path.relative_to(warehouse)}", path.read_bytes())
    with pytest.raises(UnsupportedError) as refused:
        lakebed.open("memory://reach/warehouse").read(spark, "db.t")
    assert code_of(refused) == "LB6462"


def test_a_storage_is_looked_at_once_and_the_disk_not_at_all() -> None:
    session = Session("4.3.0")
    check_reach(session, ["/a/b", "memory://x/y", "memory://x/z", "memory://w/z"])  # type: ignore[arg-type]
    check_reach(session, ["memory://x/other"])  # type: ignore[arg-type]
    assert session.loaded == ["memory://x/y", "memory://w/z"]


@pytest.mark.parametrize(
    ("columns", "held"),
    [
        ({"a": pa.int32(), "t": CLOCK}, False),
        ({"a": pa.int32(), "t": INSTANT}, True),
        ({"s": pa.struct([("x", pa.list_(INSTANT))])}, True),
        ({"m": pa.map_(pa.string(), CLOCK)}, False),
        ({"m": pa.map_(pa.string(), INSTANT)}, True),
    ],
)
@pytest.mark.parametrize("codec", ["uncompressed", "zstd", "zlib"])
@pytest.mark.parametrize("rows", [0, 1])
def test_the_end_of_an_orc_file_says_whether_it_holds_instants(
    columns: dict[str, Any], held: bool, codec: str, rows: int
) -> None:
    out = io.BytesIO()
    orc.write_table(pa.table({n: pa.nulls(rows, t) for n, t in columns.items()}), out, compression=codec)
    store = MemoryStore()
    store.create_if_absent("/f.orc", out.getvalue())
    assert has_instants(store, "/f.orc") is held
    new, old = Session("4.2.0"), Session("4.1.4")
    refuse_orc_instants(new, store, ["/f.orc"])  # type: ignore[arg-type]
    if not held:
        refuse_orc_instants(old, store, ["/f.orc"])  # type: ignore[arg-type]
        return
    with pytest.raises(UnsupportedError) as refused:
        refuse_orc_instants(old, store, ["/f.orc"])  # type: ignore[arg-type]
    [problem] = refused.value.diagnostics
    assert (problem.code, problem.path, problem.found) == ("LB6460", "/f.orc", "4.1.4")


@pytest.mark.parametrize(
    ("text", "cause", "name"),
    [
        (
            'An error occurred while calling o1.load.\n: org.x.Unsupported: No FileSystem for scheme "s3"\n\tat a.B(c)',
            'org.x.Unsupported: No FileSystem for scheme "s3"',
            'org.x.Unsupported: No FileSystem for scheme "s3"',
        ),
        ("Job aborted\n\tat a.B\nCaused by: x.Y: z\n\tat q\nCaused by: v.W: deepest\n", "v.W: deepest", "v.W: deepest"),
        ("[CODED.SUB] what; SQLSTATE: 1\nCaused by: x.Y: z", "x.Y: z", "[CODED.SUB] what; SQLSTATE: 1"),
        (
            "Job aborted: x.PythonException: Traceback (most recent call last):\n  File a, line 1\n    f()\n"
            "During handling of it:\n\nTraceback (most recent call last):\n  File b, line 2\nKeyError: 'k'\n\n\tat a.B",
            "KeyError: 'k'",
            "KeyError: 'k'",
        ),
    ],
)
def test_of_a_page_of_traces_one_line_is_the_cause(text: str, cause: str, name: str) -> None:
    assert (cause_of(Exception(text)), name_of(Exception(text))) == (cause, name)


@pytest.mark.parametrize("kind", [StoreError, UnsupportedError, CorruptMetadataError])
def test_an_error_of_ours_in_a_worker_is_the_error(kind: type[LakebedError]) -> None:
    error = kind.of("LB3604", "cannot create p=x: too long", path="p=x", remedy="Check the name.")
    trace = (
        f"Traceback (most recent call last):\n  File a, line 1\n{kind.__module__}.{kind.__name__}: {error}\n\n\tat a.B"
    )
    with pytest.raises(kind) as caught, spark_errors():
        raise PySparkException(f"Job aborted due to stage failure: {trace}")
    [problem] = caught.value.diagnostics
    assert (problem.code, problem.message, problem.remedy) == (
        "LB3604",
        "cannot create p=x: too long",
        "Check the name.",
    )


class Session:
    """What is asked of a session, and what it was told to load."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.loaded: list[str] = []
        self.read = SimpleNamespace(format=lambda _: self)

    def load(self, path: str) -> Any:
        self.loaded.append(path)
        return SimpleNamespace(schema=None)
