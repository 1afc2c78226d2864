"""`lakebed event export|verify|inspect`: export, verify and inspect Open Data Fabric metadata blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.completers import complete_states
from lakebed.cli.encodings import encodings_option
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import STANDARD_INPUT, Session, common_options
from lakebed.errors import CorruptMetadataError

if TYPE_CHECKING:
    from lakebed.events import ReaderRules

_UNITS = ("Second", "Millisecond")


def _zone(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    from lakebed.manifest.time_zones import is_time_zone

    if value is not None and value != "naive" and not is_time_zone(value):
        raise click.BadParameter(f"{value!r} is neither 'naive' nor a time zone", context, parameter)
    return value


def _old_writers(function: Callable[..., Any]) -> Callable[..., Any]:
    function = click.option(
        "--absent-zone",
        metavar="ZONE",
        callback=_zone,
        help="What a timestamp without a zone is: 'naive' for writers before May 2026, or a zone; UTC by default.",
    )(function)
    return click.option(
        "--absent-unit",
        type=click.Choice(_UNITS),
        help="What a time without a unit is in: Second for writers before May 2026; Millisecond by default.",
    )(function)


@click.group(no_args_is_help=False)
@common_options
def command() -> None:
    """Metadata blocks of Open Data Fabric: export a table's history as a chain, verify one, look at a block."""


@command.command("export")
@click.argument("table", shell_complete=complete_states)
@click.argument("directory")
@click.option("--id", "dataset_id", metavar="DID", help="The identity of the dataset, did:odf:f...; else derived.")
@click.option("--kind", "dataset_kind", type=click.Choice(["Root", "Derivative"]), default="Root", show_default=True)
@click.option("--keep-encodings", is_flag=True, help="Keep the hints of how values are encoded in Arrow and Paimon.")
@common_options
@click.pass_obj
def export(
    session: Session, table: str, directory: str, dataset_id: str | None, dataset_kind: str, keep_encodings: bool
) -> ExitCode:
    """Write the schema versions of TABLE to DIRECTORY as hash-linked blocks; a later export adds what is new.

    The same versions give the same bytes. TABLE@3 goes up to version 3.
    """
    from lakebed.render.event_text import export_text

    done = session.lake().export_events(
        table, directory, dataset_id=dataset_id, dataset_kind=dataset_kind, keep_encodings=keep_encodings
    )
    session.output.diagnose(done.chain.diagnostics)
    return session.finish(done.to_json(), lambda look: export_text(done, directory, width=look.width))


@command.command("verify")
@click.argument("directory")
@_old_writers
@common_options
@click.pass_obj
def verify(session: Session, directory: str, absent_unit: str | None, absent_zone: str | None) -> ExitCode:
    """Check the chain in DIRECTORY: hashes, links, numbers, times, and ODF's rule for changes of a schema.

    Ends with 1 when the chain is not sound, with 11 when it is and a schema event breaks the rule.
    """
    from lakebed.chain_store import read_chain
    from lakebed.render.event_text import report_text
    from lakebed.store import open_store

    store, root = open_store(directory)
    report = read_chain(store, root, rules=_rules(absent_unit, absent_zone))
    session.output.diagnose(report.diagnostics)
    code = ExitCode.OK if report.is_valid else ExitCode.REFUSED if report.is_sound else ExitCode.FAILURE
    return session.finish(report.to_json(), lambda look: report_text(report, directory, width=look.width), code=code)


@command.command("inspect")
@click.argument("file")
@click.option("--kind", default="SetDataSchema", show_default=True, help="The kind of an event that is not in a block.")
@encodings_option
@_old_writers
@common_options
@click.pass_obj
def inspect(
    session: Session, file: str, kind: str, encodings: bool, absent_unit: str | None, absent_zone: str | None
) -> ExitCode:
    """Show the metadata block or the bare event in FILE, or on standard input for -."""
    from lakebed.events import Inspection
    from lakebed.render.event_text import inspection_text

    data, rules = _content(session, file), _rules(absent_unit, absent_zone)
    with _named(file):
        found = Inspection.of(data, kind=kind, rules=rules)
    session.output.diagnose(found.event.diagnostics)
    return session.finish(
        found.to_json(encodings=encodings),
        lambda look: inspection_text(found, encodings=encodings, width=look.width),
    )


def _rules(absent_unit: str | None, absent_zone: str | None) -> ReaderRules:
    from lakebed.events import ReaderRules
    from lakebed.model import TimeUnit

    return ReaderRules(TimeUnit(absent_unit) if absent_unit is not None else None, absent_zone)


@contextmanager
def _named(file: str) -> Iterator[None]:
    """Problems of what a file holds say which file it is."""
    try:
        yield
    except CorruptMetadataError as error:
        raise CorruptMetadataError(
            *(replace(d, message=f"{file} is no event that can be read: {d.message}") for d in error.diagnostics)
        ) from error


def _content(session: Session, file: str) -> bytes:
    """The bytes of a file, one more than may be at the most."""
    from lakebed.events.buffer_cursor import MAX_BYTES

    if file == STANDARD_INPUT:
        return session.read_input(most=MAX_BYTES + 1)
    with Path(file).open("rb") as opened:
        return opened.read(MAX_BYTES + 1)
