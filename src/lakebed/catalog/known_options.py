"""List the table options that Paimon knows: their names, and which values each can have.

Names and kinds are those of Paimon Java 0.9 to the present and of pypaimon. An option that is not here is somebody
else's, and is kept; `nearest` says which one it was probably meant to be.
"""

from __future__ import annotations

import difflib
import re
from enum import StrEnum
from functools import cache

from lakebed.catalog.option_values import CODECS, byte_size, duration_millis, flag, real, stats_mode, whole


class Kind(StrEnum):
    """What the value of an option is; the text says it in a message."""

    FLAG = "true or false"
    NUMBER = "a whole number"
    DECIMAL = "a number"
    SIZE = "a size such as 128 mb"
    DURATION = "a duration such as 1 h or 30 s"
    CODEC = "a compression"
    CODECS_BY_LEVEL = "compressions by level such as 0:lz4,1:zstd"
    TEXTS_BY_LEVEL = "values by level such as 0:avro,3:parquet"
    STATS_MODE = "none, counts, full or truncate(LENGTH)"
    TEXT = "a text"


_NAMES: dict[Kind, str] = {
    Kind.FLAG: """
        add-column-before-partition aggregation.remove-record-on-delete alter-column-null-to-not-null.disabled
        async-file-write auto-create blob-as-descriptor blob-compaction.enabled blob-view.resolve.enabled
        blob-write-null-on-missing-file blob.split-by-file-size btree-index.bloom-filter.enabled bucket-append-ordered
        chain-table.enabled changelog-producer.lookup-wait changelog-producer.row-deduplicate clustering.incremental
        clustering.incremental.optimize-write commit.discard-duplicate-files commit.force-compact
        commit.force-create-snapshot commit.native.enabled compaction.force-rewrite-all-files
        compaction.force-up-level-0 compaction.skip-expired-partitions consumer.changelog-only consumer.ignore-progress
        data-evolution.enabled data-evolution.merge-into.file-pruning data-evolution.merge-into.source-persist
        data-evolution.row-sidecar.enabled data-evolution.write-cols-optimization.enabled data-file.thin-mode
        deduplicate.ignore-delete delete.force-produce-changelog deletion-vectors.bitmap64 deletion-vectors.enabled
        deletion-vectors.merge-on-read deletion-vectors.modifiable disable-explicit-type-casting
        dynamic-partition-overwrite end-input.check-partition-expire file-index.read.enabled
        file.suffix.include.compression first-row.ignore-delete force-lookup format-table.partition-path-only-value
        global-index.enabled global-index.filter.refine-from-data ignore-delete ignore-update-before
        incremental-between-tag-to-snapshot index-file-in-data-file-dir local-cache.enabled lookup-wait
        lookup.cache.bloom.filter.enabled lookup.remote-file.enabled manifest-sort.enabled
        manifest.delete-file-drop-stats manifest.sidecar.enabled metadata.iceberg-compatible metadata.stats-dense-store
        metastore.partitioned-table orc.timestamp-ltz.legacy.type overwrite-upgrade parquet.filter.columnindex.enabled
        parquet.write-page-index.enabled partial-update.ignore-delete partial-update.remove-record-on-delete
        partition.end-input-to-done partition.legacy-name partition.timestamp-format.strict pk-clustering-override
        postpone.batch-write-fixed-bucket primary-key.nullable query-auth.enabled read.native.enabled
        row-tracking.enabled row-tracking.partition-group-on-commit scan.fallback-branch.read-fail-fast
        scan.ignore-corrupt-files scan.ignore-lost-files scan.native-plan.enabled scan.plan-sort-partition
        sequence.snapshot-ordering snapshot.clean-empty-directories snapshot.expire.clean-empty-directories
        snapshot.ignore-empty-commit streaming-read-append-overwrite streaming-read-overwrite
        table-read.sequence-number.enabled tag.automatic-completion tag.create-success-file tag.time-expire-enabled
        variant.inferShreddingSchema vector-search.distribute.enabled visibility-callback.enabled
        write-buffer-for-append write-buffer-spillable write-only write.compaction-skip write.native.enabled
    """,
    Kind.NUMBER: """
        bitmap-index.compression-level btree-index.records-per-range bucket changelog.num-retained.max
        changelog.num-retained.min clustering.history-partition.limit commit.max-retries
        commit.strict-mode.last-safe-snapshot compaction.early-max.file-num compaction.file-num-limit
        compaction.max-size-amplification-percent compaction.max.file-num compaction.min.file-num
        compaction.offpeak-ratio compaction.offpeak.end.hour compaction.offpeak.start.hour compaction.size-ratio
        cross-partition-upsert.bootstrap-parallelism data-evolution.row-sidecar.max-selected-rows delete-file.thread-num
        dynamic-bucket.assigner-parallelism dynamic-bucket.initial-buckets dynamic-bucket.max-buckets
        dynamic-bucket.target-row-num file-operation.thread-num file.compression.zstd-level
        full-compaction.delta-commits global-index.build.max-parallelism global-index.build.max-shard
        global-index.build.parallelism global-index.row-count-per-shard global-index.thread-num
        local-sort.max-num-file-handles log.scan.timestamp-millis lookup-compact.max-interval
        lookup.merge-records-threshold lookup.remote-file.level-threshold manifest.merge-min-count
        metadata.stats-keep-first-n-columns mosaic.num-buckets num-levels num-sorted-run.compaction-trigger
        num-sorted-run.stop-trigger partition.expiration-batch-size partition.expiration-max-num
        postpone.batch-write-fixed-bucket.max-parallelism postpone.default-bucket-num postpone.target-row-num-per-bucket
        read.batch-size read.parallelism scan.bounded.watermark scan.creation-time-millis scan.file-creation-time-millis
        scan.manifest.parallelism scan.max-splits-per-task scan.snapshot-id scan.timestamp-millis scan.watermark
        snapshot.expire.limit snapshot.num-retained.max snapshot.num-retained.min
        sort-compaction.local-sample.magnification sort-spill-threshold sorted-index.records-per-file
        spill-compression.zstd-level tag.num-retained-max target-file-row-num variant.shredding.maxInferBufferRow
        variant.shredding.maxSchemaDepth variant.shredding.maxSchemaWidth vector-search.lateral-join.batch-size
        write-max-writers-to-spill write.batch-size zorder.var-length-contribution
    """,
    Kind.DECIMAL: """
        compaction.delete-ratio-threshold compaction.small-file-ratio data-evolution.row-sidecar.max-selection-ratio
        lookup.cache.bloom.filter.fpp lookup.cache.high-priority-pool-ratio lookup.hash-load-factor
        variant.shredding.minFieldCardinalityRatio
    """,
    Kind.SIZE: """
        bitmap-index.dictionary-block-size bitmap-index.fallback-scan-max-size blob.copy-buffer-size
        blob.target-file-size btree-index.block-size btree-index.fallback-scan-max-size cache-page-size
        compaction.incremental-size-threshold compaction.total-size-threshold
        data-evolution.row-id-conflict-rewrite.max-size deletion-vector.index-file.target-size
        file-index.in-manifest-threshold file-reader-async-threshold file.block-size local-cache.block-size
        local-cache.max-size local-merge-buffer-size lookup.cache-max-disk-size lookup.cache-max-memory-size
        lookup.merge-buffer-size manifest-sort.max-rewrite-size manifest.full-compaction-threshold-size
        manifest.target-file-size page-size postpone.target-size-per-bucket sort-spill-buffer-size
        source.split.open-file-cost source.split.target-size target-file-size vector.target-file-size write-buffer-size
        write-buffer-spill.max-disk-size write-manifest-cache write.batch-memory
    """,
    Kind.DURATION: """
        changelog.time-retained clustering.history-partition.idle-to-full-sort commit.max-retry-wait
        commit.min-retry-wait commit.timeout compaction.optimization-interval consumer.expiration-time
        continuous.discovery-interval cross-partition-upsert.index-ttl lookup.cache-file-retention
        partition.expiration-check-interval partition.expiration-time partition.idle-time-to-report-statistic
        record-level.expire-time scan.plan-auto-tag-for-read.time-retained snapshot.time-retained
        snapshot.watermark-idle-timeout streaming.read.snapshot.delay tag.creation-delay tag.creation-period-duration
        tag.default-time-retained visibility-callback.check-interval visibility-callback.timeout
    """,
    Kind.TEXT: """
        bitmap-index.compression blob-descriptor-field blob-external-storage-field blob-external-storage-path blob-field
        blob-view-field blob.stored-descriptor-fields branch bucket-key chain-table.chain-partition-keys
        changelog-file.format changelog-file.prefix changelog-producer.row-deduplicate-ignore-fields clustering.columns
        clustering.strategy commit.callbacks commit.user-prefix consumer-id data-file.external-paths
        data-file.external-paths.specific-fs data-file.external-paths.weights data-file.path-directory data-file.prefix
        fields.default-aggregate-function file.format format-table.commit-hive-sync-url global-index.external-path
        incremental-between incremental-between-timestamp incremental-to-auto-tag local-cache.dir local-cache.whitelist
        log.format log.key.format lookup.cache-spill-compression manifest-sort.partition-field manifest.format
        metastore.tag-to-partition mosaic.stats-columns orc.bloom.filter.columns orc.column.encoding.direct owner
        parquet.enable.dictionary parquet.variant.shreddingSchema partial-update.remove-record-on-sequence-group
        partition partition.default-name partition.expiration-strategy partition.mark-done-action
        partition.mark-done-action.custom.class partition.mark-done-action.http.params
        partition.mark-done-action.http.url partition.timestamp-formatter partition.timestamp-pattern path
        pk-bitmap.index.columns pk-btree.index.columns pk-full-text.index.columns pk-vector.index.columns primary-key
        record-level.time-field rowkind.field scan.fallback-branch scan.fallback-delta-branch
        scan.fallback-snapshot-branch scan.primary-branch scan.tag-name scan.timestamp scan.version sequence.field
        sink.process-time-zone sink.watermark-time-zone spill-compression tag.batch.customized-name tag.callbacks
        upsert-key variant.shreddingSchema vector-field vector.file.format video-frame-field
    """,
    Kind.CODEC: "changelog-file.compression file.compression format-table.file.compression manifest.compression",
    Kind.CODECS_BY_LEVEL: "file.compression.per.level",
    Kind.TEXTS_BY_LEVEL: "file.format.per.level metadata.stats-mode.per.level",
    Kind.STATS_MODE: "changelog-file.stats-mode metadata.stats-mode",
}
#: Options whose values are words.
_WORDS: dict[str, str] = {
    "bucket-function.type": "default mod hive",
    "changelog-producer": "none input full-compaction lookup",
    "clustering.incremental.mode": "global-sort local-sort",
    "consumer.mode": "exactly-once at-least-once",
    "data-file.external-paths.strategy": "none specific-fs round-robin entropy-inject weight-robin",
    "format-table.implementation": "paimon engine",
    "full-text-index.search-mode": "fast full detail",
    "global-index.column-update-action": "THROW_ERROR DROP_PARTITION_INDEX IGNORE",
    "global-index.search-mode": "fast full detail",
    "incremental-between-scan-mode": "auto delta changelog diff",
    "log.changelog-mode": "auto all upsert",
    "log.consistency": "transactional eventual",
    "lookup-compact": "RADICAL GENTLE",
    "lookup.local-file-type": "sort hash",
    "merge-engine": "deduplicate partial-update aggregation first-row",
    "metastore.tag-to-partition.preview": "none process-time watermark batch",
    "partition.sink-strategy": "NONE HASH PARTITION_DYNAMIC",
    "record-level.time-field-type": "seconds-int millis-long",
    "scalar-index.search-mode": "fast full detail",
    "scan.mode": (
        "default latest-full full latest compacted-full from-timestamp from-file-creation-time from-snapshot "
        "from-snapshot-full incremental from-creation-timestamp"
    ),
    "sequence.field.sort-order": "ascending descending",
    "snapshot.expire.execution-mode": "sync async",
    "sort-compaction.range-strategy": "SIZE QUANTITY",
    "sort-engine": "min-heap loser-tree",
    "stream-scan-mode": "none compact-bucket-table file-monitor",
    "streaming-read-mode": "log file",
    "tag.automatic-creation": "none process-time watermark batch",
    "tag.creation-period": "daily hourly two-hours",
    "tag.period-formatter": "with_dashes without_dashes without_dashes_and_spaces",
    "type": "table format-table materialized-table object-table lance-table iceberg-table",
    "vector-index.search-mode": "fast full detail",
    "write.sequence-number-init-mode": "scan snapshot",
}
#: Options of Flink's and Spark's connectors, which judge their values themselves.
_ENGINES = """
    changelog-producer.compaction-interval end-input.watermark filesystem.job-level-settings.enabled lookup.async
    lookup.async-thread-number lookup.bootstrap-parallelism lookup.cache lookup.dynamic-partition
    lookup.dynamic-partition.refresh-interval lookup.refresh.async lookup.refresh.async.pending-snapshot-count
    lookup.refresh.full-load-threshold lookup.refresh.time-periods-blacklist max_pt partition.idle-time-to-done
    partition.mark-done-action.mode partition.mark-done.recover-from-state partition.time-interval precommit-compact
    read.allow.fullScan read.changelog read.shuffle-bucket-with-partition read.stream.maxBytesPerTrigger
    read.stream.maxFilesPerTrigger read.stream.maxRowsPerTrigger read.stream.maxTriggerDelayMs
    read.stream.minRowsPerTrigger requiredSparkConfsCheck.enabled scan.bounded scan.dedicated-split-generation
    scan.infer-parallelism scan.infer-parallelism.max scan.max-snapshot.count scan.parallelism scan.partitions
    scan.push-down scan.remove-normalize scan.split-enumerator.batch-size scan.split-enumerator.mode
    scan.watermark.alignment.group scan.watermark.alignment.max-drift scan.watermark.alignment.update-interval
    scan.watermark.emit.strategy scan.watermark.idle-timeout sink.clustering.by-columns
    sink.clustering.sample-factor sink.clustering.sort-in-cluster sink.clustering.strategy sink.committer-cpu
    sink.committer-memory sink.committer-operator-chaining sink.cross-partition.managed-memory
    sink.managed.writer-buffer-memory sink.operator-uid.suffix sink.parallelism sink.savepoint.auto-tag
    sink.use-managed-memory-allocator sink.writer-coordinator.cache-memory sink.writer-coordinator.enabled
    sink.writer-cpu sink.writer-memory source.checkpoint-align.enabled source.checkpoint-align.timeout
    source.operator-uid.suffix unaware-bucket.compaction.parallelism write.merge-schema
    write.merge-schema.explicit-cast write.use-v2-write
"""
KINDS: dict[str, Kind] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
WORDS: dict[str, tuple[str, ...]] = {name: tuple(words.split()) for name, words in _WORDS.items()}
KNOWN: frozenset[str] = frozenset({*KINDS, *WORDS, *_ENGINES.split()})

#: What can stand behind `fields.<columns>.`; `map.` begins more.
COLUMN_OPTIONS = (
    *("aggregate-function", "ignore-retract", "sequence-group", "list-agg-delimiter", "distinct", "nested-key"),
    *("nested-sequence-field", "count-limit", "stats-mode", "default-value", "map.storage-layout", "sort-order"),
)
FILE_INDEXES = ("bloom-filter", "bitmap", "bsi", "range-bitmap")
#: Names below these belong to formats, engines, catalogs and Lakebed, which know them.
_OTHERS = (
    *("lakebed.", "parquet.", "orc.", "avro.", "iceberg.", "metadata.iceberg", "hive.", "spark.", "flink.", "kafka."),
    *("commit.callback.", "tag.callback.", "table-default.", "fs.", "s3.", "oss.", "field.", "pk-"),
)
_CLOSE = 0.8


def wrong_value(key: str, text: str) -> tuple[str, tuple[str, ...]] | None:
    """What the known option `key` wants instead of `text`, and the words that it may be; None where it is fine."""
    words = WORDS.get(key)
    if words is not None:
        known = {word.lower() for word in words}
        return None if text.strip().lower() in known else ("one of " + ", ".join(words), words)
    kind = KINDS.get(key, Kind.TEXT)
    if kind is Kind.TEXT and key.startswith("fields.") and key.endswith(".stats-mode"):
        kind = Kind.STATS_MODE
    if _fits(kind, text):
        return None
    return (f"one of {', '.join(CODECS)}", CODECS) if kind is Kind.CODEC else (kind.value, ())


def _fits(kind: Kind, text: str) -> bool:
    match kind:
        case Kind.FLAG:
            return flag(text) is not None
        case Kind.NUMBER:
            return whole(text) is not None
        case Kind.DECIMAL:
            return real(text) is not None
        case Kind.SIZE:
            return byte_size(text) is not None
        case Kind.DURATION:
            return duration_millis(text) is not None
        case Kind.CODEC:
            return text.strip().lower() in CODECS
        case Kind.CODECS_BY_LEVEL | Kind.TEXTS_BY_LEVEL:
            return all(_is_level(item, codec=kind is Kind.CODECS_BY_LEVEL) for item in text.split(",") if item.strip())
        case Kind.STATS_MODE:
            return stats_mode(text)
        case Kind.TEXT:
            return True


def _is_level(item: str, *, codec: bool) -> bool:
    level, colon, value = item.partition(":")
    return bool(colon) and whole(level) is not None and (not codec or value.strip().lower() in CODECS)


def nearest(key: str) -> str | None:
    """The known name that an unknown option was probably meant to be; None for a known one, and for others' own."""
    if key in KNOWN or key.startswith(_OTHERS):
        return None
    if key.startswith("fields.") and key.count(".") >= 2:
        columns, option = key.removeprefix("fields.").rsplit(".", 1)
        if option in COLUMN_OPTIONS or ".map." in key:
            return None
        meant = _close(option, COLUMN_OPTIONS)
        return None if meant is None else f"fields.{columns}.{meant}"
    index = re.fullmatch(r"file-index\.([^.]+)\.(.+)", key)
    if index is not None:
        known = index[1] in FILE_INDEXES
        kind, rest = index.groups()
        meant_kind = kind if known else _close(kind, FILE_INDEXES)
        meant_rest = "columns" if "." not in rest and _close(rest, ("columns",)) else rest
        meant = f"file-index.{meant_kind}.{meant_rest}"
        return None if meant_kind is None or meant == key else meant
    return _close(key, tuple(sorted(KNOWN)))


def _close(name: str, known: tuple[str, ...]) -> str | None:
    """The nearest of the names; one that differs only in its separators is the nearest."""
    same = _by_letters(known).get(_letters(name))
    if same is not None:
        return same
    found = difflib.get_close_matches(name.lower(), known, n=1, cutoff=_CLOSE)
    return found[0] if found else None


@cache
def _by_letters(known: tuple[str, ...]) -> dict[str, str]:
    return {_letters(name): name for name in known}


def _letters(name: str) -> str:
    return re.sub(r"[-_. ]", "", name).lower()
