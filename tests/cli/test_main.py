"""What is the same for every command: help, usage, errors in both forms, the ends that are nobody's fault."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

from cli.command_line import CommandLine, environment, process
from lakebed.cli.main import COMMANDS, MODULES, cli, run


def test_without_arguments_it_shows_help(lakebed: CommandLine) -> None:
    result = lakebed()
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Usage: lakebed [OPTIONS] [COMMAND]")
    assert all(f"  {name} " in result.out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(lakebed: CommandLine, name: str) -> None:
    result = lakebed(name, "-h")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"Usage: lakebed {name} ")
    assert all(len(line) <= 80 for line in result.out.splitlines())
    assert "--json" in result.out
    assert "--warehouse DIR" in result.out


def test_every_module_of_a_command_is_listed() -> None:
    directory = Path(import_module("lakebed.cli.commands").__path__[0])
    modules = [import_module(f"lakebed.cli.commands.{path.stem}") for path in directory.glob("[a-z]*.py")]
    commands = [m.__name__ for m in modules if isinstance(getattr(m, "command", None), click.Command)]
    called = {module: name for name, module in MODULES.items()}
    modules_of_commands = [name.rpartition(".")[2] for name in commands]
    names = {called.get(name, name.replace("_", "-")) for name in modules_of_commands}
    assert names == set(COMMANDS) == set(cli.list_commands(click.Context(cli)))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plna"], "there is no command 'plna' (did you mean 'plan'?)\n    remedy: `lakebed --help` lists"),
        (["xyzzy"], "there is no command 'xyzzy'\n"),
        (["plan"], "missing argument 'FILES...': name manifests, or give --all for those of the project\n"),
        (["completion"], "missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish\n"),
        (["rollback", "t"], "write `lakebed rollback [OPTIONS] --to SCHEMA|snap:ID|tag:NAME TABLE`"),
        (["check"], "give one of --against git:REF and --data"),
        (["--nonsense"], "no such option"),
        (["plan", "x.yaml", "--exitcode"], "Did you mean '--exit-code'?"),
        (["history", "t", "--limit", "0"], "invalid value for '--limit'"),
        (["read", "t", "--schema", "newest"], "give a schema id, `latest` or `snapshot`"),
        (["read", "t", "--cores", "many"], "give a number of cores, or * for all"),
        (["show", "a", "b"], "unexpected extra argument"),
    ],
)
def test_a_command_line_without_sense_ends_with_2(lakebed: CommandLine, words: list[str], said: str) -> None:
    result = lakebed(*words)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error[LB7008]: ")
    assert said.lower() in result.err.lower()


def test_a_group_without_a_command_says_so_in_two_lines(lakebed: CommandLine) -> None:
    context = click.Context(cli)
    groups = [name for name in COMMANDS if isinstance(cli.get_command(context, name), click.Group)]
    assert {"quarantine", "tag"} <= set(groups)
    for name in groups:
        result = lakebed(name)
        assert (result.code, result.out) == (2, "")
        first, second = result.err.splitlines()
        assert first == "error[LB7008]: missing command"
        assert second.endswith(f"`lakebed {name} --help` says more")


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["--json", "plna"], "lakebed"),
        (["plan", "--json"], "plan"),
        (["plan", "--json", "--nonsense"], "plan"),
        (["--json", "--nonsense"], "lakebed"),
        (["--warehouse", "plan", "tables", "--json", "a", "b"], "tables"),
    ],
)
def test_the_same_as_json(lakebed: CommandLine, words: list[str], command: str) -> None:
    result = lakebed(*words)
    assert (result.code, result.err) == (2, "")
    envelope = result.json
    assert list(envelope) == ["format_version", "command", "ok", "result", "diagnostics"]
    assert (envelope["format_version"], envelope["command"]) == (1, command)
    assert (envelope["ok"], envelope["result"], result.codes) == (False, None, ["LB7008"])


@pytest.mark.parametrize("words", [["--json", "tables"], ["tables", "--json"], ["--json", "tables", "--json"]])
def test_json_stands_before_or_after_the_command(lakebed: CommandLine, warehouse: Path, words: list[str]) -> None:
    assert lakebed(*words).json == {
        "format_version": 1,
        "command": "tables",
        "ok": True,
        "result": {"tables": [], "states": []},
        "diagnostics": [],
    }


def test_an_error_is_text_on_standard_error_or_an_envelope_on_standard_output(lakebed: CommandLine) -> None:
    text = lakebed("tables")
    assert (text.code, text.out) == (2, "")
    assert text.err.startswith("error[LB7001]: no warehouse is named\n    remedy: give --warehouse DIR")
    envelope = lakebed("tables", "--json")
    assert (envelope.code, envelope.err, envelope.codes) == (2, "", ["LB7001"])


def test_a_file_that_the_system_refuses_is_no_traceback(lakebed: CommandLine, orders: Path, here: Path) -> None:
    result = lakebed("plan", "orders.yaml", "--out", "no/such/directory/plan.json")
    assert (result.code, result.out) == (1, "")
    assert result.err == "error[LB7009]: no/such/directory/plan.json: No such file or directory\n"


def test_ctrl_c_says_so_and_ends_as_a_shell_expects(
    lakebed: CommandLine, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lakebed.lake.Lake.schema", interrupted)
    result = lakebed("show", "t")
    assert (result.code, result.out) == (130, "")
    assert result.err.strip() == "error[LB7010]: stopped\n    remedy: repeat the command: nothing is left half done"
    assert lakebed("show", "t", "--json").codes == ["LB7010"]


def test_a_bug_is_not_hidden(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("lakebed.lake.Lake.schema", broken)
    with pytest.raises(ZeroDivisionError):
        run(["show", "t"])


@pytest.mark.parametrize("words", [["explain"], ["explain", "--json"], ["--json", "explain"]])
def test_a_reader_that_goes_away_is_no_traceback(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    started = process(*words, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    _, said = started.communicate(timeout=30)
    assert (started.returncode, said) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("words", [["explain"], ["explain", "--json"]])
def test_a_full_disk_is_said(words: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        started = process(*words, stdout=full, stderr=subprocess.PIPE)
        _, said = started.communicate(timeout=30)
    assert (started.returncode, said) == (1, b"error[LB7009]: standard output: No space left on device\n")


def test_closed_streams_are_no_traceback() -> None:
    command = f"exec {sys.executable} -m lakebed explain LB4203 >&- 2>&-"
    done = subprocess.run(["sh", "-c", command], env=environment(), capture_output=True, check=False, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_data_for_files_and_pipes_is_utf_8_whatever_the_locale(orders: Path) -> None:
    orders.write_text(orders.read_text(encoding="utf-8").replace("Price paid", "Prix payé €"), encoding="utf-8")
    poor = environment(LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    for words, wanted in ((["apply", "orders.yaml", "--yes"], "schema 1"), (["infer", "shop.orders"], "Prix payé €")):
        done = process(*words, env=poor, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, said = done.communicate(timeout=30)
        assert (done.returncode, said) == (0, b"")
        assert wanted in out.decode("utf-8")
