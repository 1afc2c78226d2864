"""Merge engines against the format's own wording: random histories of many keys in one table for each kind of table."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from read.keyed_tables import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, KeyedTable, Record
from read.lakes import got
from read.merge_oracle import merge

KEYS, FILES = 90, 6
ALL = (INSERT, INSERT, UPDATE_AFTER, UPDATE_BEFORE, DELETE)
NO_DELETES = (INSERT, UPDATE_AFTER)
ITEM = pa.struct([("id", pa.int32()), ("seq", pa.int32()), ("note", pa.string())])
TIMED = pa.struct([("x", pa.int32()), ("t", pa.string())])
KEY = {"k": ("INT", pa.int32())}
ITEMS = {
    "type": "ARRAY",
    "element": {
        "type": "ROW",
        "fields": [
            {"id": 1000, "name": "id", "type": "INT"},
            {"id": 1001, "name": "seq", "type": "INT"},
            {"id": 1002, "name": "note", "type": "STRING"},
        ],
    },
}
TIMES = {
    "type": "MAP",
    "key": "STRING NOT NULL",
    "value": {
        "type": "ROW",
        "fields": [{"id": 1003, "name": "x", "type": "INT"}, {"id": 1004, "name": "t", "type": "STRING"}],
    },
}


def one_of(*values: Any) -> Callable[[random.Random], Any]:
    return lambda chance: chance.choice(values)


def number(low: int, high: int) -> Callable[[random.Random], Any]:
    return lambda chance: chance.choice([None, chance.randint(low, high), chance.randint(low, high)])


def list_of(make: Callable[[random.Random], Any]) -> Callable[[random.Random], Any]:
    return lambda chance: chance.choice(
        [None, [], *([make(chance) for _ in range(chance.randint(1, 3))] for _ in "ab")]
    )


def item(chance: random.Random) -> Any:
    row = {"id": chance.choice([1, 2, 3, None]), "seq": chance.choice([1, 2, 3, None]), "note": chance.choice("abc")}
    return chance.choice([None, row, row, row | {"note": None}])


def map_of(make: Callable[[random.Random], Any]) -> Callable[[random.Random], Any]:
    return lambda chance: chance.choice([None, {k: make(chance) for k in chance.sample("pqr", chance.randint(0, 3))}])


def timed(chance: random.Random) -> Any:
    return chance.choice([None, {"x": chance.randint(0, 99), "t": chance.choice([None, "1", "2", "3"])}])


#: By function: the column's type, its values, its options.
FUNCTIONS: dict[str, tuple[Any, pa.DataType, Callable[[random.Random], Any], dict[str, str]]] = {
    "sum": ("INT", pa.int32(), number(-50, 50), {}),
    "sum_tiny": ("TINYINT", pa.int8(), number(-9, 9), {}),
    "sum_double": ("DOUBLE", pa.float64(), one_of(None, 0.5, -2.25, 1e3), {}),
    "sum_decimal": ("DECIMAL(10, 2)", pa.decimal128(10, 2), one_of(None, Decimal("1.25"), Decimal("-9.99")), {}),
    "product": ("BIGINT", pa.int64(), one_of(None, -3, 2, 5), {}),
    "count": ("BIGINT", pa.int64(), number(0, 9), {}),
    "last_value": ("STRING", pa.string(), one_of(None, "a", "b"), {}),
    "last_non_null_value": ("STRING", pa.string(), one_of(None, "a", "b"), {}),
    "collect": ({"type": "ARRAY", "element": "INT"}, pa.list_(pa.int32()), list_of(one_of(None, 1, 2, 3)), {}),
    "collect_distinct": (
        {"type": "ARRAY", "element": "STRING"},
        pa.list_(pa.string()),
        list_of(one_of(None, "x", "y")),
        {"distinct": "true"},
    ),
    "merge_map": (
        {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"},
        pa.map_(pa.string(), pa.int32()),
        map_of(number(0, 9)),
        {},
    ),
    "nested_update": (ITEMS, pa.list_(ITEM), list_of(item), {}),
    "nested_update_keyed": (
        ITEMS,
        pa.list_(ITEM),
        list_of(item),
        {"nested-key": "id", "nested-sequence-field": "seq", "count-limit": "3"},
    ),
    "max_kept": ("INT", pa.int32(), number(-50, 50), {"ignore-retract": "true"}),
}
#: Functions that take nothing back.
FINAL: dict[str, tuple[Any, pa.DataType, Callable[[random.Random], Any], dict[str, str]]] = {
    "product_decimal": ("DECIMAL(9, 2)", pa.decimal128(9, 2), one_of(None, Decimal("1.25"), Decimal("-0.55")), {}),
    "max": ("STRING", pa.string(), one_of(None, "a", "é", "z"), {}),
    "min": ("DOUBLE", pa.float64(), one_of(None, 0.5, -2.25, 1e3), {}),
    "bool_and": ("BOOLEAN", pa.bool_(), one_of(None, True, False), {}),
    "bool_or": ("BOOLEAN", pa.bool_(), one_of(None, True, False), {}),
    "listagg": ("STRING", pa.string(), one_of(None, "", " \t", "a", "b,a"), {}),
    "listagg_distinct": (
        "STRING",
        pa.string(),
        one_of(None, "", "a", "b.*a", "c.*.* .*c"),
        {"distinct": "true", "list-agg-delimiter": ".*"},
    ),
    "first_value": ("STRING", pa.string(), one_of(None, "a", "b"), {}),
    "first_non_null_value": ("STRING", pa.string(), one_of(None, "a", "b"), {}),
    "nested_update_limited": (
        ITEMS,
        pa.list_(ITEM),
        list_of(item),
        {"count-limit": "3"},
    ),
    "nested_update_strict": (
        ITEMS,
        pa.list_(ITEM),
        list_of(item),
        {"nested-key": "id,seq", "nested-key-null-strategy": "ignore"},
    ),
    "nested_partial_update": (
        ITEMS,
        pa.list_(ITEM),
        list_of(item),
        {"nested-key": "id"},
    ),
    "merge_map_with_keytime": (TIMES, pa.map_(pa.string(), TIMED), map_of(timed), {}),
}


def function_of(case: str) -> str:
    """The function's name in a case such as `sum_tiny`."""
    known = {*FUNCTIONS, *FINAL} - {"sum_tiny", "sum_double", "sum_decimal", "collect_distinct", "max_kept"}
    known -= {"nested_update_keyed", "product_decimal", "listagg_distinct", "nested_update_limited"}
    return max((k for k in known - {"nested_update_strict"} if case.startswith(k)), key=len)


@dataclass(frozen=True)
class Case:
    """A kind of table: columns beside the key, how their values are made, options, the kinds of its records."""

    columns: Mapping[str, tuple[Any, pa.DataType]]
    values: Mapping[str, Callable[[random.Random], Any]]
    options: Mapping[str, str]
    kinds: Sequence[int]


def aggregating(functions: Sequence[str], kinds: Sequence[int], engine: str = "aggregation", **options: str) -> Case:
    every = {**FUNCTIONS, **FINAL}
    said = {"merge-engine": engine, **{k.replace("_", "-"): v for k, v in options.items()}}
    for case in functions:
        said[f"fields.{case}.aggregate-function"] = function_of(case)
        said |= {f"fields.{case}.{key}": value for key, value in every[case][3].items()}
    return Case({c: every[c][:2] for c in functions}, {c: every[c][2] for c in functions}, said, kinds)


def with_columns(case: Case, options: Mapping[str, str], **columns: Callable[[random.Random], Any]) -> Case:
    """The case with INT columns before its own, and more options."""
    numbers = {name: ("INT", pa.int32()) for name in columns}
    return Case({**numbers, **case.columns}, {**columns, **case.values}, {**case.options, **options}, case.kinds)


GROUPED = [
    "sum",
    "product",
    "count",
    "last_value",
    "last_non_null_value",
    "collect",
    "merge_map",
    "nested_update_keyed",
]
FIRM = ["max", "bool_or", "first_value", "first_non_null_value", "listagg", "nested_partial_update", "collect_distinct"]
PLAIN = Case(
    {"a": ("INT", pa.int32()), "b": ("STRING", pa.string())}, {"a": number(0, 9), "b": one_of(None, "x")}, {}, ALL
)
PARTIAL = {"merge-engine": "partial-update"}


def grouped(functions: Sequence[str], kinds: Sequence[int], **options: str) -> Case:
    """Partial update: `g` and `h` order the aggregates, `w` orders `v` and removes rows, `u` stands alone."""
    case = aggregating(functions, kinds, "partial-update", **options)
    said = {"fields.g,h.sequence-group": ",".join(functions), "fields.w.sequence-group": "v"}
    small = one_of(None, 1, 2, 3)
    return with_columns(case, said, v=number(0, 9), g=small, u=number(0, 9), h=small, w=small)


CASES = {
    "aggregates taken back": aggregating(list(FUNCTIONS), ALL),
    "aggregates": aggregating([*FUNCTIONS, *FINAL], NO_DELETES),
    "aggregates, deletes remove": aggregating(
        [*GROUPED, "first_value"], (INSERT, UPDATE_AFTER, DELETE), **{"aggregation.remove-record-on-delete": "true"}
    ),
    "aggregates by sequence": with_columns(
        aggregating(["listagg", "first_value"], NO_DELETES),
        {
            "sequence.field": "s,t",
            "sequence.field.sort-order": "descending",
            "fields.default-aggregate-function": "sum",
        },
        s=one_of(None, 1, 2),
        t=one_of(None, 1, 2),
        other=number(0, 9),
    ),
    "partial update": with_columns(PLAIN, {**PARTIAL, "sequence.field": "s"}, s=one_of(None, 1, 2)),
    "partial update, deletes ignored": with_columns(PLAIN, {**PARTIAL, "partial-update.ignore-delete": "true"}),
    "partial update, deletes remove": with_columns(
        PLAIN, {**PARTIAL, "partial-update.remove-record-on-delete": "true"}
    ),
    "sequence groups": grouped(GROUPED, ALL),
    "sequence groups, firm": grouped(FIRM, NO_DELETES),
    "sequence groups, deletes remove": grouped(GROUPED, ALL, **{"partial-update.remove-record-on-sequence-group": "w"}),
    "deduplicate": PLAIN,
    "deduplicate by sequence": with_columns(PLAIN, {"sequence.field": "s,t"}, s=one_of(None, 1, 2), t=one_of(None, 1)),
    "deduplicate by sequence, descending": with_columns(
        PLAIN, {"sequence.field": "s", "sequence.field.sort-order": "descending"}, s=one_of(None, 1, 2)
    ),
}
CASES["partial update"] = Case(
    CASES["partial update"].columns, CASES["partial update"].values, CASES["partial update"].options, NO_DELETES
)


def history(case: Case, seed: str) -> list[list[Record]]:
    """Files in the order of writing, each with at most one record a key; some keys have a single record."""
    chance, numbers = random.Random(seed), iter(range(10**6))
    files: list[list[Record]] = []
    for _ in range(FILES):
        keys = sorted({0, KEYS - 1, *chance.sample(range(KEYS), KEYS // 2)})
        files.append(
            [
                Record(
                    chance.choice(case.kinds), next(numbers), {"k": k, **{c: v(chance) for c, v in case.values.items()}}
                )
                for k in keys
            ]
        )
    return files


@pytest.mark.parametrize("name", CASES)
def test_a_merge_is_what_the_format_says(spark: Any, tmp_path: Path, name: str) -> None:
    case = CASES[name]
    table = KeyedTable(tmp_path, "t", KEY | dict(case.columns), options=case.options)
    files = history(case, name)
    for i, records in enumerate(files):
        table.add(records, thin=i % 2 == 1)
    table.commit()
    columns = ["k", *case.columns]
    records: dict[int, list[Record]] = {}
    for record in (r for file in files for r in file):
        records.setdefault(record.values["k"], []).append(record)
    expected = [merge(records[k], columns, ["k"], case.options) for k in sorted(records)]
    found = {row[0]: row for row in got(lakebed.open(tmp_path).read(spark, "db.t"))}
    assert None in expected or DELETE not in case.kinds
    wanted = {row[0]: _plain(row) for row in expected if row is not None}
    assert found.keys() == wanted.keys()
    for k, row in wanted.items():
        assert dict(zip(columns, found[k], strict=True)) == dict(zip(columns, row, strict=True)), records[k]


def _plain(value: Any) -> Any:
    """As `got` gives rows: a nested row is a tuple."""
    if isinstance(value, dict):
        is_row = value.keys() in ({"id", "seq", "note"}, {"x", "t"})
        return tuple(value.values()) if is_row else {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list) else value
