"""`lakebed init`."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from cli.command_line import CommandLine


def test_a_warehouse_and_a_file_that_names_it(lakebed: CommandLine, here: Path) -> None:
    result = lakebed("init", "data/lake")
    assert (result.code, result.err) == (0, "")
    assert result.out == f"Warehouse {here}/data/lake is ready. lakebed.toml names it.\n"
    assert (here / "lakebed.toml").read_text() == 'warehouse = "data/lake"\n'
    assert list((here / "data" / "lake").iterdir()) == []
    assert lakebed("tables").code == 0


def test_a_warehouse_inside_of_a_checkout_is_left_out_of_git(lakebed: CommandLine, here: Path) -> None:
    (here / ".git").mkdir()
    assert lakebed.ok("init", "data/lake").endswith("lakebed.toml names it. .gitignore leaves it out of git.\n")
    assert (here / ".gitignore").read_text() == "/data/lake/\n"


@pytest.mark.parametrize(("ignored", "is_told"), [("*.log\n", True), ("data/lake\n", False)])
def test_a_gitignore_that_is_there_is_not_written_over(
    lakebed: CommandLine, here: Path, ignored: str, is_told: bool
) -> None:
    (here / ".git").mkdir()
    (here / ".gitignore").write_text(ignored)
    assert ("Write /data/lake/ into .gitignore" in lakebed.ok("init", "data/lake")) == is_told
    assert (here / ".gitignore").read_text() == ignored


def test_again_changes_nothing(lakebed: CommandLine, orders: Path, here: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in here.rglob("*")}
    assert lakebed.ok("init", "warehouse") == f"Warehouse {here}/warehouse is ready.\n"
    assert lakebed.ok("init") == f"Warehouse {here}/warehouse is ready.\n"
    assert {p: p.stat().st_mtime_ns for p in here.rglob("*")} == before


@pytest.mark.parametrize("other", ["file", "directory/file", "x.db"])
def test_a_directory_of_other_things_is_not_touched(lakebed: CommandLine, here: Path, other: str) -> None:
    path = here / "home" / other
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    result = lakebed("init", "home")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error[LB7003]: no warehouse can be made there: ")
    assert sorted(p.name for p in here.rglob("*")) == sorted(["home", *Path(other).parts])


def test_a_file_is_no_place_for_a_warehouse(lakebed: CommandLine, here: Path) -> None:
    (here / "f").write_text("mine")
    assert lakebed("init", "f").code == 1
    assert (here / "f").read_text() == "mine"
    assert lakebed("init", "f/below").code == 1
    assert not (here / "lakebed.toml").exists()


def test_a_file_in_force_is_kept_and_said(lakebed: CommandLine, warehouse: Path, here: Path) -> None:
    notice = (
        f"{here}/lakebed.toml, which counts here, names another one: "
        "give --warehouse, or write `warehouse` into one here."
    )
    assert lakebed.ok("init", "second") == f"Warehouse {here}/second is ready. {notice}\n"
    assert (here / "lakebed.toml").read_text() == 'warehouse = "warehouse"\n'


def test_the_flag_and_the_variable_name_it_too(
    lakebed: CommandLine, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lakebed("init").code == 2
    monkeypatch.setenv("LAKEBED_WAREHOUSE", "by-variable")
    assert lakebed.json("init") == {
        "warehouse": f"{here}/by-variable",
        "configuration": f"{here}/lakebed.toml",
    }
    assert lakebed.json("init", "--warehouse", "by-flag") == {"warehouse": f"{here}/by-flag", "configuration": None}


def test_no_file_is_put_into_the_warehouse_itself(
    lakebed: CommandLine, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "lake").mkdir()
    monkeypatch.chdir(here / "lake")
    assert "No lakebed.toml names it" in lakebed.ok("init", ".")
    assert list(here.rglob("*")) == [here / "lake"]
    assert lakebed("tables", "--warehouse", ".").code == 0


def test_paths_that_need_quotes(lakebed: CommandLine, here: Path) -> None:
    name = 'my "lake"\\é'
    assert lakebed("init", name).code == 0
    assert tomllib.loads((here / "lakebed.toml").read_text(encoding="utf-8")) == {"warehouse": name}
    assert lakebed("tables").code == 0


def test_a_path_that_is_no_text(lakebed: CommandLine, here: Path) -> None:
    result = lakebed("init", "lake-\udcff")
    assert result.code == 2
    assert list(here.iterdir()) == []


def test_what_is_said_of_a_profile_without_its_warehouse_makes_it(lakebed: CommandLine, here: Path) -> None:
    (here / "lakebed.toml").write_text('warehouse = "a"\n[env.prod]\nwarehouse = "b c"\n')
    said = lakebed("tables", "--env", "prod").err
    assert f"`lakebed init '{here}/b c'`" in said
    lakebed.ok(*shlex.split(said.split("`")[1])[1:])
    assert lakebed("tables", "--env", "prod").code == 0
    assert not (here / "a").exists()
