"""Store a manifest's `read`, system columns, compatibility and consumers as attributes of the schema.

They become attributes of the stored schema (`lakebed.dev/read`, `lakebed.dev/systemColumn` and so on), so that a plan
shows when they change and every schema version has its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakebed.convert.ddl import from_ddl
from lakebed.errors import ConversionError, ManifestError
from lakebed.manifest.compatibility import about_readers
from lakebed.manifest.properties import spellings
from lakebed.manifest.read_step import read_json, stored_read
from lakebed.manifest.table_manifest import ReadKind
from lakebed.manifest.table_properties import ROLES, system_column_problem, vocabulary_of
from lakebed.model import Extra
from lakebed.model.extra import ODF_SYSTEM_COLUMN, READ, SYSTEM_COLUMN

if TYPE_CHECKING:
    from lakebed.manifest.table_manifest import OdfDocument, ReadOptions, TableManifest

_SOURCES = ("SetPollingSource", "AddPushSource")
_KINDS = spellings(k.value for k in ReadKind)


def with_extras(declared: TableManifest) -> TableManifest:
    """The manifest with these attributes on its schema. Raises `ManifestError` for a `ddlSchema` that is none."""
    schema = declared.schema
    read = declared.read if declared.odf is None else _read_of_source(declared.odf)
    if read is not None:
        if declared.odf is None:
            _check_ddl(declared, read)
        schema = replace(schema, extra=schema.extra.merged({READ: read_json(read)}))
    readers = about_readers(declared.compatibility, declared.consumers)
    if readers:
        schema = replace(schema, extra=schema.extra.merged(readers))
    roles = dict(_roles(declared))
    if roles:
        fields = (
            replace(f, extra=f.extra.merged({SYSTEM_COLUMN: roles[f.name]})) if f.name in roles else f
            for f in schema.fields
        )
        schema = replace(schema, fields=tuple(fields))
    return declared if schema == declared.schema else replace(declared, schema=schema)


def _check_ddl(declared: TableManifest, read: ReadOptions) -> None:
    if not read.ddl_schema:
        return
    try:
        from_ddl(read.ddl_schema)
    except ConversionError as error:
        position = declared.property_position("read")
        raise ManifestError(
            *(replace(d, position=position, path="read.ddlSchema") for d in error.diagnostics)
        ) from error


def _roles(declared: TableManifest) -> Iterator[tuple[str, str]]:
    """Column and role, of those that do not say it themselves."""
    if declared.odf is not None:
        names = vocabulary_of(declared.odf)
    elif declared.system_columns is not None:
        names = declared.vocabulary
    else:
        return
    said = {f.extra.get(key) for f in declared.schema.fields for key in (SYSTEM_COLUMN, ODF_SYSTEM_COLUMN)}
    types = {f.name: f.type for f in declared.schema.fields}
    for role in ROLES:
        name = names.name(role)
        if role not in said and name in types and system_column_problem(role, types[name]) is None:
            yield name, role


def _read_of_source(document: OdfDocument) -> ReadOptions | None:
    """How the one source of a dataset is read, or the one that is called `default`; None where none is the one."""
    sources = [event.to_json() for event in document.events if event.kind in _SOURCES]
    if len(sources) > 1:
        sources = [s for s in sources if s.get("sourceName") == "default"]
    read = sources[0].get("read") if len(sources) == 1 else None
    if not isinstance(read, Mapping):
        return None
    kind = _KINDS.get(str(read.get("kind")))
    # Kinds that are not read here (GeoJson, EsriShapefile, ...) say nothing to ingest.
    said: dict[str, Any] = {**read, "kind": kind}
    fetch = sources[0].get("fetch")
    if isinstance(fetch, Mapping) and "eventTime" in fetch:
        said["eventTime"] = fetch["eventTime"]
    return None if kind is None else stored_read(Extra({READ: said}))
