"""Pair the columns of two versions, at every level: which wanted column is which column of the base.

There is one walk, `pair`. Who is who among the columns of one level a strategy decides: by id or name, by name, by what
a manifest declares (`identity`), or by the renames of a migration (`migration/inference`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from lakebed.diagnostics import Diagnostic
from lakebed.errors import ValidationError
from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.schema_changes import Path
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import change_alike_rows, without_ids
from lakebed.physical.paimon_types import UNASSIGNED, DataField, Row

UNKNOWN_FIELD_ID = "LB3207"

#: For each wanted column the column of the base that it is; None for a new one.
Origins = Sequence[DataField | None]


class Strategy(Protocol):
    """Decides who is who among siblings. Whoever pairs by one that can fail asks it for its problems afterwards."""

    def origins(self, parent: Path, base: Fields, wanted: Fields) -> Origins:
        """The columns of the base that the wanted ones are; `parent` is the path to them, in the names wanted."""


def pair(base: Fields, wanted: Fields, strategy: Strategy, parent: Path = ()) -> Fields:
    """The wanted columns with the ids of the columns that they are; what is new is `UNASSIGNED` with all inside it.

    Members of ROWs are paired in the same way, level by level, wherever both have a ROW in the same place, also inside
    of arrays, maps and multisets.
    """

    def members(path: Path, before: Row, after: Row) -> Row:
        return replace(after, fields=pair(before.fields, after.fields, strategy, path))

    found = []
    for new, old in zip(wanted, strategy.origins(parent, base, wanted), strict=True):
        if old is None:
            found.append(replace(new, id=UNASSIGNED, type=without_ids(new.type)))
        else:
            inside = change_alike_rows(old.type, new.type, members, without_ids, (*parent, new.name))
            found.append(replace(new, id=old.id, type=inside))
    return tuple(found)


class ByName:
    """A column is the one of exactly its name."""

    def origins(self, parent: Path, base: Fields, wanted: Fields) -> Origins:
        """Those of the same names."""
        by_name = {column.name: column for column in base}
        return [by_name.get(column.name) for column in wanted]


@dataclass(slots=True)
class ByIdOrName:
    """A column is the one of its id where it has one, else that of its name which no id claims."""

    problems: list[Diagnostic] = field(default_factory=list)

    def origins(self, parent: Path, base: Fields, wanted: Fields) -> Origins:
        """Those of the same ids and names; an id that no sibling has, or that two columns claim, is a problem."""
        by_id = {column.id: column for column in base}
        claimed: set[int] = set()
        for column in wanted:
            if column.id == UNASSIGNED:
                continue
            if column.id not in by_id or column.id in claimed:
                self.problems.append(_unknown_id((*parent, column.name), column.id, is_taken=column.id in claimed))
            claimed.add(column.id)
        free = {column.name: column for column in base if column.id not in claimed}
        return [by_id.get(c.id) if c.id != UNASSIGNED else free.get(c.name) for c in wanted]


def pair_asked(base: Fields, wanted: Fields) -> Fields:
    """The wanted columns with the ids of the columns that they are: by id where one is given, else by name.

    Raises `ValidationError` (LB3207) where an id is given that no sibling has, or two columns claim one.
    """
    strategy = ByIdOrName()
    paired = pair(base, wanted, strategy)
    if strategy.problems:
        raise ValidationError(*strategy.problems)
    return paired


def _unknown_id(path: Path, number: int, *, is_taken: bool) -> Diagnostic:
    problem = "another column has claimed" if is_taken else "no column of the table has"
    return Diagnostic(
        UNKNOWN_FIELD_ID,
        f"the column {path_text(path)} asks for the field id {number}, which {problem}",
        path=path_text(path),
        found=str(number),
        remedy="Leave the id out to add a column, or take the ids from the table's present schema.",
    )
