"""Every type of the table format in every place of a table, and every option that is known.

For the tests of what can be written; what cannot is said here by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lakebed.catalog.ids import assign
from lakebed.catalog.option_values import CODECS
from lakebed.catalog.options import OPTIONS, OptionKind
from lakebed.catalog.table_schema import TableSchema
from lakebed.catalog.validate import validate
from lakebed.diagnostics import Severity
from lakebed.physical import paimon_types as t
from lakebed.physical.paimon_types import UNASSIGNED, DataField, DataType, with_nullability

#: Each type without parts, with a Spark expression of a value of it; None where it cannot be written in every place.
LEAVES: dict[DataType, str | None] = {
    t.Boolean(): "true",
    t.TinyInt(): "cast(-1 AS tinyint)",
    t.SmallInt(): "cast(300 AS smallint)",
    t.Int(): "70000",
    t.BigInt(): "5000000000L",
    t.Float(): "cast(1.5 AS float)",
    t.Double(): "-2.5D",
    t.Decimal(38, 10): "cast(1.5 AS decimal(38, 10))",
    t.Char(3): "'abc'",
    t.VarChar(4): "'abcd'",
    t.STRING: "'a/b=c d'",
    t.Binary(2): "X'0102'",
    t.VarBinary(4): "X'0F'",
    t.VarBinary(): "X'00FF'",
    t.Date(): "date'2024-02-29'",
    t.Time(0): "3600000",
    t.Time(3): "3600123",
    t.Timestamp(0): "timestamp_ntz'2024-02-29 01:02:03'",
    t.Timestamp(3): "timestamp_ntz'2024-02-29 01:02:03.004'",
    t.Timestamp(6): "timestamp_ntz'2024-02-29 01:02:03.000004'",
    t.Timestamp(9): None,
    t.LocalZonedTimestamp(0): "timestamp'2024-02-29 01:02:03Z'",
    t.LocalZonedTimestamp(3): "timestamp'2024-02-29 01:02:03.004Z'",
    t.LocalZonedTimestamp(6): "timestamp'2024-02-29 01:02:03.000004Z'",
    t.LocalZonedTimestamp(7): None,
    t.Variant(): None,
    t.Blob(): None,
    t.Geometry(): None,
    t.Geography(): None,
    t.Vector(t.Float(), 3): None,
    t.Unknown("MONEY"): None,
    t.Row(()): None,
}
_KEY = (t.Binary, t.VarBinary)
#: What columns of blobs need.
EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
_NOT_A_KEY = (t.Variant, t.Blob, t.Geometry, t.Geography, t.Vector, t.Unknown, t.Row)


@dataclass(frozen=True, slots=True)
class Case:
    """A table that the format allows, what it is about, and the codes with which rows are refused; none: writable."""

    about: str
    schema: TableSchema
    codes: frozenset[str]


def schema(
    *columns: tuple[str, DataType],
    primary: tuple[str, ...] = (),
    partition: tuple[str, ...] = (),
    options: dict[str, str] | None = None,
) -> TableSchema:
    fields = [DataField(UNASSIGNED, n, with_nullability(x, False) if n in primary else x) for n, x in columns]
    identified, highest = assign(fields, -1)
    return TableSchema(0, identified, highest, partition, primary, options or {}, None)


def row(*members: tuple[str, DataType]) -> t.Row:
    return t.Row(tuple(DataField(UNASSIGNED, name, type_) for name, type_ in members))


def nested(leaf: DataType) -> dict[str, DataType]:
    """The type inside of each type with parts, and two deep."""
    return {
        "struct": row(("m", leaf)),
        "list": t.Array(leaf),
        "value": t.Map(t.STRING, leaf),
        "key": t.Map(leaf, t.Int()),
        "multiset": t.Multiset(leaf),
        "deep": t.Array(row(("m", t.Map(t.STRING, row(("x", t.Int()), ("y", leaf)))))),
    }


#: Types with parts that are no keys of maps, in the places where they would be.
MAPS_AS_KEYS = {
    "map": t.Map(t.Map(t.Int(), t.Int()), t.Int()),
    "multiset": t.Map(t.Multiset(t.Int()), t.Int()),
    "in a struct": t.Map(row(("m", t.Map(t.Int(), t.Int()))), t.Int()),
    "in a list": t.Multiset(t.Array(t.Map(t.Int(), t.Int()))),
}


#: Types that are read, and that no format is written with.
_READ_ONLY = (t.Timestamp, t.LocalZonedTimestamp, t.Variant, t.Row)


def types() -> Iterator[Case]:
    """Every type in every place."""
    for leaf, value in LEAVES.items():
        writable = value or isinstance(leaf, t.Blob)
        codes = frozenset() if writable else frozenset({"LB6505" if isinstance(leaf, _READ_ONLY) else "LB5054"})
        text = str(leaf) if not isinstance(leaf, t.Row) else "ROW<>"
        yield Case(f"{text} as a column", schema(("id", t.Int()), ("c", leaf), options=_needed(leaf)), codes)
        for place, type_ in nested(leaf).items():
            table = schema(("id", t.Int()), ("c", type_), options=_needed(leaf))
            # The format allows blobs in few places.
            if not isinstance(leaf, t.Blob) or is_valid(table):
                yield Case(f"{text} in {place}", table, codes)
        if isinstance(leaf, _NOT_A_KEY):
            continue
        legacy = {"LB5030"} if isinstance(leaf, _KEY) else set()
        keyed = schema(("id", t.Int()), ("c", leaf), partition=("c",))
        yield Case(f"{text} as a partition key", keyed, codes | legacy)
        plain = keyed.with_options({"partition.legacy-name": "false"})
        yield Case(f"{text} as a partition key by its text", plain, codes)
        primary = schema(("id", t.Int()), ("c", leaf), primary=("c",))
        yield Case(f"{text} as a primary key", primary, codes)
    for place, type_ in MAPS_AS_KEYS.items():
        yield Case(f"a map as a key, {place}", schema(("id", t.Int()), ("c", type_)), frozenset({"LB5054"}))


def _needed(leaf: DataType) -> dict[str, str]:
    """The options without which the format allows no such column."""
    if not isinstance(leaf, t.Blob):
        return {}
    return EVOLVING


#: Options that make an append table one that is not written, by the values that do so.
REFUSED = {
    ("type", "format-table"): "LB5051",
    ("type", "materialized-table"): "LB5051",
    ("type", "object-table"): "LB5051",
    ("type", "lance-table"): "LB5051",
    ("type", "iceberg-table"): "LB5051",
    ("scan.primary-branch", "main"): "LB5053",
    ("manifest.format", "orc"): "LB5011",
    ("changelog-producer", "input"): "LB5061",
    ("changelog-producer", "full-compaction"): "LB5061",
    ("changelog-producer", "lookup"): "LB5061",
    ("data-file.external-paths", "s3://other/place"): "LB5062",
    ("data-file.prefix", "_part-"): "LB5065",
}
_SAMPLES: dict[OptionKind, tuple[str, ...]] = {
    OptionKind.BOOLEAN: ("true", "false"),
    OptionKind.INT: ("20",),
    OptionKind.LONG: ("20",),
    OptionKind.DECIMAL: ("0.5",),
    OptionKind.SIZE: ("1 mb",),
    OptionKind.DURATION: ("1 h",),
    OptionKind.CODEC: CODECS,
    OptionKind.CODECS_BY_LEVEL: ("0:lz4,1:zstd",),
    OptionKind.TEXTS_BY_LEVEL: ("0:none",),
    OptionKind.STATS_MODE: ("none", "counts", "full", "truncate(4)"),
    OptionKind.COLUMNS: ("id",),
    OptionKind.TEXT: ("id",),
    OptionKind.ENGINE: ("id",),
}
_TEXTS = {
    "file.format": ("parquet", "orc", "avro"),
    "manifest.format": ("avro", "orc"),
    "data-file.external-paths": ("s3://other/place",),
    "data-file.prefix": ("part-", "_part-"),
    "scan.primary-branch": ("main",),
    "bucket": ("-1", "4"),
}


def values(key: str) -> tuple[str, ...]:
    """Values that the option may have."""
    return _TEXTS.get(key) or OPTIONS[key].words or _SAMPLES[OPTIONS[key].kind]


def options() -> Iterator[Case]:
    """Every known option with its values, on an append table, where the format allows that."""
    for key in sorted(OPTIONS):
        for value in values(key):
            code = REFUSED.get((key, value))
            needed = {"bucket-key": "id"} if (key, value) == ("bucket", "4") else {}
            table = schema(("id", t.Int()), ("c", t.STRING), options={key: value, **needed})
            if is_valid(table):
                yield Case(f"{key} = {value}", table, frozenset({code} if code else ()))


def is_valid(table: TableSchema) -> bool:
    return not any(d.severity is Severity.ERROR for d in validate(table, branch_exists="main".__eq__))
