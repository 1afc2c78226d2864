"""Manage tables and their schema files: names, paths, table and schema managers."""

from __future__ import annotations

from lakebed.catalog.annotations import annotate, drift, logical_schema
from lakebed.catalog.columns import DataType, Field, to_columns, to_data_type
from lakebed.catalog.metadata import TableMetadata
from lakebed.catalog.names import TableName, TableRef
from lakebed.catalog.paths import Layout, PathFactory, branch_root
from lakebed.catalog.schema_manager import SchemaManager
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.catalog.time_zone import check_time_zone
from lakebed.catalog.validate import validate
from lakebed.catalog.warehouse_layout import detect_layout, open_warehouse

__all__ = [
    "DataType",
    "Field",
    "Layout",
    "PathFactory",
    "SchemaManager",
    "TableManager",
    "TableMetadata",
    "TableName",
    "TableRef",
    "TableSchema",
    "annotate",
    "branch_root",
    "check_time_zone",
    "detect_layout",
    "drift",
    "logical_schema",
    "open_warehouse",
    "to_columns",
    "to_data_type",
    "validate",
]
