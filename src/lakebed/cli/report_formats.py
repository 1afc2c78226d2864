"""Write what a command found in the format that `--format` asks for, problems of the run included."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.git_files import path_in_repository
from lakebed.cli.output import Look, TextOutput
from lakebed.diagnostics import Diagnostic

if TYPE_CHECKING:
    from lakebed.render.findings import Report

#: What makes a text of a report, by the name of the format.
_RENDERERS = {
    "markdown": "lakebed.render.markdown_report:markdown_report",
    "github": "lakebed.render.github_annotations:github_annotations",
    "gitlab": "lakebed.render.gitlab_report:gitlab_report",
    "junit": "lakebed.render.junit_report:junit_report",
}
_HELP = {
    "markdown": "a comment on a pull request",
    "github": "annotations of GitHub Actions",
    "gitlab": "a code quality report of GitLab",
    "junit": "JUnit XML",
}


def format_option(*formats: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--format`: text, json, and those named; all of them where none is named."""
    chosen = formats or tuple(_RENDERERS)
    *others, last = [_HELP[name] for name in chosen]
    told = ", ".join(others) + (f" or {last}" if others else last)

    def remember(context: click.Context, _: click.Parameter, value: str) -> None:
        session = context.obj
        session.form = value
        session.json_mode = session.json_mode or value == "json"

    option = click.option(
        "--format",
        type=click.Choice(["text", "json", *chosen]),
        default="text",
        expose_value=False,
        callback=remember,
        help=f"text, the JSON of --json, {told}.",
    )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def checked(*arguments: Any, **named: Any) -> Any:
            context = click.get_current_context()
            session = context.obj
            if session.json_mode and session.form not in ("text", "json"):
                raise click.UsageError(f"--json and --format {session.form} do not go together", context)
            return function(*arguments, **named)

        return option(checked)

    return decorate


def file_report(title: str, summary: str, files: Iterable[str], status: str) -> Report:
    """The report of a command that looks at files; what was found in them is told as diagnostics.

    `status` is said of a file in which nothing was found.
    """
    from lakebed.render.findings import Report, Subject

    return Report(title, summary, tuple(Subject(file, status, file=file) for file in files))


class ReportOutput:
    """For other programs: the report on standard output, once all is known; talk stays on standard error.

    Where a command fails before it has a report, its problems are one; they are told on standard error too, for
    standard output may be a file that nobody looks at.
    """

    def __init__(self, form: str) -> None:
        self._form = form
        self._diagnostics: list[Diagnostic] = []
        self._people = TextOutput()

    def talk(self, text: Callable[[Look], str], *, painted: bool = False) -> None:
        self._people.talk(text, painted=painted)

    def diagnose(self, diagnostics: Iterable[Diagnostic]) -> None:
        self._diagnostics.extend(diagnostics)

    def finish(
        self,
        command: str,
        code: ExitCode,
        result: Any,
        text: Callable[[Look], str],
        *,
        painted: bool = False,
        report: Callable[[], Report] | None = None,
    ) -> None:
        from lakebed.render.findings import Report

        if report is None:
            if self._form != "github":
                self._people.diagnose(self._diagnostics)
            made = Report(command, f"failed, with exit code {int(code)}.")
        else:
            made = report()
        module, _, name = _RENDERERS[self._form].partition(":")
        render = getattr(import_module(module), name)
        shown: str = render(made.with_diagnostics(self._diagnostics), cache(path_in_repository))
        self._people.finish(command, code, None, partial(_whole, shown))

    def row(self, value: dict[str, Any]) -> None:
        self._people.row(value)


def _whole(text: str, _: Look) -> str:
    return text
