"""Open stores of bytes from paths and URLs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from inspect import signature
from typing import Any
from urllib.parse import unquote, urlsplit

from lakebed.diagnostics import near_names
from lakebed.errors import LakebedError, StoreError
from lakebed.redaction import secrets_of, without
from lakebed.store.base import Entry, Output, Store
from lakebed.store.directories import DirectoryStore
from lakebed.store.failures import BAD_OPTIONS, CANNOT_OPEN, UNKNOWN_URL
from lakebed.store.local import LocalStore

__all__ = [
    "DirectoryStore",
    "Entry",
    "LocalStore",
    "Output",
    "Store",
    "open_store",
]

_LOCAL = ("file", "local")
_WITH_BUCKET = ("s3", "s3a", "gs", "gcs")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
#: What begins like a URL, such as `jdbc:mysql://`: taken as a path it would name a directory `jdbc:mysql:`.
_LIKE_A_URL = re.compile(r"[^/]*://")


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
        raise StoreError.of(UNKNOWN_URL, "the path of a warehouse is empty")
    if _LIKE_A_URL.match(text) and not _SCHEME.match(text):
        raise _bad_url(text, "it is no path and begins with no scheme such as s3://")
    try:
        parts = urlsplit(text) if _SCHEME.match(text) else None
    except ValueError as error:
        raise _bad_url(text, str(error)) from None
    if parts is None or parts.scheme.lower() in _LOCAL:
        if parts is not None and parts.netloc not in ("", "localhost"):
            raise _bad_url(text, f"a file lies on this machine, not on {parts.netloc}")
        path = text if parts is None else unquote(parts.path) or "/"
        if "\x00" in path:
            raise _bad_url(text, "no path holds the character U+0000")
        if storage_options:
            raise _bad_options(text, "a local path takes none", storage_options)
        return LocalStore(), os.path.abspath(path)
    if parts.scheme.lower() in _WITH_BUCKET and not parts.netloc:
        raise _bad_url(text, "it names no bucket")
    return _open_fsspec(text.rstrip("/"), storage_options or {}, allow_overwrite_races)


def _open_fsspec(url: str, options: Mapping[str, Any], allow_overwrite_races: bool) -> tuple[Store, str]:
    try:
        import fsspec
    except ImportError as error:
        raise StoreError.of(
            UNKNOWN_URL,
            f"{url} needs fsspec, which is not installed",
            path=url,
            remedy="Install Lakebed with the extra `fsspec` and the driver of the storage.",
        ) from error
    from lakebed.store.fsspec_store import FsspecStore

    try:
        _check_options(url, options)
        fs, _ = fsspec.core.url_to_fs(url, **{**_defaults(url), **options})
    except TypeError as error:
        raise _bad_options(url, without(str(error), secrets_of(options)), options) from None
    except LakebedError:
        raise
    except Exception as error:
        # Drivers connect, look for credentials and open archives when they are made.
        is_url = isinstance(error, ImportError | ValueError)
        said = without(str(error) or type(error).__name__, secrets_of(options))
        raise StoreError.of(
            UNKNOWN_URL if is_url else CANNOT_OPEN,
            f"no driver for {url}: {said}" if is_url else f"{url} cannot be opened: {said}",
            path=url,
            found=type(error).__name__,
            remedy="Check the scheme of the URL, or install the driver that the message names."
            if is_url
            else "Check the URL, the network and the credentials.",
        ) from None
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


def _bad_url(url: str, problem: str) -> StoreError:
    return StoreError.of(
        UNKNOWN_URL,
        f"{url} cannot be opened: {problem}",
        path=url,
        remedy="Give a path, or a URL such as s3://bucket/warehouse.",
    )


def _bad_options(url: str, problem: str, options: Mapping[str, Any], near: tuple[str, ...] = ()) -> StoreError:
    return StoreError.of(
        BAD_OPTIONS,
        f"the storage options of {url} cannot be used: {problem}",
        path=url,
        found=", ".join(options),
        suggestions=near,
        remedy="Give the options that the driver of the storage knows, for S3 for example endpoint_url.",
    )
