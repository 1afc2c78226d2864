"""Validate a table's schema: columns, keys, buckets, options, for each version (specification, section 9).

The answers are those of the reference implementation; each problem has a code and a remedy. Rules about columns, keys
and buckets are here, those about other options in `option_rules` and `merge_option_rules`, those of file formats in
`format_rules`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

from lakebed.catalog import format_rules, option_rules
from lakebed.catalog import merge_option_rules as merge_rules
from lakebed.catalog.defaults import is_default_for
from lakebed.catalog.options import AUTO_CREATE, BUCKET_KEY, FULL_COMPACTION_DELTA_COMMITS, PRIMARY_KEY_NULLABLE
from lakebed.catalog.rule_subject import Rule, Subject, option_path, shown, unknown_column
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, Severity, near_names
from lakebed.errors import ValidationError
from lakebed.physical.json_form import TypeReader
from lakebed.physical.paimon_tree import children, highest_id, outer_rows, walk_fields
from lakebed.physical.paimon_types import (
    FIRST_SYSTEM_ID,
    Array,
    DataField,
    DataType,
    Geography,
    Geometry,
    Map,
    Multiset,
    Row,
    Unknown,
    Variant,
    Vector,
    type_line,
)

NO_COLUMNS = "LB3301"
DUPLICATE_COLUMN = "LB3302"
BLANK_COLUMN = "LB3303"
BAD_FIELD_ID = "LB3304"
BAD_TYPE = "LB3305"
UNKNOWN_KEY = "LB3307"
DUPLICATE_KEY = "LB3308"
EMPTY_KEY = "LB3309"
BAD_DEFAULT = "LB3310"
CATALOG_OPTION = "LB3311"
KEY_TYPE = "LB3312"
BAD_BUCKET = "LB3313"
BAD_BUCKET_KEY = "LB3314"
RESERVED_COLUMN = "LB3315"

SYSTEM_COLUMNS = frozenset({"_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "_ROW_ID", "rowkind"})
KEY_COLUMN_PREFIX = "_KEY_"

T = TypeVar("T", bound=Hashable)

_NO_KEYS = (Array, Map, Row, Multiset, Vector, Variant, Geometry, Geography, Unknown)
_NO_BUCKET_KEYS = (Array, Map, Row, Multiset)


def validate(
    schema: TableSchema,
    *,
    base: TableSchema | None = None,
    branch_exists: Callable[[str], bool] | None = None,
) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with a schema, in the order columns, keys, buckets, options, formats; empty if valid.

    Args:
        schema: the new version, options `primary-key` and `partition` already folded into the keys.
        base: the version that it replaces; None when the table is being made, which adds the catalog's rules.
        branch_exists: tells whether the table has a branch; None skips the rules that ask.
    """
    subject = Subject(schema, base, branch_exists)
    return tuple(problem for rule in _RULES for problem in rule(subject))


def ensure_valid(
    schema: TableSchema,
    *,
    base: TableSchema | None = None,
    branch_exists: Callable[[str], bool] | None = None,
) -> TableSchema:
    """The schema itself.

    Raises:
        ValidationError: with everything that `validate` finds.
    """
    problems = [p for p in validate(schema, base=base, branch_exists=branch_exists) if p.severity is Severity.ERROR]
    if problems:
        raise ValidationError(*problems)
    return schema


def reserved_name(name: str) -> Diagnostic | None:
    """Why a top-level column may not have this name, None where it may."""
    if name not in SYSTEM_COLUMNS and not name.startswith(KEY_COLUMN_PREFIX):
        return None
    return Diagnostic(
        RESERVED_COLUMN,
        f"the column name {name!r} is reserved for a system column",
        path=name,
        remedy=f"Choose another name; {', '.join(sorted(SYSTEM_COLUMNS))} and names that start with "
        f"{KEY_COLUMN_PREFIX} belong to the format.",
    )


def _columns(subject: Subject) -> Iterator[Diagnostic]:
    fields = subject.schema.fields
    if not fields:
        yield Diagnostic(NO_COLUMNS, "a table needs at least one column", remedy="Declare a column.")
    yield from _siblings(fields, "")
    for field in fields:
        if problem := reserved_name(field.name):
            yield problem
        yield from _type_problems(field)


def _siblings(fields: tuple[DataField, ...], prefix: str) -> Iterator[Diagnostic]:
    for name, count in _repeated([f.name for f in fields]).items():
        yield Diagnostic(
            DUPLICATE_COLUMN,
            f"the column {prefix}{name} is declared {count} times",
            path=f"{prefix}{name}",
            remedy="Give every column a name of its own.",
        )
    for index, field in enumerate(fields):
        if not field.name.strip():
            yield Diagnostic(
                BLANK_COLUMN,
                f"the name of column {index + 1} {'of ' + prefix.rstrip('.') if prefix else ''} is blank".replace(
                    "  ", " "
                ),
                path=f"{prefix}{field.name}",
                remedy="Give the column a name.",
            )
        if children(field.type):
            for row in outer_rows(field.type):
                yield from _siblings(row.fields, f"{prefix}{field.name}.")


def _repeated(values: Sequence[T]) -> dict[T, int]:
    """What occurs more than once, and how often; of columns nearly always nothing, which a set tells soonest."""
    if len(set(values)) == len(values):
        return {}
    return {value: count for value, count in Counter(values).items() if count > 1}


@lru_cache(maxsize=1024)
def _limits(type_: DataType) -> tuple[Diagnostic, ...]:
    """What is said of a type when it is read."""
    reader = TypeReader(unknown="keep", allow_missing_ids=True)
    reader.type(type_.to_json(), ())
    return reader.type_problems


def _type_problems(field: DataField) -> Iterator[Diagnostic]:
    """What a type's own limits say: a type that was not parsed may break them. Types of the future stay as they are."""
    for problem in _limits(field.type):
        yield Diagnostic(
            BAD_TYPE,
            f"the type of column {field.name} is not valid: {problem.message}",
            path=field.name,
            found=type_line(field.type),
            remedy=problem.remedy or "Give the column a valid type.",
        )


def _ids(subject: Subject) -> Iterator[Diagnostic]:
    fields = subject.schema.fields
    ids = [f.id for f in walk_fields(fields)]
    repeated = _repeated(ids)
    for id_ in sorted({*repeated, *(id_ for id_ in ids if not 0 <= id_ < FIRST_SYSTEM_ID)}):
        names = ", ".join(f.name for f in walk_fields(fields) if f.id == id_)
        problem = "is not between 0 and the ids of system columns"
        if id_ in repeated:
            problem = f"is used {repeated[id_]} times"
        yield Diagnostic(BAD_FIELD_ID, f"the field id {id_} ({names}) {problem}", remedy="Let Lakebed give the ids.")
    if subject.schema.highest_field_id < highest_id(fields):
        yield Diagnostic(
            BAD_FIELD_ID,
            f"highestFieldId {subject.schema.highest_field_id} is below the id {highest_id(fields)} of a column",
            remedy="Let Lakebed give the ids.",
        )


def _keys(subject: Subject) -> Iterator[Diagnostic]:
    schema = subject.schema
    for kind, keys in (("partition", schema.partition_keys), ("primary", schema.primary_keys)):
        for name, count in Counter(keys).items():
            if count > 1:
                yield Diagnostic(
                    DUPLICATE_KEY, f"the {kind} key names {name} {count} times", path=name, remedy="Name it once."
                )
            field = schema.field(name)
            if field is None:
                yield Diagnostic(
                    UNKNOWN_KEY,
                    f"the {kind} key names {name}, which is no column",
                    path=name,
                    suggestions=near_names(name, schema.field_names),
                    remedy="Name a top-level column.",
                )
            elif isinstance(field.type, _NO_KEYS):
                yield Diagnostic(
                    KEY_TYPE,
                    f"the column {name} of type {shown(field.type)} cannot be part of the {kind} key",
                    path=name,
                    found=shown(field.type),
                    remedy="Use a column of an atomic type.",
                )
    if schema.primary_keys and not schema.trimmed_primary_keys:
        yield Diagnostic(
            EMPTY_KEY,
            "the primary key holds nothing but partition keys",
            found=", ".join(schema.primary_keys),
            remedy="Add a column to the primary key that is not a partition key.",
        )
    if subject.is_on(PRIMARY_KEY_NULLABLE) and not schema.primary_keys:
        yield Diagnostic(
            EMPTY_KEY,
            "the option 'primary-key.nullable' needs a primary key",
            path=option_path(PRIMARY_KEY_NULLABLE),
            remedy="Leave the option out.",
        )


def _defaults(subject: Subject) -> Iterator[Diagnostic]:
    """New defaults; one that another engine has put there keeps nobody from changing something else."""
    given = [(f, f.default_value) for f in walk_fields(subject.schema.fields) if f.default_value is not None]
    before = walk_fields(subject.base.fields) if given and subject.base else ()
    known = {f.id: (f.default_value, f.type) for f in before}
    for field, default in given:
        if known.get(field.id) != (default, field.type) and not is_default_for(default, field.type):
            yield Diagnostic(
                BAD_DEFAULT,
                f"the default of {field.name} is not a value of its type",
                path=field.name,
                expected=shown(field.type),
                found=default,
                remedy="Give text that can be cast to the column's type.",
            )


def _catalog(subject: Subject) -> Iterator[Diagnostic]:
    """What a file system catalog refuses: `branch` for all, the rest for new tables."""
    if "branch" in subject.options and (subject.base is None or "branch" not in subject.base.options):
        yield Diagnostic(
            CATALOG_OPTION,
            "the option 'branch' cannot be stored: it says which branch a reader has opened",
            path=option_path("branch"),
            found=subject.options["branch"],
            remedy="Leave the option out; a branch is opened as TABLE@branch:NAME.",
        )
    if subject.base is not None:
        return
    if "path" in subject.options:
        yield Diagnostic(
            CATALOG_OPTION,
            "the option 'path' cannot be given: the warehouse decides where a table lies",
            path=option_path("path"),
            remedy="Leave the option out.",
        )
    if subject.is_on(AUTO_CREATE):
        yield Diagnostic(
            CATALOG_OPTION,
            "the option 'auto-create' cannot be stored in a table of a catalog",
            path=option_path(AUTO_CREATE),
            remedy="Leave the option out.",
        )


def _bucket(subject: Subject) -> Iterator[Diagnostic]:
    schema = subject.schema
    bucket = subject.number("bucket") if "bucket" in subject.options else -1
    if bucket is None:
        return

    def bad(message: str, remedy: str) -> Diagnostic:
        return Diagnostic(BAD_BUCKET, message, path=option_path("bucket"), found=str(bucket), remedy=remedy)

    if bucket == 0 or bucket < -2:
        yield bad(f"a table cannot have {bucket} buckets", "Give a number from 1, or -1 for dynamic buckets.")
    elif bucket == -2 and not schema.primary_keys:
        yield bad("postponed buckets (-2) need a primary key", "Use -1 for a table without a primary key.")
    elif bucket == -1 and BUCKET_KEY in subject.options:
        yield bad("a bucket key needs a fixed number of buckets", "Set 'bucket' to a number from 1.")
    elif bucket == -1 and not schema.primary_keys and FULL_COMPACTION_DELTA_COMMITS in subject.options:
        yield bad(
            "'full-compaction.delta-commits' has no meaning for a table without buckets and primary key",
            "Leave 'full-compaction.delta-commits' out.",
        )
    elif bucket >= 1 and not schema.primary_keys and BUCKET_KEY not in subject.options and not _is_legacy(subject):
        yield bad(
            "a table with buckets and no primary key needs a 'bucket-key'", "Set 'bucket-key', or 'bucket' to -1."
        )


def _is_legacy(subject: Subject) -> bool:
    """Version 1 tables have one bucket and no bucket key; they may go on so."""
    base = subject.base
    return (
        subject.schema.bucket == 1
        and base is not None
        and not base.primary_keys
        and base.options.get("bucket") == "1"
        and BUCKET_KEY not in base.options
    )


def _bucket_key(subject: Subject) -> Iterator[Diagnostic]:
    key = BUCKET_KEY
    schema = subject.schema

    def bad(message: str, name: str, remedy: str) -> Diagnostic:
        return Diagnostic(BAD_BUCKET_KEY, message, path=option_path(key), found=name, remedy=remedy)

    for name in subject.columns(key):
        field = schema.field(name)
        if field is None:
            yield unknown_column(subject, key, name, BAD_BUCKET_KEY)
        elif name in schema.partition_keys:
            yield bad(f"the bucket key holds the partition column {name}", name, "Leave it out of the bucket key.")
        elif schema.primary_keys and name not in schema.primary_keys:
            yield bad(
                f"the bucket key column {name} is not in the primary key", name, "Use columns of the primary key."
            )
        elif isinstance(field.type, _NO_BUCKET_KEYS):
            yield bad(f"a {shown(field.type)} column cannot be a bucket key", name, "Use a column of an atomic type.")


_RULES: tuple[Rule, ...] = (
    _columns,
    _ids,
    _keys,
    _defaults,
    _catalog,
    option_rules.forms,
    _bucket,
    _bucket_key,
    *merge_rules.RULES,
    *option_rules.RULES,
    *format_rules.RULES,
)
