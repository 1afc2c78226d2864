"""`lakebed diff A B`: compare two schemas: manifests, tables, versions or schema files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakebed.cli.commands.manifest_files import STANDARD_INPUT, manifest_sources
from lakebed.cli.encodings import encodings_option
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.errors import LakebedError, NoWarehouseError, UsageError

if TYPE_CHECKING:
    from lakebed.catalog import TableSchema
    from lakebed.lake import Lake

_SUFFIXES = (".yaml", ".yml", ".json")


@click.command()
@click.argument("a")
@click.argument("b")
@click.option("--exit-code", is_flag=True, help="End with 10 when there are differences.")
@encodings_option
@common_options
@click.pass_obj
def command(session: Session, a: str, b: str, exit_code: bool, encodings: bool) -> ExitCode:
    """Compare two schemas: what leads from A to B. Each is a table, a version of one (db.table@3), or a manifest file.

    `-` is a manifest on standard input; a pipe will do too. Two manifests need no warehouse. Versions of one table are
    compared by field id, different tables by name.
    """
    from lakebed.evolve import describe_changes
    from lakebed.model.compare import compare
    from lakebed.model.encoding import strip_encoding
    from lakebed.render.comparison_text import comparison_text

    if a == b == STANDARD_INPUT:
        raise UsageError.of("LB7030", "standard input can be one side only", remedy="give a file as the other side")
    sides = _Sides(session)
    old, new = sides.read(a), sides.read(b)
    by_name = old.table is None or old.table != new.table
    changes = describe_changes(old.schema, new.schema, by_name=by_name, encodings=encodings)
    kept = [side.schema.logical if encodings else strip_encoding(side.schema.logical) for side in (old, new)]
    found = compare(*kept)
    return session.finish(
        {"a": a, "b": b, "identical": not changes, "changes": list(changes), "comparison": found.to_json()},
        lambda look: comparison_text(changes, found, width=look.width),
        code=ExitCode.CHANGES_PENDING if changes and exit_code else ExitCode.OK,
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """A schema, and the table whose field ids it has, None where they are nobody's."""

    table: str | None
    schema: TableSchema


class _Sides:
    """Reads the two sides. The warehouse is opened only for a table, or where there is one to look a manifest up in."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @cached_property
    def _lake(self) -> Lake:
        return self._session.lake()

    def read(self, text: str) -> _Side:
        """The schema that an argument names: a manifest in a file, pipe or standard input, or a table."""
        from lakebed.catalog import TableRef

        if text == STANDARD_INPUT or _is_there(text):
            return self._declared(text)
        try:
            return _Side(str(TableRef.parse(text).name), self._lake.schema(text))
        except LakebedError:
            if text.endswith(_SUFFIXES):
                return self._declared(text)
            raise

    def _declared(self, file: str) -> _Side:
        """The version that applying a manifest to its own table would give, else the table that it would make anew.

        Without a warehouse it is the latter.
        """
        from lakebed.evolve import plan_table
        from lakebed.manifest import load_all

        (source,) = manifest_sources((file,))
        manifest = load_all(source)
        if len(manifest.tables) != 1:
            raise UsageError.of(
                "LB7005",
                f"{file} declares {len(manifest.tables)} tables",
                expected="a manifest of one table",
                found=", ".join(t.name for t in manifest.tables),
                remedy="put each table into a file of its own",
            )
        if self._has_warehouse():
            plan = self._lake.plan(manifest).tables[0]
            if plan.target is not None:
                return _Side(plan.name, plan.target)
        made = plan_table(manifest.tables[0], None, lambda: False).target
        if made is None:
            raise UsageError.of(
                "LB7005", f"{file} declares no possible table", remedy="`lakebed plan` says what is wrong"
            )
        return _Side(None, made)

    def _has_warehouse(self) -> bool:
        try:
            self._session.configuration()
        except NoWarehouseError:
            return False
        return True


def _is_there(text: str) -> bool:
    """Whether the argument is a file or a pipe, whatever it is called; a table may have the name of neither."""
    path = Path(text)
    try:
        return path.is_file() or path.is_fifo() or text.startswith("/dev/fd/")
    except OSError:
        return False
