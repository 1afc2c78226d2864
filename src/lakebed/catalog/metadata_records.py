"""Keep the `metadata` records of tables in step with their versions, as well as possible.

The schema file is the truth, and is written before: a storage that refuses the record must not make the caller believe
that the change failed. He is warned, and the next look at the table puts the record right. Not so in the mini layout,
whose options and comments are in the record alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from lakebed.catalog.annotations import OPTION
from lakebed.catalog.metadata import TableMetadata, described, instant, read_record, synthesised
from lakebed.catalog.names import TableName
from lakebed.catalog.paths import Layout, PathFactory
from lakebed.catalog.schema_manager import Clock, SchemaManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import CorruptMetadataError, LakebedError, StoreError
from lakebed.store.failed_follow_ups import warn_undone, with_note

BEHIND = "LB3413"

_REMEDY = "Look at what is there and mend or remove it; the next change writes the record again."


@dataclass(frozen=True, slots=True)
class Records:
    """Reads and writes the records of one warehouse."""

    paths: PathFactory
    clock: Clock

    def of(self, name: TableName, manager: SchemaManager) -> TableMetadata:
        """The record of a table at its newest version; made up where there is none, or none that can be read."""
        try:
            record = read_record(self.paths, name)
        except (CorruptMetadataError, StoreError):
            record = None
        if record is None:
            return synthesised(name, manager)
        latest = manager.get_current_schema()
        if record.current_schema_id == latest.id:
            return record
        raised = self._raised(record, latest)
        # Whoever can read need not be allowed to write.
        with suppress(StoreError):
            raised.persist(self.paths)
        return raised

    def check(self, name: TableName, schema: TableSchema) -> None:
        """Before a version is made: raise where the record has to hold a part of it and cannot be read."""
        if self._is_needed(schema):
            read_record(self.paths, name)

    def begin(self, name: TableName, schema: TableSchema) -> TableMetadata:
        """Write the record of a table that was made, and return it. Warns, or raises, as `follow`."""
        record = described(name, schema, made=schema.time_millis or self.clock())
        with self._after(name, f"the table {name} was made", needed=self._is_needed(schema)):
            record.persist(self.paths)
        return record

    def follow(self, name: TableName, schema: TableSchema) -> None:
        """Put the record of a table up to a version that was made; a table without a record gets none.

        In the mini layout, where options and comment are nowhere else, it gets one when there are any. A failure is a
        `LakebedWarning` (LB3413).

        Raises:
            CorruptMetadataError, StoreError: in the mini layout, options or a comment that cannot be written.
        """
        needed = self._is_needed(schema)
        with self._after(name, f"version {schema.id} of the schema of {name} was made", needed=needed):
            record = read_record(self.paths, name)
            if record is None and needed:
                made = described(name, schema, made=schema.time_millis or self.clock())
                record = replace(made, current_schema_id=-1)
            if record is not None and record.current_schema_id < schema.id:
                self._raised(record, schema).persist(self.paths)

    def rename(self, name: TableName, done: str) -> None:
        """Write the name of a table that was moved into its record. A failure is a warning."""
        with self._after(name, done, needed=False):
            record = read_record(self.paths, name)
            if record is not None:
                record.persist(self.paths)

    def _raised(self, record: TableMetadata, latest: TableSchema) -> TableMetadata:
        """The record at a version."""
        time = instant(latest.time_millis or self.clock(), f"version {latest.id}")
        raised = replace(record, current_schema_id=latest.id, last_modified_time=max(record.create_time, time))
        properties = {key: value for key, value in sorted(latest.options.items()) if key != OPTION}
        kept = record.properties if record.properties == properties else properties
        return replace(raised, description=latest.comment or "", properties=kept)

    def _is_needed(self, schema: TableSchema) -> bool:
        return self.paths.layout is Layout.MINI and bool(schema.options or schema.comment)

    @contextmanager
    def _after(self, name: TableName, done: str, *, needed: bool) -> Iterator[None]:
        try:
            yield
        except LakebedError as error:
            if needed:
                note = f"{done}, but without its options and its comment, which are in the `metadata` record"
                raise with_note(error, BEHIND, note, _REMEDY) from error
            undone = "its `metadata` record could not be written"
            warn_undone(error, done, undone, path=self.paths.metadata(name), remedy=_REMEDY, code=BEHIND)
