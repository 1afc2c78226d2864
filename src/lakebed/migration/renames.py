"""Parse renames that a user declares for a migration: `TABLE:VERSION:OLD=NEW`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakebed.catalog.names import TableName
from lakebed.errors import LakebedError, UsageError

BAD_RENAME = "LB3752"

_PART = r"`(?:[^`]|``)+`|[^`:=]+"
_FORM = re.compile(rf"(?P<table>(?:`(?:[^`]|``)+`|[^`:])+):(?P<version>[0-9]+):(?P<old>{_PART})=(?P<new>{_PART})")


@dataclass(frozen=True, slots=True)
class Rename:
    """In `version` the column `new` is what was `old` in the version before, or (as a denial) is not."""

    table: TableName
    version: int
    old: str
    new: str

    def __str__(self) -> str:
        database, table = (_quoted(part, ".@") for part in (self.table.database, self.table.table))
        return f"{database}.{table}:{self.version}:{_quoted(self.old)}={_quoted(self.new)}"

    @classmethod
    def parse(cls, text: str) -> Rename:
        """The rename that `TABLE:VERSION:OLD=NEW` says; a column's name with `:` or `=` stands in backticks.

        Raises:
            UsageError: the text is none.
        """
        match = _FORM.fullmatch(text.strip())
        if match is not None:
            try:
                table = TableName.parse(match["table"])
            except LakebedError as error:
                raise UsageError(*error.diagnostics) from error
            return cls(table, int(match["version"]), _bare(match["old"]), _bare(match["new"]))
        raise UsageError.of(
            BAD_RENAME,
            f"{text!r} declares no rename",
            expected="TABLE:VERSION:OLD=NEW",
            found=text,
            remedy="Write for example shop.users:2:town=city: in version 2 of shop.users, city is what was town.",
        )


def as_rename(value: Rename | str) -> Rename:
    """A `Rename` as it is, or what the text says."""
    return Rename.parse(value) if isinstance(value, str) else value


def _quoted(name: str, others: str = "") -> str:
    """In backticks where the name would be read differently without."""
    is_plain = name == name.strip() and not any(mark in name for mark in f"`:={others}")
    return name if is_plain else f"`{name.replace('`', '``')}`"


def _bare(part: str) -> str:
    return part[1:-1].replace("``", "`") if part.startswith("`") else part
