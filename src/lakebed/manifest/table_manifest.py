"""Define what a manifest declares: `Manifest`, `TableManifest` and the parts of an ODF document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar

from lakebed.diagnostics import Diagnostic, Position
from lakebed.manifest.approvals import Approval
from lakebed.manifest.compatibility import Compatibility, Consumer
from lakebed.manifest.event_time import EventTime
from lakebed.manifest.problems import FieldPath
from lakebed.model import Schema
from lakebed.model.extra import DESCRIPTION


class SourceKind(StrEnum):
    """The envelope that a table was declared in."""

    TABLE = "Table"
    DATASET_SNAPSHOT = "DatasetSnapshot"
    DATASET_RESOURCE = "Dataset"
    METADATA_EVENT = "MetadataEvent"
    EVENTS = "events"


class SystemColumns(StrEnum):
    """Who writes the ODF system columns, which decides the types of `offset` and `op`."""

    KAMU = "kamu"
    SPEC = "spec"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the system columns are called, each by its role."""

    offset: str = "offset"
    op: str = "op"
    system_time: str = "system_time"
    event_time: str = "event_time"

    #: What Open Data Fabric calls the names, in the order of the roles.
    KEYS: ClassVar[tuple[str, ...]] = ("offsetColumn", "operationTypeColumn", "systemTimeColumn", "eventTimeColumn")
    ROLES: ClassVar[tuple[str, ...]] = ("offset", "op", "system_time", "event_time")

    def name(self, role: str) -> str:
        """The name of the column of a role."""
        return str(getattr(self, role))

    @staticmethod
    def of(values: Mapping[str, Any]) -> Vocabulary:
        """From the keys of Open Data Fabric; a key that is absent, or no text, is the usual name."""
        pairs = zip(Vocabulary.ROLES, Vocabulary.KEYS, strict=True)
        return Vocabulary(**{role: values[key] for role, key in pairs if isinstance(values.get(key), str)})

    def to_json(self) -> dict[str, str]:
        """The names that are not the usual ones, by the keys of Open Data Fabric."""
        usual, pairs = Vocabulary(), zip(self.ROLES, self.KEYS, strict=True)
        return {key: self.name(role) for role, key in pairs if self.name(role) != usual.name(role)}


class ReadKind(StrEnum):
    """The kinds of sources of Open Data Fabric that are read. Json is one document with a list of records in it."""

    CSV = "Csv"
    JSON = "Json"
    ND_JSON = "NdJson"
    PARQUET = "Parquet"


_FORMATS = {ReadKind.CSV: "csv", ReadKind.JSON: "json", ReadKind.ND_JSON: "json", ReadKind.PARQUET: "parquet"}
#: What Spark's reader calls a property, and what Open Data Fabric means where it is not there.
_READER_NAMES = {"separator": "sep"}
_STEP_DEFAULTS: Mapping[ReadKind, Mapping[str, str]] = {ReadKind.CSV: {"header": "false", "escape": "\\"}}
#: The usual form, which is read without a pattern.
_USUAL = "rfc3339"


@dataclass(frozen=True, slots=True, init=False)
class ReadOptions:
    """How source rows are read.

    Without a `kind`, `format` is one such as `csv`, and `options` are those of Spark's reader. With a kind of Open Data
    Fabric, `options` are its properties. `schema` is the JSON of a declared schema, `ddl_schema` its older form; either
    names the columns that are read, in order, and their types in the source. `event_time` is the rule for records that
    do not say when they happened, `include` and `exclude` are patterns that choose among the files of a source.
    """

    format: str | None
    options: Mapping[str, str] = field(hash=False)
    kind: ReadKind | None
    schema: str | None
    ddl_schema: tuple[str, ...]
    event_time: EventTime | None
    include: tuple[str, ...]
    exclude: tuple[str, ...]

    def __init__(
        self,
        format: str | None = None,
        options: Mapping[str, str] = MappingProxyType({}),
        kind: ReadKind | None = None,
        schema: str | None = None,
        ddl_schema: tuple[str, ...] = (),
        event_time: EventTime | None = None,
        include: tuple[str, ...] = (),
        exclude: tuple[str, ...] = (),
    ) -> None:
        said = _FORMATS[kind] if kind is not None else None if format is None else format.lower()
        object.__setattr__(self, "format", said)
        object.__setattr__(self, "options", MappingProxyType(dict(options)))
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "ddl_schema", ddl_schema)
        object.__setattr__(self, "event_time", event_time)
        object.__setattr__(self, "include", include)
        object.__setattr__(self, "exclude", exclude)

    @property
    def reader_options(self) -> Mapping[str, str]:
        """The options by Spark's names, with the defaults of the kind."""
        if self.kind is None:
            return self.options
        said = {k: v for k, v in self.options.items() if k not in ("subPath", "inferSchema")}
        said = {k: v for k, v in said.items() if not (k.endswith("Format") and v == _USUAL)}
        return {**_STEP_DEFAULTS.get(self.kind, {}), **{_READER_NAMES.get(k, k): v for k, v in said.items()}}


@dataclass(frozen=True, slots=True)
class OdfEvent:
    """A metadata event that is not the schema, as JSON text in the author's key order."""

    kind: str
    text: str

    def to_json(self) -> dict[str, Any]:
        """The event's object, `kind` included."""
        loaded: dict[str, Any] = json.loads(self.text)
        return loaded


@dataclass(frozen=True, slots=True)
class OdfDocument:
    """An ODF document less its schema.

    `events` are all but the schema event, which stands before `events[schema_at]`. `dataset_kind` is `Root` or
    `Derivative`. A resource has a `schema_id` (`$schema`) and may have `headers` beside the name, as JSON text.
    """

    events: tuple[OdfEvent, ...] = ()
    schema_at: int = 0
    dataset_kind: str | None = None
    schema_id: str | None = None
    headers: str | None = None

    def other_headers(self) -> dict[str, Any]:
        """The headers of a resource beside its name."""
        loaded: dict[str, Any] = json.loads(self.headers) if self.headers is not None else {}
        return loaded


@dataclass(frozen=True, slots=True)
class TableManifest:
    """One declared table.

    `name` is the text `db.table` as the author wrote it. `schema` has every declared column, system columns included;
    its description is the table's `description`, and the two are kept equal. `options` are text to text;
    `ignore_options` are the names of those that others set and remove, or patterns with `*` for them. `approvals` are
    changes that may happen although they need leave; they are no part of the table. `consumers` are those who read
    it. `positions` and `property_positions` say where fields and properties stand, and do not count for equality.
    """

    name: str
    schema: Schema
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    description: str | None = None
    system_columns: SystemColumns | None = None
    compatibility: Compatibility | None = None
    read: ReadOptions | None = None
    vocabulary: Vocabulary = Vocabulary()
    source_kind: SourceKind = SourceKind.TABLE
    odf: OdfDocument | None = None
    ignore_options: tuple[str, ...] = ()
    approvals: tuple[Approval, ...] = ()
    consumers: tuple[Consumer, ...] = ()
    position: Position | None = field(default=None, compare=False)
    positions: Mapping[FieldPath, Position] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    property_positions: Mapping[FieldPath, Position] = field(
        default_factory=lambda: MappingProxyType({}), compare=False
    )

    def __post_init__(self) -> None:
        said = self.schema.extra.description
        if self.description is not None and said is not None and self.description != said:
            raise ValueError("the description of the table and that of its schema differ")
        if self.description is None:
            object.__setattr__(self, "description", said)
        elif said is None:
            extra = self.schema.extra.merged({DESCRIPTION: self.description})
            object.__setattr__(self, "schema", replace(self.schema, extra=extra))
        for name in ("options", "positions", "property_positions"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def position_of(self, path: Sequence[str]) -> Position | None:
        """Where the field at `path` is declared, or what is nearest around it, or the table; None if not from a text.

        Steps into a list, a map's value and a map's key are `element`, `value` and `key`.
        """
        for end in range(len(path), 0, -1):
            position = self.positions.get(tuple(path[:end]))
            if position is not None:
                return position
        return self.position

    def property_position(self, *names: str) -> Position | None:
        """Where a property stands: `property_position("options", "bucket")`; else what is nearest around it."""
        for end in range(len(names), 0, -1):
            position = self.property_positions.get(names[:end])
            if position is not None:
                return position
        return self.position


@dataclass(frozen=True, slots=True)
class Manifest:
    """The tables of one or several texts, in order, and the warnings about them."""

    tables: tuple[TableManifest, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    def table(self, name: str) -> TableManifest | None:
        """The table of exactly this name, or None."""
        return next((table for table in self.tables if table.name == name), None)
