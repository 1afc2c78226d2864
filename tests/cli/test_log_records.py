"""What is done is logged, one record each with its fields, and shown where that is asked for, never with a secret."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import lakebed as library
from cli.command_line import CommandLine
from lakebed.cli.log_records import record_text


def records(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(r.name, r.getMessage()) for r in caplog.records if r.name.startswith("lakebed")]


def test_a_commit_and_an_applied_table_are_a_record_each(
    lakebed: CommandLine, orders: Path, warehouse: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lake = library.open(warehouse)
    changed = orders.read_text(encoding="utf-8").replace("Orders of the shop", "Orders")
    orders.write_text(changed, encoding="utf-8")
    with caplog.at_level(logging.INFO, "lakebed"):
        lake.apply(lake.plan(orders))
        lake.apply(lake.plan(orders))
        snapshot = lake.table("shop.orders").truncate(run_id="r 1").snapshot_id
        lake.table("shop.orders").truncate(run_id="r 1")
    assert records(caplog) == [("lakebed.evolve.apply", "applied"), ("lakebed.format.commit", "committed")]
    applied, committed = (vars(r) for r in caplog.records)
    assert (applied["table"], applied["schema_id"], applied["is_new"]) == ("shop.orders", 1, False)
    assert (committed["snapshot_id"], committed["run_id"], committed["operation"]) == (snapshot, None, "truncate")
    assert (committed["commit_user"], committed["rows"], committed["retries"]) == ("lakebed-r 1", 0, 0)
    assert 0 <= committed["seconds"] < 60
    assert committed["table"].endswith("shop.db/orders")


@pytest.mark.usefixtures("orders")
def test_records_are_shown_where_they_are_asked_for_and_only_then(
    lakebed: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = logging.getLogger("lakebed").level, list(logging.getLogger("lakebed").handlers)
    words = ("truncate", "shop.orders", "--yes", "--run-id")
    assert lakebed(*words, "one").err == ""
    shown = lakebed("--log-level", "info", *words, "two")
    (line,) = shown.err.splitlines()
    assert line.startswith("INFO lakebed.format.commit: committed table=")
    assert " snapshot_id=2 " in line
    assert lakebed(*words, "three", "--log-level", "warning").err == ""
    monkeypatch.setenv("LAKEBED_LOG", "info")
    assert len(lakebed("--json", *words, "four").err.splitlines()) == 1
    monkeypatch.setenv("LAKEBED_LOG", "loud")
    assert lakebed("tables").code == 2
    after = logging.getLogger("lakebed").level, list(logging.getLogger("lakebed").handlers)
    assert before == after


def test_a_line_has_its_fields_and_no_secret() -> None:
    record = logging.makeLogRecord(
        {
            "name": "lakebed.x",
            "levelname": "INFO",
            "msg": "did",
            "table": "s3://user:geheim@host/t?token=abcdef",
            "run_id": 'a "b"\n\x1b[2J',
            "none": None,
            "rows": 3,
        }
    )
    text = record_text(record)
    assert text.startswith("INFO lakebed.x: did ")
    assert text.endswith(" rows=3")
    assert not [bad for bad in ("geheim", "abcdef", "\n", "\x1b", "none=") if bad in text]
    assert 'run_id="a \\"b\\"' in text
