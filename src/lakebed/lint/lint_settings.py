"""Read what a project asks of its manifests: `engines` and the table `[lint]` of lakebed.toml."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
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
#: Settings for some of the tables, and what says which these are.
_SCOPES = "scopes"
_PLACES = ("for_tables", "for_files")
#: Rules that are switched on by what a project says of them.
_ON_WITH_OWNER: Mapping[str, str] = {"LB1704": "warning"}


@dataclass(frozen=True, slots=True)
class LintScope:
    """Tables that have settings of their own: by patterns of their names, and of the files that declare them.

    A pattern such as `staging.*` is one for whole names; of a path the end has to match. `values` are the settings as
    lakebed.toml says them, `engines` those that have to read these tables, where it says so.
    """

    tables: tuple[str, ...]
    files: tuple[str, ...]
    values: Mapping[str, Any] = field(hash=False)
    engines: tuple[str, ...] | None = None

    def covers(self, table: str, file: str) -> bool:
        """Whether the scope is about a table that a file declares; it is where it names no tables, or no files."""
        is_named = not self.tables or any(fnmatchcase(table, pattern) for pattern in self.tables)
        ends = (path for pattern in self.files for path in (pattern, f"*/{pattern}"))
        return is_named and (not self.files or any(fnmatchcase(file.replace(os.sep, "/"), path) for path in ends))


@dataclass(frozen=True, slots=True)
class LintSettings:
    """The rules of a project.

    `levels` are those of rules that have another than the usual one. `columns` and `tables` are how these are called: a
    style such as `snake_case`, or a regular expression. `owner` is the attribute of a table that says whose it is.
    `engines` are those that have to read the tables. `scopes` have settings of their own, later ones before earlier.
    """

    levels: Mapping[str, str] = field(default_factory=dict, hash=False)
    columns: str = "snake_case"
    tables: str = "snake_case"
    owner: str | None = None
    engines: tuple[str, ...] = ()
    scopes: tuple[LintScope, ...] = ()

    @classmethod
    def of(cls, lint: Mapping[str, Any], engines: Iterable[Any] = ()) -> LintSettings:
        """From the values of lakebed.toml. Raises `UsageError` (LB7002) with all that is wrong with them."""
        names = tuple(engines)
        own = {key: value for key, value in lint.items() if key != _SCOPES}
        problems = [problem for key, value in own.items() if (problem := _problem(key, value)) is not None]
        problems += [_unknown("engine", str(name), ENGINES) for name in names if name not in ENGINES]
        scopes = lint.get(_SCOPES, [])
        problems += _scope_problems(scopes)
        if problems:
            raise UsageError(*problems)
        return cls(engines=names, scopes=tuple(map(_scope, scopes)))._with(lint)

    def of_table(self, table: str, file: str) -> LintSettings:
        """The settings for a table, `db.t`, that a file declares."""
        found = self
        for scope in self.scopes:
            if scope.covers(table, file):
                found = found._with(scope.values)
                found = found if scope.engines is None else replace(found, engines=scope.engines)
        return found

    def _with(self, values: Mapping[str, Any]) -> LintSettings:
        texts = {key: values[key] for key in _TEXTS if key in values}
        levels = {key: value for key, value in values.items() if is_rule(key)}
        usual = _ON_WITH_OWNER if "owner" in values else {}
        return replace(self, levels={**self.levels, **usual, **levels}, **texts)

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


def _scope(values: Mapping[str, Any]) -> LintScope:
    tables, files = (tuple(values.get(key, ())) for key in _PLACES)
    engines = tuple(values["engines"]) if "engines" in values else None
    return LintScope(tables, files, {k: v for k, v in values.items() if k in _TEXTS or is_rule(k)}, engines)


def _scope_problems(scopes: Any) -> Iterator[Diagnostic]:
    """What is wrong with `[[lint.scopes]]`: each is for tables or files, and has settings as `[lint]` has them."""
    if not isinstance(scopes, list) or not all(isinstance(scope, dict) for scope in scopes):
        yield _wrong(_SCOPES, scopes, f"tables [[lint.{_SCOPES}]]")
        return
    for scope in scopes:
        if not any(scope.get(key) for key in _PLACES):
            yield _wrong(_SCOPES, scope, f"a table with {' or '.join(_PLACES)}, patterns of what it is for")
        for key, value in scope.items():
            if key in (*_PLACES, "engines"):
                if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
                    yield _wrong(f"{_SCOPES}.{key}", value, "a list of texts")
                elif key == "engines":
                    yield from (_unknown("engine", name, ENGINES) for name in value if name not in ENGINES)
            elif (problem := _problem(key, value)) is not None:
                yield problem


def _wrong(key: str, value: Any, expected: str) -> Diagnostic:
    message = f"lakebed.toml: the setting 'lint.{key}' must be {expected}, not {value!r}"
    return Diagnostic("LB7002", message, expected=expected, found=repr(value))


def _unknown(what: str, name: str, known: Iterable[str]) -> Diagnostic:
    names = tuple(known)
    message = f"lakebed.toml: there is no {what} {name!r}"
    return Diagnostic("LB7002", message, expected=", ".join(names), found=name, suggestions=near_names(name, names))
