"""Build the checks of all columns from the declared schema, matching source columns to them.

For each declared column there is a value of the type that is written, a condition that says whether it is bad, and an
array of its problems: path, code, what was expected, what was found. They reach into structs (`a.b`), list items
(`tags[2].k`), map keys (`m.keys[0]`) and map values (`m['x']`); names that need it are in backticks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lakebed.catalog.node import Node
from lakebed.convert.scan_types import scan_type
from lakebed.diagnostics import Diagnostic
from lakebed.evolve.former_names import FormerNames
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
from lakebed.ingest.columns.column_names import Names, UnknownColumns, missing_column, unknown_column
from lakebed.ingest.columns.declared_bounds import bad_declared_values, bound_rules
from lakebed.ingest.columns.expected_text import expected_text
from lakebed.ingest.columns.extended_types import extended_type_rules
from lakebed.ingest.columns.times import moment_converter
from lakebed.ingest.columns.unknown_values import UnknownValues, of_keys, of_members
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
from lakebed.model import types as logical
from lakebed.model.extra import ENUM, PATTERN
from lakebed.physical import paimon_types as physical
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import KEY, VALUE
from lakebed.spark.bind_value import bind_value
from lakebed.spark.clocks import instant_to_wall

NOT_IN_ENUM = "LB6206"
NO_MATCH = "LB6207"

UNFIT_TYPE = "LB6110"

_Path = tuple[str, ...]


@dataclass(slots=True)
class CheckBuilder:
    """Builds checkers and collects why a source cannot be ingested at all, before any row is read.

    `ignored` are the columns of the source that are left out, since the table does not have them.
    """

    rules: Rules
    unknown: UnknownColumns
    problems: list[Diagnostic] = field(default_factory=list)
    former: Callable[[], FormerNames] = dict
    ignored: list[str] = field(default_factory=list)

    def checker(self, node: Node, source: SourceType) -> Checker | None:
        """The checker of a place that is read from `source`; None, and a problem noted, where that never works."""
        if source == Plain(spark.NullType()):
            null = F.lit(None).cast(scan_type(node.stored))
            return NullChecker(replace(self._presence(node, source), missing=lambda _: F.lit(True)), null)
        nested = isinstance(node.stored, (physical.Row, physical.Array, physical.Map, physical.Multiset))
        if not nested:
            return self._flat(node, source)
        if isinstance(source, JsonText) or is_text(source):
            inner = self._nested(node, Json())
            with_parsed = _with_json if isinstance(source, JsonText) else self._parsing(node)
            return None if inner is None else ParsedChecker(self._presence(node, source), inner, with_parsed)
        return self._nested(node, source)

    def by(self, rules: Rules) -> CheckBuilder:
        """A builder by other rules, which collects in the same places."""
        return replace(self, rules=rules, former=dict)

    def _parsing(self, node: Node) -> Callable[[Column, Callable[[Column], Column]], Column]:
        """For texts that have not been parsed in a step before."""
        point = self.rules.formats.decimal
        return lambda x, use: bind_value(parse_exactly(x, node.stored, point=point), use)

    def _nested(self, node: Node, source: SourceType) -> Checker | None:
        match node.stored, source:
            case physical.Row(), Members() | Json():
                return self._struct(node, node.stored, source)
            case physical.Array(), Items() | Json():
                return self._list(node, source)
            case physical.Map() | physical.Multiset(), Entries() | Json():
                return self._map(node, source)
            case _:
                self._unfit(node, source)
                return None

    def _unfit(self, node: Node, source: SourceType) -> None:
        self.note_unfit(node, f"a {describe(source)}")

    def note_unfit(self, node: Node, found: str) -> None:
        """Note that what the source has for a column, in words, never becomes what is declared."""
        expected = expected_text(node.meant, node.extra)
        self.problems.append(
            Diagnostic(
                UNFIT_TYPE,
                f"column {path_text(node.path)}: {found} of the source cannot become {expected}",
                path=path_text(node.path),
                expected=expected,
                found=found.removeprefix("a "),
                remedy="cast the column in the source, or declare another type",
            )
        )

    def _presence(self, node: Node, source: SourceType) -> Presence:
        is_json = isinstance(source, Json)
        return Presence(
            nullable=node.nullable,
            expected=expected_text(node.meant, node.extra),
            missing=json_values.is_missing if is_json else lambda x: x.isNull(),
            shown=self.shown(source),
        )

    def shown(self, source: SourceType) -> Callable[[Column], Column]:
        """What makes a text of a value of the source, as problems show it."""
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

    def _flat(self, node: Node, source: SourceType) -> Checker | None:
        if isinstance(source, Json):
            # What a JSON value is as text is what is converted, and what problems show.
            converter = self._converter(node, Text(base64=True), source)
            if converter is None:
                return None
            make = converter
            formats = self.rules.formats
            if formats.has_usual_numbers or not isinstance(node.stored, NUMBERS):
                return self._flat_checker(node, source, lambda x: make(json_values.text_of(x)))

            def convert(x: Column) -> Conversion:
                is_number = F.schema_of_variant(x) != "STRING"
                return make(number_as_written(json_values.text_of(x), is_number, formats))

            return self._flat_checker(node, source, convert)
        converter = self._converter(node, source, source)
        return None if converter is None else self._flat_checker(node, source, converter)

    def _converter(self, node: Node, source: SourceType, shown: SourceType) -> Converter | None:
        target = Target(node.stored, node.own)
        found = moment_converter(source, target, self.rules) or value_converter(source, target, self.rules)
        if found is None:
            self._unfit(node, shown)
        return found

    def _flat_checker(self, node: Node, source: SourceType, convert: Converter) -> FlatChecker:
        return FlatChecker(self._presence(node, source), convert, self._value_rules(node))

    def _value_rules(self, node: Node) -> Callable[[Column], tuple[tuple[Fault, str], ...]]:
        """The rules that attributes of the column add: `lakebed.dev/enum`, `pattern`, `minimum`, `maximum`, extended
        types.
        """
        listed, pattern = node.extra.get(ENUM), node.extra.get(PATTERN)
        makers: list[Callable[[Column], tuple[Fault, str]]] = []
        wrong = [d for d in bad_declared_values(node) if d not in self.problems]
        self.problems += wrong
        usual = self.by(replace(self.rules, formats=TextFormats()))

        def value_of(text: str) -> Column:
            convert = usual._converter(node, Text(base64=True), Text()) or _as_it_is
            return convert(F.lit(text)).value

        if isinstance(listed, list):
            texts = [_literal_text(item) for item in listed if item is not None]
            allowed = [value_of(text) for text in texts]
            expected = "one of " + ", ".join(texts)
            # A text that is no value of the column equals none of them.
            makers.append(lambda v: (Fault(NOT_IN_ENUM, ~F.coalesce(v.isin(*allowed), F.lit(False))), expected))
        if isinstance(pattern, str):
            whole = rf"^(?:{pattern})\z"
            makers.append(lambda v: (Fault(NO_MATCH, ~v.rlike(whole)), f"text that matches {pattern}"))
        if not wrong:
            makers.extend(bound_rules(node, value_of))
        makers.extend(extended_type_rules(node.extra, node.meant))
        return lambda v: tuple(make(v) for make in makers)

    def _struct(self, node: Node, stored: physical.Row, source: Members | Json) -> Checker | None:
        names = [f.name for f in stored.fields]
        made = [self._member(inner, source, names) for inner in node.children()]
        if isinstance(source, Members):
            self.note_unknown([n for n, _ in source.fields], names, node.path)
        right = json_values.entries_of if isinstance(source, Json) else None
        return StructChecker(
            self._presence(node, source),
            tuple(made),
            (lambda x: right(x).isNotNull()) if right is not None else lambda _: F.lit(True),
            self._unknown_values(source, names),
        )

    def _unknown_values(self, source: Members | Json, declared: Sequence[str]) -> UnknownValues | None:
        """The values of a struct for names that are not declared, where they make a row bad."""
        if self.unknown is not UnknownColumns.QUARANTINE:
            return None
        if isinstance(source, Json):
            return of_keys(declared)
        unknown = [(name, type_) for name, type_ in source.fields if name not in declared]
        return of_members([(name, self.shown(type_)) for name, type_ in unknown]) if unknown else None

    def _member(self, node: Node, source: Members | Json, declared: Sequence[str]) -> Member:
        name = node.path[-1]
        null = F.lit(None).cast(scan_type(node.stored))
        if isinstance(source, Json):
            return Member(name, self.checker(node, Json()), lambda x: json_values.child(x, name), null)
        type_ = source.get(name)
        if type_ is None:
            if not node.nullable:
                self.note_missing(node, [n for n, _ in source.fields], declared)
            return Member(name, None, None, null)
        return Member(name, self.checker(node, type_), lambda x: x.getField(name), null)

    def _list(self, node: Node, source: Items | Json) -> Checker | None:
        (inner,) = node.children()
        length = node.own.fixed_length if isinstance(node.own, logical.List) else None
        item = self.checker(inner, Json() if isinstance(source, Json) else source.item)
        if item is None:
            return None
        items = json_values.items_of if isinstance(source, Json) else _as_column
        return ListChecker(self._presence(node, source), item, items, length)

    def _map(self, node: Node, source: Entries | Json) -> Checker | None:
        held, *values = node.children()
        is_json = isinstance(source, Json)
        key_source = Text(base64=True) if isinstance(source, Json) else source.key
        key_node = replace(held, stored=physical.with_nullability(held.stored, False), path=(*node.path, KEY))
        key = self.checker(key_node, key_source)
        times = Node((*node.path, VALUE), physical.Int(nullable=False), logical.Int32())
        value = self.checker(values[0] if values else times, Json() if isinstance(source, Json) else source.value)
        if key is None or value is None:
            return None
        same = is_text(key_source) and physical.with_nullability(held.stored, True) == physical.STRING
        entries = json_values.entries_of if is_json else _as_column
        return MapChecker(self._presence(node, source), key, value, entries, same)

    def note_missing(self, node: Node, found: Sequence[str], declared: Sequence[str], where: str = "") -> None:
        """Note a required column that the source does not have; `declared` are the columns beside it in the table."""
        expected = expected_text(node.meant, node.extra)
        self.problems.append(missing_column(node.path, expected, Names(found, declared, where)))

    def note_unknown(
        self,
        found: Sequence[str],
        declared: Sequence[str],
        path: _Path = (),
        where: str = "",
        folders: Collection[str] = (),
    ) -> None:
        """Note the names of the source, at one level, that are not declared; `folders` are those that folders say."""
        names = Names(found, declared, where, folders)
        for name in () if self.unknown is UnknownColumns.QUARANTINE else names.unknown:
            text, former = path_text((*path, name)), self.former().get((*path, name), ())
            told = tuple(unknown_column(text, name, names, former, ignore=self.unknown is UnknownColumns.IGNORE))
            self.problems += told
            if not told and text not in self.ignored:
                self.ignored.append(text)


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
