"""Read and write any file system that fsspec knows; conditional puts are the exclusive step."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lakebed.errors import LakebedError, StoreError
from lakebed.redaction import secrets_of
from lakebed.store import conditional
from lakebed.store.base import Entry
from lakebed.store.failures import NOT_EXCLUSIVE, not_empty, occupied, translated, wrong_kind

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_GLOB = frozenset("*?[")
#: Storages without directories: nothing is to be made before a write, least of all a bucket.
_OBJECT_STORES = frozenset(
    ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "obs", "cos", "oci", "b2", "r2")
)
#: Of these, those where an empty object with a name that ends in a slash stands for a directory.
_WITH_MARKERS = frozenset(("s3", "s3a"))
#: Bytes of a part of an object.
_PART = 16 << 20


class FsspecStore:
    """Implements `Store` over an fsspec file system; paths are URLs or the file system's own paths.

    `create_if_absent` is one conditional put (`pipe_file(mode="create")`), and before the first one the storage is seen
    to keep the condition. A storage that does not is refused with a `StoreError`, unless `allow_overwrite_races=True`:
    then the name is only looked up before the write, and two writers may both believe that they have won.

    Prefixes of object stores count as directories. No bucket is ever made.
    """

    def __init__(self, fs: AbstractFileSystem, *, allow_overwrite_races: bool = False) -> None:
        self._fs = fs
        self._allow_overwrite_races = allow_overwrite_races
        self._is_verified = False
        self._secrets = secrets_of(getattr(fs, "storage_options", {}))
        protocols = {fs.protocol} if isinstance(fs.protocol, str) else set(fs.protocol)
        self._has_directories = not protocols & _OBJECT_STORES
        self._has_markers = bool(protocols & _WITH_MARKERS)

    @property
    def is_exclusive(self) -> bool:
        """Whether the driver takes a condition for its put."""
        return conditional.creates_exclusively(self._fs)

    def read(self, path: str) -> bytes:
        """The whole content."""
        with self._translated("read", path):
            return bytes(self._fs.cat_file(path))

    def read_range(self, path: str, start: int, length: int) -> bytes:
        """`length` bytes from `start`, or as many as there are; a negative `start` counts from the end."""
        first = start if start >= 0 else max(0, self.size(path) + start)
        with self._translated("read", path):
            try:
                return bytes(self._fs.cat_file(path, start=first, end=first + length))
            except OSError as error:
                # S3 refuses a range that begins where an object ends, as each one of an empty object does.
                if error.errno != errno.EINVAL or first < self.size(path):
                    raise
                return b""

    def exists(self, path: str) -> bool:
        """Whether a file, or anything below `path`, is there."""
        self._forget(path)
        with self._translated("look for", path):
            try:
                if self._fs.info(path)["type"] != "directory":
                    return True
            except (FileNotFoundError, NotADirectoryError):
                return False
        return bool(self.list(path))

    def size(self, path: str) -> int:
        """Bytes of a file."""
        self._forget(path)
        with self._translated("look at", path):
            found = self._fs.info(path)
        if found["type"] == "directory":
            raise wrong_kind(path, "file")
        return int(found["size"])

    def list(self, path: str) -> list[Entry]:
        """The direct children, sorted by name; cached listings are never trusted."""
        self._forget(path)
        own = self._fs._strip_protocol(path).rstrip("/")
        with self._translated("list", path):
            try:
                found = self._fs.ls(path, detail=True)
            except FileNotFoundError:
                return []
        entries = {}
        for child in found:
            name = child["name"].rstrip("/")
            if name == own:
                if child["name"].endswith("/"):
                    continue
                if child["type"] != "directory" and len(found) == 1:
                    raise wrong_kind(path, "directory")
                continue
            is_directory = child["type"] == "directory"
            last = name.rpartition("/")[2]
            if is_directory and last in entries:
                # An object and a prefix may have one name: the object is what is read and written there.
                continue
            size = 0 if is_directory else int(child.get("size") or 0)
            entries[last] = Entry(last, is_directory, size, None if is_directory else _modified(child))
        return [entries[name] for name in sorted(entries)]

    def create_if_absent(self, path: str, data: bytes) -> bool:
        """Publish `data` at `path` by a conditional put; False when it exists."""
        with self._translated("create", path):
            if self.is_exclusive and not self._allow_overwrite_races:
                self._make_parent(path)
                if not self._is_verified:
                    conditional.verify(self._fs, path.rpartition("/")[0])
                    self._is_verified = True
                return conditional.create(self._fs, path, data)
            if not self._allow_overwrite_races:
                raise _not_exclusive(self._fs, path)
            if self.exists(path):
                return False
            self._make_parent(path)
            conditional.create_unguarded(self._fs, path, data)
            return True

    def replace(self, path: str, data: bytes) -> None:
        """Write `data` at `path`; object stores do that atomically."""
        with self._translated("write", path):
            self._make_parent(path)
            self._fs.pipe_file(path, data)

    def open_output(self, path: str) -> FsspecOutput:
        """Start a file. An object store gets it in parts and shows it in the end; it is not asked what is there."""
        with self._translated("create", path):
            if self._has_directories:
                if self.exists(path):
                    raise occupied(path)
                self._make_parent(path)
            return FsspecOutput(self, path, self._fs.open(path, "wb", **self._parts()))

    def move(self, source: str, target: str) -> None:
        """Copy one file to a place where nothing is yet, then delete it: not atomic."""
        if self.exists(target):
            raise occupied(target)
        with self._translated("move", source):
            self._make_parent(target)
            self._fs.cp_file(source, target)
            self._fs.rm_file(source)

    def delete(self, path: str) -> None:
        """Delete one file; no error when it is not there."""
        with self._translated("delete", path), suppress(FileNotFoundError):
            self._fs.rm_file(path)

    def delete_tree(self, path: str) -> None:
        """Delete all below `path`."""
        self._forget(path)
        with self._translated("delete", path), suppress(FileNotFoundError):
            if not _GLOB.intersection(path):
                self._fs.rm(path, recursive=True)
                return
            # `rm` takes such a path for a pattern and would delete more than this tree.
            for directory, _, files in self._fs.walk(path, topdown=False):
                for name in files:
                    self._fs.rm_file(f"{directory}/{name}")
                with suppress(FileNotFoundError):
                    self._fs.rmdir(directory)

    def make_directory(self, path: str) -> None:
        """Make a directory and its parents; on S3 the empty object that stands for one, elsewhere prefixes suffice."""
        with self._translated("make the directory", path):
            if self._has_directories:
                self._fs.makedirs(path, exist_ok=True)
            elif self._has_markers and "/" in self._fs._strip_protocol(path):
                self._fs.pipe_file(f"{path.rstrip('/')}/", b"")

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory, on S3 the object that stands for it."""
        if self.list(path):
            raise not_empty(path)
        with self._translated("remove the directory", path), suppress(FileNotFoundError):
            if self._has_directories:
                self._fs.rmdir(path)
            elif self._has_markers:
                self._fs.rm_file(f"{path.rstrip('/')}/")
        self._forget(path)

    def _parts(self) -> dict[str, int]:
        """Object stores take a number of parts that is limited: bigger ones than drivers use of themselves."""
        return {} if self._has_directories else {"block_size": _PART}

    def _make_parent(self, path: str) -> None:
        parent = self._fs._parent(path)
        if parent and self._has_directories:
            self._fs.makedirs(parent, exist_ok=True)

    @contextmanager
    def _translated(self, action: str, path: str) -> Iterator[None]:
        """Drivers raise errors of their network libraries too, and may repeat what they were given."""
        try:
            with translated(action, path, kinds=(Exception,)):
                yield
        except LakebedError as error:
            if not any(secret in str(error) for secret in self._secrets):
                raise
            raise type(error)(*(d.without(self._secrets) for d in error.diagnostics)) from None

    def _forget(self, path: str) -> None:
        self._fs.invalidate_cache(path)


class FsspecOutput:
    """Implements `Output` over a file that a driver has opened for writing."""

    def __init__(self, store: FsspecStore, path: str, file: Any) -> None:
        self._store, self._path, self._file = store, path, file
        self.size = 0

    def write(self, data: bytes | memoryview) -> int:
        """Write all of `data`."""
        with self._store._translated("write", self._path):
            self._file.write(data)
        self.size += len(data)
        return len(data)

    def close(self) -> None:
        """Send what is left, whereby an object appears."""
        with self._store._translated("write", self._path):
            self._file.close()

    def discard(self) -> None:
        """Give up the parts that were sent, and delete what may be there."""
        file, self._file = self._file, None
        with suppress(Exception):
            if self._store._has_directories:
                file.close()
            else:
                file.discard()
        with suppress(Exception):
            # A driver closes what it forgets, and would so publish what there is of it.
            file.closed = True
        self._store.delete(self._path)


def _modified(child: Mapping[str, Any]) -> int | None:
    """Milliseconds since 1970, as the drivers say them: a time, or seconds."""
    for key in ("LastModified", "last_modified", "updated", "mtime", "modified"):
        value = child.get(key)
        if isinstance(value, datetime) and value.tzinfo is not None:
            return int(value.timestamp() * 1000)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return int(value * 1000)
    return None


def _not_exclusive(fs: AbstractFileSystem, path: str) -> StoreError:
    return StoreError.of(
        NOT_EXCLUSIVE,
        f"{type(fs).__name__} has no conditional put, so {path} cannot be published safely",
        path=path,
        remedy="Use a store with conditional writes (S3, GCS, Azure), a newer version of its fsspec driver, "
        "or give allow_overwrite_races=True (`allow_overwrite_races = true` in lakebed.toml) where only one "
        "process ever writes.",
    )
