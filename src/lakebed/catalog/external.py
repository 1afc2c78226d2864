"""Whether a table may have data files outside its directory, which nothing would find any more after a drop."""

from __future__ import annotations

from lakebed.catalog.branches import branch_names
from lakebed.catalog.dialects import Dialect
from lakebed.catalog.names import TableName
from lakebed.catalog.paths import MAIN
from lakebed.catalog.schema_manager import SchemaManager
from lakebed.diagnostics import Diagnostic
from lakebed.errors import CorruptMetadataError, RefusedError
from lakebed.store import Store

EXTERNAL_DATA = "LB3125"
EXTERNAL_PATHS = "data-file.external-paths"


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
            paths = schema.options.get(EXTERNAL_PATHS, "").strip()
            if paths:
                raise _refusal(f"the table {name} has data files outside its directory", paths)


def _refusal(message: str, found: str) -> RefusedError:
    return RefusedError(
        Diagnostic(
            EXTERNAL_DATA,
            message,
            found=found,
            remedy="Drop it with purge (--purge) to give these files up; they are not deleted.",
        )
    )
