"""How a list of changes becomes one new version of a table, also when somebody else is quicker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from lakebed.catalog.attempts import attempts, part
from lakebed.catalog.schema_manager import Clock, SchemaManager, says_the_same
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConflictError, RefusedError, ValidationError
from lakebed.physical.paimon_types import Array, DataField, DataType, Map, Multiset, Row, Vector

RACE = "LB3128"


class Alterer(Protocol):
    """Makes the next version of a table from a list of changes; the change evaluator is one."""

    def __call__(
        self,
        base: TableSchema,
        changes: Sequence[Any],
        *,
        has_snapshots: Callable[[], bool],
        now: int,
        history: Callable[[], Iterable[TableSchema]],
    ) -> TableSchema:
        """The version after `base`. `now` is in milliseconds since 1970; `history` gives the versions up to `base`."""
        ...


def alter(
    manager: SchemaManager,
    alterer: Alterer,
    changes: Sequence[Any],
    *,
    has_snapshots: Callable[[], bool],
    clock: Clock,
) -> TableSchema:
    """Publish the version after all changes; the present one, and nothing written, where they change nothing.

    After a lost race the changes are made again on the newer version, unless a name means another column there.

    Raises:
        ConflictError: somebody was first, and in the newer version a name means another column or a change is refused.
        RefusedError, ValidationError: a change is refused in the version that was there first.
    """
    base = manager.load_latest_schema()
    for lost in attempts(manager.label):
        manager.refuse_newer(base)
        try:
            new = alterer(base, changes, has_snapshots=has_snapshots, now=clock(), history=manager.versions)
        except (RefusedError, ValidationError) as error:
            if lost:
                raise _conflict(manager, base, error.diagnostics) from error
            raise
        if says_the_same(base, new):
            return base
        if manager.publish(new):
            return manager.as_stored(new)
        part(lost)
        latest = manager.load_latest_schema()
        if not _names_mean_the_same(base, latest):
            raise _conflict(manager, latest, ())
        base = latest
    raise AssertionError("the last attempt returns or raises")


def _conflict(manager: SchemaManager, latest: TableSchema, reasons: Sequence[Diagnostic]) -> ConflictError:
    message = f"somebody else changed the columns first; the newest version is now {latest.id}"
    remedy = "Look at the present schema and make the changes again."
    return ConflictError(Diagnostic(RACE, message, path=manager.path(latest.id), remedy=remedy), *reasons)


def _names_mean_the_same(base: TableSchema, latest: TableSchema) -> bool:
    """Whether every path that both versions have stands for the same field in both."""
    before = dict(_paths(base.fields, ()))
    return all(before.get(path, number) == number for path, number in _paths(latest.fields, ()))


def _paths(fields: tuple[DataField, ...], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    for field in fields:
        here = (*path, field.name)
        yield here, field.id
        yield from _paths_inside(field.type, here)


def _paths_inside(type_: DataType, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    match type_:
        case Row():
            yield from _paths(type_.fields, path)
        case Array() | Multiset() | Vector():
            yield from _paths_inside(type_.element, (*path, "element"))
        case Map():
            yield from _paths_inside(type_.key, (*path, "key"))
            yield from _paths_inside(type_.value, (*path, "value"))
        case _:
            return
