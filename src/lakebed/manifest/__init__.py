"""Read YAML manifests that declare tables, with positions and all problems at once; write them canonically."""

from lakebed.manifest.approvals import Approval
from lakebed.manifest.compatibility import Compatibility, Consumer
from lakebed.manifest.encode_manifest import dump_table, table_manifest_of
from lakebed.manifest.load import load_all, load_manifest, parse_manifest
from lakebed.manifest.substitutions import Substitutions
from lakebed.manifest.table_manifest import (
    Manifest,
    OdfDocument,
    OdfEvent,
    ReadOptions,
    SourceKind,
    SystemColumns,
    TableManifest,
)

__all__ = [
    "Approval",
    "Compatibility",
    "Consumer",
    "Manifest",
    "OdfDocument",
    "OdfEvent",
    "ReadOptions",
    "SourceKind",
    "Substitutions",
    "SystemColumns",
    "TableManifest",
    "dump_table",
    "load_all",
    "load_manifest",
    "parse_manifest",
    "table_manifest_of",
]
