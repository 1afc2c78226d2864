"""Match the annotations of a schema file to its columns, and say what they mean together.

`lakebed.catalog.annotations` says what the annotations are. Nothing here asks for more of a schema than its columns,
the text of the option and the table's comment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from lakebed.convert.fit import bare_logical, fits
from lakebed.convert.paimon import carrier, default_text, hint, logical_type, nearest, stated
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import ConversionError, TypeTextError
from lakebed.model import Extra, Field, LogicalType, Schema, canonical_json
from lakebed.model.extra import DEFAULT, DESCRIPTION, PAIMON_TYPE
from lakebed.model.from_json import type_from_json
from lakebed.physical import DataField, parse, path_text
from lakebed.physical.paimon_tree import Path, bare, fields_inside, without_nullability

OPTION = "lakebed.schema"
FORMAT = 1

_NOTHING = Extra()


def meaning(fields: tuple[DataField, ...], text: str | None, comment: str | None) -> Schema:
    """The declared schema that columns and the text of their annotations stand for.

    Entries that are drift are left out of account. The table's `comment` is the description.
    """
    found = resolve(fields, text)

    def field_of(column: DataField) -> Field:
        known = found.by_field.get((column.id, column.name), Attached())
        type_ = logical_type(column.type, known.type, field_of)
        return Field(column.name, type_, _extra_of(column, type_, known))

    extra = found.extra
    if comment is not None:
        extra = extra.merged({DESCRIPTION: comment})
    return Schema(tuple(field_of(f) for f in fields), extra)


@dataclass(frozen=True, slots=True)
class Attached:
    """What an entry says about the column that it belongs to: only what still holds."""

    type: LogicalType | None = None
    extra: Extra = _NOTHING


@dataclass(slots=True)
class Resolved:
    """The entries by the id and the name of their column, and what did not hold."""

    by_field: dict[tuple[int, str], Attached] = field(default_factory=dict)
    extra: Extra = _NOTHING
    warnings: list[Diagnostic] = field(default_factory=list)

    def warn(self, code: str, message: str, path: Path = (), **parts: Any) -> None:
        self.warnings.append(Diagnostic(code, message, Severity.WARNING, path=path_text(path) or None, **parts))


@dataclass(frozen=True, slots=True)
class _Place:
    """A column of any level, its path, and the names of all its siblings."""

    path: Path
    column: DataField
    siblings: Set[str]


def _extra_of(column: DataField, type_: LogicalType, known: Attached) -> Extra:
    """The attributes of a column: its own, the hint of its type, and those of its entry."""
    extra = known.extra
    if PAIMON_TYPE not in extra and known.type is None:
        extra = extra.merged(hint(column.type))
    own = stated(column)
    if DEFAULT in extra and default_text(extra[DEFAULT], type_) == column.default_value:
        own.pop(DEFAULT, None)
    else:
        extra = extra.without(DEFAULT)
    return (extra if extra.description is None else extra.without(DESCRIPTION)).merged(own)


def annotation_json(text: str) -> Any:
    """The JSON value of a text, None for text that is not JSON or cannot be written again."""
    try:
        found = json.loads(text)
        canonical_json(found)
    except (ValueError, RecursionError):
        return None
    return found


def less_description(extra: Extra) -> Extra:
    """A description that is text is Paimon's own; anything else under that name is kept here."""
    return extra if extra.description is None else extra.without(DESCRIPTION)


def resolve(fields: tuple[DataField, ...], text: str | None) -> Resolved:
    """Attach each entry to the column that it was made for, or find out why that cannot be done."""
    out = Resolved()
    if text is None:
        return out
    content = annotation_json(text)
    entries = content.get("fields", {}) if isinstance(content, dict) else None
    if not isinstance(content, dict) or not isinstance(entries, dict):
        remedy = "apply the manifest again, which writes them anew"
        out.warn("LB3511", f"the annotations in the option {OPTION!r} cannot be read", found=text[:60], remedy=remedy)
        return out
    if content.get("format") != FORMAT:
        message = f"the annotations are of format {content.get('format')!r}; they are read as format {FORMAT}"
        out.warn("LB3515", message, remedy="use a newer Lakebed to change the table")
    if isinstance(content.get("extra"), dict):
        out.extra = less_description(Extra(content["extra"]))
    places: dict[str, list[_Place]] = {}
    for place in _places(fields):
        places.setdefault(str(place.column.id), []).append(place)
    for number, entry in entries.items():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            _attach(out, number, entry, places.get(number, []))
        else:
            out.warn("LB3511", f"the annotation of the field id {number} cannot be read")
    return out


def _places(columns: tuple[DataField, ...]) -> Iterator[_Place]:
    found = list(fields_inside(columns))
    siblings: dict[Path, set[str]] = {}
    for path, column in found:
        siblings.setdefault(path[:-1], set()).add(column.name)
    return (_Place(path, column, siblings[path[:-1]]) for path, column in found)


def _attach(out: Resolved, number: str, entry: Mapping[str, Any], candidates: list[_Place]) -> None:
    """Attach one entry to the column of its id, unless that column is another one by now."""
    name = entry["name"]
    if not candidates:
        remedy = "apply the manifest again, which drops the annotation"
        out.warn(
            "LB3512", f"the column {name!r} (id {number}) is gone, its annotation is left", found=name, remedy=remedy
        )
        return
    same = [p for p in candidates if p.column.name == name]
    place = (same or candidates)[0]
    said = _what_holds(out, entry, place)
    ambiguous = len(same or candidates) > 1
    if ambiguous or (not same and (name in place.siblings or not said.fits)):
        out.warn(
            "LB3514",
            f"the id {number} of the column {name!r} now belongs to {place.column.name!r}: its annotation is not used",
            place.path,
            expected=name,
            found=place.column.name,
            remedy="declare the column in the manifest and apply it, which writes the annotation anew",
        )
        return
    if not said.fits:
        now = str(bare(place.column.type))
        out.warn(
            "LB3513",
            f"the column {place.column.name!r} was declared as {_shown_type(entry)} but is {now} now",
            place.path,
            expected=_shown_type(entry),
            found=now,
            remedy="declare the new type in the manifest, or change the column back",
        )
    _check_default(out, said.extra, place)
    out.by_field[(place.column.id, place.column.name)] = Attached(said.type, said.extra)


@dataclass(frozen=True, slots=True)
class _Said:
    """What an entry says that still holds, and whether the column's type is as it was."""

    type: LogicalType | None
    extra: Extra
    fits: bool


def _what_holds(out: Resolved, entry: Mapping[str, Any], place: _Place) -> _Said:
    extra = Extra(entry["extra"]) if isinstance(entry.get("extra"), dict) else Extra()
    found = without_nullability(bare(place.column.type))
    declared: LogicalType | None = None
    as_stored = found
    try:
        if "type" in entry:
            declared = bare_logical(type_from_json(entry["type"]))
            as_stored = without_nullability(carrier(declared))
        if PAIMON_TYPE in extra:
            as_stored = without_nullability(bare(parse(extra[PAIMON_TYPE], unknown="keep", allow_missing_ids=True)))
    except (ConversionError, TypeTextError) as error:
        message = f"the annotated type of the column {entry['name']!r} cannot be read: {error.diagnostics[0].message}"
        out.warn("LB3511", message, place.path)
        return _Said(None, extra.without(PAIMON_TYPE), True)
    if as_stored == found and (declared is None or fits(declared, found)):
        return _Said(declared, extra, True)
    return _Said(None, extra.without(PAIMON_TYPE), False)


def _shown_type(entry: Mapping[str, Any]) -> str:
    """What an entry says about the type, for a message."""
    extra = entry.get("extra")
    wanted = extra.get(PAIMON_TYPE) if isinstance(extra, dict) else None
    said = entry.get("type", wanted)
    kind = said.get("kind") if isinstance(said, dict) else said
    return str(kind) if isinstance(kind, str) else canonical_json(said)


def _check_default(out: Resolved, extra: Extra, place: _Place) -> None:
    if DEFAULT not in extra:
        return
    said = default_text(extra[DEFAULT], nearest(place.column.type))
    if said != place.column.default_value:
        out.warn(
            "LB3516",
            f"the default of the column {place.column.name!r} was declared as {said!r} "
            f"but is {place.column.default_value!r} now",
            place.path,
            expected=said,
            found=place.column.default_value,
            remedy="declare the new default in the manifest, or change the column back",
        )
