"""`lakebed config show`: show the settings that are in force, and where each is from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import click

from lakebed.cli.configuration import Setting
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options, variable_option
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ManifestError, UsageError
from lakebed.redaction import HIDDEN, redact, secrets_of


@click.group(no_args_is_help=False)
@common_options
def command() -> None:
    """Settings of lakebed.toml, its profiles, the environment and flags."""


@command.command("show")
@variable_option
@common_options
@click.pass_obj
def show(session: Session) -> ExitCode:
    """Show every setting that is in force, and where it is from.

    A flag comes before a variable of the environment, that before the profile that --env or LAKEBED_ENV names, that
    before the rest of lakebed.toml, and that before the default. Secrets are not shown. What is wrong with a value is
    told, and ends with 2.
    """
    settings = shown_settings(session.settings())
    faults = list(setting_faults(session))
    session.output.diagnose(faults)
    result = {s.name: {"value": s.value, "origin": s.origin} for s in settings}
    return session.finish(
        result, lambda _: "\n".join(settings_lines(settings)), code=ExitCode.USAGE if faults else ExitCode.OK
    )


def shown_settings(settings: Iterable[Setting]) -> list[Setting]:
    """The settings, those in tables one by one, with `***` in the place of what is secret."""
    return [shown for setting in settings for shown in _shown(setting)]


def setting_faults(session: Session) -> Iterator[Diagnostic]:
    """What keeps commands from using the settings."""
    from lakebed.catalog import Layout, check_time_zone
    from lakebed.evolve.drift_rules import drift_rule
    from lakebed.lint import LintSettings

    settings = {setting.name: setting for setting in session.settings()}
    for name, check, always in (
        ("time_zone", check_time_zone, None),
        ("layout", Layout.of, "auto"),
        ("drift", drift_rule, "ask"),
    ):
        try:
            if settings[name].value != always:
                check(settings[name].value)
        except UsageError as error:
            yield from (replace(d, message=f"{settings[name].origin}: {d.message}") for d in error.diagnostics)
    try:
        LintSettings.of(settings["lint"].value, settings["engines"].value)
    except UsageError as error:
        yield from error.diagnostics
    try:
        session.attributes()
    except ManifestError as error:
        yield from error.diagnostics


def _shown(setting: Setting) -> Iterator[Setting]:
    """The setting, or each member of a table, with `***` in the place of what is secret."""
    if not isinstance(setting.value, Mapping):
        value = redact(setting.value) if isinstance(setting.value, str) else setting.value
        yield Setting(setting.name, value, setting.origin)
        return
    for key, value in setting.value.items():
        shown = HIDDEN if _is_secret(key) and not isinstance(value, Mapping) else value
        yield from _shown(Setting(f"{setting.name}.{key}", shown, setting.origins.get(key, setting.origin)))


def _is_secret(name: str) -> bool:
    """Whether an option of this name may hold a secret, however short it is."""
    return bool(secrets_of({name: "a value"}))


def settings_lines(settings: list[Setting]) -> list[str]:
    """One line a setting, aligned: its name, its value, and where it is from."""
    rows = [(s.name, _value_text(s.value), s.origin) for s in settings]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return [f"{name.ljust(widths[0])}  {value.ljust(widths[1])}  {origin}" for name, value, origin in rows]


def _value_text(value: Any) -> str:
    match value:
        case None | "":
            return "-"
        case list():
            return ", ".join(map(str, value)) or "-"
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)
