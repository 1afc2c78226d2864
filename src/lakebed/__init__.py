"""Manage schemas of lakehouse tables as code, with Spark as the data plane.

    import lakebed

    lake = lakebed.open("warehouse")
    lake.apply(lake.plan("flights.yaml"))
    lake.ingest(spark, "nyc.flights", "january.csv")
    lake.read(spark, "nyc.flights").show()

Names are loaded when they are used, so that `import lakebed` needs neither PySpark nor PyArrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakebed.catalog import (
        DataType,
        Field,
        PathFactory,
        SchemaManager,
        TableManager,
        TableMetadata,
        TableSchema,
    )
    from lakebed.errors import LakebedError
    from lakebed.lake import Lake
    from lakebed.manifest import load_manifest
    from lakebed.model import normalize
    from lakebed.model.compare import compare
    from lakebed.open_lake import open_lake as open
    from lakebed.open_lake import register
    from lakebed.table import Table

_HOMES = {
    "DataType": ("lakebed.catalog", "DataType"),
    "Field": ("lakebed.catalog", "Field"),
    "Lake": ("lakebed.lake", "Lake"),
    "LakebedError": ("lakebed.errors", "LakebedError"),
    "PathFactory": ("lakebed.catalog", "PathFactory"),
    "SchemaManager": ("lakebed.catalog", "SchemaManager"),
    "Table": ("lakebed.table", "Table"),
    "TableManager": ("lakebed.catalog", "TableManager"),
    "TableMetadata": ("lakebed.catalog", "TableMetadata"),
    "TableSchema": ("lakebed.catalog", "TableSchema"),
    "compare": ("lakebed.model.compare", "compare"),
    "load_manifest": ("lakebed.manifest", "load_manifest"),
    "normalize": ("lakebed.model", "normalize"),
    "open": ("lakebed.open_lake", "open_lake"),
    "register": ("lakebed.open_lake", "register"),
}

__all__ = [
    "DataType",
    "Field",
    "Lake",
    "LakebedError",
    "PathFactory",
    "SchemaManager",
    "Table",
    "TableManager",
    "TableMetadata",
    "TableSchema",
    "compare",
    "load_manifest",
    "normalize",
    "open",
    "register",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("lakebed")
    try:
        module, attribute = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module 'lakebed' has no attribute {name!r}") from None
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
