"""What a manifest declares: `Manifest`, `TableManifest` and the parts of an ODF document that a rewrite has to keep."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from lakebed.diagnostics import Diagnostic, Position
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


class Compatibility(StrEnum):
    """A rule that changes of the schema have to keep beside Lakebed's own."""

    ODF = "ODF"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How source rows are read: a format such as `csv`, and options of its reader, text to text."""

    format: str | None = None
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))


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
    its description is the table's `description`, and the two are kept equal. `options` are text to text. `positions`
    and `property_positions` say where fields and properties stand, and do not count for equality.
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
    source_kind: SourceKind = SourceKind.TABLE
    odf: OdfDocument | None = None
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
