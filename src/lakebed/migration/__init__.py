"""Migrate a warehouse in Mini Paimon's layout to a Paimon warehouse, keeping every version.

    plan = plan_migration("mini", "warehouse", renames=["shop.users:2:town=city"])
    result = migrate(plan)

Everything is planned and judged before anything is written; the source is only read.
"""

from __future__ import annotations

from lakebed.migration.inference import Inference, Step, infer
from lakebed.migration.migration_plan import MigrationPlan, RowFile, State, TableMigration
from lakebed.migration.migration_planner import plan_migration
from lakebed.migration.publish import MigratedTable, MigrationResult, migrate
from lakebed.migration.renames import Rename

__all__ = [
    "Inference",
    "MigratedTable",
    "MigrationPlan",
    "MigrationResult",
    "Rename",
    "RowFile",
    "State",
    "Step",
    "TableMigration",
    "infer",
    "migrate",
    "plan_migration",
]
