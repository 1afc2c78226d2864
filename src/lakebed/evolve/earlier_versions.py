"""Check that a new type can be read from the data files of every earlier version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.evolve.cast_rules import readable
from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.schema_changes import ELEMENT, VALUE, Path
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import without_ids
from lakebed.physical.paimon_types import Array, DataType, Map, Row, equal_ignoring_nullability, type_line


def unreadable(
    base: TableSchema, target: TableSchema, history: Callable[[], Iterable[TableSchema]]
) -> list[Diagnostic]:
    """One diagnostic per column that `target` retypes and that data of an earlier version could not be read as."""
    changed = {path for path, _, _ in _clashes((), base.fields, target.fields, lambda old, new: True)}
    if not changed:
        return []
    found: dict[Path, Diagnostic] = {}
    for version in history():
        for path, old, new in _clashes((), version.fields, target.fields, lambda old, new: not readable(old, new)):
            if path in changed:
                found.setdefault(path, _diagnostic(path, old, new, version.id))
    return list(found.values())


def _diagnostic(path: Path, old: DataType, new: DataType, version: int) -> Diagnostic:
    return Diagnostic(
        "LB4025",
        f"{path_text(path)} cannot become {type_line(new)}: it was {type_line(old)} in version {version}, "
        "whose files may still be there",
        path=path_text(path),
        expected=f"a type that {type_line(old)} can be read as",
        found=type_line(new),
        remedy="add a new column of the wanted type",
    )


def _clashes(
    parent: Path, old: Fields, new: Fields, counts: Callable[[DataType, DataType], bool]
) -> Iterator[tuple[Path, DataType, DataType]]:
    """The places, by id, whose types differ beyond nullability and for which `counts` holds."""
    by_id = {f.id: f for f in old}
    for field in new:
        if field.id in by_id:
            yield from _type_clashes((*parent, field.name), by_id[field.id].type, field.type, counts)


def _type_clashes(
    path: Path, old: DataType, new: DataType, counts: Callable[[DataType, DataType], bool]
) -> Iterator[tuple[Path, DataType, DataType]]:
    match old, new:
        case Row(), Row():
            yield from _clashes(path, old.fields, new.fields, counts)
        case Array(), Array():
            yield from _type_clashes((*path, ELEMENT), old.element, new.element, counts)
        case Map(), Map() if without_ids(old.key) == without_ids(new.key):
            yield from _type_clashes((*path, VALUE), old.value, new.value, counts)
        case _:
            if not equal_ignoring_nullability(old, new) and counts(old, new):
                yield path, old, new
