"""`lakebed infer TABLE`: print a manifest that declares a table as it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakebed.cli.completers import complete_states
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.files import write_file
from lakebed.cli.invocation import Session, common_options
from lakebed.errors import ManifestError, NotFoundError

if TYPE_CHECKING:
    from lakebed.catalog import TableSchema
    from lakebed.lake import Lake
    from lakebed.manifest import TableManifest


@click.command()
@click.argument("table", shell_complete=complete_states)
@click.option(
    "--encodings/--no-encodings",
    default=True,
    help="Whether to keep the hints of how values are encoded in Arrow; planning a manifest without them removes them.",
)
@click.option(
    "--update",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Bring the manifest FILE up to what the table is now; comments and all that did not change stay as they are.",
)
@common_options
@click.pass_obj
def command(session: Session, table: str, encodings: bool, update: str | None) -> ExitCode:
    """Print a manifest that declares TABLE as it is, whoever made it. Planning it gives no change.

    Where a manifest cannot declare what the table has, such as columns that differ only in case, it is told, and the
    command ends with 1.
    """
    from lakebed.catalog import drift
    from lakebed.evolve.inferred import refused_parts
    from lakebed.manifest import dump_table
    from lakebed.manifest.format_manifest import format_manifest
    from lakebed.model.encoding import strip_encoding

    lake = session.lake()
    session.output.diagnose(drift(lake.schema(table)))
    manifest = lake.infer(table)
    if not encodings:
        manifest = replace(manifest, schema=strip_encoding(manifest.schema))
    text = format_manifest(dump_table(manifest))
    refused = refused_parts(text, lake.schema(table))
    if update is not None:
        if refused:
            raise ManifestError(*refused)
        return _update(session, lake, manifest, update)
    session.output.diagnose(refused)
    return session.finish(
        {"table": manifest.name, "manifest": text},
        lambda _: text.rstrip("\n"),
        code=ExitCode.FAILURE if refused else ExitCode.OK,
    )


def _update(session: Session, lake: Lake, wanted: TableManifest, file: str) -> ExitCode:
    from lakebed.catalog import TableName
    from lakebed.manifest import load_manifest
    from lakebed.manifest.edit import edit_manifest

    name = TableName.parse(wanted.name)
    declared = next((t for t in load_manifest(file).tables if TableName.parse(t.name) == name), None)
    if declared is None:
        raise NotFoundError.of("LB1630", f"{file} does not declare {name}", path=file)
    versions = lake.tables.get_schema_manager(name.database, name.table).versions()
    renames = _renames([f.name for f in declared.schema.fields], list(versions))
    with Path(file).open(encoding="utf-8", newline="") as stream:
        old = stream.read()
    new = edit_manifest(
        old,
        lambda t: replace(wanted, name=t.name, source_kind=t.source_kind, approvals=t.approvals),
        table=declared.name,
        renames=renames,
        source=file,
    )
    if new != old:
        write_file(file, new)
    said = f"{file} is brought up to date with {name}." if new != old else f"{file} declares {name} as it is."
    return session.finish({"table": str(name), "file": file, "changed": new != old}, lambda _: said)


def _renames(declared: Iterable[str], versions: list[TableSchema]) -> dict[str, str]:
    """Present name by declared name of columns that were renamed since they were declared."""
    newest = max(versions, key=lambda v: v.id)
    present = {f.id: f.name for f in newest.fields}
    found: dict[str, str] = {}
    for name in set(declared) - set(present.values()):
        ids = [f.id for v in sorted(versions, key=lambda v: -v.id) for f in v.fields if f.name == name]
        if ids and ids[0] in present:
            found[present[ids[0]]] = name
    return found
