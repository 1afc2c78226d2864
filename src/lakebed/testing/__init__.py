"""Hypothesis strategies for schemas and manifests, for tests of Lakebed and of what is built on it.

Needs the package `hypothesis`, which Lakebed itself does not depend on.
"""

from lakebed.testing.manifests import odf_manifests, table_manifests
from lakebed.testing.schemas import (
    column_names,
    extras,
    fields,
    json_values,
    logical_types,
    paimon_fields,
    paimon_schemas,
    paimon_types,
    schemas,
)

__all__ = [
    "column_names",
    "extras",
    "fields",
    "json_values",
    "logical_types",
    "odf_manifests",
    "paimon_fields",
    "paimon_schemas",
    "paimon_types",
    "schemas",
    "table_manifests",
]
