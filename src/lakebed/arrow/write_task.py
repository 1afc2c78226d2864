"""Describe what a task writes: a value that travels from the driver to Spark's workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self
from uuid import uuid4

from lakebed.catalog.annotations import OPTION
from lakebed.catalog.option_values import at_level, is_set, long, size_of, text_of, whole_number, word
from lakebed.catalog.options import (
    BLOB_TARGET_FILE_SIZE,
    DATA_FILE_PREFIX,
    FILE_COMPRESSION,
    FILE_COMPRESSION_PER_LEVEL,
    FILE_COMPRESSION_ZSTD_LEVEL,
    FILE_SUFFIX_INCLUDE_COMPRESSION,
    TARGET_FILE_ROW_NUM,
)
from lakebed.catalog.table_schema import TableSchema
from lakebed.format.blob_columns import blob_file_fields
from lakebed.format.changelog import changelog_options
from lakebed.format.hash_index import HashIndexes
from lakebed.format.manifest import FileSource
from lakebed.format.new_files import UNAWARE, wall_clock
from lakebed.format.partition import data_directory, partition_path
from lakebed.format.row_ranges import BLOB
from lakebed.format.writable_types import written_format
from lakebed.maintenance.compaction_rules import target_file_size
from lakebed.physical.paimon_types import DataField, DataType
from lakebed.store import Store, open_store

_NO_LIMIT = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class WriteTask:
    """How the rows that a task gets become data files of a table.

    `location` and what follows say how the store is opened (see `open_store`), `table_path` is the path of the main
    table. `fields` are the columns of schema `schema_id`, `key` the trimmed primary key, empty for append tables.
    `total_buckets` is -1 where rows belong to no bucket. `first_sequence` is the number of the first row, in keyed
    tables and in buckets. `id` and `number` are in the names of files: no other attempt has the same (see `attempt`).
    `creation_time` is the wall clock in milliseconds, as if it were UTC. `makes_changelog`: every row goes into
    changelog files, too. `hash_indexes` are those of a table with dynamic buckets, before. `source` says whether the
    rows are new or those of other files; `level` and `sequence`, the one number of all rows, are those of compacted
    files. `write_cols`: the columns of a file that has not all.
    """

    location: str
    table_path: str
    schema_id: int
    fields: tuple[DataField, ...]
    id: str
    creation_time: int
    partition_keys: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    total_buckets: int = UNAWARE
    first_sequence: int = 0
    file_format: str = "parquet"
    number: int = 0
    level: int = 0
    sequence: int | None = None
    source: FileSource = FileSource.APPEND
    makes_changelog: bool = False
    write_cols: tuple[str, ...] | None = None
    hash_indexes: HashIndexes | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    storage_options: Mapping[str, Any] | None = field(default=None, repr=False)
    allow_overwrite_races: bool = False

    @classmethod
    def under(cls, schema: TableSchema, *, location: str, table_path: str, created: int, **parts: Any) -> Self:
        """A task that writes under a version of a table's schema; `parts` are other fields.

        Buckets, the format and the key follow from the schema. `created` is in milliseconds since 1970.
        """
        made = {
            "id": uuid4().hex,
            "total_buckets": schema.bucket if schema.bucket > 0 else UNAWARE,
            "file_format": written_format(schema.options),
            "options": {k: v for k, v in schema.options.items() if k != OPTION},
            "key": schema.trimmed_primary_keys,
            **parts,
        }
        return cls(
            location=location,
            table_path=table_path,
            creation_time=wall_clock(created),
            schema_id=schema.id,
            fields=schema.fields,
            partition_keys=schema.partition_keys,
            **made,
        )

    def attempt(self, number: int) -> Self:
        """The same task as an attempt of the job's task `number`, with names of files that no other attempt has."""
        return replace(self, id=uuid4().hex, number=number)

    @cached_property
    def of_changelog(self) -> Self:
        """The same task as it writes the files of the changelog."""
        options = changelog_options(self.options)
        return replace(self, options=options, file_format=written_format(options), makes_changelog=False)

    @cached_property
    def blob_fields(self) -> tuple[DataField, ...]:
        """The columns whose values go into blob files."""
        return blob_file_fields(self.fields, self.options)

    @cached_property
    def of_data_files(self) -> Self:
        """The same task as it writes the files of the other columns."""
        if not self.blob_fields:
            return self
        fields = tuple(f for f in self.fields if f not in self.blob_fields)
        return replace(self, fields=fields, write_cols=tuple(f.name for f in fields))

    @cached_property
    def of_blobs(self) -> Self:
        """The same task as it writes blob files."""
        return replace(self, fields=self.blob_fields, partition_keys=())

    def open_store(self) -> Store:
        """The store of the table."""
        return open_store(
            self.location,
            storage_options=self.storage_options or None,
            allow_overwrite_races=self.allow_overwrite_races,
        )[0]

    @property
    def has_sequence(self) -> bool:
        """Whether rows are numbered through the whole table or bucket, not anew in each file."""
        return bool(self.key) or self.total_buckets > 0

    @cached_property
    def partition_types(self) -> tuple[DataType, ...]:
        """The types of the partition keys."""
        return tuple(self.fields[i].type for i in self.partition_places)

    @cached_property
    def partition_places(self) -> tuple[int, ...]:
        """The places of the partition keys among the fields."""
        names = [f.name for f in self.fields]
        return tuple(names.index(key) for key in self.partition_keys)

    @cached_property
    def key_places(self) -> tuple[int, ...]:
        """The places of the columns of the key among the fields."""
        names = [f.name for f in self.fields]
        return tuple(names.index(key) for key in self.key)

    @cached_property
    def target_size(self) -> int:
        """From how many bytes on the next file is begun."""
        return target_file_size(self.options, keyed=bool(self.key))

    @cached_property
    def blob_target_size(self) -> int:
        """From how many bytes on the next blob file is begun."""
        return size_of(self.options, BLOB_TARGET_FILE_SIZE, self.target_size)

    @cached_property
    def target_rows(self) -> int:
        """How many rows a file has at most."""
        text = text_of(self.options, TARGET_FILE_ROW_NUM)
        return max(long(text) or _NO_LIMIT, 1) if text else _NO_LIMIT

    @property
    def compression(self) -> str:
        """The compression that the table asks for, in lower case."""
        found = at_level(self.options, FILE_COMPRESSION_PER_LEVEL, self.level)
        return (found or word(self.options, FILE_COMPRESSION)).strip().lower()

    @property
    def zstd_level(self) -> int:
        """The level of Zstandard that the table asks for."""
        return whole_number(self.options, FILE_COMPRESSION_ZSTD_LEVEL)

    def directory(self, partition: tuple[Any, ...], bucket: int) -> str:
        """Where files of a bucket lie; `partition` holds internal values."""
        path = partition_path(self.partition_keys, self.partition_types, partition, self.options)
        return data_directory(self.table_path, path, bucket, self.options)

    def file_name(self, count: int) -> str:
        """The name of the file that is the `count`th of the attempt."""
        suffix = f"{self.compression}.{self.file_format}"
        if not is_set(self.options, FILE_SUFFIX_INCLUDE_COMPRESSION):
            suffix = self.file_format
        return self._named(count, suffix)

    def blob_file_name(self, count: int) -> str:
        """The name of the blob file that is the `count`th file of the attempt."""
        return self._named(count, BLOB)

    def _named(self, count: int, suffix: str) -> str:
        return f"{text_of(self.options, DATA_FILE_PREFIX)}{self.id}-{self.number}-{count}.{suffix}"
