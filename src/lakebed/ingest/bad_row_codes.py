"""Count the bad rows of a table by the codes of their problems, by Arrow in this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lakebed.errors import UnsupportedError
from lakebed.format.table_branch import TableBranch
from lakebed.ingest.run_memory import RunMemory
from lakebed.read.request import ReadRequest

if TYPE_CHECKING:
    import pyarrow as pa

_PROBLEMS, _REPLAYS = "problems", "replays"


def count_bad_rows(table: TableBranch) -> Mapping[str, int] | None:
    """How many rows of the table's quarantine have a problem of each code; mended rows do not count.

    A row with several problems counts once for each of their codes. None where PyArrow is not installed, or does not
    read such a quarantine as Spark does. Raises `LakebedError` for files that cannot be read.
    """
    quarantine = TableBranch(table.tables, table.name.quarantine)
    fields = quarantine.schemas.load_latest_schema().field_names
    if find_spec("pyarrow") is None or _PROBLEMS not in fields:
        return None
    from lakebed.arrow.read_batches import plan_batches

    memory = RunMemory(table.name, table.storage, quarantine.storage)
    memory.load()
    columns = [name for name in (_PROBLEMS, _REPLAYS) if name in fields]
    counted: Counter[str] = Counter()
    try:
        for batch in plan_batches(quarantine, ReadRequest(time_zone="UTC"), columns).batches():
            counted.update(_codes(batch, memory.claims()))
    except UnsupportedError:
        return None
    return dict(sorted(counted.items()))


def _codes(batch: pa.RecordBatch, claims: Collection[str]) -> Counter[str]:
    """The codes of the problems of rows that no claim is of, each once for a row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    batch = batch.filter(pc.invert(are_mended(batch, claims)))
    problems = batch.column(_PROBLEMS)
    found = pc.list_flatten(problems)
    # In the mini layout, which knows no structs, a problem is a map.
    is_map = pa.types.is_map(found.type)
    code = pc.map_lookup(found, "code", "first") if is_map else pc.struct_field(found, "code")
    each = pa.table({"row": pc.list_parent_indices(problems), "code": code}).group_by(["row", "code"]).aggregate([])
    return Counter({item["values"]: item["counts"] for item in each["code"].value_counts().to_pylist()})


def are_mended(batch: pa.RecordBatch, claims: Collection[str]) -> pa.Array:
    """Of each row whether a claim is of it: whether it has been put into the table since."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = pa.array(range(batch.num_rows), pa.int64())
    if not claims or _REPLAYS not in batch.schema.names:
        return pc.less(rows, 0)
    claimed = batch.column(_REPLAYS)
    is_done = pc.is_in(pc.list_flatten(claimed), pa.array(sorted(claims)))
    return pc.is_in(rows, pc.list_parent_indices(claimed).filter(is_done).cast(pa.int64()))
