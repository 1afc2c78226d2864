"""Choose the columns that a read needs: those that are asked for, and those that filters and merges look at."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from lakebed.catalog.names import TableName, each_name
from lakebed.catalog.table_schema import TableSchema
from lakebed.format.blob_columns import holds_blobs
from lakebed.format.merge_engine import MergeEngine, merge_rules
from lakebed.format.merge_plan import MergePlan
from lakebed.physical.paimon_types import DataField
from lakebed.read.needed_files import ReadPlan
from lakebed.read.plan_read import refuse_unknown


def chosen_columns(name: TableName, schema: TableSchema, columns: Sequence[str]) -> tuple[DataField, ...]:
    """The columns of these names, in this order. Raises `UsageError` (LB6463) with all that table `name` lacks."""
    fields, columns = {f.name: f for f in schema.fields}, each_name(columns)
    refuse_unknown(name, schema, [column for column in columns if column not in fields])
    return tuple(fields[column] for column in columns)


def with_columns(schema: TableSchema, names: Collection[str], plan: ReadPlan) -> TableSchema:
    """The schema with the columns `names` and those by which the rows of a plan are made; at least one."""
    needed = {*names, *schema.partition_keys}
    if isinstance(plan.parts, MergePlan) and plan.parts.sections:
        rules = merge_rules(schema)
        if rules.engine in (MergeEngine.PARTIAL_UPDATE, MergeEngine.AGGREGATION):
            return schema
        needed |= {*schema.primary_keys, *rules.order}
    return replace(schema, fields=tuple(f for f in schema.fields if f.name in needed) or any_column(schema))


def any_column(schema: TableSchema) -> tuple[DataField, ...]:
    """A column by which rows are counted: of a key, or else none of blobs where there is another one."""
    return (min(schema.fields, key=lambda f: (f.name not in schema.primary_keys, holds_blobs(f.type))),)
