"""Rows of a primary-key table whose files overlap: one row a key, as the table's merge engine says.

Only the sections of a `MergePlan` come here. Rows of one key are ordered by the table's sequence fields, then by the
sequence number that the writer gave them; between equal numbers the newer file wins.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UnsupportedError
from lakebed.spark.addresses import quote_name
from lakebed.spark.file_rows import FileRows, System
from lakebed.table.merge_plan import merge_engine
from lakebed.table.scan import DataFile

_SECTION, _PLACE = "_LAKEBED_SECTION", "_LAKEBED_PLACE"
#: Kinds of rows that stand for a row of the table: +I and +U.
_INSERTS = (0, 2)


def merged(reader: FileRows, sections: Sequence[Sequence[DataFile]], schema: TableSchema) -> DataFrame:
    """The merged rows of `sections` under `schema`."""
    if merge_engine(schema) != "deduplicate":
        raise UnsupportedError.of(
            "LB5050",
            f"a table with merge-engine={merge_engine(schema)} cannot be read yet",
            remedy="use another engine for it",
        )
    return _deduplicated(_numbered(reader, sections, schema), schema)


def _numbered(reader: FileRows, sections: Sequence[Sequence[DataFile]], schema: TableSchema) -> DataFrame:
    """The rows of all sections, with the number of the section and the file's place in the order of writing."""
    placed = [(number, f) for number, section in enumerate(sections) for f in section]
    # Within a bucket the lower level is the newer; files of level 0 stand in the order of their commits.
    placed.sort(key=lambda p: -p[1].meta.level)
    rows = reader.read([f for _, f in placed], schema, System.FILE, System.SEQUENCE_NUMBER, System.VALUE_KIND)
    numbers = F.from_json(F.lit(str([number for number, _ in placed])), "array<int>")
    return rows.withColumn(_SECTION, F.element_at(numbers, F.col(System.FILE) + F.lit(1)))


def _newest_first(schema: TableSchema) -> list[Column]:
    """NULL is the smallest value of a sequence field."""
    fields = [f.strip() for f in schema.options.get("sequence.field", "").split(",") if f.strip()]
    descending = schema.options.get("sequence.field.sort-order", "ascending").strip().lower() == "descending"
    own = [F.col(quote_name(f)) for f in fields]
    ordered = [c.asc_nulls_first() if descending else c.desc_nulls_last() for c in own]
    return [*ordered, F.col(System.SEQUENCE_NUMBER).desc(), F.col(System.FILE).desc()]


def _deduplicated(rows: DataFrame, schema: TableSchema) -> DataFrame:
    if schema.options.get("ignore-delete", "false").strip().lower() == "true":
        rows = rows.where(F.col(System.VALUE_KIND).isin(*_INSERTS))
    key = [
        F.col(_SECTION),
        *(F.col(quote_name(k)) for k in dict.fromkeys((*schema.partition_keys, *schema.primary_keys))),
    ]
    newest_first = Window.partitionBy(*key).orderBy(*_newest_first(schema))
    newest = rows.withColumn(_PLACE, F.row_number().over(newest_first)).where(F.col(_PLACE) == 1)
    return newest.where(F.col(System.VALUE_KIND).isin(*_INSERTS)).select(
        *(F.col(quote_name(f.name)) for f in schema.fields)
    )
