"""Read what each row of a source does to its key, and in which order rows came."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.catalog.node import Node
from lakebed.catalog.options import ROWKIND_FIELD
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UsageError
from lakebed.format.row_kinds import KINDS
from lakebed.ingest.arguments import BAD_ARGUMENT
from lakebed.ingest.numbering import BETWEEN
from lakebed.ingest.sources.source_parts import plain_path
from lakebed.ingest.system_columns import APPEND, CORRECT_FROM, CORRECT_TO, RETRACT
from lakebed.model.extra import ENUM
from lakebed.physical import DataField, with_nullability
from lakebed.physical import paimon_types as physical

#: What the operations of Open Data Fabric do to a key.
_OF_OPERATION = {APPEND: "+I", RETRACT: "-D", CORRECT_FROM: "-U", CORRECT_TO: "+U"}


def check_row_kinds(schema: TableSchema, name: str | None, is_merging: bool) -> None:
    """Raise `UsageError` (LB6109) where a column of row kinds has no meaning."""
    if name is None:
        return
    own = schema.options.get(ROWKIND_FIELD)
    reasons = {
        "the table has no primary key": not schema.primary_keys,
        f"the table's own column {own} says it (option {ROWKIND_FIELD})": own is not None,
        f"{name} is a column of the table itself": schema.field(name) is not None,
        "merge_schema would make it a column of the table": is_merging,
    }
    reason = next((text for text, holds in reasons.items() if holds), None)
    if reason is not None:
        raise UsageError.of(
            BAD_ARGUMENT, f"the column {name!r} cannot say what rows do: {reason}", path=name, found=name
        )


def with_kind_column(schema: TableSchema, name: str | None) -> TableSchema:
    """The schema that rows are checked against: that of the table, and a column that says what each row does."""
    if name is None:
        return schema
    column = DataField(schema.highest_field_id + 1, name, physical.VarChar(2, nullable=False))
    return replace(schema, fields=(*schema.fields, column))


def of_known_kind(node: Node) -> Node:
    """The column that says what a row does, which has to say one of four things."""
    extra = node.extra.merged({ENUM: list(KINDS)})
    return replace(node, stored=with_nullability(node.stored, False), extra=extra)


def kind_of_text(text: Column) -> Column:
    """The stored number of a kind that is written `+I`, `-U`, `+U` or `-D`."""
    return (F.array_position(F.array(*map(F.lit, KINDS)), text) - 1).cast("tinyint")


def kind_of_operation(operation: Column) -> Column:
    """The stored number of what an operation of Open Data Fabric does to its key."""
    kinds = [KINDS.index(_OF_OPERATION[code]) for code in range(len(_OF_OPERATION))]
    return F.element_at(F.array(*map(F.lit, kinds)), operation.cast("int") + 1).cast("tinyint")


def arrival(files: Sequence[str], row: Column) -> tuple[Column, ...]:
    """What orders rows as they came, from the column `block`: by file as named, then by place in the file.

    `row` grows within each piece of a file.
    """
    part, url, start = (F.split_part(F.col("block"), F.lit(BETWEEN), F.lit(i)) for i in (1, 2, 3))
    places = F.from_json(F.lit(json.dumps({path: i for i, path in enumerate(files)})), "map<string,int>")
    by_file = (F.coalesce(F.try_element_at(places, plain_path(url)), F.lit(len(files))),) if len(files) > 1 else ()
    return (*by_file, part.cast("int"), start.cast("bigint"), row)
