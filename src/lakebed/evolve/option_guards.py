"""Check which options may change when (Paimon `SchemaManager`, "immutable options")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lakebed.catalog.option_rules import wrong_value
from lakebed.catalog.option_values import default_of, is_flagged, parse_boolean, word
from lakebed.catalog.options import (
    BUCKET,
    CLUSTERING_COLUMNS,
    DELETION_VECTORS_ENABLED,
    DELETION_VECTORS_MODIFIABLE,
    IGNORE_DELETE,
    IGNORE_UPDATE_BEFORE,
    IMMUTABLE,
    PARTITION_DEFAULT_NAME,
    PARTITION_LEGACY_NAME,
    PATH,
    PK_CLUSTERING_OVERRIDE,
    TYPE,
)
from lakebed.errors import ValidationError
from lakebed.evolve.schema_changes import problem

#: What directories of partitions are called, and how it is written.
_DIRECTORY_NAMES = (PARTITION_DEFAULT_NAME, PARTITION_LEGACY_NAME)
_WITH_DATA = " once the table holds data"
NEW_TABLE = "make a new table with the wanted definition and copy the rows"


def check_change(options: Mapping[str, str], key: str, value: str | None, has_snapshots: Callable[[], bool]) -> None:
    """Raise `ValidationError` when option `key` may not become `value` (None: removed). `value` differs from before."""
    if key == TYPE:
        if value is None or value.lower() != word(options, key):
            raise _refused("LB4017", key, options, value, "", remedy=NEW_TABLE)
        return
    if key == PATH:
        raise _refused("LB4017", key, options, value, "", remedy="a table stays where it is")
    if key not in _GUARDED or not has_snapshots() or _is_unreadable(options, key):
        return
    if key in IMMUTABLE:
        raise _refused("LB4016", key, options, value, remedy=NEW_TABLE)
    _GUARDS[key](options, key, value)


def _is_unreadable(options: Mapping[str, str], key: str) -> bool:
    """Whether the stored text is no value of the option: nobody reads rows under it, and it has to be put right."""
    return key in options and wrong_value(key, options[key]) is not None


def _check_bucket(options: Mapping[str, str], key: str, value: str | None) -> None:
    old = options.get(key, default_of(key) or "")
    if value is not None and value.strip() == old.strip():
        return
    if value is None or old.strip() == "-1" or value.strip() == "-1":
        remedy = "a fixed number of buckets may become another fixed number; else " + NEW_TABLE
        raise _refused("LB4018", key, options, value, remedy=remedy)


def _check_deletion_vectors(options: Mapping[str, str], key: str, value: str | None) -> None:
    new = value is not None and parse_boolean(value)
    if is_flagged(options, key) != new and not is_flagged(options, DELETION_VECTORS_MODIFIABLE):
        remedy = "set deletion-vectors.modifiable to true and compact the table fully"
        raise _refused("LB4016", key, options, value, remedy=remedy)


def _check_one_way(options: Mapping[str, str], key: str, value: str | None) -> None:
    if is_flagged(options, key) and (value is None or not parse_boolean(value)):
        raise _refused("LB4016", key, options, value, remedy=NEW_TABLE)


def _check_directory_names(options: Mapping[str, str], key: str, value: str | None) -> None:
    """Readers make the paths of stored files from the present value; under another one they do not find them."""
    default = default_of(key) or ""
    old, new = options.get(key, default), default if value is None else value
    if key == PARTITION_LEGACY_NAME:
        old, new = old.lower(), new.lower()
    if old != new:
        raise _refused("LB4016", key, options, value, remedy=NEW_TABLE)


def _check_clustering(options: Mapping[str, str], key: str, value: str | None) -> None:
    if PK_CLUSTERING_OVERRIDE in options:
        raise _refused("LB4016", key, options, value, remedy=NEW_TABLE)


_GUARDS: dict[str, Callable[[Mapping[str, str], str, str | None], None]] = {
    BUCKET: _check_bucket,
    DELETION_VECTORS_ENABLED: _check_deletion_vectors,
    CLUSTERING_COLUMNS: _check_clustering,
    **dict.fromkeys(_DIRECTORY_NAMES, _check_directory_names),
    **dict.fromkeys((IGNORE_DELETE, IGNORE_UPDATE_BEFORE), _check_one_way),
}
_GUARDED = IMMUTABLE | _GUARDS.keys()


def _refused(
    code: str, key: str, options: Mapping[str, str], value: str | None, when: str = _WITH_DATA, **parts: Any
) -> ValidationError:
    old = options.get(key)
    what = "cannot be removed" if value is None else f"cannot become {value!r}"
    return problem(code, f"option {key} {what}{when}", path=key, found=old, **parts)
