"""`lakebed`: finds the command, runs it, turns errors into exit codes.

Commands are imported when they are called, so that `lakebed --help` needs neither PySpark nor PyArrow.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import click

from lakebed.cli.configuration import Configuration, find_configuration
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.output import JsonOutput, Output, TextOutput
from lakebed.errors import LakebedError

#: Command name -> what `lakebed --help` says of it. The module of the same name holds `command`.
COMMANDS = {
    "init": "Make a warehouse and a lakebed.toml that names it.",
    "plan": "Show what applying manifests would change, with a verdict on each change.",
    "apply": "Apply manifests, or a saved plan.",
    "ingest": "Ingest files into a table; bad rows go to quarantine.",
    "read": "Print rows of a table under its newest schema, or an older one.",
    "history": "Show the schema versions and snapshots of a table.",
    "show": "Show one version of a table's schema.",
    "diff": "Compare two schemas.",
    "tables": "List the tables of the warehouse.",
    "infer": "Print a manifest for an existing table, whoever made it.",
    "drop": "Drop a table and its quarantine.",
    "explain": "Explain a code such as LB4203.",
}


class Session:
    """What every command gets: the settings of this run and the place to put things out."""

    def __init__(self, warehouse: str | None, json_mode: bool) -> None:
        self.warehouse = warehouse
        self.json_mode = json_mode
        self._output: Output | None = None

    @property
    def output(self) -> Output:
        if self._output is None:
            self._output = JsonOutput() if self.json_mode else TextOutput()
        return self._output

    def configuration(self) -> Configuration:
        """Where the warehouse is; see `configuration.find_configuration`."""
        return find_configuration(self.warehouse)

    def lake(self) -> Any:
        """The open warehouse."""
        import lakebed

        settings = self.configuration()
        return lakebed.open(settings.warehouse, layout=settings.layout, time_zone=settings.time_zone)


def common_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--warehouse` and `--json`, which may stand before or after the command's name."""

    def remember(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        session = context.ensure_object(_NoSession)
        if value is not None and value is not False:
            setattr(session, parameter.name or "", value)

    function = click.option(
        "--json", "json_mode", is_flag=True, expose_value=False, callback=remember, help="Put out JSON."
    )(function)
    return click.option(
        "--warehouse", metavar="DIR", expose_value=False, callback=remember, help="The warehouse's directory or URL."
    )(function)


class _NoSession(Session):
    def __init__(self) -> None:
        super().__init__(None, False)


class _Commands(click.Group):
    """A group whose commands are imported on use; an error leaves as an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"lakebed.cli.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lakebed", message="lakebed %(version)s")
@common_options
@click.pass_context
def cli(context: click.Context) -> None:
    """Schema as code for lakehouse tables: declare, plan, apply, ingest, read.

    Data goes to standard output, talk to standard error. Exit codes: 0 ok, 1 failure, 2 usage, 10 changes pending
    (with --exit-code), 11 breaking or refused, 12 stale plan or lost race, 13 drift, 14 too many rows quarantined.
    """
    context.ensure_object(_NoSession)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code. `arguments` None means those of the process."""
    session = _NoSession()
    try:
        code = cli.main(args=arguments, prog_name="lakebed", obj=session, standalone_mode=False)
        return int(code) if isinstance(code, int) else ExitCode.OK
    except LakebedError as error:
        session.output.diagnose(error.diagnostics)
        if session.json_mode:
            session.output.finish(_command_name(arguments), ok=False, result=None, text=str)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except click.exceptions.Abort:
        print("Stopped; nothing was changed.", file=sys.stderr)
        return ExitCode.FAILURE


def _command_name(arguments: Sequence[str] | None) -> str:
    words = sys.argv[1:] if arguments is None else arguments
    return next((w for w in words if w in COMMANDS), "lakebed")


def main() -> None:
    """The console script."""
    sys.exit(run())


if __name__ == "__main__":
    main()
