"""Maintain tables by their options: `lakebed maintain [TABLE...]`."""

from __future__ import annotations

from functools import partial

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.commands.spark_options import spark_failures, spark_options, spark_session
from lakebed.cli.completers import complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.progress import stages


@click.command()
@click.argument("tables", nargs=-1, metavar="[TABLE]...", shell_complete=complete_tables)
@click.option("--orphans", is_flag=True, help="Also remove files that nothing refers to and that are older than a day.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@yes_option
@spark_options
@common_options
@click.pass_obj
def command(
    session: Session, tables: tuple[str, ...], orphans: bool, dry_run: bool, yes: bool, remote: str | None, cores: str
) -> ExitCode:
    """Do to each TABLE, or to all, what is due by its options, and say what that has freed.

    Partitions whose time has passed go, where partition.expiration-time is set; small files and sorted runs are
    compacted; old snapshots expire. Spark is started where a compaction is due. What fails is told, keeps nothing else
    from being done, and makes the command end with its exit code.
    """
    from lakebed.render.maintain_text import maintenance_text
    from lakebed.spark.session import check_spark

    check_spark()
    maintain = partial(session.lake().maintain, partial(spark_session, remote, cores), tables or None, orphans=orphans)
    with stages("maintain") as progress:
        found = maintain(dry_run=True, progress=progress) if dry_run or not yes else None
    if found is None or not (dry_run or found.is_noop):
        if found is not None:
            confirm(session, yes, "maintain tables", question=f"{maintenance_text(found)}\nDo it?")
        with stages("maintain") as progress, spark_failures():
            found = maintain(progress=progress)
    session.output.diagnose(d for step in found.failed for d in step.problems)
    code = max((step.exit_code for step in found.failed), default=ExitCode.OK)
    return session.finish(found.to_json(), lambda _: maintenance_text(found, reasons=False), code=ExitCode(code))
