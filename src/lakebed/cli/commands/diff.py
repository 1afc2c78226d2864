"""`lakebed diff A B`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from lakebed.catalog import TableRef, TableSchema
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.main import Session, common_options
from lakebed.errors import UsageError


@click.command()
@click.argument("a")
@click.argument("b")
@click.option("--exit-code", is_flag=True, help="End with 10 when there are differences.")
@common_options
@click.pass_obj
def command(session: Session, a: str, b: str, exit_code: bool) -> int:
    """Compare two schemas, A with B. Each is a table version (db.table, db.table@3) or a manifest file of one table.

    Versions of one table are compared by field id, different tables by name.
    """
    from lakebed.evolve import describe_changes

    old, new = _schema(session, a), _schema(session, b)
    changes = describe_changes(old.schema, new.schema, by_name=old.table != new.table)
    session.output.finish(
        "diff",
        ok=True,
        result={"a": a, "b": b, "identical": not changes, "changes": list(changes)},
        text=lambda: "\n".join(changes) if changes else "No differences.",
    )
    return ExitCode.CHANGES_PENDING if changes and exit_code else ExitCode.OK


@dataclass(frozen=True, slots=True)
class _Side:
    table: str
    schema: TableSchema


def _schema(session: Session, text: str) -> _Side:
    """A manifest is compared as the table that applying it to its own table would give."""
    if not (text.endswith((".yaml", ".yml", ".json")) and Path(text).is_file()):
        return _Side(str(TableRef.parse(text).name), session.lake().schema(text))
    plan = session.lake().plan(text)
    if len(plan.tables) != 1 or plan.tables[0].target is None:
        raise UsageError.of(
            "LB7005",
            f"{text} does not give one schema to compare",
            expected="a manifest of one table without forbidden changes",
            remedy="`lakebed plan` says what is wrong with it",
        )
    return _Side(plan.tables[0].name, plan.tables[0].target)
