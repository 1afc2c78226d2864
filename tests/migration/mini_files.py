"""Warehouses in Mini Paimon's layout, file by file, as Mini Paimon writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Column = tuple[str, Any] | tuple[str, Any, bool]


def version(number: int, *columns: Column, pk: Sequence[str] = (), partition: Sequence[str] = ()) -> bytes:
    """A schema file; a column is (name, type[, nullable])."""
    fields = [{"name": c[0], "type": c[1], "nullable": c[2] if len(c) > 2 else True} for c in columns]
    content = {"schemaId": number, "fields": fields, "primaryKeys": list(pk), "partitionKeys": list(partition)}
    return json.dumps(content).encode()


def record(table: str, current: int, *, database: str = "shop", **more: Any) -> bytes:
    """A `metadata` file."""
    content = {
        "tableName": table,
        "databaseName": database,
        "currentSchemaId": current,
        "createTime": "2025-11-05T08:23:50.910Z",
        "lastModifiedTime": "2025-11-06T08:23:50.910Z",
        "description": "",
        "properties": {},
        **more,
    }
    return json.dumps(content).encode()


#: Three versions of a table: a rename, a column that goes and one that comes, a type that widens.
USERS: Mapping[str, bytes] = {
    "schema/schema-0": version(0, ("id", "INT", False), ("town", "STRING"), ("n", "INT"), pk=["id"]),
    "schema/schema-1": version(
        1, ("id", "INT", False), ("city", "STRING"), ("n", "LONG"), ("email", "STRING"), pk=["id"]
    ),
    "schema/schema-2": version(
        2, ("key", "INT", False), ("city", "STRING"), ("email", "STRING"), ("at", "TIMESTAMP"), pk=["key"]
    ),
    "metadata": record("users", 2, description="who buys", properties={"owner": "me"}, indexConfig={"id": ["BLOOM"]}),
}
RENAMES = ("shop.users:1:town=city", "shop.users:2:id=key")
ORDERS: Mapping[str, bytes] = {
    "schema/schema-0": version(
        0, ("id", "LONG"), ("price", {"type": "DECIMAL", "precision": 10, "scale": 2}), ("day", "STRING")
    ),
}


def warehouse(root: str, tables: Mapping[str, Mapping[str, bytes]]) -> dict[str, bytes]:
    """Path -> content of all files; tables are named `db/table`."""
    return {f"{root}/{table}/{path}": data for table, files in tables.items() for path, data in files.items()}
