"""Show what was made outside of `apply`, and what of it manifests take over."""

from __future__ import annotations

from collections.abc import Iterator

from lakebed.evolve.pull_manifests import PulledManifests, PulledTable
from lakebed.printable import one_line


def pulled_text(pulled: PulledManifests) -> str:
    """What each manifest takes over."""
    lines = [line for table in pulled.tables for line in _pulled(table)]
    return "\n".join(lines) or "Nothing to pull: the manifests declare what was made outside of `apply`."


def _pulled(table: PulledTable) -> Iterator[str]:
    what = "the table as it is" if table.versions is None else f"what {table.versions} did outside of `apply`"
    yield one_line(f"{table.file}: {table.table}, {what}")
    yield from (f"  {one_line(change)}" for change in table.changes or ())
