"""Find values of a row for columns that the table does not have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.ingest.columns.checkers import no_problems, problem
from lakebed.ingest.sources import json_values
from lakebed.physical import path_text

NO_COLUMN = "LB6214"
EXPECTED = "no value, since the table has no such column"
#: A name that a path has without backticks, see `path_text`.
_PLAIN_NAME = r"^[^.`\s]+\z"


@dataclass(frozen=True, slots=True)
class UnknownValues:
    """The values, other than NULL, that a source has at one level for names that are not declared there.

    `found` lists them as structs of their `path` from that level and their text, of the source's struct or JSON object.
    """

    found: Callable[[Column], Column]

    def bad(self, x: Column) -> Column:
        """Whether there is one."""
        return are_there(self.found(x))

    def problems(self, x: Column, path: Column) -> Column:
        """Their problems in a struct at this place."""
        return problems_of(self.found(x), lambda name: F.concat(path, F.lit("."), name))


def of_members(members: Sequence[tuple[str, Callable[[Column], Column]]]) -> UnknownValues:
    """The values of these members of a struct, each with what makes a text of it."""
    return UnknownValues(lambda x: of_values([(name, x.getField(name), shown) for name, shown in members]))


def of_values(values: Sequence[tuple[str, Column, Callable[[Column], Column]]]) -> Column:
    """Those of values that are there, by their names, each with what makes a text of it; see `UnknownValues`."""
    told = (F.when(value.isNotNull(), _told(F.lit(path_text((n,))), shown(value))) for n, value, shown in values)
    return F.array_compact(F.array(*told))


def of_keys(declared: Collection[str], only: Collection[str] | None = None) -> UnknownValues:
    """The values of all keys of a JSON object but those declared, or `only` of some."""

    def is_unknown(entry: Column) -> Column:
        key, value = entry.getField("key"), entry.getField("value")
        counts = ~key.isin(*declared) if only is None else key.isin(*(name for name in only if name not in declared))
        return counts & ~json_values.is_missing(value)

    def found(x: Column) -> Column:
        unknown = F.filter(F.map_entries(json_values.entries_of(x)), is_unknown)
        return F.transform(
            unknown, lambda e: _told(_as_path(e.getField("key")), json_values.text_of(e.getField("value")))
        )

    return UnknownValues(found)


def are_there(found: Column) -> Column:
    """Whether values were found."""
    return F.coalesce(F.array_size(found) > 0, F.lit(False))


def problems_of(found: Column, place: Callable[[Column], Column] = lambda path: path) -> Column:
    """The problems of values that were found, each at its `place`."""
    told = F.transform(found, lambda v: problem(place(v.getField("path")), NO_COLUMN, EXPECTED, v.getField("found")))
    return F.coalesce(told, no_problems())


def _told(path: Column, found: Column) -> Column:
    return F.struct(path.alias("path"), found.alias("found"))


def _as_path(name: Column) -> Column:
    quoted = F.concat(F.lit("`"), F.replace(name, F.lit("`"), F.lit("``")), F.lit("`"))
    return F.when(name.rlike(_PLAIN_NAME), name).otherwise(quoted)
