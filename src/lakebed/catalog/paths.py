"""Build every path of a warehouse, in both layouts (`PathFactory`), and tell which tables and branches are there.

`paimon`: `<warehouse>/<db>.db/<table>/schema/schema-0`; `mini`: `<warehouse>/<db>/<table>/schema/schema-0`.
"""

from __future__ import annotations

import os
import re
from enum import StrEnum

from lakebed.catalog.names import BAD_NAME, DATABASE_SUFFIX, AnyTableName, as_table_name, database_problems
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import UsageError, ValidationError
from lakebed.redaction import redact
from lakebed.store import Store, open_store
from lakebed.store.obstacles import is_file

BAD_LAYOUT = "LB3106"
BAD_BRANCH_NAME = "LB3107"

MAIN = "main"
SCHEMA = "schema"
#: In a branch's directory on a storage without directories: it is not complete yet, or is being deleted.
INCOMPLETE = ".incomplete"
#: An id is a 64-bit integer.
_VERSION = re.compile(r"schema-(0|[1-9][0-9]{0,18})")
_BRANCH = re.compile(r"branch-(.+)", re.DOTALL)
_SNAPSHOT = re.compile(r"snapshot-[1-9][0-9]*")


class Layout(StrEnum):
    """How a warehouse lays out its databases."""

    PAIMON = "paimon"
    MINI = "mini"

    @classmethod
    def of(cls, text: str) -> Layout:
        """The layout of this name.

        Raises:
            UsageError: there is none.
        """
        try:
            return cls(text)
        except ValueError:
            raise UsageError.of(
                BAD_LAYOUT,
                f"there is no layout {text!r}",
                expected="paimon or mini",
                found=text,
                suggestions=near_names(text, list(cls)),
            ) from None


def branch_root(table_path: str, branch: str | None = None) -> str:
    """The directory that holds `schema/`, `snapshot/` and `tag/` of a branch; of `main`, None or blank: the table's.

    Raises:
        ValidationError: no branch can have such a name.
    """
    if branch is None or not branch.strip() or branch == MAIN:
        return table_path
    if "/" in branch or "\\" in branch or branch in (".", "..") or any(ord(c) < 32 for c in branch):
        raise ValidationError.of(BAD_BRANCH_NAME, f"{branch!r} cannot be the name of a branch", found=branch)
    return f"{table_path}/branch/branch-{branch}"


def schema_id_of(file_name: str) -> int | None:
    """The id in `schema-<id>`; None for every other name: padded numbers, temporary files, junk."""
    match = _VERSION.fullmatch(file_name)
    return int(match[1]) if match else None


class PathFactory:
    """Paths of one warehouse, as text without a trailing slash.

    Args:
        path: the warehouse, a path or a URL; a relative path is made absolute.
        layout: `paimon` or `mini`.
        store: the store that `path` lies in, where it is not the one that the path says.
    """

    def __init__(self, path: str | os.PathLike[str], layout: str = "paimon", *, store: Store | None = None) -> None:
        if store is None:
            self.store, root = open_store(path)
        else:
            self.store, root = store, os.fspath(path)
        self.warehouse: str = root.rstrip("/")
        self.layout: Layout = Layout.of(layout)

    def __repr__(self) -> str:
        return f"PathFactory({redact(self.warehouse)!r}, {str(self.layout)!r})"

    def database(self, database: str) -> str:
        """The directory of a database."""
        problems = database_problems(database)
        if self.layout is Layout.MINI and database.endswith(DATABASE_SUFFIX):
            message = (
                f"a database of the mini layout cannot be called {database!r}: that is a directory of the other one"
            )
            problems = (*problems, Diagnostic(BAD_NAME, message, found=database, remedy="Choose another name."))
        if problems:
            raise ValidationError(*problems)
        return f"{self.warehouse}/{self.database_directory_name(database)}"

    def database_directory_name(self, database: str) -> str:
        """The name of that directory: `<db>.db`, in the mini layout `<db>`."""
        return database + DATABASE_SUFFIX if self.layout is Layout.PAIMON else database

    def database_of(self, directory_name: str) -> str | None:
        """The database that a child directory of the warehouse is, or None."""
        name = directory_name
        if self.layout is Layout.PAIMON:
            if not name.endswith(DATABASE_SUFFIX):
                return None
            name = name.removesuffix(DATABASE_SUFFIX)
        elif name.endswith(DATABASE_SUFFIX):
            return None
        return None if database_problems(name) else name

    def table(self, name: AnyTableName) -> str:
        """The directory of a table."""
        table = as_table_name(name)
        return f"{self.database(table.database)}/{table.table}"

    def schema_directory(self, name: AnyTableName, branch: str | None = None) -> str:
        """The directory of the schema files of a branch."""
        return self._inside(name, branch, SCHEMA)

    def schema(self, name: AnyTableName, schema_id: int, branch: str | None = None) -> str:
        """The file of one schema version."""
        return f"{self.schema_directory(name, branch)}/schema-{schema_id}"

    def metadata(self, name: AnyTableName) -> str:
        """The `metadata` record of a table."""
        return self._inside(name, None, "metadata")

    def snapshot_directory(self, name: AnyTableName, branch: str | None = None) -> str:
        """The directory of the snapshot files of a branch."""
        return self._inside(name, branch, "snapshot")

    def snapshot(self, name: AnyTableName, snapshot_id: int, branch: str | None = None) -> str:
        """The file of one snapshot."""
        return f"{self.snapshot_directory(name, branch)}/snapshot-{snapshot_id}"

    def manifest_directory(self, name: AnyTableName) -> str:
        """The directory of the manifests, which all branches share."""
        return self._inside(name, None, "manifest")

    def index_directory(self, name: AnyTableName) -> str:
        """The directory of the index files, which all branches share."""
        return self._inside(name, None, "index")

    def tag_directory(self, name: AnyTableName, branch: str | None = None) -> str:
        """The directory of the tags of a branch."""
        return self._inside(name, branch, "tag")

    def tag(self, name: AnyTableName, tag: str, branch: str | None = None) -> str:
        """The file of one tag."""
        return f"{self.tag_directory(name, branch)}/tag-{tag}"

    def branch_directory(self, name: AnyTableName) -> str:
        """The directory of the branches other than `main`."""
        return self._inside(name, None, "branch")

    def _inside(self, name: AnyTableName, branch: str | None, directory: str) -> str:
        return f"{branch_root(self.table(name), branch)}/{directory}"


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
