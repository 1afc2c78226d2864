"""`lakebed completion bash|zsh|fish`: print or install what lets a shell complete command lines."""

from __future__ import annotations

import os
from pathlib import Path

import click

from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.files import write_file
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.shells import SHELLS, script


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.option("--install", is_flag=True, help="Put it where the shell finds it, instead of printing it.")
@common_options
@click.pass_context
def command(context: click.Context, shell: str, install: bool) -> ExitCode:
    """Print the script that lets SHELL complete commands, options, tables, versions, columns and codes.

    With --install the script becomes a file of its own, for bash and zsh with a line in ~/.bashrc or ~/.zshrc that
    reads it; done again, it brings the script up to date. Each key press takes a fraction of a second: neither Spark
    nor Java is started.
    """
    session = context.ensure_object(Session)
    text = script(shell, context.find_root().command)
    if not install:
        return session.finish({"shell": shell, "script": text}, lambda _: text.removesuffix("\n"))
    file, settings = _places(shell)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_file(file, text)
    line = f'[ -r "{_in_home(file)}" ] && . "{_in_home(file)}"  # completion of lakebed'
    if settings is not None and _adds(settings, line):
        session.output.talk(lambda _: f"{settings} reads it from now on.")
    result = {"shell": shell, "file": str(file), "settings": None if settings is None else str(settings)}
    return session.finish(result, lambda _: f"Installed as {file}: begin a new {shell} to use it.")


def _places(shell: str) -> tuple[Path, Path | None]:
    """Where the script goes, and the settings of the shell that have to read it."""
    if shell == "fish":
        return _directory("XDG_CONFIG_HOME", ".config") / "fish" / "completions" / "lakebed.fish", None
    home = os.environ.get("ZDOTDIR") if shell == "zsh" else None
    file = _directory("XDG_DATA_HOME", ".local/share") / "lakebed" / f"completion.{shell}"
    return file, Path(home or Path.home()) / f".{shell}rc"


def _directory(variable: str, default: str) -> Path:
    """A directory as the XDG base directories say it: a relative one counts for nothing."""
    named = os.environ.get(variable, "")
    return Path(named) if os.path.isabs(named) else Path.home() / default


def _in_home(path: Path) -> str:
    """The path as double quotes in a shell take it, from `$HOME` on where it is below that."""
    home = f"{Path.home()}{os.sep}"
    text = str(path)
    start, rest = ("$HOME/", text[len(home) :]) if text.startswith(home) else ("", text)
    return start + "".join(f"\\{c}" if c in '\\"$`' else c for c in rest)


def _adds(settings: Path, line: str) -> bool:
    """Add a line at the end of a file, which is made where it is missing; False where the file has it."""
    text = settings.read_text(encoding="utf-8", errors="surrogateescape") if settings.exists() else ""
    if line in text.splitlines():
        return False
    before = text if not text or text.endswith("\n") else f"{text}\n"
    write_file(settings, f"{before}{line}\n".encode(errors="surrogateescape"))
    return True
