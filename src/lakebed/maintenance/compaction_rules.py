"""Tell from the options of a table which of its files a compaction writes anew (Paimon, "Compaction")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.catalog.option_values import number_of, size_of, whole_number
from lakebed.catalog.options import (
    COMPACTION_DELETE_RATIO_THRESHOLD,
    COMPACTION_MIN_FILE_NUM,
    COMPACTION_SMALL_FILE_RATIO,
    NUM_SORTED_RUN_COMPACTION_TRIGGER,
    TARGET_FILE_SIZE,
)
from lakebed.catalog.table_schema import TableSchema

#: The sizes of files where the table says nothing.
_APPEND_SIZE, _KEYED_SIZE = 256 << 20, 128 << 20


def target_file_size(options: Mapping[str, str], *, keyed: bool) -> int:
    """How many bytes a file comes to before the next one is begun; `keyed`: of a table with a primary key."""
    return size_of(options, TARGET_FILE_SIZE, _KEYED_SIZE if keyed else _APPEND_SIZE)


@dataclass(frozen=True, slots=True)
class CompactionRules:
    """From when on files are written anew.

    Of an append table: those of less than `large` bytes where a partition or bucket has `least_files` of them, and each
    of whose rows more than `deleted_share` are deleted. Of a table with keys: all of a bucket that has `runs` sorted
    runs; each file of level 0 is one, and each other level.
    """

    large: float
    least_files: int
    deleted_share: float
    runs: int

    @classmethod
    def of(cls, schema: TableSchema) -> CompactionRules:
        """What the options say. Raises `UsageError` (LB5073) for values that are none."""
        options, size = schema.options, target_file_size(schema.options, keyed=bool(schema.primary_keys))
        return cls(
            number_of(options, COMPACTION_SMALL_FILE_RATIO) * size,
            max(whole_number(options, COMPACTION_MIN_FILE_NUM), 2),
            number_of(options, COMPACTION_DELETE_RATIO_THRESHOLD),
            max(whole_number(options, NUM_SORTED_RUN_COMPACTION_TRIGGER), 2),
        )
