"""`lakebed pull [TABLE|FILE...]`: write what was made outside of `apply` into manifests."""

from __future__ import annotations

import os

import click

from lakebed.cli.commands.manifest_files import project_directory
from lakebed.cli.completers import complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.files import write_file
from lakebed.cli.invocation import Session, common_options, variable_option


@click.command()
@click.argument("named", nargs=-1, metavar="[TABLE|FILE|DIR]...", shell_complete=complete_tables)
@click.option(
    "--manifest",
    "manifests",
    multiple=True,
    metavar="FILE|DIR",
    type=click.Path(),
    help="Where the manifests are; without it below the directory of lakebed.toml, else below the present one.",
)
@click.option(
    "--whole", is_flag=True, help="Make a manifest what its table is, also where it asks for what is not applied yet."
)
@click.option("--check", is_flag=True, help="Write nothing; end with 13 where a manifest would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@variable_option
@common_options
@click.pass_obj
def command(
    session: Session, named: tuple[str, ...], manifests: tuple[str, ...], whole: bool, check: bool, diff: bool
) -> ExitCode:
    """Write what was made outside of `apply` into the manifests of each TABLE, or of all that a FILE or DIR declares.

    What another engine, `alter_table` or a merge on ingest did since `apply` made a version comes into the manifest,
    with comments and order kept; what the manifest asks for and is not applied stays. Where `apply` has made no
    version, the manifest becomes what the table is. Where one cannot be written, none is.
    """
    from lakebed.render.drift_text import pulled_text
    from lakebed.render.file_diff import file_diff

    files = [name for name in named if os.path.exists(name)]
    tables = [name for name in named if name not in files]
    pulled = session.lake().pull((*manifests, *files) or (project_directory(),), tables, whole=whole)
    session.output.diagnose(pulled.diagnostics)
    is_dry = check or diff
    for file in () if is_dry else pulled.files:
        write_file(file.file, file.new)

    def shown(colour: bool) -> str:
        lines = [line for f in pulled.files for line in file_diff(f.file, f.old, f.new, colour=colour)] if diff else []
        return "\n".join([*lines, pulled_text(pulled)])

    code = ExitCode.DRIFT if check and pulled.files else ExitCode.OK
    return session.finish(
        {**pulled.to_json(), "written": not is_dry}, lambda look: shown(look.colour), code=code, painted=True
    )
