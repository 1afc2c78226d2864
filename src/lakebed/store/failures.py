"""Translate failures of storages into Lakebed's errors, so that all stores say the same."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from lakebed.errors import (
    AlreadyExistsError,
    LakebedError,
    NotEmptyError,
    NotFoundError,
    OutcomeUnknownError,
    StoreError,
    WrongKindError,
)
from lakebed.redaction import cause_to_show

NOT_FOUND = "LB3601"
OCCUPIED = "LB3602"
NO_HARD_LINKS = "LB3603"
FAILED = "LB3604"
NOT_EXCLUSIVE = "LB3605"
WRONG_KIND = "LB3606"
UNKNOWN_URL = "LB3607"
NO_PERMISSION = "LB3611"
CANNOT_OPEN = "LB3614"
NO_ROOM = "LB3612"
OUTCOME_UNKNOWN = "LB3700"
NOT_EMPTY = "LB3701"
BAD_OPTIONS = "LB3713"


def not_found(path: str) -> NotFoundError:
    """The error for a path where a file is owed and nothing is."""
    return NotFoundError.of(NOT_FOUND, f"{path} does not exist", path=path)


def occupied(path: str) -> AlreadyExistsError:
    """The error for a move onto something."""
    return AlreadyExistsError.of(
        OCCUPIED, f"{path} exists already", path=path, remedy="Choose another target or delete it first."
    )


def wrong_kind(path: str, expected: str) -> WrongKindError:
    """The error for a directory where a file is owed, or the other way round. `expected`: "file" or "directory"."""
    remedy = f"look at what lies there, and move it away where a {expected} belongs"
    return WrongKindError.of(WRONG_KIND, f"{path} is not a {expected}", path=path, expected=expected, remedy=remedy)


def not_empty(path: str) -> NotEmptyError:
    """The error for a directory that may only be removed while nothing is in it."""
    return NotEmptyError.of(NOT_EMPTY, f"the directory {path} is not empty", path=path, remedy="Look at what is in it.")


def outcome_unknown(path: str, cause: BaseException) -> OutcomeUnknownError:
    """The error for a file that may have been published although the storage reported a failure."""
    return OutcomeUnknownError.of(
        OUTCOME_UNKNOWN,
        f"whether {path} was published is not known: {cause}",
        path=path,
        found=type(cause).__name__,
        remedy="Look at the table, then repeat the command: what was made already is not made again.",
    )


def failed(action: str, path: str, cause: BaseException) -> StoreError:
    """The error for everything else; `action` completes "cannot ..."."""
    message, found = f"cannot {action} {path}: {cause}", type(cause).__name__
    number = cause.errno if isinstance(cause, OSError) else None
    if isinstance(cause, PermissionError) or number == errno.EROFS:
        remedy = "Give the user who runs this the right to do it, or use another place: nothing was done."
        return StoreError.of(NO_PERMISSION, message, path=path, found=found, remedy=remedy)
    if number in (errno.ENOSPC, errno.EDQUOT):
        remedy = "Make room, then repeat the command: the file was not published."
        return StoreError.of(NO_ROOM, message, path=path, found=found, remedy=remedy)
    return StoreError.of(FAILED, message, path=path, found=found)


@contextmanager
def translated(action: str, path: str, *, kinds: tuple[type[Exception], ...] = (OSError, ValueError)) -> Iterator[None]:
    """Run a block and turn exceptions of these kinds into `NotFoundError` or `StoreError`, the cause kept."""
    try:
        yield
    except LakebedError:
        raise
    except FileNotFoundError as error:
        raise not_found(path) from cause_to_show(error, path)
    except (IsADirectoryError, NotADirectoryError) as error:
        expected = "file" if isinstance(error, IsADirectoryError) else "directory"
        raise wrong_kind(path, expected) from cause_to_show(error, path)
    except kinds as error:
        if isinstance(error, OSError) and error.errno == errno.ELOOP:
            # A link that leads in a circle leads to nothing.
            raise not_found(path) from error
        raise failed(action, path, error) from cause_to_show(error, path)
