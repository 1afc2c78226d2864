"""Refuse rows that Mini Paimon itself wrote in a table of the mini layout.

Mini Paimon's specification is about schemas; it says nothing of data files. Lakebed keeps the rows of such a table in
Paimon's own files, in the table's directory. What Mini Paimon itself has written there is recognised, and refused.
"""

from __future__ import annotations

from lakebed.catalog.names import TableName
from lakebed.errors import UnsupportedError
from lakebed.store import Store

FOREIGN_ROWS = "LB3405"

_AVRO = b"Obj\x01"
#: Where Mini Paimon writes sorted tables, and its log of what is not in one yet.
_OWN_DIRECTORIES = ("data", "wal")


def foreign_rows(store: Store, table_path: str) -> str | None:
    """The path of a file with rows that Mini Paimon itself wrote, or of a manifest that tells of some; None without."""
    for directory in _OWN_DIRECTORIES:
        for entry in store.list(f"{table_path}/{directory}"):
            if entry.is_directory or entry.size:
                return f"{table_path}/{directory}/{entry.name}"
    for entry in store.list(f"{table_path}/manifest"):
        path = f"{table_path}/manifest/{entry.name}"
        if not entry.is_directory and not entry.name.startswith(".") and store.read_range(path, 0, 4) != _AVRO:
            return path
    return None


def refuse_foreign_rows(store: Store, table_path: str, name: TableName) -> None:
    """Raise `UnsupportedError` for a table that holds rows which Mini Paimon itself wrote."""
    path = foreign_rows(store, table_path)
    if path is not None:
        raise UnsupportedError.of(
            FOREIGN_ROWS,
            f"{name} holds rows that Mini Paimon wrote, whose files no specification describes",
            path=path,
            remedy="Export them with Mini Paimon; `lakebed migrate --schema-only` takes the schema over.",
        )
