"""Build the paths of partition and bucket directories (Paimon specification, "Data Files").

The text of a path is derived from the partition's values and two table options, never stored: it must be spelled
exactly as the writing engine spelled it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from lakebed.catalog.option_values import is_set
from lakebed.catalog.options import DATA_FILE_PATH_DIRECTORY, PARTITION_DEFAULT_NAME, PARTITION_LEGACY_NAME
from lakebed.format.value_text import cast_text, legacy_text, shown_text
from lakebed.physical.paimon_types import DataType

DEFAULT_NAME = "__DEFAULT_PARTITION__"
#: The bucket number of data that a postponed-bucket table has not distributed yet.
POSTPONED = -2

_ESCAPED = re.compile("[\x00-\x1f\x7f\"#%'*/:=?\\\\{}\\[\\]^]")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
#: What Python counts as space and Java's `isWhitespace` does not.
_NOT_BLANK_IN_JAVA = frozenset("\x85\xa0\u2007\u202f")


def escape(text: str) -> str:
    """`text` as a part of a path: some ASCII characters become `%XX`, all else stays."""
    return _ESCAPED.sub(lambda m: f"%{ord(m[0]):02X}", text)


def unescape(text: str) -> str:
    """What `escape` made of, also where foreign writers escaped other ASCII characters."""
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)), text)


def is_blank(text: str) -> bool:
    """Whether a text is empty or white space by Java's rule."""
    return not text or (text.isspace() and _NOT_BLANK_IN_JAVA.isdisjoint(text))


def value_text(type_: DataType, value: Any, options: Mapping[str, str], *, time_zone: str = "UTC") -> str:
    """A partition value as a directory spells it, unescaped; NULL and blank values have the default name."""
    default = options.get(PARTITION_DEFAULT_NAME, DEFAULT_NAME)
    if value is None:
        return default
    if not is_set(options, PARTITION_LEGACY_NAME):
        text = cast_text(type_, value, time_zone=time_zone)
    else:
        text = legacy_text(type_, value)
    return default if is_blank(text) else text


def partition_path(
    keys: Sequence[str],
    types: Sequence[DataType],
    values: Sequence[Any],
    options: Mapping[str, str],
    *,
    time_zone: str = "UTC",
) -> str:
    """`key=value/...` in the order of `keys`; empty for an unpartitioned table.

    `values` are internal values. `options` are the table's: `partition.legacy-name` chooses the spelling,
    `partition.default-name` the name for NULL. `time_zone` matters for instants without legacy names only.
    Raises UnsupportedError where a value has no text.
    """
    return "/".join(
        f"{escape(k)}={escape(value_text(t, v, options, time_zone=time_zone))}"
        for k, t, v in zip(keys, types, values, strict=True)
    )


def partition_text(
    keys: Sequence[str],
    types: Sequence[DataType],
    values: Sequence[Any],
    options: Mapping[str, str],
    *,
    time_zone: str = "UTC",
) -> str:
    """`key=value/...` for people: values as a cast to STRING gives them, nothing escaped, NULL as in directories."""
    default = options.get(PARTITION_DEFAULT_NAME, DEFAULT_NAME)
    texts = (
        default if v is None else shown_text(t, v, time_zone=time_zone) for t, v in zip(types, values, strict=True)
    )
    return "/".join(f"{key}={text}" for key, text in zip(keys, texts, strict=True))


def bucket_directory(bucket: int) -> str:
    """The directory of a bucket below its partition."""
    return "bucket-postpone" if bucket == POSTPONED else f"bucket-{bucket}"


def data_directory(table_path: str, partition: str, bucket: int, options: Mapping[str, str]) -> str:
    """Where the files of a bucket lie; `partition` is a `partition_path`. Branches share the main table's data."""
    below = options.get(DATA_FILE_PATH_DIRECTORY, "").strip("/")
    return "/".join(p for p in (table_path, below, partition, bucket_directory(bucket)) if p)
