"""Bytes: the stores and how one is opened from a path or a URL."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit

from lakebed.diagnostics import Diagnostic
from lakebed.errors import StoreError
from lakebed.store.base import Entry, Store
from lakebed.store.directories import DirectoryStore
from lakebed.store.failures import UNKNOWN_URL
from lakebed.store.local import LocalStore
from lakebed.store.memory import MemoryObjectStore, MemoryStore, Operation, SimulatedCrash

__all__ = [
    "DirectoryStore",
    "Entry",
    "LocalStore",
    "MemoryObjectStore",
    "MemoryStore",
    "Operation",
    "SimulatedCrash",
    "Store",
    "open_store",
]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def open_store(url_or_path: str | os.PathLike[str]) -> tuple[Store, str]:
    """The store for a path or URL, and its absolute root without a trailing slash.

    A path and a `file://` URL open a `LocalStore`; every other URL goes to fsspec.

    Raises:
        StoreError: nothing that is installed understands the URL, or the path is empty.
    """
    text = os.fspath(url_or_path)
    if not text:
        raise StoreError(Diagnostic(UNKNOWN_URL, "the path of a warehouse is empty"))
    if not _SCHEME.match(text):
        return LocalStore(), os.path.abspath(text)
    parts = urlsplit(text)
    if parts.scheme.lower() == "file" and parts.netloc in ("", "localhost"):
        return LocalStore(), os.path.abspath(unquote(parts.path) or "/")
    return _open_fsspec(text.rstrip("/"))


def _open_fsspec(url: str) -> tuple[Store, str]:
    try:
        import fsspec
    except ImportError as error:
        raise StoreError(
            Diagnostic(
                UNKNOWN_URL,
                f"{url} needs fsspec, which is not installed",
                path=url,
                remedy="Install Lakebed with the extra `fsspec` and the driver of the storage.",
            )
        ) from error
    from lakebed.store.fsspec_store import FsspecStore

    try:
        fs, _ = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise StoreError(
            Diagnostic(
                UNKNOWN_URL,
                f"no driver for {url}: {error}",
                path=url,
                remedy="Check the scheme of the URL, or install the driver that the message names.",
            )
        ) from error
    return FsspecStore(fs), url
