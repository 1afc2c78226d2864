"""The stories of a table with a primary key and of one with buckets: in each stage the files are of another format.

The columns are the samples (`samples.py`), all optional, four of which are widened, and a few more that are renamed,
added and dropped. Files of Avro, ORC and Parquet, each of a schema version of its own, are merged in one bucket then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import lakebed
from interop.agreement import declare
from interop.declared import Field, Type, decimal, field, manifest, option, renamed, timestamp
from interop.samples import SAMPLES as ALL_SAMPLES
from interop.samples import Sample
from lakebed.table import Table

FORMATS: Mapping[str, tuple[str, str, str]] = {
    "keyed": ("avro", "orc", "parquet"),
    "bucketed": ("orc", "parquet", "avro"),
}
#: Java writers have no ORC type for BINARY(n): Lakebed refuses it there.
SAMPLES = tuple(sample for sample in ALL_SAMPLES if "BINARY(" not in sample.paimon)
STAGES = ("create", "widen", "grow")
FULL_ROWS = max(len(sample.values) for sample in SAMPLES)
#: What a table's rows are by their ids, in the encoding of the referees.
Rows = dict[int, dict[str, Any]]
_NOT_IN_ORC = re.compile(r"^(1[59]\d\d|9999)-(?=.*\.\d*[1-9])")
_MOMENTS = {sample.name for sample in SAMPLES if sample.paimon.startswith("TIMESTAMP")}
_PARTS = ("a/b", "größe", "c d")


@dataclass(frozen=True)
class _Widening:
    type: Type
    hint: str | None
    #: What a stored value is then.
    read: Callable[[Any], Any] = lambda value: value


_WIDENED = {
    "i32": _Widening("Int64", None),
    "f32": _Widening("Float64", None, {0.1: 0.10000000149011612, 3.4028235e38: 3.4028234663852886e38}.get),
    "d9": _Widening(decimal(18, 4), None, lambda value: f"{value}00"),
    "naive3": _Widening(timestamp("Microsecond"), "TIMESTAMP(6)"),
}


@dataclass
class Told:
    """A table after a stage: a copy of its warehouse, and the rows that it has to have."""

    warehouse: Path
    rows: Rows
    columns: Sequence[str]

    def encoded(self, columns: Sequence[str] | None = None) -> list[list[Any]]:
        """The rows with these columns, or all of them."""
        return [[row.get(name) for name in columns or self.columns] for row in self.rows.values()]


def columns_of(stage: str) -> list[Field]:
    """What the manifest declares."""
    number = STAGES.index(stage)
    found = [field("id", "Int32"), field("p", "String")]
    mark: Type = option("Int32")
    found += [field("mark", mark)] if number == 0 else [renamed("note", mark, "mark")]
    if number < 2:
        found.append(field("gone", option("String")))
    for sample in SAMPLES:
        widened = _WIDENED.get(sample.name) if number else None
        found.append(sample.fields(widened=widened and (widened.type, widened.hint))[1])
    if number == 2:
        found.append(field("day", option("Date")))
    return found


def text_of(table: str, stage: str) -> str:
    """The manifest of a table in a stage."""
    options = {"bucket": "2", "file.format": FORMATS[table][STAGES.index(stage)]}
    keyed = table == "keyed"
    return manifest(
        columns_of(stage),
        name=f"db.{table}",
        primary_keys=["p", "id"] if keyed else (),
        partition_keys=["p"],
        options=options if keyed else options | {"bucket-key": "id"},
    )


def _samples_in(format_: str) -> tuple[Sample, ...]:
    """The samples with values that the format can hold.

    ORC has no fraction of a second before 1970, and pypaimon reads its moments as nanoseconds, which end in 2262.
    """
    if format_ != "orc":
        return SAMPLES
    found = []
    for sample in SAMPLES:
        others = (tuple(_NOT_IN_ORC.sub("2024-", text) for text in pair) for pair in sample.values)
        found.append(replace(sample, values=tuple(others)) if sample.name in _MOMENTS else sample)
    return tuple(found)


def first_rows(format_: str) -> list[dict[str, Any]]:
    """Rows as JSON says them: one for each value of every sample, and one of NULLs."""
    samples = _samples_in(format_)
    rows: list[dict[str, Any]] = []
    for number in range(FULL_ROWS + 1):
        row: dict[str, Any] = {"id": number, "p": _PARTS[number % 3]}
        if number < FULL_ROWS:
            row |= {"mark": number, "gone": f"gone {number}"}
            row |= {f"{sample.name}_o": sample.said(number) for sample in samples}
        rows.append(row)
    return rows


def first_read(format_: str) -> Rows:
    """What is read of them."""
    found = {row["id"]: dict(row) for row in first_rows(format_)}
    for number in range(FULL_ROWS):
        found[number] |= {f"{sample.name}_o": sample.read(number) for sample in _samples_in(format_)}
    return found


def widen(rows: Rows) -> Rows:
    """What the rows are under the second schema."""
    found = {}
    for number, row in rows.items():
        new = {("note" if name == "mark" else name): value for name, value in row.items()}
        for name, widening in _WIDENED.items():
            if (value := row.get(f"{name}_o")) is not None:
                changed = widening.read(value)
                new[f"{name}_o"] = value if changed is None else changed
        found[number] = new
    return found


def forget(rows: Rows) -> Rows:
    """What the rows are under the third schema."""
    return {number: {name: value for name, value in row.items() if name != "gone"} for number, row in rows.items()}


def tell(spark: SparkSession, lake: lakebed.Lake, name: str, stage: str, rows: Rows) -> Rows:
    """Brings a table to a stage; gives the rows that it has then."""
    declare(lake, text_of(name, stage))
    table = lake.table(f"db.{name}")
    match stage:
        case "create":
            source = Path(lake.warehouse).parent / "first.json"
            said = first_rows(FORMATS[name][0])
            source.write_text("".join(f"{json.dumps(row)}\n" for row in said), encoding="utf-8")
            result = lake.ingest(spark, f"db.{name}", source)
            assert (result.rows_written, result.rows_quarantined) == (FULL_ROWS + 1, 0)
            return first_read(FORMATS[name][0])
        case "widen":
            return _change(spark, table, widen(rows))
        case _:
            return _grow(spark, table, forget(rows))


def _frame(spark: SparkSession, rows: Sequence[tuple[Any, ...]], columns: str) -> Any:
    return spark.createDataFrame(rows, columns).coalesce(1)


def _change(spark: SparkSession, table: Table, rows: Rows) -> Rows:
    big = 2**40
    new = [(10, _PARTS[0], 10, big, 0.1), (11, _PARTS[1], None, -big, None)]
    shape = "id int, p string, note int, i32_o bigint, f32_o double"
    names = ("id", "p", "note", "i32_o", "f32_o")
    if table.schema().primary_keys:
        # An old row gets new values, NULLs among them; another one goes.
        new += [(1, _PARTS[1], 100, big + 1, None), (2, _PARTS[2], None, None, None)]
        kinds = ("+I", "+I", "+U", "-D")
        values = [(*row, kind) for row, kind in zip(new, kinds, strict=True)]
        table.upsert(_frame(spark, values, f"{shape}, kind string"), row_kinds="kind")
    else:
        table.append(_frame(spark, new, shape))
        # Rows of a file of the older schema and the other format go.
        assert table.delete(spark, where="id = 2 OR i32_o = 2147483647 AND id < 2").rows_deleted == 2
        del rows[1]
    rows |= {row[0]: dict(zip(names, row, strict=True)) for row in new}
    return {number: row for number, row in rows.items() if number != 2}


def _grow(spark: SparkSession, table: Table, rows: Rows) -> Rows:
    day = "2024-02-29"
    frame = _frame(spark, [(20, _PARTS[0], day), (21, _PARTS[2], None)], "id int, p string, day string")
    frame = frame.selectExpr("id", "p", "cast(day as date) AS day")
    (table.upsert if table.schema().primary_keys else table.append)(frame)
    rows |= {20: {"id": 20, "p": _PARTS[0], "day": day}, 21: {"id": 21, "p": _PARTS[2]}}
    if table.schema().primary_keys:
        new = {"note": "coalesce(note, 0) + 1000", "day": f"DATE'{day}'"}
        assert table.update(spark, where="id IN (0, 10)", set=new).rows_updated == 2
        for number in (0, 10):
            rows[number] |= {"note": (rows[number]["note"] or 0) + 1000, "day": day}
    return rows
