"""`read(where=p)` is the filtered whole read: real tables of others, predicates made of their rows."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

import lakebed
from referees.corpus import SHARED, ExpectedTable

EXPECTED = SHARED / "tables" / "expected"
#: One of each kind: indexes, deletion vectors, merges, branches, casts, parts of rows, partitions, both formats.
KEYS = (
    "parquet__append_with_bitmap",
    "parquet__append_with_bsi_bitmap_bloomfilter",
    "parquet__append_with_bloomfilter",
    "parquet__append_table_with_rt_branch",
    "parquet__append_table_alter_table_with_cast",
    "parquet__data_evolution_with_dense_stats",
    "parquet__pk_09",
    "parquet__pk_table_scan_and_read_mor",
    "parquet__pk_table_with_alter_table",
    "orc__append_with_bitmap_alter_table",
    "orc__pk_dv_index_in_data_with_external",
)
_PREDICATES = 6
_NESTED = (T.ArrayType, T.MapType, T.StructType, T.BinaryType)


class SeenError(Exception):
    """The table has been looked at; its rows are compared here."""


@pytest.mark.parametrize("key", [key for key in KEYS if (EXPECTED / f"{key}.json").exists()] or ["none"])
def test_a_filtered_read_is_the_filtered_whole_read(key: str, spark: Any, expected_tables: Callable[..., None]) -> None:
    def compare(table: ExpectedTable) -> Any:
        lake = lakebed.open(table.warehouse)
        whole = lake.read(spark, table.table, snapshot=table.snapshot, branch=table.branch)
        flat = [field for field in whole.schema.fields if not isinstance(field.dataType, _NESTED)]
        rows = whole.select(*(F.col(f"`{field.name}`") for field in flat)).collect()
        chance = random.Random(key)
        wheres = [_predicate(chance, flat, rows) for _ in range(_PREDICATES)]
        state = {"snapshot": table.snapshot, "branch": table.branch}
        chosen = [lake.read(spark, table.table, where=where, **state) for where in wheres]
        assert _rows(chosen) == _kept(whole, wheres), wheres
        raise SeenError

    with pytest.raises(SeenError):
        expected_tables(key, compare, micros=True)


def _predicate(chance: random.Random, fields: list[T.StructField], rows: list[Any]) -> str:
    parts = [_leaf(chance, fields, rows) for _ in range(chance.choice([1, 1, 2]))]
    text = f" {chance.choice(['AND', 'OR'])} ".join(parts)
    return f"NOT ({text})" if chance.random() < 0.2 else text


def _leaf(chance: random.Random, fields: list[T.StructField], rows: list[Any]) -> str:
    field = chance.choice(fields)
    value = rows[chance.randrange(len(rows))][field.name] if rows else None
    text = _literal(value, field.dataType)
    if text is None or chance.random() < 0.1:
        return f"`{field.name}` IS {chance.choice(['', 'NOT '])}NULL"
    return f"`{field.name}` {chance.choice(['=', '=', '<', '<=', '>', '>=', '<>'])} {text}"


def _literal(value: Any, kind: T.DataType) -> str | None:
    match kind, value:
        case _, None:
            return None
        case T.BooleanType(), _:
            return str(value)
        case ((T.ByteType() | T.ShortType() | T.IntegerType() | T.LongType()), _):
            return str(value)
        case T.DecimalType(), Decimal():
            return f"{value:f}"
        case ((T.FloatType() | T.DoubleType()), float()) if value == value and abs(value) < 1e15:
            return f"{value!r}D"
        case T.StringType(), str() if value.isascii() and value.isalnum():
            return f"'{value}'"
        case T.DateType(), _:
            return f"DATE '{value.isoformat()}'"
        case T.TimestampNTZType(), _:
            return f"TIMESTAMP_NTZ '{value.isoformat(sep=' ')}'"
        case _:
            return None


def _rows(frames: list[DataFrame]) -> Counter[Any]:
    """The rows of each, as texts, in one query."""
    numbered = [frame.select(F.lit(number), _text(frame)) for number, frame in enumerate(frames)]
    return Counter(tuple(row) for row in reduce(DataFrame.union, numbered).collect())


def _kept(whole: DataFrame, wheres: list[str]) -> Counter[Any]:
    """The rows that each predicate is true for, in the same form. They are read once, and no file is left out."""
    truths = F.array(*(F.coalesce(F.expr(where), F.lit(False)) for where in wheres))
    rows = whole.select(truths, _text(whole)).collect()
    return Counter((number, text) for said, text in rows for number, is_true in enumerate(said) if is_true)


def _text(frame: DataFrame) -> Column:
    return F.to_json(F.struct(*(F.col(f"`{name}`") for name in frame.columns)))
