"""Generate schemas and manifests with Hypothesis, and provide stores that fail on command, for users' tests.

Needs the package `hypothesis`, which Lakebed itself does not depend on.
"""

from lakebed.testing.manifests import odf_manifests, table_manifests
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore, Operation, SimulatedCrash
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
    "MemoryObjectStore",
    "MemoryStore",
    "Operation",
    "SimulatedCrash",
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
