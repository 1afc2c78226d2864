"""Share the view of a schema and the messages that all validation rules use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from lakebed.catalog.option_values import boolean, long
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.physical.paimon_types import (
    DataField,
    DataType,
    type_line,
    with_nullability,
)

WRONG_OPTION_FORM = "LB3332"
UNKNOWN_OPTION_COLUMN = "LB3322"


@dataclass(frozen=True, slots=True)
class Subject:
    """A schema under validation.

    `base` is the version before it, None when the table is being made. `branch_exists` is None where branches cannot be
    looked up.
    """

    schema: TableSchema
    base: TableSchema | None = None
    branch_exists: Callable[[str], bool] | None = None

    @property
    def options(self) -> Mapping[str, str]:
        return self.schema.options

    @property
    def has_primary_key(self) -> bool:
        return bool(self.schema.primary_keys)

    def is_on(self, key: str) -> bool:
        """A boolean option, false where absent."""
        return boolean(self.options.get(key, "")) is True

    def word(self, key: str, default: str) -> str:
        """An option whose values are words, in lower case."""
        return self.options.get(key, default).lower()

    def number(self, key: str) -> int | None:
        """A whole number, None where absent or where it is none (which `forms` reports)."""
        return long(self.options.get(key, ""))

    def columns(self, key: str) -> tuple[str, ...]:
        """A list of names, split at commas and, as the reference does, not trimmed."""
        text = self.options.get(key)
        return tuple(text.split(",")) if text is not None else ()

    def field(self, name: str) -> DataField | None:
        return self.schema.field(name)


Rule: TypeAlias = Callable[[Subject], Iterator[Diagnostic]]


def shown(type_: DataType) -> str:
    """A type as messages show it, whether or not it is nullable."""
    return type_line(with_nullability(type_, True))


def option_path(key: str) -> str:
    return f"options.{key}"


def unknown_column(subject: Subject, key: str, name: str, code: str = UNKNOWN_OPTION_COLUMN) -> Diagnostic:
    """An option names a column that the table has not."""
    return Diagnostic(
        code,
        f"the option {key!r} names {name!r}, which is no column",
        path=option_path(key),
        found=name,
        suggestions=near_names(name.strip(), subject.schema.field_names),
        remedy=_remedy(subject, name),
    )


def _remedy(subject: Subject, name: str) -> str:
    """What to write in place of a name that is no column's; the column may be called otherwise now, or be gone."""
    if name != name.strip():
        return "Write the names without spaces around the commas."
    old = None if subject.base is None else subject.base.field(name)
    if old is None:
        return "Name a column, or take the name out of the option."
    now = next((f.name for f in subject.schema.fields if f.id == old.id), None)
    if now is None:
        return f"Take {name} out of the option: the column is dropped."
    return f"Write {now}: so the column is called now."
