"""Find and remove what killed runs leave in a warehouse beside its tables.

These are lists of files for Spark (`.lakebed-scratch`), tables that a migration was putting together
(`.lakebed-migration`), and temporary files in the directories of the warehouse and of its databases. Nothing is ever
read from them again but by the run that made them, so age alone decides; what a run made goes together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

from lakebed.catalog import TableManager
from lakebed.errors import StoreError
from lakebed.maintenance.orphans import (
    DEFAULT_MIN_AGE,
    OrphanReport,
    newest_to_go,
    remove_emptied,
    report_of,
    together,
)
from lakebed.store import DirectoryStore, temporary
from lakebed.store.base import Entry
from lakebed.store.safe_delete import Inside

_RUNS = (temporary.SCRATCH, temporary.MIGRATION)


def leftover_files(
    tables: TableManager, clock: Callable[[], int], *, min_age: timedelta = DEFAULT_MIN_AGE
) -> OrphanReport:
    """The files that killed runs have left beside the tables. Writes nothing. `clock` gives milliseconds since 1970."""
    newest = newest_to_go(clock, min_age)
    return report_of(None, list(_candidates(tables)), min_age, newest)


def remove_leftovers(
    tables: TableManager, clock: Callable[[], int], *, min_age: timedelta = DEFAULT_MIN_AGE
) -> OrphanReport:
    """Remove what `leftover_files` finds, and the directories that are empty then."""
    report, inside = leftover_files(tables, clock, min_age=min_age), _inside(tables)
    for file in report.files:
        inside.delete(f"{inside.root}/{file.path}")
    for parent in _RUNS:
        remove_emptied(inside, parent, partial(temporary.is_run, parent), report, newest_to_go(clock, min_age))
        _remove_if_empty(inside, f"{inside.root}/{parent}")
    return replace(report, removed=True)


def _remove_if_empty(inside: Inside, directory: str) -> None:
    store = inside.store
    if isinstance(store, DirectoryStore) and store.is_directory(directory) and not inside.is_link(directory):
        # Where something is in it, perhaps since a moment ago, the storage refuses.
        with suppress(StoreError):
            inside.remove_directory(directory)


def _inside(tables: TableManager) -> Inside:
    return Inside(tables.store, tables.path_factory.warehouse)


def _candidates(tables: TableManager) -> Iterator[tuple[str, Entry]]:
    inside, paths = _inside(tables), tables.path_factory
    for parent in _RUNS:
        for entry in inside.list(f"{inside.root}/{parent}"):
            if entry.is_directory and temporary.is_run(parent, entry.name):
                yield from together(inside, f"{parent}/{entry.name}")
    databases = [paths.database(name)[len(inside.root) + 1 :] for name in tables.list_databases()]
    for below in ("", *databases):
        for entry in inside.list(f"{inside.root}/{below}".rstrip("/")):
            if not entry.is_directory and temporary.is_temporary_file(entry.name):
                yield f"{below}/{entry.name}".lstrip("/"), entry
