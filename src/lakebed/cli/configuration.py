"""Find the settings of a run: flags, else the environment, else the nearest `lakebed.toml`, else defaults."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakebed.cli.setting_tables import DATABASES, SPARK, VARIABLES, member_faults, merge_members, variables_of
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import NotFoundError, NoWarehouseError, UsageError

FILE_NAME = "lakebed.toml"
VARIABLE = "LAKEBED_WAREHOUSE"
#: Names the profile, `[env.NAME]`, where `--env` does not.
ENV_VARIABLE = "LAKEBED_ENV"
#: The variables of the environment that give settings.
_VARIABLES = {"warehouse": VARIABLE, "layout": "LAKEBED_LAYOUT", "time_zone": "LAKEBED_TIME_ZONE"}
_STORAGE = "storage"
_RACES = "allow_overwrite_races"
_CHECKSUMS = "verify_checksums"
_ORIGIN = "record_origin"
_LINEAGE = "lineage"
_DRIFT = "drift"
_PREFIX = "database_prefix"
_PROFILES = "env"
#: Those of a profile come beside those of the file.
_TABLES = (VARIABLES, DATABASES, SPARK)
#: What a profile may set, with the kind of its value.
_PROFILE_KINDS: Mapping[str, type] = {
    "warehouse": str,
    "layout": str,
    "time_zone": str,
    "attributes": str,
    _STORAGE: dict,
    _RACES: bool,
    _CHECKSUMS: bool,
    _ORIGIN: bool,
    _LINEAGE: bool,
    _DRIFT: str,
    VARIABLES: dict,
    DATABASES: dict,
    _PREFIX: str,
    SPARK: dict,
}
#: What is said of a project and its manifests, whatever the warehouse is.
_OF_PROJECT: Mapping[str, Any] = {
    _DRIFT: "ask",
    VARIABLES: {},
    DATABASES: {},
    _PREFIX: "",
    SPARK: {},
    "engines": [],
    "lint": {},
}
_KINDS: Mapping[str, type] = {**_PROFILE_KINDS, "engines": list, "lint": dict, _PROFILES: dict}
#: What says how one warehouse is reached, and nothing of another.
_OF_WAREHOUSE = ("layout", _STORAGE, _RACES)
_DEFAULTS: Mapping[str, Any] = {
    "warehouse": None,
    "layout": "auto",
    "time_zone": "UTC",
    "attributes": None,
    _STORAGE: {},
    _RACES: False,
    _CHECKSUMS: True,
    _ORIGIN: True,
    _LINEAGE: False,
    **_OF_PROJECT,
}
_DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings of a run. A relative `warehouse` is relative to the present directory.

    `storage` holds options for the driver of the storage, `allow_overwrite_races` accepts one that cannot create a
    file exclusively, `verify_checksums` holds pages of Parquet files against their checksums, `record_origin` lets
    snapshots say who commits, `lineage` lets OpenLineage be told of runs; all are those of `lakebed.open`. `attributes`
    is the file that declares the project's attributes.
    """

    warehouse: str = field(repr=False)
    layout: str = "auto"
    time_zone: str = "UTC"
    storage: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    allow_overwrite_races: bool = False
    attributes: str | None = None
    verify_checksums: bool = True
    record_origin: bool = True
    lineage: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of a setting that is in force, and where it is from: a flag, a variable, a file, or the default.

    `origins` says that of each member of a table whose members are from several places.
    """

    name: str
    value: Any
    origin: str
    origins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line says: the warehouse, the profile, and values of variables of manifests."""

    warehouse: str | None = None
    env: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


def find_configuration(
    flag: str | None,
    environment: Mapping[str, str] = os.environ,
    directory: Path | None = None,
    *,
    env: str | None = None,
) -> Configuration:
    """The configuration in force. Raises `UsageError` where no warehouse is named or the file cannot be understood.

    `env` names a profile of the file. The file's `layout` and storage settings are those of the file's warehouse: they
    say nothing of another one.
    """
    values = {s.name: s.value for s in find_settings(Flags(flag, env), environment, directory)}
    if not values["warehouse"]:
        raise NoWarehouseError.of(
            "LB7001",
            "no warehouse is named",
            expected=f"--warehouse DIR, the environment variable {VARIABLE}, or `warehouse` in {FILE_NAME}",
            remedy=f"give --warehouse DIR or set {VARIABLE}; `lakebed init DIR` makes a warehouse and a {FILE_NAME}",
        )
    return Configuration(**{name: value for name, value in values.items() if name not in _OF_PROJECT})


def find_settings(
    flags: Flags, environment: Mapping[str, str] = os.environ, directory: Path | None = None
) -> tuple[Setting, ...]:
    """Every setting that is in force, with where it is from.

    Raises `UsageError` for a file that cannot be understood, `NotFoundError` for a profile that is not in it.
    """
    found = nearest_file(directory or Path.cwd())
    layers = _layers(found, flags.env or environment.get(ENV_VARIABLE) or None)
    given = {"warehouse": (flags.warehouse, "--warehouse")}
    own = next((values["warehouse"] for _, values in layers if "warehouse" in values), None)
    settings: list[Setting] = []
    for name, default in _DEFAULTS.items():
        if name in _TABLES:
            before = [("--var", flags.variables), *variables_of(environment)] if name == VARIABLES else []
            values, origins = merge_members([*before, *((o, v.get(name, {})) for o, v in layers)])
            settings.append(Setting(name, values, _DEFAULT, origins))
            continue
        flag, flag_name = given.get(name, (None, ""))
        variable = _VARIABLES.get(name, "")
        is_other = name in _OF_WAREHOUSE and own is not None and settings[0].value != own
        inside = next(((o, v[name]) for o, v in layers if name in v and not is_other), None)
        if flag:
            settings.append(Setting(name, flag, flag_name))
        elif environment.get(variable):
            settings.append(Setting(name, environment[variable], variable))
        elif inside is not None:
            settings.append(Setting(name, inside[1], inside[0]))
        else:
            settings.append(Setting(name, default, _DEFAULT))
    return tuple(settings)


def _layers(found: Path | None, env: str | None) -> list[tuple[str, dict[str, Any]]]:
    """The settings of a profile, where one is asked for, and those of the file, each with what it is called.

    Where the profile names a warehouse, how the file's own is reached says nothing of it.
    """
    settings = _load(found) if found is not None else {}
    profiles = settings.pop(_PROFILES, {})
    if env is None:
        return [(str(found), _absolute(found, settings))] if found is not None else []
    if env not in profiles:
        raise NotFoundError.of(
            "LB7063",
            f"there is no profile {env!r}" + (f" in {found}" if found is not None else f": there is no {FILE_NAME}"),
            expected=", ".join(profiles) or f"a table [{_PROFILES}.{env}]",
            found=env,
            suggestions=near_names(env, profiles),
            remedy=f"write [{_PROFILES}.{env}] into {FILE_NAME}, or name one of: {', '.join(profiles) or 'none yet'}",
        )
    if "warehouse" in profiles[env]:
        settings = {name: value for name, value in settings.items() if name not in _OF_WAREHOUSE}
    return [
        (f"{found} [{_PROFILES}.{env}]", _absolute(found, profiles[env])),
        (str(found), _absolute(found, settings)),
    ]


def _absolute(found: Path | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with paths that are relative to their file made independent of the present directory."""
    values = dict(settings)
    if found is not None and "warehouse" in values and "://" not in values["warehouse"]:
        values["warehouse"] = str((found.parent / values["warehouse"]).absolute())
    if found is not None and "attributes" in values:
        values["attributes"] = str(found.parent / values["attributes"])
    return values


def nearest_file(start: Path) -> Path | None:
    """The `lakebed.toml` of a directory or of the nearest one above it that has one."""
    return next((p / FILE_NAME for p in (start, *start.parents) if (p / FILE_NAME).is_file()), None)


def profile_names(directory: Path | None = None) -> tuple[str, ...]:
    """The profiles of the nearest file, in its order; none without one. Raises `UsageError` as `find_settings`."""
    found = nearest_file(directory or Path.cwd())
    return () if found is None else tuple(_load(found).get(_PROFILES, {}))


def configuration_text(warehouse: str) -> str | None:
    """The content of a `lakebed.toml` that names the warehouse; None where TOML cannot say the path."""
    # A basic string of TOML is a string of JSON, but for the one control character that JSON lets through.
    text = f"warehouse = {json.dumps(warehouse, ensure_ascii=False)}\n".replace("\x7f", "\\u007f")
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    return text


def _load(path: Path) -> dict[str, Any]:
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError.of("LB7002", f"{path} is not valid TOML: {error}") from None
    problems = list(_problems(path, settings))
    if problems:
        raise UsageError(*problems)
    return settings


def _problems(path: Path, settings: Mapping[str, Any]) -> Iterator[Diagnostic]:
    yield from _faults(path, settings, _KINDS, "")
    yield from member_faults(path, settings, "")
    profiles = settings.get(_PROFILES, {})
    for name, profile in profiles.items() if isinstance(profiles, dict) else ():
        if isinstance(profile, dict):
            yield from _faults(path, profile, _PROFILE_KINDS, f"{_PROFILES}.{name}.")
            yield from member_faults(path, profile, f"{_PROFILES}.{name}.")
        else:
            message = f"{path}: the profile {_PROFILES}.{name} must be a table [{_PROFILES}.{name}], not {profile!r}"
            yield Diagnostic("LB7002", message, found=repr(profile))


def _faults(path: Path, settings: Mapping[str, Any], kinds: Mapping[str, type], prefix: str) -> Iterator[Diagnostic]:
    """What is wrong with settings of these kinds; `prefix` is that of their names."""
    for key, value in settings.items():
        if key not in kinds:
            yield Diagnostic(
                "LB7002",
                f"{path}: there is no setting {prefix + key!r}",
                suggestions=near_names(key, kinds),
                expected=", ".join(kinds),
                remedy=f"the settings are {', '.join(kinds)}",
            )
        elif not isinstance(value, kinds[key]) or value == "":
            wanted = {dict: f"a table [{prefix}{key}]", bool: "true or false", list: "a list"}.get(kinds[key], "text")
            message = f"{path}: the setting {prefix + key!r} must be {wanted}, not {value!r}"
            yield Diagnostic("LB7002", message, found=repr(value))
