"""Complete versions of a Mini Paimon table by its record: options, comment and times.

They belong to the table, not to a version: every version has those that the record holds now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from lakebed.catalog.metadata import TableMetadata, read_record
from lakebed.catalog.names import TableName
from lakebed.catalog.paths import PathFactory
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import CorruptMetadataError, StoreError


def completed_by_record(path_factory: PathFactory, name: TableName) -> Callable[[TableSchema], TableSchema]:
    """For `SchemaManager`: a version with what the table's record says. A record that cannot be read says nothing."""

    def completed(schema: TableSchema) -> TableSchema:
        try:
            record = read_record(path_factory, name)
        except (CorruptMetadataError, StoreError):
            return schema
        return schema if record is None else completed_version(schema, record)

    return completed


def completed_version(schema: TableSchema, record: TableMetadata) -> TableSchema:
    """The version with the record's properties, description and times.

    Of the versions between the first and the newest no file says when they were made: they get the first one's time.
    """
    is_newest = 0 < record.current_schema_id <= schema.id
    return replace(
        schema,
        options=record.properties,
        comment=record.description or None,
        time_millis=_millis(record.last_modified_time if is_newest else record.create_time),
    )


def _millis(time: datetime) -> int:
    return int(time.timestamp() * 1000 + 0.5)
