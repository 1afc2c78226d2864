"""Read the manifest files that commands take: paths, and `-` for standard input."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.configuration import nearest_file
from lakebed.cli.invocation import NAME_OF_INPUT, STANDARD_INPUT, Session
from lakebed.errors import NotFoundError, NoWarehouseError

if TYPE_CHECKING:
    from lakebed.lake import Lake
    from lakebed.manifest import Manifest
    from lakebed.manifest.load import LoadedFile

_HERE = (".",)
_RULES = ("ask", "refuse", "adopt", "revert")


def drift_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--drift`, for commands that plan manifests."""
    return click.option(
        "--drift",
        type=click.Choice(_RULES),
        help="What becomes of changes that undo what was made outside of `apply`: they need leave, are refused, are "
        "not made, or are made. Without it `drift` of lakebed.toml, else ask.",
    )(function)


def manifest_sources(session: Session, files: tuple[str, ...]) -> list[str | Manifest]:
    """What `Lake.plan` takes for these files. Raises `ManifestError` for what standard input holds."""
    from lakebed.manifest import parse_manifest

    given = session.substitutions() if STANDARD_INPUT in files else None
    return [
        parse_manifest(session.read_input(), source=NAME_OF_INPUT, substitutions=given)
        if file == STANDARD_INPUT
        else file
        for file in files
    ]


def load_files(session: Session, files: tuple[str, ...]) -> list[LoadedFile]:
    """What these files, or those of the present directory, declare, each with what is wrong with it."""
    from lakebed.manifest.load import LoadedFile, load_each

    asked, given = files or _HERE, session.substitutions()
    found = {loaded.source: loaded for loaded in load_each((f for f in asked if f != STANDARD_INPUT), given)}
    for _ in range(asked.count(STANDARD_INPUT)):
        found[NAME_OF_INPUT] = LoadedFile.parse(session.read_input(), NAME_OF_INPUT, given)
    return list(found.values())


def open_lake_for(session: Session, sources: list[str | Manifest]) -> Lake:
    """The lake that these manifests are for. Where there is none, what is wrong with the manifests comes first.

    Raises `ManifestError` for manifests, `NoWarehouseError` or `NotFoundError` for the warehouse.
    """
    from lakebed.manifest import load_all

    try:
        return session.lake()
    except (NoWarehouseError, NotFoundError):
        load_all(sources, session.substitutions())
        raise


def project_directory() -> str:
    """The directory of the manifests of the project: that of the nearest lakebed.toml, else the present one."""
    found = nearest_file(Path.cwd())
    return os.path.relpath(found.parent) if found is not None else "."


def holds_manifests(file: str) -> bool:
    """Whether there is such a file, or a manifest in such a directory."""
    from lakebed.manifest.load import manifest_files

    return bool(manifest_files(file)) if os.path.isdir(file) else os.path.lexists(file)


def listed_files(files: tuple[str, ...]) -> list[str]:
    """These files, or those of the present directory, those of directories in their place, each once.

    Raises `ManifestError` for directories in which there is none.
    """
    from lakebed.errors import ManifestError
    from lakebed.manifest.load import manifest_files, no_manifest

    found: dict[str, None] = {}
    empty = []
    for file in files or _HERE:
        below = manifest_files(file) if os.path.isdir(file) else (file,)
        found |= dict.fromkeys(below)
        empty += [] if below else [no_manifest(file)]
    if empty:
        raise ManifestError(*empty)
    return list(found)
