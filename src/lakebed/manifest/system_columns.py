"""The ODF system columns `offset`, `op`, `system_time` and `event_time`, put in where a manifest asks for them.

They are never put in silently: only `systemColumns` does it. A system column that the author declares stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

from lakebed.manifest.table_manifest import SystemColumns
from lakebed.model import Date, Field, Int32, Int64, LogicalType, Schema, Timestamp, UInt8, UInt64

#: The types that are a system column's: the first is what `spec` puts in, the second (or first) what `kamu` does.
_TYPES: dict[str, tuple[LogicalType, ...]] = {
    "offset": (UInt64(), Int64()),
    "op": (UInt8(), Int32()),
    "system_time": (Timestamp(),),
    "event_time": (Timestamp(),),
}


def with_system_columns(schema: Schema, who: SystemColumns) -> Schema:
    """The schema with the system columns that it lacks in front, in their usual order."""
    declared = {f.name for f in schema.fields}
    missing = tuple(Field(name, _written(name, who)) for name in _TYPES if name not in declared)
    return replace(schema, fields=(*missing, *schema.fields))


def system_column_problem(name: str, type_: LogicalType) -> str | None:
    """What type a declared column of this name should have, if it is a system column of another type."""
    types = _TYPES.get(name)
    if types is None or type_ in types:
        return None
    if name == "event_time":
        return None if isinstance(type_, Timestamp | Date) else "a Timestamp or a Date"
    return " or ".join(t.kind for t in types)


def _written(name: str, who: SystemColumns) -> LogicalType:
    return _TYPES[name][0 if who is SystemColumns.SPEC else -1]
