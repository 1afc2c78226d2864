"""`lakebed check --against git:REF | --data`: tell which changes of manifests break whom, or rows that are stored."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.checked_files import earlier_and_now
from lakebed.cli.commands.manifest_files import manifest_sources, open_lake_for
from lakebed.cli.commands.row_evidence import RowEvidence, data_options
from lakebed.cli.completers import complete_against, complete_approvals
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options, variable_option
from lakebed.cli.output import Look
from lakebed.cli.report_formats import format_option

if TYPE_CHECKING:
    from lakebed.evolve.plan import Plan, TablePlan
    from lakebed.render.findings import Report

_CHANGE = (
    *("kind", "path", "name", "summary", "verdict", "code", "reason", "remedy", "before", "after", "position"),
    *("breaks", "incompatible", "evidence"),
)


@click.command()
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True))
@click.option(
    "--against",
    metavar="git:REF",
    shell_complete=complete_against,
    help="What to compare with: the same files in a commit, other ones in it (git:REF:PATH), or a directory.",
)
@click.option(
    "--allow",
    multiple=True,
    metavar="CODE[:COLUMN]",
    shell_complete=complete_approvals,
    help="Let this breaking change happen.",
)
@data_options
@format_option()
@variable_option
@common_options
@click.pass_obj
def command(
    session: Session, files: tuple[str, ...], against: str | None, allow: tuple[str, ...], rows: RowEvidence
) -> ExitCode:
    """Compare the manifests FILES with what they were, and end with 11 where a change breaks somebody.

    With --against every table is judged as `lakebed plan` judges it, as if it had rows; one that is not declared any
    more breaks, too, and no warehouse is needed. With --data in its place the manifests are compared with the tables of
    the warehouse, and their rows are asked. FILES are files and directories, without them the present directory.
    """
    from lakebed.evolve.check_approvals import check_codes

    if (against is None) is not rows.data:
        raise click.UsageError("give one of --against git:REF and --data", click.get_current_context())
    if allow:
        check_codes(allow)
    if against is not None:
        return _against(session, against, files, allow)
    sources = manifest_sources(session, files or (".",))
    plan = open_lake_for(session, sources).plan(sources, allow=allow, **rows.asked)
    return _finish(session, plan, "the warehouse", [])


def _against(session: Session, against: str, files: tuple[str, ...], allow: tuple[str, ...]) -> ExitCode:
    """Compare with earlier declarations."""
    from lakebed.catalog import TableName
    from lakebed.evolve.manifest_approvals import day_of
    from lakebed.evolve.without_warehouse import check_against
    from lakebed.format.refuse_unsupported import limits
    from lakebed.manifest.load import tables_of

    earlier, now = earlier_and_now(session, against, files)
    new = tables_of(now)
    today = day_of(time.time_ns() // 1_000_000, session.setting("time_zone"))
    plan = check_against(tables_of(earlier), new, today, limits=limits).approved(allow)
    planned = {table.name for table in plan.tables}
    faulty = [name for name in (str(TableName.parse(table.name)) for table in new) if name not in planned]
    return _finish(session, plan, against, faulty)


def _finish(session: Session, plan: Plan, against: str, faulty: list[str]) -> ExitCode:
    session.output.diagnose(plan.all_diagnostics)
    return session.finish(
        _json(plan, against) | {"faulty": faulty},
        lambda look: _text(plan, against, len(faulty), look),
        code=_code(plan),
        painted=True,
        report=lambda: _report(plan, against, len(faulty)),
    )


def _code(plan: Plan) -> ExitCode:
    from lakebed.diagnostics import Severity

    if plan.is_forbidden or plan.leave_missing():
        return ExitCode.REFUSED
    errs = any(d.severity is Severity.ERROR for d in plan.diagnostics)
    return ExitCode.FAILURE if errs else ExitCode.OK


def _text(plan: Plan, against: str, faulty: int, look: Look) -> str:
    from lakebed.render.plan_text import render_check

    return render_check(plan, against, faulty=faulty, colour=look.colour, width=look.width)


def _report(plan: Plan, against: str, faulty: int) -> Report:
    from lakebed.render.plan_report import plan_report
    from lakebed.render.plan_text import check_totals

    return plan_report(plan, "check", check_totals(plan, against, faulty))


def _json(plan: Plan, against: str) -> dict[str, Any]:
    tables = [_table_json(table, written) for table, written in zip(plan.tables, plan.to_json()["tables"], strict=True)]
    return {
        "against": against,
        "verdict": plan.worst.value,
        "breaks": plan.is_forbidden or bool(plan.leave_missing()),
        "approvals_missing": list(plan.approvals_missing()),
        "tables": tables,
    }


def _table_json(table: TablePlan, written: dict[str, Any]) -> dict[str, Any]:
    status = "added" if table.create else "same" if table.is_noop else "changed"
    changes = [
        {key: change[key] for key in _CHANGE if key in change}
        for change in ([] if table.create else written["changes"])
    ]
    is_gone = table.target is None and table.base_fingerprint is None
    return {
        "name": table.name,
        "status": "removed" if is_gone else status,
        "verdict": table.worst.value,
        "changes": changes,
    }
