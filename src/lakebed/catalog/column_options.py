"""List the options of single columns, named `fields.<columns>.<option>`, and the values that each can have."""

from __future__ import annotations

from lakebed.catalog.options import OptionKind

#: What can stand behind `fields.<columns>.`, and what its value is; `map.` begins more.
COLUMN_OPTIONS: dict[str, OptionKind] = {
    "aggregate-function": OptionKind.TEXT,
    "count-limit": OptionKind.INT,
    "default-value": OptionKind.TEXT,
    "distinct": OptionKind.BOOLEAN,
    "ignore-retract": OptionKind.BOOLEAN,
    "list-agg-delimiter": OptionKind.TEXT,
    "map.storage-layout": OptionKind.TEXT,
    "nested-key": OptionKind.TEXT,
    "nested-key-null-strategy": OptionKind.WORD,
    "nested-sequence-field": OptionKind.TEXT,
    "sequence-group": OptionKind.TEXT,
    "sort-order": OptionKind.TEXT,
    "stats-mode": OptionKind.STATS_MODE,
    "ts-field": OptionKind.TEXT,
}
#: The words of those that have some.
COLUMN_WORDS: dict[str, tuple[str, ...]] = {"nested-key-null-strategy": ("merge", "ignore", "error")}


def column_option(key: str) -> str | None:
    """The option that `fields.<columns>.<option>` is, where it is a known one; names of columns may hold dots."""
    if not key.startswith("fields.") or key.count(".") < 2:
        return None
    option = key.rpartition(".")[2]
    return option if option in COLUMN_OPTIONS else None
