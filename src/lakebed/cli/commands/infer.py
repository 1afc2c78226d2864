"""`lakebed infer TABLE|FILE|DIR`: print a manifest that declares what is there as it is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from lakebed.cli.completers import complete_states
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.files import write_file
from lakebed.cli.invocation import STANDARD_INPUT, Session, common_options, variable_option
from lakebed.errors import LakebedError, ManifestError, NotFoundError, UsageError

if TYPE_CHECKING:
    from lakebed.diagnostics import Diagnostic
    from lakebed.infer_files import InferredTable
    from lakebed.lake import Lake
    from lakebed.manifest import TableManifest


@click.command()
@click.argument("source", metavar="TABLE|FILE|DIR", shell_complete=complete_states)
@click.option(
    "--from", "form", metavar="FORM", help="What FILE is, as for `convert`, else told from its name or content."
)
@click.option("--name", metavar="NAME", help="The name of the table that FILE or DIR declares, else told from it.")
@click.option(
    "--encodings/--no-encodings",
    default=True,
    help="Whether to keep the hints of how values are encoded in Arrow; planning a manifest without them removes them.",
)
@click.option(
    "--update",
    metavar="MANIFEST",
    type=click.Path(dir_okay=False),
    help="Bring the manifest up to what TABLE is now, or add the columns that only FILE has; comments and all that did "
    "not change stay as they are.",
)
@variable_option
@common_options
@click.pass_obj
def command(
    session: Session, source: str, form: str | None, name: str | None, encodings: bool, update: str | None
) -> ExitCode:
    """Print a manifest that declares a table of the warehouse, a file or a table of another format as it is.

    A TABLE may be made by whomever: planning its manifest gives no change. FILE is in any form that `convert` reads, or
    CSV or JSON lines; DIR is a Delta, Iceberg or Paimon table, or holds such files. Neither Spark nor Java is started.

    What no manifest can declare, such as columns that differ only in case, is told, and the command ends with 1.
    """
    found = _inferred(session, source, form, name)
    if found is not None:
        return _of_files(session, found, name, update)
    from lakebed.catalog import drift
    from lakebed.evolve.inferred import inferred_manifest, refused_parts
    from lakebed.manifest import dump_table
    from lakebed.manifest.format_manifest import format_manifest
    from lakebed.model.encoding import strip_encoding

    lake = session.lake()
    session.output.diagnose(drift(lake.schema(source)))
    table = lake.table(source)
    manifest, followed = inferred_manifest(str(table.name), table.schema(), table.schemas)
    session.output.diagnose(followed.left_out(manifest.name))
    if not encodings:
        manifest = replace(manifest, schema=strip_encoding(manifest.schema))
    text = format_manifest(dump_table(manifest))
    refused = refused_parts(text, lake.schema(source))
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


def _inferred(session: Session, source: str, form: str | None, name: str | None) -> tuple[InferredTable, ...] | None:
    """What a file or a directory declares; None where the argument names a table."""
    from lakebed.infer_files import ROW_FORMS, infer_bytes, infer_tables
    from lakebed.schema_forms import ENDINGS

    if source == STANDARD_INPUT:
        return infer_bytes(session.read_input(), name or "table", form)
    if os.path.isdir(source) and os.sep not in source and form is None and name is None:
        # A table may be called as a directory that holds something else.
        with suppress(UsageError):
            return infer_tables(source)
        return None
    endings = (*ENDINGS, *ROW_FORMS, ".json")
    # In backticks a name of a table may have any character.
    is_path = "`" not in source and (os.sep in source or source.lower().endswith(endings))
    is_path = is_path or os.path.exists(source)
    return infer_tables(source, form=form, name=name) if is_path or form or name else None


def _of_files(session: Session, found: tuple[InferredTable, ...], name: str | None, update: str | None) -> ExitCode:
    """The manifests of a file or directory, or a manifest with the columns that only these have."""
    from lakebed.manifest import dump_table
    from lakebed.manifest.format_manifest import format_manifest

    session.output.diagnose(_losses(found))
    if update is not None:
        return _add_columns(session, found, name, update)
    texts = [format_manifest(dump_table(table.manifest)) for table in found]
    text = "---\n".join(texts)
    refused = [problem for one in texts for problem in _refused(one)]
    session.output.diagnose(refused)
    names = [table.manifest.name for table in found]
    result = {"table": names[0]} if len(names) == 1 else {"tables": names}
    code = ExitCode.FAILURE if refused else ExitCode.OK
    return session.finish({**result, "manifest": text}, lambda _: text.rstrip("\n"), code=code)


def _losses(found: Iterable[InferredTable]) -> list[Diagnostic]:
    from lakebed.diagnostics import Diagnostic, Severity

    losses = [loss for table in found for loss in table.report.losses]
    return [Diagnostic("LB2107", f"lost: {x}", Severity.WARNING, path=x.path or None) for x in losses]


def _refused(text: str) -> tuple[Diagnostic, ...]:
    """Why a manifest could not be planned for a new table."""
    from lakebed.evolve.planner import plan_table
    from lakebed.manifest import parse_manifest

    try:
        (declared,) = parse_manifest(text, source="<stdout>").tables
        plan_table(declared, None, lambda: False)
    except LakebedError as error:
        return error.diagnostics
    return ()


def _add_columns(session: Session, found: tuple[InferredTable, ...], name: str | None, file: str) -> ExitCode:
    """Add the columns that only a file has; what the manifest declares stays as it is."""
    from lakebed.diagnostics import Diagnostic, Severity
    from lakebed.evolve.pull_manifests import text_of
    from lakebed.infer_files import other_types, with_new_columns
    from lakebed.manifest import load_manifest
    from lakebed.manifest.edit import edit_manifest

    if len(found) != 1:
        raise UsageError.of("LB7055", f"{len(found)} tables cannot update one manifest", remedy="name one file")
    inferred = found[0].manifest
    given = session.substitutions()
    tables = load_manifest(file, substitutions=given).tables
    chosen = [t for t in tables if t.name == (name or inferred.name)] or (list(tables) if len(tables) == 1 else [])
    if len(chosen) != 1:
        known = ", ".join(t.name for t in tables)
        remedy = "say with --name which of them is meant"
        raise NotFoundError.of("LB1630", f"{file} does not declare {inferred.name}", expected=known, remedy=remedy)
    (declared,) = chosen
    session.output.diagnose(
        Diagnostic("LB7056", f"{path} has {what} there; the manifest keeps its own", Severity.WARNING, path=path)
        for path, what in other_types(declared.schema, inferred.schema)
    )
    old = text_of(file)
    merged = with_new_columns(declared.schema, inferred.schema)
    new = edit_manifest(old, lambda t: replace(t, schema=merged), table=declared.name, source=file, substitutions=given)
    if new != old:
        write_file(file, new)
    said = f"{file} has the new columns." if new != old else f"{file} has all columns already."
    return session.finish({"table": declared.name, "file": file, "changed": new != old}, lambda _: said)


def _update(session: Session, lake: Lake, wanted: TableManifest, file: str) -> ExitCode:
    from lakebed.catalog import TableName
    from lakebed.evolve.pull_manifests import text_of, whole_update
    from lakebed.manifest import load_manifest

    name = TableName.parse(wanted.name)
    given = session.substitutions()
    tables = load_manifest(file, substitutions=given).tables
    declared = next((t for t in tables if TableName.parse(t.name) == name), None)
    if declared is None:
        raise NotFoundError.of("LB1630", f"{file} does not declare {name}", path=file)
    versions = lake.tables.get_schema_manager(name.database, name.table).versions()
    old = text_of(file)
    new = whole_update(wanted, declared, versions).edited(old, declared, file, given)
    if new != old:
        write_file(file, new)
    said = f"{file} is brought up to date with {name}." if new != old else f"{file} declares {name} as it is."
    return session.finish({"table": str(name), "file": file, "changed": new != old}, lambda _: said)
