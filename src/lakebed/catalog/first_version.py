"""Build the first version of a table from columns, keys and options (specification, "Building the schema")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lakebed import model
from lakebed.catalog import ids
from lakebed.catalog.annotations import OPTION, annotate
from lakebed.catalog.columns import Columns
from lakebed.catalog.options import PARTITION, PRIMARY_KEY, PRIMARY_KEY_NULLABLE
from lakebed.catalog.rule_subject import option_path
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ValidationError
from lakebed.physical.paimon_types import DataField, with_nullability

KEYS_TWICE = "LB3306"
BAD_OPTION_VALUE = "LB3333"


@dataclass(frozen=True, slots=True)
class Settled:
    """Columns, keys and options after the options that name keys have been folded into the keys."""

    fields: tuple[DataField, ...]
    primary_keys: tuple[str, ...]
    partition_keys: tuple[str, ...]
    options: dict[str, str]


def settle_keys(
    fields: Iterable[DataField],
    primary_keys: Iterable[str],
    partition_keys: Iterable[str],
    options: Mapping[str, str],
) -> Settled:
    """Fold the options `primary-key` and `partition` into the keys, and make the columns of the primary key NOT NULL.

    With `primary-key.nullable` = true these columns become nullable instead.

    Raises:
        ValidationError: keys are given both as keys and as an option.
    """
    rest = dict(options)
    problems: list[Diagnostic] = []
    primary = _folded(rest, PRIMARY_KEY, tuple(primary_keys), problems)
    partition = _folded(rest, PARTITION, tuple(partition_keys), problems)
    if problems:
        raise ValidationError(*problems)
    nullable = rest.get(PRIMARY_KEY_NULLABLE, "").strip().lower() == "true"
    settled = tuple(
        replace(field, type=with_nullability(field.type, nullable)) if field.name in primary else field
        for field in fields
    )
    return Settled(settled, primary, partition, rest)


def option_texts(options: Mapping[Any, object] | None) -> dict[str, str]:
    """Options as text: numbers and truth values as the table format spells them.

    Raises:
        ValidationError: a key that is no text, or a value that has no spelling.
    """
    found: dict[str, str] = {}
    problems: list[Diagnostic] = []
    for key, value in (options or {}).items():
        if isinstance(value, bool):
            found[key] = "true" if value else "false"
        elif isinstance(value, str | int | float) and isinstance(key, str) and key:
            found[key] = str(value)
        else:
            problems.append(
                Diagnostic(
                    BAD_OPTION_VALUE,
                    f"the option {key!r} cannot have the value {value!r}",
                    path=option_path(str(key)),
                    expected="text, a number, true or false",
                    remedy="Write the value as text.",
                )
            )
    if problems:
        raise ValidationError(*problems)
    return found


def first_version(
    columns: Columns,
    primary_keys: Iterable[str],
    partition_keys: Iterable[str],
    options: Mapping[str, str],
    comment: str | None,
    now: int,
) -> TableSchema:
    """Version 0 of a table: keys settled, ids given, annotations stored. Not validated yet.

    `now` is in milliseconds since 1970. A description of the logical schema is the comment where none is given.
    """
    settled = settle_keys(columns.fields, primary_keys, partition_keys, options)
    fields, highest = ids.assign(settled.fields, -1)
    stored = dict(settled.options)
    if columns.logical is not None:
        note = annotate(fields, with_required(columns.logical, settled.primary_keys))
        if note is not None:
            stored[OPTION] = note
        comment = columns.logical.extra.description if comment is None else comment
    return TableSchema(
        id=0,
        fields=fields,
        highest_field_id=highest,
        partition_keys=settled.partition_keys,
        primary_keys=settled.primary_keys,
        options=stored,
        comment=comment,
        time_millis=now,
    )


def with_required(schema: model.Schema, keys: Iterable[str]) -> model.Schema:
    """The schema with the columns of a primary key not optional."""
    names = frozenset(keys)
    fields = (replace(f, type=model.required(f.type)) if f.name in names else f for f in schema.fields)
    return replace(schema, fields=tuple(fields))


def _folded(options: dict[str, str], key: str, given: tuple[str, ...], problems: list[Diagnostic]) -> tuple[str, ...]:
    """The key columns; the option is taken out of `options`."""
    text = options.pop(key, None)
    if text is None:
        return given
    if given:
        problems.append(
            Diagnostic(
                KEYS_TWICE,
                f"the keys are given both as keys and as the option {key!r}",
                path=option_path(key),
                found=text,
                remedy="Give them once.",
            )
        )
        return given
    return tuple(name.strip() for name in text.split(",") if name.strip())
