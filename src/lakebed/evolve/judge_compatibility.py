"""Judge changes by the compatibility mode of a table and by its declared consumers. Pure.

Columns are the same where their ids are. BACKWARD asks whether rows of before can be read, and are allowed, under the
new schema; FORWARD whether those who read as before go on to understand what comes. A dropped or renamed column is
found by its id, so that no row is lost by BACKWARD; a query names its columns, so that FORWARD refuses both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve.column_places import ColumnPlaces, Place
from lakebed.evolve.diff import column_steps
from lakebed.evolve.diff_columns import Edit, EditKind
from lakebed.evolve.meaning import Meanings, compare
from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.plan import Incompatibility
from lakebed.evolve.schema_changes import Path
from lakebed.evolve.verdicts import broken_by
from lakebed.manifest.compatibility import Compatibility, Consumer
from lakebed.model import Schema, required
from lakebed.model.differences import Difference, DifferenceKind, Party
from lakebed.model.type_name import type_name
from lakebed.physical import UNASSIGNED, path_text

#: Of what is refused by BACKWARD, by FORWARD, and for the sake of a declared consumer.
BACKWARD_CODE, FORWARD_CODE, CONSUMER_CODE = "LB4241", "LB4242", "LB4243"
_MODES = {Party.PRODUCER: ("BACKWARD", BACKWARD_CODE), Party.CONSUMER: ("FORWARD", FORWARD_CODE)}
_ATTRIBUTE = {
    Party.PRODUCER: "values that were allowed are refused from now on",
    Party.CONSUMER: "values come that were not allowed before",
}
_TYPE = {
    Party.PRODUCER: "values of before do not all fit the new type",
    Party.CONSUMER: "new values do not all fit the type of before",
}
_BESIDE = "add a new column beside it, and drop this one when nobody reads it any more"
_REASONS: dict[tuple[EditKind, Party], tuple[str, str]] = {
    (EditKind.ADD, Party.PRODUCER): ("rows of before have no value for it", "declare it as an Option"),
    (EditKind.DROP, Party.CONSUMER): ("those who read it do not find it any more", "keep it until nobody reads it"),
    (EditKind.RENAME, Party.CONSUMER): ("those who read it by its old name do not find it", _BESIDE),
    (EditKind.NULLABILITY, Party.PRODUCER): ("rows of before may be null there", "keep it an Option"),
    (EditKind.NULLABILITY, Party.CONSUMER): ("those who read it as before expect no nulls", "keep it required"),
    **{(kind, party): (_TYPE[party], _BESIDE) for kind in (EditKind.TYPE, EditKind.MEANING) for party in Party},
    **{(EditKind.ANNOTATION, party): (_ATTRIBUTE[party], "keep what it allows") for party in Party},
}


@dataclass(frozen=True, slots=True)
class Breach:
    """One edit that breaks a party, at a place, which those who read it call `column`.

    `version` is the older one that it breaks, None for the one before.
    """

    edit: Edit
    party: Party
    place: Place
    column: str
    reason: str
    remedy: str
    version: int | None = None

    @property
    def rule(self) -> tuple[object, ...]:
        """What is broken, whichever version it is compared with."""
        return self.place, self.party, self.edit.kind, self.edit.name, self.reason


@dataclass(frozen=True, slots=True)
class Reading:
    """A consumer with the places of the columns that it reads: of `before` a change, and of then and after it."""

    consumer: Consumer
    before: tuple[Place, ...]
    places: tuple[Place, ...]

    def meets(self, breach: Breach) -> bool:
        """Whether it reads what is at the place of a breach, around it or inside of it.

        Who reads a column by the name that it is to have is not broken by the rename.
        """
        place, is_rename = breach.place, breach.edit.kind is EditKind.RENAME
        read = self.before if is_rename else self.places
        return any(place[: len(own)] == own or own[: len(place)] == place for own in read)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A declared schema with its columns, those that stay with their ids; and its mode and consumers."""

    fields: Fields
    schema: Schema
    compatibility: Compatibility | None = None
    consumers: tuple[Consumer, ...] = ()


def judge_compatibility(
    edits: Sequence[Edit],
    base: TableSchema,
    wanted: Wanted,
    meanings: Meanings,
    *,
    consumers: Iterable[Consumer] = (),
    versions: Iterable[TableSchema] = (),
) -> dict[Edit, tuple[Incompatibility, ...]]:
    """What the mode and the consumers of a table have against each edit that leads from `base` to `wanted`.

    `consumers` are those of `base`: one that is not declared any more, or a column that it is not declared to read any
    more, counts until the change is made. `versions` are the older ones, which count for transitive modes: what this
    change breaks for them, but not what an earlier one has.
    """
    earlier = tuple(consumers)
    if not (earlier or wanted.consumers or (wanted.compatibility is not None and wanted.compatibility.protects)):
        return dict.fromkeys(edits, ())
    plain = list(_breaches(edits, base, wanted.fields, meanings))
    readings = _readings(base, wanted, earlier)
    modes = [wanted.compatibility, *(reading.consumer.mode for reading in readings)]
    older = versions if edits and any(mode is not None and mode.is_transitive for mode in modes) else ()
    found = [*plain, *_of_older(edits, plain, base, wanted, older)]
    said: dict[Edit, dict[tuple[str, str | None], Incompatibility]] = {edit: {} for edit in edits}
    for breach in found:
        for problem in (
            *_of_mode(breach, wanted.compatibility),
            *_of_consumers(breach, wanted.compatibility, readings),
        ):
            said[breach.edit].setdefault((problem.code, problem.consumer), problem)
    return {edit: tuple(problems.values()) for edit, problems in said.items()}


def broken_consumers(old: TableSchema, new: TableSchema, consumers: Iterable[Consumer]) -> tuple[str, ...]:
    """Which consumers of an older version a newer one breaks, whoever made it; in words, with the reason."""
    readings = _readings(old, Wanted(new.fields, new.logical), consumers)
    breaches = _between(old, new.fields, new.logical, new.options) if readings else ()
    return tuple(dict.fromkeys(found.reason for b in breaches for found in _of_consumers(b, None, readings)))


def consumers_of_dropped(
    compatibility: Compatibility | None, consumers: Iterable[Consumer]
) -> tuple[Incompatibility, ...]:
    """What the consumers of a table have against that it goes."""
    reason = "those who read it cannot rely on it any more"
    return tuple(_of_consumer(consumer, compatibility, "the table", reason) for consumer in consumers)


def _breaches(edits: Iterable[Edit], old: TableSchema, fields: Fields, meanings: Meanings) -> Iterator[Breach]:
    was, asked = ColumnPlaces.of(old.fields), ColumnPlaces.of(fields)
    names = {place: path_text(path) for path, place in was.places.items()}
    for edit in edits:
        for party in _broken(edit, meanings):
            reason, remedy = _REASONS[edit.kind, party]
            place = _place(edit, was, asked)
            yield Breach(edit, party, place, names.get(place) or path_text(edit.path), reason, remedy)


def _broken(edit: Edit, meanings: Meanings) -> tuple[Party, ...]:
    """Whom an edit breaks. Rows keep a column that is dropped or renamed; what writes it is not judged."""
    match edit.kind:
        case EditKind.ADD:
            return () if edit.after is None or edit.after.nullable else (Party.PRODUCER,)
        case EditKind.DROP | EditKind.RENAME:
            return (Party.CONSUMER,)
        case _:
            return broken_by(edit, meanings)


def _place(edit: Edit, was: ColumnPlaces, asked: ColumnPlaces) -> Place:
    """Where an edit is: of a dropped column where it was."""
    if edit.kind is EditKind.DROP:
        return was.member_place(asked.places[edit.path[:-1]], edit.path[-1])
    return _named(asked.places.get(edit.path, ()), edit.path)


def _named(place: Place, path: Path) -> Place:
    """The place with names for the columns that have no id yet."""
    return tuple(name if step == UNASSIGNED else step for step, name in zip(place, path, strict=False))


# Older versions


def _of_older(
    edits: Sequence[Edit], plain: Iterable[Breach], base: TableSchema, wanted: Wanted, versions: Iterable[TableSchema]
) -> Iterator[Breach]:
    """What breaks an older version, and neither broke it before nor breaks `base`; at the edit that does it."""
    known = {breach.rule for breach in plain}
    for version in versions:
        before = {breach.rule for breach in _between(version, base.fields, base.logical, base.options)}
        for breach in _between(version, wanted.fields, wanted.schema, base.options):
            if breach.rule not in known and breach.rule not in before:
                known.add(breach.rule)
                edit = max(edits, key=lambda e: (_shared(e.path, breach.edit.path), e.kind is breach.edit.kind))
                yield replace(breach, edit=edit, version=version.id)


def _shared(one: Path, other: Path) -> int:
    """How many names two paths have in common, from the left."""
    return next(
        (n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )


def _between(old: TableSchema, fields: Fields, schema: Schema, options: Mapping[str, str]) -> Iterator[Breach]:
    """What breaks between an older version and a later one, names that mean another column now included."""
    meanings = compare(old.fields, old.logical, fields, schema)
    edits = list(dict.fromkeys([*(step.edit for step in column_steps(old, fields, options)), *meanings.edits]))
    yield from _breaches(edits, old, fields, meanings)
    dropped = {edit.path for edit in edits if edit.kind is EditKind.DROP}
    was, asked = ColumnPlaces.of(old.fields), ColumnPlaces.of(fields)
    for edit in edits:
        if edit.kind is EditKind.ADD and edit.path in dropped:
            before, after = meanings.dropped[edit.path], meanings.after[edit.path]
            found = Difference(DifferenceKind.TYPE, edit.path, required(before), required(after))
            for party in Party if required(before) != required(after) else ():
                if party in found.breaks:
                    reason = f"the name was that of another column, of type {type_name(before)}"
                    place, column = _place(edit, was, asked), path_text(edit.path)
                    yield Breach(edit, party, place, column, reason, "choose a name that was not used yet")


# Mode and consumers


def _of_mode(breach: Breach, mode: Compatibility | None) -> Iterator[Incompatibility]:
    if mode is None or not _counts(breach, mode):
        return
    name, code = _MODES[breach.party]
    gates = mode is not Compatibility.NONE
    yield Incompatibility(code, f"{_said(name, breach)}: {breach.reason}", breach.remedy, gates)


def _counts(breach: Breach, mode: Compatibility) -> bool:
    return breach.party in mode.protects and (breach.version is None or mode.is_transitive)


def _said(mode: str, breach: Breach) -> str:
    return f"not {mode}" if breach.version is None else f"not {mode} of schema {breach.version}"


def _of_consumers(breach: Breach, mode: Compatibility | None, readings: Iterable[Reading]) -> Iterator[Incompatibility]:
    for reading in readings:
        if _counts(breach, reading.consumer.mode) and reading.meets(breach):
            since = "" if breach.version is None else f" as of schema {breach.version}"
            yield _of_consumer(reading.consumer, mode, breach.column + since, breach.reason)


def _of_consumer(consumer: Consumer, mode: Compatibility | None, what: str, reason: str) -> Incompatibility:
    ask = consumer.owner or consumer.name
    return Incompatibility(
        CONSUMER_CODE,
        f"{consumer.text} reads {what}: {reason}",
        f"agree with {ask}, then give leave",
        Compatibility.NONE not in (mode, consumer.mode),
        consumer.name,
        consumer.owner,
    )


def _readings(base: TableSchema, wanted: Wanted, earlier: Iterable[Consumer]) -> tuple[Reading, ...]:
    """The consumers, those of before included, with the places of their columns before and after."""
    places: dict[str, list[Place]] = {}
    before: dict[str, tuple[Place, ...]] = {}
    consumers: dict[str, Consumer] = {}
    for fields, those in ((base.fields, earlier), (wanted.fields, wanted.consumers)):
        at = {path_text(path): _named(place, path) for path, place in ColumnPlaces.of(fields).places.items()}
        for consumer in those:
            consumers[consumer.name] = consumer
            own = [at[column] for column in consumer.columns if column in at] if consumer.columns else [()]
            places.setdefault(consumer.name, []).extend(own)
            if fields is base.fields:
                before[consumer.name] = tuple(own)
    return tuple(Reading(c, before.get(name, ()), tuple(places[name])) for name, c in consumers.items())
