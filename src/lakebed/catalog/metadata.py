"""Read and write a table's `TableMetadata` record: its name, when it was made, its version.

The record is a convenience (Mini Paimon, "TableMetadata"): the schema directory decides which version is the newest. A
table that another engine made has no record; then one is made up from its schema files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

from lakebed.catalog.annotations import OPTION
from lakebed.catalog.dialects import dialect_of
from lakebed.catalog.jackson import pretty
from lakebed.catalog.names import TableName
from lakebed.catalog.paths import PathFactory
from lakebed.catalog.schema_manager import SchemaManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import CorruptMetadataError, NotFoundError, warn

CORRUPT_RECORD = "LB3411"
NO_RECORD = "LB3412"
NO_TIME = "LB5081"

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
