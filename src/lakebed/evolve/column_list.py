"""Hold sibling columns while a batch of changes runs: found by name, kept in order.

A change costs what it touches, so that a batch of thousands of changes on thousands of columns stays quick.
"""

from __future__ import annotations

from collections.abc import Iterable

from lakebed.errors import ColumnMismatchError
from lakebed.evolve.nested_paths import Fields, no_such_column
from lakebed.evolve.schema_changes import Path
from lakebed.physical.paimon_types import DataField


class ColumnList:
    """Columns beside each other; `names` are in order. Raises `ValidationError` (LB4002) where two have one name."""

    def __init__(self, fields: Fields) -> None:
        self.names: list[str] = [f.name for f in fields]
        self._by_name = {f.name: f for f in fields}
        if len(self._by_name) != len(fields):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise ColumnMismatchError.of(
                "LB4002", f"there are several columns {twice}", path=twice, remedy="rename or drop all but one"
            )

    @property
    def fields(self) -> Fields:
        """The columns in order."""
        return tuple(self._by_name[name] for name in self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def get(self, path: Path) -> DataField:
        """The column that the path ends at. Raises `ValidationError` (LB4001) where there is none."""
        found = self._by_name.get(path[-1])
        if found is None:
            raise no_such_column(path, self.names)
        return found

    def put(self, field: DataField) -> None:
        """Put the column into the place of the one of its name."""
        self._by_name[field.name] = field

    def insert(self, at: int, field: DataField) -> None:
        """Add a column before the one at this place."""
        self.names.insert(at, field.name)
        self._by_name[field.name] = field

    def remove(self, name: str) -> None:
        """Take the column out."""
        self.names.remove(name)
        del self._by_name[name]

    def rename(self, old: str, new: DataField) -> None:
        """Put a column into the place of the one that has another name."""
        self.names[self.names.index(old)] = new.name
        del self._by_name[old]
        self._by_name[new.name] = new

    def first_of(self, names: Iterable[str]) -> int:
        """The place of the first of these columns, or the end."""
        return min((self.names.index(name) for name in names if name in self), default=len(self))
