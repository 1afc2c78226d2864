"""Open a warehouse as a `Lake`, or make it known to a Spark session: `lakebed.open` and `lakebed.register`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed.catalog import TableManager, open_warehouse
from lakebed.format.commit_origin import origin_at, present_commit
from lakebed.lake import Lake, wall_clock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakebed.manifest.attribute_registry import AttributeRegistry
    from lakebed.manifest.substitutions import Substitutions


def open_lake(
    warehouse: str | Path,
    *,
    layout: str = "auto",
    time_zone: str = "UTC",
    storage_options: Mapping[str, Any] | None = None,
    allow_overwrite_races: bool = False,
    attributes: str | Path | AttributeRegistry | None = None,
    verify_checksums: bool = True,
    record_origin: bool = True,
    lineage: bool = False,
    substitutions: Substitutions | None = None,
) -> Lake:
    """Open a warehouse; exported as `lakebed.open`.

    `warehouse` is a directory or a URL that fsspec knows. `layout` is `auto` (found by looking), `paimon` or `mini`.
    `storage_options` are the driver's (for S3 for example `endpoint_url`, `key`, `secret`). A storage that cannot
    create a file exclusively is refused for writing, unless `allow_overwrite_races`: then only one process may write.
    `attributes` are those that the project declares, or the file that declares them; plan, apply and ingest enforce
    them. `verify_checksums`: reads hold the pages of Parquet files, of sources too, against the checksums that they
    carry, and fail where one is wrong; files without checksums are read as ever. `record_origin`: every snapshot says
    the login of its user, the host, the commit of git that the present directory is at, and Lakebed's version.
    `lineage`: OpenLineage is told of every run that writes, by its library, whose configuration says where.
    `substitutions`: values of the variables of manifests, and the databases that their tables lie in. Raises
    `NotFoundError` or `UsageError` for a place that is no warehouse, `NotFoundError` where that library is missing,
    `UsageError` for an unknown zone, and `ManifestError` for a faulty declaration of attributes.
    """
    from lakebed.catalog import check_time_zone

    check_time_zone(time_zone)
    if lineage:
        from lakebed.lineage.run_lineage import require_lineage

        require_lineage()
    path_factory, store = open_warehouse(
        str(warehouse), layout=layout, storage_options=storage_options, allow_overwrite_races=allow_overwrite_races
    )
    origin = partial(origin_at, present_commit()) if record_origin else None
    tables = TableManager(path_factory, store, wall_clock, origin=origin, lineage=lineage)
    return Lake(
        tables,
        store,
        time_zone=time_zone,
        attributes=_attributes(attributes),
        storage_options=storage_options,
        verify_checksums=verify_checksums,
        substitutions=substitutions,
    )


def register(spark: SparkSession, warehouse: str | Path, **options: Any) -> tuple[str, ...]:
    """Make a warehouse known to a session: `spark.read.format("lakebed")`, and a temporary view of every table.

    `options` are those of `lakebed.open`. Gives the names of the views; see `Lake.register` and `Lake.views`.
    """
    return open_lake(warehouse, **options).register(spark)


def _attributes(declared: str | Path | AttributeRegistry | None) -> AttributeRegistry | None:
    if not isinstance(declared, str | Path):
        return declared
    from lakebed.manifest.attribute_document import load_attributes

    return load_attributes(declared)
