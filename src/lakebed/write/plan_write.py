"""Plan a write: where each row goes, in which order, and which rows of a key count."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from lakebed.catalog.file_index_options import unwritten_indexes
from lakebed.catalog.option_values import chosen_word, columns_of
from lakebed.catalog.options import BUCKET_FUNCTION_TYPE, BUCKET_KEY
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import LakebedWarning
from lakebed.format.changelog import has_input_changelog
from lakebed.format.merge_engine import MergeEngine, MergeEngineRules, merge_rules
from lakebed.format.new_files import UNAWARE
from lakebed.format.refuse_unsupported import refuse_unwritable
from lakebed.format.writable_types import written_format
from lakebed.physical.paimon_types import DataField


@dataclass(frozen=True, slots=True)
class WritePlan:
    """How rows of one schema version are written.

    Rows go by `partition` and by the bucket of `bucket_key` among `buckets`; -1 says that there are none, and with a
    key, that there are as many as it takes. `key` is the primary key without the partition columns, empty for an append
    table; rows of one key are merged by `merge`, None for an append table. `file_format` is that of new files.
    """

    schema: TableSchema
    partition: tuple[DataField, ...]
    key: tuple[DataField, ...]
    bucket_key: tuple[DataField, ...]
    buckets: int
    bucket_function: str
    merge: MergeEngineRules | None
    file_format: str

    @property
    def is_keyed(self) -> bool:
        """Whether rows have a primary key, so that a later row takes the place of an earlier one."""
        return self.merge is not None

    @property
    def has_buckets(self) -> bool:
        """Whether a row belongs to a bucket, so that rows are numbered through their whole bucket."""
        return self.is_keyed or self.buckets != UNAWARE

    @property
    def has_dynamic_buckets(self) -> bool:
        """Whether an index says which bucket a key is in."""
        return self.is_keyed and self.buckets == UNAWARE

    @property
    def keeps_last(self) -> bool:
        """Whether of the rows of one key in a write only the last one counts."""
        return self.merge is not None and self.merge.engine is MergeEngine.DEDUPLICATE

    @property
    def keeps_first(self) -> bool:
        """Whether of all rows of one key only the first one counts."""
        return self.merge is not None and self.merge.engine is MergeEngine.FIRST_ROW

    @property
    def has_changelog(self) -> bool:
        """Whether every row that comes is told to consumers, by changelog files."""
        return has_input_changelog(self.schema)

    @property
    def ignores_deletes(self) -> bool:
        """Whether rows that delete are left out."""
        return self.merge is not None and self.merge.ignore_delete


def plan_write(schema: TableSchema) -> WritePlan:
    """The plan of a table. Raises `UnsupportedError` with every reason why rows cannot be written to it.

    Warns (LB5088) of file indexes that the table asks for and that will not be written.
    """
    refuse_unwritable(schema)
    for told in unwritten_indexes(schema.options):
        warnings.warn(LakebedWarning(told), stacklevel=2)
    fields = {f.name: f for f in schema.fields}
    key = schema.trimmed_primary_keys
    bucket_key = columns_of(schema.options, BUCKET_KEY) or key
    return WritePlan(
        schema=schema,
        partition=tuple(fields[name] for name in schema.partition_keys),
        key=tuple(fields[name] for name in key),
        bucket_key=tuple(fields[name] for name in bucket_key),
        buckets=schema.bucket if schema.bucket > 0 else UNAWARE,
        bucket_function=chosen_word(schema.options, BUCKET_FUNCTION_TYPE),
        merge=merge_rules(schema) if schema.primary_keys else None,
        file_format=written_format(schema.options),
    )
