"""Bytes: the stores and how one is opened from a path or a URL."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from inspect import signature
from typing import Any
from urllib.parse import unquote, urlsplit

from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import StoreError
from lakebed.store.base import Entry, Store
from lakebed.store.directories import DirectoryStore
from lakebed.store.failures import BAD_OPTIONS, UNKNOWN_URL
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


def open_store(
    url_or_path: str | os.PathLike[str],
    *,
    storage_options: Mapping[str, Any] | None = None,
    allow_overwrite_races: bool = False,
) -> tuple[Store, str]:
    """The store for a path or URL, and its absolute root without a trailing slash.

    A path and a `file://` URL open a `LocalStore`; every other URL goes to fsspec. `storage_options` are handed to the
    driver of the storage. `allow_overwrite_races` accepts a storage that cannot create a file exclusively.

    Raises:
        StoreError: nothing that is installed understands the URL or the options, or the path is empty.
    """
    text = os.fspath(url_or_path)
    if not text:
        raise StoreError(Diagnostic(UNKNOWN_URL, "the path of a warehouse is empty"))
    parts = urlsplit(text) if _SCHEME.match(text) else None
    if parts is None or (parts.scheme.lower() == "file" and parts.netloc in ("", "localhost")):
        if storage_options:
            raise _bad_options(text, "a local path takes none", storage_options)
        return LocalStore(), os.path.abspath(text if parts is None else unquote(parts.path) or "/")
    return _open_fsspec(text.rstrip("/"), storage_options or {}, allow_overwrite_races)


def _open_fsspec(url: str, options: Mapping[str, Any], allow_overwrite_races: bool) -> tuple[Store, str]:
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
        _check_options(url, options)
        fs, _ = fsspec.core.url_to_fs(url, **{**_defaults(url), **options})
    except TypeError as error:
        raise _bad_options(url, str(error), options) from error
    except (ImportError, ValueError) as error:
        raise StoreError(
            Diagnostic(
                UNKNOWN_URL,
                f"no driver for {url}: {error}",
                path=url,
                remedy="Check the scheme of the URL, or install the driver that the message names.",
            )
        ) from error
    return FsspecStore(fs, allow_overwrite_races=allow_overwrite_races), url


def _defaults(url: str) -> dict[str, Any]:
    """Listings that another thread has cached would hide what was just written."""
    return {"use_listings_cache": False} if url.partition("://")[0].lower() in ("s3", "s3a", "gs", "gcs") else {}


def _check_options(url: str, options: Mapping[str, Any]) -> None:
    """The driver of S3 takes every option and ignores those that it does not know, for example misspelt ones."""
    if not options or url.partition("://")[0].lower() not in ("s3", "s3a"):
        return
    from fsspec import get_filesystem_class
    from fsspec.dircache import DirCache

    known = {
        name for cls in (*get_filesystem_class("s3").__mro__, DirCache) for name in signature(cls.__init__).parameters
    }
    for name in options:
        if name not in known:
            raise _bad_options(url, f"the driver has no option {name!r}", options, near_names(name, sorted(known)))


def _bad_options(url: str, problem: str, options: Mapping[str, Any], near: tuple[str, ...] = ()) -> StoreError:
    return StoreError(
        Diagnostic(
            BAD_OPTIONS,
            f"the storage options of {url} cannot be used: {problem}",
            path=url,
            found=", ".join(options),
            suggestions=near,
            remedy="Give the options that the driver of the storage knows, for S3 for example endpoint_url.",
        )
    )
