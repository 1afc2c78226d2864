"""Check that a new type can be read from the data files of every earlier version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.evolve.cast_rules import readable
from lakebed.evolve.nested_paths import Fields, changeable_parts
from lakebed.evolve.schema_changes import Path
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import alike_places
from lakebed.physical.paimon_types import DataType, Row, equal_ignoring_nullability, type_line


def unreadable(
    base: TableSchema, target: TableSchema, history: Callable[[], Iterable[TableSchema]]
) -> list[Diagnostic]:
    """One diagnostic per column that `target` retypes and that data of an earlier version could not be read as."""
    changed = {path for path, _, _ in _clashes(base.fields, target.fields, lambda old, new: True)}
    if not changed:
        return []
    found: dict[Path, Diagnostic] = {}
    for version in history():
        for path, old, new in _clashes(version.fields, target.fields, lambda old, new: not readable(old, new)):
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
    old: Fields, new: Fields, counts: Callable[[DataType, DataType], bool]
) -> Iterator[tuple[Path, DataType, DataType]]:
    """The places, by id, whose types differ beyond nullability and for which `counts` holds."""
    for path, before, after in alike_places(Row(old), Row(new), (), changeable_parts):
        rows = isinstance(before, Row) and isinstance(after, Row)
        if rows or changeable_parts(before, after):
            continue
        if not equal_ignoring_nullability(before, after) and counts(before, after):
            yield path, before, after
