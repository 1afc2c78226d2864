"""Find what the rules of a project say of one declared table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from lakebed.catalog import options as table_options
from lakebed.catalog.names import TableName
from lakebed.diagnostics import Diagnostic, Position, path_text
from lakebed.errors import LakebedError
from lakebed.evolve.without_warehouse import plan_as_new
from lakebed.lint.engine_types import unreadable_columns
from lakebed.lint.lint_settings import LintSettings, style_pattern
from lakebed.manifest.table_manifest import TableManifest
from lakebed.model import Field, LogicalType, required
from lakebed.model import types as logical
from lakebed.model.extra import DESCRIPTION, PERSONAL_DATA, RENAMED_FROM
from lakebed.model.logical_tree import Path, fold_at, outer_structs, with_children

#: What mends a finding of a table.
Fix = Callable[[TableManifest], TableManifest]

_PERSONAL = re.compile(
    r"(?:^|_)(?:e_?mail|phone|telephone|mobile|ssn|passport|iban|dob|birth_?date|birthday|date_of_birth|surname"
    r"|first_?name|last_?name|full_?name|credit_card|tax_id|social_security|national_id|ip|street)"
    r"(?:_(?:address|number|no|nr))?"
)
_MONEY = re.compile(
    r"(?:.*_)?(?:price|amount|cost|fee|balance|salary|revenue|fare|payment|refund)"
    r"(?:_(?:eur|usd|gbp|chf|jpy|total|paid|due|net|gross))?"
)
_IDENTIFIER = re.compile(r"(?:.*_)?(?:id|uuid|guid|hash|token)")
_HOLDS_PERSONS = (logical.String, logical.Binary, logical.Date, logical.Int32, logical.Int64, logical.UInt64)
_FLOATS = (logical.Float16, logical.Float32, logical.Float64)
_MANY_VALUES = (logical.Timestamp, logical.Time, logical.Duration, logical.Decimal, logical.Binary, *_FLOATS)
#: Options that say what becomes of rows of one key.
_OF_KEYS = (
    table_options.MERGE_ENGINE,
    table_options.SEQUENCE_FIELD,
    table_options.ROWKIND_FIELD,
    table_options.IGNORE_DELETE,
    table_options.FORCE_LOOKUP,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule says, without its level, and what mends it where that is safe."""

    code: str
    message: str
    position: Position | None
    path: str | None = None
    remedy: str | None = None
    fix: Fix | None = None

    def diagnostic(self) -> Diagnostic:
        """The finding as a problem."""
        return Diagnostic(self.code, self.message, position=self.position, path=self.path, remedy=self.remedy)


def findings(table: TableManifest, settings: LintSettings) -> Iterator[Finding]:
    """What the rules say of a table, in no order; those that are switched off are not asked."""
    for code, rule in _RULES.items():
        if settings.level(code) != "off":
            yield from rule(code, table, settings)


def _members(table: TableManifest) -> Iterator[tuple[Path, Field]]:
    """All columns and members of structs, each with its path."""
    pending: list[tuple[Path, Field]] = [((f.name,), f) for f in reversed(table.schema.fields)]
    while pending:
        path, member = pending.pop()
        yield path, member
        inner = [((*path, *steps, f.name), f) for steps, s in outer_structs(member.type) for f in s.fields]
        pending += reversed(inner)


def _column_names(code: str, table: TableManifest, settings: LintSettings) -> Iterator[Finding]:
    pattern = style_pattern(settings.columns)
    for path, _ in _members(table):
        if pattern.fullmatch(path[-1]) is None:
            message = f"the column {path_text(path)} is not called as {settings.columns} asks"
            remedy = f"rename it, and keep its values with {RENAMED_FROM}"
            yield Finding(code, message, table.position_of(path), path_text(path), remedy)


def _table_names(code: str, table: TableManifest, settings: LintSettings) -> Iterator[Finding]:
    pattern, name = style_pattern(settings.tables), TableName.parse(table.name)
    if pattern.fullmatch(name.table) is None:
        remedy = "choose another name before it is made; `lakebed rename` renames a table"
        yield Finding(code, f"the table {name} is not called as {settings.tables} asks", table.position, None, remedy)


def _table_descriptions(code: str, table: TableManifest, settings: LintSettings) -> Iterator[Finding]:
    if not (table.description or "").strip():
        yield Finding(code, f"the table {table.name} has no description", table.position, None, "write `description`")


def _column_descriptions(code: str, table: TableManifest, settings: LintSettings) -> Iterator[Finding]:
    for path, member in _members(table):
        if not _is_put_in(table, path) and not str(member.extra.get(DESCRIPTION, "")).strip():
            message = f"the column {path_text(path)} has no description"
            yield Finding(code, message, table.position_of(path), path_text(path), f"write {DESCRIPTION}")


def _is_put_in(table: TableManifest, path: Path) -> bool:
    """Whether a column stands for `systemColumns`, and has no place of its own to describe it."""
    at = table.property_position("systemColumns")
    return table.system_columns is not None and at is not None and table.position_of(path) == at


def _owners(code: str, table: TableManifest, settings: LintSettings) -> Iterator[Finding]:
    extra = table.schema.extra
    is_owned = settings.owner in extra if settings.owner else any(key.endswith("/owner") for key in extra)
    if not is_owned:
        remedy = f"write {settings.owner or 'an attribute such as example.org/owner'} into `extra` of the schema"
        yield Finding(code, f"the table {table.name} does not say whose it is", table.position, None, remedy)


def _personal_data(code: str, table: TableManifest, settings: LintSettings) -> Iterator[Finding]:
    tagged: set[Path] = set()
    for path, member in _members(table):
        if PERSONAL_DATA in member.extra:
            tagged.add(path)
        # What is said of a column is said of all that is in it.
        is_said = any(path[:end] in tagged for end in range(1, len(path) + 1))
        if not is_said and isinstance(required(member.type), _HOLDS_PERSONS) and _is_personal(path[-1]):
            message = f"the column {path_text(path)} looks like personal data, and does not say whether it is"
            remedy = f"write {PERSONAL_DATA}: true, which masks bad values of it, or false"
            yield Finding(code, message, table.position_of(path), path_text(path), remedy, _tag(path))


def _is_personal(name: str) -> bool:
    """Whether a name ends with what persons are known by: `customer_email`, but not `email_template`."""
    return any(match.end() == len(_snake(name)) for match in _PERSONAL.finditer(_snake(name)))


def _snake(name: str) -> str:
    return re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _tag(path: Path) -> Fix:
    """Says of a column, or of a member, that it holds personal data; no stored row is touched."""

    def tagged(type_: LogicalType, at: Path, parts: tuple[LogicalType, ...]) -> LogicalType:
        made = with_children(type_, parts)
        if not isinstance(made, logical.Struct) or at != path[:-1]:
            return made
        members = (
            replace(f, extra=f.extra.merged({PERSONAL_DATA: True})) if f.name == path[-1] else f for f in made.fields
        )
        return logical.Struct(tuple(members))

    def fix(table: TableManifest) -> TableManifest:
        made = fold_at(logical.Struct(table.schema.fields), (), tagged)
        assert isinstance(made, logical.Struct)
        return replace(table, schema=replace(table.schema, fields=made.fields))

    return fix


def _money(code: str, table: TableManifest, settings: LintSettings) -> Iterator[Finding]:
    for path, member in _members(table):
        if isinstance(required(member.type), _FLOATS) and _MONEY.fullmatch(_snake(path[-1])):
            kind = required(member.type).kind
            message = f"the column {path_text(path)} looks like money and is {kind}, in which sums are not exact"
            remedy = "declare a Decimal with precision and scale before there are rows"
            yield Finding(code, message, table.position_of(path), path_text(path), remedy)


def _nullable_keys(code: str, table: TableManifest, settings: LintSettings) -> Iterator[Finding]:
    for f in table.schema.fields:
        if not f.nullable or f.name not in (*table.primary_keys, *table.partition_keys):
            continue
        if f.name in table.primary_keys:
            message = f"the key column {f.name} is declared as an Option, and is stored as required"
            fix = _require(f.name)
        else:
            message = f"the partition column {f.name} is an Option: rows without a value are in one of their own"
            fix = None
        at, path = table.position_of((f.name,)), path_text((f.name,))
        yield Finding(code, message, at, path, "declare it without Option", fix)


def _require(name: str) -> Fix:
    """Takes the Option of a key column away, which is stored as required anyhow."""

    def fix(table: TableManifest) -> TableManifest:
        fields = tuple(replace(f, type=required(f.type)) if f.name == name else f for f in table.schema.fields)
        return replace(table, schema=replace(table.schema, fields=fields))

    return fix


def _partitions(code: str, table: TableManifest, settings: LintSettings) -> Iterator[Finding]:
    for f in table.schema.fields:
        if f.name not in table.partition_keys:
            continue
        kind = required(f.type)
        is_many = isinstance(kind, _MANY_VALUES)
        if is_many or _IDENTIFIER.fullmatch(_snake(f.name)):
            why = f"a {kind.kind}" if is_many else "an identifier"
            message = f"the table is partitioned by {f.name}, {why}: it may get a partition for nearly every row"
            remedy = "partition by a day or another column of few values; sort or bucket by this one"
            yield Finding(code, message, table.position_of((f.name,)), path_text((f.name,)), remedy)


def _options(code: str, table: TableManifest, settings: LintSettings) -> Iterator[Finding]:
    has_keys = bool(table.primary_keys) or table_options.PRIMARY_KEY in table.options
    for key in _OF_KEYS if not has_keys else ():
        if key in table.options:
            message = f"the option {key} says what becomes of rows of one key, and the table has no primary key"
            at = table.property_position("options", key)
            yield Finding(code, message, at, None, "leave it out, or declare `primaryKeys`")
    key, codec = table_options.FILE_COMPRESSION_ZSTD_LEVEL, table.options.get(table_options.FILE_COMPRESSION, "zstd")
    if key in table.options and codec.lower() != "zstd":
        message = f"the option {key} does nothing where files are compressed with {codec}"
        yield Finding(code, message, table.property_position("options", key), None, "leave one of the two out")


def _engines(code: str, table: TableManifest, settings: LintSettings) -> Iterator[Finding]:
    if not settings.engines:
        return
    try:
        target = plan_as_new(table).target
    except LakebedError:
        # What cannot be made is told by `lakebed validate`.
        return
    for engine in settings.engines if target is not None else ():
        assert target is not None
        for name, reason in unreadable_columns(target, engine):
            at = table.position_of((name,))
            remedy = f"declare another type, or take {engine} out of `engines`"
            yield Finding(code, f"the column {name}: {engine} {reason}", at, path_text((name,)), remedy)


_RULES: dict[str, Callable[[str, TableManifest, LintSettings], Iterator[Finding]]] = {
    "LB1700": _column_names,
    "LB1701": _table_names,
    "LB1702": _table_descriptions,
    "LB1703": _column_descriptions,
    "LB1704": _owners,
    "LB1705": _personal_data,
    "LB1706": _money,
    "LB1707": _nullable_keys,
    "LB1708": _partitions,
    "LB1709": _options,
    "LB1710": _engines,
}
