"""`lakebed event`: a table's history as a directory of blocks, from the command line and from Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lakebed
from cli.command_line import CommandLine
from events.reference import block, schema_event
from lakebed.catalog import TableName
from lakebed.chain_store import export_history, read_chain
from lakebed.errors import ConflictError
from lakebed.events import encode_block, encode_event
from lakebed.testing.memory_store import MemoryStore, SimulatedCrash

FIRST = """\
kind: Table
version: 1
content:
  name: shop.orders
  schema:
    fields:
      - {name: id, type: Int32}
      - {name: amount, type: {kind: Decimal, precision: 9, scale: 2}}
"""
SECOND = FIRST + "      - {name: note, type: {kind: Option, inner: String}}\n"
RENAMED = SECOND.replace("{name: amount,", "{name: price, extra: {lakebed.dev/renamedFrom: amount},")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAKEBED_WAREHOUSE", str(tmp_path / "warehouse"))
    (tmp_path / "warehouse").mkdir()
    return CommandLine(capsys)


def apply(text: str, **options: Any) -> None:
    lake = lakebed.open("warehouse")
    Path("orders.yaml").write_text(text, encoding="utf-8")
    lake.apply(lake.plan("orders.yaml"), **options)


def test_export_verify_and_export_again(command: CommandLine) -> None:
    apply(FIRST)
    first = command.json("event", "export", "shop.orders", "chain")
    assert [b["schema_id"] for b in first["blocks"]] == [None, 0]
    assert Path("chain/refs/head").read_text() == first["head"]
    apply(SECOND)
    second = command.json("event", "export", "shop.orders", "chain")
    assert (second["new_blocks"], second["dataset_id"]) == (1, first["dataset_id"])
    assert second["blocks"][:2] == first["blocks"]
    assert "nothing to write" in command.ok("event", "export", "shop.orders", "chain")
    assert command.json("event", "export", "shop.orders@0", "other")["head"] == first["head"]
    report = command.json("event", "verify", "chain")
    assert (report["is_valid"], len(report["blocks"])) == (True, 3)
    assert report["schema"] == lakebed.open("warehouse").schema("shop.orders").logical.to_json()
    assert "valid, 3 blocks" in command.ok("event", "verify", "chain")


def test_a_history_against_the_rule_is_written_with_a_warning_and_not_valid(command: CommandLine) -> None:
    apply(SECOND)
    apply(RENAMED, allow=["LB4204"])
    done = command("event", "export", "shop.orders", "chain")
    assert done.code == 0
    assert "LB4700" in done.err
    checked = command("--json", "event", "verify", "chain")
    assert (checked.code, checked.json["result"]["is_sound"]) == (11, True)
    assert "LB4700" in checked.codes


def test_a_changed_block_and_another_chain_are_refused(command: CommandLine) -> None:
    apply(FIRST)
    command.ok("event", "export", "shop.orders", "chain")
    identity = "did:odf:fed01" + "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    other = command("--json", "event", "export", "shop.orders", "chain", "--id", identity)
    assert (other.code, other.codes) == (12, ["LB2529"])
    block_file = sorted(Path("chain/blocks").iterdir())[0]
    data = block_file.read_bytes()
    block_file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert "LB2522" in command("event", "verify", "chain").err
    assert command("event", "verify", "chain").code == 1
    assert command("event", "verify", "nowhere").code == 1


def test_inspect_shows_logical_types_and_hints_when_asked(command: CommandLine) -> None:
    Path("block").write_bytes(encode_block(block(schema_event())))
    Path("event").write_bytes(encode_event(schema_event()))
    for file in ("block", "event"):
        plain, full = command.ok("event", "inspect", file), command.ok("event", "inspect", file, "--encodings")
        assert "population" in plain
        assert "bufferEncoding" not in plain
        assert "bufferEncoding" in full
        found = command.json("event", "inspect", file)
        assert "bufferEncoding" not in str(found)
    assert "f162080865248519d55fa04598e24ba42884728efe70956e640dca4df5ec8043c69ca" in command.ok(
        "event", "inspect", "block"
    )


def test_inspect_of_hostile_files(command: CommandLine) -> None:
    Path("cut").write_bytes(encode_block(block(schema_event()))[:300])
    Path("text").write_text("kind: Table\n")
    for file in ("cut", "text"):
        found = command("--json", "event", "inspect", file)
        assert (found.code, found.codes) == (1, ["LB2500"])
        assert f"{file} is no event" in found.out
    assert command("event", "inspect", "absent").code == 1
    assert command("event", "inspect", "cut", "--absent-zone", "Nowhere/Land").code == 2


def _crashes(made: Any, *, after: bool) -> Iterator[MemoryStore]:
    """The storage after a crash at each step of an export that adds a block, until one export ends."""
    for step in range(40):
        store = MemoryStore()
        export_history(made.name, made.schemas, store, "/chain", up_to=0)
        store.crash_at(step, after=after)
        try:
            export_history(made.name, made.schemas, store, "/chain")
        except SimulatedCrash:
            store.restart()
            yield store
        else:
            return
    raise AssertionError("the export never ends")


class _Made:
    def __init__(self) -> None:
        lake = lakebed.open("warehouse")
        self.name = TableName("shop", "orders")
        self.schemas = lake.tables.get_schema_manager("shop", "orders")


@pytest.mark.parametrize("after", [False, True])
def test_an_export_that_is_stopped_leaves_a_valid_chain_and_can_be_repeated(command: CommandLine, after: bool) -> None:
    apply(FIRST)
    apply(SECOND)
    made = _Made()
    count = 0
    for store in _crashes(made, after=after):
        count += 1
        assert read_chain(store, "/chain").is_valid
        done = export_history(made.name, made.schemas, store, "/chain")
        report = read_chain(store, "/chain")
        assert (report.head, report.is_valid) == (done.chain.head, True)
    assert count > 3


def test_python_says_what_it_did(command: CommandLine) -> None:
    apply(FIRST)
    done = lakebed.open("warehouse").export_events("shop.orders", "chain", keep_encodings=True)
    assert (done.new_blocks, len(done.chain.blocks)) == (2, 2)
    apply(FIRST.replace("shop.orders", "shop.other").replace("id,", "number,"))
    with pytest.raises(ConflictError):
        lakebed.open("warehouse").export_events("shop.other", "chain")
