"""Build the logical types that a foreign schema states, with the hints of what they leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lakebed.convert.paimon import carrier, hint
from lakebed.model import Extra, Field, LogicalType, Schema, optional
from lakebed.model import types as logical
from lakebed.model.extra import PAIMON_TYPE
from lakebed.model.logical_tree import fields_inside
from lakebed.physical import DataType, parse, with_nullability
from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_tree import ELEMENT, KEY, Path, places_inside


@dataclass(frozen=True, slots=True)
class StatedType:
    """A logical type, and the type of Paimon that was stated where that is another one than the logical type's carrier.

    `extra` are attributes that the type brings along, such as allowed values.
    """

    type: LogicalType
    exact: DataType | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def or_null(self, nullable: bool = True) -> StatedType:
        """The same as an `Option`, where `nullable` says so."""
        return replace(self, type=optional(self.type)) if nullable else self

    def field(self, name: str, extra: Mapping[str, Any] | None = None) -> Field:
        """A column or a member of this type, its hint among its attributes."""
        hinted = Extra() if self.exact is None else hint(self.exact)
        return Field(name, self.type, hinted.merged({**self.extra, **(extra or {})}))

    @property
    def _stored(self) -> DataType:
        exact = carrier(self.type) if self.exact is None else self.exact
        return with_nullability(exact, isinstance(self.type, logical.Option))


def list_of(item: StatedType, fixed_length: int | None = None) -> StatedType:
    """A List of items."""
    return StatedType(
        logical.List(item.type, fixed_length), None if item.exact is None else physical.Array(item._stored)
    )


def map_of(key: StatedType, value: StatedType) -> StatedType:
    """A Map."""
    exact = None if key.exact is value.exact is None else physical.Map(key._stored, value._stored)
    return StatedType(logical.Map(key.type, value.type), exact)


def hinted_type(extra: Extra) -> DataType:
    """The type that the hint `paimon.apache.org/type` states. Raises `TypeTextError` for a text of none."""
    return parse(extra[PAIMON_TYPE], unknown="keep", allow_missing_ids=True)


def stated_exactly(schema: Schema) -> dict[Path, DataType]:
    """By the path of each place inside a column with the hint `paimon.apache.org/type`: the type that the hint states.

    Places are called as those of logical types are: what a MULTISET holds is a key.
    """
    found: dict[Path, DataType] = {}
    for path, member in fields_inside(schema.fields):
        if PAIMON_TYPE in member.extra:
            said = hinted_type(member.extra)
            found |= {_logical_path(said, path, at): type_ for at, type_ in places_inside(said, path)}
    return found


def _logical_path(said: DataType, path: Path, at: Path) -> Path:
    is_multiset = isinstance(said, physical.Multiset) and at[len(path) : len(path) + 1] == (ELEMENT,)
    return (*path, KEY, *at[len(path) + 1 :]) if is_multiset else at
