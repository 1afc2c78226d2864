"""Plan what manifests declare against the tables of a warehouse. Touches nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lakebed.catalog.annotations import applied_version
from lakebed.catalog.names import TableName, TableRef
from lakebed.catalog.table_manager import TableManager
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import ConversionError, LakebedError, ManifestError, UnsupportedError, ValidationError
from lakebed.evolve.check_approvals import check_codes, unmatched
from lakebed.evolve.drift_rules import DriftRule, StoredVersions, plan_under
from lakebed.evolve.evidence import Prover
from lakebed.evolve.manifest_approvals import plan_with_approvals
from lakebed.evolve.plan import Plan, TablePlan
from lakebed.evolve.planner import LimitWarnings, Past, plan_table
from lakebed.evolve.verdicts import ABANDONED_CODE, OUTSIDE_CODE, UNDECLARED_CODE

if TYPE_CHECKING:
    from lakebed.evolve.declared_edits import AppliedVersion
    from lakebed.manifest import Manifest, TableManifest
    from lakebed.manifest.attribute_registry import AttributeRegistry
    from lakebed.manifest.substitutions import Substitutions

#: The path of a manifest, of a directory of them, a loaded one, or several.
Sources: TypeAlias = "str | Path | Manifest | Iterable[str | Path | Manifest]"


@dataclass(frozen=True, slots=True)
class ManifestPlanner:
    """Plans the tables of a warehouse.

    `limits` are warnings of what cannot be done with a table of a schema. Approvals of manifests count until their day;
    `today` is that of the lake's time zone. `drift` says what becomes of changes that undo what others did, `prover`
    asks the rows of a branch of a table, where they are to be asked. `substitutions` are those of the manifests.
    """

    tables: TableManager
    attributes: AttributeRegistry | None
    limits: LimitWarnings
    today: date
    drift: DriftRule = DriftRule.ASK
    prover: Callable[[TableName, str], Prover] | None = None
    substitutions: Substitutions | None = None

    def plan(
        self, sources: Sources, branch: str, allow: Iterable[str], *, list_undeclared: bool, is_whole: bool
    ) -> Plan:
        """The plan for all declared tables; see `lakebed.Lake.plan`, whose `all_tables` says that it `is_whole`."""
        from lakebed.manifest import load_all
        from lakebed.manifest.attribute_registry import check_declared

        loaded = load_all(sources, self.substitutions)
        warnings = check_declared(self.attributes, loaded.tables) if self.attributes is not None else ()
        plan = Plan(self._planned(loaded.tables, branch), (*loaded.diagnostics, *warnings)).approved(allow)
        check_codes(plan.approvals)
        if self.drift is DriftRule.REVERT and any(table.drift is not None for table in plan.tables):
            plan = replace(plan.approved([OUTSIDE_CODE]), reverts=True)
        used: tuple[str, ...] = ()
        if is_whole:
            plan, used = self._with_others(plan, loaded)
        elif list_undeclared or _has_directory(sources):
            plan = replace(plan, undeclared=self._undeclared(loaded))
        given = [text for text in plan.approvals if text not in used]
        return replace(plan, diagnostics=(*plan.diagnostics, *unmatched(plan, given)))

    def _with_others(self, plan: Plan, declared: Manifest) -> tuple[Plan, tuple[str, ...]]:
        """The plan with a warning for each table that no manifest declares, and the approvals of such ones.

        Those that `apply` has made were declared once; the newest schema file of each tells.
        """
        undeclared, abandoned, notes, used = [], [], [], []
        for name in self._undeclared(declared):
            was_declared, problems = self._was_declared(name)
            code = ABANDONED_CODE if was_declared else UNDECLARED_CODE
            if {code, f"{code}:{name}"} & set(plan.approvals):
                used.append(f"{code}:{name}")
                continue
            undeclared.append(name)
            if was_declared:
                abandoned.append(name)
            notes += [*problems, _abandoned(name) if was_declared else _undeclared(name)]
        made = replace(plan, undeclared=tuple(undeclared), abandoned=tuple(abandoned))
        return replace(made, diagnostics=(*plan.diagnostics, *notes)), tuple(used)

    def _was_declared(self, name: str) -> tuple[bool, tuple[Diagnostic, ...]]:
        """Whether `apply` has made versions of a table; what keeps that from being known is told with warnings."""
        parsed = TableName.parse(name)
        try:
            newest = self.tables.get_schema_manager(parsed.database, parsed.table).load_latest_schema()
        except LakebedError as error:
            return False, tuple(replace(d, severity=Severity.WARNING) for d in error.diagnostics)
        return applied_version(newest) is not None, ()

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
            past = Past(applied=(lambda _: None) if tables.holds_annotations else None)
            problems = tables.file_problems
            return plan_table(declared, None, lambda: False, past=past, file_problems=problems, limits=self.limits)
        schemas = tables.get_schema_manager(name.database, name.table, branch)
        base = schemas.load_latest_schema()

        def make(wanted: TableManifest, applied: AppliedVersion | None) -> TablePlan:
            plan = partial(
                plan_table,
                base=base,
                has_snapshots=schemas.has_snapshots,
                past=Past(schemas.versions, applied),
                file_problems=schemas.problems,
                limits=self.limits,
                prove=None if self.prover is None else self.prover(name, branch),
            )
            return plan_with_approvals(wanted, self.today, plan, versions=schemas.versions)

        versions = StoredVersions(base, schemas.find if tables.holds_annotations else None)
        planned = plan_under(self.drift, declared, versions, make)
        return planned if branch == "main" else replace(planned, ref=TableRef(name, branch=branch))


def _undeclared(name: str) -> Diagnostic:
    return Diagnostic(
        UNDECLARED_CODE,
        f"no manifest declares the table {name}",
        Severity.WARNING,
        path=name,
        remedy=f"declare it, as `lakebed infer {name}` does, or leave it to others: approve {UNDECLARED_CODE}:{name}",
    )


def _abandoned(name: str) -> Diagnostic:
    return Diagnostic(
        ABANDONED_CODE,
        f"no manifest declares the table {name} any more, which `apply` has made",
        Severity.WARNING,
        path=name,
        remedy=f"declare it again, drop it, as `lakebed drop {name}` does, or approve {ABANDONED_CODE}:{name}",
    )


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
