"""Build the checks of all columns from the declared schema, matching source columns to them.

For each declared column there is a value of the type that is written, a condition that says whether it is bad, and an
array of its problems: path, code, what was expected, what was found. They reach into structs (`a.b`), list items
(`tags[2].k`), map keys (`m.keys[0]`) and map values (`m['x']`); names that need it are in backticks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lakebed.diagnostics import Diagnostic, near_names
from lakebed.evolve.former_names import FORMER_NAME, FormerNames
from lakebed.ingest.columns.checkers import (
    Checker,
    FlatChecker,
    ListChecker,
    MapChecker,
    Member,
    NullChecker,
    ParsedChecker,
    Presence,
    StructChecker,
)
from lakebed.ingest.columns.expected_text import expected_text
from lakebed.ingest.columns.extended_types import extended_type_rules
from lakebed.ingest.columns.times import moment_converter
from lakebed.ingest.columns.values import (
    NUMBERS,
    Conversion,
    Converter,
    Fault,
    Rules,
    Target,
    TextFormats,
    is_text,
    number_as_written,
    value_converter,
)
from lakebed.ingest.sources import json_values
from lakebed.ingest.sources.json_exact import parse_exactly
from lakebed.ingest.sources.json_texts import only_texts
from lakebed.ingest.sources.source_types import (
    Entries,
    Items,
    Json,
    JsonText,
    Members,
    Plain,
    SourceType,
    Text,
    describe,
)
from lakebed.ingest.write_types import write_type
from lakebed.model import Extra, LogicalType, required
from lakebed.model import types as logical
from lakebed.model.extra import ENUM, PATTERN
from lakebed.physical import DataType, path_text
from lakebed.physical import paimon_types as physical
from lakebed.spark.clocks import instant_to_wall

NOT_IN_ENUM = "LB6206"
NO_MATCH = "LB6207"

UNFIT_TYPE = "LB6110"
MISSING = "LB6111"
UNKNOWN = "LB6112"

_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """One place of the declared schema: how it is stored, what it means, its attributes, and its path."""

    stored: DataType
    meant: LogicalType
    path: _Path
    extra: Extra = Extra()

    @property
    def own(self) -> LogicalType:
        """The meaning without `Option`."""
        return required(self.meant)


@dataclass(slots=True)
class CheckBuilder:
    """Builds checkers and collects why a source cannot be ingested at all, before any row is read."""

    rules: Rules
    ignore_unknown: bool
    problems: list[Diagnostic] = field(default_factory=list)
    former: Callable[[], FormerNames] = dict

    def checker(self, place: Place, source: SourceType) -> Checker | None:
        """The checker of a place that is read from `source`; None, and a problem noted, where that never works."""
        if source == Plain(spark.NullType()):
            null = F.lit(None).cast(write_type(place.stored, self.rules.stamps))
            return NullChecker(replace(self._presence(place, source), missing=lambda _: F.lit(True)), null)
        nested = isinstance(place.stored, (physical.Row, physical.Array, physical.Map, physical.Multiset))
        if not nested:
            return self._flat(place, source)
        if isinstance(source, JsonText) or is_text(source):
            inner = self._nested(place, Json())
            with_parsed = _with_json if isinstance(source, JsonText) else self._parsing(place)
            return None if inner is None else ParsedChecker(self._presence(place, source), inner, with_parsed)
        return self._nested(place, source)

    def _parsing(self, place: Place) -> Callable[[Column, Callable[[Column], Column]], Column]:
        """For texts that have not been parsed in a step before."""
        point = self.rules.formats.decimal
        return lambda x, use: json_values.bound(parse_exactly(x, place.stored, point=point), use)

    def _nested(self, place: Place, source: SourceType) -> Checker | None:
        match place.stored, source:
            case physical.Row(), Members() | Json():
                return self._struct(place, place.stored, source)
            case physical.Array(), Items() | Json():
                return self._list(place, place.stored, source)
            case physical.Map() | physical.Multiset(), Entries() | Json():
                return self._map(place, place.stored, source)
            case _:
                self._unfit(place, source)
                return None

    def _unfit(self, place: Place, source: SourceType) -> None:
        self.note_unfit(place, f"a {describe(source)}")

    def note_unfit(self, place: Place, found: str) -> None:
        """Note that what the source has for a column, in words, never becomes what is declared."""
        expected = expected_text(place.meant, place.extra)
        self.problems.append(
            Diagnostic(
                UNFIT_TYPE,
                f"column {path_text(place.path)}: {found} of the source cannot become {expected}",
                path=path_text(place.path),
                expected=expected,
                found=found.removeprefix("a "),
                remedy="cast the column in the source, or declare another type",
            )
        )

    def _presence(self, place: Place, source: SourceType) -> Presence:
        is_json = isinstance(source, Json)
        return Presence(
            nullable=place.stored.nullable,
            expected=expected_text(place.meant, place.extra),
            missing=json_values.is_missing if is_json else lambda x: x.isNull(),
            shown=self._shown(source),
        )

    def _shown(self, source: SourceType) -> Callable[[Column], Column]:
        zone = self.rules.time_zone
        match source:
            case Json():
                return json_values.text_of
            case JsonText():
                return lambda x: x.getField("text")
            case Items() | Entries() | Members():
                return lambda x: F.to_json(only_texts(x, source), {"timeZone": zone, "ignoreNullFields": "false"})
            case Plain(type=spark.BinaryType()):
                return F.hex
            case Plain(type=spark.TimestampType()):
                return lambda x: instant_to_wall(x, zone).cast("string")
            case _:
                return lambda x: x.try_cast("string")

    def _flat(self, place: Place, source: SourceType) -> Checker | None:
        if isinstance(source, Json):
            # What a JSON value is as text is what is converted, and what problems show.
            converter = self._converter(place, Text(base64=True), source)
            if converter is None:
                return None
            make = converter
            formats = self.rules.formats
            if formats.has_usual_numbers or not isinstance(place.stored, NUMBERS):
                return self._flat_checker(place, source, lambda x: make(json_values.text_of(x)))

            def convert(x: Column) -> Conversion:
                is_number = F.schema_of_variant(x) != "STRING"
                return make(number_as_written(json_values.text_of(x), is_number, formats))

            return self._flat_checker(place, source, convert)
        converter = self._converter(place, source, source)
        return None if converter is None else self._flat_checker(place, source, converter)

    def _converter(self, place: Place, source: SourceType, shown: SourceType) -> Converter | None:
        target = Target(place.stored, place.own)
        found = moment_converter(source, target, self.rules) or value_converter(source, target, self.rules)
        if found is None:
            self._unfit(place, shown)
        return found

    def _flat_checker(self, place: Place, source: SourceType, convert: Converter) -> FlatChecker:
        return FlatChecker(self._presence(place, source), convert, self._value_rules(place))

    def _value_rules(self, place: Place) -> Callable[[Column], tuple[tuple[Fault, str], ...]]:
        """The rules that attributes of the column add: `lakebed.dev/enum`, `lakebed.dev/pattern`, extended types."""
        listed, pattern = place.extra.get(ENUM), place.extra.get(PATTERN)
        makers: list[Callable[[Column], tuple[Fault, str]]] = []
        if isinstance(listed, list):
            usual = CheckBuilder(replace(self.rules, formats=TextFormats()), self.ignore_unknown, self.problems)
            convert = usual._converter(place, Text(base64=True), Text()) or _as_it_is
            texts = [_literal_text(item) for item in listed if item is not None]
            allowed = [convert(F.lit(text)).value for text in texts]
            expected = "one of " + ", ".join(texts)
            makers.append(lambda v: (Fault(NOT_IN_ENUM, ~v.isin(*allowed)), expected))
        if isinstance(pattern, str):
            whole = rf"^(?:{pattern})\z"
            makers.append(lambda v: (Fault(NO_MATCH, ~v.rlike(whole)), f"text that matches {pattern}"))
        makers.extend(extended_type_rules(place.extra, place.meant))
        return lambda v: tuple(make(v) for make in makers)

    def _struct(self, place: Place, stored: physical.Row, source: Members | Json) -> Checker | None:
        declared = place.own
        members = declared.fields if isinstance(declared, logical.Struct) else ()
        made: list[Member] = []
        for column, member in zip(stored.fields, members, strict=True):
            inner = Place(column.type, member.type, (*place.path, column.name), member.extra)
            made.append(self._member(inner, source))
        if isinstance(source, Members):
            self.note_unknown([n for n, _ in source.fields], [f.name for f in stored.fields], place.path)
        right = json_values.entries_of if isinstance(source, Json) else None
        return StructChecker(
            self._presence(place, source),
            tuple(made),
            (lambda x: right(x).isNotNull()) if right is not None else lambda _: F.lit(True),
        )

    def _member(self, place: Place, source: Members | Json) -> Member:
        name = place.path[-1]
        null = F.lit(None).cast(write_type(place.stored, self.rules.stamps))
        if isinstance(source, Json):
            return Member(name, self.checker(place, Json()), lambda x: json_values.child(x, name), null)
        type_ = source.get(name)
        if type_ is None:
            if not place.stored.nullable:
                self.note_missing(place, [n for n, _ in source.fields])
            return Member(name, None, None, null)
        return Member(name, self.checker(place, type_), lambda x: x.getField(name), null)

    def _list(self, place: Place, stored: physical.Array, source: Items | Json) -> Checker | None:
        declared = place.own
        item_type = declared.item_type if isinstance(declared, logical.List) else place.meant
        length = declared.fixed_length if isinstance(declared, logical.List) else None
        inner = Place(stored.element, item_type, (*place.path, "element"))
        item = self.checker(inner, Json() if isinstance(source, Json) else source.item)
        if item is None:
            return None
        items = json_values.items_of if isinstance(source, Json) else _as_column
        return ListChecker(self._presence(place, source), item, items, length)

    def _map(self, place: Place, stored: physical.Map | physical.Multiset, source: Entries | Json) -> Checker | None:
        declared = place.own
        key_meant = declared.key_type if isinstance(declared, logical.Map) else place.meant
        value_meant = declared.value_type if isinstance(declared, logical.Map) else logical.Int32()
        key_stored: DataType = stored.element if isinstance(stored, physical.Multiset) else stored.key
        value_stored: DataType = physical.Int(nullable=False) if isinstance(stored, physical.Multiset) else stored.value
        is_json = isinstance(source, Json)
        key_source = Text(base64=True) if isinstance(source, Json) else source.key
        key_place = Place(physical.with_nullability(key_stored, False), key_meant, (*place.path, "key"))
        key = self.checker(key_place, key_source)
        value_place = Place(value_stored, value_meant, (*place.path, "value"))
        value = self.checker(value_place, Json() if isinstance(source, Json) else source.value)
        if key is None or value is None:
            return None
        same = is_text(key_source) and physical.with_nullability(key_stored, True) == physical.STRING
        entries = json_values.entries_of if is_json else _as_column
        return MapChecker(self._presence(place, source), key, value, entries, same)

    def note_missing(self, place: Place, found: Sequence[str], where: str = "") -> None:
        """Note a required column that the source does not have."""
        self.problems.append(missing_column(place, found, where))

    def note_unknown(self, found: Sequence[str], declared: Sequence[str], path: _Path = (), where: str = "") -> None:
        """Note the names of the source, at one level, that are not declared."""
        for name in found:
            if name not in declared:
                former = self.former().get((*path, name), ())
                self.problems += unknown_column(
                    path_text((*path, name)), name, declared, former, found, where, ignore=self.ignore_unknown
                )


def missing_column(place: Place, found: Sequence[str], where: str = "") -> Diagnostic:
    """A required column that the source does not have; `found` are the columns beside it."""
    name = path_text(place.path)
    return Diagnostic(
        MISSING,
        f"the source{where} has no column {name}, which is required",
        path=name,
        expected=expected_text(place.meant, place.extra),
        found=", ".join(found) or "no columns",
        suggestions=near_names(place.path[-1], found),
        remedy="add the column to the source, or declare it as an Option",
    )


def unknown_column(
    path: str,
    name: str,
    declared: Sequence[str],
    former: Sequence[str],
    beside: Collection[str],
    where: str = "",
    *,
    ignore: bool = False,
) -> Iterator[Diagnostic]:
    """What there is to say of a column of the source that is not declared.

    `former` are the columns that bore its name before, `beside` the names of the source there. `ignore` says that what
    is not declared is left out; not so a column that the source has under a former name only.
    """
    if former and not (ignore and any(other in beside for other in former)):
        named = " and ".join(former)
        yield Diagnostic(
            FORMER_NAME,
            f"the source{where} has a column {path}, as {named} of the table was called before",
            path=path,
            expected=named,
            found=name,
            suggestions=tuple(former),
            remedy=f"call it {named} in the source too; if it is something else, declare it as a column of its own",
        )
    elif not ignore:
        yield Diagnostic(
            UNKNOWN,
            f"the source{where} has a column {path}, which the table does not have",
            path=path,
            suggestions=near_names(name.strip(), declared),
            remedy=_unknown_remedy(name),
        )


def _unknown_remedy(name: str) -> str:
    if name != name.strip():
        return (
            "take the blanks out of the name (for CSV with the reader's options ignoreLeadingWhiteSpace and "
            "ignoreTrailingWhiteSpace), declare it, or ignore unknown columns"
        )
    return "declare it, rename it (names match case-sensitively), or ignore unknown columns"


def _as_column(x: Column) -> Column:
    return x


def _with_json(x: Column, use: Callable[[Column], Column]) -> Column:
    return use(x.getField("json"))


def _as_it_is(x: Column) -> Conversion:
    return Conversion(x, lambda _: ())


def _literal_text(value: Any) -> str:
    """A JSON value of an attribute as the text that a source would have."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
