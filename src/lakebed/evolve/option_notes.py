"""Warn of unknown options of a manifest that are named much like a known one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from lakebed.catalog.column_options import COLUMN_OPTIONS
from lakebed.catalog.file_index_options import FILE_INDEXES
from lakebed.catalog.options import KNOWN
from lakebed.diagnostics import Diagnostic, Severity

if TYPE_CHECKING:
    from lakebed.manifest.table_manifest import TableManifest


#: Names below these belong to formats, engines, catalogs and Lakebed, which know them.
_OTHERS = (
    *("lakebed.", "parquet.", "orc.", "avro.", "iceberg.", "metadata.iceberg", "hive.", "spark.", "flink.", "kafka."),
    *("commit.callback.", "tag.callback.", "table-default.", "fs.", "s3.", "oss.", "field.", "pk-"),
)
_CLOSE = 0.8


def unknown_options(declared: TableManifest) -> Iterator[Diagnostic]:
    """A warning for each misspelt option, at its place. Options of others, which resemble none, are left alone."""
    for key in declared.options:
        meant = nearest(key)
        if meant is not None:
            yield Diagnostic(
                "LB4024",
                f"no engine knows the option {key!r}; it is stored and does nothing",
                Severity.WARNING,
                position=declared.property_position("options", key),
                path=f"options.{key}",
                found=key,
                suggestions=(meant,),
                remedy=f"write {meant}, or take it out",
            )


def nearest(key: str) -> str | None:
    """The known name that an unknown option was probably meant to be; None for a known one, and for others' own."""
    if key in KNOWN or key.startswith(_OTHERS):
        return None
    if key.startswith("fields.") and key.count(".") >= 2:
        columns, option = key.removeprefix("fields.").rsplit(".", 1)
        if option in COLUMN_OPTIONS or ".map." in key:
            return None
        meant = _close(option, tuple(COLUMN_OPTIONS))
        return None if meant is None else f"fields.{columns}.{meant}"
    index = re.fullmatch(r"file-index\.([^.]+)\.(.+)", key)
    if index is not None:
        known = index[1] in FILE_INDEXES
        kind, rest = index.groups()
        meant_kind = kind if known else _close(kind, FILE_INDEXES)
        meant_rest = "columns" if "." not in rest and _close(rest, ("columns",)) else rest
        meant = f"file-index.{meant_kind}.{meant_rest}"
        return None if meant_kind is None or meant == key else meant
    return _close(key, tuple(sorted(KNOWN)))


def _close(name: str, known: tuple[str, ...]) -> str | None:
    """The nearest of the names; one that differs only in its separators is the nearest."""
    same = _by_letters(known).get(_letters(name))
    if same is not None:
        return same
    import difflib

    found = difflib.get_close_matches(name.lower(), known, n=1, cutoff=_CLOSE)
    return found[0] if found else None


@cache
def _by_letters(known: tuple[str, ...]) -> dict[str, str]:
    return {_letters(name): name for name in known}


def _letters(name: str) -> str:
    return re.sub(r"[-_. ]", "", name).lower()
