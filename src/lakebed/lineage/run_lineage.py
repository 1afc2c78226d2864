"""Tell OpenLineage that a run begins, and what it has written or why it has failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import TypeVar

from lakebed.errors import NotFoundError
from lakebed.lineage.lineage_run import LineageOutput, LineageRun

_Result = TypeVar("_Result")

NOT_INSTALLED = "LB6591"


def require_lineage() -> None:
    """Raise `NotFoundError` (LB6591) where the library of OpenLineage is not installed."""
    if find_spec("openlineage") is None:
        raise NotFoundError.of(
            NOT_INSTALLED,
            "openlineage-python is not installed",
            found="openlineage",
            remedy="pip install 'lakebed[openlineage]', or leave `lineage` out",
        )


def tell_run(
    run: LineageRun, act: Callable[[], _Result], written: Callable[[_Result], Iterable[LineageOutput]]
) -> _Result:
    """Do what a run does, and tell of it where the lake was opened so. Raises what `act` raises, and nothing else."""
    if not run.table.tables.lineage:
        return act()
    from lakebed.lineage.run_events import RunEvents

    events = RunEvents(run)
    events.begin()
    try:
        result = act()
    except BaseException as error:
        events.fail(error)
        raise
    events.complete(written(result))
    return result
