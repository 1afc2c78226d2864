"""Store what columns cannot say about the declared schema in a table option, and read it back.

They are the table option `lakebed.schema`, canonical JSON

    {"format":1,"fields":{"<field id>":{"name":...,"type":...,"extra":{...}}},"extra":{...},
     "applied":7,"approvals":[...]}

so that they are versioned and published together with the columns and survive another engine's ALTER. There is an entry
only for a field that has something to say, nested fields included. `type` is the declared long form, only where the
carrier loses something, its Structs left empty. `extra` holds the attributes, less those that columns have themselves:
the description and the default value. Where an entry and the columns disagree, the columns are right, and the
disagreement is drift.

`applied` is the number of the version that `apply` made last. Whoever makes a later version without `apply` copies it
with the option, so that a version with a mark below its own number tells which versions came after. `approvals` are
those of the manifest that gave leave for changes of the version `applied`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lakebed.catalog.annotation_entries import FORMAT, OPTION, annotation_json, less_description, resolve
from lakebed.catalog.node import Node
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.fit import bare_logical, fits, without_options
from lakebed.convert.paimon import hint, nearest
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConversionError, UnsupportedError
from lakebed.model import Field, Schema, canonical_json, type_json
from lakebed.model.extra import DEFAULT, FIELD_ID, PAIMON_TYPE
from lakebed.physical import DataField, path_text
from lakebed.physical.paimon_tree import Path, bare

__all__ = [
    "FORMAT",
    "OPTION",
    "annotate",
    "annotation",
    "applied_version",
    "approvals_of",
    "drift",
    "logical_schema",
    "refuse_newer",
    "used_approvals",
]


def annotate(
    fields: tuple[DataField, ...],
    schema: Schema,
    *,
    applied: int | None = None,
    approvals: Sequence[Mapping[str, Any]] = (),
) -> str | None:
    """The value of the option for a declared schema that is stored in `fields`, whose ids are all given.

    `applied` is the number of the version that `apply` made last, where there is one, `approvals` are the JSON objects
    of those that gave leave for it.

    Names pair the two level by level; a declared field that has no column, or has one of a type that cannot store it,
    raises `ConversionError`. A column that is not declared gets no entry. None when there is nothing to say.
    """
    entries: dict[str, Any] = {}
    problems: list[Diagnostic] = []
    _collect(fields, schema.fields, (), entries, problems)
    if problems:
        raise ConversionError(*problems)
    extra = less_description(schema.extra)
    if not entries and not extra and applied is None:
        return None
    out: dict[str, Any] = {"format": FORMAT, "fields": entries}
    if extra:
        out["extra"] = extra.to_json()
    if applied is not None:
        out["applied"] = applied
        if approvals:
            out["approvals"] = [dict(approval) for approval in approvals]
    return canonical_json(out)


def applied_version(schema: TableSchema) -> int | None:
    """The number of the version that `apply` made last, up to this one; None where no version tells.

    A number above the schema's own is that of another table, from which the options were copied.
    """
    found = annotation(schema).get("applied")
    if not isinstance(found, int) or isinstance(found, bool):
        return None
    return found if 0 <= found <= schema.id else None


def approvals_of(schema: TableSchema) -> tuple[dict[str, Any], ...]:
    """The approvals that gave leave for the version that `apply` made last, as JSON objects; others are left out."""
    found = annotation(schema).get("approvals")
    return tuple(a for a in found if isinstance(a, dict)) if isinstance(found, list) else ()


def used_approvals(schema: TableSchema) -> tuple[tuple[int, str], ...]:
    """Those approvals as `CODE` or `CODE:path`, each with the number of that version."""
    number = applied_version(schema)
    if number is None:
        return ()
    return tuple((number, ":".join(str(a[k]) for k in ("code", "path") if k in a)) for a in approvals_of(schema))


def annotation(schema: TableSchema) -> dict[str, Any]:
    """The JSON object of the option as it stands there; empty where there is none or it cannot be read."""
    text = schema.options.get(OPTION)
    content = None if text is None else annotation_json(text)
    return content if isinstance(content, dict) else {}


def _collect(
    fields: Iterable[DataField],
    members: Iterable[Field],
    path: Path,
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
        for inner_path, inside, declared in Node(here, column.type, member.type).structs():
            _collect(inside.fields, declared.fields, inner_path, entries, problems)


def _entry(column: DataField, member: Field) -> dict[str, Any]:
    """`type` and `extra` of the entry, each only where there is something to say."""
    own, found = bare(column.type), {}
    declared = bare_logical(member.type)
    extra = less_description(member.extra).without(FIELD_ID)
    if without_options(nearest(own)) != without_options(declared):
        found["type"] = type_json(declared, normalize=True)
    elif extra.get(PAIMON_TYPE) == hint(own).get(PAIMON_TYPE):
        extra = extra.without(PAIMON_TYPE)
    if isinstance(extra.get(DEFAULT), str):
        extra = extra.without(DEFAULT)
    if extra:
        found["extra"] = extra.to_json()
    return found


def logical_schema(schema: TableSchema) -> Schema:
    """The declared schema that the columns and their annotations stand for.

    Entries that are drift are left out of account; `drift` tells of them. The table comment is the description.
    """
    return schema.logical


def drift(schema: TableSchema) -> tuple[Diagnostic, ...]:
    """Where annotations and columns disagree, as warnings, most often after another engine changed the table."""
    return tuple(resolve(schema.fields, schema.options.get(OPTION)).warnings)


def refuse_newer(schema: TableSchema) -> None:
    """Raise `UnsupportedError` when the schema has annotations of a later format: they must not be written over."""
    found = annotation(schema).get("format")
    if isinstance(found, int) and found > FORMAT:
        remedy = "use a newer Lakebed to change the table"
        message = f"the annotations of the schema are of format {found}, and this version writes format {FORMAT}"
        raise UnsupportedError.of("LB3515", message, found=str(found), remedy=remedy)
