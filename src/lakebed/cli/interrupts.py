"""Note that Ctrl-C was pressed, and keep libraries quiet from then on.

An interrupt lands anywhere in a conversation with Spark: what Spark or its bridge raises and logs after that is a
consequence of the interrupt, and is no news.
"""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Not imported here: a command that needs no Spark starts without it.
_SESSIONS = "lakebed.spark.session"


class Interrupts:
    """Whether this run was interrupted."""

    def __init__(self) -> None:
        self.seen = False

    def note(self, number: int, frame: object) -> None:
        """The handler of SIGINT: remember it, silence loggers and raise `KeyboardInterrupt`."""
        self.seen = True
        # The bridge to the JVM logs an interrupted question on the root logger, so silencing its own is not enough.
        logging.disable(logging.CRITICAL)
        # What waits for a job of Spark's, to tidy up behind it, would wait for the job.
        cancel = getattr(sys.modules.get(_SESSIONS), "cancel_sessions", None)
        if cancel is not None:
            cancel()
        raise KeyboardInterrupt


@contextmanager
def noted_interrupts() -> Iterator[Interrupts]:
    """Note interrupts during the block. Where they are ignored, or in another thread, they are left alone."""
    interrupts = Interrupts()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield interrupts
        return
    disabled, unraisable = logging.root.manager.disable, sys.unraisablehook

    def tell_unraisable(problem: Any) -> None:
        if not interrupts.seen:
            unraisable(problem)

    sys.unraisablehook = tell_unraisable
    signal.signal(signal.SIGINT, interrupts.note)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = unraisable
        logging.disable(disabled)


def ignore_interrupts() -> None:
    """Let the process end in peace: its exit code stands."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
