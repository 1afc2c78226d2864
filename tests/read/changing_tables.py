"""Tables with a history: commits of every kind, one after the other, and what each of them changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import lakebed
from format.building import parquet_bytes, table_schema
from lakebed.catalog import schema_file
from lakebed.catalog.table_schema import TableSchema
from lakebed.format import binary_row
from lakebed.format.live_files import data_files, entries_of, live_entries, snapshot_manifests
from lakebed.format.manifest import DataFileMeta, Kind, ManifestEntry
from lakebed.format.manifest_writer import ManifestWriter
from lakebed.format.row_kinds import INSERTS, KINDS
from lakebed.format.snapshot import Snapshot, SnapshotManager
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField, Int, with_nullability
from lakebed.store import LocalStore

#: A row of the columns `k` and `v`, and its kind as files have it.
Row = tuple[int, int, str]
STORE = LocalStore()


@dataclass
class ChangingTable:
    """A table `db.t` of the columns `k` and `v`; with `key` the first one is its primary key.

    `changed` has what the commit of each snapshot changed: kinds, and the columns in the order of the schema.
    """

    warehouse: Path
    key: bool = False
    options: Mapping[str, str] = field(default_factory=dict)
    changed: dict[int, list[tuple[str, int, str]]] = field(default_factory=dict)
    files: int = 0

    def __post_init__(self) -> None:
        given = {"bucket": "1"} if self.key else {}
        columns = [("k", "INT NOT NULL" if self.key else "INT"), ("v", "STRING")]
        keys = ("k",) if self.key else ()
        self.evolve(table_schema(columns, primary_keys=keys, options=given | dict(self.options)))

    @property
    def path(self) -> str:
        return str(self.warehouse / "db.db" / "t")

    @property
    def lake(self) -> lakebed.Lake:
        return lakebed.open(self.warehouse)

    @property
    def snapshots(self) -> SnapshotManager:
        return SnapshotManager(STORE, self.path)

    def evolve(self, schema: TableSchema) -> None:
        """Files and commits from now on are made under this version."""
        self.schema = schema
        STORE.create_if_absent(f"{self.path}/schema/schema-{schema.id}", schema_file.dumps(schema))

    def rename(self, name: str) -> None:
        """Let `v` have another name from now on, and a column be added."""
        k, v, *more = self.schema.fields
        number = self.schema.id + 1
        fields = (k, replace(v, name=name), *more, DataField(self.schema.highest_field_id + 1, f"n{number}", Int()))
        self.evolve(replace(self.schema, id=number, fields=fields, highest_field_id=fields[-1].id))

    def set_option(self, name: str, value: str) -> None:
        self.evolve(replace(self.schema, id=self.schema.id + 1, options={**self.schema.options, name: value}))

    # --- commits ------------------------------------------------------------------------------------------------------

    def append(self, *files: Sequence[Row], log: Sequence[Sequence[Row]] | None = None) -> None:
        """Add files with these rows; `log` are the files of the changelog, which has the same rows by default."""
        logs = log if log is not None else files if self._has_log else ()
        number = self.publish("APPEND", [self._file(rows) for rows in files], [self._file(rows) for rows in logs])
        self.changed[number] = self._told(logs if self._has_log else files)

    def compact(self, *log: Sequence[Row]) -> None:
        """Put all rows into one file of the highest level, which changes none; `log` is what only now is told."""
        live = self._live()
        if live:
            entries = [*(replace(e, kind=Kind.DELETE) for e in live), self._file([(0, 0, "")], level=5)]
            number = self.publish("COMPACT", entries, [self._file(rows) for rows in log] if self._has_log else [])
            self.changed[number] = self._told(log) if self._has_log else []

    def overwrite(self, rows: Sequence[Row]) -> None:
        """Put these rows in place of all that are there; nothing tells what that changed."""
        entries = [*(replace(e, kind=Kind.DELETE) for e in self._live()), self._file(rows)]
        self.changed[self.publish("OVERWRITE", entries)] = []

    def publish(
        self, kind: str, entries: Sequence[ManifestEntry], changelog: Sequence[ManifestEntry] = (), **parts: Any
    ) -> int:
        """A snapshot of a commit of any kind; its number."""
        last = self.snapshots.latest()
        before = [] if last is None else snapshot_manifests(STORE, self.path, last)
        writer = ManifestWriter(STORE, self.path, self.schema)
        base, base_size = writer.write_list(before)
        delta, delta_size = writer.write_list(writer.write(entries))
        log, log_size = writer.write_list(writer.write(changelog)) if changelog else (None, None)
        number = 1 if last is None else last.id + 1
        told = {
            "id": number,
            "schema_id": self.schema.id,
            "base_manifest_list": base,
            "base_manifest_list_size": base_size,
            "delta_manifest_list": delta,
            "delta_manifest_list_size": delta_size,
            "changelog_manifest_list": log,
            "changelog_manifest_list_size": log_size,
            "commit_user": "test",
            "commit_identifier": number,
            "commit_kind": kind,
            "time_millis": number * 1000,
        }
        assert self.snapshots.publish(Snapshot(**told | parts))
        return number

    @property
    def _has_log(self) -> bool:
        return self.key and self.schema.options.get("changelog-producer", "none") != "none"

    def _told(self, files: Sequence[Sequence[Row]]) -> list[tuple[str, int, str]]:
        rows = [row for file in files for row in file]
        if not self.key:
            return [("+I", k, v) for _, k, v in rows]
        ignoring = self.schema.options.get("ignore-delete") == "true" and not self._has_log
        return [(KINDS[kind], k, v) for kind, k, v in rows if kind in INSERTS or not ignoring]

    def _live(self) -> list[ManifestEntry]:
        last = self.snapshots.latest()
        metas = [] if last is None else snapshot_manifests(STORE, self.path, last)
        return live_entries(entries_of(STORE, self.path, metas), ())

    def _file(self, rows: Sequence[Row], *, level: int = 0, bucket: int = 0) -> ManifestEntry:
        """A file with these rows, in its place."""
        self.files += 1
        rows = sorted(rows, key=lambda row: row[1]) if self.key else rows
        names = [f.name for f in self.schema.fields]
        columns: dict[str, pa.Array] = {}
        keys = [k for _, k, _ in rows]
        if self.key:
            columns["_KEY_k"] = pa.array(keys, pa.int32())
            columns["_SEQUENCE_NUMBER"] = pa.array(range(self.files * 100, self.files * 100 + len(rows)), pa.int64())
            columns["_VALUE_KIND"] = pa.array([kind for kind, _, _ in rows], pa.int8())
        columns[names[0]] = pa.array(keys, pa.int32())
        columns[names[1]] = pa.array([v for _, _, v in rows], pa.string())
        columns |= {name: pa.nulls(len(rows), pa.int32()) for name in names[2:]}
        content = parquet_bytes(pa.table(columns))
        key_type = (with_nullability(parse("INT"), True),)
        ends = [binary_row.encode(key_type, [k]) for k in (min(keys), max(keys))] if self.key else [b"", b""]
        meta = DataFileMeta(
            file_name=f"data-{self.files}.parquet",
            file_size=len(content),
            row_count=len(rows),
            schema_id=self.schema.id,
            min_key=ends[0],
            max_key=ends[1],
            min_sequence_number=self.files * 100,
            max_sequence_number=self.files * 100 + len(rows),
            level=level,
            delete_row_count=sum(kind not in INSERTS for kind, _, _ in rows) if self.key else 0,
        )
        entry = ManifestEntry(Kind.ADD, bytes(12) if self.key else binary_row.encode((), []), bucket, 1, meta)
        [placed] = data_files(self.path, self.schema, [entry])
        STORE.create_if_absent(placed.path, content)
        return entry


#: What tables may be: whether they have a key, and their options.
KINDS_OF_TABLES: dict[str, tuple[bool, dict[str, str]]] = {
    "appended": (False, {}),
    "appended with a producer": (False, {"changelog-producer": "input"}),
    "keyed": (True, {}),
    "ignoring deletes": (True, {"ignore-delete": "true"}),
    "logged": (True, {"changelog-producer": "input"}),
    "merged and logged": (True, {"changelog-producer": "lookup", "merge-engine": "partial-update"}),
    "first rows and logged": (True, {"changelog-producer": "lookup", "merge-engine": "first-row"}),
}
_ROWS = st.lists(
    st.tuples(st.sampled_from([0, 1, 2, 3]), st.integers(0, 9), st.text("abc", max_size=2)), min_size=1, max_size=3
)
_STEPS = st.one_of(
    st.tuples(st.just("append"), st.lists(_ROWS, min_size=1, max_size=3)),
    st.tuples(st.just("compact"), st.lists(_ROWS, max_size=1)),
    st.tuples(st.just("overwrite"), st.lists(_ROWS, min_size=1, max_size=1)),
    st.tuples(st.just("rename"), st.just([])),
)
HISTORIES = st.lists(_STEPS, min_size=1, max_size=6)


def made(kind: str, steps: Sequence[tuple[str, Sequence[Sequence[Row]]]], warehouse: Path) -> ChangingTable:
    """The table of a kind after these steps, of which the first is a commit of one row."""
    key, options = KINDS_OF_TABLES[kind]
    table = ChangingTable(warehouse, key, options)
    table.append([(0, 1, "first")])
    for number, (step, files) in enumerate(steps):
        match step:
            case "append":
                table.append(*files)
            case "compact":
                table.compact(*files)
            case "overwrite":
                table.overwrite(files[0])
            case _:
                table.rename(f"v{number}")
    return table


#: A history with all that the others have, for tests that take one alone.
LONG = (
    ("append", [[(0, 1, "a"), (0, 2, "b")], [(2, 3, "c")]]),
    ("compact", [[(3, 2, "b")]]),
    ("rename", []),
    ("append", [[(3, 1, "a"), (1, 2, "b"), (2, 4, "b2")]]),
    ("overwrite", [[(0, 9, "z")]]),
    ("append", [[(0, 5, "e")]]),
)
