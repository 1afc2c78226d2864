"""Tell how healthy tables are from metadata alone: files, sizes, levels, deletions, snapshots, what is held back.

No data file and no vector is opened, but those of bad rows where they are counted by code, and no engine takes part. Of
each live data file only what identifies it is held.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from shlex import quote
from typing import Any, ClassVar, TypeAlias, overload

from lakebed.catalog import TableManager, TableRef, TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import LakebedError
from lakebed.format import binary_row
from lakebed.format.live_files import VectorPlace, file_vectors, iterate_live_entries, partition_types
from lakebed.format.live_files import snapshot_manifests as manifests_of
from lakebed.format.manifest import ManifestEntry
from lakebed.format.merge_plan import shows_only_compacted
from lakebed.format.refuse_unsupported import write_problems
from lakebed.format.row_ranges import has_row_tracking
from lakebed.format.snapshot import Snapshot, SnapshotManager
from lakebed.format.table_branch import TableBranch
from lakebed.maintenance.compaction_rules import CompactionRules
from lakebed.maintenance.consumers import waiting_consumers
from lakebed.maintenance.references import References, changelogs
from lakebed.maintenance.retention import Retention
from lakebed.readable import Readable

#: Counts the bad rows of a table by the codes of their problems; None where they cannot be told.
CountBadRows: TypeAlias = Callable[[TableBranch], Mapping[str, int] | None]


@dataclass(frozen=True, slots=True)
class FileHealth:
    """The live data files of a snapshot. Sizes are bytes, rows those that files hold.

    `smallest`, `median` and `largest` are sizes of files, 0 where there are none. `small` files have less than a
    compaction asks of a file, `due` are those that it would write anew by the table's options. `by_level` and
    `by_schema` count files by their level and by the schema version that they were written under. `deleted_rows` are
    those that deletion vectors take out, as far as their writers said how many: `uncounted` vectors did not. `hidden`
    are files of level 0 in a table whose readers see only what is compacted.
    """

    files: int = 0
    bytes: int = 0
    rows: int = 0
    smallest: int = 0
    median: int = 0
    largest: int = 0
    small: int = 0
    due: int = 0
    by_level: Mapping[int, int] = field(default_factory=dict, hash=False)
    by_schema: Mapping[int, int] = field(default_factory=dict, hash=False)
    buckets: int = 0
    vectors: int = 0
    deleted_rows: int = 0
    uncounted: int = 0
    hidden: int = 0
    manifests: int = 0
    manifest_bytes: int = 0

    @property
    def deleted_share(self) -> float:
        """The share of the files' rows that deletion vectors take out, from 0 to 1."""
        return self.deleted_rows / self.rows if self.rows else 0.0


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """Something noteworthy: what it is, in a word and in a sentence, and the command that mends it, where one does."""

    name: str
    message: str
    command: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The three parts."""
        return {"name": self.name, "message": self.message, "command": self.command}


@dataclass(frozen=True, slots=True)
class TableHealth(Readable):
    """How a table is, or a branch of it. Times are milliseconds since 1970; `measured_at` is when it was looked at.

    `snapshot_id`, `oldest_snapshot_at` and `newest_snapshot_at` are None where there is no snapshot. `expirable` are
    the snapshots that the table's options do not keep, `held` those among them that a consumer still has to read.
    `consumers` are the snapshots that consumers read next, by their ids. `quarantined_rows` are all rows in the table's
    quarantine, mended ones that were not purged among them; `bad_rows` those that are not mended, by the codes of their
    problems (None where they were not counted). `is_written_here`: Lakebed writes such a table, so that it can compact
    it, too.
    """

    renderer: ClassVar[str] = "lakebed.render.health_text:table_health_text"

    table: str
    measured_at: int
    schema_id: int
    snapshot_id: int | None = None
    snapshots: int = 0
    oldest_snapshot_at: int | None = None
    newest_snapshot_at: int | None = None
    expirable: int = 0
    held: int = 0
    content: FileHealth = field(default_factory=FileHealth)
    changelogs: int = 0
    tags: int = 0
    branches: int = 0
    consumers: Mapping[str, int] = field(default_factory=dict, hash=False)
    quarantined_rows: int = 0
    bad_rows: Mapping[str, int] | None = field(default=None, hash=False)
    is_written_here: bool = True

    @property
    def findings(self) -> tuple[HealthFinding, ...]:
        """What is noteworthy, and what to do about it."""
        return tuple(_findings(self))

    def to_json(self) -> dict[str, Any]:
        """The object of one table in `lakebed health --json`."""
        files = self.content
        return {
            "table": self.table,
            "measured_at": self.measured_at,
            "schema_id": self.schema_id,
            "snapshot_id": self.snapshot_id,
            "snapshots": {
                "count": self.snapshots,
                "oldest_at": self.oldest_snapshot_at,
                "newest_at": self.newest_snapshot_at,
                "expirable": self.expirable,
                "held_by_consumers": self.held,
            },
            "files": {
                "count": files.files,
                "bytes": files.bytes,
                "rows": files.rows,
                "smallest": files.smallest,
                "median": files.median,
                "largest": files.largest,
                "small": files.small,
                "due_for_compaction": files.due,
                "not_visible": files.hidden,
                "buckets": files.buckets,
                "by_level": {str(k): v for k, v in files.by_level.items()},
                "by_schema": {str(k): v for k, v in files.by_schema.items()},
            },
            "deletions": {
                "vectors": files.vectors,
                "rows": files.deleted_rows,
                "share": files.deleted_share,
                "vectors_not_counted": files.uncounted,
            },
            "manifests": {"count": files.manifests, "bytes": files.manifest_bytes},
            "changelogs": self.changelogs,
            "tags": self.tags,
            "branches": self.branches,
            "consumers": dict(self.consumers),
            "quarantined_rows": self.quarantined_rows,
            "bad_rows": None if self.bad_rows is None else dict(self.bad_rows),
            "is_written_here": self.is_written_here,
            "findings": [f.to_json() for f in self.findings],
        }


@dataclass(frozen=True, slots=True)
class UnreadTable:
    """A table whose health cannot be told, and why. `exit_code` is that of the command line."""

    table: str
    problems: tuple[Diagnostic, ...]
    exit_code: int

    def to_json(self) -> dict[str, Any]:
        """The table and its diagnostics."""
        return {"table": self.table, "problems": [p.to_json() for p in self.problems]}


@dataclass(frozen=True, slots=True)
class HealthReport(Readable):
    """How several tables are, in their order; those that cannot be read are in `failed`."""

    renderer: ClassVar[str] = "lakebed.render.health_text:health_text"

    tables: tuple[TableHealth, ...]
    failed: tuple[UnreadTable, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed health --json`."""
        return {"tables": [t.to_json() for t in self.tables], "failed": [f.to_json() for f in self.failed]}


def measure_tables(
    tables: TableManager, names: Iterable[str], clock: Callable[[], int], count_bad_rows: CountBadRows
) -> HealthReport:
    """Measure tables one by one; one that cannot be read does not hide the others.

    Raises `UsageError` for a name that is none, or that says a single state.
    """
    branches = (TableBranch.of(tables, TableRef.parse(name), clock) for name in names)
    # `t` and `t@branch:main` are one table: two samples of one series are refused by Prometheus.
    by_label = {branch.label: branch for branch in branches}
    found, failed = [], []
    for branch in by_label.values():
        try:
            found.append(measure_table(branch, count_bad_rows))
        except LakebedError as error:
            failed.append(UnreadTable(branch.label, error.diagnostics, error.exit_code))
    return HealthReport(tuple(found), tuple(failed))


def measure_table(table: TableBranch, count_bad_rows: CountBadRows) -> TableHealth:
    """Measure a table, or a branch of it. Raises `LakebedError` for what is not there or cannot be read."""
    now, schema = table.clock(), table.schemas.load_latest_schema()
    shared = {**_around(table, count_bad_rows), "is_written_here": not write_problems(schema)}
    snapshots = _Snapshots(table.snapshots)
    if not snapshots:
        return TableHealth(table.label, now, schema.id, **shared)
    newest = snapshots[-1]
    beyond = Retention.of(schema.options).kept_from(snapshots, now)
    readable_from = min(shared["consumers"].values(), default=None)
    held = 0 if readable_from is None else sum(number >= readable_from for number in snapshots.ids[:beyond])
    return TableHealth(
        table.label,
        now,
        schema.id,
        newest.id,
        len(snapshots),
        snapshots[0].time_millis,
        newest.time_millis,
        beyond,
        held,
        _content(table, newest, schema),
        **shared,
    )


def _around(table: TableBranch, count_bad_rows: CountBadRows) -> dict[str, Any]:
    """What lies beside the snapshots of a branch, by the names of `TableHealth`."""
    quarantined = _quarantined(table)
    return {
        "changelogs": len(changelogs(table.store, table.table_path, table.branch)),
        "tags": len(table.snapshots.tags()),
        "branches": len(References(table).branch_directories()),
        "consumers": waiting_consumers(table),
        "quarantined_rows": quarantined,
        "bad_rows": count_bad_rows(table) if quarantined else {},
    }


def _quarantined(table: TableBranch) -> int:
    quarantine = TableBranch(table.tables, table.name.quarantine)
    if table.name.is_quarantine or not table.tables.exists(quarantine.name):
        return 0
    newest = quarantine.snapshots.latest()
    if newest is None:
        return 0
    content = _content(quarantine, newest, quarantine.schemas.load_latest_schema())
    return content.rows - content.deleted_rows


class _Snapshots(Sequence[Snapshot]):
    """The snapshots of a branch in ascending order, each loaded when it is asked for."""

    def __init__(self, manager: SnapshotManager) -> None:
        self.ids = manager.ids()
        self._load = cache(manager.load)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Snapshot: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Snapshot]: ...
    def __getitem__(self, place: int | slice) -> Snapshot | Sequence[Snapshot]:
        numbers = self.ids[place]
        return self._load(numbers) if isinstance(numbers, int) else [self._load(number) for number in numbers]


# --- files ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Bucket:
    """What a partition and bucket holds: files, those of level 0, the other levels, small ones, worn ones among them.

    `worn` are files of which more rows are deleted than a compaction lets be.
    """

    files: int = 0
    of_level_0: int = 0
    levels: set[int] = field(default_factory=set)
    small: int = 0
    worn: int = 0
    small_and_worn: int = 0

    def due_files(self, rules: CompactionRules) -> int:
        """How many are written anew in an append table."""
        return self.worn + (self.small - self.small_and_worn if self.small >= rules.least_files else 0)


@dataclass(slots=True)
class _Tally:
    """What is counted while the live files of a snapshot go by, one after the other."""

    schema: TableSchema
    vectors: dict[VectorPlace, int | None]
    rules: CompactionRules
    sizes: array[int] = field(default_factory=lambda: array("q"))
    rows: int = 0
    by_level: Counter[int] = field(default_factory=Counter)
    by_schema: Counter[int] = field(default_factory=Counter)
    buckets: dict[tuple[tuple[Any, ...], int], _Bucket] = field(default_factory=dict)
    small: int = 0
    marked: int = 0
    deleted: int = 0
    uncounted: int = 0

    def count(self, entry: ManifestEntry, partition: tuple[Any, ...]) -> None:
        """One more file."""
        file = entry.file
        self.sizes.append(file.file_size)
        self.rows += file.row_count
        self.by_level[file.level] += 1
        self.by_schema[file.schema_id] += 1
        is_small = file.file_size < self.rules.large
        self.small += is_small
        is_worn = self._is_worn(file.row_count, (partition, entry.bucket, file.file_name))
        bucket = self.buckets.setdefault((partition, entry.bucket), _Bucket())
        bucket.files += 1
        bucket.small += is_small
        bucket.worn += is_worn
        bucket.small_and_worn += is_small and is_worn
        if file.level:
            bucket.levels.add(file.level)
        else:
            bucket.of_level_0 += 1

    def _is_worn(self, rows: int, place: VectorPlace) -> bool:
        """Count the rows that a file's vector takes out: whether these are more than a compaction lets be."""
        if place not in self.vectors:
            return False
        self.marked += 1
        deleted = self.vectors[place]
        self.deleted += deleted or 0
        self.uncounted += deleted is None
        return deleted is not None and deleted > self.rules.deleted_share * rows

    @property
    def due(self) -> int:
        """How many files a compaction would write anew; none where each row has an id, which it would lose."""
        if has_row_tracking(self.schema):
            return 0
        if not self.schema.primary_keys:
            return sum(bucket.due_files(self.rules) for bucket in self.buckets.values())
        hides = shows_only_compacted(self.schema)
        return sum(
            b.files
            for b in self.buckets.values()
            if (hides and b.of_level_0) or b.of_level_0 + len(b.levels) >= self.rules.runs
        )

    @property
    def hidden(self) -> int:
        """The files of level 0 that readers do not see."""
        return self.by_level[0] if self.schema.primary_keys and shows_only_compacted(self.schema) else 0


def _content(table: TableBranch, snapshot: Snapshot, schema: TableSchema) -> FileHealth:
    store, path, types = table.store, table.table_path, partition_types(schema)
    vectors = {place: v.cardinality for place, v in file_vectors(store, path, snapshot, schema).items()}
    tally, metas = _Tally(schema, vectors, CompactionRules.of(schema)), manifests_of(store, path, snapshot)
    partition = cache(binary_row.codec(types).decode)
    for entry in iterate_live_entries(store, path, metas, types):
        tally.count(entry, partition(entry.partition))
    sizes = sorted(tally.sizes)
    return FileHealth(
        files=len(sizes),
        bytes=sum(sizes),
        rows=tally.rows,
        smallest=sizes[0] if sizes else 0,
        median=sizes[len(sizes) // 2] if sizes else 0,
        largest=sizes[-1] if sizes else 0,
        small=tally.small,
        due=tally.due,
        by_level=dict(sorted(tally.by_level.items())),
        by_schema=dict(sorted(tally.by_schema.items())),
        buckets=len(tally.buckets),
        vectors=tally.marked,
        deleted_rows=tally.deleted,
        uncounted=tally.uncounted,
        hidden=tally.hidden,
        manifests=len(metas),
        manifest_bytes=sum(meta.file_size for meta in metas),
    )


# --- what is noteworthy -----------------------------------------------------------------------------------------------


def _findings(found: TableHealth) -> Iterator[HealthFinding]:
    files, table = found.content, quote(found.table)
    compact = f"lakebed compact {table}" if found.is_written_here else None
    if files.hidden:
        said = f"{_count(files.hidden, 'file')} of level 0 cannot be seen by readers before a compaction"
        yield HealthFinding("not-visible", said, compact)
    if files.due:
        said = (
            f"{files.due:,} of {_count(files.files, 'file')} {'is' if files.due == 1 else 'are'} due for a compaction"
        )
        yield HealthFinding("compaction", said, compact)
    if found.expirable > found.held:
        gone = _count(found.expirable - found.held, "snapshot")
        yield HealthFinding("expiry", f"{gone} may expire by the table's options", f"lakebed expire {table}")
    if found.held:
        slowest = min(found.consumers, key=lambda name: found.consumers[name])
        said = f"consumer {slowest!r} has not read snapshot {found.consumers[slowest]} yet"
        yield HealthFinding("consumer", f"{said}, and holds {_count(found.held, 'snapshot')} that would expire")
    if found.quarantined_rows:
        said = f"{_count(found.quarantined_rows, 'row')} in quarantine; mended ones count until they are purged"
        yield HealthFinding("quarantine", said, f"lakebed quarantine list {table}")


def _count(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
