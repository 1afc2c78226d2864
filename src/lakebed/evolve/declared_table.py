"""Read keys and options from a manifest, and what keys make of columns. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lakebed.catalog import options as table_options
from lakebed.catalog.option_values import is_flagged
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import ManifestError
from lakebed.evolve.nested_paths import Fields
from lakebed.physical import path_text
from lakebed.physical.paimon_types import with_nullability

if TYPE_CHECKING:
    from lakebed.manifest.table_manifest import TableManifest

#: Options with this prefix are Lakebed's: a manifest neither declares nor removes them.
OWN_OPTIONS = "lakebed."


def declared_table(
    declared: TableManifest, stored: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]:
    """Primary keys, partition keys and options of the manifest; keys that are given as options are made keys.

    Not so where the table itself has them as options only, as some engines leave it: there they stay options.
    """
    options = dict(declared.options)
    problems = []
    for key in list(options):
        if key.startswith(OWN_OPTIONS) and options[key] != stored.get(key):
            message = f"option {key} is Lakebed's own and cannot be declared"
            problems.append(
                Diagnostic("LB4108", message, position=declared.property_position("options", key), path=key)
            )
    keys = {table_options.PRIMARY_KEY: declared.primary_keys, table_options.PARTITION: declared.partition_keys}
    for key, given in keys.items():
        text = options.get(key)
        if text is None or (text == stored.get(key) and not given):
            continue
        del options[key]
        names = tuple(part.strip() for part in text.split(",") if part.strip())
        if given and given != names:
            message = f"the keys are given twice, as {', '.join(given)} and by option {key} as {', '.join(names)}"
            where = declared.property_position("options", key)
            problems.append(Diagnostic("LB4109", message, position=where, path=key, remedy=f"leave option {key} out"))
        keys[key] = names
    if problems:
        raise ManifestError(*problems)
    options |= {k: v for k, v in stored.items() if k.startswith(OWN_OPTIONS) or is_ignored(k, declared)}
    return keys[table_options.PRIMARY_KEY], keys[table_options.PARTITION], options


def is_ignored(key: str, declared: TableManifest) -> bool:
    """Whether others own an option; what makes the keys of a table is nobody's but the manifest's."""
    if key in declared.options or key in (table_options.PRIMARY_KEY, table_options.PARTITION):
        return False
    return any(fnmatchcase(key, pattern) for pattern in declared.ignore_options)


def key_columns(fields: Fields, keys: Sequence[str], options: Mapping[str, str]) -> Fields:
    """The fields with those of the primary key as the format has them: NOT NULL unless an option says otherwise."""
    nullable = is_flagged(options, table_options.PRIMARY_KEY_NULLABLE)
    return tuple(replace(f, type=with_nullability(f.type, nullable)) if f.name in keys else f for f in fields)


def notes_on_keys(declared: TableManifest, keys: Sequence[str], options: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """Warnings of key columns that are declared as an `Option`."""
    nullable = is_flagged(options, table_options.PRIMARY_KEY_NULLABLE)
    return tuple(
        Diagnostic(
            "LB4107",
            f"primary key column {f.name} is declared as an Option and is stored as required",
            Severity.WARNING,
            position=declared.position_of((f.name,)),
            path=path_text((f.name,)),
            remedy="declare it without Option",
        )
        for f in declared.schema.fields
        if f.name in keys and f.nullable and not nullable
    )
