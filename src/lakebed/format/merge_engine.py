"""Read the merge rules of a primary-key table from its options (specification 8.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from lakebed.catalog.option_values import chosen_word, column_names, columns_of, is_set, whole_number, word
from lakebed.catalog.options import (
    AGGREGATION_REMOVE_RECORD_ON_DELETE,
    FIELDS_DEFAULT_AGGREGATE_FUNCTION,
    IGNORE_DELETE,
    MERGE_ENGINE,
    PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE,
    PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP,
    SEQUENCE_FIELD,
    SEQUENCE_FIELD_SORT_ORDER,
)
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import LakebedError, UnsupportedError

PRIMARY_KEY, LAST_VALUE, LAST_NON_NULL = "primary-key", "last_value", "last_non_null_value"
_OLD_NAMES = {"first_not_null_value": "first_non_null_value", "primary_key": PRIMARY_KEY}
_GROUP = ".sequence-group"


class MergeEngine(StrEnum):
    """How several rows of one key become one."""

    DEDUPLICATE = "deduplicate"
    PARTIAL_UPDATE = "partial-update"
    AGGREGATION = "aggregation"
    FIRST_ROW = "first-row"


class NullKeys(StrEnum):
    """What happens to nested rows whose nested key holds NULL."""

    MERGE = "merge"
    IGNORE = "ignore"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The aggregate function of a column and its options; `limit` None is no limit."""

    function: str
    ignore_retract: bool = False
    distinct: bool = False
    delimiter: str = ","
    nested_key: tuple[str, ...] = ()
    nested_sequence: tuple[str, ...] = ()
    null_keys: NullKeys = NullKeys.MERGE
    limit: int | None = None
    time_field: str | None = None


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """How one column is merged. `group`: the sequence fields of its sequence group, itself among them if it is one."""

    name: str
    nullable: bool
    aggregate: Aggregate | None = None
    group: tuple[str, ...] = ()

    @property
    def is_sequence(self) -> bool:
        """Whether the column orders its group."""
        return self.name in self.group


#: In the order in which Paimon's `CoreOptions` asks for them; the last is one that it does not have.
_IGNORE_DELETE_KEYS = (
    IGNORE_DELETE,
    *(f"{engine}.ignore-delete" for engine in ("first-row", "deduplicate", "partial-update", "aggregation")),
)


@dataclass(frozen=True, slots=True)
class MergeEngineRules:
    """The whole of it, one `ColumnRule` a column in the schema's order.

    `order`: the table's sequence fields. `remove_groups`: the sequence groups whose deletes remove the whole row.
    """

    engine: MergeEngine
    columns: tuple[ColumnRule, ...]
    order: tuple[str, ...] = ()
    descending: bool = False
    ignore_delete: bool = False
    remove_on_delete: bool = False
    remove_groups: frozenset[tuple[str, ...]] = frozenset()

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The sequence groups, each by its sequence fields."""
        return tuple(dict.fromkeys(c.group for c in self.columns if c.group))


def merge_engine(schema: TableSchema) -> MergeEngine:
    """The table's merge engine."""
    name = word(schema.options, MERGE_ENGINE)
    try:
        return MergeEngine(name)
    except ValueError:
        raise UnsupportedError.of(
            "LB5500",
            f"merge-engine={name} is not known",
            path=MERGE_ENGINE,
            expected=", ".join(MergeEngine),
            found=name,
        ) from None


def merge_rules(schema: TableSchema) -> MergeEngineRules:
    """The rules of a table. Raises UnsupportedError for options that are not known or contradict each other."""
    engine = merge_engine(schema)
    options = schema.options
    order = columns_of(options, SEQUENCE_FIELD)
    partial = engine is MergeEngine.PARTIAL_UPDATE
    groups = _groups(schema) if partial else {}
    remove_key = PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE if partial else AGGREGATION_REMOVE_RECORD_ON_DELETE
    removing = columns_of(options, PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP) if partial else ()
    rules = MergeEngineRules(
        engine,
        tuple(_columns(schema, engine, order, groups)),
        order,
        chosen_word(options, SEQUENCE_FIELD_SORT_ORDER) == "descending",
        ignores_deletes(options),
        engine in (MergeEngine.PARTIAL_UPDATE, MergeEngine.AGGREGATION) and is_set(options, remove_key),
        frozenset(groups[f] for f in removing if f in groups),
    )
    _check_names(schema, (*order, *removing))
    _check(rules, removing)
    return rules


def ignores_deletes(options: Mapping[str, str]) -> bool:
    """Whether deletes are skipped. The option had a name of each engine before; the first that is set counts."""
    return is_set(options, next((key for key in _IGNORE_DELETE_KEYS if key in options), IGNORE_DELETE))


def _groups(schema: TableSchema) -> dict[str, tuple[str, ...]]:
    """The sequence fields that each column of a sequence group is guarded by, sequence fields among the columns."""
    found: dict[str, tuple[str, ...]] = {}
    for key, value in schema.options.items():
        if not (key.startswith("fields.") and key.endswith(_GROUP)):
            continue
        sequence = column_names(key.removeprefix("fields.").removesuffix(_GROUP))
        members = (*sequence, *column_names(value))
        _check_names(schema, members)
        for member in dict.fromkeys(members):
            if member in found:
                raise _contradiction(f"column {member!r} is in two sequence groups", key)
            found[member] = sequence
    return found


def _columns(
    schema: TableSchema, engine: MergeEngine, order: tuple[str, ...], groups: Mapping[str, tuple[str, ...]]
) -> Iterator[ColumnRule]:
    for field in schema.fields:
        group = groups.get(field.name, ())
        function = None
        if field.name in group:
            pass
        elif engine is MergeEngine.AGGREGATION and field.name in order:
            function = LAST_VALUE
        elif engine is MergeEngine.AGGREGATION or engine is MergeEngine.PARTIAL_UPDATE:
            function = _function(schema, field.name, engine)
        if engine is MergeEngine.PARTIAL_UPDATE and not group and function not in {None, PRIMARY_KEY, LAST_NON_NULL}:
            raise _contradiction(
                f"column {field.name!r} has the aggregate function {function} and no sequence group",
                f"fields.{field.name}.aggregate-function",
            )
        aggregate = None if function is None else _aggregate(schema.options, field.name, function)
        yield ColumnRule(field.name, field.type.nullable, aggregate, group)


def _function(schema: TableSchema, column: str, engine: MergeEngine) -> str | None:
    if column in schema.primary_keys:
        return PRIMARY_KEY
    given = schema.options.get(f"fields.{column}.aggregate-function") or schema.options.get(
        FIELDS_DEFAULT_AGGREGATE_FUNCTION
    )
    if given is None:
        return LAST_NON_NULL if engine is MergeEngine.AGGREGATION else None
    name = given.strip()
    return _OLD_NAMES.get(name, name)


def _aggregate(options: Mapping[str, str], column: str, function: str) -> Aggregate:
    field = f"fields.{column}."
    strategy = options.get(f"{field}nested-key-null-strategy", NullKeys.MERGE).strip().lower()
    if strategy not in set(NullKeys):
        raise UnsupportedError.of(
            "LB5506",
            f"nested-key-null-strategy={strategy} is not known",
            path=f"{field}nested-key-null-strategy",
            expected=", ".join(NullKeys),
            found=strategy,
        )
    limit = f"{field}count-limit"
    return Aggregate(
        function,
        is_set(options, f"{field}ignore-retract"),
        is_set(options, f"{field}distinct"),
        options.get(f"{field}list-agg-delimiter", ","),
        columns_of(options, f"{field}nested-key"),
        columns_of(options, f"{field}nested-sequence-field"),
        NullKeys(strategy),
        whole_number(options, limit) if limit in options else None,
        options.get(f"{field}ts-field"),
    )


def _check(rules: MergeEngineRules, removing: tuple[str, ...]) -> None:
    if rules.engine is MergeEngine.PARTIAL_UPDATE:
        on_delete = PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE
        on_group = PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP
        sequences = {field for group in rules.groups for field in group}
        if rules.ignore_delete and rules.remove_on_delete:
            raise _contradiction(f"ignore-delete and {on_delete} are both set", on_delete)
        if rules.ignore_delete and removing:
            raise _contradiction(f"ignore-delete and {on_group} are both set", on_group)
        if rules.remove_on_delete and rules.groups:
            raise _contradiction(f"{on_delete} is set beside sequence groups", on_delete)
        if not sequences.issuperset(removing):
            raise _contradiction(f"{on_group} names a column that orders no sequence group", on_group)
    for column in rules.columns:
        aggregate = column.aggregate
        if aggregate is None:
            continue
        if rules.engine is MergeEngine.AGGREGATION and rules.remove_on_delete and aggregate.ignore_retract:
            path = f"fields.{column.name}.ignore-retract"
            raise _contradiction(f"{path} is set beside aggregation.remove-record-on-delete", path)
        if aggregate.nested_sequence and not aggregate.nested_key:
            path = f"fields.{column.name}.nested-sequence-field"
            raise _contradiction(f"{path} is set without a nested-key", path)


def _contradiction(message: str, path: str) -> LakebedError:
    return UnsupportedError.of("LB5506", message, path=path)


def _check_names(schema: TableSchema, wanted: tuple[str, ...]) -> None:
    for name in wanted:
        if schema.field(name) is None:
            raise UnsupportedError.of("LB5509", f"a merge option names {name!r}, which is not a column", path=name)
