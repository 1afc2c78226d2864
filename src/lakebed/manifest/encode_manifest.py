"""Write a declared table as canonical YAML: long form, the author's defaults kept, none invented."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, assert_never

from lakebed.manifest.attributes import APPROVALS, IGNORE_OPTIONS, OPTIONS, PARTITION_KEYS, PRIMARY_KEYS
from lakebed.manifest.compatibility import about_readers, stored_compatibility, stored_consumers
from lakebed.manifest.odf import SCHEMA_EVENT
from lakebed.manifest.read_step import read_json, stored_read
from lakebed.manifest.substitutions import escaped
from lakebed.manifest.table_manifest import OdfDocument, SourceKind, TableManifest
from lakebed.manifest.yaml_text import yaml_text
from lakebed.model import Schema, schema_json
from lakebed.model.extra import COMPATIBILITY, CONSUMERS, DESCRIPTION, READ


def dump_table(manifest: TableManifest) -> str:
    """The YAML document of a table, in the envelope it came from; `parse_manifest` reads back an equal table.

    Events without an envelope carry no name: reading those back needs `name=`.
    """
    return yaml_text(_document(manifest))


def _document(manifest: TableManifest) -> dict[str, Any] | list[Any]:
    odf = manifest.odf or OdfDocument()
    match manifest.source_kind:
        case SourceKind.TABLE:
            return {"kind": "Table", "version": 1, "content": _table(manifest)}
        case SourceKind.DATASET_SNAPSHOT:
            content = {"name": manifest.name, **_dataset(manifest, odf)}
            return {"kind": "DatasetSnapshot", "version": 1, "content": content}
        case SourceKind.DATASET_RESOURCE:
            headers = {"name": manifest.name, **odf.other_headers()}
            return {"$schema": odf.schema_id, "headers": headers, "spec": _dataset(manifest, odf)}
        case SourceKind.METADATA_EVENT:
            return {"kind": "MetadataEvent", "version": 1, "content": _schema_event(manifest)}
        case SourceKind.EVENTS:
            return _events(manifest, odf)
        case _:
            assert_never(manifest.source_kind)


def _table(manifest: TableManifest) -> dict[str, Any]:
    content: dict[str, Any] = {"name": manifest.name}
    if manifest.description is not None:
        content["description"] = manifest.description
    if manifest.primary_keys:
        content["primaryKeys"] = list(manifest.primary_keys)
    if manifest.partition_keys:
        content["partitionKeys"] = list(manifest.partition_keys)
    if manifest.options:
        content["options"] = dict(sorted(manifest.options.items()))
    if manifest.ignore_options:
        content["ignoreOptions"] = list(manifest.ignore_options)
    if manifest.system_columns is not None:
        names = manifest.vocabulary.to_json()
        profile = manifest.system_columns.value
        content["systemColumns"] = {"profile": profile, **names} if names else profile
    if manifest.compatibility is not None:
        content["compatibility"] = manifest.compatibility.value
    if manifest.consumers:
        content["consumers"] = [consumer.to_json() for consumer in manifest.consumers]
    if manifest.read is not None:
        content["read"] = read_json(manifest.read)
    if manifest.approvals:
        content["approvals"] = [approval.to_json() for approval in manifest.approvals]
    schema = schema_json(manifest.schema)
    extra = {key: value for key, value in schema.pop("extra", {}).items() if key != DESCRIPTION}
    return {**escaped(content), "schema": {**schema, "extra": escaped(extra)} if extra else schema}


def _dataset(manifest: TableManifest, odf: OdfDocument) -> dict[str, Any]:
    kind = {"kind": odf.dataset_kind} if odf.dataset_kind is not None else {}
    return {**kind, "metadata": _events(manifest, odf)}


def _events(manifest: TableManifest, odf: OdfDocument) -> list[Any]:
    others: list[Any] = [event.to_json() for event in odf.events]
    return [*others[: odf.schema_at], _schema_event(manifest), *others[odf.schema_at :]]


def _schema_event(manifest: TableManifest) -> dict[str, Any]:
    """Keys and options have no place in an ODF event; they stand in the attributes of its schema."""
    about_table: dict[str, Any] = {
        PRIMARY_KEYS: list(manifest.primary_keys),
        PARTITION_KEYS: list(manifest.partition_keys),
        OPTIONS: dict(sorted(manifest.options.items())),
        IGNORE_OPTIONS: list(manifest.ignore_options),
        APPROVALS: [approval.to_json() for approval in manifest.approvals],
        **about_readers(manifest.compatibility, manifest.consumers),
    }
    schema = schema_json(manifest.schema)
    extra = {**schema.pop("extra", {}), **{key: value for key, value in about_table.items() if value}}
    schema = {**schema, "extra": dict(sorted(extra.items()))} if extra else schema
    return {"kind": SCHEMA_EVENT, "schema": schema}


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
        replace(schema, extra=schema.extra.without(DESCRIPTION, READ, COMPATIBILITY, CONSUMERS)),
        table.primary_keys,
        table.partition_keys,
        {key: value for key, value in table.options.items() if key != ANNOTATIONS},
        table.comment,
        read=stored_read(schema.extra),
        compatibility=stored_compatibility(schema.extra),
        consumers=stored_consumers(schema.extra),
    )
