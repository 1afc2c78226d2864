"""`lakebed database`, `lakebed rename`, hostile names and storage settings on the command line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli.command_line import CommandLine, on_terminal
from cli.conftest import MANIFEST
from lakebed.catalog import PathFactory, TableManager
from lakebed.cli.configuration import find_configuration
from lakebed.errors import UsageError

HOSTILE = ["../x", "/abs", "a/b", ".", "..", "x" * 300, "a\nb", ".hidden"]


def test_a_database_is_made_listed_and_dropped(lakebed: CommandLine, warehouse: Path) -> None:
    result = lakebed("database", "list")
    assert (result.code, result.out, result.err) == (0, "", "There are no databases.\n")
    assert lakebed.ok("database", "create", "shop") == f"The database shop is in {warehouse}/shop.db.\n"
    assert lakebed.json("database", "create", "a b") == {"database": "a b", "path": f"{warehouse}/a b.db"}
    again = lakebed("database", "create", "shop")
    assert (again.code, again.err.splitlines()[0].partition(":")[0]) == (1, "error[LB3702]")
    assert lakebed("database", "create", "shop", "--if-not-exists").code == 0
    assert lakebed.ok("database", "list") == "a b\nshop\n"
    assert lakebed.json("database", "list") == {"databases": ["a b", "shop"]}
    assert lakebed.ok("database", "drop", "a b") == "Dropped the database a b.\n"
    assert lakebed("database", "drop", "a b").code == 1
    assert os.listdir(warehouse) == ["shop.db"]


def test_a_database_with_tables(lakebed: CommandLine, orders: Path, warehouse: Path) -> None:
    refused = lakebed("database", "drop", "shop")
    assert refused.code == 11
    assert "error[LB3703]: the database shop holds 1 table: orders" in refused.err
    unconfirmed = lakebed("database", "drop", "shop", "--cascade")
    assert (unconfirmed.code, "LB7006" in unconfirmed.err) == (2, True)
    question = "Drop the database shop with 1 table? [y/N]"
    code, _ = on_terminal("database", "drop", "shop", "--cascade", columns=300, answers={question: "n\n"})
    assert (code, os.listdir(warehouse)) == (1, ["shop.db"])
    assert lakebed.json("database", "drop", "shop", "--cascade", "--yes") == {"dropped": "shop", "tables": ["orders"]}
    assert os.listdir(warehouse) == []


def test_rename_and_drop_say_what_they_did(lakebed: CommandLine, orders: Path, warehouse: Path) -> None:
    TableManager(PathFactory(warehouse)).create_table("shop", "orders__quarantine", [("raw", "STRING")])
    unconfirmed = lakebed("rename", "shop.orders", "shop.`old.orders`")
    assert (unconfirmed.code, "LB7006" in unconfirmed.err) == (2, True)
    renamed = lakebed.ok("rename", "shop.orders", "shop.`old.orders`", "--yes")
    assert renamed == "Renamed shop.orders to shop.`old.orders`.\n"
    assert lakebed.ok("tables", "--quarantine", "--names") == "shop.`old.orders`\nshop.`old.orders__quarantine`\n"
    assert lakebed.json("rename", "shop.`old.orders`", "shop.sales", "--yes") == {
        "old": "shop.`old.orders`",
        "new": "shop.sales",
    }
    missing = lakebed("rename", "shop.sale", "shop.x")
    assert missing.code == 1
    assert "did you mean 'shop.sales'?" in missing.err
    assert lakebed.ok("drop", "shop.sales", "--yes") == "Dropped shop.sales and its quarantine.\n"


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_refused_by_every_command(lakebed: CommandLine, warehouse: Path, name: str) -> None:
    quoted = f"shop.`{name}`"
    commands = (
        ("database", "create", name),
        ("database", "drop", name, "--cascade", "--yes"),
        ("tables", name),
        *((command, quoted) for command in ("show", "history", "infer", "read")),
        ("drop", quoted, "--yes"),
        ("rename", "shop.a", quoted),
        ("rename", quoted, "shop.a"),
        ("ingest", quoted, "rows.csv"),
    )
    Path("rows.csv").write_text("a\n1\n")
    for words in commands:
        result = lakebed(*words)
        assert result.code in (1, 2), (words, result)
        assert "error[LB3101]" in result.err, (words, result.err)
    text = MANIFEST.replace("name: shop.orders", f"name: {quoted!r}".replace("\\\\n", "\\n"))
    Path("hostile.yaml").write_text(text, encoding="utf-8")
    for command in ("plan", "apply"):
        result = lakebed(command, "hostile.yaml")
        assert result.code == 1, result
        assert result.err.startswith("hostile.yaml:4:"), result.err
    assert os.listdir(warehouse) == []


@pytest.mark.parametrize(
    ("name", "code"),
    [("shop.orders__quarantine", "LB3710"), ("shop.orders$branch_b", "LB3103"), ("sys.t", "LB3102")],
)
def test_names_that_a_manifest_cannot_declare(lakebed: CommandLine, warehouse: Path, name: str, code: str) -> None:
    Path("m.yaml").write_text(MANIFEST.replace("shop.orders", name), encoding="utf-8")
    result = lakebed("plan", "m.yaml")
    assert result.code == 1
    assert result.err.startswith(f"m.yaml:4:9: error[{code}]")


def test_the_option_branch_cannot_be_declared(lakebed: CommandLine, warehouse: Path) -> None:
    Path("m.yaml").write_text(MANIFEST.replace("  schema:", "  options: {branch: b}\n  schema:"), encoding="utf-8")
    result = lakebed("apply", "m.yaml", "--yes")
    assert result.code != 0
    assert "the option 'branch' cannot be stored" in result.err
    assert not (warehouse / "shop.db").exists()


def test_a_branch_by_the_formats_name(lakebed: CommandLine, orders: Path, warehouse: Path) -> None:
    assert lakebed("show", "shop.orders$branch_b").code == 1
    assert "error[LB3709]" in lakebed("show", "shop.orders$snapshots").err
    assert "error[LB5590]" in lakebed("read", "shop.orders$snapshot").err
    source = warehouse / "shop.db" / "orders" / "schema" / "schema-0"
    target = warehouse / "shop.db" / "orders" / "branch" / "branch-b" / "schema"
    target.mkdir(parents=True)
    (target / "schema-0").write_bytes(source.read_bytes())
    assert lakebed.ok("show", "shop.orders$branch_b") == lakebed.ok("show", "shop.orders@branch:b")


class TestStorageSettings:
    def test_they_belong_to_the_files_warehouse(self, here: Path) -> None:
        (here / "lakebed.toml").write_text(
            'warehouse = "s3://bucket/lake"\nallow_overwrite_races = true\n'
            '[storage]\nendpoint_url = "http://127.0.0.1:9000"\n[storage.client_kwargs]\nregion_name = "eu"\n'
        )
        found = find_configuration(None, {}, here)
        assert found.storage == {"endpoint_url": "http://127.0.0.1:9000", "client_kwargs": {"region_name": "eu"}}
        assert found.allow_overwrite_races
        other = find_configuration("elsewhere", {}, here)
        assert (other.storage, other.allow_overwrite_races) == ({}, False)

    @pytest.mark.parametrize("text", ['storage = "x"', 'allow_overwrite_races = "yes"', "allow_overwrite_races = 1"])
    def test_they_are_checked(self, here: Path, text: str) -> None:
        (here / "lakebed.toml").write_text(f'warehouse = "w"\n{text}\n')
        with pytest.raises(UsageError) as caught:
            find_configuration(None, {}, here)
        assert caught.value.code == "LB7002"

    def test_a_local_warehouse_takes_no_options(self, lakebed: CommandLine, warehouse: Path, here: Path) -> None:
        (here / "lakebed.toml").write_text('warehouse = "warehouse"\n[storage]\nkey = "x"\n')
        assert "error[LB3713]" in lakebed("tables").err
