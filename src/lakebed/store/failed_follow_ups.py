"""Warn of follow-up steps that fail after a change was made, which stands."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import LakebedError, LakebedWarning

UNDONE = "LB3613"


@contextmanager
def afterwards(done: str, undone: str, *, path: str, remedy: str) -> Iterator[None]:
    """Turn a failure of the block into a `LakebedWarning`, as `warn_undone` does."""
    try:
        yield
    except LakebedError as error:
        warn_undone(error, done, undone, path=path, remedy=remedy)


def warn_undone(error: LakebedError, done: str, undone: str, *, path: str, remedy: str, code: str = UNDONE) -> None:
    """Warn that something was done, but something that goes with it was not, and of the error that kept it."""
    message = f"{done}, but {undone}: {error.diagnostics[0].message}"
    said = Diagnostic(code, message, Severity.WARNING, path=path, found=error.code, remedy=remedy)
    warnings.warn(LakebedWarning(said), stacklevel=4)


def with_note(error: LakebedError, code: str, done: str, remedy: str) -> LakebedError:
    """The same error, which also says what was done before it."""
    return type(error)(*error.diagnostics, Diagnostic(code, done, Severity.NOTE, remedy=remedy))
