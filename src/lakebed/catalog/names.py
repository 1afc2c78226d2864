"""Parse names of databases and tables, and references to a version of a table (`db.t@snap:5`).

The grammar: `db.table` splits at the first dot that is not quoted; backticks quote a part and are doubled inside one;
no dot means the database `default`. What may be a name is what is safe as one directory name (specification, layout).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import UnsupportedError, UsageError, ValidationError

NO_TEXT = "LB3415"
BAD_NAME = "LB3101"
RESERVED_DATABASE = "LB3102"
SYSTEM_TABLE = "LB3103"
BAD_TABLE_TEXT = "LB3104"
BAD_VERSION_TEXT = "LB3105"
SYSTEM_TABLE_UNREAD = "LB3709"

DEFAULT_DATABASE = "default"
SYSTEM_DATABASE = "sys"
DATABASE_SUFFIX = ".db"
QUARANTINE_SUFFIX = "__quarantine"
_MAX_BYTES = 255
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NEEDS_QUOTES = re.compile(r"[.`@\s]")
_VERSION_KINDS = ("snap", "tag", "branch")
_BRANCH = "branch_"
_MAIN = "main"
#: What other engines offer as `table$name`.
SYSTEM_TABLES = frozenset(
    (
        "aggregation_fields",
        "audit_log",
        "binlog",
        "branches",
        "buckets",
        "consumers",
        "file_key_ranges",
        "files",
        "manifests",
        "options",
        "partitions",
        "ro",
        "row_tracking",
        "schemas",
        "snapshots",
        "statistics",
        "table_indexes",
        "tags",
    )
)


@dataclass(frozen=True, slots=True)
class TableName:
    """A database and a table in it. Making one checks both names.

    Raises:
        ValidationError: a name is not safe as a directory name, or is reserved; one diagnostic per problem.
    """

    database: str
    table: str

    def __post_init__(self) -> None:
        problems = (*database_problems(self.database), *table_problems(self.table))
        if problems:
            raise ValidationError(*problems)

    def __str__(self) -> str:
        return f"{quote(self.database)}.{quote(self.table)}"

    @classmethod
    def parse(cls, text: str) -> TableName:
        """The name that `text` says.

        Raises:
            UsageError: quotes are not closed, or a version follows the name.
            ValidationError: a part is not a valid name.
        """
        database, table, version = _split(text)
        if version is not None:
            raise _bad_text(text, "no version can be given here; put a name that holds `@` in backticks")
        return cls(database, table)

    @property
    def quarantine(self) -> TableName:
        """The table that takes this table's bad rows."""
        return TableName(self.database, self.table + QUARANTINE_SUFFIX)

    @property
    def is_quarantine(self) -> bool:
        """Whether this is the quarantine of another table."""
        return self.table.endswith(QUARANTINE_SUFFIX)

    @property
    def can_have_quarantine(self) -> bool:
        """Whether it may have one: a quarantine has none, and neither has a table whose name is too long for it."""
        return not self.is_quarantine and not table_problems(self.table + QUARANTINE_SUFFIX)

    @property
    def without_quarantine(self) -> TableName:
        """The table whose bad rows this quarantine takes; of any other table itself."""
        return TableName(self.database, self.table.removesuffix(QUARANTINE_SUFFIX))


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table, or one version of it. Of the four at most one is given, but for a schema id of a branch."""

    name: TableName
    schema_id: int | None = None
    snapshot: int | None = None
    tag: str | None = None
    branch: str | None = None

    def __str__(self) -> str:
        if self.branch is not None and self.schema_id is not None:
            return f"{quote(self.name.database)}.{quote(f'{self.name.table}${_BRANCH}{self.branch}')}@{self.schema_id}"
        for suffix, value in (("", self.schema_id), ("snap:", self.snapshot), ("tag:", self.tag)):
            if value is not None:
                return f"{self.name}@{suffix}{value}"
        return str(self.name) if self.branch is None else f"{self.name}@branch:{self.branch}"

    @classmethod
    def parse(cls, text: str) -> TableRef:
        """`TABLE`, `TABLE@3` (schema 3), `TABLE@snap:5`, `TABLE@tag:NAME` or `TABLE@branch:NAME`.

        A branch may also be written as the table format has it, `TABLE$branch_NAME`, and then with a schema id.

        Raises:
            UsageError: the version is none of these.
            ValidationError: a part is not a valid name.
            UnsupportedError: the name is that of a system table.
        """
        database, table, version = _split(text)
        name, branch = branch_of(database, table)
        if version is None:
            return cls(name, branch=branch)
        if _is_number(version):
            return cls(name, schema_id=int(version), branch=branch)
        kind, colon, value = version.partition(":")
        if colon and value and branch is None:
            if kind == "snap" and _is_number(value):
                return cls(name, snapshot=int(value))
            if kind == "tag":
                return cls(name, tag=value)
            if kind == "branch":
                return cls(name, branch=value)
        raise UsageError.of(
            BAD_VERSION_TEXT,
            f"{version!r} names no version of {name}",
            expected="a schema id, snap:ID, tag:NAME or branch:NAME",
            found=version,
            suggestions=tuple(f"{near}:{value}" for near in near_names(kind, _VERSION_KINDS)) if value else (),
            remedy="Write for example TABLE@3, TABLE@snap:5, TABLE@tag:NAME or TABLE@branch:NAME.",
        )


def branch_of(database: str, table: str) -> tuple[TableName, str | None]:
    """The table of an object's name, and the branch of `t$branch_b` (None for `main`).

    Raises:
        ValidationError: a part is not a valid name.
        UnsupportedError: the name is that of a system table, `t$snapshots` or `t$branch_b$files`.
    """
    base, *rest = table.split("$")
    branch = None
    if rest and rest[0].startswith(_BRANCH) and rest[0] != _BRANCH:
        branch = rest.pop(0).removeprefix(_BRANCH)
    if len(rest) == 1 and rest[0].lower() in SYSTEM_TABLES:
        name = TableName(database, base)
        raise UnsupportedError.of(
            SYSTEM_TABLE_UNREAD,
            f"{table!r} is a system table, which can only be read",
            found=table,
            remedy=f"`lakebed read` prints it; `lakebed history '{name}'` shows versions and snapshots.",
            python_remedy=f"lake.inspect({str(name)!r}) reads it, lake.history({str(name)!r}) "
            "has versions and snapshots",
        )
    if rest:
        base = table
    return TableName(database, base), None if branch == _MAIN else branch


def each_name(given: Iterable[str]) -> tuple[str, ...]:
    """Names that are given, perhaps as one alone: a text is no list of letters."""
    return (given,) if isinstance(given, str) else tuple(given)


def split_system_table(text: str) -> tuple[str, str] | None:
    """What `db.t$branch_b$files@snap:5` says without `$files`, and `files`; None for the name of a table or branch.

    Raises `UsageError` where quotes are not closed.
    """
    database, table, version = _split(text)
    base, _, system = table.rpartition("$")
    if not base or not system or system.startswith(_BRANCH):
        return None
    rest = "" if version is None else f"@{version}"
    return f"{quote(database)}.{quote(base)}{rest}", system.lower()


AnyTableName: TypeAlias = TableName | str


def as_table_name(name: AnyTableName) -> TableName:
    """A `TableName` as it is, or what the text says."""
    return TableName.parse(name) if isinstance(name, str) else name


def quote(part: str) -> str:
    """One part of a name as text: in backticks where it would be read differently without."""
    return f"`{part.replace('`', '``')}`" if _NEEDS_QUOTES.search(part) else part


def database_problems(name: str) -> tuple[Diagnostic, ...]:
    """What is wrong with a name for a database; empty if nothing."""
    if name == SYSTEM_DATABASE:
        return (
            Diagnostic(
                RESERVED_DATABASE,
                f"the database name {SYSTEM_DATABASE!r} is reserved for system tables",
                remedy="Choose another name.",
            ),
        )
    return _problems("database", name, _MAX_BYTES - len(DATABASE_SUFFIX))


def table_problems(name: str) -> tuple[Diagnostic, ...]:
    """What is wrong with a name for a table; empty if nothing."""
    problems = _problems("table", name, _MAX_BYTES)
    if "$" not in name:
        return problems
    system = Diagnostic(
        SYSTEM_TABLE,
        f"the table name {name!r} holds `$`, which the format keeps for system tables and branches",
        remedy="Leave `$` out; a branch is written TABLE@branch:NAME.",
    )
    return (*problems, system)


def bad_names(code: str, kind: str, name: str, complaints: Iterable[str], remedy: str) -> tuple[Diagnostic, ...]:
    """One problem for each complaint about a name for a new thing of that kind."""
    return tuple(
        Diagnostic(
            code,
            f"{name[:80]!r} cannot be the name of a {kind}: {complaint}",
            found=name[:80].encode("unicode_escape").decode(),
            remedy=remedy,
        )
        for complaint in complaints
    )


def file_name_complaints(name: str, limit: int) -> Iterator[str]:
    """Why no file can be called so on every store, in at most `limit` bytes; paths apart."""
    if _CONTROL.search(name):
        yield "it holds a control character"
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        yield "it is not valid Unicode text"
        return
    if size > limit:
        yield f"it has {size} bytes, more than {limit}"


def _problems(kind: str, name: str, limit: int) -> tuple[Diagnostic, ...]:
    remedy = "A name becomes one directory: letters, digits, spaces, dots and quotes are fine, paths are not."
    return bad_names(BAD_NAME, kind, name, _complaints(name, limit), remedy)


def _complaints(name: str, limit: int) -> list[str]:
    if not name.strip():
        return ["it is empty or blank"]
    found = []
    if name.startswith("."):
        found.append("it starts with a dot, as relative paths and hidden files do")
    if "/" in name or "\\" in name:
        found.append("it holds a path separator")
    return [*found, *file_name_complaints(name, limit)]


def _split(text: str) -> tuple[str, str, str | None]:
    """Database and table, not looked at yet, and what follows an unquoted `@`."""
    if not isinstance(text, str):
        raise _bad_text(text, "it is no text")
    database, at = _part(text, 0, ".@")
    if text[at : at + 1] == ".":
        table, at = _part(text, at + 1, "@")
    else:
        database, table = DEFAULT_DATABASE, database
    if at == len(text):
        return database, table, None
    if text[at] != "@":
        raise _bad_text(text, f"{text[at:]!r} follows a closed backtick")
    return database, table, text[at + 1 :]


def _part(text: str, start: int, stops: str) -> tuple[str, int]:
    """One part from `start`, and where it ended: at a stop, at the end, or after the closing backtick."""
    if not text.startswith("`", start):
        end = next((i for i in range(start, len(text)) if text[i] in stops), len(text))
        if "`" in text[start:end]:
            raise _bad_text(text, "a backtick stands inside a part that is not quoted")
        return text[start:end], end
    match = re.compile(r"`((?:[^`]|``)*)`").match(text, start)
    if match is None:
        raise _bad_text(text, "a backtick is not closed")
    return match[1].replace("``", "`"), match.end()


def _bad_text(text: str, problem: str) -> UsageError:
    return UsageError.of(
        BAD_TABLE_TEXT,
        f"{text!r} is not the name of a table: {problem}",
        expected="db.table, each part in backticks where it holds a dot, a backtick or an @",
        found=str(text),
        remedy="Quote the whole part: `my.db`.`my@table`; a backtick inside is doubled.",
    )


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,18}", text) is not None


def no_text(error: UnicodeEncodeError, where: str) -> Diagnostic:
    """The problem of a name, comment or option that holds half a character, which no file can hold."""
    about = error.object[max(0, error.start - 20) : error.end + 20]
    return Diagnostic(
        NO_TEXT,
        f"{where} holds a text with half of a character: {about!r}",
        expected="Unicode text without lone surrogates",
        found=f"U+{ord(error.object[error.start]):04X}",
        remedy="Take the character out; it comes from bytes that were read as text in the wrong encoding.",
    )
