"""Warn of a dropped and an added column that may be one renamed column."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import SequenceMatcher

from lakebed.diagnostics import Diagnostic, Severity
from lakebed.evolve.cast_rules import Effect, stored_effect
from lakebed.evolve.identity import PositionOf
from lakebed.evolve.nested_paths import Fields, changeable_parts
from lakebed.evolve.schema_changes import Path
from lakebed.model.extra import RENAMED_FROM
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import alike_levels, without_ids
from lakebed.physical.paimon_types import UNASSIGNED, DataField, equal_ignoring_nullability

#: How alike two names must be, from 0 to 1.
_SIMILAR = 0.6
#: Beyond so many pairs names are not compared letter by letter: only the same letters, or the same place, look alike.
_MOST_PAIRS = 40_000


def look_alikes(
    before: Fields, after: Fields, position_of: PositionOf, *, settled: Collection[Path] = ()
) -> Iterator[Diagnostic]:
    """A warning for each new field that looks like one that went; each field counts for one warning at most.

    Nothing is asked about `settled` paths: of fields that others have added, and go, or have dropped, and come back, as
    who declares the rest has renamed none of them; and of fields whose drop the manifest approves by name.
    """
    for level, old_fields, new_fields in alike_levels(before, after, changeable_parts):
        names = {path[-1] for path in settled if path[:-1] == level}
        for old, new in resembling(old_fields, new_fields, of_others=names, wider=True):
            yield _question((*level, new.name), old.name, position_of, is_wider=not _same_type(old, new))


def resembling(
    before: Fields, after: Fields, *, of_others: Collection[str] = (), wider: bool = False
) -> list[tuple[DataField, DataField]]:
    """Pairs of a field that went and one without an id that looks like it; each field is in one pair at most.

    Both have one type, or with `wider` similar names and a type that holds every value of the one that went. Fields
    with names `of_others` are in none.
    """
    kept = {f.id for f in after if f.id != UNASSIGNED}
    gone = {i: f for i, f in enumerate(before) if f.id not in kept and f.name not in of_others}
    came = {i: f for i, f in enumerate(after) if f.id == UNASSIGNED and f.name not in of_others}
    if len(gone) * len(came) > _MOST_PAIRS:
        return _plainly_alike(gone, came)
    pairs = []
    for place, new in came.items():
        found = max(
            ((i, _likeness((i, old), (place, new), wider)) for i, old in gone.items()),
            key=lambda pair: pair[1],
            default=(0, 0.0),
        )
        if found[1] > 0:
            pairs.append((gone.pop(found[0]), new))
    return pairs


def _plainly_alike(gone: dict[int, DataField], came: dict[int, DataField]) -> list[tuple[DataField, DataField]]:
    """Pairs of the same letters, else of the same place; `gone` and `came` are by place, and `gone` is used up."""
    by_letters = {_letters(old.name): i for i, old in reversed(gone.items())}
    pairs = []
    for place, new in came.items():
        for at in (by_letters.get(_letters(new.name)), place):
            if at in gone and _same_type(gone[at], new):
                pairs.append((gone.pop(at), new))
                break
    return pairs


def _letters(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum()) or name


def _same_type(old: DataField, new: DataField) -> bool:
    return equal_ignoring_nullability(without_ids(old.type), without_ids(new.type))


def _likeness(gone: tuple[int, DataField], came: tuple[int, DataField], wider: bool) -> float:
    """0 for no resemblance; a field of the same type is more alike than one of a wider type."""
    (old_place, old), (new_place, new) = gone, came
    is_same = _same_type(old, new)
    if not is_same and not (wider and stored_effect(old.type, new.type) is Effect.KEEPS):
        return 0.0
    names = SequenceMatcher(None, old.name.casefold(), new.name.casefold()).ratio()
    if names >= _SIMILAR:
        return names + is_same
    return 0.5 if is_same and old_place == new_place else 0.0


def _question(path: Path, old: str, position_of: PositionOf, *, is_wider: bool) -> Diagnostic:
    type_ = "a wider type" if is_wider else "the same type"
    return Diagnostic(
        "LB4104",
        f"{path_text((*path[:-1], old))} goes and {path_text(path)} of {type_} comes: is it a rename?",
        Severity.WARNING,
        position=position_of(path),
        path=path_text(path),
        remedy=f"if it is, add `{RENAMED_FROM}: {old}` to {path[-1]}, and its values stay; else nothing need be done",
    )
