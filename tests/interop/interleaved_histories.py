"""Tell histories in which Lakebed and other writers change one table in turn, beside the rows that it then has.

After each step that makes a snapshot it is remembered with the columns and the rows that a plain model has for it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lakebed import Lake
from lakebed.evolve.schema_changes import AddColumn, RenameColumn
from lakebed.physical import parse
from lakebed.table import Table
from referees.client import Reader, Referees
from referees.java import JavaReferee

#: A row by the names that its columns had at first.
Row = dict[str, Any]
_SQL = {"k": "int", "p": "string", "v": "int", "s": "string"}
_KINDS = {"k": "INT NOT NULL", "p": "STRING NOT NULL", "v": "INT", "s": "STRING"}
PARTITIONS = ("a", "b")


@dataclass(frozen=True)
class Remembered:
    """What a snapshot has to hold, or the table as it is."""

    snapshot: int | None
    step: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass
class History:
    """A table that is written in turn. `names` are those that its columns have now."""

    lake: Lake
    table: str
    keyed: bool
    chance: random.Random
    spark: SparkSession
    referees: Referees
    java: JavaReferee
    engine: str = "deduplicate"
    rows: list[Row] = field(default_factory=list)
    #: Of a first-row table: those at level 0, which nobody sees.
    waiting: list[Row] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=lambda: {name: name for name in _KINDS})
    told: list[Remembered] = field(default_factory=list)

    @property
    def handle(self) -> Table:
        return self.lake.table(f"db.{self.table}")

    def create(self, options: Mapping[str, str]) -> None:
        columns = [f"{name} {kind}" for name, kind in _KINDS.items()]
        keys = ["p", "k"] if self.keyed else []
        self.lake.tables.create_table(
            "db", self.table, columns, primary_keys=keys, partition_keys=["p"], options=options
        )

    def tell(self, steps: Sequence[str]) -> None:
        for step in steps:
            STEPS[step](self)
            snapshot = self.handle.snapshots.latest()
            assert snapshot is not None
            if not self.told or snapshot.id != self.told[-1].snapshot:
                self.told.append(self.now(snapshot.id, step))

    def now(self, snapshot: int | None, step: str) -> Remembered:
        return Remembered(snapshot, step, tuple(self.names.values()), tuple(map(tuple, self.values(self.rows))))

    # --- what the rows are -----------------------------------------------------------------------------------------

    def some_rows(self, partitions: Sequence[str] = PARTITIONS) -> list[Row]:
        """Rows with few keys, each key once."""
        chance, found = self.chance, {}
        for _ in range(chance.randrange(2, 7)):
            row = {name: chance.choice([None, 1, 2, 3]) for name in self.names}
            row |= {"k": chance.randrange(8), "p": chance.choice(partitions), "s": chance.choice([None, "", "x", "é"])}
            found[row["k"], row["p"]] = row
        return list(found.values())

    def put(self, rows: Sequence[Row]) -> None:
        if not self.keyed:
            self.rows += (dict(row) for row in rows)
            return
        if self.engine == "first-row":
            rows = [*self.settle({row["p"] for row in rows}), *rows]
        by_key = {(row["k"], row["p"]): row for row in self.rows}
        for row in rows:
            key = row["k"], row["p"]
            by_key[key] = self.merged(by_key[key], row) if key in by_key else dict(row)
        self.rows = list(by_key.values())

    def merged(self, old: Row, new: Row) -> Row:
        """What the merge engine makes of two rows of a key."""
        match self.engine:
            case "first-row":
                return old
            case "partial-update" | "aggregation":
                row = old | {name: value for name, value in new.items() if value is not None}
                if self.engine == "aggregation" and (old["v"], new["v"]) != (None, None):
                    row["v"] = (old["v"] or 0) + (new["v"] or 0)
                return row
        return dict(new)

    def settle(self, partitions: Collection[str]) -> list[Row]:
        """The rows of partitions, of a bucket each, that nobody has seen yet, and that are seen from now on."""
        seen = [row for row in self.waiting if row["p"] in partitions]
        self.waiting = [row for row in self.waiting if row["p"] not in partitions]
        return seen

    def put_aside(self, rows: Sequence[Row]) -> None:
        """Rows of a writer that leaves compaction to others."""
        if self.engine == "first-row":
            self.waiting += map(dict, rows)
        else:
            self.put(rows)

    def replace(self, rows: Sequence[Row]) -> None:
        """The partitions of the rows have these only."""
        replaced = {row["p"] for row in rows}
        self.settle(replaced)
        self.rows = [row for row in self.rows if row["p"] not in replaced] + [dict(row) for row in rows]

    def filter(self) -> tuple[str, Callable[[Row], bool]]:
        """A filter as SQL and as Python."""
        v, s, key = self.names["v"], self.names["s"], self.chance.randrange(8)
        choices: list[tuple[str, Callable[[Row], bool]]] = [
            (f"k = {key}", lambda row: row["k"] == key),
            (f"p = 'a' AND {v} >= 2", lambda row: row["p"] == "a" and (row["v"] or 0) >= 2),
            (f"{v} IS NULL OR {s} = 'x'", lambda row: row["v"] is None or row["s"] == "x"),
            (f"k > {key} AND {v} <> 1", lambda row: row["k"] > key and row["v"] not in (None, 1)),
        ]
        return self.chance.choice(choices)

    def frame(self, rows: Sequence[Row], columns: Sequence[str] | None = None) -> DataFrame:
        """Rows as a DataFrame, by the names that columns have now."""
        chosen = list(columns or self.names)
        shape = ", ".join(f"`{self.names[name]}` {_SQL.get(name, 'int')}" for name in chosen)
        return self.spark.createDataFrame([tuple(row.get(c) for c in chosen) for row in rows], shape).coalesce(1)

    def values(self, rows: Sequence[Row]) -> list[list[Any]]:
        return [[row.get(name) for name in self.names] for row in rows]


# --- steps of Lakebed -------------------------------------------------------------------------------------------------


def _put(history: History) -> None:
    rows = history.some_rows()
    (history.handle.upsert if history.keyed else history.handle.append)(history.frame(rows))
    history.put(rows)


def _delete(history: History) -> None:
    where, goes = history.filter()
    found = history.handle.delete(history.spark, where=where).rows_deleted
    kept = [row for row in history.rows if not goes(row)]
    assert found == len(history.rows) - len(kept)
    history.rows = kept


def _update(history: History) -> None:
    (where, changes), v = history.filter(), history.names["v"]
    found = history.handle.update(history.spark, where=where, set={v: f"coalesce({v}, 0) + k"}).rows_updated
    hit = [row for row in history.rows if changes(row)]
    assert found == len(hit)
    for row in hit:
        row["v"] = (row["v"] or 0) + row["k"]


def _merge(history: History) -> None:
    rows, v = history.some_rows(), history.names["v"]
    source = history.frame(rows, ("k", "p", "v")).withColumnRenamed(v, "new")
    merge = history.handle.merge(history.spark, source, on="t.k = s.k AND t.p = s.p")
    merge = merge.when_matched_delete(condition="s.new = 3").when_matched_update(set={v: "s.new"})
    merge.when_not_matched_insert(values={"k": "s.k", "p": "s.p", v: "s.new"}).execute()
    by_key = {(row["k"], row["p"]): row for row in rows}
    matched = {(row["k"], row["p"]) for row in history.rows}
    kept = []
    for row in history.rows:
        if (new := by_key.get((row["k"], row["p"]))) is not None:
            if new["v"] == 3:
                continue
            row["v"] = new["v"]
        kept.append(row)
    added = [{name: row[name] for name in ("k", "p", "v")} for key, row in by_key.items() if key not in matched]
    history.rows = kept + [dict.fromkeys(history.names) | row for row in added]


def _overwrite(history: History) -> None:
    rows = history.some_rows(history.chance.choice([PARTITIONS, PARTITIONS[:1]]))
    history.handle.overwrite(history.frame(rows))
    history.replace(rows)


def _add(history: History) -> None:
    name = f"n{len(history.names)}"
    history.lake.tables.alter_table("db", history.table, [AddColumn((name,), parse("INT"))])
    history.names[name] = name


def _rename(history: History) -> None:
    old = history.names["v"]
    history.names["v"] = f"{old}_"
    history.lake.tables.alter_table("db", history.table, [RenameColumn((old,), f"{old}_")])


# --- steps of others --------------------------------------------------------------------------------------------------


def _their_put(writer: Reader) -> Callable[[History], None]:
    def step(history: History) -> None:
        rows = history.some_rows()
        history.referees.append(history.lake.warehouse, f"db.{history.table}", history.values(rows), writer=writer)
        history.put_aside(rows)

    return step


def _pypaimon_overwrites(history: History) -> None:
    part = history.chance.choice(PARTITIONS)
    rows = history.some_rows([part])
    history.referees.append(history.lake.warehouse, f"db.{history.table}", history.values(rows), overwrite={"p": part})
    history.replace(rows)
    if history.engine == "first-row":
        history.rows = [row for row in history.rows if row["p"] != part]
        history.waiting += rows


def _java_writes(history: History, rows: Sequence[Row], kind: str = "+I", **parts: Any) -> None:
    written = [(kind, values) for values in history.values(rows)]
    history.java.write(history.lake.warehouse, f"db.{history.table}", written, **parts)


def _java_puts(history: History) -> None:
    rows = history.some_rows()
    _java_writes(history, rows)
    history.put(rows)


def _java_deletes(history: History) -> None:
    rows = history.some_rows()
    _java_writes(history, rows, "-D")
    keys = {(row["k"], row["p"]) for row in rows}
    history.rows = [row for row in history.rows if (row["k"], row["p"]) not in keys]


def _java_overwrites(history: History) -> None:
    part = history.chance.choice(PARTITIONS)
    rows = history.some_rows([part])
    _java_writes(history, rows, overwrite={"p": part})
    history.replace(rows)


def _java_compacts(history: History) -> None:
    """In both partitions the buckets of two keys."""
    rows = [dict.fromkeys(history.names) | {"k": k, "p": p} for k in (0, 1) for p in PARTITIONS]
    _java_writes(history, (), compact=history.values(rows))


def _compact(history: History) -> None:
    history.handle.compact(history.spark, full=True)
    history.put(history.settle(PARTITIONS))


STEPS: Mapping[str, Callable[[History], None]] = {
    "put": _put,
    "delete": _delete,
    "update": _update,
    "merge": _merge,
    "overwrite": _overwrite,
    "compact": _compact,
    "add a column": _add,
    "rename a column": _rename,
    "pypaimon puts": _their_put("pypaimon"),
    "rust puts": _their_put("rust"),
    "pypaimon overwrites": _pypaimon_overwrites,
    "java puts": _java_puts,
    "java deletes": _java_deletes,
    "java overwrites": _java_overwrites,
    "java compacts": _java_compacts,
}
