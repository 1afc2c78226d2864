"""Describe a table to be created, as edits: columns, keys, buckets, options, attributes. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from lakebed.catalog.annotations import OPTION
from lakebed.catalog.options import BUCKET_KEY
from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve.diff_columns import Edit, EditKind
from lakebed.evolve.meaning import Meanings
from lakebed.model.encoding import is_encoding

_BUCKET = "bucket"


def creation_edits(name: str, target: TableSchema, meanings: Meanings) -> list[Edit]:
    """What making `target` does, the table first. `meanings` are those of a comparison with nothing.

    Hints of how values are encoded are left out, and so is the option that holds the annotations.
    """
    columns = "1 column" if len(target.fields) == 1 else f"{len(target.fields)} columns"
    edits = [Edit(EditKind.CREATE, (), after_text=f"{name} ({columns})")]
    edits += [Edit(EditKind.ADD, (f.name,), after=f.type) for f in target.fields]
    for kind, keys in (
        (EditKind.PRIMARY_KEYS, target.primary_keys),
        (EditKind.PARTITION_KEYS, target.partition_keys),
    ):
        if keys:
            edits.append(Edit(kind, (), after_text=", ".join(keys)))
    edits += _buckets(target)
    edits += [
        Edit(EditKind.OPTION, (), after_text=value, name=key)
        for key, value in sorted(target.options.items())
        # How rows are spread is told already.
        if key not in (OPTION, _BUCKET)
    ]
    if target.comment is not None:
        edits.append(Edit(EditKind.TABLE_COMMENT, (), after_text=target.comment))
    return edits + [e for e in meanings.edits if not is_encoding(e.name or "")]


def _buckets(target: TableSchema) -> Iterator[Edit]:
    """How rows are spread, which data settles for good; nothing for a table that has neither keys nor buckets."""
    if target.primary_keys or _BUCKET in target.options:
        yield Edit(EditKind.BUCKETS, (), after_text=_spread(target), name=_BUCKET)


def _spread(target: TableSchema) -> str:
    match target.bucket:
        case -2:
            return "postponed (-2)"
        case -1:
            return "dynamic (-1)" if target.primary_keys else "none (-1)"
        case count:
            named = tuple(n.strip() for n in target.options.get(BUCKET_KEY, "").split(",") if n.strip())
            return f"{count}, by {', '.join(named or target.trimmed_primary_keys)}"
