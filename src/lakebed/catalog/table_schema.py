"""Represent one version of a table's schema: fields with ids, Paimon types, keys, options."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar

from lakebed.catalog.annotation_entries import OPTION, meaning
from lakebed.diagnostics import Diagnostic
from lakebed.errors import UnsupportedError
from lakebed.model.extra import canonical_json
from lakebed.model.types import Schema
from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import (
    DataField,
    DataType,
    Unknown,
)
from lakebed.readable import Readable

#: The schema file version that Lakebed writes; a higher one is never written over.
CURRENT_VERSION = 3
NOT_CHANGED = "LB4500"


@dataclass(frozen=True, slots=True)
class TableSchema(Readable):
    """One schema file's content (Paimon specification, "Schema").

    `options` is a read-only mapping of text to text. `time_millis` is the writer's clock in milliseconds since 1970.
    """

    renderer: ClassVar[str] = "lakebed.render.schema_text:version_text"
    html_renderer: ClassVar[str] = "lakebed.render.notebook_html:version_html"

    id: int
    fields: tuple[DataField, ...]
    highest_field_id: int
    partition_keys: tuple[str, ...] = ()
    primary_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    comment: str | None = None
    time_millis: int = 0
    version: int = CURRENT_VERSION
    _logical: Schema | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    def __hash__(self) -> int:
        return hash((self.id, self.fields, self.time_millis))

    def field(self, name: str) -> DataField | None:
        """The top-level field of exactly this name, or None."""
        return next((f for f in self.fields if f.name == name), None)

    @property
    def field_names(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.fields)

    @property
    def trimmed_primary_keys(self) -> tuple[str, ...]:
        """The primary keys less the partition keys, in the order of the primary keys."""
        return tuple(k for k in self.primary_keys if k not in self.partition_keys)

    @property
    def bucket(self) -> int:
        """Option `bucket`, -1 where absent."""
        return int(self.options.get("bucket", "-1"))

    @property
    def fingerprint(self) -> str:
        """`sha256:` and the hex digest of everything but `timeMillis`: what a plan is bound to."""
        content = self.to_json()
        del content["timeMillis"]
        return "sha256:" + hashlib.sha256(canonical_json(content).encode()).hexdigest()

    @property
    def logical(self) -> Schema:
        """The annotated ODF schema that this version stands for, made when it is first asked for."""
        found = self._logical
        if found is None:
            found = meaning(self.fields, self.options.get(OPTION), self.comment)
            object.__setattr__(self, "_logical", found)
        return found

    def to_json(self) -> dict[str, Any]:
        """The object of the schema file, keys in Java's order, options sorted by key."""
        out: dict[str, Any] = {
            "version": self.version,
            "id": self.id,
            "fields": [f.to_json() for f in self.fields],
            "highestFieldId": self.highest_field_id,
            "partitionKeys": list(self.partition_keys),
            "primaryKeys": list(self.primary_keys),
            "options": dict(sorted(self.options.items())),
        }
        if self.comment is not None:
            out["comment"] = self.comment
        out["timeMillis"] = self.time_millis
        return out

    def with_options(self, options: Mapping[str, str]) -> TableSchema:
        """The same schema with other options."""
        return replace(self, options=options)


def unknown_columns(fields: Iterable[DataField]) -> dict[str, str]:
    """The top-level columns that are or hold something of an unknown type, with the text of that type."""
    return {field.name: text for field in fields if (text := unknown_type(field.type)) is not None}


@lru_cache(maxsize=1024)
def unknown_type(type_: DataType) -> str | None:
    """The text of the first unknown type at any level; None where all are known."""
    return next((t.text for t in types_inside(type_) if isinstance(t, Unknown)), None)


def refuse_unknown_types(schema: TableSchema) -> None:
    """Raise `UnsupportedError` (LB4500), naming each column, where a new version would be written over such a type."""
    found = unknown_columns(schema.fields)
    if found:
        raise UnsupportedError(
            *(
                Diagnostic(
                    NOT_CHANGED,
                    f"the table cannot be changed: the type {text} of column {name!r} is not known to this version",
                    path=name,
                    found=text,
                    remedy="use a newer Lakebed, or the engine that made the column",
                )
                for name, text in found.items()
            )
        )
