"""`lakebed migrate`: the plan, the questions, and the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.command_line import CommandLine
from migration.mini_files import ORDERS, RENAMES, USERS, warehouse


@pytest.fixture
def mini(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path, data in warehouse(str(tmp_path / "mini"), {"shop/users": USERS, "shop/orders": ORDERS}).items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


def test_a_dry_run_says_what_is_inferred_and_asked(mini: Path, cli: CommandLine) -> None:
    shown = cli("migrate", "mini", "new", "--dry-run", "--rename", RENAMES[1])
    assert shown.code == 11
    assert not (mini / "new").exists()
    for line in (
        "shop.orders: to be migrated, 1 version, no rows",
        "shop.users: cannot be migrated yet, 3 versions, no rows",
        "  schema 0  id INT NOT NULL, town STRING, n INT",
        "            ? town goes and city of the same type comes: is it a rename?",
        "              --rename shop.users:1:town=city if it is, else --no-rename",
        "            renamed: id is key from here on",
        "            dropped: n",
        "  kept: description, property owner, indexConfig in `metadata`",
        "Tables: 1 to migrate, 1 blocked. 1 question to answer.",
    ):
        assert line in shown.out.splitlines()
    assert "LB3753" in shown.err


def test_a_run_needs_every_answer_and_a_yes(mini: Path, cli: CommandLine) -> None:
    words = ("migrate", "mini", "new", *(w for r in RENAMES for w in ("--rename", r)))
    assert cli("migrate", "mini", "new", "--yes").code == 11
    refused = cli(*words)
    assert (refused.code, "LB7006" in refused.err) == (2, True)
    assert not (mini / "new").exists()
    assert cli.ok(*words, "--yes").splitlines() == [
        "shop.orders: migrated, 1 version, now at schema 0",
        "shop.users: migrated, 3 versions, now at schema 2",
    ]
    again = cli(*words, "--json")
    assert again.code == 0
    assert [t["migrated"] for t in again.json["result"]["tables"]] == [False, False]
    assert cli.ok("--warehouse", "new", "tables", "--names").split() == ["shop.orders", "shop.users"]
    assert "rename column town to city" in cli.ok("--warehouse", "new", "history", "shop.users")


def test_tables_can_be_chosen_and_answers_be_given_for_all(mini: Path, cli: CommandLine) -> None:
    assert cli("migrate", "mini", "new", "--table", "shop.orders", "--yes").code == 0
    cli.ok("migrate", "mini", "new", "--no-rename", "all", "--rename", RENAMES[1], "--yes")
    assert "town" not in cli.ok("--warehouse", "new", "show", "shop.users")


def test_usage(mini: Path, cli: CommandLine) -> None:
    assert cli("migrate", "mini", "mini").code == 2
    assert cli("migrate", "mini", "new", "--rename", "nonsense").code == 2
    assert cli("migrate", "nowhere", "new").code == 2


def test_a_dry_run_that_names_an_obstacle_ends_as_the_run_would(mini: Path, cli: CommandLine) -> None:
    for words, code in (((), 11), ([w for r in RENAMES for w in ("--rename", r)], 0)):
        dry = cli("migrate", "mini", "new", "--dry-run", "--json", *words)
        assert (dry.code, dry.json["ok"]) == (code, code == 0)
        assert any(d["severity"] == "error" for d in dry.json["diagnostics"]) == (code != 0)
    assert cli("migrate", "mini", "new", "--yes").code == 11
