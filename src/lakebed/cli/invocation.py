"""Give commands the settings of this run, the open warehouse and the output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.configuration import Configuration, Flags, Setting, find_configuration, find_settings, profile_names
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.log_records import LEVELS, VARIABLE, show_records
from lakebed.cli.output import JsonOutput, Look, Output, TextOutput
from lakebed.errors import LakebedError, ManifestError, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from lakebed.lake import Lake
    from lakebed.manifest.attribute_registry import AttributeRegistry
    from lakebed.manifest.substitutions import Substitutions
    from lakebed.render.findings import Report

STANDARD_INPUT = "-"
#: What positions in standard input say in the place of a file.
NAME_OF_INPUT = "<stdin>"


class Session:
    """One run of `lakebed`. The options common to all commands are its attributes."""

    def __init__(self) -> None:
        self.command = "lakebed"
        self.warehouse: str | None = None
        self.env: str | None = None
        self.variables: dict[str, str] = {}
        self.json_mode = False
        self.form = "text"
        self.skip_checksums = False
        self._output: Output | None = None
        self._input: dict[str, bytes] = {}

    @property
    def output(self) -> Output:
        """Text, JSON or a report, as the command line says when it is first asked for."""
        if self._output is None:
            self._output = self._chosen_output()
        return self._output

    def _chosen_output(self) -> Output:
        if self.json_mode:
            return JsonOutput()
        if self.form == "text":
            return TextOutput(self._input)
        from lakebed.cli.report_formats import ReportOutput

        return ReportOutput(self.form)

    @property
    def is_for_programs(self) -> bool:
        """Whether standard output is read by a program, which has to get something whatever happens."""
        return self.json_mode or self.form != "text"

    @property
    def warehouse_flags(self) -> dict[str, str | tuple[str, ...] | None]:
        """What the command line says of the warehouse, for a command that is to find the same one."""
        return {"--warehouse": self.warehouse, "--env": self.env}

    @property
    def variable_flags(self) -> dict[str, str | tuple[str, ...] | None]:
        """What the command line says of variables of manifests, for a command that is to read the same ones."""
        return {"--var": tuple(f"{name}={value}" for name, value in self.variables.items())}

    def configuration(self) -> Configuration:
        """Where the warehouse is; see `configuration.find_configuration`."""
        return find_configuration(self.warehouse, env=self.env)

    def settings(self) -> tuple[Setting, ...]:
        """Every setting in force, with where it is from; see `configuration.find_settings`."""
        return find_settings(Flags(self.warehouse, self.env, self.variables))

    def substitutions(self) -> Substitutions:
        """What stands in manifests for something else, by the settings in force."""
        from lakebed.manifest.substitutions import Substitutions

        values = {s.name: s.value for s in self.settings()}
        return Substitutions(values["variables"], values["databases"], values["database_prefix"])

    def attributes(self) -> AttributeRegistry | None:
        """The attributes that the project declares. Raises `ManifestError` for a file that cannot be used."""
        setting = next(s for s in self.settings() if s.name == "attributes")
        if setting.value is None:
            return None
        from lakebed.manifest.attribute_document import load_attributes

        try:
            return load_attributes(setting.value)
        except ManifestError as error:
            remedy = f"Correct `attributes` in {setting.origin}; a relative path begins at the directory of that file."
            # Where the file could not be read, it has no place to name.
            told = [replace(d, remedy=remedy) if d.position is None else d for d in error.diagnostics]
            raise ManifestError(*told) from error

    def setting(self, name: str) -> Any:
        """The value of one setting."""
        return next(s.value for s in self.settings() if s.name == name)

    def lake(self) -> Lake:
        """The open warehouse."""
        import lakebed

        settings = self.configuration()
        return lakebed.open(
            settings.warehouse,
            layout=settings.layout,
            time_zone=settings.time_zone,
            storage_options=settings.storage,
            allow_overwrite_races=settings.allow_overwrite_races,
            attributes=self.attributes(),
            verify_checksums=settings.verify_checksums and not self.skip_checksums,
            record_origin=settings.record_origin,
            lineage=settings.lineage,
            substitutions=self.substitutions(),
        )

    @property
    def can_ask(self) -> bool:
        """Whether there is a terminal to ask on; questions go to standard error."""
        return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()

    def read_input(self, name: str = NAME_OF_INPUT, *, most: int = -1) -> bytes:
        """What standard input holds, at most so many bytes; `name` is what positions in it say.

        Raises `UsageError` where it is closed (LB7031), or was read before (LB7030).
        """
        if sys.stdin is None or sys.stdin.closed:
            remedy = "give a file, or send the text: `lakebed validate - < orders.yaml`"
            raise UsageError.of("LB7031", "standard input is closed, and cannot be read", remedy=remedy)
        if self._input:
            remedy = "give a file, a pipe or a table for the other one"
            raise UsageError.of("LB7030", "standard input is given twice, and can be read once", remedy=remedy)
        self._input[name] = sys.stdin.buffer.read(most)
        return self._input[name]

    def confirm(self, question: str) -> None:
        """Ask. Raises `LakebedError` for every answer but yes."""
        try:
            answer = click.confirm(question, err=True)
        except click.Abort:
            answer = False
            click.echo(err=True)
        if not answer:
            raise LakebedError.of("LB7006", "not confirmed; nothing was changed")

    def finish(
        self,
        result: Any,
        text: Callable[[Look], str],
        *,
        code: ExitCode = ExitCode.OK,
        painted: bool = False,
        report: Callable[[], Report] | None = None,
    ) -> ExitCode:
        """Put out the result and return the exit code. `report` is for commands with formats beside text and JSON."""
        self.output.finish(self.command, code, result, text, painted=painted, report=report)
        return code


def _profiles(_: click.Context, __: click.Parameter, word: str) -> list[CompletionItem[str]]:
    """The profiles that begin so, for the completion of a shell; none of a file that cannot be understood."""
    from click.shell_completion import CompletionItem

    try:
        return [CompletionItem(name) for name in profile_names() if name.startswith(word)]
    except UsageError:
        return []


def common_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--warehouse`, `--env`, `--json` and `--log-level`, which may stand before or after the command's name."""

    def remember(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value:
            setattr(context.ensure_object(Session), parameter.name or "", value)

    def log(_: click.Context, __: click.Parameter, value: str | None) -> None:
        if value:
            show_records(value)

    function = click.option(
        "--log-level",
        type=click.Choice(LEVELS, case_sensitive=False),
        envvar=VARIABLE,
        expose_value=False,
        callback=log,
        metavar="LEVEL",
        help="Log on standard error: debug, info, warning.",
    )(function)
    function = click.option(
        "--json", "json_mode", is_flag=True, expose_value=False, callback=remember, help="Put out JSON."
    )(function)
    function = click.option(
        "--env",
        metavar="NAME",
        expose_value=False,
        callback=remember,
        shell_complete=_profiles,
        help="The profile [env.NAME] of lakebed.toml.",
    )(function)
    return click.option(
        "--warehouse", metavar="DIR", expose_value=False, callback=remember, help="The warehouse's directory or URL."
    )(function)


def variable_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--var NAME=VALUE`, for commands that read manifests, which the run's `Session` remembers."""

    def remember(context: click.Context, _: click.Parameter, given: tuple[str, ...]) -> None:
        for text in given:
            name, equals, value = text.partition("=")
            if not equals or not name:
                raise click.UsageError(f"--var takes NAME=VALUE, not {text!r}", context)
            context.ensure_object(Session).variables[name] = value

    return click.option(
        "--var",
        multiple=True,
        metavar="NAME=VALUE",
        expose_value=False,
        callback=remember,
        help="The value of a variable of manifests.",
    )(function)
