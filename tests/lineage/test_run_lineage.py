"""OpenLineage is told of runs that write, by its library, and no run fails for it."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import lakebed
from lakebed.cli.main import run as run_command
from lakebed.errors import LakebedWarning, NotFoundError, UsageError
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.lineage import run_events, run_lineage
from lakebed.lineage.lineage_run import LineageInput
from lakebed.model import Field, Int64, List, Option, String, Struct

Told = Callable[[], list[dict[str, Any]]]
PARENT = "airflow/prod/nightly.load/01941b3f-0f1c-7a5b-8000-000000000000"


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Told]:
    """The events so far: the library writes them to a file. It leaves variables of its own behind."""
    before = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("OPENLINEAGE")}
    events = tmp_path / "events.jsonl"
    transport = {"type": "file", "log_file_path": str(events), "append": True}
    os.environ["OPENLINEAGE__TRANSPORT"] = json.dumps(transport)
    run_events.open_client.cache_clear()
    yield lambda: [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    for name in list(os.environ):
        if name.startswith("OPENLINEAGE"):
            del os.environ[name]
    os.environ.update(before)
    run_events.open_client.cache_clear()


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    (tmp_path / "w").mkdir()
    lake = lakebed.open(tmp_path / "w", lineage=True)
    fields = [Field("k", Int64()), Field("s", Option(Struct((Field("tags", List(String())),))))]
    lake.tables.create_table("db", "t", fields)
    return lake


def states(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(e["eventType"], e["job"]["name"]) for e in events]


def test_a_run_is_told_as_it_begins_and_as_it_ends(
    lake: lakebed.Lake, told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "shop")
    monkeypatch.setenv("OPENLINEAGE_PARENT_ID", PARENT)
    lake.table("db.t").truncate(run_id="one", dry_run=True)
    lake.table("db.t").truncate(run_id="one")
    begun, done = told()
    assert states([begun, done]) == [("START", "lakebed.truncate.db.t"), ("COMPLETE", "lakebed.truncate.db.t")]
    assert begun["run"]["runId"] == done["run"]["runId"]
    assert done["job"]["namespace"] == "shop"
    facets = done["run"]["facets"]
    assert facets["parent"]["job"]["namespace"] == "airflow/prod"
    assert (facets["parent"]["job"]["name"], facets["parent"]["run"]["runId"]) == tuple(PARENT.rsplit("/", 2)[1:])
    assert {"key": "lakebed_run_id", "value": "one", "source": "LAKEBED"} in facets["tags"]["tags"]
    assert facets["processing_engine"]["name"] == "Lakebed"
    (output,) = done["outputs"]
    assert (output["namespace"], output["name"]) == ("file", str(tmp_path / "w" / "db.db" / "t"))
    parts = output["facets"]
    assert [(f["name"], f["type"]) for f in parts["schema"]["fields"]] == [("k", "BIGINT"), ("s", "ROW")]
    assert parts["schema"]["fields"][1]["fields"][0]["fields"][0]["name"] == "element"
    assert parts["symlinks"]["identifiers"] == [{"namespace": "file", "name": "db.t", "type": "TABLE"}]
    assert (parts["version"]["datasetVersion"], parts["storage"]["fileFormat"]) == ("1", "parquet")
    assert parts["lifecycleStateChange"]["lifecycleStateChange"] == "TRUNCATE"
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 0
    assert "version" not in begun["outputs"][0]["facets"]


def test_files_and_bad_rows_are_told_and_why_a_run_fails(
    lake: lakebed.Lake, spark: SparkSession, told: Told, tmp_path: Path
) -> None:
    source = tmp_path / "a.csv"
    source.write_text("k\n1\nx\n2\n", encoding="utf-8")
    lake.ingest(spark, "db.t", str(source), run_id="first")
    lake.table("db.t").delete(spark, where="k = 1")
    with pytest.raises(BadRowsError):
        lake.ingest(spark, "db.t", str(source), again=True, max_bad_rows=0)
    # What is refused before it begins is no run.
    with pytest.raises(UsageError):
        lake.table("db.t").delete(spark, where=" ")
    events = told()
    ingest, delete = "lakebed.ingest.db.t", "lakebed.delete.db.t"
    assert states(events) == [
        *(("START", ingest), ("COMPLETE", ingest)),
        *(("START", delete), ("COMPLETE", delete)),
        *(("START", ingest), ("FAIL", ingest)),
    ]
    (read,) = events[1]["inputs"]
    assert (read["namespace"], read["name"]) == ("file", str(source))
    assert read["inputFacets"]["inputStatistics"]["size"] == source.stat().st_size
    rows = {
        o["name"].rpartition("/")[2]: o["outputFacets"]["outputStatistics"]["rowCount"] for o in events[1]["outputs"]
    }
    assert rows == {"t": 2, "t__quarantine": 1}
    assert events[3]["outputs"][0]["outputFacets"]["outputStatistics"]["fileCount"] == 1
    failure = events[5]["run"]["facets"]["errorMessage"]
    assert failure["message"].startswith("LB6120: db.t: 1 of 3 rows is bad")
    assert "'x'" not in json.dumps(events)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OPENLINEAGE__TRANSPORT", '{"type": "http", "url": "http://127.0.0.1:9", "retry": {"total": 0}}'),
        ("OPENLINEAGE__TRANSPORT", '{"type": "nothing of the kind"}'),
        ("OPENLINEAGE_PARENT_ID", "no parent"),
    ],
)
def test_no_run_fails_for_its_events(
    lake: lakebed.Lake, told: Told, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.warns(LakebedWarning) as caught:
        assert lake.table("db.t").truncate(run_id="one").snapshot_id == 1
    assert [w.message.diagnostic.code for w in caught] == ["LB6590", "LB6590"]
    assert [w.message.diagnostic.found for w in caught] == ["START", "COMPLETE"]


def test_it_is_off_unless_asked_for(lake: lakebed.Lake, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    lakebed.open(lake.warehouse).table("db.t").truncate(run_id="one")
    assert not (Path(lake.warehouse).parent / "events.jsonl").exists()
    monkeypatch.setattr(run_lineage, "find_spec", lambda name: None)
    with pytest.raises(NotFoundError) as caught:
        lakebed.open(lake.warehouse, lineage=True)
    assert caught.value.code == "LB6591"


def test_the_command_line_sends_events_to_the_url_of_openlineage(
    lake: lakebed.Lake, told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted: list[dict[str, Any]] = []

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.delenv("OPENLINEAGE__TRANSPORT")
        monkeypatch.setenv("OPENLINEAGE_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.chdir(tmp_path)
        (tmp_path / "lakebed.toml").write_text('warehouse = "w"\nlineage = true\nrecord_origin = false\n')
        assert run_command(["truncate", "db.t", "--yes", "--run-id", "one"]) == 0
        server.shutdown()
    assert states(posted) == [("START", "lakebed.truncate.db.t"), ("COMPLETE", "lakebed.truncate.db.t")]
    assert "sourceCodeLocation" not in posted[0]["job"]["facets"]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/lake/db.db/t", ("file", "/lake/db.db/t")),
        ("file:///lake/a.csv", ("file", "/lake/a.csv")),
        ("s3a://bucket/lake/t", ("s3://bucket", "lake/t")),
        ("abfss://c@account.dfs.core.windows.net/t", ("abfss://c@account.dfs.core.windows.net", "t")),
        ("memory://w", ("memory://w", "/")),
    ],
)
def test_datasets_are_named_as_openlineage_names_files(path: str, place: tuple[str, str]) -> None:
    assert run_events._place(path) == place


def test_of_many_files_the_directories_are_told() -> None:
    files = [LineageInput(f"/in/{i % 2}/{i}.csv", 10) for i in range(200)]
    found = run_events._inputs(files)
    assert [(f.name, f.inputFacets["inputStatistics"].fileCount) for f in found] == [("/in/0", 100), ("/in/1", 100)]
