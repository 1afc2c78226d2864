"""Drop a table so that a crash leaves either the old table or none.

A marker is put into the table's directory, then the schema goes (in one step where directories can be moved, else file
by file, the newest last), then all else, and the marker with the directory at the end. While the marker is there no
table can be made in its place; dropping again finishes the work.
"""

from __future__ import annotations

from lakebed.catalog.names import TableName
from lakebed.catalog.paths import SCHEMA, schema_id_of
from lakebed.errors import AlreadyExistsError
from lakebed.store import DirectoryStore, Store
from lakebed.store.safe_delete import Inside

LEFTOVERS = "LB3124"
MARKER = ".dropping"
_GONE = ".dropped-schema"
#: Where files lie that would come alive under a new table of the same name.
_LIVE = ("snapshot", "tag", "branch", "changelog")


def is_interrupted(store: Store, table_path: str) -> bool:
    """Whether a drop of the table was begun and not finished."""
    return store.exists(f"{table_path}/{MARKER}")


def refuse_leftovers(store: Store, table_path: str, name: TableName) -> None:
    """Refuse a new table in a place where directories of an earlier one are, whose content it would take over.

    Raises:
        AlreadyExistsError: there are, or a drop was interrupted there.
    """
    found = [directory for directory in _LIVE if store.exists(f"{table_path}/{directory}")]
    if is_interrupted(store, table_path):
        what, remedy = "a drop of an earlier table was interrupted there", "Drop the table again to finish it."
    elif found:
        what = f"it holds {', '.join(found)} of an earlier table"
        remedy = f"Look at {table_path} and delete the directory."
    else:
        return
    message = f"the table {name} cannot be made in {table_path}: {what}"
    raise AlreadyExistsError.of(LEFTOVERS, message, path=table_path, remedy=remedy)


def remove_table(store: Store, table_path: str) -> None:
    """Delete a table's directory and nothing outside of it; a link in it, or in its place, is removed, not followed."""
    inside = Inside(store, table_path)
    if inside.is_link(table_path):
        inside.delete_tree(table_path)
        return
    marker = f"{table_path}/{MARKER}"
    store.replace(marker, b"")
    if isinstance(store, DirectoryStore):
        _hide_schema(store, inside)
    else:
        _delete_versions(inside, f"{table_path}/{SCHEMA}")
    for entry in store.list(table_path):
        if entry.name == MARKER:
            continue
        if entry.is_directory:
            inside.delete_tree(f"{table_path}/{entry.name}")
        else:
            inside.delete(f"{table_path}/{entry.name}")
    inside.delete_tree(table_path)


def _hide_schema(store: DirectoryStore, inside: Inside) -> None:
    schema, gone = f"{inside.root}/{SCHEMA}", f"{inside.root}/{_GONE}"
    if inside.is_link(schema):
        inside.delete(schema)
    elif store.is_directory(schema):
        inside.delete_tree(gone)
        store.move_directory(schema, gone)


def _delete_versions(inside: Inside, directory: str) -> None:
    found = [(schema_id_of(entry.name), entry.name) for entry in inside.list(directory) if not entry.is_directory]
    for _, name in sorted((number, name) for number, name in found if number is not None):
        inside.delete(f"{directory}/{name}")
