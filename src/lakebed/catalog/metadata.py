"""Read and write a table's `TableMetadata` record, and keep it in step with the table's versions.

The record is a convenience (Mini Paimon, "TableMetadata"): the schema directory decides which version is the newest. A
table that another engine made has no record; then one is made up from its schema files. The schema file is written
before: a storage that refuses the record must not make the caller believe that the change failed. He is warned, and the
next look at the table puts the record right. Not so in the mini layout, whose options and comments are in the record
alone: they belong to the table, and every version has those that the record holds now.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

from lakebed.catalog.annotations import OPTION
from lakebed.catalog.dialects import dialect_of
from lakebed.catalog.jackson import pretty
from lakebed.catalog.names import TableName
from lakebed.catalog.paths import Layout, PathFactory
from lakebed.catalog.schema_manager import Clock, SchemaManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import CorruptMetadataError, LakebedError, NotFoundError, StoreError, warn
from lakebed.store.failed_follow_ups import warn_undone, with_note

CORRUPT_RECORD = "LB3411"
NO_RECORD = "LB3412"
NO_TIME = "LB5081"
BEHIND = "LB3413"

_REMEDY = "Look at what is there and mend or remove it; the next change writes the record again."

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999000, UTC)
_KEYS = ("tableName", "databaseName", "currentSchemaId", "createTime", "lastModifiedTime", "description", "properties")
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TableMetadata:
    """The record of one table; times are aware, in UTC. `unknown` holds members that other programs have put in."""

    table_name: str
    database_name: str
    current_schema_id: int
    create_time: datetime
    last_modified_time: datetime
    description: str = ""
    properties: Mapping[str, str] = field(default_factory=lambda: _NOTHING, hash=False)
    unknown: Mapping[str, Any] = field(default_factory=lambda: _NOTHING, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "properties", MappingProxyType(dict(self.properties)))
        object.__setattr__(self, "unknown", MappingProxyType(dict(self.unknown)))

    @property
    def name(self) -> TableName:
        """The table's name."""
        return TableName(self.database_name, self.table_name)

    def to_json(self) -> dict[str, Any]:
        """The record's object, keys in the order of the specification's example, times as Java's `Instant` text."""
        values = (
            self.table_name,
            self.database_name,
            self.current_schema_id,
            instant_text(self.create_time),
            instant_text(self.last_modified_time),
            self.description,
            dict(self.properties),
        )
        return {**dict(zip(_KEYS, values, strict=True)), **self.unknown}

    @classmethod
    def from_json(cls, content: Any, *, source: str = "metadata") -> TableMetadata:
        """The record of its object; `source` is the path that messages name.

        Raises:
            CorruptMetadataError: members are missing or of the wrong kind, with all problems.
        """
        reader = _Reader(source, content if isinstance(content, dict) else {})
        found = cls(
            table_name=reader.text("tableName"),
            database_name=reader.text("databaseName"),
            current_schema_id=reader.number("currentSchemaId"),
            create_time=reader.time("createTime"),
            last_modified_time=reader.time("lastModifiedTime"),
            description=reader.text("description", default=""),
            properties=reader.properties("properties"),
            unknown={key: value for key, value in reader.content.items() if key not in _KEYS},
        )
        if reader.problems:
            raise CorruptMetadataError(*reader.problems)
        return found

    @classmethod
    def loads(cls, data: bytes, *, source: str = "metadata") -> TableMetadata:
        """The record of its bytes. Raises `CorruptMetadataError`."""
        try:
            content = json.loads(data.decode())
        except (ValueError, RecursionError) as error:
            message = f"{source} cannot be read: {error}"
            raise CorruptMetadataError.of(CORRUPT_RECORD, message, path=source) from error
        return cls.from_json(content, source=source)

    def dumps(self) -> bytes:
        """The bytes of the record."""
        return pretty(self.to_json())

    def persist(self, path_factory: PathFactory) -> None:
        """Write the record, atomically, over the one that may be there."""
        path_factory.store.replace(path_factory.metadata(self.name), self.dumps())

    @classmethod
    def load(cls, path_factory: PathFactory, database: str, table: str) -> TableMetadata:
        """The record of a table. Its version is that of the schema directory, also where the file says another.

        A table without a record gets one that is made up from its schema files, and not written.

        Raises:
            NotFoundError: there is neither a record nor a schema.
            CorruptMetadataError: the record, or a schema file that is needed, cannot be understood.
        """
        name = TableName(database, table)
        manager = _manager(path_factory, name)
        record = read_record(path_factory, name)
        known = manager.ids()
        if record is None:
            if not known:
                raise _no_record(path_factory, name)
            return synthesised(name, manager)
        if known and known[-1] != record.current_schema_id:
            return replace(record, current_schema_id=known[-1])
        return record

    @classmethod
    def exists(cls, path_factory: PathFactory, database: str, table: str) -> bool:
        """Whether `load` would find a record or a schema."""
        name = TableName(database, table)
        return path_factory.store.exists(path_factory.metadata(name)) or _manager(path_factory, name).exists()


def read_record(path_factory: PathFactory, name: TableName) -> TableMetadata | None:
    """The record in its file, None where there is no file. Raises `CorruptMetadataError`.

    Where the directory has been renamed since, the name is that of the directory.
    """
    path = path_factory.metadata(name)
    try:
        data = path_factory.store.read(path)
    except NotFoundError:
        return None
    return replace(TableMetadata.loads(data, source=path), table_name=name.table, database_name=name.database)


def synthesised(name: TableName, manager: SchemaManager) -> TableMetadata:
    """The record that a table without one would have."""
    known = manager.ids()
    if not known:
        raise NotFoundError.of(NO_RECORD, f"there is no table {name}")
    first, latest = manager.load_schema(known[0]), manager.load_schema(known[-1])
    return described(name, latest, made=first.time_millis)


def described(name: TableName, latest: TableSchema, *, made: int) -> TableMetadata:
    """The record of a table at a version; `made` is when its first version was made, in milliseconds since 1970."""
    return TableMetadata(
        table_name=name.table,
        database_name=name.database,
        current_schema_id=latest.id,
        create_time=instant(made, f"{name}"),
        last_modified_time=instant(max(made, latest.time_millis), f"{name}"),
        description=latest.comment or "",
        properties={key: value for key, value in sorted(latest.options.items()) if key != OPTION},
    )


def instant(millis: int, source: str) -> datetime:
    """The instant that many milliseconds after the start of 1970; outside of the years 1 to 9999 the nearest in them.

    That gives a `LakebedWarning`, in which `source` says whose time it is: what another engine wrote need not be one.
    """
    try:
        return _EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        nearest = _LAST if millis > 0 else _FIRST
        warn(
            NO_TIME,
            f"{source}: {millis} milliseconds since 1970 are no time of the years 1 to 9999; it is shown as "
            f"{instant_text(nearest)}",
            path=source,
            expected="a time of the years 1 to 9999",
            found=str(millis),
            remedy="if the schema file was edited or is damaged, restore it from a copy of the warehouse",
        )
        return nearest


def instant_text(time: datetime) -> str:
    """ISO text in UTC with no, three or six digits of the second's fraction, as many as it takes."""
    utc = time.astimezone(UTC)
    precision = "seconds" if not utc.microsecond else "microseconds" if utc.microsecond % 1000 else "milliseconds"
    return utc.replace(tzinfo=None).isoformat(timespec=precision) + "Z"


def _manager(path_factory: PathFactory, name: TableName) -> SchemaManager:
    dialect = dialect_of(path_factory.layout)
    return SchemaManager(path_factory.store, path_factory.table(name), name=name, dialect=dialect)


def _no_record(path_factory: PathFactory, name: TableName) -> NotFoundError:
    path = path_factory.metadata(name)
    return NotFoundError.of(NO_RECORD, f"there is no table {name} in {path_factory.warehouse}", path=path)


class _Reader:
    """Takes the object of a record apart and collects all problems on the way."""

    def __init__(self, source: str, content: dict[str, Any]) -> None:
        self.problems: list[Diagnostic] = []
        self.content = content
        self._source = source

    def _problem(self, key: str, expected: str) -> None:
        self.problems.append(
            Diagnostic(
                CORRUPT_RECORD,
                f"{self._source}: {key!r} must be {expected}",
                path=key,
                expected=expected,
                found=repr(self.content.get(key))[:60],
            )
        )

    def text(self, key: str, default: str | None = None) -> str:
        value = self.content.get(key)
        if isinstance(value, str):
            return value
        if value is not None or default is None:
            self._problem(key, "text")
        return default or ""

    def number(self, key: str) -> int:
        value = self.content.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        self._problem(key, "a whole number from 0")
        return 0

    def time(self, key: str) -> datetime:
        """ISO text, or seconds since 1970 as Jackson writes them by default."""
        value = self.content.get(key)
        try:
            if isinstance(value, str):
                found = datetime.fromisoformat(value)
                return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError):
            pass
        self._problem(key, "a time in ISO form")
        return datetime.fromtimestamp(0, UTC)

    def properties(self, key: str) -> dict[str, str]:
        value = self.content.get(key)
        if value is None:
            return {}
        if isinstance(value, dict) and all(isinstance(part, str) for part in value.values()):
            return value
        self._problem(key, "an object of texts")
        return {}


def completed_by_record(path_factory: PathFactory, name: TableName) -> Callable[[TableSchema], TableSchema]:
    """For `SchemaManager`: a version with what the table's record says. A record that cannot be read says nothing."""

    def completed(schema: TableSchema) -> TableSchema:
        try:
            record = read_record(path_factory, name)
        except (CorruptMetadataError, StoreError):
            return schema
        return schema if record is None else completed_version(schema, record)

    return completed


def completed_version(schema: TableSchema, record: TableMetadata) -> TableSchema:
    """The version with the record's properties, description and times.

    Of the versions between the first and the newest no file says when they were made: they get the first one's time.
    """
    is_newest = 0 < record.current_schema_id <= schema.id
    return replace(
        schema,
        options=record.properties,
        comment=record.description or None,
        time_millis=_millis(record.last_modified_time if is_newest else record.create_time),
    )


def _millis(time: datetime) -> int:
    return int(time.timestamp() * 1000 + 0.5)


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
