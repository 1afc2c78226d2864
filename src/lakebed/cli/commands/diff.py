"""`lakebed diff A B`: compare two schemas, or all tables of two directories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.completers import complete_sources
from lakebed.cli.encodings import encodings_option
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import STANDARD_INPUT, Session, common_options, variable_option
from lakebed.cli.output import Look
from lakebed.cli.report_formats import format_option
from lakebed.cli.schema_sides import Pair, Sides
from lakebed.errors import UsageError

if TYPE_CHECKING:
    from lakebed.model.compare import Comparison
    from lakebed.render.findings import Report


@dataclass(frozen=True, slots=True)
class _Difference:
    """What leads from one version of a table to the other; no `comparison` where it is on one side only."""

    name: str | None
    status: str
    changes: tuple[str, ...] = ()
    comparison: Comparison | None = None

    def to_json(self) -> dict[str, Any]:
        comparison = self.comparison.to_json() if self.comparison is not None else None
        return {"name": self.name, "status": self.status, "changes": list(self.changes), "comparison": comparison}


@click.command()
@click.argument("a", shell_complete=complete_sources)
@click.argument("b", shell_complete=complete_sources)
@click.option("--exit-code", is_flag=True, help="End with 10 when there are differences.")
@encodings_option
@format_option("markdown")
@variable_option
@common_options
@click.pass_obj
def command(session: Session, a: str, b: str, exit_code: bool, encodings: bool) -> ExitCode:
    """Compare two schemas: what leads from A to B. Each is a table, a version of one (db.table@3, a tag, a branch), a
    manifest, a directory of manifests, another file that holds a schema (Parquet, Arrow, DDL, ...), or one of these in
    a commit of git (git:main:schemas/orders.yaml).

    `-` is a manifest on standard input; a pipe will do too. Files need no warehouse. Versions of one table are compared
    by field id, different tables by name. Where a side has several tables, those of the same name are compared.
    """
    if a == b == STANDARD_INPUT:
        raise UsageError.of("LB7030", "standard input can be one side only", remedy="give a file as the other side")
    found = [_difference(pair, encodings) for pair in Sides(session).pairs(a, b)]
    differ = [d for d in found if d.status != "same"]
    result: dict[str, Any] = {"a": a, "b": b, "identical": not differ}
    if len(found) == 1 and found[0].comparison is not None:
        result |= {"changes": list(found[0].changes), "comparison": found[0].comparison.to_json()}
    else:
        result["tables"] = [d.to_json() for d in found]
    return session.finish(
        result,
        lambda look: _text(found, look),
        code=ExitCode.CHANGES_PENDING if differ and exit_code else ExitCode.OK,
        report=lambda: _report(a, b, found),
    )


def _difference(pair: Pair, encodings: bool) -> _Difference:
    from lakebed.evolve import describe_changes
    from lakebed.model.compare import compare
    from lakebed.model.encoding import strip_encoding

    if pair.old is None or pair.new is None:
        return _Difference(pair.name, "added" if pair.old is None else "removed")
    changes = describe_changes(pair.old, pair.new, by_name=pair.by_name, encodings=encodings)
    kept = [v.logical if encodings else strip_encoding(v.logical) for v in (pair.old, pair.new)]
    return _Difference(pair.name, "changed" if changes else "same", changes, compare(*kept))


def _report(a: str, b: str, found: list[_Difference]) -> Report:
    from lakebed.render.comparison_text import broken_parties
    from lakebed.render.findings import Report, Subject

    subjects = []
    for each in found:
        broken = broken_parties(each.comparison) if each.comparison is not None else []
        if each.status != "same":
            subjects.append(Subject(each.name or b, each.status, (*(each.changes or (each.status,)), *broken)))
    same = len(found) - len(subjects)
    counts = [(count, word) for count, word in ((len(subjects), "different"), (same, "the same")) if count]
    return Report(
        "diff", f"From {a} to {b}: {', '.join(f'{count:,} {word}' for count, word in counts)}.", tuple(subjects)
    )


def _text(found: list[_Difference], look: Look) -> str:
    from lakebed.render.comparison_text import comparison_text, comparisons_text

    only = found[0] if len(found) == 1 else None
    if only is not None and only.comparison is not None:
        return comparison_text(only.changes, only.comparison, width=look.width)
    blocks = [(str(d.name), d.status, d.changes, d.comparison) for d in found if d.status != "same"]
    return comparisons_text(blocks, len(found) - len(blocks), width=look.width)
