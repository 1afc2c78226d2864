"""Check ODF's rule for schema changes in a chain: which ones need no migration.

Other attributes, another order and new optional fields are allowed; nothing else is. The first upgrade of a legacy
`rawArrowSchema` event may also change optionality at any depth, once (RFC-016, "Field optionality during schema
upgrades"). All fields that both schemas have are compared, whatever was added beside them.
"""

from __future__ import annotations

from lakebed.diagnostics import Diagnostic
from lakebed.model.differences import Difference, DifferenceKind, differences
from lakebed.model.types import Field, Schema, type_json

_OPTIONALITY = frozenset({DifferenceKind.BECAME_OPTIONAL, DifferenceKind.BECAME_REQUIRED})
_FREE = frozenset({DifferenceKind.ATTRIBUTE, DifferenceKind.SCHEMA_ATTRIBUTE, DifferenceKind.REORDERED})


def migration_problems(old: Schema, new: Schema, *, legacy: bool = False) -> tuple[Diagnostic, ...]:
    """Why `new` may not follow `old` in a chain of metadata blocks; empty where it may.

    `legacy` says that the event of `old` holds a `rawArrowSchema`, whose optionality is not to be trusted. Each
    diagnostic has the path of a field. An event that changes nothing at all is a problem too (LB4706): leave that code
    out where the question is only whether the schemas are compatible.
    """
    found = differences(old, new)
    if not found:
        message = "the schema is the one that is in force: an event that changes nothing may not be appended"
        return (Diagnostic("LB4706", message, remedy="leave the event out"),)
    return tuple(_problem(d) for d in found if not migration_allows(d, legacy=legacy))


def migration_allows(difference: Difference, *, legacy: bool = False) -> bool:
    """Whether the rule allows this one difference."""
    match difference.kind:
        case DifferenceKind.ADDED:
            return isinstance(difference.after, Field) and difference.after.nullable and not difference.in_map
        case kind if kind in _OPTIONALITY:
            return legacy
        case kind:
            return kind in _FREE


def _problem(difference: Difference) -> Diagnostic:
    path = ".".join(difference.path)
    code, message, remedy = _said(difference, path)
    before, after = _shown(difference.before), _shown(difference.after)
    return Diagnostic(code, message, path=path, expected=before, found=after, remedy=remedy)


def _said(difference: Difference, path: str) -> tuple[str, str, str]:
    match difference.kind:
        case DifferenceKind.REMOVED:
            return "LB4700", f"{path} is removed or renamed", "keep the field, under its name"
        case DifferenceKind.ADDED if difference.in_map:
            return "LB4703", f"{path} is added inside a map", "add a field outside of the map"
        case DifferenceKind.ADDED:
            return "LB4702", f"{path} is added as a required field", "declare it as an Option"
        case DifferenceKind.BECAME_OPTIONAL:
            return "LB4704", f"{path} was required and becomes optional", "keep it required"
        case DifferenceKind.BECAME_REQUIRED:
            return "LB4705", f"{path} was optional and becomes required", "keep it an Option"
        case _:
            return "LB4701", f"the type of {path} changes", "keep the type, and add a field of the wanted type"


def _shown(value: object) -> str | None:
    match value:
        case None:
            return None
        case Field():
            return _type_text(type_json(value.type))
        case int() | str():
            return str(value)
        case _:
            return _type_text(type_json(value))  # type: ignore[arg-type]


def _type_text(value: dict[str, object]) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
