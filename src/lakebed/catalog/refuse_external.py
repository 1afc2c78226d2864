"""Refuse to drop tables with external data, and to create one over another definition."""

from __future__ import annotations

from typing import Any

from lakebed.catalog.annotations import OPTION
from lakebed.catalog.dialects import Dialect
from lakebed.catalog.names import TableName
from lakebed.catalog.options import DATA_FILE_EXTERNAL_PATHS
from lakebed.catalog.paths import MAIN, branch_names
from lakebed.catalog.schema_manager import SchemaManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import AlreadyExistsError, CorruptMetadataError, RefusedError
from lakebed.store import Store

EXTERNAL_DATA = "LB3125"
NOT_THE_SAME = "LB3708"
_NOT_COMPARED = frozenset(("owner", "path", OPTION))


def refuse_external_data(store: Store, table_path: str, name: TableName, dialect: Dialect) -> None:
    """Look through the options of all schema versions of all branches.

    Raises:
        RefusedError: one names external paths, or cannot be read, so that nobody can tell.
    """
    for branch in (MAIN, *branch_names(store, table_path)):
        manager = SchemaManager(store, table_path, branch=branch, name=name, dialect=dialect)
        try:
            versions = manager.versions()
        except CorruptMetadataError as error:
            message = f"the table {name} has a schema file that cannot be read, so it may have data elsewhere"
            raise _refusal(message, error.diagnostics[0].message) from error
        for schema in versions:
            paths = schema.options.get(DATA_FILE_EXTERNAL_PATHS, "").strip()
            if paths:
                raise _refusal(f"the table {name} has data files outside its directory", paths)


def refuse_another_definition(stored: TableSchema, wanted: TableSchema, name: TableName) -> None:
    """Compare what is wanted with an existing table (specification, "Retry loops"): what is not said may be anything.

    Columns count without their ids and without Lakebed's annotations, the options `owner` and `path` not at all.

    Raises:
        AlreadyExistsError: the existing table is defined differently, with one diagnostic for each difference.
    """
    texts = (
        ("columns", _columns_text(stored), _columns_text(wanted)),
        ("partition key", ", ".join(stored.partition_keys), ", ".join(wanted.partition_keys)),
        ("primary key", ", ".join(stored.primary_keys), ", ".join(wanted.primary_keys)),
        *(
            (f"option {key!r}", stored.options.get(key, ""), value)
            for key, value in wanted.options.items()
            if key not in _NOT_COMPARED
        ),
    )
    problems = [_difference(name, what, has, given) for what, has, given in texts if given and given != has]
    if problems:
        raise AlreadyExistsError(*problems)


def _columns_text(schema: TableSchema) -> str:
    return ", ".join(f"{field.name} {_without_ids(field.type.to_json())}" for field in schema.fields)


def _without_ids(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _without_ids(value) for key, value in content.items() if key != "id"}
    return [_without_ids(item) for item in content] if isinstance(content, list) else content


def _difference(name: TableName, what: str, has: str, given: str) -> Diagnostic:
    return Diagnostic(
        NOT_THE_SAME,
        f"the table {name} is there already and not the same: {what}",
        expected=has or "none",
        found=given,
        remedy="Leave the columns, keys and options out to take the table as it is, or change it by a plan.",
    )


def _refusal(message: str, found: str) -> RefusedError:
    return RefusedError.of(
        EXTERNAL_DATA,
        message,
        found=found,
        remedy="Drop it with --purge to give these files up; they are not deleted.",
        python_remedy="drop it with purge=True to give these files up; they are not deleted",
    )
