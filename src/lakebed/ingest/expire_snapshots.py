"""Expire snapshots as the options of a table say, and remember what was ingested into it."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from lakebed.format.table_branch import TableBranch
from lakebed.ingest.run_memory import keep_log
from lakebed.maintenance.expiry import Expiry, expire
from lakebed.maintenance.retention import Retention


def expire_snapshots(
    table: TableBranch,
    *,
    retain_min: int | None = None,
    retain_max: int | None = None,
    older_than: timedelta | None = None,
    dry_run: bool = False,
) -> Expiry:
    """Take old snapshots away, see `lakebed.Table.expire`."""
    options = table.schemas.get_current_schema().options
    retention = Retention.of(options, retain_min, retain_max, older_than)
    return expire(table, retention, remember=partial(keep_log, table.storage), dry_run=dry_run)
