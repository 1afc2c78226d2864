"""Warn of unknown options of a manifest that are named much like a known one. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakebed.catalog.known_options import nearest
from lakebed.diagnostics import Diagnostic, Severity

if TYPE_CHECKING:
    from lakebed.manifest.table_manifest import TableManifest


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
