"""Assign rows to dynamic buckets: those that may share a new one come together, and workers place them in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StructType

from lakebed.arrow.assign_buckets import PARTITION, SLOT, BucketAssigner
from lakebed.arrow.row_runs import BUCKET, HASH
from lakebed.arrow.write_task import WriteTask
from lakebed.format.hash_index import BucketRules
from lakebed.spark.arrow_batches import gathered
from lakebed.spark.row_bytes import hash_of_row, row_bytes
from lakebed.write.plan_write import WritePlan

if TYPE_CHECKING:
    import pyarrow as pa


def in_dynamic_buckets(frame: DataFrame, plan: WritePlan, task: WriteTask) -> DataFrame:
    """The rows with the hashes of their keys and their buckets; column `v<i>` is the schema's column i."""
    assert task.hash_indexes is not None
    rules = BucketRules.of(plan.schema, task.hash_indexes)
    values = {f.id: F.col(f"v{i}") for i, f in enumerate(plan.schema.fields)}
    key, partition = ([(values[f.id], f.type) for f in fields] for fields in (plan.key, plan.partition))
    hashed = frame.withColumn(HASH, hash_of_row([v for v, _ in key], [t for _, t in key]))
    place = row_bytes([v for v, _ in partition], [t for _, t in partition], prefix=True)
    slot = F.call_function("pmod", F.col(HASH), F.lit(rules.slots))
    together = hashed.withColumns({PARTITION: place, SLOT: slot}).repartition(PARTITION, SLOT)
    ordered = together.sortWithinPartitions(PARTITION, SLOT, HASH)
    schema = StructType([*frame.schema]).add(HASH, IntegerType()).add(BUCKET, IntegerType())
    return ordered.mapInArrow(_Assign(BucketAssigner(task, rules)), schema)


@dataclass(frozen=True, slots=True)
class _Assign:
    """What a worker does with the batches of its task."""

    assigner: BucketAssigner

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.assigner(gathered(batches))
