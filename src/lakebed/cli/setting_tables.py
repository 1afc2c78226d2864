"""Check and merge the tables of `lakebed.toml` whose members are settings: `variables`, `databases`, `spark`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lakebed.diagnostics import Diagnostic

VARIABLES, DATABASES, SPARK = "variables", "databases", "spark"
#: What begins the names of those variables of the environment that give values to variables of manifests.
VARIABLE_PREFIX = "LAKEBED_VAR_"
_VALUES = "text, a number, true or false"
#: Settings of Spark that are given otherwise.
_OTHERWISE: Mapping[str, str] = {
    "spark.master": "by --cores, or --remote",
    "spark.remote": "by --remote, or SPARK_REMOTE",
    "spark.sql.session.timeZone": "by `time_zone`",
}


def variables_of(environment: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The variables of manifests that the environment gives a value, each with where it is from."""
    for name in environment:
        if name.startswith(VARIABLE_PREFIX):
            yield name, {name.removeprefix(VARIABLE_PREFIX): environment[name]}


def merge_members(sources: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[dict[str, str], dict[str, str]]:
    """The members of a table as texts, and where each is from: the first source that has it."""
    values: dict[str, str] = {}
    origins: dict[str, str] = {}
    for origin, members in sources:
        for key, value in _flat(members):
            if key not in values:
                values[key] = str(value).lower() if isinstance(value, bool) else str(value)
                origins[key] = origin
    return values, origins


def member_faults(path: Path, settings: Mapping[str, Any], prefix: str) -> Iterator[Diagnostic]:
    """What is wrong with the members of these tables; `prefix` is that of the names of settings."""
    for table, check in _CHECKS.items():
        members = settings.get(table)
        for key, value in _flat(members) if isinstance(members, dict) else ():
            wrong = check(key, value)
            if wrong is not None:
                yield Diagnostic("LB7002", f"{path}: in {prefix}{table}, {wrong}", found=f"{key} = {value!r}")


def _flat(members: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The members; TOML takes a name with dots that has no quotes for tables in each other."""
    for key, value in members.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _wrong_variable(name: str, value: Any) -> str | None:
    from lakebed.manifest.substitutions import VARIABLE_NAME

    if re.fullmatch(VARIABLE_NAME, name) is None:
        return f"{name!r} is no name of a variable: letters, digits and _ are allowed, and no digit comes first"
    return None if isinstance(value, str | int | float) else f"{name!r} must be {_VALUES}, not {value!r}"


def _wrong_database(name: str, value: Any) -> str | None:
    return None if isinstance(value, str) and value else f"{name!r} must be the name of a database, not {value!r}"


def _wrong_spark(name: str, value: Any) -> str | None:
    if name in _OTHERWISE:
        return f"{name!r} cannot stand: it is given {_OTHERWISE[name]}"
    return None if isinstance(value, str | int | float) else f"{name!r} must be {_VALUES}, not {value!r}"


_CHECKS: Mapping[str, Callable[[str, Any], str | None]] = {
    VARIABLES: _wrong_variable,
    DATABASES: _wrong_database,
    SPARK: _wrong_spark,
}
