"""`lakebed fmt FILE...`: write manifests in canonical form."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import click

from lakebed.cli.commands.manifest_files import listed_files
from lakebed.cli.commands.validate_manifests import numbered
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.files import write_file
from lakebed.cli.invocation import NAME_OF_INPUT, STANDARD_INPUT, Session, common_options, variable_option
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ManifestError, UsageError
from lakebed.render.file_diff import file_diff


@dataclass(frozen=True, slots=True)
class _Formatted:
    """A file as it was and as it should be; `problems` say why that cannot be told."""

    file: str
    old: str = ""
    new: str = ""
    problems: tuple[Diagnostic, ...] = ()

    @property
    def changes(self) -> bool:
        return self.old != self.new


@click.command()
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--check", is_flag=True, help="Write nothing; end with 10 where a file is not in canonical form.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@variable_option
@common_options
@click.pass_obj
def command(session: Session, files: tuple[str, ...], check: bool, diff: bool) -> ExitCode:
    """Write the manifests FILES in canonical form, with their comments. Needs no warehouse.

    A directory stands for all manifests (*.yaml, *.yml) in it, at any depth; without FILES it is the present one. `-`
    is standard input, whose canonical form is put out. A file that cannot be formatted stays as it is, and the command
    ends with 1. With --check --diff the changes are shown, and the command ends with 10 where there are any.
    """
    if STANDARD_INPUT in files and len(files) > 1:
        raise UsageError.of("LB7030", "standard input is formatted alone", remedy="give the files in another command")
    found = [_formatted(session, file) for file in listed_files(files)]
    problems = [d for formatted in found for d in formatted.problems]
    session.output.diagnose(problems)
    changed = [formatted for formatted in found if formatted.changes]
    is_input, is_dry = files == (STANDARD_INPUT,), check or diff
    if is_input and not is_dry and not session.json_mode:
        return ExitCode.FAILURE if problems else _put_out(found[0])
    if not (is_input or is_dry):
        for formatted in changed:
            write_file(formatted.file, formatted.new)
    pending = ExitCode.CHANGES_PENDING if check and changed else ExitCode.OK
    result = {"files": [_file_json(f, with_text=is_input and not is_dry) for f in found]}
    return session.finish(
        result,
        lambda look: "\n".join([*(_diffs(changed, look.colour) if diff else []), *_summary(found, check or diff)]),
        code=ExitCode.FAILURE if problems else pending,
        painted=True,
    )


def _file_json(formatted: _Formatted, *, with_text: bool) -> dict[str, Any]:
    told = {"file": formatted.file, "changed": formatted.changes, "ok": not formatted.problems}
    return {**told, "text": formatted.new} if with_text and not formatted.problems else told


def _put_out(formatted: _Formatted) -> ExitCode:
    sys.stdout.write(formatted.new)
    sys.stdout.flush()
    return ExitCode.OK


def _formatted(session: Session, file: str) -> _Formatted:
    from lakebed.manifest.format_manifest import format_manifest
    from lakebed.manifest.load import read_file

    name = NAME_OF_INPUT if file == STANDARD_INPUT else file
    try:
        data = session.read_input() if file == STANDARD_INPUT else read_file(file)
        new = format_manifest(data, source=name, substitutions=session.substitutions())
        return _Formatted(name, data.decode("utf-8"), new)
    except ManifestError as error:
        return _Formatted(name, problems=error.diagnostics)


def _diffs(changed: list[_Formatted], colour: bool) -> list[str]:
    return [line for f in changed for line in file_diff(f.file, f.old, f.new, colour=colour)]


def _summary(found: list[_Formatted], dry: bool) -> list[str]:
    """The files that change, then how many there are of each sort."""
    changed = [formatted for formatted in found if formatted.changes]
    failed = sum(bool(formatted.problems) for formatted in found)
    same = len(found) - len(changed) - failed
    parts = [
        f"{numbered(len(changed), 'file')} {'would be ' if dry else ''}formatted" if changed else "",
        f"{numbered(same, 'file')} {'is' if same == 1 else 'are'} in canonical form" if same else "",
        f"{numbered(failed, 'file')} cannot be formatted" if failed else "",
    ]
    sign = "would format" if dry else "formatted"
    return [*(f"{sign} {formatted.file}" for formatted in changed), f"{', '.join(filter(None, parts))}."]
