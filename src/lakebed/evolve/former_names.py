"""Find the names that columns bore in earlier versions, at every level, by field id.

A source that still has such a name means the column, or it does not: the name may have been given to something else
there. Nobody but its author can say, so it is neither taken for the column nor added as a new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lakebed.evolve.nested_paths import Fields, changeable_parts
from lakebed.evolve.schema_changes import Path
from lakebed.physical.paimon_tree import alike_levels, alike_members

FORMER_NAME = "LB6132"

#: Present names by the paths that they had: the present path of the level, and the former name in it.
FormerNames = Mapping[Path, tuple[str, ...]]


def former_names(now: Fields, versions: Iterable[Fields]) -> FormerNames:
    """The names that columns of `now` bore in the versions, less those that their siblings bear now."""
    found: dict[Path, dict[str, None]] = {}
    for fields in versions:
        for level, before, after in alike_levels(fields, now, changeable_parts):
            taken = {f.name for f in after}
            for old, new in alike_members(before, after):
                if old.name not in taken:
                    found.setdefault((*level, old.name), {}).setdefault(new.name)
    return {path: tuple(names) for path, names in found.items()}
