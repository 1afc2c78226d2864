"""The attempts at making the next version of a table while others make versions too: there is a last one."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConflictError

GAVE_UP = "LB3609"

#: So many lost races in a row mean that something else is wrong.
MOST = 200
#: Seconds after the second lost race, doubled so many times at most.
_FIRST_WAIT = 0.005
_LONGEST_WAIT = 6


def attempts(table: str) -> Iterator[int]:
    """Numbers the attempts from 0.

    Raises:
        ConflictError: the last attempt (LB3609) was lost too.
    """
    yield from range(MOST)
    raise ConflictError(
        Diagnostic(
            GAVE_UP,
            f"{MOST} attempts to make the next version of {table} lost the race against others; nothing was written",
            path=table,
            remedy="Look at who changes this table, and repeat the command when it is quiet.",
        )
    )


def part(attempt: int) -> None:
    """Wait after a lost attempt, but the first, so that rivals who step on each other's feet part."""
    if attempt:
        time.sleep(random.uniform(0, _FIRST_WAIT * 2.0 ** min(attempt, _LONGEST_WAIT)))
