"""Find the names that columns bore in earlier versions, at every level, by field id.

A source that still has such a name means the column, or it does not: the name may have been given to something else
there. Nobody but its author can say, so it is neither taken for the column nor added as a new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.schema_changes import ELEMENT, VALUE, Path
from lakebed.physical.paimon_types import Array, DataType, Map, Row

FORMER_NAME = "LB6132"

#: Present names by the paths that they had: the present path of the level, and the former name in it.
FormerNames = Mapping[Path, tuple[str, ...]]


def former_names(now: Fields, versions: Iterable[Fields]) -> FormerNames:
    """The names that columns of `now` bore in the versions, less those that their siblings bear now."""
    found: dict[Path, dict[str, None]] = {}
    for fields in versions:
        for path, name in _level((), fields, now):
            found.setdefault(path, {}).setdefault(name)
    return {path: tuple(names) for path, names in found.items()}


def _level(parent: Path, then: Fields, now: Fields) -> Iterator[tuple[Path, str]]:
    by_id = {f.id: f for f in now}
    taken = {f.name for f in now}
    for old in then:
        new = by_id.get(old.id)
        if new is None:
            continue
        if old.name not in taken:
            yield (*parent, old.name), new.name
        yield from _inside((*parent, new.name), old.type, new.type)


def _inside(path: Path, then: DataType, now: DataType) -> Iterator[tuple[Path, str]]:
    match then, now:
        case Row(), Row():
            yield from _level(path, then.fields, now.fields)
        case Array(), Array():
            yield from _inside((*path, ELEMENT), then.element, now.element)
        case Map(), Map():
            yield from _inside((*path, VALUE), then.value, now.value)
        case _:
            return
