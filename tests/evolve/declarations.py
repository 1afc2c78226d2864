"""Declared tables for the tests of plans, from YAML, and their warehouse in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from lakebed.catalog import PathFactory, TableManager, TableName, TableSchema
from lakebed.catalog.paths import has_snapshots
from lakebed.evolve import AppliedPlan, Plan, TablePlan, apply, plan_table
from lakebed.evolve.plan import PlannedChange
from lakebed.evolve.planner import Past
from lakebed.manifest import TableManifest, parse_manifest
from lakebed.testing.memory_store import MemoryStore


def manifest(fields: str, *, name: str = "db.t", head: str = "", extra: str = "") -> str:
    """A table with these fields, one a line in flow style; `head` are other properties, one a line."""
    lines = [f"  {line.strip()}" for line in head.strip().splitlines()]
    lines += ["  schema:", "    fields:"]
    lines += [f"      - {line.strip()}" for line in fields.strip().splitlines()]
    if extra:
        lines.append(f"    extra: {extra}")
    return "\n".join(["kind: Table", "version: 1", "content:", f"  name: {name}", *lines]) + "\n"


def declared(text: str) -> TableManifest:
    (table,) = parse_manifest(text, source="t.yaml").tables
    return table


class Warehouse:
    """Tables in memory; with `marks`, versions that are applied are marked as such, as `Lake` does it."""

    def __init__(self, *, marks: bool = False) -> None:
        self.marks = marks
        self.store = MemoryStore()
        self.tables = TableManager(PathFactory("/wh"), self.store)
        self.now = 100

    def clock(self) -> int:
        self.now += 1
        return self.now

    def newest(self, name: str = "db.t") -> TableSchema:
        table = TableName.parse(name)
        return self.tables.get_schema_manager(table.database, table.table).load_latest_schema()

    def put_data(self, name: str = "db.t") -> None:
        """Make the table one that holds a snapshot, as far as rules of evolution look."""
        root = self.tables.table_path(TableName.parse(name))
        self.store.create_if_absent(f"{root}/snapshot/snapshot-1", b"{}")
        self.store.create_if_absent(f"{root}/snapshot/LATEST", b"1")
        assert has_snapshots(self.store, root)

    def plan(self, *texts: str, history: Callable[[], Iterable[TableSchema]] | None = None) -> Plan:
        return Plan(tuple(self.plan_one(text) for text in texts))

    def plan_one(self, text: str) -> TablePlan:
        table = declared(text)
        name = TableName.parse(table.name)
        base = self.newest(table.name) if self.tables.exists(name) else None
        manager = self.tables.get_schema_manager(name.database, name.table) if base else None
        root = self.tables.table_path(name)
        return plan_table(
            table,
            base,
            lambda: has_snapshots(self.store, root),
            past=Past(
                manager.versions if manager else None,
                None if not self.marks else manager.find if manager else lambda _: None,
            ),
        )

    def apply(self, plan: Plan | str, *allow: str) -> AppliedPlan:
        if isinstance(plan, str):
            plan = self.plan(plan)
        return apply(plan, self.tables, allow=frozenset(allow), clock=self.clock)

    def settle(self, text: str) -> TableSchema:
        """Apply with all leave; planning again must change nothing."""
        plan = self.plan(text)
        assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
        self.apply(plan, *plan.leave_needed())
        again = self.plan(text)
        assert again.is_noop, [c.summary for c in again.tables[0].changes]
        return self.newest(plan.tables[0].name)


def by_summary(plan: TablePlan) -> dict[str, PlannedChange]:
    return {c.summary: c for c in plan.changes}


def verdicts(plan: TablePlan) -> dict[str, str]:
    """`kind path` to `verdict code`."""
    return {f"{c.kind} {c.column}".strip(): f"{c.verdict} {c.code}" for c in plan.changes}
