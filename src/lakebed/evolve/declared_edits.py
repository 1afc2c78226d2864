"""Compute the edits that lead from a stored version of a table to the declared one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from lakebed.catalog import options as table_options
from lakebed.catalog.annotations import OPTION, applied_version
from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve.declared_table import declared_table, key_columns
from lakebed.evolve.diff import column_steps, table_steps
from lakebed.evolve.diff_columns import Edit, EditKind, Step
from lakebed.evolve.evaluate import evaluate_all
from lakebed.evolve.identity import identify
from lakebed.evolve.meaning import Meanings, compare
from lakebed.evolve.nested_paths import Fields

if TYPE_CHECKING:
    from lakebed.manifest.table_manifest import TableManifest

#: The version of a number, for the one that `apply` made last.
AppliedVersion: TypeAlias = Callable[[int], TableSchema | None]


@dataclass(frozen=True, slots=True)
class DeclaredEdits:
    """What is declared, as it is stored, and the edits that lead there, each once, with the steps that do them.

    `fields` are the declared columns with the ids of the stored ones that they are.
    """

    fields: Fields
    primary_keys: tuple[str, ...]
    options: dict[str, str]
    meanings: Meanings
    steps: list[Step]
    edits: list[Edit]


def edits_to(declared: TableManifest, base: TableSchema, last: TableSchema | None) -> DeclaredEdits:
    """The edits from `base`, the newest version, to a manifest with its extras; `last` is what `apply` made last.

    Raises `ManifestError` for pins and renames that cannot be followed, `ConversionError` for columns that cannot be
    stored.
    """
    primary, partition, options = declared_table(declared, base.options)
    fields = identify(declared.schema, base, position_of=declared.position_of, applied=last)
    fields = key_columns(fields, primary, options)
    meanings = compare(base.fields, base.logical, fields, declared.schema)
    steps = column_steps(base, fields, options)
    reached, _ = evaluate_all(base, [s.change for s in steps], has_snapshots=lambda: False, now=0)
    if OPTION in reached.options:
        options[OPTION] = reached.options[OPTION]
    for key in (table_options.PRIMARY_KEY, table_options.PARTITION):
        if key not in reached.options:
            options.pop(key, None)
    steps += table_steps(reached, options, declared.description)
    edits = [*_key_edits(base, fields, primary, partition), *(s.edit for s in steps), *meanings.edits]
    return DeclaredEdits(fields, primary, options, meanings, steps, list(dict.fromkeys(edits)))


def last_applied(base: TableSchema, applied: AppliedVersion | None) -> tuple[int | None, TableSchema | None]:
    """Number and content of the version that `apply` made last; no number where nothing came after it."""
    number = applied_version(base) if applied is not None else None
    if applied is None or number is None or number == base.id:
        return None, None
    return number, applied(number)


def _key_edits(
    base: TableSchema, fields: Fields, primary: tuple[str, ...], partition: tuple[str, ...]
) -> Iterator[Edit]:
    """Keys that are declared otherwise. The stored keys are compared under the names that they are to have."""
    names = {f.id: f.name for f in fields}
    renamed = {f.name: names.get(f.id, f.name) for f in base.fields}
    for kind, stored, wanted in (
        (EditKind.PRIMARY_KEYS, base.primary_keys, primary),
        (EditKind.PARTITION_KEYS, base.partition_keys, partition),
    ):
        present = tuple(renamed.get(k, k) for k in stored)
        if present != wanted:
            old, new = ", ".join(present) or "none", ", ".join(wanted) or "none"
            yield Edit(kind, (), before_text=old, after_text=new)
