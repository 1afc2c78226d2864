"""Find earlier runs of a table from its snapshots, cached in a file beside them.

The truth is in the properties of the snapshots. Since every run has to know of all earlier ones, `.lakebed-runs` beside
them holds what the snapshots up to one of them say; an expiry makes it anew before older snapshots go. It counts up to
the newest snapshot of those it knows that is there and the same: after a roll back, whoever made it and however far it
came, that is an earlier one. Without it what is there is read, and no more is known. Of a stream's batches whose
snapshots have expired it keeps the last.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from lakebed.catalog.names import TableName
from lakebed.catalog.paths import branch_root
from lakebed.errors import NotFoundError, StoreError
from lakebed.format.commit import TableStorage
from lakebed.format.snapshot import Snapshot
from lakebed.ingest import run_history as runs
from lakebed.ingest.run_history import IngestResult, commit_user
from lakebed.ingest.sources.source_files import SourceFile
from lakebed.model import canonical_json
from lakebed.write.write_result import ATTEMPT

CACHE = ".lakebed-runs"

_FORMAT = 2
_OURS = "lakebed."
#: Snapshots that are read one by one before their content is put together in the file.
_ENOUGH = 32
#: The newest snapshots that the file can be told to be of the same history by.
_MOST_MARKS = 10_000

Identity = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run as its snapshot tells of it."""

    run_id: str
    snapshot_id: int
    properties: Mapping[str, str] = field(hash=False)

    def number(self, key: str) -> int | None:
        """A count among the properties."""
        text = self.properties.get(key, "")
        return int(text) if text.isdigit() else None

    @property
    def stream(self) -> str | None:
        """The name of the stream that the run writes a batch of."""
        return self.properties.get(runs.STREAM)

    @property
    def query(self) -> str | None:
        """The id of the stream's query."""
        return self.properties.get(runs.QUERY_ID)

    @property
    def batch(self) -> int | None:
        """The number of the batch."""
        return self.number(runs.BATCH)

    @property
    def offsets(self) -> str | None:
        """The digest of the batch's offsets."""
        return self.properties.get(runs.OFFSETS)

    @property
    def planned(self) -> int | None:
        """When the batch was planned, in milliseconds since 1970."""
        return self.number(runs.PLANNED)

    @property
    def sources(self) -> tuple[SourceFile, ...]:
        """The files that the run read."""
        return runs.listed_sources(self.properties)

    @property
    def adopted(self) -> tuple[str, ...]:
        """The runs whose bad rows this run took over, since they never came to an end."""
        return runs.listed_runs(self.properties)

    @property
    def claims_over(self) -> tuple[str, ...]:
        """The claims of other replays that must not come to an end after this one."""
        return runs.listed_runs(self.properties, runs.CLAIMS_OVER)

    @property
    def claim(self) -> str | None:
        """What a replay has written to the bad rows that it has mended; None for other runs."""
        attempt = self.properties.get(ATTEMPT)
        if attempt is None or runs.ROWS_REPLAYED not in self.properties:
            return None
        return runs.claim_of(self.run_id, attempt)


def run_of(snapshot: Snapshot) -> RunRecord | None:
    """The run that a snapshot belongs to."""
    properties = snapshot.properties or {}
    run_id = properties.get(runs.RUN_ID)
    if run_id is None:
        return None
    record = RunRecord(run_id, snapshot.id, {k: v for k, v in properties.items() if k.startswith(_OURS)})
    return record if _is_committer(snapshot, record) else None


def _is_committer(snapshot: Snapshot, record: RunRecord) -> bool:
    """Whether the snapshot is by the run that it names: another engine may copy properties."""
    if record.query is None:
        return snapshot.commit_user == commit_user(record.run_id)
    number = snapshot.commit_identifier
    return (
        record.batch == number
        and record.run_id == runs.batch_run_id(record.query, number)
        and snapshot.commit_user == commit_user(record.query)
    )


@dataclass(frozen=True, slots=True)
class RunLog:
    """The runs of one table by id, each by its first snapshot, and the snapshot up to which this holds (0: none).

    `marks` are the digests of snapshots of this history, by their ids, in ascending order. `unseen` is a moment in
    milliseconds since 1970: of what was committed up to then, snapshots may have expired that nobody looked at.
    """

    by_run: Mapping[str, RunRecord] = field(default_factory=dict)
    until: int = 0
    marks: Mapping[int, str] = field(default_factory=dict, hash=False)
    unseen: int = -1

    def up_to(self, number: int) -> RunLog:
        """What it was at an earlier snapshot."""
        runs_then = {i: r for i, r in self.by_run.items() if r.snapshot_id <= number}
        return RunLog(runs_then, number, {i: digest for i, digest in self.marks.items() if i <= number}, self.unseen)

    def without_old_batches(self, earliest: int) -> RunLog:
        """Less the batches of streams before `earliest`, the first snapshot that is there, but the last of each query.

        A table is rolled back to a snapshot that is there, so that no other one can become a query's last again.
        """
        old = [r for r in self.by_run.values() if r.query is not None and r.snapshot_id < earliest]
        last = {r.query: r.run_id for r in sorted(old, key=lambda r: r.batch or 0)}
        gone = {r.run_id for r in old} - set(last.values())
        return replace(self, by_run={i: r for i, r in self.by_run.items() if i not in gone}) if gone else self


def last_batches(records: Iterable[RunRecord]) -> dict[str, int]:
    """The last batch of each streaming query."""
    found: dict[str, int] = {}
    for record in records:
        if record.query is not None and record.batch is not None:
            found[record.query] = max(record.batch, found.get(record.query, -1))
    return found


def keep_log(table: TableStorage) -> None:
    """Put the runs of a table together, so that they are known when the older ones of its snapshots have expired."""
    log = load_log(table)
    if log.by_run:
        snapshots = table.snapshots
        unmarked = [i for i in snapshots.ids()[-_MOST_MARKS:] if i <= log.until and i not in log.marks]
        marks = {**log.marks, **{i: _digest(snapshots.load(i)) for i in unmarked}}
        _write_log(table, replace(log, marks=marks))


def _write_log(table: TableStorage, log: RunLog) -> None:
    log = log.without_old_batches(table.snapshots.earliest_id() or 0)
    table.store.replace(_cache_path(table), _dumps(log))


def _cache_path(table: TableStorage) -> str:
    return f"{branch_root(table.path, table.branch)}/{CACHE}"


def load_log(table: TableStorage) -> RunLog:
    """The runs of a table. What had to be read from many snapshots is put together for the next time."""
    path = _cache_path(table)
    known = _cached(table, path)
    newer = list(reversed(list(table.snapshots.newest_first(after=known.until))))
    if not newer:
        return known
    found = dict(known.by_run)
    for record in filter(None, map(run_of, newer)):
        found.setdefault(record.run_id, record)
    unseen = known.unseen if newer[0].id == known.until + 1 else newer[0].time_millis
    log = RunLog(found, newer[-1].id, {**known.marks, **{s.id: _digest(s) for s in newer}}, unseen)
    if len(newer) >= _ENOUGH:
        # Whoever can read may not be allowed to write, and then reads all snapshots each time.
        with suppress(StoreError):
            _write_log(table, log)
    return log


def _cached(table: TableStorage, path: str) -> RunLog:
    """What the file says up to the newest of its snapshots that is there and the same."""
    try:
        content = json.loads(table.store.read(path))
        if content["format"] != _FORMAT:
            return RunLog()
        marks = {int(number): str(digest) for number, digest in content["marks"]}
        records = [RunRecord(str(r["run"]), int(r["snapshot"]), _texts(r["properties"])) for r in content["runs"]]
        unseen = int(content.get("unseen", -1))
    except (NotFoundError, ValueError, TypeError, KeyError, RecursionError):
        return RunLog()
    log = RunLog({r.run_id: r for r in records}, max(marks, default=0), marks, unseen)
    return log.up_to(next((i for i in sorted(marks, reverse=True) if _is_same(table, i, marks[i])), 0))


def _is_same(table: TableStorage, number: int, digest: str) -> bool:
    try:
        return _digest(table.snapshots.load(number)) == digest
    except NotFoundError:
        return False


def _texts(properties: Mapping[str, Any]) -> dict[str, str]:
    return {str(k): str(v) for k, v in properties.items()}


def _dumps(log: RunLog) -> bytes:
    records = log.by_run.values()
    listed = [{"run": r.run_id, "snapshot": r.snapshot_id, "properties": dict(r.properties)} for r in records]
    marks = sorted(log.marks.items())[-_MOST_MARKS:]
    content = {"format": _FORMAT, "marks": marks, "runs": listed, "unseen": log.unseen}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _digest(snapshot: Snapshot) -> str:
    return hashlib.sha256(canonical_json(snapshot.to_json()).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Leftover:
    """Bad rows of a run that was cut off before its good rows were committed: they need not be written again.

    `files` are the paths that they come from, None where the run had no files.
    """

    record: RunRecord
    rows: int
    files: frozenset[str] | None = None


@dataclass(slots=True)
class RunMemory:
    """What the snapshots of a table and of its quarantine (None where there is none yet) say of runs."""

    name: TableName
    table: TableStorage
    quarantine: TableStorage | None
    good: RunLog = field(default_factory=RunLog)
    bad: RunLog = field(default_factory=RunLog)
    #: The last batch of each query that is in the table.
    _batches: Mapping[str, int] = field(default_factory=dict)

    def load(self) -> None:
        """Look, once."""
        # The quarantine first: a run that commits in between is then seen whole, or as one that has committed.
        self.bad = RunLog() if self.quarantine is None else load_log(self.quarantine)
        self.good = load_log(self.table)
        self._batches = last_batches(self.good.by_run.values())

    def records(self) -> list[RunRecord]:
        """All runs, of some of them both what the table says and what the quarantine says."""
        return [*self.good.by_run.values(), *self.bad.by_run.values()]

    def record(self, run_id: str) -> RunRecord | None:
        """What is known of a run, whether it came to an end or not."""
        return self.good.by_run.get(run_id) or self.bad.by_run.get(run_id)

    def finished(self, run_id: str) -> IngestResult | None:
        """The result of a run that has committed all it had."""
        done, bad = self.good.by_run.get(run_id), self.bad.by_run.get(run_id)
        if done is not None:
            quarantined = done.number(runs.QUARANTINE_SNAPSHOT)
            return runs.repeated_result(self.name, run_id, done.properties, done.snapshot_id, quarantined)
        if bad is None or bad.number(runs.ROWS_WRITTEN) != 0:
            return None
        return runs.repeated_result(self.name, run_id, bad.properties, None, bad.snapshot_id)

    def interrupted(self, run_id: str) -> RunRecord | None:
        """A run that has committed its bad rows and not its good ones."""
        record = self.bad.by_run.get(run_id)
        return None if record is None or self._is_passed(record) or self.finished(run_id) is not None else record

    def _is_passed(self, record: RunRecord) -> bool:
        """Whether the table has a later batch of the same query: before that one, every batch has come to its end."""
        return record.query is not None and self._batches.get(record.query, -1) > (record.batch or 0)

    def claims(self) -> tuple[str, ...]:
        """The claims of all replays that are in the table."""
        return tuple(sorted(c for record in self.good.by_run.values() if (c := record.claim) is not None))

    def unfinished(self) -> frozenset[str]:
        """The runs that were cut off with bad rows in quarantine, which they, or others, have still to take over."""
        adopted = {run for record in self.good.by_run.values() for run in record.adopted}
        return frozenset(run for run in self.bad.by_run if self.interrupted(run) is not None) - adopted

    def ingested(self) -> frozenset[Identity]:
        """Every file of a finished run."""
        return frozenset(f.identity for record in self._finished() for f in record.sources)

    def finished_with(self, files: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, RunRecord]]:
        """The files that finished runs have read, each with every such run."""
        wanted = {f.identity: f for f in files}
        for record in self._finished():
            yield from ((wanted[f.identity], record) for f in record.sources if f.identity in wanted)

    def _finished(self) -> list[RunRecord]:
        return [*self.good.by_run.values(), *(r for r in self.bad.by_run.values() if r.number(runs.ROWS_WRITTEN) == 0)]

    def leftovers(self, files: Iterable[SourceFile], schema_id: int) -> tuple[Leftover, ...]:
        """The bad rows of these files that are in quarantine already, checked against the same schema version."""
        wanted = {f.identity: f.path for f in files}
        adopted = {
            (run, f.identity) for record in self.good.by_run.values() for run in record.adopted for f in record.sources
        }
        found: list[Leftover] = []
        for record in sorted(self.bad.by_run.values(), key=lambda r: -r.snapshot_id):
            if self.interrupted(record.run_id) is None or record.number(runs.SCHEMA_ID) != schema_id:
                continue
            left = {k: path for k, path in wanted.items() if (record.run_id, k) not in adopted}
            leftover = _leftover(record, left)
            if leftover is not None:
                found.append(leftover)
                wanted = {k: path for k, path in wanted.items() if path not in (leftover.files or ())}
        return tuple(found)


def _leftover(record: RunRecord, wanted: Mapping[Identity, str]) -> Leftover | None:
    sources = record.sources
    shared = [f for f in sources if f.identity in wanted]
    if not shared:
        return None
    paths = frozenset(f.path for f in shared)
    counts = [f.bad for f in shared if f.bad is not None]
    if len(counts) == len(shared):
        return Leftover(record, sum(counts), paths)
    total = record.number(runs.ROWS_QUARANTINED)
    return Leftover(record, total, paths) if len(shared) == len(sources) and total is not None else None


def shared_file(record: RunRecord, files: Sequence[SourceFile]) -> str | None:
    """The first of the files that a run has read as well."""
    theirs = {f.identity for f in record.sources}
    return next((f.path for f in files if f.identity in theirs), None)
