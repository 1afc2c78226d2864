"""Compare two logical schemas: identical, equivalent under options, or different; subset and superset.

The options excuse differences of order, optionality and attributes. What was added, removed or changed in type is never
excused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol, TypeAlias

from lakebed.model.differences import Difference, DifferenceKind, Party, differences
from lakebed.model.encoding import is_encoding
from lakebed.model.extra import DESCRIPTION
from lakebed.model.types import Schema
from lakebed.readable import Displayable


class Likeness(StrEnum):
    """How alike two schemas are."""

    IDENTICAL = "identical"
    EQUIVALENT = "equivalent"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Ignore:
    """Which differences are excused. `attributes` covers descriptions and encodings too."""

    order: bool = False
    optionality: bool = False
    attributes: bool = False
    descriptions: bool = False
    encodings: bool = False

    def excuses(self, difference: Difference) -> bool:
        """Whether this difference does not count."""
        match difference.kind:
            case DifferenceKind.REORDERED:
                return self.order
            case DifferenceKind.BECAME_OPTIONAL | DifferenceKind.BECAME_REQUIRED:
                return self.optionality
            case DifferenceKind.ATTRIBUTE | DifferenceKind.SCHEMA_ATTRIBUTE:
                key = difference.attribute or ""
                return self.attributes or (
                    (self.descriptions and key == DESCRIPTION) or (self.encodings and is_encoding(key))
                )
            case _:
                return False


@dataclass(frozen=True, slots=True)
class Comparison(Displayable):
    """What came out. `differences` are those that count, `excused` those that the options excuse."""

    html_renderer: ClassVar[str] = "lakebed.render.notebook_html:comparison_html"

    differences: tuple[Difference, ...]
    excused: tuple[Difference, ...] = ()

    @property
    def likeness(self) -> Likeness:
        """`identical`: nothing differs. `equivalent`: all that differs is excused. Else `different`."""
        if self.differences:
            return Likeness.DIFFERENT
        return Likeness.EQUIVALENT if self.excused else Likeness.IDENTICAL

    @property
    def is_superset(self) -> bool:
        """Whether the first schema has all that the second has, and only more fields at any depth."""
        return self._only(DifferenceKind.REMOVED)

    @property
    def is_subset(self) -> bool:
        """Whether the second schema has all that the first has, and only more fields at any depth."""
        return self._only(DifferenceKind.ADDED)

    @property
    def breaks(self) -> frozenset[Party]:
        """Who fails when the second schema replaces the first, whatever is excused."""
        every = (*self.differences, *self.excused)
        return frozenset(party for difference in every for party in difference.breaks)

    def to_json(self) -> dict[str, Any]:
        """For `--json`: the verdicts, then the differences."""
        return {
            "likeness": self.likeness.value,
            "superset": self.is_superset,
            "subset": self.is_subset,
            "breaks": sorted(party.value for party in self.breaks),
            "differences": [d.to_json() for d in self.differences],
            "excused": [d.to_json() for d in self.excused],
        }

    def _only(self, kind: DifferenceKind) -> bool:
        return all(difference.kind is kind for difference in self.differences)


class _Stored(Protocol):
    @property
    def logical(self) -> Schema: ...


class _Declared(Protocol):
    @property
    def schema(self) -> Schema: ...


Comparable: TypeAlias = Schema | _Stored | _Declared


def compare(
    a: Comparable,
    b: Comparable,
    *,
    ignore_order: bool = False,
    ignore_optionality: bool = False,
    ignore_attributes: bool = False,
    ignore_descriptions: bool = False,
    ignore_encodings: bool = False,
) -> Comparison:
    """What leads from schema `a` to schema `b`. Each is a `Schema`, a stored `TableSchema` or a `TableManifest`.

    Fields are the same where their names are, at every depth. Raises `TypeError` for something that has no schema.
    """
    ignore = Ignore(ignore_order, ignore_optionality, ignore_attributes, ignore_descriptions, ignore_encodings)
    return _sorted_out(differences(_schema(a), _schema(b)), ignore)


def _sorted_out(found: Iterable[Difference], ignore: Ignore) -> Comparison:
    counted: list[Difference] = []
    excused: list[Difference] = []
    for difference in found:
        (excused if ignore.excuses(difference) else counted).append(difference)
    return Comparison(tuple(counted), tuple(excused))


def _schema(value: Comparable) -> Schema:
    if isinstance(value, Schema):
        return value
    found = getattr(value, "logical", None) or getattr(value, "schema", None)
    if not isinstance(found, Schema):
        raise TypeError(f"a {type(value).__name__} has no logical schema")
    return found
