"""Create an object exactly once by a conditional put, also where its answer is lost or unclear.

A driver repeats a request that got no answer. If the first one had succeeded, the second one finds the object and says
that it exists. So every object carries a mark of the put that made it, where the storage keeps metadata beside the
bytes, and a put that finds its own mark has won.
"""

from __future__ import annotations

import inspect
import time
import uuid
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any

from lakebed.errors import StoreError
from lakebed.redaction import cause_to_show
from lakebed.store import temporary
from lakebed.store.failures import outcome_unknown

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

IGNORES_THE_CONDITION = "LB3712"

_MARK = "lakebed-put"
_ATTEMPTS = 6
_FIRST_WAIT = 0.05
#: Nothing was sent, or nothing could have been written.
_CERTAIN = (FileNotFoundError, NotADirectoryError, IsADirectoryError, TypeError, ValueError, NotImplementedError)


class _Found(Enum):
    OURS = "ours"
    OTHERS = "somebody else's"
    NOTHING = "nothing"


def creates_exclusively(fs: AbstractFileSystem) -> bool:
    """Whether the class itself, not a generic base that may ignore it, takes a `mode` for its put."""
    return _put_parameter(fs, "mode")


def create(fs: AbstractFileSystem, path: str, data: bytes) -> bool:
    """Publish `data` at `path` by a conditional put; False when somebody else's object is there.

    Raises:
        OutcomeUnknownError: the put failed and nobody can tell whether it was carried out.
        Exception: what the driver says, where nothing was written.
    """
    mark = uuid.uuid4().hex
    wait = _FIRST_WAIT
    for attempt in range(_ATTEMPTS):
        try:
            fs.pipe_file(path, data, mode="create", **_with_mark(fs, mark))
        except _CERTAIN:
            raise
        except Exception as error:
            found = _look(fs, path, data, mark, error)
            if found is not _Found.NOTHING:
                return found is _Found.OURS
            if isinstance(error, PermissionError):
                raise
            if attempt + 1 == _ATTEMPTS or not _is_lost_race(error):
                raise outcome_unknown(path, error) from cause_to_show(error, path)
            # Rivals were at it and nobody won, or what was there is gone.
            time.sleep(wait)
            wait *= 2
        else:
            return True
    raise AssertionError("the last attempt returns or raises")


def create_unguarded(fs: AbstractFileSystem, path: str, data: bytes) -> None:
    """Put an object over what may have come there since it was looked for. Raises as `create`."""
    try:
        fs.pipe_file(path, data)
    except (*_CERTAIN, PermissionError):
        raise
    except Exception as error:
        raise outcome_unknown(path, error) from cause_to_show(error, path)


def verify(fs: AbstractFileSystem, directory: str) -> None:
    """Put an object twice and see the second put refused, for there are storages that ignore the condition.

    Raises:
        StoreError: the second put overwrote the first.
    """
    probe = f"{directory.rstrip('/')}/{temporary.probe()}"
    fs.pipe_file(probe, b"1", mode="create")
    try:
        fs.pipe_file(probe, b"2", mode="create")
    except FileExistsError:
        return
    finally:
        # Who may write but not delete keeps a hidden object of one byte; nothing reads it.
        with suppress(PermissionError, FileNotFoundError):
            fs.rm_file(probe)
    raise StoreError.of(
        IGNORES_THE_CONDITION,
        f"the storage of {directory} overwrites what it is told to create only if absent, so that of two writers "
        "of the same version both believe that they have won",
        path=directory,
        remedy="Use a storage with conditional writes, or give allow_overwrite_races=True "
        "(`allow_overwrite_races = true` in lakebed.toml) where only one process ever writes.",
    )


def _look(fs: AbstractFileSystem, path: str, data: bytes, mark: str, cause: Exception) -> _Found:
    """Whose object is at `path` after a put that failed with `cause`."""
    style = _style(fs)
    if style is None and isinstance(cause, FileExistsError):
        return _Found.OTHERS
    try:
        if style is None:
            return _Found.OURS if fs.cat_file(path) == data else _Found.OTHERS
        fs.invalidate_cache(path)
        found = fs.metadata(path) if style == "Metadata" else fs.info(path).get("metadata") or {}
        return _Found.OURS if found.get(_MARK) == mark else _Found.OTHERS
    except FileNotFoundError:
        return _Found.NOTHING
    except Exception as error:
        error.add_note(f"after {cause!r}")
        raise outcome_unknown(path, cause) from cause_to_show(error, path)


def _is_lost_race(error: Exception) -> bool:
    """Whether the storage says that the object exists, or that another conditional put is under way (S3: 409)."""
    return isinstance(error, FileExistsError) or "ConditionalRequestConflict" in str(error)


def _with_mark(fs: AbstractFileSystem, mark: str) -> dict[str, Any]:
    style = _style(fs)
    return {} if style is None else {style: {_MARK: mark}}


def _style(fs: AbstractFileSystem) -> str | None:
    """The name under which the driver's put takes metadata: S3's and GCS's; None for other drivers."""
    if any(cls.__module__.startswith("s3fs.") for cls in type(fs).__mro__):
        return "Metadata"
    return "metadata" if _put_parameter(fs, "metadata") else None


def _put_parameter(fs: AbstractFileSystem, name: str) -> bool:
    for cls in type(fs).__mro__:
        if cls.__module__ in ("fsspec.spec", "fsspec.asyn"):
            return False
        for method in ("_pipe_file", "pipe_file"):
            if method in vars(cls):
                return name in inspect.signature(vars(cls)[method]).parameters
    return False
