"""An existing table as the manifest that declares it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from lakebed.manifest.read_step import stored_read
from lakebed.manifest.table_manifest import TableManifest
from lakebed.model import Schema
from lakebed.model.extra import DESCRIPTION, READ

ANNOTATIONS = "lakebed.schema"


class DescribedTable(Protocol):
    """What is needed of a table's schema version; `lakebed.catalog.TableSchema` has it."""

    @property
    def logical(self) -> Schema: ...
    @property
    def primary_keys(self) -> tuple[str, ...]: ...
    @property
    def partition_keys(self) -> tuple[str, ...]: ...
    @property
    def options(self) -> Mapping[str, str]: ...
    @property
    def comment(self) -> str | None: ...


def table_manifest_of(name: str, table: DescribedTable) -> TableManifest:
    """The manifest of a table as it is. The option that holds the annotations is left out: they are in the schema.

    The table's comment is its description, whatever the annotations say.
    """
    schema = table.logical
    return TableManifest(
        name,
        replace(schema, extra=schema.extra.without(DESCRIPTION).without(READ)),
        table.primary_keys,
        table.partition_keys,
        {key: value for key, value in table.options.items() if key != ANNOTATIONS},
        table.comment,
        read=stored_read(schema.extra),
    )
