"""Write the manifests and lists of one attempt to commit, merging small ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from uuid import uuid4

from lakebed.catalog.option_values import text_of
from lakebed.catalog.options import MANIFEST_COMPRESSION
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import StoreError
from lakebed.format.index_manifest import IndexFile, index_manifest_bytes
from lakebed.format.live_files import entries_of, partition_types
from lakebed.format.manifest import (
    ManifestEntry,
    ManifestFileMeta,
    describe,
    manifest_path,
    write_list,
    write_manifest,
)
from lakebed.format.manifest_merge import MergeRule, left_over
from lakebed.store.base import Store
from lakebed.store.safe_delete import Inside

#: So many entries tell how large the manifests of many are: those are never all in memory as records.
_SAMPLE = 4096


class ManifestWriter:
    """Writes files under names of its own, so that they can be taken away when the attempt comes to nothing."""

    def __init__(self, store: Store, table_path: str, schema: TableSchema) -> None:
        self._store = store
        self._table_path = table_path
        self._schema_id = schema.id
        self._types = partition_types(schema)
        self._compression = text_of(schema.options, MANIFEST_COMPRESSION)
        self._rule = MergeRule.of(schema.options, self._types)
        self._stem = str(uuid4())
        self._written: list[str] = []
        self._manifests = 0
        self._lists = 0
        self._indexes = 0

    def write(self, entries: Sequence[ManifestEntry]) -> list[ManifestFileMeta]:
        """Write the entries, in order, as manifests of about the target size; no entries make no manifest."""
        if not entries:
            return []
        first = entries[:_SAMPLE]
        data = write_manifest(first, compression=self._compression)
        size = len(data) * len(entries) // len(first)
        parts = max(min(-(-size // self._rule.target), len(entries)), 1)
        if parts == 1 and len(first) == len(entries):
            return [self._write_manifest(entries, data)]
        step = -(-len(entries) // parts)
        chunks = (entries[i : i + step] for i in range(0, len(entries), step))
        return [self._write_manifest(c, write_manifest(c, compression=self._compression)) for c in chunks]

    def _write_manifest(self, entries: Sequence[ManifestEntry], data: bytes) -> ManifestFileMeta:
        name = f"manifest-{self._stem}-{self._manifests}"
        self._manifests += 1
        self._create(name, data)
        return describe(name, len(data), entries, self._types, self._schema_id)

    def write_list(self, metas: Sequence[ManifestFileMeta]) -> tuple[str, int]:
        """Write a manifest list; its name and its bytes."""
        data = write_list(metas, compression=self._compression)
        name = f"manifest-list-{self._stem}-{self._lists}"
        self._lists += 1
        self._create(name, data)
        return name, len(data)

    def merge(self, metas: Sequence[ManifestFileMeta]) -> list[ManifestFileMeta]:
        """The manifests of a base list, with some made into few, or cut anew, once there are many; see `MergeRule`."""
        chosen = self._rule.chosen(metas)
        if not chosen:
            return list(metas)
        everything = len(chosen) == len(metas)
        entries = entries_of(self._store, self._table_path, chosen)
        left = left_over(entries, self._types, everything=everything)
        count = sum(m.num_added_files + m.num_deleted_files for m in chosen)
        size = sum(m.file_size for m in chosen) * len(left) // max(count, 1)
        names = {m.file_name for m in chosen}
        made = [m for piece in self._rule.cut(left, size) for m in self.write(piece)]
        return [m for m in metas if m.file_name not in names] + made

    def write_index_manifest(self, files: Sequence[IndexFile]) -> str:
        """Write an index manifest of all live index files; its name."""
        name = f"index-manifest-{self._stem}-0"
        self._create(name, index_manifest_bytes(files, self._compression))
        return name

    def write_index_file(self, file: IndexFile, data: bytes, path_of: Callable[[IndexFile], str]) -> IndexFile:
        """Write an index file and give it a name. `path_of` tells where a file belongs."""
        named = replace(file, name=f"index-{self._stem}-{self._indexes}")
        self._indexes += 1
        self._create_at(path_of(named), data)
        return named

    def _create(self, name: str, data: bytes) -> None:
        self._create_at(manifest_path(self._table_path, name), data)

    def _create_at(self, path: str, data: bytes) -> None:
        # The name is ours alone, so that "exists already" can only mean that the storage repeated our own request.
        self._written.append(path)
        self._store.create_if_absent(path, data)

    def discard(self) -> None:
        """Take away what was written, as well as possible: nothing refers to it."""
        inside = Inside(self._store, self._table_path)
        for path in self._written:
            with suppress(StoreError):
                inside.delete(path)
        self._written.clear()
