"""Write bad rows, each with its reasons, to the quarantine table.

It is `<db>.<table>__quarantine`, made when the first bad row comes. `raw` is the row as it was read: the line where it
is malformed or JSON, else a JSON object of the values. `schema_id` is the version of the other table that it was
checked against. `replays` are the replays that have taken the row up: it is mended where one of them is in the table
(see `claim_of`). The mini layout knows neither structs nor zones: there a problem is a map with the same keys, and
`ingested_at` is the UTC wall clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakebed.arrow.line_numbers import LINE, SOURCE_LINE
from lakebed.catalog.columns import DataType as Mini
from lakebed.catalog.columns import Field as MiniField
from lakebed.catalog.names import TableName
from lakebed.catalog.paths import MAIN, Layout
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.scan_types import scan_type
from lakebed.errors import AlreadyExistsError
from lakebed.evolve.merge_input import incoming_columns
from lakebed.evolve.merge_schema import SchemaMerge, merge_rules, merge_schema
from lakebed.ingest.columns.checkers import PROBLEM
from lakebed.model import Field, Int64, List, Option, String, Struct, Timestamp
from lakebed.physical.paimon_types import Array, DataField, Map
from lakebed.physical.paimon_types import Timestamp as WallClock
from lakebed.redaction import redact
from lakebed.spark.clocks import UTC, instant_to_wall

#: The column of the replays that have taken a row up; quarantines of earlier versions have it not, nor `SOURCE_LINE`.
REPLAYS = "replays"

_PROBLEM = Struct(
    (
        Field("path", Option(String())),
        Field("code", String()),
        Field("expected", Option(String())),
        Field("found", Option(String())),
    )
)
FIELDS = (
    Field("run_id", String()),
    Field("ingested_at", Timestamp()),
    Field("source_file", Option(String())),
    Field("source_offset", Option(Int64())),
    Field(SOURCE_LINE, Option(Int64())),
    Field("raw", Option(String())),
    Field("schema_id", Int64()),
    Field("problems", List(_PROBLEM)),
    Field(REPLAYS, Option(List(String()))),
)
MINI_FIELDS = (
    MiniField("run_id", Mini.STRING, nullable=False),
    MiniField("ingested_at", Mini.TIMESTAMP, nullable=False),
    MiniField("source_file", Mini.STRING),
    MiniField("source_offset", Mini.LONG),
    MiniField(SOURCE_LINE, Mini.LONG),
    MiniField("raw", Mini.STRING),
    MiniField("schema_id", Mini.LONG, nullable=False),
    MiniField("problems", Mini.ARRAY(Mini.MAP(Mini.STRING, Mini.STRING)), nullable=False),
    MiniField(REPLAYS, Mini.ARRAY(Mini.STRING)),
)


def ensure_quarantine(tables: TableManager, name: TableName, clock: Callable[[], int]) -> TableSchema:
    """The newest schema of the quarantine of table `name`, which is made if there is none, or gets what it has not."""
    quarantine = name.quarantine
    if not tables.exists(quarantine):
        fields = MINI_FIELDS if tables.path_factory.layout is Layout.MINI else FIELDS
        # Another run may make it at the same time.
        with suppress(AlreadyExistsError):
            tables.create_table(quarantine.database, quarantine.table, fields, comment=f"Bad rows of {name}")
    schemas = tables.get_schema_manager(quarantine.database, quarantine.table)
    if schemas.load_latest_schema().field(SOURCE_LINE) is None:
        add_new_columns(tables, name, clock)
    return schemas.load_latest_schema()


def add_new_columns(tables: TableManager, name: TableName, clock: Callable[[], int]) -> None:
    """Give the quarantine of table `name` the columns that one of an earlier version has not."""
    new = [f for f in MINI_FIELDS if f.name in (REPLAYS, SOURCE_LINE)]
    merge = SchemaMerge(incoming_columns(new), merge_rules("add", case_sensitive=True))
    merge_schema(tables, name.quarantine, merge, branch=MAIN, clock=clock)


def without_logins(rows: DataFrame, paths: Iterable[str]) -> DataFrame:
    """Bad rows of these files, whose URLs in the column `file` are as `redact` shows them."""
    shown = {path: redact(path) for path in paths if redact(path) != path}
    if not shown:
        return rows
    known = F.create_map(*(F.lit(text) for pair in shown.items() for text in pair))
    return rows.withColumn("file", F.coalesce(F.try_element_at(known, F.col("file")), F.col("file")))


def quarantine_rows(rows: DataFrame, schema: TableSchema, *, run_id: str, schema_id: int, now: int) -> DataFrame:
    """Bad rows as columns `v0`, `v1`, ... of the quarantine's schema.

    `rows` are bad rows (see `PreparedRows.bad`), `schema_id` the version that they were checked against,
    `now` milliseconds since 1970. Columns that somebody has added to the quarantine are NULL.
    """
    values: dict[str, Column] = {
        "run_id": F.lit(run_id),
        "ingested_at": F.timestamp_millis(F.lit(now)),
        "source_file": F.col("file"),
        "source_offset": F.col("offset"),
        SOURCE_LINE: F.col(LINE),
        "raw": F.col("raw"),
        "schema_id": F.lit(schema_id),
        "problems": F.col("problems").cast(f"array<{PROBLEM}>"),
    }
    return rows.select(
        *(
            _formed(values.get(f.name, F.lit(None)), f).cast(scan_type(f.type)).alias(f"v{i}")
            for i, f in enumerate(schema.fields)
        )
    )


def _formed(value: Column, field: DataField) -> Column:
    """The value in the form that a column of the mini layout has, which a cast alone does not give."""
    match field.name, field.type:
        case "ingested_at", WallClock():
            return instant_to_wall(value, UTC)
        case "problems", Array(element=Map()):
            return F.transform(value, _as_map)
        case _:
            return value


def _as_map(problem: Column) -> Column:
    parts = ("path", "code", "expected", "found")
    return F.create_map(*(part for name in parts for part in (F.lit(name), problem[name])))
