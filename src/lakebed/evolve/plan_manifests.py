"""Plan what manifests declare against the tables of a warehouse. Touches nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lakebed.catalog.names import TableName, TableRef
from lakebed.catalog.table_manager import TableManager
from lakebed.errors import ConversionError, LakebedError, ManifestError, UnsupportedError, ValidationError
from lakebed.evolve.plan import Plan, TablePlan, check_codes, unmatched
from lakebed.evolve.planner import LimitWarnings, plan_table

if TYPE_CHECKING:
    from lakebed.manifest import Manifest, TableManifest
    from lakebed.manifest.attribute_registry import AttributeRegistry

#: The path of a manifest, of a directory of them, a loaded one, or several.
Sources: TypeAlias = "str | Path | Manifest | Iterable[str | Path | Manifest]"


@dataclass(frozen=True, slots=True)
class ManifestPlanner:
    """Plans the tables of a warehouse. `limits` are warnings of what cannot be done with a table of a schema."""

    tables: TableManager
    attributes: AttributeRegistry | None
    limits: LimitWarnings

    def plan(self, sources: Sources, branch: str, allow: Iterable[str], *, list_undeclared: bool) -> Plan:
        """The plan for all declared tables; see `lakebed.Lake.plan`."""
        from lakebed.manifest import load_all
        from lakebed.manifest.attribute_registry import check_declared

        loaded = load_all(sources)
        warnings = check_declared(self.attributes, loaded.tables) if self.attributes is not None else ()
        plan = Plan(self._planned(loaded.tables, branch), (*loaded.diagnostics, *warnings)).approved(allow)
        check_codes(plan.approvals)
        plan = replace(plan, diagnostics=(*plan.diagnostics, *unmatched(plan, plan.approvals)))
        if list_undeclared or _has_directory(sources):
            plan = replace(plan, undeclared=self._undeclared(loaded))
        return plan

    def _planned(self, tables: Iterable[TableManifest], branch: str) -> tuple[TablePlan, ...]:
        """The plans of the tables. Raises the first error that a declaration is to blame for, with those of all."""
        planned: list[TablePlan] = []
        failed: list[LakebedError] = []
        for declared in tables:
            try:
                planned.append(self._table(declared, branch))
            except (ManifestError, ConversionError, ValidationError, UnsupportedError) as error:
                failed.append(error)
        if failed:
            raise type(failed[0])(*(d for error in failed for d in error.diagnostics)) from failed[0]
        return tuple(planned)

    def _undeclared(self, declared: Manifest) -> tuple[str, ...]:
        """The tables that no manifest declares: a listing of directories, no file is read."""
        names = {str(_declared_name(table)) for table in declared.tables}
        return tuple(name for name in self.tables.list_tables() if name not in names)

    def _table(self, declared: TableManifest, branch: str) -> TablePlan:
        tables, name = self.tables, _declared_name(declared)
        if branch == "main" and not tables.exists(name):
            marks = (lambda _: None) if tables.holds_annotations else None
            problems = tables.file_problems
            return plan_table(declared, None, lambda: False, file_problems=problems, applied=marks, limits=self.limits)
        schemas = tables.get_schema_manager(name.database, name.table, branch)
        planned = plan_table(
            declared,
            schemas.load_latest_schema(),
            schemas.has_snapshots,
            history=schemas.versions,
            file_problems=schemas.problems,
            applied=schemas.find if tables.holds_annotations else None,
            limits=self.limits,
        )
        return planned if branch == "main" else replace(planned, name=str(TableRef(name, branch=branch)))


def _has_directory(sources: Sources) -> bool:
    found = [sources] if isinstance(sources, str | Path) else sources if isinstance(sources, Iterable) else []
    return any(isinstance(source, str | Path) and Path(source).is_dir() for source in found)


def _declared_name(declared: TableManifest) -> TableName:
    """The name of a declared table. What is wrong with it is told with the place where it is declared."""
    try:
        return TableName.parse(declared.name)
    except ValidationError as error:
        at = declared.property_position("name")
        raise ValidationError(*(replace(d, position=d.position or at) for d in error.diagnostics)) from None
