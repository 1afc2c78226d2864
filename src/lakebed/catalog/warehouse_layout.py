"""Open a warehouse: detect its layout, and refuse a place that is none."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import Any

from lakebed.catalog.mini_schema_file import looks_mini
from lakebed.catalog.names import DATABASE_SUFFIX
from lakebed.catalog.paths import SCHEMA, Layout, PathFactory, has_schema, schema_id_of
from lakebed.errors import NotFoundError, UsageError
from lakebed.store import DirectoryStore, Entry, Store, open_store

NO_WAREHOUSE = "LB3111"
NO_SUCH_PLACE = "LB3112"
IS_A_FILE = "LB3113"
TWO_LAYOUTS = "LB3114"
INSIDE_A_WAREHOUSE = "LB3115"


def open_warehouse(
    path: str | os.PathLike[str],
    *,
    layout: str = "auto",
    store: Store | None = None,
    storage_options: Mapping[str, Any] | None = None,
    allow_overwrite_races: bool = False,
) -> tuple[PathFactory, Store]:
    """The paths and the store of an existing warehouse. `layout`: `auto`, `paimon` or `mini`.

    Without a `store` one is opened; `storage_options` and `allow_overwrite_races` are those of `open_store`.

    Raises:
        NotFoundError: nothing is there.
        StoreError: nothing that is installed understands the URL or the options.
        UsageError: what is there is no warehouse, or one of two layouts at once.
    """
    if store is None:
        store, root = open_store(path, storage_options=storage_options, allow_overwrite_races=allow_overwrite_races)
    else:
        root = os.fspath(path).rstrip("/")
    if layout == "auto":
        found = detect_layout(store, root)
    else:
        found = Layout.of(layout)
        _ensure_directory(store, root)
    return PathFactory(root, found, store=store), store


def detect_layout(store: Store, root: str) -> Layout:
    """The layout of the warehouse at `root`.

    Databases named `x.db`, or an empty directory, mean `paimon`; tables under `x/` whose schema files hold `schemaId`
    mean `mini`. Hidden files are nobody's.

    Raises:
        NotFoundError: nothing is there.
        UsageError: both layouts at once, a file, one database or table of a warehouse, or something else.
    """
    _ensure_directory(store, root)
    entries = [entry for entry in store.list(root) if not entry.name.startswith(".")]
    if not entries:
        return Layout.PAIMON
    paimon = [entry.name for entry in entries if entry.is_directory and entry.name.endswith(DATABASE_SUFFIX)]
    mini = _mini_database(store, root, entries)
    if paimon and mini is not None:
        raise UsageError.of(
            TWO_LAYOUTS,
            f"{root} holds databases of both layouts: {paimon[0]} (paimon) and {mini} (mini)",
            path=root,
            remedy="Open it with layout='paimon' or layout='mini', or move one of them elsewhere.",
        )
    if paimon:
        return Layout.PAIMON
    if mini is not None:
        return Layout.MINI
    raise _no_warehouse(store, root, entries)


def _ensure_directory(store: Store, root: str) -> None:
    """On a store with directories there must be one; an object store has a prefix as soon as something is put there."""
    if not isinstance(store, DirectoryStore) or store.is_directory(root):
        return
    if store.exists(root):
        raise UsageError.of(IS_A_FILE, f"{root} is a file, not a warehouse", path=root, remedy="Name a directory.")
    raise NotFoundError.of(
        NO_SUCH_PLACE,
        f"there is no warehouse {root}: the directory does not exist",
        path=root,
        remedy=f"Check the path, or make a warehouse there with `lakebed init {shlex.quote(root)}`.",
    )


def _mini_database(store: Store, root: str, entries: list[Entry]) -> str | None:
    """The first child that holds a table of the mini layout."""
    for entry in entries:
        if entry.is_directory and not entry.name.endswith(DATABASE_SUFFIX):
            database = f"{root}/{entry.name}"
            for table in store.list(database):
                if table.is_directory and _is_mini_table(store, f"{database}/{table.name}"):
                    return entry.name
    return None


def _is_mini_table(store: Store, table: str) -> bool:
    directory = f"{table}/{SCHEMA}"
    for entry in store.list(directory):
        if not entry.is_directory and schema_id_of(entry.name) is not None:
            return looks_mini(store.read(f"{directory}/{entry.name}"))
    return False


def _no_warehouse(store: Store, root: str, entries: list[Entry]) -> UsageError:
    parent, _, name = root.rpartition("/")
    if has_schema(store, root):
        warehouse = parent.rpartition("/")[0]
        return _inside(root, "a table", warehouse)
    children = [entry.name for entry in entries if entry.is_directory]
    if name.endswith(DATABASE_SUFFIX) or any(has_schema(store, f"{root}/{child}") for child in children):
        return _inside(root, "a database", parent)
    shown = ", ".join(entry.name for entry in entries[:3])
    return UsageError.of(
        NO_WAREHOUSE,
        f"{root} is no warehouse: it holds {shown}{', ...' if len(entries) > 3 else ''} and no database",
        path=root,
        expected="databases (directories named <database>.db), or an empty directory",
        remedy="Check the path, or make a warehouse in another directory with `lakebed init`.",
    )


def _inside(root: str, what: str, warehouse: str) -> UsageError:
    return UsageError.of(
        INSIDE_A_WAREHOUSE,
        f"{root} looks like {what}, not like a warehouse",
        path=root,
        suggestions=(warehouse,) if warehouse else (),
        remedy="Open the warehouse that holds it.",
    )
