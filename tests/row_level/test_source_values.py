"""Which columns are equal where the condition of a join is true, and what is told of the table alone."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import types as spark

from lakebed.catalog.table_schema import TableSchema
from lakebed.physical import DataField
from lakebed.physical import paimon_types as physical
from lakebed.read.predicate_text import text
from lakebed.read.where_sql import parse_where
from lakebed.row_level.source_values import equal_columns, equals_key

SCHEMA = TableSchema(
    id=0,
    fields=(
        DataField(0, "k", physical.BigInt()),
        DataField(1, "day", physical.Date()),
        DataField(2, "a b", physical.VarChar(10)),
    ),
    highest_field_id=2,
    partition_keys=(),
    primary_keys=(),
    options={},
)


@pytest.mark.parametrize(
    ("on", "pairs"),
    [
        ("t.k = s.id", [("k", "id")]),
        ("(s.ID = T.K)", [("k", "id")]),
        ("t.k = s.id AND (t.day = s.day AND t.`a b` = s.`a b`)", [("k", "id"), ("day", "day"), ("a b", "a b")]),
        ("t.k = s.id AND t.day > s.day AND s.day = DATE'2024-01-01'", [("k", "id")]),
        # What may be true without them being equal, or is about something else.
        ("t.k = s.id OR t.day = s.day", []),
        ("NOT t.k = s.id", []),
        ("t.k <=> s.id", []),
        ("t.k + 1 = s.id", []),
        ("k = s.id AND t.k = id", []),
        ("t.k = t.k AND s.id = s.id", []),
        ("t.k.x = s.id", []),
        ("t.no = s.id AND t.k = s.no", []),
        ('t."k" = s.id', []),
        ("t.k = /* s.day OR */ s.id", []),
        ("t.k =", []),
    ],
)
def test_columns_that_have_to_be_equal(on: str, pairs: list[tuple[str, str]]) -> None:
    found = equal_columns(on, SCHEMA, ("id", "day", "a b"), case_sensitive=False)
    assert [(column.name, other) for column, other in found] == pairs


def test_names_are_told_apart_as_the_session_does() -> None:
    both = {"schema": SCHEMA, "others": ("id", "ID")}
    assert equal_columns("t.k = s.id", case_sensitive=False, **both) == ()
    assert len(equal_columns("t.k = s.id", case_sensitive=True, **both)) == 1
    assert equal_columns("t.K = s.id", case_sensitive=True, **both) == ()


def test_what_is_said_of_one_side_alone() -> None:
    found = parse_where("t.k = s.id AND t.k > 3 AND s.k < 9 AND k = 1", SCHEMA, time_zone="UTC", alias="t")
    assert text(found) == text(
        parse_where("t.k = s.id AND k > 3 AND s.k < 9 AND x.k = 1", SCHEMA, time_zone="UTC")
    ).replace("x.k", "k")


@pytest.mark.parametrize(
    ("on", "seen"),
    [
        ("t.k = s.k AND s.day = t.day", True),
        ("(t.day = s.day) AND (S.K = T.K)", True),
        ("t.k = s.k", False),
        ("t.k = s.k AND t.day = s.day AND t.`a b` = s.`a b`", False),
        ("t.k = s.k AND t.day = s.day AND t.`a b` = 'x'", False),
        ("t.k = s.k AND t.day = s.day AND true", False),
        ("t.k = s.k OR t.day = s.day", False),
        ("t.k = s.day AND t.day = s.k", False),
        ("t.k = s.id AND t.day = s.day", False),
        ("t.k =", False),
    ],
)
def test_a_condition_is_seen_to_be_the_equality_of_the_key(on: str, seen: bool) -> None:
    keyed = replace(SCHEMA, primary_keys=("k", "day"))
    types = {"k": spark.IntegerType(), "day": spark.DateType(), "a b": spark.StringType(), "id": spark.LongType()}
    fields = [spark.StructField(name, type_) for name, type_ in types.items()]
    source: Any = SimpleNamespace(schema=spark.StructType(fields), columns=list(types))
    assert equals_key(source, on, keyed, case_sensitive=False) is seen
    # Texts are compared with numbers by a cast.
    texts: Any = SimpleNamespace(schema=spark.StructType([*fields[1:], spark.StructField("k", spark.StringType())]))
    texts.columns = texts.schema.names
    assert not equals_key(texts, on, keyed, case_sensitive=False)
