"""Record runs of ingest in the properties of snapshots, and read them back.

A run commits to the quarantine first and then to the table, both as user `lakebed-<run id>` and with the same
properties; a batch of a stream as `lakebed-<query id>`, with its number as the commit identifier. The quarantine's
snapshot also says how many good rows there were: where there were some and the table has no snapshot of the run, it was
interrupted in between. Only snapshots that have not expired are remembered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import uuid4

from lakebed.catalog.names import TableName
from lakebed.diagnostics import Diagnostic
from lakebed.format import commit_origin
from lakebed.ingest.nulled_values import NulledValues, nulled_text, parse_nulled
from lakebed.ingest.sources.source_files import SourceFile
from lakebed.ingest.sources.source_listing import LeftOut
from lakebed.model import JsonValue, canonical_json
from lakebed.readable import Readable
from lakebed.write.write_result import ATTEMPT

RUN_ID = commit_origin.RUN_ID
SOURCES = "lakebed.sources"
ROWS_READ = "lakebed.rows-read"
ROWS_WRITTEN = "lakebed.rows-written"
ROWS_QUARANTINED = "lakebed.rows-quarantined"
#: How many values were bad and became NULL, by column and code.
NULLED = "lakebed.values-nulled"
SCHEMA_ID = "lakebed.schema-id"
QUARANTINE_SNAPSHOT = "lakebed.quarantine-snapshot"
ADOPTED = "lakebed.adopted-runs"
AGAIN = "lakebed.again"
READ_AS = "lakebed.read-as"
#: How the source was told to be read.
SETTINGS = "lakebed.read-settings"
#: How many bad rows a replay has mended; only snapshots of replays say it.
ROWS_REPLAYED = commit_origin.ROWS_REPLAYED
#: The claims of other replays on the same rows, which have not come to an end and must not any more.
CLAIMS_OVER = "lakebed.claims-over"
#: The name of the stream, and of its batch the query, the number, the digest of its offsets, and when it was planned.
STREAM = "lakebed.stream"
QUERY_ID = "lakebed.query-id"
BATCH = "lakebed.batch"
OFFSETS = "lakebed.batch-offsets"
PLANNED = "lakebed.batch-planned"


@dataclass(frozen=True, slots=True)
class MergedColumn:
    """A column that a merge has added (`before` is None) or widened, and its types in words."""

    column: str
    before: str | None
    after: str

    def __str__(self) -> str:
        if self.before is None:
            return f"added column {self.column}: {self.after}"
        return f"widened column {self.column} from {self.before} to {self.after}"

    def to_json(self) -> dict[str, JsonValue]:
        """The object of `--json`."""
        return {"column": self.column, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class IngestResult(Readable):
    """What a run did. Snapshots are None where there was nothing to commit.

    `skipped_files` were ingested by earlier runs, `left_out` are hidden or not chosen; `merged` are the columns that
    `merge_schema` has added or widened; `notices` are warnings and notes; `ignored_columns` are columns of the source
    that were left out, since the table does not have them. `repeated` says that the run itself was done before, and
    that nothing was done now; the counts and snapshots are those of then. A `dry_run` has written nothing: the counts
    are what would be, and `problems` the kinds of what is wrong with bad rows, the most frequent first, with examples.
    `nulled` are the values that were bad and became NULL in rows that were written, by column and code. `duration_ms`
    are milliseconds from the reading of rows to the last commit.
    """

    renderer: ClassVar[str] = "lakebed.render.ingest_text:ingest_text"
    html_renderer: ClassVar[str] = "lakebed.render.notebook_html:ingest_html"

    table: str
    run_id: str
    schema_id: int
    rows_read: int
    rows_written: int
    rows_quarantined: int
    snapshot_id: int | None
    quarantine_snapshot_id: int | None
    skipped_files: tuple[str, ...] = ()
    repeated: bool = False
    left_out: tuple[LeftOut, ...] = ()
    merged: tuple[MergedColumn, ...] = ()
    notices: tuple[Diagnostic, ...] = ()
    ignored_columns: tuple[str, ...] = ()
    dry_run: bool = False
    problems: tuple[Diagnostic, ...] = ()
    nulled: tuple[NulledValues, ...] = ()
    duration_ms: int | None = None

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
            "repeated": self.repeated,
            "left_out": [f.to_json() for f in self.left_out],
            "merged": [c.to_json() for c in self.merged],
            "notices": [n.to_json() for n in self.notices],
            "ignored_columns": list(self.ignored_columns),
            "dry_run": self.dry_run,
            "problems": [p.to_json() for p in self.problems],
            "nulled": [n.to_json() for n in self.nulled],
            "duration_ms": self.duration_ms,
        }


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Rows of a run: good and bad ones together are the ones read. `ignored` are columns that were left out of them.

    `by_kind` are the good rows by what they do to their keys: `+I`, `-U`, `+U`, `-D`; `nulled` are values of good rows
    that were bad and became NULL.
    """

    good: int
    bad: int
    ignored: tuple[str, ...] = ()
    by_kind: Mapping[str, int] = field(default_factory=dict)
    nulled: tuple[NulledValues, ...] = ()

    @property
    def read(self) -> int:
        return self.good + self.bad


def repeated_result(
    name: TableName, run_id: str, properties: Mapping[str, str], snapshot_id: int | None, quarantine_id: int | None
) -> IngestResult:
    """The result of a run that was done before, from the properties of its snapshot."""
    return IngestResult(
        table=str(name),
        run_id=run_id,
        schema_id=int(properties.get(SCHEMA_ID, "0")),
        rows_read=int(properties.get(ROWS_READ, "0")),
        rows_written=int(properties.get(ROWS_WRITTEN, "0")),
        rows_quarantined=int(properties.get(ROWS_QUARANTINED, "0")),
        snapshot_id=snapshot_id,
        quarantine_snapshot_id=quarantine_id,
        repeated=True,
        nulled=parse_nulled(properties.get(NULLED)),
        duration_ms=commit_origin.duration_of(properties),
    )


def listed_sources(properties: Mapping[str, str]) -> tuple[SourceFile, ...]:
    """The files that the properties of a snapshot list."""
    try:
        return tuple(SourceFile.from_json(s) for s in json.loads(properties.get(SOURCES, "[]")))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        # Properties are anybody's to write: what is not ours names no files.
        return ()


def listed_runs(properties: Mapping[str, str], key: str = ADOPTED) -> tuple[str, ...]:
    """The runs whose bad rows the properties of a snapshot say were taken over, or what else `key` lists."""
    try:
        return tuple(str(run) for run in json.loads(properties.get(key, "[]")))
    except (ValueError, TypeError, RecursionError):
        return ()


def commit_user(run_id: str) -> str:
    """The user that a run commits as."""
    return f"lakebed-{run_id}"


def batch_run_id(query: str, number: int) -> str:
    """The id of the run that writes a batch of a streaming query."""
    return f"{query}-{number}"


def claim_of(run_id: str, attempt: str) -> str:
    """What a replay writes to the bad rows that it takes up; another attempt of the same run writes something else.

    The rows are mended once the table has the snapshot of that attempt: nothing has to be written to them after it.
    """
    return f"{run_id}/{attempt}"


def run_of_claim(claim: str) -> str:
    """The run that a claim is of."""
    return claim.rpartition("/")[0]


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
    run_id: str,
    schema_id: int,
    files: Iterable[SourceFile],
    counts: RunCounts,
    *,
    attempt: str,
    adopted: Sequence[str] = (),
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
    if counts.nulled:
        properties[NULLED] = nulled_text(counts.nulled)
    if adopted:
        properties[ADOPTED] = canonical_json([*adopted])
    return properties
