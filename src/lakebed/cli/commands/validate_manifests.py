"""`lakebed validate FILE...`: tell every problem of manifests, without a warehouse."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.commands.manifest_files import load_files
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options, variable_option
from lakebed.cli.report_formats import file_report, format_option
from lakebed.diagnostics import Severity

if TYPE_CHECKING:
    from lakebed.manifest.load import LoadedFile


@click.command()
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True))
@format_option()
@variable_option
@common_options
@click.pass_obj
def command(session: Session, files: tuple[str, ...]) -> ExitCode:
    """Tell every problem of the manifests FILES, with its line underlined. Needs no warehouse.

    A directory stands for all manifests (*.yaml, *.yml) in it, at any depth, `-` for one on standard input; without
    FILES it is the present directory; manifests in JSON are taken by name. What only the table in the warehouse can
    tell, such as a change that is forbidden, is told by `lakebed plan`. Ends with 1 where there is an error; warnings
    are told and stop nothing.
    """
    from lakebed.evolve.without_warehouse import validate_files
    from lakebed.format.refuse_unsupported import limits

    found = validate_files(load_files(session, files), session.attributes(), limits)
    session.output.diagnose(d for file in found for d in file.diagnostics)
    is_sound = not any(_count(file, Severity.ERROR) for file in found)
    result = {"files": [_file_json(file) for file in found]}
    code = ExitCode.OK if is_sound else ExitCode.FAILURE
    said = _summary(found) + _passed_over(files)
    return session.finish(
        result,
        lambda _: said,
        code=code,
        report=lambda: file_report("validate", said, [file.source for file in found], "valid"),
    )


def _passed_over(files: tuple[str, ...]) -> str:
    """What is said of manifests in JSON, which are not looked for in directories."""
    from lakebed.manifest.load import json_manifests

    count = len({path for file in files or (".",) if os.path.isdir(file) for path in json_manifests(file)})
    return (
        f" Passed over in directories: {numbered(count, 'manifest')} in JSON; name them to validate them."
        if count
        else ""
    )


def _count(file: LoadedFile, severity: Severity) -> int:
    return sum(d.severity is severity for d in file.diagnostics)


def _file_json(file: LoadedFile) -> dict[str, Any]:
    return {
        "file": file.source,
        "tables": [table.name for table in file.tables],
        "errors": _count(file, Severity.ERROR),
        "warnings": _count(file, Severity.WARNING),
    }


def _summary(files: tuple[LoadedFile, ...]) -> str:
    """One line: what is sound, or how much is wrong with how many files."""
    errors, warnings = (sum(_count(file, s) for file in files) for s in (Severity.ERROR, Severity.WARNING))
    tables = sum(len(file.tables) for file in files)
    more = f", {numbered(warnings, 'warning')}" if warnings else ""
    if not errors:
        return f"{numbered(len(files), 'file')} with {numbered(tables, 'table')}: valid{more}."
    bad = sum(bool(_count(file, Severity.ERROR)) for file in files)
    return f"{numbered(errors, 'error')}{more}: {bad:,} of {numbered(len(files), 'file')} cannot be used."


def numbered(count: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
