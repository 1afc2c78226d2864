"""`lakebed convert IN --to FORM`: convert a schema to another form and report what is lost."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.completers import complete_sources
from lakebed.cli.encodings import encodings_option
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.files import write_file
from lakebed.cli.invocation import STANDARD_INPUT, Session, common_options, variable_option
from lakebed.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from lakebed.convert.loss import LossReport
    from lakebed.schema_forms import SchemaSource

_FROM = (
    "odf-yaml",
    "odf-json",
    "odf-event",
    "arrow",
    "arrow-json",
    "parquet",
    "orc",
    "spark",
    "ddl",
    "paimon",
    "iceberg",
    "delta",
    "avro",
    "json-schema",
    "odcs",
    "dbt",
    "table",
)
_TO = (
    *("odf-yaml", "odf-json", "odf-event", "arrow", "arrow-json", "spark", "ddl"),
    *("paimon", "parquet-text", "iceberg", "delta", "avro", "json-schema", "odcs", "dbt", "protobuf"),
)


@click.command()
@click.argument("source", metavar="IN", shell_complete=complete_sources)
@click.option(
    "--from",
    "source_form",
    metavar="FORM",
    type=click.Choice(_FROM),
    help=f"What IN is, else told from its name or first bytes: {', '.join(_FROM)}.",
)
@click.option(
    "--to",
    "form",
    metavar="FORM",
    type=click.Choice(_TO),
    required=True,
    help=f"The form to put out: {', '.join(_TO)}.",
)
@click.option("--strict", is_flag=True, help="Fail, and put out nothing, when something is lost.")
@click.option("--out", metavar="FILE", help="Write to FILE instead of standard output.")
@encodings_option
@variable_option
@common_options
@click.pass_obj
def command(
    session: Session, source: str, source_form: str | None, form: str, strict: bool, out: str | None, encodings: bool
) -> ExitCode:
    """Put a schema into another form. IN is a manifest or another file that holds a schema, - or a table.

    What the other form cannot say is listed on standard error. Neither Spark nor Java is started.
    """
    from lakebed.convert.loss import LossReport
    from lakebed.schema_forms import write_schema

    found = _read(session, source, source_form)
    session.output.diagnose(found.diagnostics)
    made = write_schema(found, form, encodings=encodings)
    report = LossReport(found.report.losses + made.report.losses)
    if strict:
        report.raise_if_any()
    _tell(session, report)
    result = {"from": found.form, "to": form, "losses": [{"path": x.path, "what": x.what} for x in report.losses]}
    return _put_out(session, made.content, out, result)


def _read(session: Session, source: str, form: str | None) -> SchemaSource:
    """The schema of a file, of standard input (`-`), or of a table (`db.table`, `db.table@3`).

    Without `form` a name of no file is a table.
    """
    from lakebed.catalog import TableRef
    from lakebed.schema_forms import ENDINGS, SchemaSource, read_schema

    if form == "table" or (form is None and source != STANDARD_INPUT and not Path(source).is_file()):
        if form is None and ("/" in source or Path(source).suffix in (*ENDINGS, ".json")):
            raise NotFoundError.of("LB7009", f"{source}: No such file", remedy="give a file, or the name of a table")
        return SchemaSource.of_version(session.lake().schema(source), name=str(TableRef.parse(source).name))
    data = session.read_input(source) if source == STANDARD_INPUT else Path(source).read_bytes()
    return read_schema(data, form, name=source, substitutions=session.substitutions())


def _tell(session: Session, report: LossReport) -> None:
    from lakebed.diagnostics import Diagnostic, Severity

    session.output.diagnose(
        Diagnostic("LB2107", f"lost: {loss}", Severity.WARNING, path=loss.path or None) for loss in report.losses
    )


def _put_out(session: Session, content: str | bytes, out: str | None, result: dict[str, Any]) -> ExitCode:
    if out is not None:
        data = content if isinstance(content, bytes) else content.encode() + b"\n"
        write_file(out, data)
        return session.finish({**result, "file": out}, lambda _: "")
    if isinstance(content, str):
        return session.finish({**result, "content": content}, lambda _: content)
    if session.json_mode:
        return session.finish({**result, "base64": base64.b64encode(content).decode()}, lambda _: "")
    if sys.stdout.isatty():
        raise UsageError.of("LB7053", "bytes are not put out to a terminal", remedy="give --out FILE")
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
    return ExitCode.OK
