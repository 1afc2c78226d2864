"""Plan which data files of one state a read needs, how their rows combine, which are pruned.

What is left out holds no row that the predicate is true for. In order: manifests and partitions, buckets, key ranges of
tables with a primary key, statistics, file indexes; a limit at last. How much a file's statistics may decide depends on
the table: in one with a primary key an older row of a key must not come back because the file with the newer row was
left out, so that files to be merged stand or fall together, unless the key itself is asked for. Files that hold parts
of the same rows stand or fall together, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any, TypeAlias, assert_never

from lakebed.catalog.table_schema import TableSchema
from lakebed.format.deletion_vectors import read_positions
from lakebed.format.live_files import DataFile, PartitionBounds, PartitionFilter, plan_files
from lakebed.format.many_values import maker, paused_collector
from lakebed.format.merge_engine import MergeEngine, merge_engine
from lakebed.format.merge_plan import MergePlan, Section, plan_merge
from lakebed.format.row_ranges import RangePlan, Versions, has_data_evolution, plan_ranges, stored_fields
from lakebed.format.snapshot import Snapshot
from lakebed.read.bucket_evidence import against_bucket, bucket_key, wanted_buckets
from lakebed.read.file_index import FileIndex, file_index
from lakebed.read.predicate import (
    CAN_BE_TRUE,
    And,
    Constant,
    Evidence,
    Predicate,
    Truths,
    conjuncts,
    conjuncts_over,
    leaves,
    possible,
    together,
)
from lakebed.read.predicate_text import text
from lakebed.read.statistics_evidence import (
    bounds_evidence,
    changed_by_orc,
    file_evidence,
    is_orc,
    key_evidence,
    partition_evidence,
    parts_evidence,
)
from lakebed.store.base import Store

#: The predicate of a read without one.
EVERY_ROW = Constant(True)


class Stage(StrEnum):
    """What a file is left out by."""

    PARTITION = "partition"
    BUCKET = "bucket"
    KEY = "key"
    STATISTICS = "statistics"
    INDEX = "index"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A file that is not needed; `why` is what cannot be true for any row of it."""

    file: DataFile
    stage: Stage
    why: str


@dataclass(frozen=True, slots=True)
class Plain:
    """Files whose rows are the table's rows."""

    files: tuple[DataFile, ...]


#: The files that are read, by what they are to the table.
Parts: TypeAlias = Plain | MergePlan | RangePlan


@dataclass(frozen=True, slots=True)
class Manifests:
    """How many manifests a snapshot names, and how many of them a read leaves unread."""

    total: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """What is read, and what is not.

    `certain` are the paths of files read as they are, for all of whose rows the predicate is true. `partitions` are
    those of all live files that the read looked at. Files of partitions that are left out are in `dropped` only where
    they were asked for.
    """

    predicate: Predicate
    parts: Parts
    dropped: tuple[Dropped, ...] = ()
    certain: frozenset[str] = frozenset()
    manifests: Manifests = field(default_factory=Manifests)
    partitions: frozenset[tuple[Any, ...]] = frozenset()

    @property
    def files(self) -> tuple[DataFile, ...]:
        """All files that are read."""
        return (*self.as_they_are, *(file for group in self.groups for file in group))

    @property
    def as_they_are(self) -> tuple[DataFile, ...]:
        """The files whose rows are the table's."""
        match self.parts:
            case Plain(files=files):
                return files
            case MergePlan(raw=raw):
                return raw
            case RangePlan(whole=whole):
                return whole
        assert_never(self.parts)

    @property
    def groups(self) -> tuple[tuple[DataFile, ...], ...]:
        """The files that are merged, or put together, with each other."""
        match self.parts:
            case Plain():
                return ()
            case MergePlan(sections=sections):
                return sections
            case RangePlan(groups=groups):
                return groups
        assert_never(self.parts)


@dataclass(frozen=True, slots=True)
class ReadState:
    """A snapshot (None where there is no data), the schema that it is read as, and what gives versions by their ids."""

    store: Store
    table_path: str
    snapshot: Snapshot | None
    schema: TableSchema
    version: Versions


_new_dropped = maker(Dropped)


@paused_collector()
def needed_files(
    state: ReadState,
    predicate: Predicate = EVERY_ROW,
    *,
    partition_filter: PartitionFilter | None = None,
    list_partitions: bool = False,
    limit: int | None = None,
) -> ReadPlan:
    """The files for a read of one state, of the rows that `predicate` is true for.

    `partition_filter` chooses partitions beside the predicate. `list_partitions`: also name the files of partitions
    that the predicate leaves out, which costs reading their manifests. `limit`: so many rows are enough. The predicate
    still has to be applied to the rows that are read. Raises UnsupportedError for files that would be read wrongly.
    """
    planning = _Planning(state.store, state.schema, state.version, predicate)
    files, manifests = planning.live_files(state.table_path, state.snapshot, partition_filter, list_partitions)
    kept = planning.by_bucket(planning.by_partition(files))
    parts = planning.parts(kept)
    plan = ReadPlan(
        predicate,
        parts,
        tuple(planning.dropped),
        frozenset(planning.certain),
        manifests,
        frozenset(file.partition for file in files),
    )
    return plan if limit is None else with_limit(plan, limit)


def takes_whole_partitions(plan: ReadPlan, schema: TableSchema) -> bool:
    """Whether the predicate speaks of partition keys alone, and is true for all rows of the partitions of the files."""
    ids = tuple(f.id for k in schema.partition_keys if (f := schema.field(k)) is not None)
    columns = [getattr(leaf, "column", None) for leaf in leaves(plan.predicate)]
    if any(column is None or column.id not in ids for column in columns):
        return False
    partitions = {file.partition for file in plan.files}
    evidence = (partition_evidence(dict(zip(ids, values, strict=True))) for values in partitions)
    return all(possible(plan.predicate, one) == Truths.TRUE for one in evidence)


def with_limit(plan: ReadPlan, limit: int) -> ReadPlan:
    """The plan cut down to files that are certain to give `limit` rows; the plan itself where that is not certain."""
    chosen: list[DataFile] = []
    rows = 0
    for file in plan.as_they_are:
        if rows >= limit:
            break
        deleted = 0 if file.deletions is None else file.deletions.cardinality
        if file.path in plan.certain and deleted is not None:
            chosen.append(file)
            rows += file.meta.row_count - deleted
    if rows < limit:
        return plan
    kept = {file.path for file in chosen}
    others = tuple(
        Dropped(file, Stage.LIMIT, f"{rows:,} rows of other files are enough")
        for file in plan.files
        if file.path not in kept
    )
    return replace(plan, parts=_only(plan.parts, tuple(chosen)), dropped=plan.dropped + others)


def _only(parts: Parts, files: tuple[DataFile, ...]) -> Parts:
    match parts:
        case Plain():
            return Plain(files)
        case MergePlan():
            return MergePlan(files, ())
        case RangePlan():
            return RangePlan(files, ())
    assert_never(parts)


class _Planning:
    """One plan in the making: what is dropped on the way, and which files are certain."""

    def __init__(self, store: Store, schema: TableSchema, version: Versions, predicate: Predicate) -> None:
        self._store = store
        self._schema = schema
        self._version = cache(version)
        self._predicate = predicate
        self._conjuncts = conjuncts(predicate)
        self._partition_ids = tuple(f.id for k in schema.partition_keys if (f := schema.field(k)) is not None)
        self._on_partitions = conjuncts_over(predicate, self._partition_ids)
        #: What parts say, by their identity: each is the reason for many files.
        self._texts: dict[int, tuple[Predicate, str]] = {}
        self._filters = possible(predicate, lambda _: Truths.ANY) != Truths.TRUE
        self.dropped: list[Dropped] = []
        self.certain: set[str] = set()

    # --- partitions and buckets ---------------------------------------------------------------------------------------

    def live_files(
        self, table_path: str, snapshot: Snapshot | None, wanted: PartitionFilter | None, list_partitions: bool
    ) -> tuple[tuple[DataFile, ...], Manifests]:
        """The live files of the partitions that are wanted, and with `list_partitions` those of the others."""
        if snapshot is None:
            return (), Manifests()
        counts = [0, 0]

        def manifest(bounds: PartitionBounds) -> bool:
            fits = self._manifest_fits(bounds)
            counts[0] += 1
            counts[1] += not fits
            return fits or list_partitions

        def partition(values: tuple[Any, ...]) -> bool:
            return (wanted is None or wanted(values)) and (list_partitions or self._partition_fits(values))

        files = plan_files(
            self._store,
            table_path,
            snapshot,
            self._schema,
            partition_filter=partition if wanted is not None or self._on_partitions else None,
            manifest_filter=manifest,
        )
        return files, Manifests(*counts)

    def _manifest_fits(self, bounds: PartitionBounds) -> bool:
        evidence = bounds_evidence(bounds, self._partition_ids)
        return all(Truths.TRUE in possible(part, evidence) for part in self._on_partitions)

    def _partition_fits(self, values: tuple[Any, ...]) -> bool:
        return self._against(self._on_partitions, self._of_partition(values)) is None

    def _of_partition(self, values: tuple[Any, ...]) -> Evidence:
        return partition_evidence(dict(zip(self._partition_ids, values, strict=True)))

    def by_partition(self, files: Iterable[DataFile]) -> list[DataFile]:
        """The files of partitions that may hold wanted rows."""
        if not self._on_partitions:
            return list(files)
        against = cache(lambda values: self._against(self._on_partitions, self._of_partition(values)))
        return [file for file in files if self._keep(file, Stage.PARTITION, against(file.partition))]

    def by_bucket(self, files: Sequence[DataFile]) -> list[DataFile]:
        """The files of buckets that may hold wanted rows."""
        if not self._filters or not any(file.bucket >= 0 and file.total_buckets > 0 for file in files):
            return list(files)
        ids = {file.meta.schema_id for file in files}
        buckets = wanted_buckets(self._predicate, self._schema, [self._version(i) for i in ids])
        if buckets is None:
            return list(files)
        keys = map(self._schema.field, bucket_key(self._schema))
        changed = any(key is not None and changed_by_orc(key.type) for key in keys)
        return [
            file
            for file in files
            if (changed and is_orc(file)) or self._keep(file, Stage.BUCKET, against_bucket(file, buckets))
        ]

    # --- files --------------------------------------------------------------------------------------------------------

    def parts(self, files: Sequence[DataFile]) -> Parts:
        """The files by what they are to the table, less those that their own contents leave out."""
        if self._schema.primary_keys:
            return self._merged(files)
        if has_data_evolution(self._schema):
            return self._ranges(files)
        return Plain(self._alone(files))

    def _merged(self, files: Sequence[DataFile]) -> MergePlan:
        keys = set(self._schema.primary_keys) | set(self._schema.partition_keys)
        on_keys = conjuncts_over(self._predicate, {f.id for f in self._schema.fields if f.name in keys})
        if on_keys:
            files = [f for f in files if self._keep(f, Stage.KEY, self._against(on_keys, self._of_key(f)))]
        plan = plan_merge(files, self._schema)
        sections = plan.sections
        if merge_engine(self._schema) in (MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW):
            sections = tuple(section for section in sections if self._keep_group(section))
        return MergePlan(self._alone(plan.raw), sections)

    def _ranges(self, files: Sequence[DataFile]) -> RangePlan:
        plan = plan_ranges(files, lambda file: tuple(f.id for f in stored_fields(self._version, file)))
        groups = plan.groups
        if self._filters:
            groups = tuple(group for group in groups if self._keep_parts(group))
        return RangePlan(self._alone(plan.whole), groups)

    def _alone(self, files: Iterable[DataFile]) -> tuple[DataFile, ...]:
        """Those of the files whose rows are the table's that may hold a wanted row."""
        kept = []
        for file in files:
            if not self._filters:
                self.certain.add(file.path)
            else:
                evidence = self._of_file(file)
                against = self._against(self._conjuncts, evidence)
                if not self._keep(file, Stage.STATISTICS, against):
                    continue
                index = self._index(file)
                if index is not None:
                    if not self._keep(file, Stage.INDEX, self._against_index(file, index, evidence)):
                        continue
                    evidence = self._with_partition(file, together(evidence, index.evidence))
                if possible(self._predicate, evidence) == Truths.TRUE:
                    self.certain.add(file.path)
            kept.append(file)
        return tuple(kept)

    def _keep_group(self, section: Section) -> bool:
        """Whether a section that is merged may hold a wanted row: one of its files' rows is the merged one."""
        if not self._filters:
            return True
        found = [self._against(self._conjuncts, self._of_file(file)) for file in section]
        if None not in found:
            return self._drop(section, Stage.STATISTICS, found)
        indexed = [
            why or self._against_index(file, self._index(file), self._of_file(file))
            for file, why in zip(section, found, strict=True)
        ]
        return None in indexed or self._drop(section, Stage.INDEX, indexed)

    def _keep_parts(self, group: tuple[DataFile, ...]) -> bool:
        """Whether files that hold parts of the same rows may hold a wanted row."""
        why = self._against(self._conjuncts, self._of_parts(group))
        return why is None or self._drop(group, Stage.STATISTICS, [why] * len(group))

    def _drop(self, files: Sequence[DataFile], stage: Stage, whys: Sequence[str | None]) -> bool:
        self.dropped += [Dropped(file, stage, why or "") for file, why in zip(files, whys, strict=True)]
        return False

    def _keep(self, file: DataFile, stage: Stage, why: str | None) -> bool:
        if why is not None:
            self.dropped.append(_new_dropped(file, stage, why))
        return why is None

    # --- evidence -----------------------------------------------------------------------------------------------------

    def _of_file(self, file: DataFile) -> Evidence:
        written = self._version(file.meta.schema_id)
        own = file_evidence(file, written, stored_fields(self._version, file))
        return self._with_partition(file, own)

    def _with_partition(self, file: DataFile, own: Evidence) -> Evidence:
        """The values of partition keys are the manifest's, whatever the file says."""
        ids = self._partition_ids
        if not ids:
            return own
        partition = self._of_partition(file.partition)
        return lambda leaf: partition(leaf) if leaf.column.id in ids else own(leaf)

    def _of_key(self, file: DataFile) -> Evidence:
        return together(self._of_file(file), key_evidence(file, self._schema))

    def _of_parts(self, group: Sequence[DataFile]) -> Evidence:
        held = [(frozenset(f.id for f in stored_fields(self._version, file)), self._of_file(file)) for file in group]
        return self._with_partition(group[0], parts_evidence(held))

    def _index(self, file: DataFile) -> FileIndex | None:
        return file_index(self._store, file, self._version(file.meta.schema_id))

    def _against_index(self, file: DataFile, index: FileIndex | None, evidence: Evidence) -> str | None:
        """The part of the predicate that an index shows not to be true for any row that is left in the file."""
        if index is None:
            return None
        found = self._with_partition(file, together(evidence, index.evidence))
        if (against := self._against(self._conjuncts, found)) is not None:
            return against
        own = conjuncts_over(self._predicate, {f.id for f in self._schema.fields}.difference(self._partition_ids))
        if not own:
            return None
        deleted = () if file.deletions is None else read_positions(self._store, [file.deletions])[0]
        whole = own[0] if len(own) == 1 else And(own)
        return text(whole) if Truths.TRUE not in index.truths(whole, deleted) else None

    def _against(self, parts: Iterable[Predicate], evidence: Evidence) -> str | None:
        """The first part that cannot be true, as text; None where all may be."""
        for part in parts:
            if not CAN_BE_TRUE[possible(part, evidence)]:
                if id(part) not in self._texts:
                    self._texts[id(part)] = part, text(part)
                return self._texts[id(part)][1]
        return None
