"""The register of stable codes.

Every diagnostic names a code `LBnnnn`. The first digit is the room: 0 general, 1 manifest, 2 types and conversions,
3 catalog and schema files, 4 evolution, 5 table format, 6 rows (ingest, quarantine, read), 7 command line. A code never
changes its meaning and is never given to something else. The register feeds `lakebed explain` and the docs.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

_ROOMS = (
    *("general", "manifest", "types", "arrow", "conversion", "catalog", "databases", "maintenance", "evolve"),
    "stores",
    *("merge", "table", "rows", "ingest", "reading", "casts", "cli", "comparison", "attributes", "events", "migration"),
    *("row_parts", "merging", "formats", "travel", "pruning", "spark_source", "sources", "runtime"),
)


@dataclass(frozen=True, slots=True)
class Code:
    """One entry: what happened, why it is a problem, an example, and how to mend it. Markdown text."""

    id: str
    title: str
    why: str
    example: str
    remedy: str


def register() -> dict[str, Code]:
    """All codes by id, in order. A code that is registered twice is a programming error."""
    found: dict[str, Code] = {}
    for room in _ROOMS:
        for code in import_module(f"lakebed.codes.{room}").CODES:
            if code.id in found:
                raise ValueError(f"code {code.id} is registered twice")
            found[code.id] = code
    return dict(sorted(found.items()))
