"""Read and write a POSIX file system; publish by hard link, so that two processes never both win."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from lakebed.errors import StoreError
from lakebed.store import temporary
from lakebed.store.base import Entry
from lakebed.store.failures import (
    NO_HARD_LINKS,
    not_empty,
    not_found,
    occupied,
    outcome_unknown,
    translated,
    wrong_kind,
)

_NO_LINK = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}
#: Of a link: the file system itself has refused it, no answer was lost.
_NOTHING_DONE = {
    *(errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOENT),
    *(errno.ENOTDIR, errno.ENAMETOOLONG, errno.EXDEV, errno.ELOOP),
}
#: How a file is made that must not exist.
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
_NO_DIRECTORY_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF}


class LocalStore:
    """Implements `DirectoryStore` over absolute paths of the local file system.

    `create_if_absent` writes a hidden temporary sibling, syncs it, links it to its name (which fails when the name is
    taken, also across processes) and syncs the directory. The temporary file is removed on every way out.
    """

    def read(self, path: str) -> bytes:
        """The whole content."""
        with translated("read", path), _opened(path) as file:
            return file.read()

    def read_range(self, path: str, start: int, length: int) -> bytes:
        """`length` bytes from `start`; a negative `start` counts from the end."""
        with translated("read", path), _opened(path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(start if start >= 0 else max(0, size + start))
            return file.read(length)

    def exists(self, path: str) -> bool:
        """Whether a file, or a directory with anything in it, is there."""
        with translated("look for", path):
            try:
                if not stat.S_ISDIR(os.stat(path).st_mode):
                    return True
                with os.scandir(path) as children:
                    return next(iter(children), None) is not None
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                    return False
                raise

    def size(self, path: str) -> int:
        """Bytes of a file."""
        with translated("look at", path):
            status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise wrong_kind(path, "file")
        return status.st_size

    def file_names(self, path: str) -> list[str]:
        """The names of the children that are no directories. A link counts as what it points to."""
        with translated("list", path):
            try:
                with os.scandir(path) as children:
                    return [child.name for child in children if not _is_directory(child)]
            except FileNotFoundError:
                return []

    def list(self, path: str) -> list[Entry]:
        """The direct children, sorted by name. A link counts as what it points to."""
        with translated("list", path):
            try:
                return sorted(_entries(path), key=lambda entry: entry.name)
            except FileNotFoundError:
                return []

    def create_if_absent(self, path: str, data: bytes) -> bool:
        """Publish `data` at `path` atomically and durably; False when the name is taken."""
        with translated("create", path):
            directory, name = os.path.split(path)
            _make_directories(directory)
            if os.path.lexists(path):
                return False
            written = _write_temporary(directory, name, data)
            try:
                published = _link(written, path)
            except OSError as error:
                if error.errno in _NOTHING_DONE:
                    raise
                raise outcome_unknown(path, error) from error
            finally:
                _unlink(written)
            try:
                _sync_directory(directory)
            except OSError as error:
                raise outcome_unknown(path, error) from error
            return published

    def replace(self, path: str, data: bytes) -> None:
        """Write `data` at `path` atomically, over what may be there."""
        with translated("write", path):
            directory, name = os.path.split(path)
            _make_directories(directory)
            written = _write_temporary(directory, name, data)
            try:
                os.replace(written, path)
            except BaseException:
                _unlink(written)
                raise
            _sync_directory(directory)

    def open_output(self, path: str) -> LocalOutput:
        """Start a file at `path` itself, where nothing may be."""
        with translated("create", path):
            _make_directories(os.path.dirname(path))
            try:
                return LocalOutput(path, os.open(path, _NEW_FILE, 0o666))
            except FileExistsError:
                raise occupied(path) from None

    def move(self, source: str, target: str) -> None:
        """Move one file to a place where nothing is yet; never onto something."""
        with translated("move", source):
            if stat.S_ISDIR(os.stat(source).st_mode):
                raise wrong_kind(source, "file")
            _make_directories(os.path.dirname(target))
            if not _link(source, target):
                raise occupied(target)
            os.unlink(source)
            _sync_directory(os.path.dirname(target))

    def delete(self, path: str) -> None:
        """Delete one file or link; no error when it is not there."""
        with translated("delete", path), suppress(FileNotFoundError):
            os.unlink(path)

    def delete_tree(self, path: str) -> None:
        """Delete a directory and all below it. A link, also `path` itself, is removed and never followed."""
        with translated("delete", path):
            try:
                mode = os.lstat(path).st_mode
            except FileNotFoundError:
                return
            if stat.S_ISDIR(mode):
                shutil.rmtree(path)
            else:
                os.unlink(path)

    def make_directory(self, path: str) -> None:
        """Make a directory and its parents, durably."""
        with translated("make the directory", path):
            _make_directories(path)

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory; no error when it is not there."""
        with translated("remove the directory", path), suppress(FileNotFoundError):
            try:
                os.rmdir(path)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                    raise not_empty(path) from error
                raise

    def is_directory(self, path: str) -> bool:
        """Whether `path` is a directory or a link to one."""
        return os.path.isdir(path)

    def is_link(self, path: str) -> bool:
        """Whether `path` is a symbolic link."""
        return os.path.islink(path)

    def move_directory(self, source: str, target: str) -> None:
        """Rename a directory; `target` must not exist, not even empty."""
        with translated("move", source):
            if not os.path.lexists(source):
                raise not_found(source)
            if os.path.lexists(target):
                raise occupied(target)
            try:
                os.rename(source, target)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise occupied(target) from error
                raise
            for parent in {os.path.dirname(target), os.path.dirname(source)}:
                _sync_directory(parent)


class LocalOutput:
    """Implements `Output`: a file that grows in its place, and is synced with its directory in the end."""

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor
        self.size = 0

    def write(self, data: bytes | memoryview) -> int:
        """Write all of `data`."""
        with translated("write", self._path):
            if self._descriptor is None:
                raise ValueError("the file is closed")
            written = _write_all(self._descriptor, data)
        self.size += written
        return written

    def close(self) -> None:
        """Sync the file and its directory."""
        with translated("write", self._path):
            if self._descriptor is None:
                raise ValueError("the file is closed")
            os.fsync(self._descriptor)
            self._let_go()
            _sync_directory(os.path.dirname(self._path))

    def discard(self) -> None:
        """Remove what has been written."""
        with translated("delete", self._path):
            try:
                self._let_go()
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(self._path)

    def _let_go(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """A regular file, opened for reading: a pipe or a device in its place would never come to an end."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise wrong_kind(path, "file")
        yield file


def _entries(path: str) -> list[Entry]:
    found = []
    with os.scandir(path) as children:
        for child in children:
            try:
                now = child.stat()
            except OSError as error:
                # A link that leads nowhere is still there, as an empty entry; what is gone since the listing is not.
                if child.is_symlink():
                    found.append(Entry(child.name, False))
                elif not isinstance(error, FileNotFoundError):
                    raise
                continue
            is_directory = stat.S_ISDIR(now.st_mode)
            size = 0 if is_directory else now.st_size
            found.append(Entry(child.name, is_directory, size, now.st_mtime_ns // 1_000_000))
    return found


def _is_directory(child: os.DirEntry[str]) -> bool:
    """Whether it is one; a link that leads nowhere, or in a circle, is none. Only links are looked at."""
    try:
        return child.is_dir()
    except OSError:
        return False


def _write_temporary(directory: str, name: str, data: bytes) -> str:
    """Write and sync a hidden sibling; its path. Nothing is left behind when that fails."""
    path = os.path.join(directory, temporary.sibling(name))
    descriptor = os.open(path, _NEW_FILE, 0o666)
    try:
        try:
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        _unlink(path)
        raise
    return path


def _write_all(descriptor: int, data: bytes | memoryview) -> int:
    rest = memoryview(data).cast("B")
    length = len(rest)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    return length


def _link(source: str, target: str) -> bool:
    """Give the file a second name; False when that name is taken."""
    before = os.stat(source).st_nlink
    try:
        os.link(source, target)
    except FileExistsError:
        # A network file system may repeat a request that has succeeded: then the link count has grown.
        return os.stat(source).st_nlink == before + 1 and os.path.samefile(source, target)
    except OSError as error:
        if error.errno not in _NO_LINK:
            # A network file system may lose the answer to a request that has succeeded.
            if _is_second_name(source, target):
                return True
            raise
        raise StoreError.of(
            NO_HARD_LINKS,
            f"the file system of {target} has no hard links, so nothing can be published there safely",
            path=target,
            found=os.strerror(error.errno or 0),
            remedy="Put the warehouse on a file system with hard links (ext4, xfs, btrfs, zfs, apfs, NFS), "
            "or on an object store with conditional writes.",
        ) from error
    return True


def _is_second_name(source: str, target: str) -> bool:
    try:
        return os.path.samefile(source, target)
    except FileNotFoundError:
        return False


def _unlink(path: str) -> None:
    """Remove a temporary file. One that stays does no harm: the clean-up of orphan files knows it."""
    with suppress(OSError):
        os.unlink(path)


def _make_directories(path: str) -> None:
    """Like `os.makedirs`, and every new name is synced into its parent."""
    missing = []
    current = path
    while current and not os.path.isdir(current):
        missing.append(current)
        current = os.path.dirname(current)
    for directory in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(directory)
        _sync_directory(os.path.dirname(directory))


def _sync_directory(path: str) -> None:
    descriptor = os.open(path or ".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems keep directories in order by themselves and refuse the call.
        if error.errno not in _NO_DIRECTORY_SYNC:
            raise
    finally:
        os.close(descriptor)
