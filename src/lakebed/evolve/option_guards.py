"""Check which options may change when (Paimon `SchemaManager`, "immutable options")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lakebed.errors import ValidationError
from lakebed.evolve.schema_changes import problem

NULL_TO_NOT_NULL_DISABLED = "alter-column-null-to-not-null.disabled"
EXPLICIT_CASTING_DISABLED = "disable-explicit-type-casting"
ADD_BEFORE_PARTITION = "add-column-before-partition"
PRIMARY_KEY = "primary-key"
PARTITION = "partition"
PRIMARY_KEY_NULLABLE = "primary-key.nullable"

#: Options that can be neither set nor removed once the table holds a snapshot.
IMMUTABLE = frozenset(
    {
        "type",
        "bucket-key",
        "bucket-function.type",
        "data-file.path-directory",
        "merge-engine",
        "sequence.snapshot-ordering",
        "aggregation.remove-record-on-delete",
        "partial-update.remove-record-on-delete",
        "partial-update.remove-record-on-sequence-group",
        "rowkind.field",
        PRIMARY_KEY,
        PRIMARY_KEY_NULLABLE,
        PARTITION,
        "dynamic-bucket.initial-buckets",
        "force-lookup",
        "row-tracking.enabled",
        "data-evolution.enabled",
        "index-file-in-data-file-dir",
        "blob-field",
        "blob-descriptor-field",
        "blob-view-field",
        "pk-clustering-override",
    }
)
_ONE_WAY = ("ignore-delete", "ignore-update-before")
#: What directories of partitions are called, and how it is written where it is not set.
_DIRECTORY_NAMES = {"partition.default-name": "__DEFAULT_PARTITION__", "partition.legacy-name": "true"}
_WITH_DATA = " once the table holds data"
NEW_TABLE = "make a new table with the wanted definition and copy the rows"


def flag(options: Mapping[str, str], key: str, *, default: bool = False) -> bool:
    """A boolean option as Java reads it: `true` in any case is true, every other text is false."""
    value = options.get(key)
    return default if value is None else value.lower() == "true"


def check_change(options: Mapping[str, str], key: str, value: str | None, has_snapshots: Callable[[], bool]) -> None:
    """Raise `ValidationError` when option `key` may not become `value` (None: removed). `value` differs from before."""
    if key == "type":
        if value is None or value.lower() != options.get("type", "table").lower():
            raise _refused("LB4017", key, options, value, "", remedy=NEW_TABLE)
        return
    if key == "path":
        raise _refused("LB4017", key, options, value, "", remedy="a table stays where it is")
    if key not in _GUARDED or not has_snapshots():
        return
    if key in IMMUTABLE:
        raise _refused("LB4016", key, options, value, remedy=NEW_TABLE)
    _GUARDS[key](options, key, value)


def _check_bucket(options: Mapping[str, str], key: str, value: str | None) -> None:
    old = options.get(key, "-1")
    if value is not None and value.strip() == old.strip():
        return
    if value is None or old.strip() == "-1" or value.strip() == "-1":
        remedy = "a fixed number of buckets may become another fixed number; else " + NEW_TABLE
        raise _refused("LB4018", key, options, value, remedy=remedy)


def _check_deletion_vectors(options: Mapping[str, str], key: str, value: str | None) -> None:
    new = value is not None and value.lower() == "true"
    if flag(options, key) != new and not flag(options, "deletion-vectors.modifiable"):
        remedy = "set deletion-vectors.modifiable to true and compact the table fully"
        raise _refused("LB4016", key, options, value, remedy=remedy)


def _check_one_way(options: Mapping[str, str], key: str, value: str | None) -> None:
    if flag(options, key) and (value is None or value.lower() != "true"):
        raise _refused("LB4016", key, options, value, remedy=NEW_TABLE)


def _check_directory_names(options: Mapping[str, str], key: str, value: str | None) -> None:
    """Readers make the paths of stored files from the present value; under another one they do not find them."""
    default = _DIRECTORY_NAMES[key]
    old, new = options.get(key, default), default if value is None else value
    if default == "true":
        old, new = (str(text.strip().lower() != "false") for text in (old, new))
    if old != new:
        raise _refused("LB4016", key, options, value, remedy=NEW_TABLE)


def _check_clustering(options: Mapping[str, str], key: str, value: str | None) -> None:
    if "pk-clustering-override" in options:
        raise _refused("LB4016", key, options, value, remedy=NEW_TABLE)


_GUARDS: dict[str, Callable[[Mapping[str, str], str, str | None], None]] = {
    "bucket": _check_bucket,
    "deletion-vectors.enabled": _check_deletion_vectors,
    "clustering.columns": _check_clustering,
    **dict.fromkeys(_DIRECTORY_NAMES, _check_directory_names),
    **dict.fromkeys(_ONE_WAY, _check_one_way),
}
_GUARDED = IMMUTABLE | _GUARDS.keys()


def _refused(
    code: str, key: str, options: Mapping[str, str], value: str | None, when: str = _WITH_DATA, **parts: Any
) -> ValidationError:
    old = options.get(key)
    what = "cannot be removed" if value is None else f"cannot become {value!r}"
    return problem(code, f"option {key} {what}{when}", path=key, found=old, **parts)
