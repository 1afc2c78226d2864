"""Find the warehouse: `--warehouse`, else `LAKEBED_WAREHOUSE`, else the nearest `lakebed.toml`."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import NoWarehouseError, UsageError

FILE_NAME = "lakebed.toml"
VARIABLE = "LAKEBED_WAREHOUSE"
_TEXTS = ("warehouse", "layout", "time_zone", "attributes")
_STORAGE = "storage"
_RACES = "allow_overwrite_races"
_CHECKSUMS = "verify_checksums"
_TRUTHS = (_RACES, _CHECKSUMS)
_KEYS = (*_TEXTS, _STORAGE, *_TRUTHS)


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings of a run. A relative `warehouse` is relative to the present directory.

    `storage` holds options for the driver of the storage, `allow_overwrite_races` accepts one that cannot create a
    file exclusively, `verify_checksums` holds pages of Parquet files against their checksums; all are those of
    `lakebed.open`. `attributes` is the file that declares the project's attributes.
    """

    warehouse: str = field(repr=False)
    layout: str = "auto"
    time_zone: str = "UTC"
    storage: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    allow_overwrite_races: bool = False
    attributes: str | None = None
    verify_checksums: bool = True


def find_configuration(
    flag: str | None, environment: Mapping[str, str] = os.environ, directory: Path | None = None
) -> Configuration:
    """The configuration in force. Raises `UsageError` where no warehouse is named or the file cannot be understood.

    The file's `layout` and storage settings are those of the file's warehouse: they say nothing of another one.
    """
    found = nearest_file(directory or Path.cwd())
    settings = _load(found) if found else {}
    written = settings.get("warehouse")
    own = written if written is None or "://" in written or found is None else str((found.parent / written).absolute())
    named = flag or environment.get(VARIABLE) or own
    if not named:
        raise NoWarehouseError.of(
            "LB7001",
            "no warehouse is named",
            expected=f"--warehouse DIR, the environment variable {VARIABLE}, or `warehouse` in {FILE_NAME}",
            remedy=f"give --warehouse DIR or set {VARIABLE}; `lakebed init DIR` makes a warehouse and a {FILE_NAME}",
        )
    mine = settings if own is None or named == own else {}
    return Configuration(
        named,
        mine.get("layout", "auto"),
        settings.get("time_zone", "UTC"),
        mine.get(_STORAGE, {}),
        mine.get(_RACES, False),
        declared_attributes(found, settings),
        settings.get(_CHECKSUMS, True),
    )


def declared_attributes(found: Path | None, settings: Mapping[str, Any]) -> str | None:
    """The file that declares the project's attributes; it lies relative to the `lakebed.toml` that names it."""
    named = settings.get("attributes")
    return str(found.parent / named) if found is not None and named is not None else None


def project_attributes(directory: Path | None = None) -> str | None:
    """The file of the project's attributes, for a command that needs no warehouse."""
    found = nearest_file(directory or Path.cwd())
    return declared_attributes(found, _load(found)) if found is not None else None


def nearest_file(start: Path) -> Path | None:
    """The `lakebed.toml` of a directory or of the nearest one above it that has one."""
    return next((p / FILE_NAME for p in (start, *start.parents) if (p / FILE_NAME).is_file()), None)


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
    problems = [
        _problem(path, key, value)
        for key, value in settings.items()
        if key not in _KEYS or not isinstance(value, _kind(key)) or value == ""
    ]
    if problems:
        raise UsageError(*problems)
    return settings


def _kind(key: str) -> type:
    return dict if key == _STORAGE else bool if key in _TRUTHS else str


def _problem(path: Path, key: str, value: object) -> Diagnostic:
    if key not in _KEYS:
        return Diagnostic(
            "LB7002",
            f"{path}: there is no setting {key!r}",
            suggestions=near_names(key, _KEYS),
            expected=", ".join(_KEYS),
            remedy=f"the settings are {', '.join(_KEYS)}",
        )
    wanted = {dict: f"a table [{key}]", bool: "true or false"}.get(_kind(key), "text")
    return Diagnostic("LB7002", f"{path}: the setting {key!r} must be {wanted}, not {value!r}", found=repr(value))
