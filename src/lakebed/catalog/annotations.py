"""Store what columns cannot say about the declared schema in a table option, and read it back.

They are the table option `lakebed.schema`, canonical JSON

    {"format":1,"fields":{"<field id>":{"name":...,"type":...,"extra":{...}}},"extra":{...},"applied":7}

so that they are versioned and published together with the columns and survive another engine's ALTER. There is an entry
only for a field that has something to say, nested fields included. `type` is the declared long form, only where the
carrier loses something, its Structs left empty. `extra` holds the attributes, less those that columns have themselves:
the description and the default value. Where an entry and the columns disagree, the columns are right, and the
disagreement is drift.

`applied` is the number of the version that `apply` made last. Whoever makes a later version without `apply` copies it
with the option, so that a version with a mark below its own number tells which versions came after.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.fit import bare, bare_logical, fits, without_nullability, without_options
from lakebed.convert.paimon import carrier, default_text, hint, logical_type, nearest, stated
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import ConversionError, TypeTextError, UnsupportedError
from lakebed.model import Extra, Field, LogicalType, Schema, canonical_json, required, type_json
from lakebed.model import types as logical
from lakebed.model.extra import DEFAULT, DESCRIPTION, FIELD_ID, PAIMON_TYPE
from lakebed.model.from_json import type_from_json
from lakebed.physical import DataField, DataType, parse, path_text
from lakebed.physical import paimon_types as physical

OPTION = "lakebed.schema"
FORMAT = 1

_Path = tuple[str, ...]
_NOTHING = Extra()


def annotate(fields: tuple[DataField, ...], schema: Schema, *, applied: int | None = None) -> str | None:
    """The value of the option for a declared schema that is stored in `fields`, whose ids are all given.

    `applied` is the number of the version that `apply` made last, where there is one.

    Names pair the two level by level; a declared field that has no column, or has one of a type that cannot store it,
    raises `ConversionError`. A column that is not declared gets no entry. None when there is nothing to say.
    """
    entries: dict[str, Any] = {}
    problems: list[Diagnostic] = []
    _collect(fields, schema.fields, (), entries, problems)
    if problems:
        raise ConversionError(*problems)
    extra = _less_description(schema.extra)
    if not entries and not extra and applied is None:
        return None
    out: dict[str, Any] = {"format": FORMAT, "fields": entries}
    if extra:
        out["extra"] = extra.to_json()
    if applied is not None:
        out["applied"] = applied
    return canonical_json(out)


def applied_version(schema: TableSchema) -> int | None:
    """The number of the version that `apply` made last, up to this one; None where no version tells.

    A number above the schema's own is that of another table, from which the options were copied.
    """
    found = annotation(schema).get("applied")
    if not isinstance(found, int) or isinstance(found, bool):
        return None
    return found if 0 <= found <= schema.id else None


def annotation(schema: TableSchema) -> dict[str, Any]:
    """The JSON object of the option as it stands there; empty where there is none or it cannot be read."""
    text = schema.options.get(OPTION)
    content = None if text is None else _json(text)
    return content if isinstance(content, dict) else {}


def _collect(
    fields: Iterable[DataField],
    members: Iterable[Field],
    path: _Path,
    entries: dict[str, Any],
    problems: list[Diagnostic],
) -> None:
    columns = {f.name: f for f in fields}
    for member in members:
        here = (*path, member.name)
        column = columns.get(member.name)
        if column is None or not fits(member.type, column.type):
            found = "no column of this name" if column is None else str(column.type)
            message = f"the declared field {member.name!r} is not stored in the columns given"
            problems.append(Diagnostic("LB2114", message, path=path_text(here), found=found))
            continue
        entry = _entry(column, member)
        if entry:
            entries[str(column.id)] = {"name": member.name, **entry}
        for inner_path, inside, declared in _structs(column.type, member.type, here):
            _collect(inside.fields, declared.fields, inner_path, entries, problems)


def _entry(column: DataField, member: Field) -> dict[str, Any]:
    """`type` and `extra` of the entry, each only where there is something to say."""
    own, found = bare(column.type), {}
    declared = bare_logical(member.type)
    extra = _less_description(member.extra).without(FIELD_ID)
    if without_options(nearest(own)) != without_options(declared):
        found["type"] = type_json(declared, normalize=True)
    elif extra.get(PAIMON_TYPE) == hint(own).get(PAIMON_TYPE):
        extra = extra.without(PAIMON_TYPE)
    if isinstance(extra.get(DEFAULT), str):
        extra = extra.without(DEFAULT)
    if extra:
        found["extra"] = extra.to_json()
    return found


def _less_description(extra: Extra) -> Extra:
    """A description that is text is Paimon's own; anything else under that name is kept here."""
    return extra if extra.description is None else extra.without(DESCRIPTION)


def _structs(
    type_: DataType, declared: LogicalType, path: _Path
) -> Iterator[tuple[_Path, physical.Row, logical.Struct]]:
    """The outermost pairs of ROW and Struct within a column and its declared type."""
    match type_, required(declared):
        case physical.Row(), logical.Struct() as struct:
            yield path, type_, struct
        case physical.Array() | physical.Vector(), logical.List(item_type=item):
            yield from _structs(type_.element, item, (*path, "element"))
        case physical.Multiset(), logical.Map(key_type=key):
            yield from _structs(type_.element, key, (*path, "element"))
        case physical.Map(), logical.Map(key_type=key, value_type=value):
            yield from _structs(type_.key, key, (*path, "key"))
            yield from _structs(type_.value, value, (*path, "value"))
        case _:
            return


def logical_schema(schema: TableSchema) -> Schema:
    """The declared schema that the columns and their annotations stand for.

    Entries that are drift are left out of account; `drift` tells of them. The table comment is the description.
    """
    found = _resolve(schema)

    def field_of(column: DataField) -> Field:
        known = found.by_field.get((column.id, column.name), _Attached())
        type_ = logical_type(column.type, known.type, field_of)
        return Field(column.name, type_, _extra_of(column, type_, known))

    extra = found.extra
    if schema.comment is not None:
        extra = extra.merged({DESCRIPTION: schema.comment})
    return Schema(tuple(field_of(f) for f in schema.fields), extra)


def drift(schema: TableSchema) -> tuple[Diagnostic, ...]:
    """Where annotations and columns disagree, as warnings, most often after another engine changed the table."""
    return tuple(_resolve(schema).warnings)


def refuse_newer(schema: TableSchema) -> None:
    """Raise `UnsupportedError` when the schema has annotations of a later format: they must not be written over."""
    found = annotation(schema).get("format")
    if isinstance(found, int) and found > FORMAT:
        remedy = "use a newer Lakebed to change the table"
        message = f"the annotations of the schema are of format {found}, and this version writes format {FORMAT}"
        raise UnsupportedError.of("LB3515", message, found=str(found), remedy=remedy)


@dataclass(frozen=True, slots=True)
class _Attached:
    """What an entry says about the column that it belongs to: only what still holds."""

    type: LogicalType | None = None
    extra: Extra = _NOTHING


@dataclass(slots=True)
class _Resolved:
    """The entries by the id and the name of their column, and what did not hold."""

    by_field: dict[tuple[int, str], _Attached] = field(default_factory=dict)
    extra: Extra = _NOTHING
    warnings: list[Diagnostic] = field(default_factory=list)

    def warn(self, code: str, message: str, path: _Path = (), **parts: Any) -> None:
        self.warnings.append(Diagnostic(code, message, Severity.WARNING, path=path_text(path) or None, **parts))


@dataclass(frozen=True, slots=True)
class _Place:
    """A column of any level, its path, and the names of all its siblings."""

    path: _Path
    column: DataField
    siblings: frozenset[str]


def _extra_of(column: DataField, type_: LogicalType, known: _Attached) -> Extra:
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


def _json(text: str) -> Any:
    """The JSON value of a text, None for text that is not JSON or cannot be written again."""
    try:
        found = json.loads(text)
        canonical_json(found)
    except (ValueError, RecursionError):
        return None
    return found


def _resolve(schema: TableSchema) -> _Resolved:
    """Attach each entry to the column that it was made for, or find out why that cannot be done."""
    out = _Resolved()
    text = schema.options.get(OPTION)
    if text is None:
        return out
    content = _json(text)
    entries = content.get("fields", {}) if isinstance(content, dict) else None
    if not isinstance(content, dict) or not isinstance(entries, dict):
        remedy = "apply the manifest again, which writes them anew"
        out.warn("LB3511", f"the annotations in the option {OPTION!r} cannot be read", found=text[:60], remedy=remedy)
        return out
    if content.get("format") != FORMAT:
        message = f"the annotations are of format {content.get('format')!r}; they are read as format {FORMAT}"
        out.warn("LB3515", message, remedy="use a newer Lakebed to change the table")
    if isinstance(content.get("extra"), dict):
        out.extra = _less_description(Extra(content["extra"]))
    places: dict[str, list[_Place]] = {}
    for place in _places(schema.fields, ()):
        places.setdefault(str(place.column.id), []).append(place)
    for number, entry in entries.items():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            _attach(out, number, entry, places.get(number, []))
        else:
            out.warn("LB3511", f"the annotation of the field id {number} cannot be read")
    return out


def _places(columns: tuple[DataField, ...], path: _Path) -> Iterator[_Place]:
    names = frozenset(f.name for f in columns)
    for column in columns:
        here = (*path, column.name)
        yield _Place(here, column, names)
        yield from _places_inside(column.type, here)


def _places_inside(type_: DataType, path: _Path) -> Iterator[_Place]:
    match type_:
        case physical.Row():
            yield from _places(type_.fields, path)
        case physical.Array() | physical.Multiset() | physical.Vector():
            yield from _places_inside(type_.element, (*path, "element"))
        case physical.Map():
            yield from _places_inside(type_.key, (*path, "key"))
            yield from _places_inside(type_.value, (*path, "value"))
        case _:
            return


def _attach(out: _Resolved, number: str, entry: Mapping[str, Any], candidates: list[_Place]) -> None:
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
    out.by_field[(place.column.id, place.column.name)] = _Attached(said.type, said.extra)


@dataclass(frozen=True, slots=True)
class _Said:
    """What an entry says that still holds, and whether the column's type is as it was."""

    type: LogicalType | None
    extra: Extra
    fits: bool


def _what_holds(out: _Resolved, entry: Mapping[str, Any], place: _Place) -> _Said:
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


def _check_default(out: _Resolved, extra: Extra, place: _Place) -> None:
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
