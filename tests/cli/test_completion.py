"""Completion of command lines: what is proposed, how each shell takes it, and how it is installed."""

from __future__ import annotations

import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.command_line import CommandLine, environment
from cli.git_repository import commit_all
from lakebed.cli.invocation import Session
from lakebed.cli.main import cli
from lakebed.cli.shells import BREAKS, LINE, SHELLS, VARIABLE, Line

#: As bash has them unless told otherwise.
USUAL_BREAKS = " \t\n\"'@><=;|&(:"


@pytest.fixture
def proposed(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """What a shell is answered for a line, without the kinds."""
    monkeypatch.setenv(BREAKS, USUAL_BREAKS)

    def ask(line: str, shell: str = "fish") -> list[str]:
        monkeypatch.setenv(LINE, line)
        said = SHELLS[shell](cli, {"obj": Session()}, "lakebed", VARIABLE).complete()
        return [each.partition(",")[2] for each in said.splitlines()]

    return ask


@pytest.fixture
def nested(lakebed: CommandLine, orders: Path) -> Path:
    """A second version of `shop.orders`, which has a struct, a tag-less branch and no rows."""
    orders.write_text(
        orders.read_text()
        + "      - {name: at, type: {kind: Option, inner: {kind: Struct, fields: [{name: zip code, type: String}]}}}\n"
    )
    assert lakebed("apply", "orders.yaml", "--yes").code == 0
    assert lakebed("branch", "create", "shop.orders", "dev").code == 0
    return orders


def test_commands_options_and_choices(proposed) -> None:
    assert [p.partition("\t")[0] for p in proposed("lakebed qu")] == ["quarantine"]
    assert [p.partition("\t")[0] for p in proposed("lakebed quarantine sh")] == ["show"]
    assert [p.partition("\t")[0] for p in proposed("lakebed read db.t --lim")] == ["--limit"]
    assert proposed("lakebed convert x --to odf-j") == ["odf-json"]
    assert proposed("lakebed convert x --to=odf-j") == ["--to=odf-json"]
    assert proposed("lakebed read --nonsense x ") == []


def test_tables_and_versions(proposed, nested: Path) -> None:
    assert proposed("lakebed read ") == proposed("lakebed drop shop.o") == ["shop.orders"]
    assert proposed("lakebed read x") == []
    states = ["shop.orders@1", "shop.orders@0", "shop.orders@snap:", "shop.orders@tag:", "shop.orders@branch:"]
    assert proposed("lakebed show shop.orders@") == proposed("lakebed diff x shop.orders@") == states
    assert proposed("lakebed show shop.orders@b") == states[-1:]
    assert proposed("lakebed show shop.orders@branch:") == ["shop.orders@branch:dev"]
    assert proposed("lakebed read 'shop.orders$sn") == ["shop.orders$snapshots"]
    # What writes takes no earlier state.
    assert proposed("lakebed ingest shop.orders@") == ["shop.orders@branch:"]
    assert proposed("lakebed rollback shop.orders --to ") == ["1", "0", "snap:", "tag:"]
    assert proposed("lakebed read shop.orders --schema ") == ["latest", "snapshot", "1", "0"]
    assert proposed("lakebed branch delete shop.orders ") == proposed("lakebed plan x --branch ") == ["dev"]
    assert proposed("lakebed branch create shop.orders ") == []


def test_snapshots_and_tags(lakebed: CommandLine, proposed, orders: Path) -> None:
    table = Path("warehouse/shop.db/orders")
    (table / "snapshot").mkdir()
    for number in range(1, 31):
        (table / "snapshot" / f"snapshot-{number}").write_text("{}")
    (table / "tag").mkdir()
    (table / "tag" / "tag-v1.0").write_text("{}")
    newest = [str(number) for number in range(30, 10, -1)]
    assert proposed("lakebed read shop.orders --snapshot ") == newest
    assert proposed("lakebed show shop.orders@snap:") == [f"shop.orders@snap:{number}" for number in newest]
    assert proposed("lakebed show shop.orders@tag:") == ["shop.orders@tag:v1.0"]
    assert proposed("lakebed tag delete shop.orders v") == ["v1.0"]


def test_columns(proposed, nested: Path) -> None:
    assert proposed("lakebed read shop.orders --select 'id, a") == [
        *("id, amount", "id, at", "id, at.`zip code`"),
    ]
    assert proposed("lakebed read --where 'id > 3 and no") == []
    assert proposed("lakebed read shop.orders@0 --where 'id > 3 and no") == ["id > 3 and note"]
    assert proposed("lakebed read shop.orders@0 --select at") == []
    assert proposed("lakebed update shop.orders --set no") == ["note="]
    assert proposed("lakebed analyze shop.orders id am") == ["amount"]
    assert proposed("lakebed ingest shop.orders x.csv --order-by d") == ["day"]


def test_codes_and_approvals(lakebed: CommandLine, proposed, nested: Path) -> None:
    assert proposed("lakebed explain LB4203") == ["LB4203\tA column is dropped"]
    assert "LB4203\tA column is dropped" in proposed("lakebed plan orders.yaml --allow ")
    assert proposed("lakebed plan orders.yaml --allow LB4203:a") == [
        *("LB4203:amount", "LB4203:at", "LB4203:at.`zip code`"),
    ]
    kept = [line for line in nested.read_text().splitlines() if "name: note" not in line]
    nested.write_text("\n".join(kept))
    assert lakebed("plan", "orders.yaml", "--out", "plan.json").code == 0
    assert proposed("lakebed apply plan.json --allow ") == ["LB4203:note"]


def test_titles_are_those_of_the_register() -> None:
    from lakebed.codes import register, titles

    assert titles() == {code.id: code.title for code in register().values()}
    assert 20 < len(titles("evolution")) < len(titles())


def test_profiles_and_commits(proposed, here: Path) -> None:
    assert proposed("lakebed plan --env ") == []
    (here / "lakebed.toml").write_text('[env.prod]\nwarehouse = "x"\n[env.preview]\nwarehouse = "y"\n')
    assert proposed("lakebed plan --env pro") == ["prod"]
    commit_all()
    assert proposed("lakebed check --against g") == ["git:"]
    assert proposed("lakebed check --against git:") == proposed("lakebed diff git:m") == ["git:main"]


def test_the_warehouse_is_that_of_the_line(proposed, orders: Path, here: Path) -> None:
    (here / "other").mkdir()
    assert proposed("lakebed --warehouse other read ") == proposed("lakebed read --warehouse other ") == []
    assert proposed("lakebed --warehouse warehouse read ") == ["shop.orders"]
    (here / "lakebed.toml").write_text("this is no TOML")
    assert proposed("lakebed read ") == proposed("lakebed read --env ") == []


def test_a_warehouse_that_does_not_answer_is_not_waited_for(
    proposed, orders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lakebed.catalog import TableManager
    from lakebed.cli import completers

    monkeypatch.setattr(completers, "_PATIENCE", 0.05)
    answers = threading.Event()
    monkeypatch.setattr(TableManager, "list_tables", lambda *_, **__: answers.wait(60) and ["late.table"])
    before = time.monotonic()
    assert proposed("lakebed read ") == []
    assert time.monotonic() - before < 30
    answers.set()


def test_names_behind_a_url_are_kept_for_a_while(
    proposed, orders: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One key press pays for the network, and one a minute where it does not answer."""
    from lakebed.catalog import TableManager

    asked: list[int] = []
    listed = TableManager.list_databases

    def counted(tables: TableManager) -> list[str]:
        asked.append(1)
        return listed(tables)

    monkeypatch.setattr(TableManager, "list_databases", counted)
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
    line = f"lakebed --warehouse file://{here}/warehouse read "
    assert proposed(line) == proposed(line) == ["shop.orders"]
    assert proposed(f"{line}shop.orders --select am") == ["amount"]
    assert len(asked) == 1
    kept = list((here / "cache" / "lakebed" / "completion").iterdir())
    for file in kept:
        os.utime(file, (time.time() - 601, time.time() - 601))
    assert proposed(line) == ["shop.orders"]
    assert len(asked) == 2
    # Nothing of a warehouse on a disk is kept.
    assert proposed("lakebed read ") == ["shop.orders"]
    assert len(asked) == 3

    def silent(*_: object, **__: object) -> list[str]:
        asked.append(1)
        raise OSError("the network is down")

    monkeypatch.setattr(TableManager, "list_databases", silent)
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "another"))
    assert proposed(line) == proposed(line) == []
    assert len(asked) == 4


def test_paths_are_left_to_the_shell(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    for line in ("lakebed plan ", "lakebed check --against ./x", "lakebed diff ./x"):
        monkeypatch.setenv(LINE, line)
        assert SHELLS["bash"](cli, {"obj": Session()}, "lakebed", VARIABLE).complete() == "file,"


def test_every_table_can_be_completed() -> None:
    """A new command that takes a table says so."""

    def lacking(command: click.Command, path: str) -> Iterator[str]:
        context = click.Context(command)
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                yield from lacking(below, f"{path} {name}")
        for parameter in command.params:
            if parameter.name in ("table", "tables", "where", "allow") and parameter._custom_shell_complete is None:
                yield f"{path}: {parameter.name}"

    # The filter of quarantines is over other columns, and `migrate` asks another warehouse.
    assert sorted(lacking(cli, "lakebed")) == [
        *("lakebed migrate: tables", "lakebed quarantine purge: where"),
        *("lakebed quarantine replay: where", "lakebed quarantine show: where"),
    ]


class TestBash:
    """Bash takes a proposal as if it was typed, from its last word break on."""

    def test_words_are_broken(self, proposed, nested: Path) -> None:
        assert proposed("lakebed show shop.orders@br", "bash") == ["@branch:"]
        assert proposed("lakebed show shop.orders@branch:", "bash") == ["dev"]
        assert proposed("lakebed show --warehouse=warehouse shop.orders@branch:d", "bash") == ["dev"]
        assert proposed("lakebed convert x --to=odf-j", "bash") == ["odf-json"]
        assert proposed("lakebed show 'shop.orders@br", "bash") == ["shop.orders@branch:"]

    def test_without_breaks(self, proposed, nested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(BREAKS, " \t\n")
        assert proposed("lakebed convert x --to=odf-j", "bash") == ["--to=odf-json"]

    @given(
        st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" ")), st.sampled_from(["", "'", '"'])
    )
    def test_a_name_is_a_name_whatever_is_in_it(self, name: str, quote: str) -> None:
        asked = SHELLS["bash"](cli, {}, "lakebed", VARIABLE)
        asked._line = Line((), "", quote, quote)
        typed = asked._typed(name)
        if typed is None:
            assert quote
            assert set(name) & set("'\"$`\\!")
        else:
            assert shlex.split(f"{quote}{typed}{quote}") == ([name] if name or quote else [])


def test_lines() -> None:
    assert Line.parse("lakebed plan a.yaml --al") == Line(("plan", "a.yaml"), "--al", "--al", "")
    assert Line.parse("A=b C='d e' lakebed plan ") == Line(("plan",), "", "", "")
    assert Line.parse("lakebed read 'a b' \"c d") == Line(("read", "a b"), "c d", '"c d', '"')
    assert Line.parse("lakebed read a\\ b") == Line(("read",), "a b", "a\\ b", "")
    assert Line.parse("") == Line((), "", "", "")


def test_control_characters_are_not_proposed(proposed, warehouse: Path) -> None:
    schema = warehouse / "db.db" / "a\x1b[31mb" / "schema"
    schema.mkdir(parents=True)
    (schema / "schema-0").write_text("{}")
    assert proposed("lakebed read ") == []


def test_install_is_one_command_and_can_be_repeated(
    lakebed: CommandLine, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(here / "home"))
    (here / "home").mkdir()
    (here / "home/.bashrc").write_bytes(b"alias x=y\n# \xff, without an end of line")
    for shell in SHELLS:
        first = lakebed.json("completion", shell, "--install")
        before = {p: p.read_bytes() for p in here.rglob("*") if p.is_file()}
        assert lakebed.json("completion", shell, "--install") == first
        assert {p: p.read_bytes() for p in here.rglob("*") if p.is_file()} == before
        assert Path(first["file"]).read_text() == lakebed.json("completion", shell)["script"]
    lines = (here / "home/.bashrc").read_bytes().splitlines()
    assert lines[:2] == [b"alias x=y", b"# \xff, without an end of line"]
    assert lines[2].startswith(b'[ -r "$HOME/.local/share/lakebed/completion.bash" ] && . ')
    assert (here / "home/.config/fish/completions/lakebed.fish").is_file()
    assert lakebed("completion", "tcsh").code == 2


# -- real shells -------------------------------------------------------------------------------------------------------


def installed(shell: str) -> str:
    """The shell's program; skips where it is absent."""
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"there is no {shell} on this machine")
    return found


@pytest.fixture
def home(lakebed: CommandLine, nested: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a shell that has `lakebed` and its completion, in a home of its own."""
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(here / "home"))
    program = here / "bin" / "lakebed"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m lakebed "$@"\n')
    program.chmod(0o755)
    (here / "home").mkdir()
    for settings in (".bashrc", ".zshrc"):
        (here / "home" / settings).write_text("PS1='ready> '\n")
    path = f"{program.parent}:{os.environ['PATH']}"
    # A table of somebody who hopes that its name is run.
    shutil.copytree(here / "warehouse/shop.db/orders", here / "warehouse/evil.db/a b;touch pwned `touch pwned`")
    return environment(HOME=str(here / "home"), PATH=path, TERM="dumb")


def typed(words: list[str], variables: dict[str, str], *steps: tuple[str, str]) -> None:
    """Type into an interactive shell: each text once the one before has brought what it had to onto the screen."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(words[0], words, variables)
    screen, deadline = b"", time.monotonic() + 30
    try:
        for keys, wanted in steps:
            os.write(terminal, keys.encode())
            screen = b""
            while wanted.encode() not in screen.replace(b"\x08", b""):
                ready, _, _ = select.select([terminal], [], [], max(deadline - time.monotonic(), 0))
                assert ready, f"{keys!r} does not bring {wanted!r}, but {screen.decode()!r}"
                screen += os.read(terminal, 65536)
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


#: Its name is proposed as text, and shows the table.
EVIL = (("\x15lakebed show ev\t", "pwned"), ("\r", "touch pwned ``touch pwned```  schema 1"))


def test_in_bash(lakebed: CommandLine, home: dict[str, str]) -> None:
    bash = installed("bash")
    lakebed.ok("completion", "bash", "--install")
    steps = [
        ("", "ready> "),
        ("lakebed sho\t", "show "),
        ("sh\t", "shop.orders "),
        ("\x7f@bra\t", "branch:"),
        ("d\t", "dev "),
        # An open quote, and the end that bash gives it.
        ("\x15lakebed read shop.orders --select 'id, no\t", "note' "),
        ("\x15lakebed convert x --to=odf-j\t", "odf-json "),
        *EVIL,
    ]
    typed([bash, "--noprofile", "-i"], home, *steps)
    assert not Path("pwned").exists()


def test_in_zsh(lakebed: CommandLine, home: dict[str, str]) -> None:
    zsh = installed("zsh")
    lakebed.ok("completion", "zsh", "--install")
    steps = [
        ("", "ready> "),
        ("lakebed sho\t", "show "),
        ("sh\t", "shop.orders "),
        ("\x7f@bra\t", "branch:"),
        ("d\t", "dev "),
        ("\x15lakebed read shop.orders --select=am\t", "amount"),
        ("\x15lakebed explain LB4203\t\t", "LB4203"),
        *EVIL,
    ]
    typed([zsh, "-i"], home, *steps)
    assert not Path("pwned").exists()


def test_in_fish(lakebed: CommandLine, home: dict[str, str]) -> None:
    fish = installed("fish")
    lakebed.ok("completion", "fish", "--install")

    def completed(line: str) -> list[str]:
        command = [fish, "--command", f"complete --do-complete {shlex.quote(line)}"]
        return subprocess.run(command, env=home, capture_output=True, text=True, check=True).stdout.splitlines()

    assert [line.partition("\t")[0] for line in completed("lakebed sho")] == ["show"]
    assert completed("lakebed show shop.orders@branch:") == ["shop.orders@branch:dev"]
    assert completed("lakebed read shop.orders --select=am") == ["--select=amount"]
    assert completed("lakebed explain LB4203") == ["LB4203\tA column is dropped"]
    assert "orders.yaml" in completed("lakebed plan ord")
