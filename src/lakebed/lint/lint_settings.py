"""Read what a project asks of its manifests: `engines` and the table `[lint]` of lakebed.toml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import UsageError
from lakebed.lint.engine_types import ENGINES

#: Every rule by its code, with the level that it has where the project says none.
DEFAULT_LEVELS: Mapping[str, str] = {
    "LB1700": "warning",
    "LB1701": "warning",
    "LB1702": "warning",
    "LB1703": "off",
    "LB1704": "off",
    "LB1705": "warning",
    "LB1706": "warning",
    "LB1707": "warning",
    "LB1708": "warning",
    "LB1709": "warning",
    "LB1710": "warning",
    "LB1711": "warning",
}
LEVELS = ("error", "warning", "note", "off")
STYLES: Mapping[str, str] = {
    "snake_case": "[a-z][a-z0-9]*(?:_[a-z0-9]+)*",
    "camelCase": "[a-z][a-zA-Z0-9]*",
    "PascalCase": "[A-Z][a-zA-Z0-9]*",
    "UPPER_CASE": "[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*",
}
_TEXTS = ("columns", "tables", "owner")
#: Rules that are switched on by what a project says of them.
_ON_WITH_OWNER: Mapping[str, str] = {"LB1704": "warning"}


@dataclass(frozen=True, slots=True)
class LintSettings:
    """The rules of a project.

    `levels` are those of rules that have another than the usual one. `columns` and `tables` are how these are called: a
    style such as `snake_case`, or a regular expression. `owner` is the attribute of a table that says whose it is.
    `engines` are those that have to read the tables.
    """

    levels: Mapping[str, str] = field(default_factory=dict, hash=False)
    columns: str = "snake_case"
    tables: str = "snake_case"
    owner: str | None = None
    engines: tuple[str, ...] = ()

    @classmethod
    def of(cls, lint: Mapping[str, Any], engines: Iterable[Any] = ()) -> LintSettings:
        """From the values of lakebed.toml. Raises `UsageError` (LB7002) with all that is wrong with them."""
        names = tuple(engines)
        problems = [problem for key, value in lint.items() if (problem := _problem(key, value)) is not None]
        problems += [_unknown("engine", str(name), ENGINES) for name in names if name not in ENGINES]
        if problems:
            raise UsageError(*problems)
        texts = {key: lint[key] for key in _TEXTS if key in lint}
        levels = {key: value for key, value in lint.items() if key not in _TEXTS}
        usual = _ON_WITH_OWNER if "owner" in lint else {}
        return cls({**usual, **levels}, engines=names, **texts)

    def level(self, code: str) -> str:
        """The level of a rule: `error`, `warning`, `note` or `off`."""
        return self.levels.get(code, DEFAULT_LEVELS[code])


def is_rule(code: str) -> bool:
    """Whether a code is that of a rule."""
    return DEFAULT_LEVELS.get(code) is not None


def style_pattern(style: str) -> re.Pattern[str]:
    """What names of a style look like."""
    return re.compile(STYLES.get(style, style))


def _problem(key: str, value: Any) -> Diagnostic | None:
    if is_rule(key):
        return None if value in LEVELS else _wrong(key, value, f"one of {', '.join(LEVELS)}")
    if key not in _TEXTS:
        return _unknown("setting", f"lint.{key}", [f"lint.{known}" for known in (*_TEXTS, *DEFAULT_LEVELS)])
    if not isinstance(value, str) or not value:
        return _wrong(key, value, "a text")
    try:
        style_pattern(value)
    except re.error:
        return _wrong(key, value, f"one of {', '.join(STYLES)}, or a regular expression")
    return None


def _wrong(key: str, value: Any, expected: str) -> Diagnostic:
    message = f"lakebed.toml: the setting 'lint.{key}' must be {expected}, not {value!r}"
    return Diagnostic("LB7002", message, expected=expected, found=repr(value))


def _unknown(what: str, name: str, known: Iterable[str]) -> Diagnostic:
    names = tuple(known)
    message = f"lakebed.toml: there is no {what} {name!r}"
    return Diagnostic("LB7002", message, expected=", ".join(names), found=name, suggestions=near_names(name, names))
