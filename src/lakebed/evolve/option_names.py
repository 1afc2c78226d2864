"""Options that name columns, and how they follow a rename or a drop.

Three shapes: a comma list of columns as the value, a column (or a comma list of columns) inside the key, and both. Java
follows only some of them and takes the first step of a nested path for a column; here every option that is known to
name a column follows, and a nested rename touches only `fields.<c>.nested-key`, whose value names struct members.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from lakebed.evolve.changes import ELEMENT, Path
from lakebed.physical.types import Array, Blob, DataField, DataType, Map, Vector

BLOB_LISTS = ("blob-field", "blob-descriptor-field", "blob-view-field", "blob.stored-descriptor-fields")
VECTOR_LIST = "vector-field"

#: Options whose value is a column or a comma list of columns.
_LISTS = frozenset(
    {
        "bucket-key",
        "sequence.field",
        "clustering.columns",
        "sink.clustering.by-columns",
        "rowkind.field",
        "record-level.time-field",
        "upsert-key",
        "mosaic.stats-columns",
        "video-frame-field",
        VECTOR_LIST,
        *BLOB_LISTS,
    }
)
_LIST_PATTERN = re.compile(r"pk-[a-z-]+\.index\.columns|global-index\.[^.]+\.index-columns?|file-index\.[^.]+\.columns")
_PK_INDEX_PATTERN = re.compile(r"pk-[a-z-]+\.index\.columns")
#: Options with the column inside the key, right after one of these prefixes.
_KEY_PREFIX = re.compile(r"(fields\.|field\.|file-index\.[^.]+\.)(.+)", re.DOTALL)
_SEQUENCE_GROUP = ".sequence-group"
_NESTED_KEY = ".nested-key"


def is_column_list(key: str) -> bool:
    """Whether the value of option `key` is a column or a comma list of columns."""
    return key in _LISTS or bool(_LIST_PATTERN.fullmatch(key))


def primary_key_index_columns(options: Mapping[str, str]) -> frozenset[str]:
    """The columns that a primary-key index is declared on."""
    lists = (v for k, v in options.items() if _PK_INDEX_PATTERN.fullmatch(k))
    return frozenset(part.strip() for value in lists for part in value.split(","))


def follow_rename(options: Mapping[str, str], path: Path, new_name: str, columns: Iterable[str]) -> dict[str, str]:
    """The options after the column at `path` got another name; `columns` are the top-level names before."""
    if len(path) == 1:
        names = tuple(columns)
        return dict(_rename_column(k, v, path[0], new_name, names) for k, v in options.items())
    key = f"fields.{path[0]}{_NESTED_KEY}"
    if len(path) == 3 and path[1] == ELEMENT and key in options:
        return {**options, key: _in_list(options[key], path[2], new_name)}
    return dict(options)


def follow_drop(options: Mapping[str, str], field: DataField) -> dict[str, str]:
    """The options after a top-level column went: what only directives and map storage put there goes with it."""
    out = dict(options)
    lists: tuple[str, ...] = ()
    if is_blob(field.type):
        lists = BLOB_LISTS
    elif isinstance(field.type, Vector):
        lists = (VECTOR_LIST,)
        out.pop(f"field.{field.name}.vector-dim", None)
    for key in lists:
        if key in out:
            left = [p.strip() for p in out[key].split(",") if p.strip() not in ("", field.name)]
            out[key] = ",".join(left)
            if not left:
                del out[key]
    if isinstance(field.type, Map):
        layout = f"fields.{field.name}.map."
        out = {k: v for k, v in out.items() if not k.startswith(layout)}
    return out


def is_blob(type_: DataType) -> bool:
    """BLOB, ARRAY<BLOB> or MAP<_, BLOB>."""
    match type_:
        case Array(element=Blob()) | Map(value=Blob()) | Blob():
            return True
        case _:
            return False


def _rename_column(key: str, value: str, old: str, new: str, columns: tuple[str, ...]) -> tuple[str, str]:
    if is_column_list(key):
        return key, _in_list(value, old, new)
    match = _KEY_PREFIX.fullmatch(key)
    if match is None:
        return key, value
    prefix, rest = match.groups()
    if prefix == "fields." and rest.endswith(_SEQUENCE_GROUP):
        names = rest.removesuffix(_SEQUENCE_GROUP)
        return f"{prefix}{_in_list(names, old, new)}{_SEQUENCE_GROUP}", _in_list(value, old, new)
    if _owner(rest, columns) == old:
        return prefix + new + rest[len(old) :], value
    return key, value


def _owner(rest: str, columns: tuple[str, ...]) -> str | None:
    """The column that `<column>.<option>` is about: the longest name that fits, for names may hold dots."""
    return max((c for c in columns if rest.startswith(c + ".")), key=len, default=None)


def _in_list(text: str, old: str, new: str) -> str:
    return ",".join(_renamed_item(item, old, new) for item in text.split(","))


def _renamed_item(item: str, old: str, new: str) -> str:
    """One item of a list, blanks around it and a map key after it (`m[key]`) kept."""
    name = item.strip()
    if name == old:
        return item.replace(old, new, 1)
    if name.startswith(old + "[") and name.endswith("]"):
        return item.replace(old + "[", new + "[", 1)
    return item
