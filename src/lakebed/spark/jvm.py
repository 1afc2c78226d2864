"""Find the JVM that PySpark starts as a child of this process, and end it.

PySpark gives its process to nobody before it is fully started, so it is known by what children there were before. A
JVM that is told to end (SIGTERM) removes its temporary files and stops whatever it does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: How long something that is to end is waited for, in seconds.
PATIENCE = 0.7
_STEP = 0.02


def children() -> frozenset[int]:
    """The ids of the processes that this one has started and that are not over."""
    me = str(os.getpid())
    found = (_linux_processes() if os.path.isdir("/proc/self") else _listed_processes()) if os.name == "posix" else ()
    return frozenset(pid for pid, parent, state in found if parent == me and not state.startswith("Z"))


def end(processes: Iterable[int], *, within: float) -> None:
    """Tell children to end and wait for them, for at most `within` seconds; what is no child any more is left alone."""
    until = time.monotonic() + within
    waiting = frozenset(processes) & children()
    for process in waiting:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGTERM)
    while waiting and time.monotonic() < until:
        time.sleep(_STEP)
        waiting &= children()


@contextmanager
def ended_by_interrupts(before: frozenset[int]) -> Iterator[Callable[[], None]]:
    """Let an interrupt end the JVM that the block is starting: one whose start is cut off is nobody's, and stays.

    `before` are the children of this process that stay. The block gets a function that puts the handler in force back
    into its place. The handler of before is called after the JVM, and is there again afterwards.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return

    def end_and_pass_on(number: int, frame: object) -> None:
        interrupted.append(number)
        end(children() - before, within=PATIENCE)
        _pass_on(handler)

    def keep() -> None:
        signal.signal(signal.SIGINT, end_and_pass_on)

    interrupted: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        # Interrupts are ignored.
        yield lambda: None
        return
    keep()
    try:
        yield keep
    finally:
        signal.signal(signal.SIGINT, handler)
        if interrupted:
            # Also in place of the failure that follows the end of the JVM, and of what was started meanwhile.
            end(children() - before, within=PATIENCE)
            _pass_on(handler)


def _pass_on(handler: object) -> None:
    """Interrupt as `handler` of SIGINT does, else with `KeyboardInterrupt`."""
    if callable(handler):
        handler(signal.SIGINT, None)
    raise KeyboardInterrupt


def _linux_processes() -> Iterable[tuple[int, str, str]]:
    """Id, parent and state of all processes."""
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            with suppress(OSError):
                # The name before them is in parentheses and may hold anything.
                state, parent = Path("/proc", entry, "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
                yield int(entry), parent, state


def _listed_processes() -> Iterable[tuple[int, str, str]]:
    command = ["ps", "-A", "-o", "pid=,ppid=,state="]
    with suppress(OSError), subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listing:
        for line in listing.communicate()[0].splitlines():
            pid, parent, state = line.split()[:3]
            if int(pid) != listing.pid:
                yield int(pid), parent, state
