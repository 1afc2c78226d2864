"""Collect what a site tells of tables: of a warehouse, of manifests, or of both. No row is read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from lakebed.catalog.annotations import OPTION
from lakebed.catalog.names import TableName
from lakebed.catalog.options import KNOWN
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import LakebedError
from lakebed.evolve import Plan
from lakebed.evolve.without_warehouse import plan_as_new
from lakebed.format.refuse_unsupported import limits
from lakebed.format.table_branch import TableBranch
from lakebed.ingest.nulled_values import parse_nulled
from lakebed.ingest.run_history import NULLED
from lakebed.inspection.history import History
from lakebed.lint import LintSettings, lint_files
from lakebed.manifest.load import tables_of
from lakebed.manifest.table_manifest import Manifest
from lakebed.redaction import redact, secrets_of, without
from lakebed.render.history_text import approval_line

if TYPE_CHECKING:
    from lakebed.catalog import TableSchema
    from lakebed.evolve.plan import TablePlan
    from lakebed.format.snapshot import Snapshot
    from lakebed.lake import Lake
    from lakebed.maintenance.branches import Branch
    from lakebed.maintenance.tags import Tag
    from lakebed.manifest.load import LoadedFile
    from lakebed.manifest.table_manifest import TableManifest

#: Names that are files of their own on every storage, and that no other name is in another case.
_PLAIN = re.compile(r"[a-z0-9_][a-z0-9_-]{0,59}\.[a-z0-9_][a-z0-9_-]{0,59}")
#: Of other names only so much is seen in that of the page.
_SEEN = 60


@dataclass(frozen=True)
class SiteTable:
    """A table, stored or declared or both. `schema` is the newest stored version, else what its manifest makes.

    `history`, `tags`, `branches` and `quarantined` (all rows in the quarantine, None where that cannot be told) are
    those of the warehouse; `planned` is what applying the manifest would change there. `diagnostics` are about it.
    """

    name: TableName
    schema: TableSchema
    history: History | None = None
    tags: tuple[Tag, ...] = ()
    branches: tuple[Branch, ...] = ()
    quarantined: int | None = None
    declared: TableManifest | None = None
    planned: TablePlan | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @cached_property
    def page(self) -> str:
        """The name of its page. Another table has another one, also where the storage knows no case."""
        text = str(self.name)
        if _PLAIN.fullmatch(text):
            return f"{text}.html"
        digest = hashlib.sha256(json.dumps([self.name.database, self.name.table]).encode()).hexdigest()[:12]
        return f"{re.sub('[^a-z0-9_]+', '-', text.lower())[:_SEEN]}-{digest}.html"

    @cached_property
    def _secrets(self) -> tuple[str, ...]:
        """The values of options, of any version, that are secret by their names."""
        versions = [self.schema, *(v.schema for v in self.history.versions)] if self.history is not None else []
        options = [self.schema.options, *(version.options for version in versions)]
        unknown = [{k: v for k, v in each.items() if k not in KNOWN and k != OPTION} for each in options]
        return tuple(dict.fromkeys(secret for each in unknown for secret in secrets_of(each)))

    def shown(self, text: str) -> str:
        """A text as a site shows it: without values of options that are secret, and without logins in URLs."""
        return redact(without(text, self._secrets))

    @property
    def newest_snapshot(self) -> Snapshot | None:
        """The newest snapshot of the main branch."""
        return self.history.snapshots[-1] if self.history is not None and self.history.snapshots else None

    def occurrences(self) -> Iterator[tuple[str, str]]:
        """The codes that occur, each with what it is about here."""
        return ((code, self.shown(text)) for code, text in self._occurrences())

    def _occurrences(self) -> Iterator[tuple[str, str]]:
        for diagnostic in self.diagnostics:
            yield diagnostic.code, diagnostic.message
        for change in self.planned.changes if self.planned is not None and not self.planned.create else ():
            yield change.code, f"would {change.summary}"
        if self.history is None:
            return
        for version in self.history.versions:
            for approval in version.approvals:
                yield str(approval.get("code")), f"version {version.schema.id}: {approval_line(approval)}"
        for snapshot in self.history.snapshots:
            for nulled in parse_nulled((snapshot.properties or {}).get(NULLED)):
                yield nulled.code, f"snapshot {snapshot.id}: {nulled.rows:,} bad values of {nulled.column} became NULL"


@dataclass(frozen=True, slots=True)
class SiteContent:
    """The tables by name, and those that cannot be read, each with why. Times are shown in `time_zone`."""

    tables: tuple[SiteTable, ...]
    unreadable: Mapping[TableName, tuple[Diagnostic, ...]]
    time_zone: str = "UTC"


def collect_site(
    lake: Lake | None = None, files: Iterable[LoadedFile] = (), settings: LintSettings | None = None
) -> SiteContent:
    """The tables of a warehouse, those that files declare, or both.

    `settings` are the rules of the project that the files are held against. Raises `ManifestError` with all that is
    wrong with the files, and what `Lake.plan` raises. A table of the warehouse that cannot be read is told.
    """
    loaded = tuple(files)
    declared = {TableName.parse(table.name): table for table in tables_of(loaded)}
    problems = _by_table(loaded, settings or LintSettings())
    if lake is None:
        made = [_declared(name, table, problems[name]) for name, table in declared.items()]
        return SiteContent(tuple(sorted(made, key=_order)), {})
    plan = lake.plan(Manifest(tuple(declared.values()))) if declared else Plan(())
    planned = {TableName.parse(table.name): table for table in plan.tables}
    found: list[SiteTable] = []
    unreadable: dict[TableName, tuple[Diagnostic, ...]] = {}
    for name in map(TableName.parse, lake.tables.list_tables()):
        try:
            stored = _stored(lake, name)
        except LakebedError as error:
            unreadable[name] = error.diagnostics
            continue
        told = (*problems.get(name, ()), *_limits(stored, planned.get(name)))
        found.append(replace(stored, declared=declared.get(name), planned=planned.get(name), diagnostics=told))
    seen = {*unreadable, *(table.name for table in found)}
    found += [
        replace(_declared(name, table, problems[name]), planned=planned.get(name))
        for name, table in declared.items()
        if name not in seen
    ]
    return SiteContent(tuple(sorted(found, key=_order)), unreadable, lake.time_zone)


def _order(table: SiteTable) -> tuple[str, str]:
    return table.name.database, table.name.table


def _stored(lake: Lake, name: TableName) -> SiteTable:
    table = lake.table(str(name))
    history = table.history()
    quarantined = _quarantined(TableBranch(lake.tables, name))
    return SiteTable(
        name, history.versions[-1].schema, history, table.tags().list(), table.branches().list(), quarantined
    )


def _quarantined(table: TableBranch) -> int | None:
    """All rows of the table's quarantine, by the metadata of its newest snapshot."""
    quarantine = TableBranch(table.tables, table.name.quarantine)
    newest = quarantine.snapshots.latest() if table.tables.exists(quarantine.name) else None
    return None if newest is None else newest.total_record_count


def _declared(name: TableName, table: TableManifest, problems: tuple[Diagnostic, ...]) -> SiteTable:
    planned = plan_as_new(table, limits=limits)
    assert planned.target is not None, "what is made anew is not forbidden"
    diagnostics = tuple(dict.fromkeys((*problems, *planned.diagnostics)))
    return SiteTable(name, planned.target, declared=table, diagnostics=diagnostics)


def _limits(table: SiteTable, planned: TablePlan | None) -> tuple[Diagnostic, ...]:
    """What cannot be done with a stored table, or what its plan says, where there is one."""
    return planned.diagnostics if planned is not None else limits(table.schema)


def _by_table(files: Sequence[LoadedFile], settings: LintSettings) -> dict[TableName, tuple[Diagnostic, ...]]:
    """What is to be said of each declared table: of several in a file it is the last one above the place."""
    found: dict[TableName, list[Diagnostic]] = {}
    for file, report in zip(files, lint_files(files, settings), strict=True):
        for table in file.tables:
            found[TableName.parse(table.name)] = []
        starts = [(table.position.line if table.position else 0, TableName.parse(table.name)) for table in file.tables]
        told = [d for d in file.diagnostics if d.severity is not Severity.ERROR]
        for diagnostic in dict.fromkeys((*told, *report.diagnostics)):
            line = diagnostic.position.line if diagnostic.position is not None else 0
            above = [name for start, name in starts if start <= line] or [name for _, name in starts[:1]]
            for name in above[-1:]:
                found[name].append(diagnostic)
    return {name: tuple(diagnostics) for name, diagnostics in found.items()}
