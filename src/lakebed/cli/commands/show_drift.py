"""`lakebed drift [FILE...]`: tell what was done to tables outside of `apply`."""

from __future__ import annotations

import click

from lakebed.cli.commands.manifest_files import open_lake_for, project_directory
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options, variable_option


@click.command()
@click.argument("files", nargs=-1, type=click.Path())
@click.option("--files", "data_files", is_flag=True, help="Hold data files against their schema versions, too.")
@click.option(
    "--exit-code",
    is_flag=True,
    help="End with 13 where applying would undo the work of others, annotations do not fit, or a data file is not as "
    "its version says; else with 10 where changes are pending.",
)
@variable_option
@common_options
@click.pass_obj
def command(session: Session, files: tuple[str, ...], data_files: bool, exit_code: bool) -> ExitCode:
    """Hold the manifests FILES, or those of the project, against their tables, and these against their data files.

    Of each table are told the versions that were made since `apply` made one, what each did, and which engine wrote
    under it first; what applying the manifest would undo of that, and what else is not applied. `lakebed pull` writes
    the work of others into the manifests. Nothing is changed.
    """
    from lakebed.render.drift_text import drift_text

    named = files or (project_directory(),)
    lake = open_lake_for(session, list(named))
    report = lake.drift(named, files=data_files)
    session.output.diagnose(problem for table in report.tables for problem in table.problems)
    found = ExitCode.DRIFT if report.is_drift else ExitCode.CHANGES_PENDING if report.is_pending else ExitCode.OK
    return session.finish(
        report.to_json(),
        lambda _: drift_text(report, lake.time_zone),
        code=found if exit_code else ExitCode.OK,
    )
