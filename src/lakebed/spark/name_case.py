"""Columns whose names differ only in case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import SparkSession

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UnsupportedError
from lakebed.physical.types import DataField, outer_rows


def check_case(spark: SparkSession, schema: TableSchema) -> None:
    """Names that differ only in case need a session that tells them apart."""
    if (spark.conf.get("spark.sql.caseSensitive", "false") or "false").lower() == "true":
        return
    for names, path in _sibling_names(schema.fields, ""):
        folded: dict[str, str] = {}
        for name in names:
            other = folded.setdefault(name.casefold(), name)
            if other != name:
                raise UnsupportedError.of(
                    "LB6706",
                    f"columns {path + other!r} and {path + name!r} of schema {schema.id} differ only in case",
                    path=path + name,
                    remedy="set spark.sql.caseSensitive=true in the Spark session",
                )


def _sibling_names(fields: Sequence[DataField], path: str) -> Iterable[tuple[list[str], str]]:
    yield [f.name for f in fields], path
    for field in fields:
        for inner in outer_rows(field.type):
            yield from _sibling_names(inner.fields, f"{path}{field.name}.")
