"""Drop and rename tables so that repeating it finishes what a crash has interrupted.

A drop puts a marker into the table's directory, then the schema goes (in one step where directories can be moved, else
file by file, the newest last), then all else, and the marker with the directory at the end. While the marker is there
no table can be made in its place.

A rename moves the table's directory, in one step of the file system, which is the moment when the name changes. Its
quarantine is a second directory: before the first move a marker is put into it, which says where it belongs. Object
stores can move nothing in one step (specification, "Atomic creation"): there a reader would see neither table, or both,
and a writer would write into the one that is about to be deleted.
"""

from __future__ import annotations

import json

from lakebed.catalog.names import TableName
from lakebed.catalog.paths import SCHEMA, PathFactory, has_schema, schema_id_of
from lakebed.diagnostics import reason_of
from lakebed.errors import AlreadyExistsError, LakebedError, NotFoundError, RefusedError
from lakebed.store import DirectoryStore, Store
from lakebed.store.failed_follow_ups import UNDONE, afterwards, with_note
from lakebed.store.safe_delete import Inside

LEFTOVERS = "LB3124"
CANNOT_MOVE = "LB3705"
IN_THE_WAY = "LB3706"
INTERRUPTED = "LB3707"
QUARANTINE_NAME = "LB3710"

_DROPPING, _RENAMING = ".dropping", ".renaming"
_GONE = ".dropped-schema"
#: Where files lie that would come alive under a new table of the same name.
_LIVE = ("snapshot", "tag", "branch", "changelog")


def refuse_remains(store: Store, name: TableName, table_path: str, quarantine_path: str | None) -> None:
    """Refuse a new table where a drop or a rename of an earlier one has left something that would come alive in it.

    `quarantine_path` is where its quarantine would lie, None for a table that cannot have one.

    Raises:
        AlreadyExistsError: either was interrupted, or directories are left whose content the new table would take over.
    """
    marker = None if quarantine_path is None else _marker_in(quarantine_path)
    renamed_to = _destination(store, marker)
    if renamed_to is not None:
        raise AlreadyExistsError.of(
            INTERRUPTED,
            f"the table {name} cannot be made: an earlier one was renamed to {renamed_to}, and that was interrupted",
            path=marker,
            remedy=f"Finish it first: lakebed rename '{name}' '{renamed_to}'.",
        )
    found = [directory for directory in _LIVE if store.exists(f"{table_path}/{directory}")]
    if is_drop_interrupted(store, table_path):
        what, remedy = "a drop of an earlier table was interrupted there", "Drop the table again to finish it."
    elif found:
        what = f"it holds {', '.join(found)} of an earlier table"
        remedy = f"Look at {table_path} and delete the directory."
    else:
        return
    message = f"the table {name} cannot be made in {table_path}: {what}"
    raise AlreadyExistsError.of(LEFTOVERS, message, path=table_path, remedy=remedy)


def is_drop_interrupted(store: Store, table_path: str) -> bool:
    """Whether a drop of the table was begun and not finished."""
    return store.exists(f"{table_path}/{_DROPPING}")


def remove_table(store: Store, table_path: str) -> None:
    """Delete a table's directory and nothing outside of it; a link in it, or in its place, is removed, not followed."""
    inside = Inside(store, table_path)
    if inside.is_link(table_path):
        inside.delete_tree(table_path)
        return
    marker = f"{table_path}/{_DROPPING}"
    store.replace(marker, b"")
    if isinstance(store, DirectoryStore):
        _hide_schema(store, inside)
    else:
        _delete_versions(inside, f"{table_path}/{SCHEMA}")
    for entry in store.list(table_path):
        if entry.name == _DROPPING:
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


def rename(store: Store, paths: PathFactory, source: TableName, target: TableName) -> list[TableName]:
    """Move a table and its quarantine, and return their new names.

    The caller has seen that the source is there and the target is not.
    A rename of the same tables that was interrupted is finished; then the source is not there, and the target is.

    Raises:
        RefusedError: the storage cannot move a directory in one step, or a name is that of a quarantine.
        AlreadyExistsError: something is where a table is to go.
    """
    for name in (source, target):
        if name.is_quarantine:
            raise _is_a_quarantine(name)
    if not isinstance(store, DirectoryStore):
        raise _cannot_move(source)
    resumed = is_rename_interrupted(store, paths, source, target)
    has_quarantine = _has_quarantine(store, paths, source)
    if has_quarantine:
        # Also checks that the name of the new quarantine is not too long.
        _ensure_free(store, paths.table(target.quarantine), target.quarantine)
    if not resumed:
        _ensure_free(store, paths.table(target), target)
        if has_quarantine:
            marker = _marker_in(paths.table(source.quarantine))
            store.replace(marker, json.dumps({"table": [target.database, target.table]}).encode())
        store.move_directory(paths.table(source), paths.table(target))
    if has_quarantine:
        try:
            store.move_directory(paths.table(source.quarantine), paths.table(target.quarantine))
        except LakebedError as error:
            note = f"{source} is called {target} now, but its quarantine has still the old name"
            raise with_note(error, UNDONE, note, "Repeat the rename: that finishes it.") from error
    if not _has_quarantine(store, paths, target):
        return [target]
    marker = _marker_in(paths.table(target.quarantine))
    with afterwards(f"{source} was renamed to {target}", "a marker is left", path=marker, remedy="Delete the file."):
        Inside(store, paths.table(target.quarantine)).delete(marker)
    return [target, target.quarantine]


def is_rename_interrupted(store: Store, paths: PathFactory, source: TableName, target: TableName) -> bool:
    """Whether a rename of `source` to `target` was begun, has moved the table and has not said that it is done."""
    if source.is_quarantine or target.is_quarantine or has_schema(store, paths.table(source)):
        return False
    waiting = _destination(store, _marker(paths, source)) or _destination(store, _marker(paths, target))
    return waiting == target and has_schema(store, paths.table(target))


def _destination(store: Store, marker: str | None) -> TableName | None:
    """What the marker in the quarantine of a table says."""
    if marker is None:
        return None
    try:
        content = json.loads(store.read(marker))
        return TableName(*content["table"])
    except NotFoundError:
        return None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"{marker} cannot be read: {reason_of(error)}"
        raise AlreadyExistsError.of(INTERRUPTED, message, path=marker) from error


def _has_quarantine(store: Store, paths: PathFactory, name: TableName) -> bool:
    return name.can_have_quarantine and has_schema(store, paths.table(name.quarantine))


def _marker(paths: PathFactory, name: TableName) -> str | None:
    """Where it would be; None for a table that cannot have a quarantine."""
    return _marker_in(paths.table(name.quarantine)) if name.can_have_quarantine else None


def _marker_in(quarantine_path: str) -> str:
    return f"{quarantine_path}/{_RENAMING}"


def _ensure_free(store: DirectoryStore, path: str, name: TableName) -> None:
    if store.is_directory(path) or store.is_link(path) or store.exists(path):
        raise AlreadyExistsError.of(
            IN_THE_WAY,
            f"the table cannot be called {name}: there is something at {path}",
            path=path,
            remedy="Choose another name, or look at what is there and move it away.",
        )


def _cannot_move(name: TableName) -> RefusedError:
    return RefusedError.of(
        CANNOT_MOVE,
        f"{name} cannot be renamed: an object store cannot move a table in one step, and while it is copied a "
        "reader would find half of it and what a writer adds would be lost",
        found=str(name),
        remedy="Make a table of the new name from `lakebed infer`, copy the rows and drop the old one.",
    )


def _is_a_quarantine(name: TableName) -> RefusedError:
    return RefusedError.of(
        QUARANTINE_NAME,
        f"{name} is the name of a quarantine, which is renamed with its table",
        found=str(name),
        remedy="Rename the table that it belongs to.",
    )
