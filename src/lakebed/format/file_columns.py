"""Tell which columns a data file holds."""

from __future__ import annotations

from collections.abc import Callable

from lakebed.catalog.table_schema import TableSchema
from lakebed.format.blob_columns import in_blob_files
from lakebed.format.live_files import DataFile
from lakebed.format.row_ranges import is_blob_file
from lakebed.physical.paimon_types import DataField

#: The schema version of an id.
Versions = Callable[[int], TableSchema]


def stored_fields(version: Versions, file: DataFile) -> tuple[DataField, ...]:
    """The columns that a file holds: those of its schema version, or of them the ones that its meta data names.

    Where it names none, columns of blobs are among them, which the file need not hold (`doubtful_fields`).
    """
    fields = version(file.meta.schema_id).fields
    names = file.meta.write_cols
    return fields if names is None else tuple(f for f in fields if f.name in names)


def doubtful_fields(version: Versions, file: DataFile) -> frozenset[int]:
    """The ids of those of `stored_fields` that hold blobs and most likely lie in blob files instead."""
    if file.meta.write_cols is not None or is_blob_file(file):
        return frozenset()
    return in_blob_files(version(file.meta.schema_id))
