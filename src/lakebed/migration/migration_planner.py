"""Plan the migration of a Mini Paimon warehouse: everything is read and judged, nothing is written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

from lakebed.catalog.metadata import TableMetadata
from lakebed.catalog.names import TableName, as_table_name
from lakebed.catalog.paths import Layout, PathFactory
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema, unknown_columns
from lakebed.catalog.validate import validate
from lakebed.catalog.warehouse_layout import detect_layout
from lakebed.diagnostics import Diagnostic, Severity, near_names
from lakebed.errors import LakebedError, NotFoundError, UsageError
from lakebed.migration.inference import Inference, infer
from lakebed.migration.migration_plan import MigrationPlan, State, TableMigration
from lakebed.migration.mini_source import SourceTable, read_source
from lakebed.migration.publish import interrupted_runs, state_of
from lakebed.migration.renames import BAD_RENAME, Rename, as_rename

NOTHING = "LB3750"
BAD_TARGET = "LB3751"
BREAKS_A_RULE = "LB3755"
LEFTOVERS = "LB3759"


def plan_migration(
    source: PathFactory | str | os.PathLike[str],
    target: PathFactory | str | os.PathLike[str],
    *,
    renames: Iterable[Rename | str] = (),
    no_renames: Iterable[Rename | str] | None = (),
    tables: Iterable[TableName | str] | None = None,
    schema_only: bool = False,
) -> MigrationPlan:
    """What migrating the tables of a Mini Paimon warehouse into a Paimon warehouse would do.

    Args:
        source: the warehouse in Mini Paimon's layout.
        target: a Paimon warehouse, an empty directory, or a path where nothing is yet.
        renames: `TABLE:VERSION:OLD=NEW`; the column keeps its field id.
        no_renames: pairs that look alike and are no renames; None asks about none.
        tables: those to migrate, all where None; quarantines count as tables.
        schema_only: leave rows and branches behind.

    Raises:
        NotFoundError: the source, or a table that was named, is not there.
        UsageError: source or target cannot be used, or a rename is of a table that is not migrated.
    """
    from_, to = _source(source), _target(target)
    _refuse_overlap(from_, to)
    names = _names(from_, tables)
    declared = tuple(as_rename(rename) for rename in renames)
    denied = None if no_renames is None else tuple(as_rename(rename) for rename in no_renames)
    _check_tables((*declared, *(denied or ())), names)
    planned = tuple(_table(read_source(from_, name, schema_only=schema_only), to, declared, denied) for name in names)
    return MigrationPlan(from_, to, planned, schema_only, tuple(_leftovers(to)))


def _source(source: PathFactory | str | os.PathLike[str]) -> PathFactory:
    paths = source if isinstance(source, PathFactory) else PathFactory(source, Layout.MINI)
    if paths.layout is not Layout.MINI:
        raise _nothing(paths, "it is open as a Paimon warehouse")
    return paths


def _target(target: PathFactory | str | os.PathLike[str]) -> PathFactory:
    paths = target if isinstance(target, PathFactory) else PathFactory(target)
    problem = None
    try:
        if paths.layout is Layout.MINI or detect_layout(paths.store, paths.warehouse) is Layout.MINI:
            problem = "it is in Mini Paimon's layout"
    except NotFoundError:
        return paths
    except UsageError as error:
        problem = error.diagnostics[0].message
    if problem is None:
        return paths
    raise UsageError.of(
        BAD_TARGET,
        f"{paths.warehouse} cannot be the target of a migration: {problem}",
        path=paths.warehouse,
        remedy="Name a Paimon warehouse, an empty directory, or one that is not there yet.",
    )


def _refuse_overlap(source: PathFactory, target: PathFactory) -> None:
    first, second = (os.path.realpath(p.warehouse) + "/" for p in (source, target))
    if first.startswith(second) or second.startswith(first):
        raise UsageError.of(
            BAD_TARGET,
            f"source {source.warehouse} and target {target.warehouse} lie in each other",
            path=target.warehouse,
            remedy="Name a directory beside the source: the source is never touched.",
        )


def _names(source: PathFactory, tables: Iterable[TableName | str] | None) -> list[TableName]:
    manager = TableManager(source)
    known = [TableName.parse(text) for text in manager.list_tables(include_quarantine=True)]
    if not known:
        raise _nothing(source, "it holds no table in that layout")
    if tables is None:
        return known
    wanted = list(dict.fromkeys(as_table_name(table) for table in tables))
    missing = [name for name in wanted if name not in known]
    if missing:
        raise NotFoundError(
            *(
                Diagnostic(
                    NOTHING,
                    f"there is no table {name} in {source.warehouse}",
                    found=str(name),
                    suggestions=near_names(str(name), map(str, known)),
                )
                for name in missing
            )
        )
    return wanted


def _nothing(source: PathFactory, problem: str) -> UsageError:
    return UsageError.of(
        NOTHING,
        f"there is nothing to migrate in {source.warehouse}: {problem}",
        path=source.warehouse,
        expected="tables under <database>/<table> whose schema files hold schemaId",
        remedy="Name the directory that holds the databases of Mini Paimon.",
    )


def _check_tables(renames: Iterable[Rename], names: list[TableName]) -> None:
    problems = [
        Diagnostic(
            BAD_RENAME,
            f"{rename} is of a table that is not migrated",
            found=str(rename.table),
            suggestions=near_names(str(rename.table), map(str, names)),
        )
        for rename in renames
        if rename.table not in names
    ]
    if problems:
        raise UsageError(*problems)


def _table(
    source: SourceTable, target: PathFactory, renames: tuple[Rename, ...], denied: tuple[Rename, ...] | None
) -> TableMigration:
    problems = list(source.problems)
    inferred = Inference((), (), (), ())
    if source.versions:
        own = (r for r in renames if r.table == source.name)
        inferred = infer(source.name, source.versions, own, denied)
    versions = tuple(_with_options(version, source.versions[-1]) for version in inferred.versions)
    problems += inferred.problems
    problems += _broken_rules(source.name, versions)
    record = source.record and _record(source.record, source.name, source.versions[-1])
    planned = TableMigration(
        source.name,
        State.NEW,
        versions,
        inferred.steps,
        record,
        source.rows,
        source.digest,
        tuple(problems),
        (*source.notes, *(replace(n, message=f"{source.name}: {n.message}") for n in inferred.notes)),
    )
    if problems:
        return planned
    try:
        return replace(planned, state=state_of(planned, target))
    except LakebedError as error:
        return replace(planned, problems=error.diagnostics)


def _record(record: TableMetadata, name: TableName, newest: TableSchema) -> TableMetadata:
    """The source's record with all that other programs put in, under the table's name and at its newest version."""
    return replace(record, table_name=name.table, database_name=name.database, current_schema_id=newest.id)


def _with_options(version: TableSchema, newest: TableSchema) -> TableSchema:
    """The version with the table's comment and options; an older one without those that do not go with its columns."""
    full = replace(version, options=newest.options, comment=newest.comment)
    if version.id == newest.id:
        return full
    bad = {d.path for d in validate(full) if d.severity is Severity.ERROR}
    return full.with_options({key: value for key, value in full.options.items() if f"options.{key}" not in bad})


def _broken_rules(name: TableName, versions: Iterable[TableSchema]) -> Iterator[Diagnostic]:
    """What keeps versions from being those of a Paimon table; what is wrong in several is told of the first."""
    told = set()
    for version in versions:
        problems = [(d.message, d.path) for d in validate(version) if d.severity is Severity.ERROR]
        unknown = unknown_columns(version.fields)
        problems += [(f"the type {text} is not known", name) for name, text in unknown.items()]
        for message, path in problems:
            if (message, path) not in told:
                told.add((message, path))
                yield Diagnostic(
                    BREAKS_A_RULE,
                    f"{name}: version {version.id} cannot be a Paimon table's: {message}",
                    path=path,
                    remedy=f"Leave {name} out (--table), or change the property in the source's `metadata` file.",
                    python_remedy=f"leave {name} out of tables, or change the property in its `metadata` file",
                )


def _leftovers(target: PathFactory) -> Iterator[Diagnostic]:
    for path in interrupted_runs(target):
        message = f"a migration that was interrupted, or that is running now, has files in {path}"
        remedy = "When no migration into this warehouse is running, `lakebed orphans --remove` removes old ones."
        python_remedy = "when no migration into this warehouse is running, lake.remove_orphans() removes old ones"
        yield Diagnostic(LEFTOVERS, message, Severity.WARNING, path=path, remedy=remedy, python_remedy=python_remedy)
