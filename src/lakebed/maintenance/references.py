"""Find what refers to the schema versions of a table (Paimon, "Deletion and rollback of schemas").

A snapshot, a tag and a long-lived changelog name a version; so do the statistics that they name, the manifests of their
lists, and each data file in those manifests, be it added or deleted there. Every branch has its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lakebed.catalog.paths import MAIN, SCHEMA, branch_root, schema_id_of
from lakebed.errors import LakebedError, NotFoundError, RefusedError
from lakebed.format.manifest import Kind, KnownManifests, ManifestFileMeta, read_list, read_manifest
from lakebed.format.snapshot import Snapshot, loads
from lakebed.format.table_branch import TableBranch
from lakebed.store.base import Store

UNREADABLE = "LB3664"

_BRANCH = re.compile(r"branch-(.+)", re.DOTALL)
_CHANGELOG = re.compile(r"changelog-(0|[1-9][0-9]{0,18})")


class ReferenceKind(StrEnum):
    """What refers."""

    SNAPSHOT = "snapshot"
    TAG = "tag"
    CHANGELOG = "changelog"
    STATISTICS = "statistics"
    MANIFEST = "manifest"
    DATA_FILE = "data file"


@dataclass(frozen=True, slots=True, order=True)
class Reference:
    """One thing that needs a schema version. `name` is a number, a tag's name or a file's name."""

    schema_id: int
    branch: str
    kind: ReferenceKind
    name: str


@dataclass(frozen=True, slots=True)
class State:
    """A snapshot, tag or changelog, as its file says it. `name` is a number or a tag's name."""

    branch: str
    kind: ReferenceKind
    name: str
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class _Files:
    """The data files of a manifest: version and name of each, and all names with those of their extra files.

    `taken` are the names of those that it takes away, each with its extra files.
    """

    versions: frozenset[tuple[int, str]]
    names: frozenset[str]
    taken: Mapping[str, tuple[str, ...]] = field(hash=False)


@dataclass(frozen=True, slots=True)
class _Statistics:
    """The schema version of a file of statistics, and the names of the files of sketches that belong to it."""

    schema_id: int
    sketches: frozenset[str]


class References:
    """Finds what refers to the versions of one table. Manifests, which never change, are read once."""

    def __init__(self, table: TableBranch) -> None:
        self._table = table
        self._store = table.store
        self._path = table.table_path
        self._lists: dict[str, list[ManifestFileMeta]] = {}
        self._metas: KnownManifests = {}
        self._manifests: dict[str, _Files] = {}
        self._known_statistics: dict[str, _Statistics | None] = {}

    def to_versions_of(self, branch: str) -> frozenset[Reference]:
        """All references to the versions of a branch.

        To those of `main` another branch refers too, unless it has another version of its own under that number: it may
        have been made by a writer that copied no more than the newest version.

        Raises:
            RefusedError: something cannot be read, so that nobody can tell.
        """
        try:
            found = set(self.of(branch))
            if branch == MAIN:
                for other in self.branch_directories():
                    found |= {r for r in self.of(other) if self._is_of_main(r)}
            return frozenset(found)
        except RefusedError:
            raise
        except LakebedError as error:
            raise unreadable(self._path, error) from error

    def of(self, branch: str) -> frozenset[Reference]:
        """The references that a branch's own files make."""
        return frozenset(r for state in self.states(branch) for r in self.of_state(state))

    def of_state(self, state: State) -> Iterator[Reference]:
        """The references that one snapshot, tag or changelog makes."""
        branch = state.branch
        yield Reference(state.snapshot.schema_id, branch, state.kind, state.name)
        yield from self._statistics(state)
        for meta in self.manifests_of(state):
            yield Reference(meta.schema_id, branch, ReferenceKind.MANIFEST, meta.file_name)
            for schema_id, name in self._files_in(meta).versions:
                yield Reference(schema_id, branch, ReferenceKind.DATA_FILE, name)

    def states(self, branch: str) -> list[State]:
        """Every snapshot, tag and changelog of a branch."""
        manager = self._table.on(branch).snapshots
        found = [State(branch, ReferenceKind.SNAPSHOT, str(i), manager.load(i)) for i in manager.ids()]
        found += [State(branch, ReferenceKind.TAG, name, manager.tag(name)) for name in manager.tags()]
        for number, path in changelogs(self._store, self._path, branch):
            content = loads(self._store.read(path), source=path, expected_id=number)
            found.append(State(branch, ReferenceKind.CHANGELOG, str(number), content))
        return found

    def branch_directories(self) -> list[str]:
        """Every directory that is or was meant as a branch, also one without a schema."""
        found = ((_BRANCH.fullmatch(e.name), e) for e in self._store.list(f"{self._path}/branch"))
        return [match[1] for match, entry in found if match and entry.is_directory]

    def lists_of(self, state: State) -> list[str]:
        """The manifest lists of a state that are there.

        What an engine takes away when it expires a snapshot may be missing: the changelog's list where a tag or a
        branch has copied the snapshot, the other lists of a changelog that has a list of its own.
        """
        snapshot = state.snapshot
        data = (snapshot.base_manifest_list, snapshot.base_manifest_list_size)
        delta = (snapshot.delta_manifest_list, snapshot.delta_manifest_list_size)
        changes = (snapshot.changelog_manifest_list, snapshot.changelog_manifest_list_size)
        is_changelog = state.kind is ReferenceKind.CHANGELOG
        is_copy = state.kind is ReferenceKind.TAG or state.branch != MAIN
        found = []
        for (name, size), may_be_gone in (
            (data, is_changelog and changes[0] is not None),
            (delta, is_changelog and changes[0] is not None),
            (changes, is_copy),
        ):
            if name is not None and self._load_list(name, size, may_be_gone=may_be_gone):
                found.append(name)
        return found

    def manifests_of(self, state: State) -> list[ManifestFileMeta]:
        """The manifests of a state: of its base, its delta and its changelog."""
        return [meta for name in self.lists_of(state) for meta in self._lists[name]]

    def every_manifest(self, states: Iterable[State]) -> Iterator[ManifestFileMeta]:
        """The manifests of states, each once, however many of their lists name it."""
        seen = set[tuple[str, tuple[str, ...] | None]]()
        for state in states:
            for meta in self.manifests_of(state):
                key = meta.file_name, meta.extra_files
                if key not in seen:
                    seen.add(key)
                    yield meta

    def list_of(self, name: str, size: int | None) -> list[ManifestFileMeta]:
        """The manifests that a list names. Raises `NotFoundError` for one that is not there."""
        self._load_list(name, size, may_be_gone=False)
        return self._lists[name]

    def files_of(self, meta: ManifestFileMeta) -> frozenset[str]:
        """The names of the data files of a manifest and of the files that go with them."""
        return self._files_in(meta).names

    def may_name(self, meta: ManifestFileMeta, names: frozenset[str]) -> bool:
        """Whether a manifest may be about one of some files; where it has been read already, whether it is."""
        known = self._manifests.get(meta.file_name)
        return known is None or not known.names.isdisjoint(names)

    def taken_by(self, meta: ManifestFileMeta) -> Mapping[str, tuple[str, ...]]:
        """The names of the data files that a manifest takes away, each with those of its extra files."""
        return self._files_in(meta).taken

    def _load_list(self, name: str, size: int | None, *, may_be_gone: bool) -> bool:
        if name in self._lists:
            return True
        try:
            self._lists[name] = read_list(self._store, self._path, name, size, known=self._metas)
        except NotFoundError:
            if may_be_gone:
                return False
            raise
        return True

    def _files_in(self, meta: ManifestFileMeta) -> _Files:
        known = self._manifests.get(meta.file_name)
        if known is None:
            entries = read_manifest(self._store, self._path, meta)
            files = [e.file for e in entries]
            known = self._manifests[meta.file_name] = _Files(
                frozenset((f.schema_id, f.file_name) for f in files),
                frozenset(name for f in files for name in (f.file_name, *f.extra_files)),
                {e.file.file_name: e.file.extra_files for e in entries if e.kind == Kind.DELETE},
            )
        return known

    def _statistics(self, state: State) -> Iterator[Reference]:
        name = state.snapshot.statistics
        content = None if name is None else self._statistics_of(name)
        if name is not None and content is not None:
            yield Reference(content.schema_id, state.branch, ReferenceKind.STATISTICS, name)

    def statistics_files(self, state: State) -> list[str]:
        """The names of the files of a state's statistics: those that hold sketches, then the one that names them."""
        name = state.snapshot.statistics
        if name is None:
            return []
        content = self._statistics_of(name)
        return [name] if content is None else [*sorted(content.sketches), name]

    def _statistics_of(self, name: str) -> _Statistics | None:
        """What a file of statistics says; None where it has gone."""
        if name not in self._known_statistics:
            path = f"{self._path}/statistics/{name}"
            try:
                self._known_statistics[name] = _statistics_in(self._store.read(path), path)
            except NotFoundError:
                self._known_statistics[name] = None
        return self._known_statistics[name]

    def _is_of_main(self, reference: Reference) -> bool:
        own = _schema_bytes(self._store, self._path, reference.branch, reference.schema_id)
        return own is None or own == _schema_bytes(self._store, self._path, MAIN, reference.schema_id)


def changelogs(store: Store, table_path: str, branch: str) -> list[tuple[int, str]]:
    """The long-lived changelogs of a branch by number, with their paths."""
    directory = f"{branch_root(table_path, branch)}/changelog"
    found = ((_CHANGELOG.fullmatch(e.name), e) for e in store.list(directory))
    return sorted((int(match[1]), f"{directory}/{entry.name}") for match, entry in found if match)


def unreadable(table_path: str, error: LakebedError) -> RefusedError:
    """The refusal where something that must be known cannot be read."""
    first = error.diagnostics[0]
    return RefusedError.of(
        UNREADABLE,
        f"what {table_path} still needs cannot be told, so nothing is deleted: {first.message}",
        path=first.path or table_path,
        found=first.code,
        remedy="Try again if other jobs are at work; else mend or remove the file that is named.",
    )


def summary(references: Iterable[Reference], *, name_files: bool = False) -> list[str]:
    """References in words: `snapshots 3, 4`, `12 data files`, `branch dev (tag a, 2 data files)`.

    With `name_files` a file that is alone of its kind is named.
    """
    grouped: dict[str, dict[ReferenceKind, set[str]]] = {}
    for r in references:
        grouped.setdefault(r.branch, {}).setdefault(r.kind, set()).add(r.name)
    found = []
    for branch in sorted(grouped, key=lambda name: (name != MAIN, name)):
        kinds = grouped[branch]
        parts = [_group(kind, kinds[kind], name_files) for kind in ReferenceKind if kind in kinds]
        found += parts if branch == MAIN else [f"branch {branch} ({', '.join(parts)})"]
    return found


def _group(kind: ReferenceKind, names: set[str], name_files: bool) -> str:
    several = len(names) > 1 and kind is not ReferenceKind.STATISTICS
    word = f"{kind}s" if several else str(kind)
    if kind in (ReferenceKind.MANIFEST, ReferenceKind.DATA_FILE, ReferenceKind.STATISTICS):
        return f"{word} {min(names)}" if name_files and len(names) == 1 else f"{len(names):,} {word}"
    ordered = sorted(names) if kind is ReferenceKind.TAG else sorted(names, key=int)
    shown = ", ".join(ordered[:5]) + (f" and {len(ordered) - 5:,} more" if len(ordered) > 5 else "")
    return f"{word} {shown}"


def _schema_bytes(store: Store, table_path: str, branch: str, schema_id: int) -> bytes | None:
    directory = f"{branch_root(table_path, branch)}/{SCHEMA}"
    if not any(schema_id_of(e.name) == schema_id for e in store.list(directory)):
        return None
    return store.read(f"{directory}/schema-{schema_id}")


def _statistics_in(data: bytes, path: str) -> _Statistics:
    try:
        content: Any = json.loads(data)
        sketches = frozenset(str(sketch["fileLocation"]) for sketch in content.get("blobMetadata") or ())
        if any("/" in name for name in sketches):
            raise ValueError("a sketch lies elsewhere")
        return _Statistics(int(content["schemaId"]), sketches)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise RefusedError.of(
            UNREADABLE,
            f"which schema version the statistics {path} belong to cannot be told, so nothing is deleted",
            path=path,
            remedy="Mend or remove the file that is named.",
        ) from error
