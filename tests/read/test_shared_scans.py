"""Files of several schema versions share a scan where names allow it, and give what a scan for each of them gives."""

from __future__ import annotations

import json
import operator
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lakebed
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField, DataType, Double, Float, Row, VarChar
from lakebed.read.shared_layout import Layout
from lakebed.read.stored_layout import layout
from lakebed.spark import file_rows
from read.foreign_files import put_rows
from read.test_plans import executed
from runtime.spark_settings import as_for_users

# --- by names alone ---------------------------------------------------------------------------------------------------

_FIELDS = st.builds(
    DataField,
    st.integers(0, 4),
    st.sampled_from(["a", "A", "b", "c"]),
    st.sampled_from([parse("INT"), parse("BIGINT"), parse("STRING")]),
)
_VERSIONS = st.lists(
    st.lists(_FIELDS, min_size=1, unique_by=(lambda f: f.id, lambda f: f.name)), min_size=2, max_size=5
)


@given(_VERSIONS, st.sets(st.integers(0, 4)))
def test_what_a_shared_scan_asks_for_means_the_same_in_each_file(
    versions: list[list[DataField]], wanted: set[int]
) -> None:
    asked = [DataField(i, "x", parse("BIGINT")) for i in sorted(wanted)]
    layouts = [Layout.of(layout(written, asked), written) for written in versions]
    shared, members = layouts[0], versions[:1]
    for one, written in zip(layouts[1:], versions[1:], strict=True):
        both = shared.shared(one)
        if both is not None:
            shared, members = both, [*members, written]
    assert {f.id for f in shared.stored} == {f.id for written in members for f in written} & wanted
    for written in members:
        held = {f.id: f for f in written}
        for column in shared.stored:
            by_name = [f for f in written if f.name.casefold() == column.name.casefold()]
            exactly = [f.id for f in by_name if f.name == column.name]
            assert exactly == [column.id] * (column.id in held)
            assert held.get(column.id, column).type == column.type
            assert by_name == [f for f in by_name if f.id == column.id] or shared.stored == layout(written, asked)


# --- by random histories ----------------------------------------------------------------------------------------------

#: The types of columns and what each of them may become; to a text it is a cast that no reader does itself.
_WIDER = {
    "TINYINT": ("SMALLINT", "BIGINT", "DOUBLE"),
    "SMALLINT": ("INT", "STRING"),
    "INT": ("BIGINT", "DOUBLE", "STRING"),
    "BIGINT": ("STRING",),
    "FLOAT": ("DOUBLE",),
    "VARCHAR(5)": ("STRING",),
}
_BOUNDS = {"TINYINT": 2**7, "SMALLINT": 2**15, "INT": 2**31, "BIGINT": 2**63}


_MEMBERS = {"type": "ROW", "fields": [{"name": "x", "type": "INT"}, {"name": "y", "type": "INT"}]}
_COLUMNS: list[tuple[str, Any]] = [("a", "INT"), ("b", "FLOAT"), ("c", "VARCHAR(5)"), ("d", "TINYINT"), ("s", _MEMBERS)]


@dataclass
class History:
    """A table `db.t` that changes at random, and its rows: values by the ids of columns, members of structs alike."""

    lake: lakebed.Lake
    chance: random.Random
    formats: Sequence[str]
    rows: list[dict[int, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lake.tables.create_table("db", "t", _COLUMNS)
        self.put()
        for _ in range(5):
            self.alter(
                self.chance.choice((self._add, self._drop, self._widen, self._rename, self._swap, self._member))()
            )
            self.put()

    @property
    def fields(self) -> tuple[DataField, ...]:
        return self.lake.tables.get_schema_manager("db", "t").load_latest_schema().fields

    def alter(self, changes: Sequence[dict[str, Any]]) -> None:
        self.lake.tables.alter_table("db", "t", changes)

    def put(self) -> None:
        """A file of rows under the newest version, with a row group for every two."""
        rows = [{f.id: self._value(f.type) for f in self.fields} for _ in range(6)]
        format = self.chance.choice(self.formats)
        options = {"row_group_size": 2} if format == "parquet" else {}
        put_rows(self.lake, "db.t", format, [_named(row, self.fields) for row in rows], **options)
        self.rows += rows

    def _value(self, type_: DataType) -> Any:
        if self.chance.random() < 0.2:
            return None
        if isinstance(type_, Row):
            return {f.id: self._value(f.type) for f in type_.fields}
        kind = str(type_)
        if kind in _BOUNDS:
            return self.chance.choice([-_BOUNDS[kind], _BOUNDS[kind] - 1, 0, 1, 5])
        return self.chance.choice([-0.5, 0.0, 1.5] if kind in ("FLOAT", "DOUBLE") else ["", "a", "1"])

    def _any(self) -> DataField:
        return self.chance.choice([f for f in self.fields if not isinstance(f.type, Row)])

    def _free_name(self) -> str:
        """A name that no column has now; that of one that is gone, mostly, or another way to write it."""
        taken = {f.name.casefold() for f in self.fields}
        return self.chance.choice(
            [n for n in ("a", "A", "b", "c", "C", "d", "e", "f", "g") if n.casefold() not in taken]
        )

    def _add(self) -> list[dict[str, Any]]:
        return [{"action": "addColumn", "fieldNames": [self._free_name()], "dataType": self.chance.choice([*_WIDER])}]

    def _drop(self) -> list[dict[str, Any]]:
        dropped = [{"action": "dropColumn", "fieldNames": [self._any().name]}]
        return dropped if len(self.fields) > 3 else self._add()

    def _widen(self) -> list[dict[str, Any]]:
        column = self._any()
        wider = _WIDER.get(str(column.type))
        if wider is None:
            return self._add()
        return [{"action": "updateColumnType", "fieldNames": [column.name], "newDataType": self.chance.choice(wider)}]

    def _rename(self) -> list[dict[str, Any]]:
        return [{"action": "renameColumn", "fieldNames": [self._any().name], "newName": self._free_name()}]

    def _swap(self) -> list[dict[str, Any]]:
        one, other = self._any().name, self._any().name
        steps = [(one, "tmp"), (other, one), ("tmp", other)] if one != other else [(one, self._free_name())]
        return [{"action": "renameColumn", "fieldNames": [old], "newName": new} for old, new in steps]

    def _member(self) -> list[dict[str, Any]]:
        """A member of the struct is dropped, and another one takes a name, perhaps that of one that was dropped."""
        struct = next(f for f in self.fields if isinstance(f.type, Row))
        gone, *others = self.chance.sample([f.name for f in struct.type.fields], 2)
        new = self.chance.choice([n for n in ("x", "y", "z") if n not in others])
        return [
            {"action": "dropColumn", "fieldNames": [struct.name, gone]},
            {"action": "addColumn", "fieldNames": [struct.name, new], "dataType": "INT"},
        ]

    def queries(self) -> list[Query]:
        """All rows, and some filters with the column that they look at and another one beside it."""
        every = Query("true", lambda row: True, [f.name for f in self.fields])
        return [every, *self.chance.sample([q for column in self.fields for q in self._of_column(column)], 7)]

    def _of_column(self, column: DataField) -> Iterator[Query]:
        name, beside = column.name, self.chance.choice(self.fields).name
        yield Query(f"`{name}` is null", lambda row: row[name] is None, [beside])
        if isinstance(column.type, Row):
            for member in column.type.fields:
                yield Query(f"`{name}` is not null", lambda row: row[name] is not None, [f"{name}.{member.name}"])
            return
        for value in ["", "1"] if isinstance(column.type, VarChar) else _NUMBERS:
            sign = self.chance.choice([*_SIGNS])
            yield Query(f"`{name}` {sign} {value!r}", _compared(name, _SIGNS[sign], value), [name, beside])


_NUMBERS = [0, 127, 32768, -(2**31), 2**31, 2**40]
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {"=": operator.eq, "<": operator.lt, ">": operator.gt}


def _compared(name: str, holds: Callable[[Any, Any], bool], value: Any) -> Callable[[dict[str, Any]], bool]:
    return lambda row: row[name] is not None and holds(row[name], value)


@dataclass(frozen=True)
class Query:
    """A filter as SQL and of a row, and the columns that are wanted; members of structs by their paths."""

    where: str
    holds: Callable[[dict[str, Any]], bool]
    columns: Sequence[str]

    def of(self, frame: DataFrame, number: int) -> DataFrame:
        row = F.struct(*(F.col(c).alias(f"c{i}") for i, c in enumerate(self.columns)))
        return frame.where(self.where).select(F.lit(number).alias("number"), F.to_json(row, _NULLS).alias("row"))

    def of_rows(self, rows: Sequence[dict[str, Any]]) -> list[str]:
        picked = [[_at(row, c.split(".")) for c in self.columns] for row in rows if self.holds(row)]
        return sorted(json.dumps({f"c{i}": v for i, v in enumerate(values)}) for values in picked)


_NULLS = {"ignoreNullFields": "false"}


def _at(value: Any, path: Sequence[str]) -> Any:
    return reduce(lambda inner, name: None if inner is None else inner[name], path, value)


def _named(row: dict[int, Any] | None, fields: Sequence[DataField], *, convert: bool = False) -> Any:
    """A row, or a struct, by the names of a version; with `convert`, as values of its types."""
    if row is None:
        return None
    return {f.name: _typed(row.get(f.id), f.type, convert) for f in fields}


def _typed(value: Any, type_: DataType, convert: bool) -> Any:
    if isinstance(type_, Row):
        return _named(value, type_.fields, convert=convert)
    if not convert or value is None:
        return value
    return float(value) if isinstance(type_, (Float, Double)) else str(value) if isinstance(type_, VarChar) else value


def _answers(frame: DataFrame, queries: Sequence[Query]) -> list[list[str]]:
    """The rows of each query, all by one job."""
    found: list[list[str]] = [[] for _ in queries]
    for number, row in reduce(DataFrame.union, (q.of(frame, i) for i, q in enumerate(queries))).collect():
        found[number].append(json.dumps(json.loads(row)))
    return [sorted(rows) for rows in found]


@pytest.mark.parametrize(
    ("seed", "formats", "in_batches"),
    [(1, ["parquet"], True), (2, ["parquet", "orc"], True), (3, ["parquet"], False), (4, ["parquet", "orc"], False)],
)
def test_a_history_reads_as_by_a_scan_for_each_version(
    spark: SparkSession,
    lake: lakebed.Lake,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    formats: Sequence[str],
    in_batches: bool,
) -> None:
    history = History(lake, random.Random(seed), formats)
    queries = history.queries()
    with as_for_users(spark) if in_batches else nullcontext():
        shared = lake.read(spark, "db.t")
        found = _answers(shared, queries)
    monkeypatch.setattr(file_rows, "widens", lambda stored, wanted: False)
    monkeypatch.setattr(file_rows, "_scans", lambda files, forms, **_: {form: form for form in forms})
    alone = lake.read(spark, "db.t")
    assert executed(shared).count("FileScan") < executed(alone).count("FileScan")
    rows = [_named(row, history.fields, convert=True) for row in history.rows]
    wanted = [(query.where, query.of_rows(rows)) for query in queries]
    assert list(zip((q.where for q in queries), found, strict=True)) == wanted
    assert _answers(alone, queries[:1]) == found[:1]


# --- how many scans ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("format", "scans"), [("parquet", 1), ("orc", 2)])
def test_added_dropped_and_widened_columns_need_no_scan_of_their_own(
    spark: SparkSession, lake: lakebed.Lake, format: str, scans: int
) -> None:
    """ORC files have one for each type."""
    lake.tables.create_table("db", "t", [("k", "INT"), ("a", "STRING"), ("b", "FLOAT")])
    put_rows(lake, "db.t", format, [{"k": 1, "a": "x", "b": 0.5}])
    added = {"action": "addColumn", "fieldNames": ["c"], "dataType": "INT"}
    dropped = {"action": "dropColumn", "fieldNames": ["a"]}
    for changes in ([added], [dropped]):
        lake.tables.alter_table("db", "t", changes)
        put_rows(lake, "db.t", format, [{"k": 2, "b": 1.5, "c": 3}])
    assert executed(lake.read(spark, "db.t")).count("FileScan") == 1
    wider = [("k", "BIGINT"), ("b", "DOUBLE")]
    lake.tables.alter_table(
        "db", "t", [{"action": "updateColumnType", "fieldNames": [c], "newDataType": to} for c, to in wider]
    )
    put_rows(lake, "db.t", format, [{"k": 2**40, "b": 2.5}])
    plan = executed(lake.read(spark, "db.t").where("k > 1"))
    assert plan.count("FileScan") == plan.count("PushedFilters: [IsNotNull(k), GreaterThan(k,1)]") == scans


@pytest.mark.parametrize(
    "changes",
    [
        [{"action": "renameColumn", "fieldNames": ["a"], "newName": "z"}],
        [{"action": "renameColumn", "fieldNames": ["a"], "newName": "A"}],
        [{"action": "updateColumnType", "fieldNames": ["a"], "newDataType": "STRING"}],
        [{"action": "addColumn", "fieldNames": ["s", "z"], "dataType": "INT"}],
        [
            {"action": "dropColumn", "fieldNames": ["a"]},
            {"action": "addColumn", "fieldNames": ["a"], "dataType": "INT"},
        ],
    ],
)
def test_what_names_or_types_do_not_tell_needs_a_scan_of_its_own(
    spark: SparkSession, lake: lakebed.Lake, changes: list[dict[str, Any]]
) -> None:
    lake.tables.create_table("db", "t", [("a", "INT"), ("s", _MEMBERS)])
    put_rows(lake, "db.t", "parquet", [{}])
    lake.tables.alter_table("db", "t", changes)
    put_rows(lake, "db.t", "parquet", [{}])
    assert executed(lake.read(spark, "db.t")).count("FileScan") == 2
