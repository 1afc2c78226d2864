"""Describe what a read asks for: state, schema, columns, rows, and how values come out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias, TypedDict, Unpack

from lakebed.catalog.names import TableRef, each_name
from lakebed.diagnostics import near_names

#: A version's id, the newest, or the one of the snapshot that is read.
SchemaChoice: TypeAlias = int | Literal["latest", "snapshot"] | None

#: The ways to choose a state. A request takes one of them at most.
WAYS = ("snapshot", "tag", "as_of", "watermark")


@dataclass(frozen=True, slots=True)
class Travel:
    """Which state of the table: at most one but for the branch (None is the table's own)."""

    snapshot: int | None = None
    tag: str | None = None
    as_of: datetime | str | int | None = None
    branch: str | None = None
    watermark: int | None = None

    @property
    def given(self) -> tuple[str, ...]:
        """The ways in which a state other than the newest is asked for, by their names."""
        return tuple(way for way in WAYS if getattr(self, way) is not None)

    @property
    def chosen(self) -> bool:
        """Whether a state other than the newest is asked for."""
        return bool(self.given)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """What a read asks for. Without anything it is every row of the newest state, as the newest schema.

    `columns` are the top-level columns that are read, None for all: columns of types that cannot be read stand in
    nobody's way when they are left out. `time_zone` is the zone of texts that name a moment and of zoned casts. The
    others are those of `lakebed.Lake.read` and `lakebed.open`.
    """

    travel: Travel = field(default_factory=Travel)
    schema: SchemaChoice = None
    columns: tuple[str, ...] | None = None
    where: str | None = None
    limit: int | None = None
    on_cast_error: str = "error"
    metadata_columns: tuple[str, ...] = ()
    blobs: str = "content"
    time_zone: str = "UTC"
    verify_checksums: bool = True


class TravelKeywords(TypedDict, total=False):
    """The keywords that choose a state of a table; see `lakebed.Lake.read`."""

    snapshot: int | None
    tag: str | None
    branch: str | None
    as_of: datetime | str | int | None
    watermark: int | None


class StateKeywords(TravelKeywords, total=False):
    """The keywords that also choose the schema that a state is read as."""

    schema: int | Literal["latest", "snapshot"] | None


class FilterKeywords(StateKeywords, total=False):
    """The keywords that also choose rows."""

    where: str | None


class PlanKeywords(FilterKeywords, total=False):
    """The keywords that also say how many rows are enough."""

    limit: int | None


class ReadKeywords(PlanKeywords, total=False):
    """The keywords that also choose columns and say how values come out: all that a read can ask for."""

    columns: Sequence[str] | None
    on_cast_error: Literal["error", "null"]
    metadata_columns: Collection[str]
    blobs: Literal["content", "descriptor"]


class ChangesKeywords(TypedDict, total=False):
    """The keywords of a read that a read of changes takes, which has two states; see `lakebed.Lake.read_changes`."""

    branch: str | None
    schema: int | Literal["latest", "snapshot"] | None
    on_cast_error: Literal["error", "null"]


def check_keywords(call: str, known: type, asked: Mapping[str, object], *own: str) -> None:
    """Raise `TypeError` for keywords that are none of a class above: Python itself does not hold them against it.

    `call` names what was called, `own` are the keywords that it has beside those of the class.
    """
    names = (*own, *known.__annotations__)
    for name in asked:
        if name not in names:
            near = near_names(name, names)
            guess = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            raise TypeError(f"{call}() got an unexpected keyword argument {name!r}; {guess}")


def read_request(
    ref: TableRef, *, time_zone: str = "UTC", verify_checksums: bool = True, **asked: Unpack[ReadKeywords]
) -> ReadRequest:
    """The request that keywords make; where they say nothing of the state, the name says it (`db.t@snap:5`, `@3`)."""
    check_keywords("read_request", ReadKeywords, asked)
    beside, columns = asked.get("metadata_columns") or (), asked.get("columns")
    return ReadRequest(
        travel=Travel(
            snapshot=ref.snapshot if (snapshot := asked.get("snapshot")) is None else snapshot,
            tag=ref.tag if (tag := asked.get("tag")) is None else tag,
            as_of=asked.get("as_of"),
            branch=ref.branch if (branch := asked.get("branch")) is None else branch,
            watermark=asked.get("watermark"),
        ),
        schema=ref.schema_id if (schema := asked.get("schema")) is None else schema,
        columns=None if columns is None else each_name(columns),
        where=asked.get("where"),
        limit=asked.get("limit"),
        on_cast_error=asked.get("on_cast_error", "error"),
        metadata_columns=each_name(beside),
        blobs=asked.get("blobs", "content"),
        time_zone=time_zone,
        verify_checksums=verify_checksums,
    )
