"""Writing the manifests and lists of one attempt to commit, and merging those that have become many."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from uuid import uuid4

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import StoreError
from lakebed.store.base import Store
from lakebed.store.inside import Inside
from lakebed.table.manifest import (
    ManifestEntry,
    ManifestFileMeta,
    describe,
    manifest_path,
    write_list,
    write_manifest,
)
from lakebed.table.options import byte_size, whole_number
from lakebed.table.scan import entries_of, live_entries, partition_types

_TARGET_SIZE = 8 << 20
_MERGE_MIN_COUNT = 30


class ManifestWriter:
    """Writes files under names of its own, so that they can be taken away when the attempt comes to nothing."""

    def __init__(self, store: Store, table_path: str, schema: TableSchema) -> None:
        self._store = store
        self._table_path = table_path
        self._schema_id = schema.id
        self._types = partition_types(schema)
        self._compression = schema.options.get("manifest.compression", "zstd")
        self._target_size = byte_size(schema.options, "manifest.target-file-size", _TARGET_SIZE)
        self._merge_min_count = whole_number(schema.options, "manifest.merge-min-count", _MERGE_MIN_COUNT)
        self._stem = str(uuid4())
        self._written: list[str] = []
        self._manifests = 0
        self._lists = 0

    def write(self, entries: Sequence[ManifestEntry]) -> list[ManifestFileMeta]:
        """Write the entries, in order, as manifests of about the target size; no entries make no manifest."""
        if not entries:
            return []
        data = write_manifest(entries, compression=self._compression)
        parts = min(-(-len(data) // max(self._target_size, 1)), len(entries))
        if parts == 1:
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
        """The manifests of a base list, with the small ones made into few once there are many.

        Where any manifest deletes files, all are rewritten, since an ADD and its DELETE may stand in different ones;
        only live files are left then. Otherwise large manifests stay as they are.
        """
        small = [m for m in metas if m.num_deleted_files or m.file_size < self._target_size // 2]
        if len(small) < max(self._merge_min_count, 2):
            return list(metas)
        merged = list(metas) if any(m.num_deleted_files for m in metas) else small
        live = live_entries(entries_of(self._store, self._table_path, merged), self._types)
        names = {m.file_name for m in merged}
        return [m for m in metas if m.file_name not in names] + self.write(live)

    def _create(self, name: str, data: bytes) -> None:
        # The name is ours alone, so that "exists already" can only mean that the storage repeated our own request.
        self._written.append(name)
        self._store.create_if_absent(manifest_path(self._table_path, name), data)

    def discard(self) -> None:
        """Take away what was written, as well as possible: nothing refers to it."""
        inside = Inside(self._store, self._table_path)
        for name in self._written:
            with suppress(StoreError):
                inside.delete(manifest_path(self._table_path, name))
        self._written.clear()
