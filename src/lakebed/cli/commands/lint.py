"""`lakebed lint FILE...`: check manifests against the rules of the project."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.commands.manifest_files import load_files
from lakebed.cli.commands.validate_manifests import numbered
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.files import write_file
from lakebed.cli.invocation import STANDARD_INPUT, Session, common_options, variable_option
from lakebed.cli.report_formats import file_report, format_option
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import UsageError

if TYPE_CHECKING:
    from lakebed.lint import LintReport, LintSettings
    from lakebed.manifest.load import LoadedFile


@click.command()
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--fix", is_flag=True, help="Mend what is safe to mend, and tell what is left.")
@click.option("--strict", is_flag=True, help="End with 1 also where there are only warnings.")
@format_option()
@variable_option
@common_options
@click.pass_obj
def command(session: Session, files: tuple[str, ...], fix: bool, strict: bool) -> ExitCode:
    """Check the manifests FILES against the rules of the project. Needs no warehouse.

    FILES are files and directories, without them the present directory. `[lint]` of lakebed.toml sets the level of each
    rule by its code, and `engines` those that have to read the tables. A comment `# lakebed: ignore LB1705 reason`
    leaves findings in what it stands above or beside out. Ends with 1 where one of the level `error` is found.
    """
    from lakebed.lint import LintSettings, lint_files

    if fix and STANDARD_INPUT in files:
        remedy = "name the file, or leave out --fix"
        raise UsageError.of("LB7031", "standard input cannot be mended: it is no file to write to", remedy=remedy)
    settings = LintSettings.of(session.setting("lint"), session.setting("engines"))
    loaded = load_files(session, files)
    mended, left = _mended(loaded, settings) if fix else ({}, [])
    loaded = [mended.get(file.source, file) for file in loaded]
    found = lint_files(loaded, settings)
    diagnostics = [*(d for report in found for d in report.diagnostics), *left]
    code = _code(diagnostics, strict)
    session.output.diagnose(diagnostics)
    result = {"files": [_report_json(report) for report in found], "fixed": list(mended)}
    said = _summary(found, diagnostics, list(mended), fix)
    return session.finish(
        result,
        lambda _: said,
        code=code,
        report=lambda: file_report("lint", said, [each.source for each in found], "nothing to say"),
    )


def _mended(loaded: list[LoadedFile], settings: LintSettings) -> tuple[dict[str, LoadedFile], list[Diagnostic]]:
    """The files that were written anew, by their names, with what they hold now; and why others were not mended."""
    from lakebed.lint import fix_text
    from lakebed.manifest.load import LoadedFile

    mended: dict[str, LoadedFile] = {}
    left: list[Diagnostic] = []
    for file in loaded:
        made = fix_text(file, settings)
        left += made.diagnostics
        if made.text != file.text:
            write_file(file.source, made.text)
            mended[file.source] = LoadedFile.parse(made.text, file.source, file.substitutions)
    return mended, left


def _code(diagnostics: list[Diagnostic], strict: bool) -> ExitCode:
    stopping = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    return ExitCode.FAILURE if any(d.severity in stopping for d in diagnostics) else ExitCode.OK


def _report_json(report: LintReport) -> dict[str, Any]:
    codes = Counter(d.code for d in report.diagnostics)
    return {"file": report.source, "findings": dict(codes), "fixable": report.fixes, "ignored": report.ignored}


def _summary(found: tuple[LintReport, ...], diagnostics: list[Diagnostic], fixed: list[str], fix: bool) -> str:
    """The files that were mended, then one line of totals."""
    counts = Counter(d.severity for d in diagnostics)
    said = [numbered(counts[s], s.value) for s in Severity if counts[s]]
    ignored, fixes = sum(report.ignored for report in found), sum(report.fixes for report in found)
    more = f", {ignored:,} ignored" if ignored else ""
    end = f"; {fixes:,} {'could not be mended' if fix else 'can be mended with --fix'}" if fixes else ""
    total = f"{numbered(len(found), 'file')}: {', '.join(said) or 'nothing to say'}{more}{end}."
    return "\n".join([*(f"mended {file}" for file in fixed), total])
