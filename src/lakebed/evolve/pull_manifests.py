"""Write what others did to tables into the text of their manifests, with comments and order kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from lakebed.catalog.annotations import applied_version
from lakebed.catalog.names import TableName
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import LakebedError, ManifestError, NotFoundError
from lakebed.evolve.adopt_drift import Adoption, adopt_drift
from lakebed.evolve.consumer_columns import follow_consumers, names_under, with_followed
from lakebed.evolve.declared_table import is_ignored
from lakebed.evolve.inferred import refused_parts
from lakebed.evolve.schema_changes import Path as ColumnPath
from lakebed.manifest import dump_table, load_all, table_manifest_of
from lakebed.manifest.edit import edit_manifest
from lakebed.manifest.format_manifest import format_manifest
from lakebed.readable import Readable

if TYPE_CHECKING:
    from lakebed.manifest.substitutions import Substitutions
    from lakebed.manifest.table_manifest import TableManifest


@dataclass(frozen=True, slots=True)
class PulledTable:
    """A table whose manifest did not say what others did: the file, and what is written into it, in words.

    `versions` are those that others made; None where `apply` made none, so that the whole table is taken over.
    """

    table: str
    file: str
    versions: str | None
    changes: tuple[str, ...] | None

    def to_json(self) -> dict[str, Any]:
        """The four parts."""
        changes = None if self.changes is None else list(self.changes)
        return {"table": self.table, "file": self.file, "versions": self.versions, "changes": changes}


@dataclass(frozen=True, slots=True)
class PulledFile:
    """A file that changes: its text as it is, and as it should be."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class PulledManifests(Readable):
    """What has to be written into manifests, by table; and the files with their new texts. Nothing is written yet.

    `diagnostics` tell of what is left out.
    """

    renderer: ClassVar[str] = "lakebed.render.drift_text:pulled_text"

    tables: tuple[PulledTable, ...]
    files: tuple[PulledFile, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed pull --json`."""
        return {"tables": [t.to_json() for t in self.tables], "files": [f.file for f in self.files]}


def pull_manifests(
    sources: Iterable[str | Path],
    tables: TableManager,
    names: Iterable[str] = (),
    *,
    whole: bool = False,
    substitutions: Substitutions | None = None,
) -> PulledManifests:
    """The manifests in `sources` with what others did to their tables since `apply` made a version.

    `names` are the tables that are meant, else all that are declared and there. What a manifest asks for and is not
    applied stays in it; with `whole`, and where `apply` has made no version, the manifest becomes what the table is.

    Raises `NotFoundError` (LB1633) for a named table that is not declared, `ManifestError` with everything that cannot
    be written.
    """
    found = [table for table in load_all(list(sources), substitutions).tables if table.position and table.position.file]
    old: dict[str, str] = {}
    new: dict[str, str] = {}
    pulled: list[PulledTable] = []
    notes: list[Diagnostic] = []
    failed: list[LakebedError] = []
    for declared in _chosen(found, [TableName.parse(name) for name in names]):
        file = _file_of(declared)
        before = new.setdefault(file, old.setdefault(file, text_of(file)))
        try:
            update = _update(declared, tables, whole)
            new[file] = before if update is None else update.edited(before, declared, file, substitutions)
        except ManifestError as error:
            failed.append(error)
            continue
        if update is not None and new[file] != before:
            pulled.append(PulledTable(str(_name(declared)), file, update.versions, update.changes))
            notes += update.notes
    if failed:
        raise ManifestError(*(d for error in failed for d in error.diagnostics))
    changed = tuple(PulledFile(f, old[f], new[f]) for f in old if old[f] != new[f])
    return PulledManifests(tuple(pulled), changed, tuple(notes))


def text_of(file: str) -> str:
    """The text of a file with its line breaks as they are."""
    with Path(file).open(encoding="utf-8", newline="") as stream:
        return stream.read()


def _name(declared: TableManifest) -> TableName:
    return TableName.parse(declared.name)


def _file_of(declared: TableManifest) -> str:
    return (declared.position.file if declared.position else None) or ""


def _chosen(declared: Iterable[TableManifest], wanted: Collection[TableName]) -> Iterator[TableManifest]:
    """Those that are wanted, or all."""
    by_name = {_name(table): table for table in declared}
    for name in wanted:
        if name not in by_name:
            known = list(map(str, by_name))
            raise NotFoundError.of(
                "LB1633",
                f"no manifest declares the table {name}",
                expected=", ".join(known) or "a manifest of it",
                found=str(name),
                suggestions=near_names(str(name), known),
                remedy=f"name its manifest with --manifest, or declare it, as `lakebed infer {name}` does",
                python_remedy=f"name its manifest, or declare it, as lake.infer({str(name)!r}) does",
            )
    return iter([by_name[name] for name in wanted] if wanted else by_name.values())


@dataclass(frozen=True, slots=True)
class ManifestUpdate:
    """A manifest as it should be, and the new names of columns that change theirs, by their present paths."""

    wanted: TableManifest
    renames: Mapping[ColumnPath, str]
    versions: str | None = None
    changes: tuple[str, ...] | None = None
    notes: tuple[Diagnostic, ...] = ()

    def edited(self, text: str, declared: TableManifest, file: str, substitutions: Substitutions | None = None) -> str:
        """The text of a manifest that declares the table, with this one in its place."""
        return edit_manifest(
            text,
            lambda _: self.wanted,
            table=declared.name,
            renames=self.renames,
            source=file,
            substitutions=substitutions,
        )


def _update(declared: TableManifest, tables: TableManager, whole: bool) -> ManifestUpdate | None:
    """What the manifest of a table should be; None where there is no table, or nothing to take over."""
    name = _name(declared)
    if not tables.exists(name):
        return None
    schemas = tables.get_schema_manager(name.database, name.table)
    newest = schemas.load_latest_schema()
    if whole or not tables.holds_annotations or applied_version(newest) is None:
        versions = schemas.versions()
        manifest, followed = with_followed(table_manifest_of(str(name), newest), versions)
        refused = refused_parts(format_manifest(dump_table(manifest)), newest)
        if refused:
            raise ManifestError(*refused)
        return replace(whole_update(manifest, declared, versions), notes=followed.left_out(str(name)))
    adopted = adopt_drift(declared, newest, schemas.find)
    return None if adopted.drift is None else _of_drift(adopted, declared)


def _of_drift(adopted: Adoption, declared: TableManifest) -> ManifestUpdate:
    """A manifest with what others did. Raises `ManifestError` (LB1634) where a consumer reads what is gone."""
    assert adopted.drift is not None
    names = names_under(adopted.renames, declared.schema, adopted.manifest.schema)
    followed = follow_consumers(adopted.manifest.consumers, names)
    if followed.gone:
        raise ManifestError(*followed.in_the_way(declared.name))
    wanted = replace(adopted.manifest, consumers=followed.consumers)
    return ManifestUpdate(wanted, adopted.renames, adopted.drift.versions, adopted.drift.changes)


def whole_update(stored: TableManifest, declared: TableManifest, versions: Iterable[TableSchema]) -> ManifestUpdate:
    """What a table is, with what only its manifest knows: leave, and options that others own."""
    options = {key: value for key, value in stored.options.items() if not is_ignored(key, declared)}
    wanted = replace(stored, name=declared.name, source_kind=declared.source_kind, options=options)
    wanted = replace(wanted, approvals=declared.approvals, ignore_options=declared.ignore_options)
    return ManifestUpdate(wanted, _renames([f.name for f in declared.schema.fields], list(versions)))


def _renames(declared: Iterable[str], versions: Collection[TableSchema]) -> dict[ColumnPath, str]:
    """The present names, by declared ones, of columns that were renamed since they were declared."""
    newest = max(versions, key=lambda v: v.id)
    present = {f.id: f.name for f in newest.fields}
    found: dict[ColumnPath, str] = {}
    for name in set(declared) - set(present.values()):
        ids = [f.id for v in sorted(versions, key=lambda v: -v.id) for f in v.fields if f.name == name]
        if ids and ids[0] in present:
            found[name,] = present[ids[0]]
    return found
