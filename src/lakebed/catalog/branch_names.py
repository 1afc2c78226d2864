"""List the branches of a table, and tell whether a branch has data."""

from __future__ import annotations

import re

from lakebed.catalog.paths import MAIN, SCHEMA, branch_root, schema_id_of
from lakebed.store import Store
from lakebed.store.obstacles import is_file

#: In a branch's directory on a storage without directories: it is not complete yet, or is being deleted.
INCOMPLETE = ".incomplete"

_BRANCH = re.compile(r"branch-(.+)", re.DOTALL)
_SNAPSHOT = re.compile(r"snapshot-[1-9][0-9]*")


def branch_names(store: Store, table_path: str) -> list[str]:
    """The branches that have a schema, sorted; `main` is not among them."""
    found = []
    for entry in store.list(f"{table_path}/branch"):
        match = _BRANCH.fullmatch(entry.name)
        if match and entry.is_directory and has_schema(store, table_path, match[1]):
            found.append(match[1])
    return found


def branch_exists(store: Store, table_path: str, branch: str) -> bool:
    """Whether the table has this branch; `main` it always has."""
    return branch == MAIN or has_schema(store, table_path, branch)


def has_schema(store: Store, table_path: str, branch: str = MAIN) -> bool:
    """Whether a branch has any schema version: version 0 is looked for first, the directory listed only without it.

    A branch that is half made or half deleted has none.
    """
    if branch != MAIN and store.exists(f"{branch_root(table_path, branch)}/{INCOMPLETE}"):
        return False
    directory = f"{branch_root(table_path, branch)}/{SCHEMA}"
    if is_file(store, f"{directory}/schema-0"):
        return True
    return any(not e.is_directory and schema_id_of(e.name) is not None for e in store.list(directory))


def has_snapshots(store: Store, table_path: str, branch: str = MAIN) -> bool:
    """Whether a branch has any snapshot."""
    directory = f"{branch_root(table_path, branch)}/snapshot"
    return any(_SNAPSHOT.fullmatch(entry.name) for entry in store.list(directory))
