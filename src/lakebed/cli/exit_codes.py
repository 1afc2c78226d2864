"""Define the exit codes of the process."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of `lakebed`. Over several tables the most severe one wins."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    CHANGES_PENDING = 10
    REFUSED = 11
    STALE = 12
    DRIFT = 13
    QUARANTINED = 14
    #: As a shell says of a process that Ctrl-C ended.
    INTERRUPTED = 130
    #: As a shell says of a process whose reader, such as `head`, went away.
    READER_GONE = 141

    @property
    def is_ok(self) -> bool:
        """Whether the command did what it was asked to: `ok` of `--json`."""
        return self in (ExitCode.OK, ExitCode.CHANGES_PENDING)
