"""Show progress of long work: a spinner with the present stage, on a terminal only."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def stages(title: str) -> Iterator[Callable[[str], None]]:
    """A function that is told each stage as it begins."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    # A descriptor of its own: that of standard error is put aside while Spark starts.
    with (
        os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding=sys.stderr.encoding, errors="replace") as stream,
        Progress(
            *columns, console=Console(file=stream), transient=True, redirect_stdout=False, redirect_stderr=False
        ) as bar,
    ):
        task = bar.add_task(escape(title))
        yield lambda stage: bar.update(task, description=escape(f"{title}: {stage}"))
