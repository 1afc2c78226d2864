"""Keep beside a foreign column what its type does not say, and read such notes back.

A note has `name`, `type` (the long form, its Structs left empty), `extra`, `renamed` and `absent`, each only where
there is something to say: what a reader that knows no notes would get wrong. `renamed` are attributes that a form has a
place for under a name of its own, such as tags: that name, and the declared one; `absent` are those that are not
declared. The note of a table has `name`, `primaryKeys`, `partitionKeys`, `options` and `extra` likewise. Where a column
was changed by hand and its note does not fit any more, the column counts, and the loss is reported.

Spark cannot hold every JSON value as the metadata of a column (no null, no lists of lists or of mixed values). Where
Spark reads the notes, such an attribute stands under `json` as text (`for_spark`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lakebed.convert.contract import Contract
from lakebed.convert.fit import bare_logical, fits
from lakebed.convert.foreign_json import as_list, as_mapping, as_text, parsed
from lakebed.convert.loss import Loss
from lakebed.convert.stated_type import hinted_type
from lakebed.errors import ConversionError, TypeTextError
from lakebed.model import Extra, Field, LogicalType, Schema, canonical_json, type_json
from lakebed.model import types as logical
from lakebed.model.extra import KEY_PATTERN, PAIMON_TYPE
from lakebed.model.from_json import type_from_json
from lakebed.model.logical_tree import Path, fold_at, outer_structs, with_children
from lakebed.physical import path_text

#: What a note is called where a form lets programs add members of their own.
NOTE = "lakebed"


def note_of(declared: Field, plain: Field, *, whole: bool = False) -> dict[str, Any]:
    """What a plain reading of a column misses of the declared one.

    Members of Structs have notes of their own, but where the type is noted as a `whole`.
    """
    note: dict[str, Any] = {} if plain.name == declared.name else {"name": declared.name}
    own, found = (t if whole else bare_logical(t) for t in (declared.type, plain.type))
    if found != own:
        note["type"] = type_json(own, normalize=True)
    return note | _missing(declared.extra, plain.extra)


def _missing(declared: Extra, plain: Extra) -> dict[str, Any]:
    said = {key: canonical_json(value) for key, value in plain.items()}
    extra = {key: value for key, value in sorted(declared.items()) if said.get(key) != canonical_json(value)}
    renamed = {}
    for key in sorted(plain.keys() - declared.keys()):
        same = (name for name in extra if name not in said and canonical_json(extra[name]) == said[key])
        name = next((n for n in same if n.partition("/")[2] == key.partition("/")[2]), None)
        if name is not None:
            renamed[key] = name
            del extra[name]
    absent = sorted(plain.keys() - declared.keys() - renamed.keys())
    parts = {"extra": extra, "renamed": renamed, "absent": absent}
    return {name: part for name, part in parts.items() if part}


def with_note(
    plain: Field, note: Any, plainly: Callable[[Field], Field], at: Path, losses: list[Loss], *, whole: bool = False
) -> Field:
    """The column that a note tells of. `plainly` is what a field is read as without notes; `at` is its parent."""
    if note is None:
        return plain
    path = (*at, plain.name)
    said = as_mapping(note, path, "a note")
    field = replace(plain, extra=_noted(plain.extra, said, path))
    if "type" in said:
        declared = _filled(_type_of(said["type"], path), plain.type)
        again = plainly(replace(plain, type=declared, extra=field.extra))
        shape: Callable[[LogicalType], LogicalType] = (lambda t: t) if whole else bare_logical
        if shape(again.type) == shape(plain.type):
            field = replace(field, type=declared)
        else:
            losses.append(Loss(path_text(path), "the note of its type, which does not fit the column any more"))
    if not _is_hint_of(field):
        losses.append(
            Loss(path_text(path), f"the hint {field.extra[PAIMON_TYPE]}, which does not fit the column any more")
        )
        field = replace(field, extra=field.extra.without(PAIMON_TYPE))
    name = said.get("name", plain.name)
    if name != plain.name:
        named = replace(field, name=as_text(name, path, "the name in a note"))
        # Siblings that would be called alike there have something more at the end.
        if plain.name.startswith(plainly(named).name):
            return named
        losses.append(Loss(path_text(path), f"the name {name!r}, which is not that of the column any more"))
    return field


def _is_hint_of(field: Field) -> bool:
    """Whether the hint of a column is of a type that can store it; without one it is."""
    try:
        return PAIMON_TYPE not in field.extra or fits(field.type, hinted_type(field.extra))
    except TypeTextError:
        return False


def _type_of(value: Any, path: Path) -> LogicalType:
    try:
        return type_from_json(value)
    except ConversionError as error:
        raise ConversionError(*(replace(d, path=path_text(path)) for d in error.diagnostics)) from error


def for_spark(note: dict[str, Any]) -> dict[str, Any]:
    """The note as metadata that Spark can hold."""
    extra = note.get("extra", {})
    texts = {key: canonical_json(value) for key, value in extra.items() if not is_spark_metadata(value)}
    kept = {key: value for key, value in extra.items() if key not in texts}
    others = {key: value for key, value in note.items() if key != "extra"}
    return others | ({"extra": kept} if kept else {}) | ({"json": texts} if texts else {})


def is_spark_metadata(value: Any) -> bool:
    """Whether Spark keeps the JSON value as it is: no null, no number beyond 64 bits, lists of one kind of scalar."""
    match value:
        case bool() | str():
            return True
        case int():
            return -(2**63) <= value < 2**63
        case float():
            return math.isfinite(value) and not value.is_integer()
        case dict():
            return all(is_spark_metadata(part) for part in value.values())
        case list():
            kinds = {type(part) for part in value}
            return len(kinds) <= 1 and list not in kinds and all(is_spark_metadata(part) for part in value)
        case _:
            return False


def _noted(plain: Extra, note: Mapping[str, Any], path: Path) -> Extra:
    absent = [as_text(key, path, "a name under `absent`") for key in as_list(note.get("absent", []), path, "`absent`")]
    for key, name in as_mapping(note.get("renamed", {}), path, "`renamed`").items():
        if key in plain:
            plain = plain.without(key).merged({as_text(name, path, "a name under `renamed`"): plain[key]})
    texts = as_mapping(note.get("json", {}), path, "`json`")
    values = {key: parsed(text, path, f"the attribute {key}") for key, text in texts.items()}
    return plain.without(*absent).merged({**as_mapping(note.get("extra", {}), path, "`extra`"), **values})


def _filled(bare: LogicalType, plain: LogicalType) -> LogicalType:
    """The type of a note, with the members that the columns have in place of its empty Structs."""
    structs = dict(outer_structs(plain))

    def combine(type_: LogicalType, path: Path, parts: tuple[LogicalType, ...]) -> LogicalType:
        if isinstance(type_, logical.Struct) and not type_.fields:
            return structs.get(path, type_)
        return with_children(type_, parts)

    return fold_at(bare, (), combine)


def custom_properties(note: Mapping[str, Any], domain: str) -> dict[str, Any]:
    """A note as properties of one's own: each attribute by its name, those of `domain` without it, then the rest."""
    rest = {key: value for key, value in note.items() if key != "extra"}
    own = {_property_name(key, domain): value for key, value in note.get("extra", {}).items()}
    return own | ({NOTE: rest} if rest else {})


def _property_name(key: str, domain: str) -> str:
    """An attribute of the domain is called by its name alone, but where that is the name of notes."""
    of, _, name = key.partition("/")
    return name if of == domain and name != NOTE else key


def note_in(properties: Mapping[str, Any], domain: str, lost: Callable[[str], None]) -> dict[str, Any]:
    """The note that properties of one's own hold. `lost` is told names that are none of attributes."""
    extra: dict[str, Any] = {}
    for name, value in properties.items():
        key = name if "/" in name else f"{domain}/{name}"
        if name == NOTE:
            continue
        if KEY_PATTERN.fullmatch(key):
            extra[key] = value
        else:
            lost(name)
    rest = properties.get(NOTE)
    found = dict(as_mapping(rest, (), "the note")) if rest is not None else {}
    return found | ({"extra": extra} if extra else {})


def table_note(declared: Contract, plain: Contract) -> dict[str, Any]:
    """What a plain reading misses of what is declared of a table, its columns aside."""
    note: dict[str, Any] = {}
    for key, wanted, found in (
        ("name", declared.name, plain.name),
        ("primaryKeys", list(declared.primary_keys), list(plain.primary_keys)),
        ("partitionKeys", list(declared.partition_keys), list(plain.partition_keys)),
        ("options", dict(sorted(declared.options.items())), dict(sorted(plain.options.items()))),
    ):
        if wanted != found:
            note[key] = wanted
    return note | _missing(declared.schema.extra, plain.schema.extra)


def with_table_note(plain: Contract, note: Any) -> Contract:
    """The contract that the note of a table tells of."""
    if note is None:
        return plain
    said = as_mapping(note, (), "the note of the table")
    names = {key: as_list(said[key], (), f"`{key}`") for key in ("primaryKeys", "partitionKeys") if key in said}
    keys = {key: tuple(as_text(name, (), f"a name under `{key}`") for name in found) for key, found in names.items()}
    options = as_mapping(said.get("options", plain.options), (), "`options`")
    name = said.get("name", plain.name)
    return Contract(
        Schema(plain.schema.fields, _noted(plain.schema.extra, said, ())),
        None if name is None else as_text(name, (), "the name in a note"),
        keys.get("primaryKeys", plain.primary_keys),
        keys.get("partitionKeys", plain.partition_keys),
        {key: as_text(value, (), f"the option {key}") for key, value in options.items()},
    )
