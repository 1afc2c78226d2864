"""Read and write CHAR(n) and VARCHAR(n) in the metadata of Spark's string columns.

Spark writes the whole type of the column, `array<struct<code:char(2),note:string>>`, under
`__CHAR_VARCHAR_TYPE_STRING`, and takes it along wherever the column goes, so that a member of a struct may have one of
its own. The names in that text are not quoted; it is read along the type that it describes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyspark.sql import types as spark_types

from lakebed.convert.loss import Loss
from lakebed.convert.spark_tree import outer_structs
from lakebed.errors import ConversionError
from lakebed.physical import MAX_LENGTH, DataType, path_text
from lakebed.physical import paimon_types as physical

LENGTHS_KEY = "__CHAR_VARCHAR_TYPE_STRING"
_SIZED = re.compile(r"(char|varchar)\(([0-9]{1,10})\)", re.IGNORECASE)

_Path = tuple[str, ...]


def with_lengths(field: spark_types.StructField, path: _Path) -> spark_types.DataType:
    """The type of a column with the CHAR and VARCHAR that its own metadata says; members are not looked into.

    Raises `ConversionError` (LB2111) where the metadata says another type than the column has.
    """
    text = (field.metadata or {}).get(LENGTHS_KEY)
    if text is None:
        return field.dataType
    reader = _Reader(str(text))
    found = reader.type(field.dataType)
    if found is None or not reader.at_end:
        has = field.dataType.simpleString()
        raise ConversionError.of(
            "LB2111",
            f"the metadata {LENGTHS_KEY!r} of the column {field.name!r} says {text}, which is not stored as {has}",
            path=path_text(path),
            expected=str(text),
            found=has,
            remedy=f"drop {LENGTHS_KEY!r} from the column's metadata, or cast the column back",
        )
    return found


class _Reader:
    """Reads a type's text along the type as Spark stores it; None where they differ."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    @property
    def at_end(self) -> bool:
        return self._at == len(self._text)

    def type(self, type_: spark_types.DataType) -> spark_types.DataType | None:
        match type_:
            case spark_types.ArrayType():
                return self._array(type_)
            case spark_types.MapType():
                return self._map(type_)
            case spark_types.StructType():
                return self._struct(type_)
            case spark_types.StringType() | spark_types.CharType() | spark_types.VarcharType():
                return self._text_type(type_)
            case _:
                return type_ if self._take(type_.simpleString()) else None

    def _text_type(self, type_: spark_types.DataType) -> spark_types.DataType | None:
        sized = _SIZED.match(self._text, self._at)
        if sized is None:
            return type_ if self._take(type_.simpleString()) else None
        length = int(sized[2])
        if not 1 <= length <= MAX_LENGTH:
            return None
        self._at = sized.end()
        return spark_types.CharType(length) if sized[1].lower() == "char" else spark_types.VarcharType(length)

    def _array(self, type_: spark_types.ArrayType) -> spark_types.DataType | None:
        element = self.type(type_.elementType) if self._take("array<") else None
        if element is None or not self._take(">"):
            return None
        return spark_types.ArrayType(element, type_.containsNull)

    def _map(self, type_: spark_types.MapType) -> spark_types.DataType | None:
        key = self.type(type_.keyType) if self._take("map<") else None
        value = self.type(type_.valueType) if key is not None and self._take(",") else None
        if key is None or value is None or not self._take(">"):
            return None
        return spark_types.MapType(key, value, type_.valueContainsNull)

    def _struct(self, type_: spark_types.StructType) -> spark_types.DataType | None:
        if not self._take("struct<"):
            return None
        members: list[spark_types.StructField] = []
        for member in type_.fields:
            if members and not self._take(","):
                return None
            found = self.type(member.dataType) if self._take_name(member.name) else None
            if found is None:
                return None
            members.append(spark_types.StructField(member.name, found, member.nullable, member.metadata))
        return spark_types.StructType(members) if self._take(">") else None

    def _take_name(self, name: str) -> bool:
        quoted = "`" + name.replace("`", "``") + "`"
        return self._take(f"{name}:", exact=True) or self._take(f"{quoted}:", exact=True)

    def _take(self, wanted: str, *, exact: bool = False) -> bool:
        part = self._text[self._at : self._at + len(wanted)]
        found = part == wanted or (not exact and part.lower() == wanted)
        self._at += len(wanted) * found
        return found


def lengths_text(type_: DataType, stored: spark_types.DataType) -> str | None:
    """What Spark would keep of a Paimon type whose Spark type is `stored`; None where there is no CHAR or VARCHAR."""
    text = _text(type_, stored)
    return None if text == stored.simpleString() else text


def _text(type_: DataType, stored: spark_types.DataType) -> str:
    match type_, stored:
        case physical.Char(), _:
            return f"char({type_.length})"
        case physical.VarChar(), _ if type_.length != MAX_LENGTH:
            return f"varchar({type_.length})"
        case physical.Array(), spark_types.ArrayType():
            return f"array<{_text(type_.element, stored.elementType)}>"
        case physical.Map(), spark_types.MapType():
            return f"map<{_text(type_.key, stored.keyType)},{_text(type_.value, stored.valueType)}>"
        case physical.Multiset(), spark_types.MapType():
            return f"map<{_text(type_.element, stored.keyType)},{stored.valueType.simpleString()}>"
        case physical.Row(), spark_types.StructType():
            pairs = zip(type_.fields, stored.fields, strict=True)
            return f"struct<{','.join(f'{f.name}:{_text(f.type, s.dataType)}' for f, s in pairs)}>"
        case _:
            return stored.simpleString()


def unread_metadata(struct: spark_types.StructType, read: frozenset[str], path: _Path = ()) -> Iterator[Loss]:
    """What the metadata of columns and members says under other keys than those that are `read`."""
    for field in struct.fields:
        where = (*path, field.name)
        unknown = sorted(set(field.metadata or {}) - read)
        if unknown:
            yield Loss(path_text(where), "the metadata " + ", ".join(unknown))
        for part, inner in outer_structs(field.dataType, where):
            yield from unread_metadata(inner, read, part)
