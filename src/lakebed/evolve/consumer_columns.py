"""Keep the columns that consumers read under their present names, and tell those that are gone. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.evolve.column_places import ColumnPlaces
from lakebed.evolve.schema_changes import Path
from lakebed.manifest.compatibility import Consumer
from lakebed.manifest.table_manifest import TableManifest
from lakebed.model import Schema, Struct
from lakebed.model.logical_tree import places_inside
from lakebed.physical import path_text

_GONE = "LB1634"


@dataclass(frozen=True, slots=True)
class FollowedConsumers:
    """Consumers under the present names of their columns, and those with a column that is gone, which is left out."""

    consumers: tuple[Consumer, ...]
    gone: tuple[tuple[Consumer, str], ...] = ()

    def left_out(self, table: str) -> tuple[Diagnostic, ...]:
        """A warning for each column that a manifest of the table leaves out for being gone."""
        remedy = "agree with its owner what it reads from now on"
        return tuple(_diagnostic(table, *pair, severity=Severity.WARNING, remedy=remedy) for pair in self.gone)

    def in_the_way(self, table: str) -> tuple[Diagnostic, ...]:
        """An error for each column that is gone although the manifest of the table says who reads it."""
        return tuple(
            _diagnostic(table, consumer, column, position=consumer.column_positions.get(column), remedy=remedy)
            for consumer, column in self.gone
            for remedy in [_choice(consumer, column)]
        )


def follow_consumers(consumers: Iterable[Consumer], names: Mapping[str, str | None]) -> FollowedConsumers:
    """The consumers with their columns under new names; one that has none, or None, is gone.

    A consumer of which no column is left is left out, for one without columns reads all.
    """
    kept: list[Consumer] = []
    gone: list[tuple[Consumer, str]] = []
    for consumer in consumers:
        gone += [(consumer, column) for column in consumer.columns if names.get(column) is None]
        columns = [new for column in consumer.columns if (new := names.get(column)) is not None]
        if columns or not consumer.columns:
            kept.append(replace(consumer, columns=tuple(dict.fromkeys(columns))))
    return FollowedConsumers(tuple(kept), tuple(gone))


def names_since(versions: Iterable[TableSchema]) -> dict[str, str | None]:
    """The newest names by those of any version, as the last one that has a name means it; None of what is gone."""
    known = sorted(versions, key=lambda version: version.id)
    present = {place: path_text(path) for path, place in ColumnPlaces.of(known[-1].fields).places.items()}
    places = (pair for version in known for pair in ColumnPlaces.of(version.fields).places.items())
    return {path_text(path): present.get(place) for path, place in places}


def names_under(renames: Mapping[Path, str], declared: Schema, wanted: Schema) -> dict[str, str | None]:
    """The names in the wanted schema by the declared ones; `renames` are new names by declared paths."""
    left = {path_text(path) for path in _paths(wanted)}
    renamed = {path: path_text(_renamed(path, renames)) for path in _paths(declared)}
    return {name: name for name in left} | {
        path_text(path): name if name in left else None for path, name in renamed.items()
    }


def with_followed(stored: TableManifest, versions: Iterable[TableSchema]) -> tuple[TableManifest, FollowedConsumers]:
    """The manifest of a stored version, the newest of these, with its consumers under the names of that one."""
    followed = follow_consumers(stored.consumers, names_since(versions) if stored.consumers else {})
    return replace(stored, consumers=followed.consumers), followed


def _paths(schema: Schema) -> Iterator[Path]:
    return (path for path, _ in places_inside(Struct(schema.fields)) if path)


def _renamed(path: Path, renames: Mapping[Path, str]) -> Path:
    return tuple(renames.get(path[: end + 1], name) for end, name in enumerate(path))


def _choice(consumer: Consumer, column: str) -> str:
    whole = f"take the consumer {consumer.name} out of `consumers`"
    shorter = f"take {column} out of the `columns` of {consumer.name}"
    ask = consumer.owner or consumer.name
    take = shorter if len(consumer.columns) > 1 else whole
    return (
        f"agree with {ask}, {take}, and pull again; or, to have the column again, with nulls in all rows that are "
        "stored, apply the manifest with `--drift revert`"
    )


def _diagnostic(table: str, consumer: Consumer, column: str, **parts: Any) -> Diagnostic:
    return Diagnostic(
        _GONE, f"{table}: {consumer.text} reads the column {column}, which is not there any more", path=column, **parts
    )
