"""Where a project's attributes are enforced: on declared tables, with places in the manifest, and on stored ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lakebed.diagnostics import Diagnostic, Position, Severity
from lakebed.errors import ManifestError, ValidationError
from lakebed.manifest.attribute_registry import AttributeRegistry
from lakebed.manifest.problems import FieldPath
from lakebed.manifest.table_manifest import TableManifest
from lakebed.model import Schema


def check_declared(registry: AttributeRegistry, tables: Iterable[TableManifest]) -> tuple[Diagnostic, ...]:
    """The warnings about the attributes of declared tables. Raises `ManifestError` with all problems if one errs."""
    found = [d for table in tables for d in _declared(registry, table)]
    _raise_errors(found, ManifestError)
    return tuple(found)


def check_stored(registry: AttributeRegistry, table: str, schema: Schema) -> tuple[Diagnostic, ...]:
    """The warnings about the attributes of a table. Raises `ValidationError` with all problems where one errs."""
    found = [replace(d, message=f"{table}: {d.message}") for d in registry.check(schema)]
    _raise_errors(found, ValidationError)
    return tuple(found)


def _declared(registry: AttributeRegistry, table: TableManifest) -> tuple[Diagnostic, ...]:
    def locate(path: FieldPath, name: str | None) -> Position | None:
        at = table.property_positions.get(("extra", *path, name)) if name is not None else None
        return at or table.position_of(path)

    return registry.check(table.schema, locate)


def _raise_errors(found: list[Diagnostic], kind: type[ManifestError | ValidationError]) -> None:
    found.sort(key=lambda d: d.severity is not Severity.ERROR)
    if found and found[0].severity is Severity.ERROR:
        raise kind(*found)
