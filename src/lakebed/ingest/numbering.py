"""Number the records of a table: offsets without gaps from commit to commit, in source order.

Rows are first written as they are, good ones only, each with the piece of the source that it comes from (its block) and
a number that grows within the block. Counting the blocks gives every row its place; what is left to add is where the
table ends, which is known for certain only by the commit that wins. Whoever loses the race numbers again from the rows
that it has written, without reading the source again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from lakebed.diagnostics import Diagnostic
from lakebed.errors import IngestError, StoreError
from lakebed.format.commit import TableStorage
from lakebed.spark.scan import page_checks
from lakebed.spark.spark_errors import spark_errors, writing_rows
from lakebed.spark.sql_names import plain_url, spark_url
from lakebed.store.base import Store
from lakebed.store.safe_delete import Inside
from lakebed.store.temporary import staging

NEXT_OFFSET = "lakebed.next-offset"
UNPAIRED = "LB6431"
NOT_DENSE = "LB6432"

_CORRECT_FROM, _CORRECT_TO = 2, 3
_SHOWN = 5
#: Stands between the parts of the name of a block.
BETWEEN = "\u0001"
#: The bits of `monotonically_increasing_id` that count the rows of one task.
_WITHIN_TASK = (1 << 33) - 1


def block_of(part: int, url: Column, start: Column) -> Column:
    """The name of the piece of a source that a row comes from."""
    return F.concat_ws(BETWEEN, F.lit(str(part)), F.coalesce(url, F.lit("")), start.cast("string"))


@dataclass(slots=True)
class NumberedRows:
    """The good rows of a run in a directory of their own, and the place of each block among them."""

    spark: SparkSession
    store: Store
    table_path: str
    column: int
    files: Sequence[str]
    schema: spark_types.StructType = field(default_factory=spark_types.StructType)
    first: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    id: str = field(default_factory=lambda: uuid4().hex)

    @property
    def directory(self) -> str:
        """Where the rows lie until they are numbered."""
        return f"{self.table_path}/{staging(self.id)}"

    def write(self, values: DataFrame) -> None:
        """Write rows of columns `v0`, `v1`, ... and `block`, in the order that they are read in."""
        ordered = values.withColumn("row", F.monotonically_increasing_id())
        self.schema = ordered.schema
        options = {
            "compression": "snappy",
            "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
            # The rows are read back under the same schema, whose nested members carry field ids.
            "spark.sql.parquet.fieldId.write.enabled": "true",
        }
        with writing_rows(self.directory):
            ordered.write.mode("error").options(**options).parquet(spark_url(self.directory))

    def count(self) -> None:
        """Find the place of each block. Raises `IngestError` (LB6432) where the rows of a block are not in a row."""
        row, within = F.col("row"), F.col("row").bitwiseAND(F.lit(_WITHIN_TASK))
        blocks = (
            self._read()
            .groupBy("block")
            .agg(
                F.count("*").alias("rows"),
                F.min(row).alias("first"),
                F.min(within).alias("low"),
                F.max(within).alias("high"),
                F.sum(within).alias("sum"),
            )
        )
        found = sorted(blocks.collect(), key=lambda b: self._order(b["block"]))
        self.rows, self.first = 0, {}
        for block in found:
            low, high, rows = block["low"], block["high"], block["rows"]
            if high - low + 1 != rows or 2 * block["sum"] != (low + high) * rows:
                raise IngestError.of(
                    NOT_DENSE,
                    "the rows cannot be numbered in order: the source gave some of them twice or in several pieces",
                    found=block["block"].replace(BETWEEN, " "),
                    remedy="ingest a source that stays as it is, for example a file",
                )
            self.first[block["block"]] = self.rows - block["first"]
            self.rows += rows

    def _order(self, block: str) -> tuple[int, int, int]:
        part, url, start = block.split(BETWEEN)
        path = plain_url(url)
        known = {p: i for i, p in enumerate(self.files)}
        return known.get(path, len(known)), int(part), int(start)

    def numbered(self, base: int) -> DataFrame:
        """The rows with their offsets, the first of which is `base`."""
        names = [f"v{i}" for i in range(len(self.schema.fields) - 2)]
        type_ = self.schema[f"v{self.column}"].dataType
        offset = (F.col("first") + F.col("row") + F.lit(base)).cast(type_)
        rows = self._placed()
        return rows.select(*(offset.alias(n) if n == f"v{self.column}" else F.col(n) for n in names))

    def check_corrections(self, operation: int) -> None:
        """Raise `IngestError` (LB6431) unless each correction is a pair: what was, and right after it what is."""
        op = F.col(f"v{operation}").cast("int")
        place = F.col("first") + F.col("row")
        halves = self._placed().where(op.isin(_CORRECT_FROM, _CORRECT_TO))
        pair = F.when(op == _CORRECT_FROM, place + 1).otherwise(place)
        pairs = halves.groupBy(pair.alias("at")).agg(
            F.count_if(op == _CORRECT_FROM).alias("old"), F.count_if(op == _CORRECT_TO).alias("new")
        )
        broken = pairs.where((F.col("old") != 1) | (F.col("new") != 1)).orderBy("at")
        found = broken.limit(_SHOWN).collect()
        if found:
            raise IngestError(*(_unpaired(b["at"], b["old"] == 1) for b in found))

    def _read(self) -> DataFrame:
        return self.spark.read.schema(self.schema).options(**page_checks()).parquet(spark_url(self.directory))

    def _placed(self) -> DataFrame:
        if len(self.first) == 1:
            return self._read().withColumn("first", F.lit(next(iter(self.first.values()))).cast("bigint"))
        data: list[tuple[Any, ...]] = list(self.first.items())
        places = self.spark.createDataFrame(data, "block string, first bigint")
        return self._read().join(F.broadcast(places), "block")

    def clear(self) -> None:
        """Delete the rows."""
        with suppress(StoreError):
            Inside(self.store, self.table_path).delete_tree(self.directory)


def _unpaired(at: int, is_old: bool) -> Diagnostic:
    if is_old:
        message = f"good row {at} of the source corrects a record, and the next row does not say what it became"
    else:
        message = f"good row {at + 1} of the source says what a record became, and the row before not what it was"
    return Diagnostic(
        UNPAIRED,
        message,
        path="op",
        expected="CorrectFrom (2), right after it CorrectTo (3)",
        remedy="put the two rows together; where one of them is bad, mend it",
    )


def next_offset(table: TableStorage, largest: Callable[[], int | None]) -> int:
    """The offset of the next record. `largest` reads the largest one of all rows, for what others have written."""
    foreign, any_snapshot = False, False
    known = 0
    for snapshot in table.snapshots.newest_first():
        any_snapshot = True
        said = (snapshot.properties or {}).get(NEXT_OFFSET, "")
        if said.isdigit():
            known = int(said)
            break
        foreign = foreign or (snapshot.commit_kind in ("APPEND", "OVERWRITE") and snapshot.delta_record_count != 0)
    else:
        foreign = any_snapshot
    if not foreign:
        return known
    with spark_errors():
        found = largest()
    return max(known, 0 if found is None else int(found) + 1)
