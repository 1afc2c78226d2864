"""Define the types of source values before they are converted, as a closed union.

Text files say nothing about types (`Text`), JSON values are read as VARIANT (`Json`), Parquet files and DataFrames have
types of their own (`Plain` and the nested ones). Two of Parquet's are kept apart because Spark reads them as plain
integers: times of day (`Clock`), and timestamps in nanoseconds or milliseconds (`Ticks`). A text that holds JSON is
parsed before it is checked (`JsonText`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pyspark.sql import types as spark

from lakebed.convert.spark_tree import fold
from lakebed.physical.paimon_types import DataType


@dataclass(frozen=True, slots=True)
class Text:
    """A value as text. `base64` says how bytes are written: in base64 as in JSON, or else as their UTF-8 text."""

    base64: bool = False


@dataclass(frozen=True, slots=True)
class Json:
    """A VARIANT that holds any JSON value."""


@dataclass(frozen=True, slots=True)
class JsonText:
    """A struct of a `text` and of `json`, the VARIANT of it, NULL where it is no JSON; it becomes the `stored` type."""

    stored: DataType


@dataclass(frozen=True, slots=True)
class Plain:
    """A flat Spark type."""

    type: spark.DataType


@dataclass(frozen=True, slots=True)
class Clock:
    """An integer that counts units of 10^-digits seconds since midnight."""

    digits: int


@dataclass(frozen=True, slots=True)
class Ticks:
    """A bigint that counts units of 10^-digits seconds since 1970; an instant if `zoned`, else a wall clock."""

    digits: int
    zoned: bool


@dataclass(frozen=True, slots=True)
class Items:
    """An array."""

    item: SourceType


@dataclass(frozen=True, slots=True)
class Entries:
    """A map."""

    key: SourceType
    value: SourceType


@dataclass(frozen=True, slots=True)
class Members:
    """A struct."""

    fields: tuple[tuple[str, SourceType], ...]

    def get(self, name: str) -> SourceType | None:
        """The type of the member of exactly this name."""
        return next((t for n, t in self.fields if n == name), None)


SourceType: TypeAlias = Text | Json | JsonText | Plain | Clock | Ticks | Items | Entries | Members


def from_spark(type_: spark.DataType) -> SourceType:
    """The source type of a DataFrame's column."""
    return fold(type_, _of_parts)


def _of_parts(type_: spark.DataType, inner: tuple[SourceType, ...]) -> SourceType:
    match type_:
        case spark.ArrayType():
            return Items(inner[0])
        case spark.MapType():
            return Entries(inner[0], inner[1])
        case spark.StructType():
            return Members(tuple(zip(type_.names, inner, strict=True)))
        case spark.VariantType():
            return Json()
        case _:
            return Plain(type_)


def describe(type_: SourceType) -> str:
    """The type in words for messages."""
    match type_:
        case Text() | JsonText():
            return "text"
        case Json():
            return "JSON"
        case Plain():
            return type_.type.simpleString()
        case Clock():
            return f"time({type_.digits})"
        case Ticks():
            return f"timestamp({type_.digits})"
        case Items():
            return f"array<{describe(type_.item)}>"
        case Entries():
            return f"map<{describe(type_.key)},{describe(type_.value)}>"
        case Members():
            return "struct<" + ",".join(f"{n}:{describe(t)}" for n, t in type_.fields) + ">"
