"""Rename columns inside options that name them, after a rename or a drop.

The shapes: a comma list of columns as the value, a column (or a comma list of columns) inside the key, both, a column
path behind a `#` in the key (Parquet's settings of single columns), and the JSON of a ROW whose fields are columns
(shredding of VARIANT). Java follows only some of them and takes the first step of a nested path for a column; here
every option that is known to name a column follows, and a nested rename touches only what names members of structs:
`fields.<c>.nested-key`, `fields.<c>.nested-sequence-field`, and paths behind a `#`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from lakebed.catalog.options import (
    BLOB_LISTS,
    OPTIONS,
    PARQUET_VARIANT_SHREDDING_SCHEMA,
    VARIANT_SHREDDING_SCHEMA,
    VECTOR_FIELD,
)
from lakebed.evolve.schema_changes import ELEMENT, VALUE, Path
from lakebed.physical.paimon_types import Array, Blob, DataField, DataType, Map, Vector

_LIST_PATTERN = re.compile(r"pk-[a-z-]+\.index\.columns|global-index\.[^.]+\.index-columns?|file-index\.[^.]+\.columns")
_PK_INDEX_PATTERN = re.compile(r"pk-[a-z-]+\.index\.columns")
#: Options with the column inside the key, right after one of these prefixes.
_KEY_PREFIX = re.compile(r"(fields\.|field\.|file-index\.[^.]+\.)(.+)", re.DOTALL)
_SEQUENCE_GROUP = ".sequence-group"
#: Options of a column of structs whose values are comma lists of the structs' members.
_MEMBER_LISTS = (".nested-key", ".nested-sequence-field")
#: A setting of one column of a Parquet file, such as `parquet.bloom.filter.enabled#a.list.element`.
_COLUMN_PATH = re.compile(r"(parquet\.[a-z.-]+#)(.+)", re.DOTALL)
#: What Parquet writes before a step into a list or a map.
_PARQUET_STEPS = {ELEMENT: "list", VALUE: "key_value"}
_SHREDDING = frozenset({VARIANT_SHREDDING_SCHEMA, PARQUET_VARIANT_SHREDDING_SCHEMA})


def is_column_list(key: str) -> bool:
    """Whether the value of option `key` is a column or a comma list of columns."""
    option = OPTIONS.get(key)
    return (option is not None and option.names_columns) or bool(_LIST_PATTERN.fullmatch(key))


def primary_key_index_columns(options: Mapping[str, str]) -> frozenset[str]:
    """The columns that a primary-key index is declared on."""
    lists = (v for k, v in options.items() if _PK_INDEX_PATTERN.fullmatch(k))
    return frozenset(part.strip() for value in lists for part in value.split(","))


def follow_rename(options: Mapping[str, str], path: Path, new_name: str, columns: Iterable[str]) -> dict[str, str]:
    """The options after the column at `path` got another name; `columns` are the top-level names before."""
    if len(path) == 1:
        names = tuple(columns)
        return dict(_rename_column(k, v, path[0], new_name, names) for k, v in options.items())
    out = {_in_column_path(k, path, new_name): v for k, v in options.items()}
    if len(path) == 3 and path[1] == ELEMENT:
        for suffix in _MEMBER_LISTS:
            key = f"fields.{path[0]}{suffix}"
            if key in out:
                out[key] = _in_list(out[key], path[2], new_name)
    return out


def follow_drop(options: Mapping[str, str], field: DataField) -> dict[str, str]:
    """The options after a top-level column went: what only directives and map storage put there goes with it."""
    out = dict(options)
    lists: tuple[str, ...] = ()
    if is_blob(field.type):
        lists = BLOB_LISTS
    elif isinstance(field.type, Vector):
        lists = (VECTOR_FIELD,)
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
    if key in _SHREDDING:
        return key, _in_shredding(value, old, new)
    match = _KEY_PREFIX.fullmatch(key)
    if match is None:
        return _in_column_path(key, (old,), new), value
    prefix, rest = match.groups()
    if prefix == "fields." and rest.endswith(_SEQUENCE_GROUP):
        names = rest.removesuffix(_SEQUENCE_GROUP)
        return f"{prefix}{_in_list(names, old, new)}{_SEQUENCE_GROUP}", _in_list(value, old, new)
    if _owner(rest, columns) == old:
        return prefix + new + rest[len(old) :], value
    return key, value


def _in_column_path(key: str, path: Path, new_name: str) -> str:
    """The key with the step of a path behind its `#` renamed. Parquet writes a step into a list as `list.element`."""
    match = _COLUMN_PATH.fullmatch(key)
    if match is None:
        return key
    steps = match[2].split(".")
    at = 0
    for number, name in enumerate(path):
        if number and steps[at : at + 2] == [_PARQUET_STEPS.get(name), name]:
            at += 1
        if at >= len(steps) or steps[at] != name:
            return key
        at += 1
    return match[1] + ".".join([*steps[: at - 1], new_name, *steps[at:]])


def _in_shredding(text: str, old: str, new: str) -> str:
    """The JSON of a ROW with the field `old` renamed; text that is no such JSON stays as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    fields = value.get("fields") if isinstance(value, dict) else None
    if not isinstance(fields, list) or not any(isinstance(f, dict) and f.get("name") == old for f in fields):
        return text
    renamed = [{**f, "name": new} if isinstance(f, dict) and f.get("name") == old else f for f in fields]
    return json.dumps({**value, "fields": renamed}, ensure_ascii=False, separators=(",", ":"))


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
