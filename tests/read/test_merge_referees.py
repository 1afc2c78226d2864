"""Merges of tables that other engines wrote, against how they read them themselves.

Each engine writes random histories of many keys, one level-0 file a commit, so that nothing is compacted. What is known
to differ between the engines is in `DIFFERENCES`: such columns or cases are not asked of that engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import lakebed
from read.keyed_tables import Record
from read.test_merge_engines import (
    ALL,
    CASES,
    FINAL,
    FUNCTIONS,
    GROUPED,
    NO_DELETES,
    PLAIN,
    Case,
    aggregating,
    function_of,
    grouped,
    history,
    number,
    one_of,
    with_columns,
)
from referees.client import Referees
from referees.encoding import spark_rows
from referees.java import JavaReferee

FILES = 4
KINDS = ("+I", "-U", "+U", "-D")
WRITE_ONLY = {"bucket": "1", "write-only": "true"}

#: Options that remove whole records are not asked of any engine: 0.9 does not know those of aggregation and of sequence
#: groups and fails at a row after the delete with that of partial update, pypaimon refuses all three.
#: Columns (cases of `FUNCTIONS` and `FINAL`) by engine, and why they are left out.
DIFFERENCES: dict[str, dict[str, str]] = {
    "java": {
        "count": "0.9 does not have it",
        "listagg": "0.9 adds blank texts too",
        "listagg_distinct": "0.9 has no distinct listagg",
        "nested_update_keyed": "0.9 has no nested-sequence-field and counts keys otherwise",
        "nested_update_limited": "0.9 has no count-limit",
        "nested_update_strict": "0.9 has no nested-key-null-strategy",
        "nested_partial_update": "0.9 does not have it",
        "merge_map_with_keytime": "0.9 does not have it",
        "collect": "0.9 fails at a delete whose array is NULL",
        "collect_distinct": "0.9 fails at a delete whose array is NULL",
        "merge_map": "0.9 fails at a delete whose map is NULL",
        "product_decimal": "0.9 rounds otherwise",
    },
    "pypaimon": {
        "count": "2.1 does not have it",
        "max_kept": "2.1 refuses ignore-retract",
        "merge_map": "2.1 cannot give the map away",
        "merge_map_with_keytime": "2.1 cannot give the map away",
    },
}


def known(engine: str, functions: Sequence[str]) -> list[str]:
    return [f for f in functions if f not in DIFFERENCES[engine]]


def plain(case: Case, **options: str) -> Case:
    return with_columns(case, options, s=one_of(None, 1, 2), t=one_of(None, 1, 2))


ADDED = [*FUNCTIONS, *FINAL]
JAVA: Mapping[str, Case] = {
    "aggregates taken back": aggregating(known("java", FUNCTIONS), ALL),
    "aggregates": aggregating([*known("java", ADDED), "collect", "collect_distinct", "merge_map"], NO_DELETES),
    "sequence groups": grouped(known("java", GROUPED), ALL),
    "partial update": plain(CASES["partial update"], **{"merge-engine": "partial-update"}),
    "deletes ignored": with_columns(PLAIN, {"merge-engine": "partial-update", "ignore-delete": "true"}),
    "deduplicate": PLAIN,
    "deduplicate by sequence": plain(PLAIN, **{"sequence.field": "s,t"}),
}
PYTHON: Mapping[str, Case] = {
    "aggregates": aggregating(known("pypaimon", ADDED), NO_DELETES),
    "aggregates by sequence": with_columns(
        aggregating(["listagg", "sum"], NO_DELETES),
        {"sequence.field": "s", "sequence.field.sort-order": "descending"},
        s=one_of(None, 1, 2),
        other=number(0, 9),
    ),
    "partial update": JAVA["partial update"],
    "deduplicate by sequence, descending": plain(
        PLAIN, **{"sequence.field": "s,t", "sequence.field.sort-order": "descending"}
    ),
}


def fields(case: Case) -> list[tuple[str, Any]]:
    return [("k", "INT NOT NULL"), ("kind", "STRING"), *((name, text) for name, (text, _) in case.columns.items())]


def rows(records: Sequence[Record], case: Case) -> list[list[Any]]:
    """The records in the referees' encoding. 0.9 takes NULL and a row of NULLs for one another: there are none."""

    def value(record: Record, column: str) -> Any:
        stored = record.values[column]
        if column.startswith("nested") and stored is not None:
            stored = [row for row in stored if row is not None and any(v is not None for v in row.values())]
        return _nested(stored)

    return [[r.values["k"], KINDS[r.kind], *(value(r, c) for c in case.columns)] for r in records]


def _nested(value: Any) -> Any:
    """Values in the referees' encoding: a map is a list of pairs, a decimal text."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict) and not value.keys() & {"id", "x"}:
        return [[k, _nested(v)] for k, v in value.items()]
    return [_nested(v) for v in value] if isinstance(value, list) else value


def options(case: Case) -> dict[str, str]:
    kinds = (
        {"fields.kind.aggregate-function": "last_value"} if case.options.get("merge-engine") == "aggregation" else {}
    )
    return {**WRITE_ONLY, "rowkind.field": "kind", **kinds, **case.options}


def same(case: Case, found: list[list[Any]], wanted: list[list[Any]]) -> None:
    """The same rows; the order of arrays that come out of a hash table does not count, nor does the kind's text."""
    names = ["k", *case.columns]

    def by_key(rows: list[list[Any]]) -> dict[Any, dict[str, Any]]:
        return {
            row[0]: {
                name: sorted(value, key=str) if isinstance(value, list) else value
                for name, value in zip(names, [row[0], *row[2:]], strict=True)
            }
            for row in rows
        }

    one, other = by_key(found), by_key(wanted)
    assert len(other) == len(wanted) > 20
    assert one.keys() == other.keys()
    for key, row in other.items():
        assert one[key] == row, key


@pytest.mark.parametrize("name", JAVA)
def test_lakebed_merges_what_java_wrote_as_java_does(spark: Any, java: JavaReferee, tmp_path: Path, name: str) -> None:
    case = JAVA[name]
    java.create(tmp_path, "db.t", fields(case), primary_keys=["k"], options=options(case))
    for records in history(case, f"java {name}")[:FILES]:
        java.append(tmp_path, "db.t", rows(records, case))
    # A key that has been deleted only comes out of 0.9 as a row without a key.
    read = [row for row in java.rows(tmp_path, "db.t") if row[0] is not None]
    same(case, spark_rows(lakebed.open(tmp_path).read(spark, "db.t")), read)


@pytest.mark.parametrize("name", PYTHON)
def test_lakebed_merges_what_pypaimon_wrote_as_pypaimon_does(
    spark: Any, referees: Referees, tmp_path: Path, name: str
) -> None:
    case = PYTHON[name]
    said = {k: v for k, v in options(case).items() if k != "rowkind.field"}
    referees.create(tmp_path, "db.t", fields(case), primary_keys=["k"], options=said)
    for records in history(case, f"pypaimon {name}")[:FILES]:
        referees.append(tmp_path, "db.t", rows(records, case))
    same(case, spark_rows(lakebed.open(tmp_path).read(spark, "db.t")), referees.rows("pypaimon", tmp_path, "db.t"))


def test_every_difference_is_a_function_that_is_tested() -> None:
    for differing in DIFFERENCES.values():
        assert differing.keys() <= set(ADDED)
        assert all(function_of(case) for case in differing)
