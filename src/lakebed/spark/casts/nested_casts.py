"""Cast ROW, ARRAY and MAP to text: `{v1, v2}`, `[e1, e2]`, `{k1 -> v1}`.

NULL is `null`, nothing is quoted or cut.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.physical.paimon_types import Array, DataType, Map, Row

#: Turns a column of a type into its unbounded text.
Printer = Callable[[Column, DataType], Column]


def to_text(col: Column, source: Row | Array | Map, printer: Printer) -> Column:
    """The text of a nested value, its parts printed by `printer`; NULL for NULL."""

    def part(value: Column, type_: DataType) -> Column:
        return F.coalesce(printer(value, type_), F.lit("null"))

    match source:
        case Array(element=element):
            inner = F.array_join(F.transform(col, lambda value: part(value, element)), ", ")
            return F.concat(F.lit("["), inner, F.lit("]"))
        case Map(key=key, value=value):
            entries = F.transform(
                F.map_entries(col),
                lambda entry: F.concat(part(entry["key"], key), F.lit(" -> "), part(entry["value"], value)),
            )
            return F.concat(F.lit("{"), F.array_join(entries, ", "), F.lit("}"))
        case Row(fields=fields):
            members = [part(col.getField(f.name), f.type) for f in fields]
            text = F.concat(F.lit("{"), F.concat_ws(", ", *members), F.lit("}"))
            return F.when(col.isNotNull(), text)
