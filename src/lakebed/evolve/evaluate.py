"""Evaluate a batch of changes: the next version of a schema, or every reason against it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lakebed.catalog import options as table_options
from lakebed.catalog.annotations import FORMAT, OPTION
from lakebed.catalog.option_values import is_flagged
from lakebed.catalog.table_schema import CURRENT_VERSION, TableSchema, refuse_unknown_types
from lakebed.catalog.validate import validate
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import ColumnMismatchError, UnsupportedError, ValidationError
from lakebed.evolve.earlier_versions import unreadable
from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.schema_changes import Change, RemoveOption, SetOption
from lakebed.evolve.working_copy import WorkingCopy
from lakebed.model.extra import DEFAULT, PAIMON_TYPE, canonical_json
from lakebed.physical.paimon_tree import bare, walk_fields, without_nullability
from lakebed.physical.paimon_types import DataField, with_nullability


@dataclass(frozen=True, slots=True)
class Refusal:
    """The change at `index` of a batch broke a rule and was left out."""

    index: int
    diagnostic: Diagnostic
    error: ValidationError

    @property
    def may_follow(self) -> bool:
        """Whether it may only follow from an earlier one, as where a column is not there because it was not added."""
        return isinstance(self.error, ColumnMismatchError)


def evaluate(
    base: TableSchema,
    changes: Iterable[Change],
    *,
    has_snapshots: Callable[[], bool],
    now: int,
    history: Callable[[], Iterable[TableSchema]] | None = None,
) -> TableSchema:
    """The version after `base` with all `changes` made, in order, over one working copy.

    `now` is in milliseconds since 1970. `has_snapshots` and `history` (the versions that data files may have been
    written under) are called only where a rule asks. Raises `ValidationError` with all refused changes, else with all
    rules that the result breaks; `UnsupportedError` for a schema file of a newer version.
    """
    refuse_later(base)
    target, refusals = evaluate_all(base, tuple(changes), has_snapshots=has_snapshots, now=now)
    if refusals:
        raise ValidationError(*(r.diagnostic for r in refusals))
    check(base, target, has_snapshots=has_snapshots, history=history)
    return target


def evaluate_all(
    base: TableSchema, changes: Sequence[Change], *, has_snapshots: Callable[[], bool], now: int
) -> tuple[TableSchema, tuple[Refusal, ...]]:
    """As `evaluate`, but refused changes are left out and reported, and the result is not validated."""
    asked = _once(has_snapshots)
    copy = WorkingCopy.of(base, asked)
    refusals: list[Refusal] = []
    for index, change in enumerate(changes):
        try:
            copy.apply(change)
        except ValidationError as error:
            refusals += [Refusal(index, d, error) for d in error.diagnostics]
    if OPTION in copy.options and not any(isinstance(c, SetOption | RemoveOption) and c.key == OPTION for c in changes):
        copy.options[OPTION] = annotations_after(copy.options[OPTION], base.fields, copy.fields)
    _fold_keys(copy)
    return _finished(copy, base, now), tuple(refusals)


def refuse_later(base: TableSchema) -> None:
    """Raise `UnsupportedError` for a later format or an unknown type: what is not known would be lost."""
    refuse_unknown_types(base)
    if base.version > CURRENT_VERSION:
        message = f"schema files of version {base.version} are not written"
        raise UnsupportedError.of("LB4022", message, expected=f"at most {CURRENT_VERSION}")


def check(
    base: TableSchema,
    target: TableSchema,
    *,
    has_snapshots: Callable[[], bool],
    history: Callable[[], Iterable[TableSchema]] | None = None,
) -> None:
    """Raise `ValidationError` with all rules of the table format that `target` breaks as the successor of `base`."""
    found = [d for d in validate(target, base=base) if d.severity is Severity.ERROR]
    if history is not None and has_snapshots():
        found += unreadable(base, target, history)
    if found:
        raise ValidationError(*found)


def _once(ask: Callable[[], bool]) -> Callable[[], bool]:
    answers: list[bool] = []

    def asked() -> bool:
        if not answers:
            answers.append(ask())
        return answers[0]

    return asked


def _fold_keys(copy: WorkingCopy) -> None:
    """Take `primary-key` and `partition` out of the options, where an engine left them, into the keys they mean."""
    for key in (table_options.PRIMARY_KEY, table_options.PARTITION):
        text = copy.options.get(key)
        if text is None:
            continue
        names = tuple(part.strip() for part in text.split(",") if part.strip())
        present = copy.primary_keys if key == table_options.PRIMARY_KEY else copy.partition_keys
        if names == present or not (present or copy.has_snapshots()):
            del copy.options[key]
            if key == table_options.PRIMARY_KEY:
                copy.primary_keys = names
            else:
                copy.partition_keys = names


def annotations_after(text: str, before: Fields, after: Fields) -> str:
    """The annotations' text after `before` became `after`, where no change sets it. What is not understood stays.

    Names in it follow renames, entries of dropped columns go, and what an entry says about the type or the default of a
    column goes when that changes, for it does not describe the column any more.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(value, dict) or value.get("format") != FORMAT or not isinstance(value.get("fields"), dict):
        return text
    old = {str(f.id): f for f in walk_fields(before)}
    new = {str(f.id): f for f in walk_fields(after)}
    entries: dict[str, Any] = {}
    for key, entry in value["fields"].items():
        if key in old and key in new and isinstance(entry, dict):
            entry = _followed(entry, old[key], new[key])
        if key in new or key not in old:
            entries[key] = entry
    return text if entries == value["fields"] else canonical_json({**value, "fields": entries})


def _followed(entry: dict[str, Any], before: DataField, after: DataField) -> dict[str, Any]:
    out = dict(entry)
    if out.get("name") == before.name:
        out["name"] = after.name
    stale = set()
    if without_nullability(bare(before.type)) != without_nullability(bare(after.type)):
        out.pop("type", None)
        stale.add(PAIMON_TYPE)
    if before.default_value != after.default_value:
        stale.add(DEFAULT)
    if isinstance(out.get("extra"), dict):
        out["extra"] = {k: v for k, v in out["extra"].items() if k not in stale}
    return out


def _finished(copy: WorkingCopy, base: TableSchema, now: int) -> TableSchema:
    nullable = is_flagged(copy.options, table_options.PRIMARY_KEY_NULLABLE)
    fields = tuple(
        replace(f, type=with_nullability(f.type, nullable)) if f.name in copy.primary_keys else f for f in copy.fields
    )
    return TableSchema(
        id=base.id + 1,
        fields=fields,
        highest_field_id=copy.highest,
        partition_keys=copy.partition_keys,
        primary_keys=copy.primary_keys,
        options=copy.options,
        comment=copy.comment,
        time_millis=now,
        version=CURRENT_VERSION,
    )
