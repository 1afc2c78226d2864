"""Build Spark expressions that convert and check one column: value, is-bad, problems.

Three shapes: flat values, structs, and lists and maps, whose parts have checkers of their own. `x` below is what the
source has, `v` the value made of it (perhaps as a column that holds it already). Conditions may be NULL, which counts
as false.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.arrow.plain_problems import NOT_CASTABLE, NULL_IN_REQUIRED, OUT_OF_RANGE, SHOWN, WRONG_LENGTH
from lakebed.ingest.columns.values import DIGITS_LOST, Converter, Fault
from lakebed.physical import path_text

SAME_KEY_TWICE = "LB6209"

#: What may be wrong with a value, or with one inside of it.
VALUE_CODES = (
    *(NULL_IN_REQUIRED, NOT_CASTABLE, OUT_OF_RANGE, DIGITS_LOST, WRONG_LENGTH, "LB6206", "LB6207", SAME_KEY_TWICE),
    *("LB6211", "LB6212", "LB6214", "LB1640", "LB1641"),
)
PROBLEM = "struct<path:string,code:string,expected:string,found:string>"
_NOTHING = f"array<{PROBLEM}>"


class Checker(Protocol):
    """One place of the declared schema, and what it is read from."""

    def value(self, x: Column) -> Column:
        """The value that is written; meaningless where it is bad."""
        ...

    def bad(self, x: Column, v: Column) -> Column:
        """Whether anything is wrong here or inside."""
        ...

    def problems(self, x: Column, v: Column, path: Column) -> Column:
        """An array of problems, NULLs among them where there is none; `path` is the text of this place."""
        ...


class Undeclared(Protocol):
    """What a struct of the source holds for names that are not declared."""

    def bad(self, x: Column) -> Column:
        """Whether there is anything."""
        ...

    def problems(self, x: Column, path: Column) -> Column:
        """An array of problems; `path` is the text of the struct's place."""
        ...


def problem(path: Column, code: str, expected: str, found: Column) -> Column:
    """One problem; what was found is cut to `SHOWN` characters."""
    shown = F.when(F.length(found) > F.lit(SHOWN), F.concat(F.substring(found, 1, SHOWN), F.lit("…"))).otherwise(found)
    return F.struct(
        path.alias("path"), F.lit(code).alias("code"), F.lit(expected).alias("expected"), shown.alias("found")
    ).cast(PROBLEM)


def no_problems() -> Column:
    """An empty array of problems."""
    return F.array().cast(_NOTHING)


def any_of(conditions: Sequence[Column]) -> Column:
    """Whether one of the conditions holds; a balanced tree, which Spark walks without deep recursion."""
    if not conditions:
        return F.lit(False)
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return any_of(conditions[:half]) | any_of(conditions[half:])


def _all(parts: Sequence[Column]) -> Column:
    return F.flatten(F.array(*parts)) if parts else no_problems()


@dataclass(frozen=True, slots=True)
class Presence:
    """Whether there is a value, and what to say where there is none but has to be.

    `shown` makes of a source value the text that a problem shows.
    """

    nullable: bool
    expected: str
    missing: Callable[[Column], Column]
    shown: Callable[[Column], Column]

    def bad(self, x: Column) -> Column:
        return F.lit(False) if self.nullable else self.missing(x)

    def problem(self, x: Column, path: Column) -> Column:
        if self.nullable:
            return F.lit(None).cast(PROBLEM)
        return F.when(self.missing(x), problem(path, NULL_IN_REQUIRED, self.expected, F.lit("NULL")))

    def fault(self, fault: Fault, x: Column, path: Column) -> Column:
        return F.when(fault.when, problem(path, fault.code, self.expected, self.shown(x)))


@dataclass(frozen=True, slots=True)
class FlatChecker:
    """A flat value. `rules` are conditions on the value besides its type, each with what it expects."""

    presence: Presence
    convert: Converter
    rules: Callable[[Column], tuple[tuple[Fault, str], ...]]

    @property
    def has_rules(self) -> bool:
        """Whether there are conditions besides the type."""
        return bool(self.rules(F.lit(None)))

    def value(self, x: Column) -> Column:
        return self.convert(x).value

    def bad(self, x: Column, v: Column) -> Column:
        faults = [fault.when for fault, _ in self.faults(x, v)]
        if not faults:
            return self.presence.bad(x)
        return self.presence.bad(x) | (~self.presence.missing(x) & any_of(faults))

    def problems(self, x: Column, v: Column, path: Column) -> Column:
        found = F.when(self.presence.missing(x), self.presence.problem(x, path))
        for fault, expected in self.faults(x, v):
            found = found.when(fault.when, problem(path, fault.code, expected, self.presence.shown(x)))
        return F.array(found.cast(PROBLEM))

    def faults(self, x: Column, v: Column) -> list[tuple[Fault, str]]:
        """What may be wrong, in the order in which it is told, each with what was expected."""
        own = [(fault, self.presence.expected) for fault in self.convert(x).faults(v)]
        return [*own, *self.rules(v)]


def codes_of(checker: Checker) -> tuple[str, ...]:
    """What may be wrong with a value that may be missing, the codes of it."""
    if isinstance(checker, FlatChecker):
        nothing = F.lit(None)
        return tuple(dict.fromkeys(fault.code for fault, _ in checker.faults(nothing, nothing)))
    return VALUE_CODES


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a struct. `get` takes it out of the source's struct; None where the source does not have it."""

    name: str
    checker: Checker | None
    get: Callable[[Column], Column] | None
    null: Column

    def value(self, x: Column) -> Column:
        return self.null if self.checker is None or self.get is None else self.checker.value(self.get(x))


@dataclass(frozen=True, slots=True)
class StructChecker:
    """A struct. `right_shape` says whether a value that is there is a struct at all, `unknown` finds what it holds for
    names that are not declared, where that is bad.
    """

    presence: Presence
    members: tuple[Member, ...]
    right_shape: Callable[[Column], Column]
    unknown: Undeclared | None = None

    def value(self, x: Column) -> Column:
        return F.when(~self.presence.missing(x), F.struct(*(m.value(x).alias(m.name) for m in self.members)))

    def bad(self, x: Column, v: Column) -> Column:
        inside = [
            m.checker.bad(m.get(x), v.getField(m.name))
            for m in self.members
            if m.checker is not None and m.get is not None
        ]
        wrong = [~self.right_shape(x), *inside, *(() if self.unknown is None else [self.unknown.bad(x)])]
        return self.presence.bad(x) | (~self.presence.missing(x) & any_of(wrong))

    def problems(self, x: Column, v: Column, path: Column) -> Column:
        inside = [
            m.checker.problems(m.get(x), v.getField(m.name), F.concat(path, F.lit("." + path_text((m.name,)))))
            for m in self.members
            if m.checker is not None and m.get is not None
        ]
        inside += () if self.unknown is None else [self.unknown.problems(x, path)]
        shape = Fault(NOT_CASTABLE, ~self.right_shape(x))
        return (
            F.when(self.presence.missing(x), F.array(self.presence.problem(x, path)))
            .when(shape.when, F.array(self.presence.fault(shape, x, path)))
            .otherwise(_all(inside))
        )


@dataclass(frozen=True, slots=True)
class ListChecker:
    """A list, of a fixed length where `length` is given. `items` gives the source's array, NULL if it is none."""

    presence: Presence
    item: Checker
    items: Callable[[Column], Column]
    length: int | None

    def value(self, x: Column) -> Column:
        return F.transform(self.items(x), self.item.value)

    def _faults(self, x: Column) -> tuple[Fault, ...]:
        items = self.items(x)
        shape = Fault(NOT_CASTABLE, items.isNull())
        return (
            (shape,) if self.length is None else (shape, Fault(WRONG_LENGTH, F.array_size(items) != F.lit(self.length)))
        )

    def bad(self, x: Column, v: Column) -> Column:
        inside = F.exists(self.items(x), lambda e: F.coalesce(self.item.bad(e, self.item.value(e)), F.lit(False)))
        wrong = [*(fault.when for fault in self._faults(x)), inside]
        return self.presence.bad(x) | (~self.presence.missing(x) & any_of(wrong))

    def problems(self, x: Column, v: Column, path: Column) -> Column:
        def of_item(e: Column, i: Column) -> Column:
            return self.item.problems(e, self.item.value(e), F.concat(path, F.lit("["), i.cast("string"), F.lit("]")))

        own = [F.array(self.presence.fault(fault, x, path)) for fault in self._faults(x)]
        inside = F.coalesce(F.flatten(F.transform(self.items(x), of_item)), no_problems())
        return F.when(self.presence.missing(x), F.array(self.presence.problem(x, path))).otherwise(_all([*own, inside]))


@dataclass(frozen=True, slots=True)
class MapChecker:
    """A map. `entries` gives the source's map, NULL if it is none; keys that become equal are a fault."""

    presence: Presence
    key: Checker
    item: Checker
    entries: Callable[[Column], Column]
    same_keys: bool

    def value(self, x: Column) -> Column:
        found = self.entries(x)
        if self.same_keys:
            return F.transform_values(found, lambda _, value: self.item.value(value))

        def of_entry(e: Column) -> Column:
            key, value = e.getField("key"), e.getField("value")
            return F.struct(self.key.value(key).alias("key"), self.item.value(value).alias("value"))

        # Spark fails the query, not the row, on a key that is NULL or there twice.
        return F.when(
            ~F.coalesce(self._bad_keys(found), F.lit(True)),
            F.map_from_entries(F.transform(F.map_entries(found), of_entry)),
        )

    def _bad_keys(self, found: Column) -> Column:
        return self._null_key(found) | self._same_key(found)

    def _null_key(self, found: Column) -> Column:
        return F.exists(F.map_keys(found), lambda k: self.key.value(k).isNull())

    def _same_key(self, found: Column) -> Column:
        keys = F.transform(F.map_keys(found), self.key.value)
        return F.array_size(F.array_distinct(keys)) != F.array_size(keys)

    def _faults(self, x: Column) -> tuple[Fault, ...]:
        found = self.entries(x)
        shape = Fault(NOT_CASTABLE, found.isNull())
        return (shape,) if self.same_keys else (shape, Fault(SAME_KEY_TWICE, self._same_key(found)))

    def bad(self, x: Column, v: Column) -> Column:
        found = self.entries(x)
        wrong = [fault.when for fault in self._faults(x)]
        for parts, checker in ((F.map_keys(found), self.key), (F.map_values(found), self.item)):
            wrong.append(F.exists(parts, _bad_part(checker)))
        return self.presence.bad(x) | (~self.presence.missing(x) & any_of(wrong))

    def problems(self, x: Column, v: Column, path: Column) -> Column:
        def of_key(k: Column, i: Column) -> Column:
            here = F.concat(path, F.lit(".keys["), i.cast("string"), F.lit("]"))
            return self.key.problems(k, self.key.value(k), here)

        def of_value(e: Column) -> Column:
            key, value = e.getField("key"), e.getField("value")
            here = F.concat(path, F.lit("['"), F.coalesce(key.try_cast("string"), F.lit("?")), F.lit("']"))
            return self.item.problems(value, self.item.value(value), here)

        found = self.entries(x)
        own = [F.array(self.presence.fault(fault, x, path)) for fault in self._faults(x)]
        keys = F.coalesce(F.flatten(F.transform(F.map_keys(found), of_key)), no_problems())
        values = F.coalesce(F.flatten(F.transform(F.map_entries(found), of_value)), no_problems())
        parts = [*own, keys, values]
        return F.when(self.presence.missing(x), F.array(self.presence.problem(x, path))).otherwise(_all(parts))


def _bad_part(checker: Checker) -> Callable[[Column], Column]:
    return lambda part: F.coalesce(checker.bad(part, checker.value(part)), F.lit(False))


@dataclass(frozen=True, slots=True)
class ParsedChecker:
    """A nested value that stands in the source as JSON text.

    `with_parsed` gives to a function the VARIANT of it, NULL where it is none.
    """

    presence: Presence
    inner: Checker
    with_parsed: Callable[[Column, Callable[[Column], Column]], Column]

    def value(self, x: Column) -> Column:
        return self.with_parsed(x, self.inner.value)

    def bad(self, x: Column, v: Column) -> Column:
        return self.with_parsed(x, lambda p: (x.isNotNull() & p.isNull()) | self.inner.bad(p, v))

    def problems(self, x: Column, v: Column, path: Column) -> Column:
        def of_parsed(p: Column) -> Column:
            no_json = Fault(NOT_CASTABLE, x.isNotNull() & p.isNull())
            found = F.array(self.presence.fault(no_json, x, path))
            return F.when(no_json.when, found).otherwise(self.inner.problems(p, v, path))

        return self.with_parsed(x, of_parsed)


@dataclass(frozen=True, slots=True)
class NullChecker:
    """A place for which the source has a column without a type, which is NULL in every row; `null` is written."""

    presence: Presence
    null: Column

    def value(self, x: Column) -> Column:
        return self.null

    def bad(self, x: Column, v: Column) -> Column:
        return self.presence.bad(x)

    def problems(self, x: Column, v: Column, path: Column) -> Column:
        return F.array(self.presence.problem(x, path).cast(PROBLEM))
