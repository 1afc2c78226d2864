"""Codes of reading primary-key tables: LB55nn."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB5500",
        "A merge engine that is not known",
        "Several stored rows of one key become one row of the table by the rules of its merge engine.",
        "    merge-engine = keep-some",
        "Set `deduplicate`, `partial-update`, `aggregation` or `first-row`.",
    ),
    Code(
        "LB5501",
        "A delete in a partial-update table that does not say what it means",
        "Partial update fills one row from many; the format wants an option to say whether a delete removes the row, "
        "part of it, or nothing.",
        "    merge-engine = partial-update, and a stored row of kind -D",
        "Set `ignore-delete`, `partial-update.remove-record-on-delete` or sequence groups.",
    ),
    Code(
        "LB5502",
        "A delete in a first-row table",
        "First-row keeps the first row of each key; the format does not say what a delete means to it.",
        "    merge-engine = first-row, and a stored row of kind -D",
        "Set `ignore-delete`.",
    ),
    Code(
        "LB5503",
        "An aggregate function that Lakebed does not compute",
        "Sketches and bitmaps (`hll_sketch`, `theta_sketch`, `rbm32`, `rbm64`) are merged by libraries. Spark's "
        "expressions have none for Roaring bitmaps and serialize merged sketches otherwise than the format does.",
        "    fields.visitors.aggregate-function = hll_sketch",
        "Compact the table with another engine, so that its files need no merge, or use that engine to read it.",
    ),
    Code(
        "LB5504",
        "An aggregate function does not fit its column",
        "`sum` needs numbers, `bool_or` booleans, `collect` an array, `merge_map` a map, `nested_update` an array of "
        "rows.",
        "    fields.name.aggregate-function = sum, where name is STRING",
        "Change the option or the column's type.",
    ),
    Code(
        "LB5505",
        "A delete that the aggregate function cannot take back",
        "What `max` has swallowed is gone: only some functions can be undone by a delete or an update-before row.",
        "    fields.price.aggregate-function = max, and a stored row of kind -D",
        "Set `fields.COLUMN.ignore-retract`, or `aggregation.remove-record-on-delete`.",
    ),
    Code(
        "LB5506",
        "Merge options contradict each other",
        "Two options give two answers to what a row or a delete does.",
        "    ignore-delete = true and partial-update.remove-record-on-delete = true",
        "Remove one of them.",
    ),
    Code(
        "LB5507",
        "The result of an aggregate does not fit its column",
        "A sum or product that is larger than the type holds would come out as another number.",
        "    TINYINT column with sum: 100 + 100",
        "Widen the column's type.",
    ),
    Code(
        "LB5508",
        "A nested key is NULL",
        "The table says by `nested-key-null-strategy = error` that the keys of its nested rows are never NULL.",
        "    fields.orders.nested-key = id, and a nested row without id",
        "Mend the rows, or set the strategy to `merge` or `ignore`.",
    ),
    Code(
        "LB5509",
        "A merge option names what is not there",
        "Sequence fields, sequence groups and nested keys are names of columns or of fields in a column.",
        "    fields.version.sequence-group = price, and no column price",
        "Correct the name.",
    ),
    Code(
        "LB5510",
        "Decimals too wide to be merged exactly",
        "Spark's arithmetic cuts digits where the exact result of two such decimals needs more than 38 of them.",
        "    fields.rate.aggregate-function = product, where rate is DECIMAL(30, 10)",
        "Use a narrower type, or another engine.",
    ),
)
