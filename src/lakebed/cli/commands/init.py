"""`lakebed init [DIR]`: make a warehouse, a `lakebed.toml` and a recipe for CI."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from lakebed.cli.configuration import FILE_NAME, configuration_text, find_configuration, nearest_file
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.files import write_file
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.recipe_files import RECIPES, is_offered, write_recipe
from lakebed.errors import AlreadyExistsError, UsageError


@click.command()
@click.argument("directory", required=False)
@click.option("--ci", type=click.Choice(list(RECIPES)), help="Also write a recipe for GitHub's or GitLab's CI.")
@common_options
@click.pass_obj
def command(session: Session, directory: str | None, ci: str | None) -> ExitCode:
    """Make the warehouse DIRECTORY and, where there is none yet, a lakebed.toml here that names it.

    Without DIRECTORY the warehouse is the one that --warehouse, LAKEBED_WAREHOUSE or lakebed.toml names. A directory
    that holds other things is not touched. With --ci the repository gets a recipe for CI: checks, a plan as a comment,
    the plan that was reviewed applied on merge, drift at night. No file is written over.
    """
    from lakebed.store import open_store

    wanted = directory or session.configuration().warehouse
    storage = _storage(wanted, session.env)
    store, root = open_store(wanted, storage_options=storage)
    settings = Path.cwd() / FILE_NAME
    text = _settings(wanted, root)
    if store.exists(root):
        _check_warehouse(wanted, storage)
    store.make_directory(root)
    if text is not None:
        write_file(settings, text)
    notes = [f"Warehouse {root} is ready."]
    if text is not None:
        notes.append(f"{FILE_NAME} names it.")
        notes += _ignored_by_git(root)
    elif not _is_named(root, session.env):
        other = nearest_file(Path.cwd())
        why = f"No {FILE_NAME} names it" if other is None else f"{other}, which counts here, names another one"
        notes.append(f"{why}: give --warehouse, or write `warehouse` into one here.")
    result: dict[str, Any] = {"warehouse": root, "configuration": None if text is None else str(settings)}
    if ci is not None:
        recipe = write_recipe(ci)
        notes.append(recipe.text)
        result["recipe"] = {"root": recipe.root, "written": recipe.written, "kept": recipe.kept}
    elif is_offered():
        session.output.talk(lambda _: f"`lakebed init --ci {'|'.join(RECIPES)}` adds a recipe for CI.")
    return session.finish(result, lambda _: " ".join(notes))


def _settings(wanted: str, root: str) -> str | None:
    """The lakebed.toml to write; None where one is in force already, or would lie in the warehouse itself."""
    here = Path.cwd()
    if nearest_file(here) is not None or here.resolve().is_relative_to(os.path.realpath(root)):
        return None
    text = configuration_text(wanted)
    if text is None:
        raise UsageError.of("LB7003", f"{wanted!r} is not Unicode text, as {FILE_NAME} must be")
    return text


def _ignored_by_git(root: str) -> list[str]:
    """What is said of a warehouse inside of a checkout, whose files are none of the project: `.gitignore` names it."""
    here = Path.cwd()
    is_inside = Path(root).is_relative_to(here) and any((p / ".git").exists() for p in (here, *here.parents))
    if not is_inside:
        return []
    line, file = f"/{Path(root).relative_to(here).as_posix()}/", here / ".gitignore"
    if not file.exists():
        write_file(file, f"{line}\n")
        return [".gitignore leaves it out of git."]
    told = {known.strip().strip("/") for known in file.read_text(encoding="utf-8", errors="replace").splitlines()}
    return [] if line.strip("/") in told else [f"Write {line} into .gitignore: its files are none of the project."]


def _storage(wanted: str, env: str | None) -> Mapping[str, Any]:
    """The storage options of a warehouse, where a lakebed.toml in force names it."""
    try:
        return find_configuration(wanted, env=env).storage
    except UsageError:
        return {}


def _check_warehouse(wanted: str, storage: Mapping[str, Any]) -> None:
    """Whether what is there is a warehouse, or nothing."""
    from lakebed.catalog.warehouse_layout import open_warehouse

    try:
        open_warehouse(wanted, storage_options=storage)
    except UsageError as error:
        raise AlreadyExistsError.of(
            "LB7003",
            f"no warehouse can be made there: {error.diagnostics[0].message}",
            path=wanted,
            remedy="name a new or an empty directory",
        ) from error


def _is_named(root: str, env: str | None) -> bool:
    from lakebed.store import open_store

    try:
        settings = find_configuration(None, env=env)
        return open_store(settings.warehouse, storage_options=settings.storage)[1] == root
    except UsageError:
        return False
