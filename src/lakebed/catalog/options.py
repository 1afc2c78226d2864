"""List the options of tables that the table format knows: names, values, defaults, when they may change. The one table.

Names and kinds are those of Paimon Java 0.9 to the present and of pypaimon. An option that is not here is somebody
else's, and is kept. `option_values` reads the texts of each kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class OptionKind(StrEnum):
    """What the value of an option is; the text says it in a message."""

    BOOLEAN = "true or false"
    INT = "a whole number"
    LONG = "a whole number of up to 64 bits"
    DECIMAL = "a number"
    SIZE = "a size such as 128 mb"
    DURATION = "a duration such as 1 h or 30 s"
    WORD = "one of its words"
    CODEC = "a compression"
    CODECS_BY_LEVEL = "compressions by level such as 0:lz4,1:zstd"
    TEXTS_BY_LEVEL = "values by level such as 0:avro,3:parquet"
    STATS_MODE = "none, counts, full or truncate(LENGTH)"
    COLUMNS = "a column or columns with commas between them"
    TEXT = "a text"
    ENGINE = "what an engine says"


class Mutability(StrEnum):
    """When an option may be set, changed or removed."""

    NEVER = "never"
    WHILE_EMPTY = "while the table has no snapshot"
    RULED = "as a rule of its own says, once the table has a snapshot"
    FREE = "at any time"


class Handling(StrEnum):
    """What Lakebed does about an option."""

    FOLLOWED = "does as it says"
    REFUSED = "refuses tables whose value asks for what Lakebed does not do"
    KEPT = "keeps it for other engines"


@dataclass(frozen=True, slots=True)
class Option:
    """What is known of one option. `words` are those that it may be; `default` is what counts where it is not set."""

    name: str
    kind: OptionKind
    default: str | None
    words: tuple[str, ...]
    mutability: Mutability
    handling: Handling

    @property
    def names_columns(self) -> bool:
        """Whether its value is a list of columns, which follows their renames."""
        return self.kind is OptionKind.COLUMNS


# The options that are spoken of elsewhere, by their names.
ADD_COLUMN_BEFORE_PARTITION = "add-column-before-partition"
AGGREGATION_REMOVE_RECORD_ON_DELETE = "aggregation.remove-record-on-delete"
ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED = "alter-column-null-to-not-null.disabled"
AUTO_CREATE = "auto-create"
BLOB_DESCRIPTOR_FIELD = "blob-descriptor-field"
BLOB_EXTERNAL_STORAGE_FIELD = "blob-external-storage-field"
BLOB_FIELD = "blob-field"
BLOB_VIEW_FIELD = "blob-view-field"
BLOB_STORED_DESCRIPTOR_FIELDS = "blob.stored-descriptor-fields"
BLOB_TARGET_FILE_SIZE = "blob.target-file-size"
BUCKET = "bucket"
BUCKET_FUNCTION_TYPE = "bucket-function.type"
BUCKET_KEY = "bucket-key"
CHAIN_TABLE_ENABLED = "chain-table.enabled"
CHANGELOG_FILE_COMPRESSION = "changelog-file.compression"
CHANGELOG_FILE_FORMAT = "changelog-file.format"
CHANGELOG_FILE_PREFIX = "changelog-file.prefix"
CHANGELOG_FILE_STATS_MODE = "changelog-file.stats-mode"
CHANGELOG_PRODUCER = "changelog-producer"
CONSUMER_EXPIRATION_TIME = "consumer.expiration-time"
CONSUMER_ID = "consumer-id"
CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS = "changelog-producer.row-deduplicate-ignore-fields"
CHANGELOG_NUM_RETAINED_MAX = "changelog.num-retained.max"
CHANGELOG_NUM_RETAINED_MIN = "changelog.num-retained.min"
CHANGELOG_TIME_RETAINED = "changelog.time-retained"
CLUSTERING_COLUMNS = "clustering.columns"
CLUSTERING_INCREMENTAL = "clustering.incremental"
CLUSTERING_STRATEGY = "clustering.strategy"
COMMIT_MAX_RETRIES = "commit.max-retries"
COMPACTION_DELETE_RATIO_THRESHOLD = "compaction.delete-ratio-threshold"
COMPACTION_MIN_FILE_NUM = "compaction.min.file-num"
COMPACTION_SMALL_FILE_RATIO = "compaction.small-file-ratio"
DATA_EVOLUTION_ENABLED = "data-evolution.enabled"
DATA_FILE_EXTERNAL_PATHS = "data-file.external-paths"
DATA_FILE_PATH_DIRECTORY = "data-file.path-directory"
DATA_FILE_PREFIX = "data-file.prefix"
DELETE_FILE_THREAD_NUM = "delete-file.thread-num"
DELETION_VECTOR_INDEX_FILE_TARGET_SIZE = "deletion-vector.index-file.target-size"
DELETION_VECTORS_BITMAP64 = "deletion-vectors.bitmap64"
DELETION_VECTORS_ENABLED = "deletion-vectors.enabled"
DELETION_VECTORS_MERGE_ON_READ = "deletion-vectors.merge-on-read"
DELETION_VECTORS_MODIFIABLE = "deletion-vectors.modifiable"
DISABLE_EXPLICIT_TYPE_CASTING = "disable-explicit-type-casting"
DYNAMIC_BUCKET_INITIAL_BUCKETS = "dynamic-bucket.initial-buckets"
DYNAMIC_BUCKET_MAX_BUCKETS = "dynamic-bucket.max-buckets"
DYNAMIC_BUCKET_TARGET_ROW_NUM = "dynamic-bucket.target-row-num"
FIELDS_DEFAULT_AGGREGATE_FUNCTION = "fields.default-aggregate-function"
FILE_COMPRESSION = "file.compression"
FILE_COMPRESSION_PER_LEVEL = "file.compression.per.level"
FILE_COMPRESSION_ZSTD_LEVEL = "file.compression.zstd-level"
FILE_FORMAT = "file.format"
FILE_FORMAT_PER_LEVEL = "file.format.per.level"
FILE_INDEX_IN_MANIFEST_THRESHOLD = "file-index.in-manifest-threshold"
FILE_SUFFIX_INCLUDE_COMPRESSION = "file.suffix.include.compression"
FORCE_LOOKUP = "force-lookup"
FULL_COMPACTION_DELTA_COMMITS = "full-compaction.delta-commits"
IGNORE_DELETE = "ignore-delete"
IGNORE_UPDATE_BEFORE = "ignore-update-before"
INCREMENTAL_BETWEEN = "incremental-between"
INCREMENTAL_BETWEEN_TIMESTAMP = "incremental-between-timestamp"
INCREMENTAL_TO_AUTO_TAG = "incremental-to-auto-tag"
INDEX_FILE_IN_DATA_FILE_DIR = "index-file-in-data-file-dir"
MANIFEST_COMPRESSION = "manifest.compression"
MANIFEST_FORMAT = "manifest.format"
MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE = "manifest.full-compaction-threshold-size"
MANIFEST_MERGE_MIN_COUNT = "manifest.merge-min-count"
MANIFEST_TARGET_FILE_SIZE = "manifest.target-file-size"
MERGE_ENGINE = "merge-engine"
METADATA_STATS_MODE = "metadata.stats-mode"
MOSAIC_STATS_COLUMNS = "mosaic.stats-columns"
NUM_LEVELS = "num-levels"
NUM_SORTED_RUN_COMPACTION_TRIGGER = "num-sorted-run.compaction-trigger"
ORC_BLOOM_FILTER_COLUMNS = "orc.bloom.filter.columns"
ORC_COLUMN_ENCODING_DIRECT = "orc.column.encoding.direct"
ORC_TIMESTAMP_LTZ_LEGACY_TYPE = "orc.timestamp-ltz.legacy.type"
PARQUET_VARIANT_SHREDDING_SCHEMA = "parquet.variant.shreddingSchema"
PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE = "partial-update.remove-record-on-delete"
PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP = "partial-update.remove-record-on-sequence-group"
PARTITION = "partition"
PARTITION_DEFAULT_NAME = "partition.default-name"
PARTITION_EXPIRATION_MAX_NUM = "partition.expiration-max-num"
PARTITION_EXPIRATION_STRATEGY = "partition.expiration-strategy"
PARTITION_EXPIRATION_TIME = "partition.expiration-time"
PARTITION_LEGACY_NAME = "partition.legacy-name"
PARTITION_TIMESTAMP_FORMATTER = "partition.timestamp-formatter"
PARTITION_TIMESTAMP_PATTERN = "partition.timestamp-pattern"
PATH = "path"
PK_CLUSTERING_OVERRIDE = "pk-clustering-override"
PRIMARY_KEY = "primary-key"
PRIMARY_KEY_NULLABLE = "primary-key.nullable"
RECORD_LEVEL_TIME_FIELD = "record-level.time-field"
ROW_TRACKING_ENABLED = "row-tracking.enabled"
ROWKIND_FIELD = "rowkind.field"
SCAN_CREATION_TIME_MILLIS = "scan.creation-time-millis"
SCAN_FALLBACK_BRANCH = "scan.fallback-branch"
SCAN_FILE_CREATION_TIME_MILLIS = "scan.file-creation-time-millis"
SCAN_MODE = "scan.mode"
SCAN_PRIMARY_BRANCH = "scan.primary-branch"
SCAN_SNAPSHOT_ID = "scan.snapshot-id"
SCAN_TAG_NAME = "scan.tag-name"
SCAN_TIMESTAMP = "scan.timestamp"
SCAN_TIMESTAMP_MILLIS = "scan.timestamp-millis"
SCAN_VERSION = "scan.version"
SCAN_WATERMARK = "scan.watermark"
SEQUENCE_FIELD = "sequence.field"
SEQUENCE_FIELD_SORT_ORDER = "sequence.field.sort-order"
SEQUENCE_SNAPSHOT_ORDERING = "sequence.snapshot-ordering"
SINK_CLUSTERING_BY_COLUMNS = "sink.clustering.by-columns"
SINK_CLUSTERING_STRATEGY = "sink.clustering.strategy"
SNAPSHOT_NUM_RETAINED_MAX = "snapshot.num-retained.max"
SNAPSHOT_NUM_RETAINED_MIN = "snapshot.num-retained.min"
SNAPSHOT_TIME_RETAINED = "snapshot.time-retained"
STREAMING_READ_OVERWRITE = "streaming-read-overwrite"
TARGET_FILE_ROW_NUM = "target-file-row-num"
TARGET_FILE_SIZE = "target-file-size"
TYPE = "type"
UPSERT_KEY = "upsert-key"
VARIANT_SHREDDING_SCHEMA = "variant.shreddingSchema"
VECTOR_FIELD = "vector-field"
VIDEO_FRAME_FIELD = "video-frame-field"
WRITE_ONLY = "write-only"

# What values they can have.

_KINDS: dict[OptionKind, str] = {
    OptionKind.BOOLEAN: """
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
    OptionKind.INT: """
        bitmap-index.compression-level bucket changelog.num-retained.max changelog.num-retained.min
        clustering.history-partition.limit commit.max-retries compaction.early-max.file-num compaction.file-num-limit
        compaction.max-size-amplification-percent compaction.max.file-num compaction.min.file-num
        compaction.offpeak-ratio compaction.offpeak.end.hour compaction.offpeak.start.hour compaction.size-ratio
        cross-partition-upsert.bootstrap-parallelism delete-file.thread-num dynamic-bucket.assigner-parallelism
        dynamic-bucket.initial-buckets dynamic-bucket.max-buckets file-operation.thread-num file.compression.zstd-level
        full-compaction.delta-commits global-index.build.max-parallelism global-index.build.max-shard
        global-index.build.parallelism global-index.thread-num local-sort.max-num-file-handles
        lookup-compact.max-interval lookup.merge-records-threshold lookup.remote-file.level-threshold
        manifest.merge-min-count metadata.stats-keep-first-n-columns mosaic.num-buckets num-levels
        num-sorted-run.compaction-trigger num-sorted-run.stop-trigger partition.expiration-batch-size
        partition.expiration-max-num postpone.batch-write-fixed-bucket.max-parallelism postpone.default-bucket-num
        read.batch-size read.parallelism scan.manifest.parallelism scan.max-splits-per-task snapshot.expire.limit
        snapshot.num-retained.max snapshot.num-retained.min sort-compaction.local-sample.magnification
        sort-spill-threshold spill-compression.zstd-level tag.num-retained-max variant.shredding.maxInferBufferRow
        variant.shredding.maxSchemaDepth variant.shredding.maxSchemaWidth vector-search.lateral-join.batch-size
        write-max-writers-to-spill write.batch-size zorder.var-length-contribution
    """,
    OptionKind.LONG: """
        btree-index.records-per-range commit.strict-mode.last-safe-snapshot data-evolution.row-sidecar.max-selected-rows
        dynamic-bucket.target-row-num global-index.row-count-per-shard log.scan.timestamp-millis
        postpone.target-row-num-per-bucket scan.bounded.watermark scan.creation-time-millis
        scan.file-creation-time-millis scan.snapshot-id scan.timestamp-millis scan.watermark
        sorted-index.records-per-file target-file-row-num
    """,
    OptionKind.DECIMAL: """
        compaction.delete-ratio-threshold compaction.small-file-ratio data-evolution.row-sidecar.max-selection-ratio
        lookup.cache.bloom.filter.fpp lookup.cache.high-priority-pool-ratio lookup.hash-load-factor
        variant.shredding.minFieldCardinalityRatio
    """,
    OptionKind.SIZE: """
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
    OptionKind.DURATION: """
        changelog.time-retained clustering.history-partition.idle-to-full-sort commit.max-retry-wait
        commit.min-retry-wait commit.timeout compaction.optimization-interval consumer.expiration-time
        continuous.discovery-interval cross-partition-upsert.index-ttl lookup.cache-file-retention
        partition.expiration-check-interval partition.expiration-time partition.idle-time-to-report-statistic
        record-level.expire-time scan.plan-auto-tag-for-read.time-retained snapshot.time-retained
        snapshot.watermark-idle-timeout streaming.read.snapshot.delay tag.creation-delay tag.creation-period-duration
        tag.default-time-retained visibility-callback.check-interval visibility-callback.timeout
    """,
    OptionKind.COLUMNS: """
        blob-descriptor-field blob-field blob-view-field blob.stored-descriptor-fields bucket-key
        changelog-producer.row-deduplicate-ignore-fields clustering.columns mosaic.stats-columns
        orc.bloom.filter.columns orc.column.encoding.direct partial-update.remove-record-on-sequence-group partition
        pk-bitmap.index.columns pk-btree.index.columns pk-full-text.index.columns pk-vector.index.columns primary-key
        record-level.time-field rowkind.field sequence.field sink.clustering.by-columns upsert-key vector-field
        video-frame-field
    """,
    OptionKind.TEXT: """
        bitmap-index.compression blob-external-storage-field blob-external-storage-path branch
        chain-table.chain-partition-keys changelog-file.format changelog-file.prefix commit.callbacks commit.user-prefix
        consumer-id data-file.external-paths data-file.external-paths.specific-fs data-file.external-paths.weights
        data-file.path-directory data-file.prefix fields.default-aggregate-function file.format
        format-table.commit-hive-sync-url global-index.external-path incremental-between incremental-between-timestamp
        incremental-to-auto-tag local-cache.dir local-cache.whitelist log.format log.key.format
        lookup.cache-spill-compression manifest-sort.partition-field manifest.format metastore.tag-to-partition owner
        parquet.enable.dictionary parquet.variant.shreddingSchema partition.default-name partition.expiration-strategy
        partition.mark-done-action partition.mark-done-action.custom.class partition.mark-done-action.http.params
        partition.mark-done-action.http.url partition.timestamp-formatter partition.timestamp-pattern path
        scan.fallback-branch scan.fallback-delta-branch scan.fallback-snapshot-branch scan.primary-branch scan.tag-name
        scan.timestamp scan.version sink.process-time-zone sink.watermark-time-zone spill-compression
        tag.batch.customized-name tag.callbacks variant.shreddingSchema vector.file.format
    """,
    OptionKind.CODEC: "changelog-file.compression file.compression format-table.file.compression manifest.compression",
    OptionKind.CODECS_BY_LEVEL: "file.compression.per.level",
    OptionKind.TEXTS_BY_LEVEL: "file.format.per.level metadata.stats-mode.per.level",
    # Of Flink's and Spark's connectors, which judge their values themselves.
    OptionKind.ENGINE: """
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
        scan.watermark.emit.strategy scan.watermark.idle-timeout sink.clustering.sample-factor
        sink.clustering.sort-in-cluster sink.committer-cpu sink.committer-memory sink.committer-operator-chaining
        sink.cross-partition.managed-memory sink.managed.writer-buffer-memory sink.operator-uid.suffix sink.parallelism
        sink.savepoint.auto-tag sink.use-managed-memory-allocator sink.writer-coordinator.cache-memory
        sink.writer-coordinator.enabled sink.writer-cpu sink.writer-memory source.checkpoint-align.enabled
        source.checkpoint-align.timeout source.operator-uid.suffix unaware-bucket.compaction.parallelism
        write.merge-schema write.merge-schema.explicit-cast write.use-v2-write
    """,
    OptionKind.STATS_MODE: "changelog-file.stats-mode metadata.stats-mode",
}
#: Options whose values are words.
_WORDS: dict[str, str] = {
    "bucket-function.type": "default mod hive",
    "changelog-producer": "none input full-compaction lookup",
    "clustering.incremental.mode": "global-sort local-sort",
    "clustering.strategy": "auto zorder hilbert order",
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
    "sink.clustering.strategy": "auto zorder hilbert order",
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

#: What counts where an option is not set and Lakebed reads it; a truth value without default is false.
_DEFAULTS: dict[str, str] = {
    ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED: "true",
    BUCKET: "-1",
    BUCKET_FUNCTION_TYPE: "default",
    CHANGELOG_FILE_PREFIX: "changelog-",
    CHANGELOG_PRODUCER: "none",
    CLUSTERING_STRATEGY: "auto",
    COMMIT_MAX_RETRIES: "10",
    COMPACTION_DELETE_RATIO_THRESHOLD: "0.2",
    COMPACTION_MIN_FILE_NUM: "5",
    COMPACTION_SMALL_FILE_RATIO: "0.7",
    DATA_FILE_PREFIX: "data-",
    DELETION_VECTOR_INDEX_FILE_TARGET_SIZE: "2 mb",
    DYNAMIC_BUCKET_TARGET_ROW_NUM: "2000000",
    FILE_COMPRESSION: "zstd",
    FILE_COMPRESSION_ZSTD_LEVEL: "1",
    FILE_FORMAT: "parquet",
    FILE_INDEX_IN_MANIFEST_THRESHOLD: "500 b",
    MANIFEST_COMPRESSION: "zstd",
    MANIFEST_FORMAT: "avro",
    MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE: "16 mb",
    MANIFEST_MERGE_MIN_COUNT: "30",
    MANIFEST_TARGET_FILE_SIZE: "8 mb",
    MERGE_ENGINE: "deduplicate",
    METADATA_STATS_MODE: "truncate(16)",
    NUM_SORTED_RUN_COMPACTION_TRIGGER: "5",
    ORC_TIMESTAMP_LTZ_LEGACY_TYPE: "true",
    PARTITION_DEFAULT_NAME: "__DEFAULT_PARTITION__",
    PARTITION_EXPIRATION_MAX_NUM: "100",
    PARTITION_EXPIRATION_STRATEGY: "values-time",
    PARTITION_LEGACY_NAME: "true",
    SCAN_MODE: "default",
    SEQUENCE_FIELD_SORT_ORDER: "ascending",
    SNAPSHOT_NUM_RETAINED_MAX: "2147483647",
    SNAPSHOT_NUM_RETAINED_MIN: "10",
    SNAPSHOT_TIME_RETAINED: "1 h",
    TYPE: "table",
}

#: Options that can be neither set nor removed once the table holds a snapshot.
IMMUTABLE: frozenset[str] = frozenset(
    {
        TYPE,
        BUCKET_KEY,
        BUCKET_FUNCTION_TYPE,
        DATA_FILE_PATH_DIRECTORY,
        MERGE_ENGINE,
        SEQUENCE_SNAPSHOT_ORDERING,
        AGGREGATION_REMOVE_RECORD_ON_DELETE,
        PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE,
        PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP,
        ROWKIND_FIELD,
        PRIMARY_KEY,
        PRIMARY_KEY_NULLABLE,
        PARTITION,
        DYNAMIC_BUCKET_INITIAL_BUCKETS,
        FORCE_LOOKUP,
        ROW_TRACKING_ENABLED,
        DATA_EVOLUTION_ENABLED,
        DELETE_FILE_THREAD_NUM,
        INDEX_FILE_IN_DATA_FILE_DIR,
        BLOB_FIELD,
        BLOB_DESCRIPTOR_FIELD,
        BLOB_VIEW_FIELD,
        PK_CLUSTERING_OVERRIDE,
    }
)
_FIXED = frozenset({TYPE, PATH})
_RULED = frozenset(
    {
        BUCKET,
        DELETION_VECTORS_ENABLED,
        CLUSTERING_COLUMNS,
        PARTITION_DEFAULT_NAME,
        PARTITION_LEGACY_NAME,
        IGNORE_DELETE,
        IGNORE_UPDATE_BEFORE,
    }
)
#: Columns that lie in files of their own: lists of them.
BLOB_LISTS = (BLOB_FIELD, BLOB_DESCRIPTOR_FIELD, BLOB_VIEW_FIELD, BLOB_STORED_DESCRIPTOR_FIELDS)

#: Tables that Lakebed refuses to read, or to write, for the value of such an option: `format.support` says for which.
_REFUSED = frozenset(
    {
        TYPE,
        SCAN_PRIMARY_BRANCH,
        CHANGELOG_PRODUCER,
        MANIFEST_FORMAT,
        DATA_FILE_EXTERNAL_PATHS,
    }
)
#: What reads, writes or keeps a table as they say; the validation of schemas knows the others' forms and rules too.
_FOLLOWED = frozenset(
    {
        ADD_COLUMN_BEFORE_PARTITION,
        AGGREGATION_REMOVE_RECORD_ON_DELETE,
        ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED,
        BLOB_DESCRIPTOR_FIELD,
        BLOB_EXTERNAL_STORAGE_FIELD,
        BLOB_FIELD,
        BLOB_STORED_DESCRIPTOR_FIELDS,
        BLOB_TARGET_FILE_SIZE,
        BLOB_VIEW_FIELD,
        BUCKET,
        BUCKET_FUNCTION_TYPE,
        BUCKET_KEY,
        CHANGELOG_FILE_COMPRESSION,
        CHANGELOG_FILE_FORMAT,
        CHANGELOG_FILE_PREFIX,
        CHANGELOG_FILE_STATS_MODE,
        CLUSTERING_COLUMNS,
        CLUSTERING_STRATEGY,
        COMMIT_MAX_RETRIES,
        COMPACTION_DELETE_RATIO_THRESHOLD,
        COMPACTION_MIN_FILE_NUM,
        COMPACTION_SMALL_FILE_RATIO,
        CONSUMER_EXPIRATION_TIME,
        DATA_EVOLUTION_ENABLED,
        DELETE_FILE_THREAD_NUM,
        DATA_FILE_PATH_DIRECTORY,
        DATA_FILE_PREFIX,
        DELETION_VECTORS_BITMAP64,
        DELETION_VECTORS_ENABLED,
        DELETION_VECTORS_MERGE_ON_READ,
        DELETION_VECTOR_INDEX_FILE_TARGET_SIZE,
        DISABLE_EXPLICIT_TYPE_CASTING,
        FIELDS_DEFAULT_AGGREGATE_FUNCTION,
        FILE_COMPRESSION,
        FILE_COMPRESSION_PER_LEVEL,
        FILE_COMPRESSION_ZSTD_LEVEL,
        FILE_FORMAT,
        FILE_FORMAT_PER_LEVEL,
        FILE_INDEX_IN_MANIFEST_THRESHOLD,
        FILE_SUFFIX_INCLUDE_COMPRESSION,
        IGNORE_DELETE,
        INDEX_FILE_IN_DATA_FILE_DIR,
        MANIFEST_COMPRESSION,
        MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE,
        MANIFEST_MERGE_MIN_COUNT,
        MANIFEST_TARGET_FILE_SIZE,
        MERGE_ENGINE,
        METADATA_STATS_MODE,
        NUM_LEVELS,
        NUM_SORTED_RUN_COMPACTION_TRIGGER,
        ORC_TIMESTAMP_LTZ_LEGACY_TYPE,
        PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE,
        PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP,
        PARTITION,
        PARTITION_DEFAULT_NAME,
        PARTITION_EXPIRATION_MAX_NUM,
        PARTITION_EXPIRATION_STRATEGY,
        PARTITION_EXPIRATION_TIME,
        PARTITION_LEGACY_NAME,
        PARTITION_TIMESTAMP_FORMATTER,
        PARTITION_TIMESTAMP_PATTERN,
        PRIMARY_KEY,
        PRIMARY_KEY_NULLABLE,
        ROWKIND_FIELD,
        ROW_TRACKING_ENABLED,
        SCAN_FALLBACK_BRANCH,
        SEQUENCE_FIELD,
        SEQUENCE_FIELD_SORT_ORDER,
        SINK_CLUSTERING_BY_COLUMNS,
        SINK_CLUSTERING_STRATEGY,
        SNAPSHOT_NUM_RETAINED_MAX,
        SNAPSHOT_NUM_RETAINED_MIN,
        SNAPSHOT_TIME_RETAINED,
        TARGET_FILE_ROW_NUM,
        TARGET_FILE_SIZE,
        VIDEO_FRAME_FIELD,
    }
)


def _option(name: str, kind: OptionKind, words: tuple[str, ...] = ()) -> Option:
    mutability = Mutability.FREE
    for found, names in ((Mutability.RULED, _RULED), (Mutability.WHILE_EMPTY, IMMUTABLE), (Mutability.NEVER, _FIXED)):
        mutability = found if name in names else mutability
    handling = Handling.REFUSED if name in _REFUSED else Handling.FOLLOWED if name in _FOLLOWED else Handling.KEPT
    default = _DEFAULTS.get(name, "false" if kind is OptionKind.BOOLEAN else None)
    return Option(name, kind, default, words, mutability, handling)


OPTIONS: dict[str, Option] = {
    **{name: _option(name, kind) for kind, names in _KINDS.items() for name in names.split()},
    **{name: _option(name, OptionKind.WORD, tuple(words.split())) for name, words in _WORDS.items()},
}
KNOWN: frozenset[str] = frozenset(OPTIONS)
