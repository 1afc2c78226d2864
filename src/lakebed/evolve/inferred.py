"""Tell what a plan would refuse of a manifest that was made from a table. Pure."""

from __future__ import annotations

from lakebed.catalog.schema_manager import SchemaManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import LakebedError
from lakebed.evolve.consumer_columns import FollowedConsumers, with_followed
from lakebed.evolve.planner import plan_table
from lakebed.manifest import parse_manifest, table_manifest_of
from lakebed.manifest.table_manifest import TableManifest


def inferred_manifest(
    name: str, stored: TableSchema, schemas: SchemaManager
) -> tuple[TableManifest, FollowedConsumers]:
    """The manifest of a stored version, and what its consumers read that is there no more."""
    manifest = table_manifest_of(name, stored)
    earlier = (v for v in schemas.versions() if v.id <= stored.id) if manifest.consumers else (stored,)
    return with_followed(manifest, earlier)


def refused_parts(text: str, stored: TableSchema) -> tuple[Diagnostic, ...]:
    """Why the text of a manifest cannot be planned for the version that it was made from; empty where it can.

    Places are those in the text, as it is put out.
    """
    try:
        (declared,) = parse_manifest(text, source="<stdout>").tables
        planned = plan_table(declared, stored, lambda: False)
    except LakebedError as error:
        return (_summary(), *error.diagnostics)
    found = tuple(
        Diagnostic(c.code, f"{c.summary}: {c.reason}", position=c.position, path=c.column or None, remedy=c.remedy)
        for c in planned.forbidden
    )
    return (_summary(), *found) if found else ()


def _summary() -> Diagnostic:
    return Diagnostic(
        "LB4026",
        "the table has what no manifest can declare, so that `lakebed plan` refuses this one",
        remedy="rename what is named below in the table, with alter_table or the engine that made it, and infer again",
    )
