"""Define system tables: name, columns as Paimon has them, rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, ClassVar

from lakebed.catalog import TableRef
from lakebed.catalog.names import SYSTEM_TABLES, split_system_table
from lakebed.diagnostics import near_names
from lakebed.errors import NotFoundError, UnsupportedError, warn
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.readable import Displayable

_ID, _TEXT, _TIME = "BIGINT NOT NULL", "STRING NOT NULL", "TIMESTAMP(3)"
_SIZES = (("record_count", _ID), ("file_size_in_bytes", _ID), ("file_count", _ID), ("last_update_time", _TIME))

_TEXTS = {"type": "ARRAY", "element": "STRING"}

_COLUMNS: dict[str, tuple[tuple[str, str | dict[str, str]], ...]] = {
    "snapshots": (
        ("snapshot_id", _ID),
        ("schema_id", _ID),
        ("commit_user", _TEXT),
        ("commit_identifier", _ID),
        ("commit_kind", _TEXT),
        ("commit_time", _TIME),
        ("base_manifest_list", _TEXT),
        ("delta_manifest_list", _TEXT),
        ("changelog_manifest_list", "STRING"),
        ("total_record_count", "BIGINT"),
        ("delta_record_count", "BIGINT"),
        ("changelog_record_count", "BIGINT"),
        ("watermark", "BIGINT"),
    ),
    "schemas": (
        ("schema_id", _ID),
        ("fields", _TEXT),
        ("partition_keys", _TEXT),
        ("primary_keys", _TEXT),
        ("options", _TEXT),
        ("comment", "STRING"),
        ("update_time", _TIME),
    ),
    "options": (("key", _TEXT), ("value", _TEXT)),
    "tags": (
        ("tag_name", _TEXT),
        ("snapshot_id", _ID),
        ("schema_id", _ID),
        ("commit_time", _TIME),
        ("record_count", "BIGINT"),
        ("create_time", _TIME),
        ("time_retained", "STRING"),
    ),
    "branches": (("branch_name", _TEXT), ("create_time", _TIME)),
    "manifests": (
        ("file_name", _TEXT),
        ("file_size", _ID),
        ("num_added_files", _ID),
        ("num_deleted_files", _ID),
        ("schema_id", _ID),
        ("min_partition_stats", "STRING"),
        ("max_partition_stats", "STRING"),
        ("min_row_id", "BIGINT"),
        ("max_row_id", "BIGINT"),
    ),
    "files": (
        ("partition", "STRING"),
        ("bucket", "INT NOT NULL"),
        ("file_path", _TEXT),
        ("file_format", _TEXT),
        ("schema_id", _ID),
        ("level", "INT NOT NULL"),
        ("record_count", _ID),
        ("file_size_in_bytes", _ID),
        ("min_key", "STRING"),
        ("max_key", "STRING"),
        ("null_value_counts", _TEXT),
        ("min_value_stats", _TEXT),
        ("max_value_stats", _TEXT),
        ("min_sequence_number", "BIGINT"),
        ("max_sequence_number", "BIGINT"),
        ("creation_time", _TIME),
        ("deleteRowCount", "BIGINT"),
        ("file_source", "STRING"),
        ("first_row_id", "BIGINT"),
        ("write_cols", _TEXTS),
    ),
    "partitions": (
        ("partition", "STRING"),
        *_SIZES,
        ("created_at", _TIME),
        ("created_by", "STRING"),
        ("updated_by", "STRING"),
        ("options", "STRING"),
        ("total_buckets", "INT NOT NULL"),
        ("done", "BOOLEAN NOT NULL"),
    ),
    "buckets": (("partition", "STRING"), ("bucket", "INT NOT NULL"), *_SIZES),
}

#: The system tables that are made.
NAMES = tuple(_COLUMNS)
#: Those that belong to one snapshot: travel chooses it.
OF_A_STATE = frozenset({"manifests", "files", "partitions", "buckets"})


def columns_of(name: str) -> tuple[DataField, ...]:
    """The columns of a system table."""
    return tuple(DataField(i, column, parse(text)) for i, (column, text) in enumerate(_COLUMNS[name]))


@dataclass(frozen=True, slots=True)
class SystemTable(Displayable):
    """Rows made from metadata, of the types of `columns`; moments are naive, in the zone that was asked for."""

    html_renderer: ClassVar[str] = "lakebed.render.notebook_html:system_table_html"

    name: str
    columns: tuple[DataField, ...]
    rows: tuple[tuple[Any, ...], ...]

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(c.name for c in self.columns)


@dataclass(frozen=True, slots=True)
class SystemTableRef:
    """A system table of a table, a branch of it, or one state: `t$files`, `t$branch_b$files`, `t$files@snap:5`."""

    ref: TableRef
    system: str

    @classmethod
    def parse(cls, text: str) -> SystemTableRef | None:
        """The system table that a text names, None where it names a table or a branch.

        Raises:
            NotFoundError: there is no system table of this name.
            UnsupportedError: other engines have it, Lakebed does not.
        """
        parts = split_system_table(text)
        if parts is None:
            return None
        base, system = parts
        check_system(system)
        return cls(TableRef.parse(base), system)


def check_system(system: str) -> None:
    """Raise where there is no system table of this name, as `SystemTableRef.parse` does."""
    if system not in _COLUMNS:
        known = ", ".join(sorted(NAMES))
        if system in SYSTEM_TABLES:
            raise UnsupportedError.of("LB5591", f"there is no system table ${system} here", expected=known)
        raise NotFoundError.of(
            "LB5590",
            f"there is no system table ${system}",
            expected=known,
            found=system,
            suggestions=near_names(system, NAMES),
        )


def wall_clock(millis: int, zone: tzinfo, source: str) -> datetime | None:
    """The wall clock of the zone, without one; None, with a `LakebedWarning`, outside of the years 1 to 9999.

    `source` says in a message whose moment it is. What another engine wrote as a time need not be one.
    """
    try:
        return datetime.fromtimestamp(millis / 1000, UTC).astimezone(zone).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        warn(
            "LB5081",
            f"{source}: {millis} milliseconds since 1970 are no time of the years 1 to 9999; it is shown as NULL",
            path=source,
            expected="a time of the years 1 to 9999",
            found=str(millis),
            remedy="if the file was edited or is damaged, restore it from a copy of the warehouse",
        )
        return None
