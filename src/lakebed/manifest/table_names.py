"""Split `db.table` in a manifest at the first dot outside backticks, and join it."""

from __future__ import annotations

import re

DEFAULT_DATABASE = "default"
QUARANTINE_SUFFIX = "__quarantine"
_QUOTED = r"`(?:[^`]|``)+`"
_NAME = re.compile(rf"(?:(?P<database>{_QUOTED}|[^`.@]+)\.)?(?P<table>{_QUOTED}|[^`@]+)", re.DOTALL)


def split_table_name(text: str) -> tuple[str, str] | None:
    """Database and table, `default` where no database is said; None where the text is no such name."""
    match = _NAME.fullmatch(text)
    if match is None:
        return None
    database, table = (_unquoted(match[part]) for part in ("database", "table"))
    parts = (database if database is not None else DEFAULT_DATABASE, table or "")
    return parts if all(_is_directory_name(part) for part in parts) else None


def join_table_name(database: str, table: str) -> str:
    """The text for a database and a table, quoted where it would be read differently without."""
    return f"{_quoted(database)}.{_quoted(table)}"


def _is_directory_name(part: str) -> bool:
    return bool(part.strip()) and not part.startswith(".") and "/" not in part and "\\" not in part


def _quoted(part: str) -> str:
    return f"`{part.replace('`', '``')}`" if re.search(r"[.`@\s]", part) else part


def _unquoted(part: str | None) -> str | None:
    return part[1:-1].replace("``", "`") if part is not None and part.startswith("`") else part
