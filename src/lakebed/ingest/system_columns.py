"""Fill the system columns of Open Data Fabric on ingest: `offset`, `op`, `system_time`, `event_time`.

`offset` is the number of the record in the whole table, put in when it is known (see `numbering`). `op` is 0, an
append, where the source has no column of its name; `system_time` is the time of the run; `event_time` is that time
where the source says none, or that of its file, by the rule `eventTime` of the source.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.catalog.node import Node
from lakebed.catalog.table_schema import TableSchema
from lakebed.catalog.time_zone import zone_of
from lakebed.diagnostics import Diagnostic
from lakebed.errors import IngestError
from lakebed.model import Date, LogicalType, Option, Schema, Timestamp, TimeUnit, required
from lakebed.model.extra import ENUM, ODF_SYSTEM_COLUMN, SYSTEM_COLUMN
from lakebed.physical import DataField, path_text, with_nullability
from lakebed.physical import paimon_types as physical

OFFSET = "offset"
OPERATION = "op"
SYSTEM_TIME = "system_time"
EVENT_TIME = "event_time"
ROLES = (OFFSET, OPERATION, SYSTEM_TIME, EVENT_TIME)

APPEND, RETRACT, CORRECT_FROM, CORRECT_TO = range(4)

IN_SOURCE = "LB6430"
NOT_FIT = "LB6433"

_WHOLE = (physical.TinyInt, physical.SmallInt, physical.Int, physical.BigInt)
_STORED: dict[str, tuple[type[physical.DataType], ...]] = {
    OFFSET: (*_WHOLE, physical.Decimal),
    OPERATION: _WHOLE,
    SYSTEM_TIME: (physical.LocalZonedTimestamp, physical.Timestamp),
    EVENT_TIME: (physical.LocalZonedTimestamp, physical.Timestamp, physical.Date),
}


def system_roles(schema: Schema) -> dict[str, str]:
    """Which column has which role, as the attributes of the columns say: role to name."""
    found: dict[str, str] = {}
    for column in schema.fields:
        role = column.extra.get(SYSTEM_COLUMN, column.extra.get(ODF_SYSTEM_COLUMN))
        if isinstance(role, str) and role in ROLES:
            found.setdefault(role, column.name)
    return found


@dataclass(frozen=True, slots=True)
class SystemRow:
    """What is put into the system columns of a run. `roles` is role to column, `now` milliseconds since 1970.

    `moments` are the event times of files by their paths, where the source says how they are found.
    """

    roles: Mapping[str, str]
    now: int
    time_zone: str
    moments: Mapping[str, datetime] = field(default_factory=dict)

    @property
    def offset(self) -> str | None:
        """The column that numbers the records."""
        return self.roles.get(OFFSET)

    def role_of(self, name: str) -> str | None:
        """The role of a column."""
        return next((role for role, column in self.roles.items() if column == name), None)

    def node(self, node: Node) -> Node:
        """A column as it is checked: a source may lack what is put in, and operations are known codes."""
        role = self.role_of(node.path[0])
        if role is None:
            return node
        meant: LogicalType = Option(required(node.meant))
        extra = node.extra
        if role == OPERATION and ENUM not in extra:
            extra = extra.merged({ENUM: [APPEND, RETRACT, CORRECT_FROM, CORRECT_TO]})
        return replace(node, stored=with_nullability(node.stored, True), meant=meant, extra=extra)

    def default_of(self, node: Node, column: DataField) -> str | None:
        """The text of what stands where a source has nothing; the column's own default if it is no system column."""
        match self.role_of(node.path[0]):
            case None:
                return column.default_value
            case "offset":
                return None
            case "op":
                return str(APPEND)
            case _:
                return self._text(datetime.fromtimestamp(self.now // 1000, UTC), self.now % 1000, node)

    def by_file(self, node: Node) -> bool:
        """Whether what stands where a source has nothing depends on the file."""
        return bool(self.moments) and self.role_of(node.path[0]) == EVENT_TIME

    def moment_of_file(self, node: Node, path: Column) -> Column:
        """The text of a file's event time, by the column of its path; NULL for another file."""
        found = self.moments.items()
        texts = {name: self._text(m.replace(microsecond=0), m.microsecond // 1000, node) for name, m in found}
        return F.try_element_at(F.from_json(F.lit(json.dumps(texts)), "map<string,string>"), path)

    def _text(self, moment: datetime, millis: int, node: Node) -> str:
        """A moment, whole seconds and milliseconds, as a column of this type takes it."""
        type_: LogicalType = required(node.meant)
        if isinstance(type_, Date):
            return moment.astimezone(zone_of(self.time_zone)).date().isoformat()
        second = isinstance(type_, Timestamp) and type_.effective_unit is TimeUnit.SECOND
        return moment.replace(microsecond=0 if second else millis * 1000).isoformat().replace("+00:00", "Z")

    def taken(self, names: Sequence[str], where: str = "") -> Iterator[Diagnostic]:
        """What is wrong with columns of a source that are put in here."""
        for role in (OFFSET, SYSTEM_TIME):
            name = self.roles.get(role)
            if name is not None and name in names:
                yield Diagnostic(
                    IN_SOURCE,
                    f"the source{where} has a column {path_text((name,))}, which ingest fills itself",
                    path=path_text((name,)),
                    found=name,
                    remedy="rename it in the source, or give the system column another name in the manifest",
                )


def system_row(
    schema: TableSchema, clock: Callable[[], int], time_zone: str, moments: Mapping[str, datetime] | None = None
) -> SystemRow | None:
    """What a run puts into the system columns of a table; None for a table without any. `clock` gives
    milliseconds since 1970.

    Raises `IngestError` (LB6433) for a column of a type that cannot hold what its role says.
    """
    roles = system_roles(schema.logical)
    stored = {f.name: f.type for f in schema.fields}
    unfit = [(role, name) for role, name in roles.items() if not isinstance(stored[name], _STORED[role])]
    if unfit:
        raise IngestError(
            *(
                Diagnostic(
                    NOT_FIT,
                    f"column {path_text((name,))} is {stored[name]}, which cannot be the system column {role}",
                    path=path_text((name,)),
                    found=str(stored[name]),
                    remedy="take the attribute that makes it a system column off, or declare another type",
                )
                for role, name in unfit
            )
        )
    return SystemRow(roles, clock(), time_zone, moments or {}) if roles else None
