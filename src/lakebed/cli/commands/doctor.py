"""`lakebed doctor`: check Java, Spark, libraries, settings and the storage of the warehouse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.commands.config import setting_faults, settings_lines, shown_settings
from lakebed.cli.commands.spark_options import spark_options, spark_session
from lakebed.cli.configuration import FILE_NAME, Setting, nearest_file
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.errors import LakebedError

if TYPE_CHECKING:
    from lakebed.doctor import Check, Place


@click.command()
@click.option("--read-only", is_flag=True, help="Write nothing to the warehouse: its storage is not tried.")
@click.option("--spark", "start", is_flag=True, help="Also start Spark, and see that its workers run Python.")
@spark_options
@common_options
@click.pass_obj
def command(session: Session, read_only: bool, start: bool, remote: str | None, cores: str) -> ExitCode:
    """Check what Lakebed needs: Python, Java, Spark's Python, libraries, time zones, settings, the warehouse's storage.

    Each check is ok, warns or fails, and says what was found and how to mend it. The storage is tried in a directory of
    the warehouse that is removed again: whether files can be written, whether one of several writers of a name wins,
    what its clock says. Ends with 1 where a check fails.
    """
    from lakebed.doctor import Check, DoctorReport, State, examine
    from lakebed.render.doctor_text import doctor_text

    try:
        settings: tuple[Setting, ...] = session.settings()
        config = _config(session, settings)
    except LakebedError as error:
        settings = ()
        config = Check.of("settings", error.diagnostics[0], details=_others(error))
    values = {setting.name: setting.value for setting in settings}
    found = examine(
        _place(values),
        time_zone=values.get("time_zone", "UTC"),
        write=not read_only,
        remote=remote,
        spark=partial(spark_session, remote, cores) if start else None,
    )
    checks = [config, *found.checks]
    if settings and not values["warehouse"]:
        remedy = f"give --warehouse DIR, set LAKEBED_WAREHOUSE, or write `warehouse` into {FILE_NAME}"
        checks.append(Check("warehouse", State.WARN, "no warehouse is named", "LB7001", remedy))
    report = DoctorReport(tuple(checks))
    return session.finish(
        report.to_json(),
        lambda look: doctor_text(report, colour=look.colour, width=look.width),
        code=ExitCode.OK if report.is_ok else ExitCode.FAILURE,
        painted=True,
    )


def _config(session: Session, settings: Iterable[Setting]) -> Check:
    """The settings in force with where each is from, and what is wrong with one."""
    from lakebed.doctor import Check, State

    lines = settings_lines(shown_settings(settings))
    faults = list(setting_faults(session))
    if faults:
        return Check.of("settings", faults[0], details=[*(d.message for d in faults[1:]), *lines])
    file = nearest_file(Path.cwd())
    return Check("settings", State.OK, f"no {FILE_NAME}" if file is None else str(file), details=tuple(lines))


def _place(values: Mapping[str, Any]) -> Place | None:
    """Where the warehouse is; None where none is named."""
    from lakebed.doctor import Place

    if not values.get("warehouse"):
        return None
    return Place(values["warehouse"], values["layout"], values["storage"], values["allow_overwrite_races"])


def _others(error: LakebedError) -> list[str]:
    return [diagnostic.message for diagnostic in error.diagnostics[1:]]
