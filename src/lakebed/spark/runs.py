"""Runs of ingest, as the snapshots of a table remember them: who they were, what they read, what came of it.

A run commits to the quarantine first and then to the table, both as user `lakebed-<run id>` and with the same
properties. The quarantine's snapshot also says how many good rows there were: where there were some and the table has
no snapshot of the run, it was interrupted in between. Only snapshots that have not expired are remembered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from lakebed.catalog.names import TableName
from lakebed.model import canonical_json
from lakebed.spark.source_files import SourceFile
from lakebed.table.commit import TableStorage
from lakebed.table.snapshot import Snapshot

RUN_ID = "lakebed.run-id"
ATTEMPT = "lakebed.attempt"
SOURCES = "lakebed.sources"
ROWS_READ = "lakebed.rows-read"
ROWS_WRITTEN = "lakebed.rows-written"
ROWS_QUARANTINED = "lakebed.rows-quarantined"
SCHEMA_ID = "lakebed.schema-id"
QUARANTINE_SNAPSHOT = "lakebed.quarantine-snapshot"


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What a run did. Snapshots are None where there was nothing to commit.

    `skipped_files` were ingested by earlier runs.
    """

    table: str
    run_id: str
    schema_id: int
    rows_read: int
    rows_written: int
    rows_quarantined: int
    snapshot_id: int | None
    quarantine_snapshot_id: int | None
    skipped_files: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The object of `--json`."""
        return {
            "table": self.table,
            "run_id": self.run_id,
            "schema_id": self.schema_id,
            "rows_read": self.rows_read,
            "rows_written": self.rows_written,
            "rows_quarantined": self.rows_quarantined,
            "snapshot_id": self.snapshot_id,
            "quarantine_snapshot_id": self.quarantine_snapshot_id,
            "skipped_files": list(self.skipped_files),
        }


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Rows of a run: good and bad ones together are the ones read."""

    good: int
    bad: int

    @property
    def read(self) -> int:
        return self.good + self.bad


@dataclass(slots=True)
class RunMemory:
    """What the snapshots of a table and of its quarantine (None where there is none yet) say of runs."""

    name: TableName
    table: TableStorage
    quarantine: TableStorage | None
    _by_run: dict[str, Snapshot] = field(default_factory=dict)
    _quarantined: dict[str, Snapshot] = field(default_factory=dict)

    def load(self) -> None:
        """Read the snapshots once."""
        self._by_run = _runs(self.table)
        self._quarantined = {} if self.quarantine is None else _runs(self.quarantine)

    def finished(self, run_id: str) -> IngestResult | None:
        """The result of a run that has committed all it had."""
        snapshot = self._by_run.get(run_id)
        quarantined = self._quarantined.get(run_id)
        if snapshot is None:
            if quarantined is None or _number(quarantined, ROWS_WRITTEN) != 0:
                return None
            return self._result(run_id, quarantined.properties or {}, None, quarantined.id)
        properties = snapshot.properties or {}
        bad = properties.get(QUARANTINE_SNAPSHOT)
        return self._result(run_id, properties, snapshot.id, int(bad) if bad else None)

    def interrupted(self, run_id: str) -> Snapshot | None:
        """The quarantine's snapshot of a run that has not committed its good rows."""
        return None if run_id in self._by_run else self._quarantined.get(run_id)

    def ingested(self) -> frozenset[tuple[str, int, str]]:
        """Path, size and digest of every file of a finished run."""
        finished = list(self._by_run.values())
        finished += [s for s in self._quarantined.values() if _number(s, ROWS_WRITTEN) == 0]
        return frozenset(identity for snapshot in finished for identity in _sources(snapshot))

    def _result(
        self, run_id: str, properties: Mapping[str, str], snapshot_id: int | None, quarantine_id: int | None
    ) -> IngestResult:
        return IngestResult(
            table=str(self.name),
            run_id=run_id,
            schema_id=int(properties.get(SCHEMA_ID, "0")),
            rows_read=int(properties.get(ROWS_READ, "0")),
            rows_written=int(properties.get(ROWS_WRITTEN, "0")),
            rows_quarantined=int(properties.get(ROWS_QUARANTINED, "0")),
            snapshot_id=snapshot_id,
            quarantine_snapshot_id=quarantine_id,
        )


def schema_of(snapshot: Snapshot) -> int | None:
    """The schema version that the rows of a run were checked against."""
    return _number(snapshot, SCHEMA_ID)


def bad_rows_of(snapshot: Snapshot) -> int | None:
    """How many rows a run put into quarantine."""
    return _number(snapshot, ROWS_QUARANTINED)


def _number(snapshot: Snapshot, key: str) -> int | None:
    text = (snapshot.properties or {}).get(key, "")
    return int(text) if text.isdigit() else None


def _runs(table: TableStorage) -> dict[str, Snapshot]:
    """The first snapshot of each run, by run id."""
    found: dict[str, Snapshot] = {}
    for snapshot in table.snapshots.newest_first():
        run_id = (snapshot.properties or {}).get(RUN_ID)
        if run_id is not None and snapshot.commit_user == commit_user(run_id):
            found[run_id] = snapshot
    return found


def _sources(snapshot: Snapshot) -> Iterable[tuple[str, int, str]]:
    try:
        listed = json.loads((snapshot.properties or {}).get(SOURCES, "[]"))
        return [(str(s["path"]), int(s["size"]), str(s["sha256"])) for s in listed]
    except (ValueError, TypeError, KeyError):
        # Properties are anybody's to write: what is not ours names no files.
        return []


def commit_user(run_id: str) -> str:
    """The user that a run commits as."""
    return f"lakebed-{run_id}"


def file_run_id(name: TableName, files: Sequence[SourceFile]) -> str:
    """The id of a run over files: the same for the same files into the same table, so that a repeated command finds
    what it has begun.
    """
    listed = [f.to_json() for f in sorted(files, key=lambda f: (f.path, f.size, f.sha256))]
    return hashlib.sha256(canonical_json([str(name), *listed]).encode()).hexdigest()[:32]


def random_run_id() -> str:
    """The id of a run that nobody repeats."""
    return uuid4().hex


def run_properties(
    run_id: str, schema_id: int, files: Iterable[SourceFile], counts: RunCounts, *, attempt: str
) -> dict[str, str]:
    """The properties of both snapshots of a run."""
    properties = {
        RUN_ID: run_id,
        ATTEMPT: attempt,
        SCHEMA_ID: str(schema_id),
        ROWS_READ: str(counts.read),
        ROWS_WRITTEN: str(counts.good),
        ROWS_QUARANTINED: str(counts.bad),
    }
    listed = [f.to_json() for f in files]
    if listed:
        properties[SOURCES] = canonical_json([*listed])
    return properties
