"""Convert the logical schema from and to model contracts of dbt (`schema.yml`).

| `schema.yml` | schema |
|---|---|
| `data_type` | type, by the words of Spark's SQL; those of other databases are read, too |
| the constraints `not_null`, `unique`, `primary_key` | `Option`, `lakebed.dev/unique`, primary key |
| the tests `not_null`, `unique` | the same |
| the test `accepted_values` | `lakebed.dev/enum` |
| `partition_by` of the `config` | partition keys |
| `name`, `schema` of the `config` or of a source | name |
| `description`, `tags`, `owner` of the table's `meta` | attributes |
| `contains_pii` of a column's `meta` | `lakebed.dev/personalData` |
| `meta` | attributes, `getdbt.com/NAME` where the name has no domain |

`contract: {enforced: true}` is set. What is left stands in `meta` under `lakebed` (`lakebed.convert.notes`), so that
nothing is lost. Models, snapshots, seeds and tables of sources are read; what is no schema (`freshness`, other tests)
is told as lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lakebed.convert.contract import Contract, losses_between, only_table, refuse_broken
from lakebed.convert.foreign_json import as_list, as_mapping, as_text, needed, refuse, unread
from lakebed.convert.loss import Loss, LossReport
from lakebed.convert.notes import custom_properties, note_in, note_of, table_note, with_note, with_table_note
from lakebed.convert.paimon import repeated_names
from lakebed.convert.people import owner, tags
from lakebed.convert.sql_type import SqlTypes, sql_text
from lakebed.convert.stated_type import StatedType, stated_exactly
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, LogicalType, Schema
from lakebed.model import types as logical
from lakebed.model.extra import DESCRIPTION, ENUM, PERSONAL_DATA, UNIQUE
from lakebed.model.logical_tree import Path, fold_at
from lakebed.physical import DataType, path_text

Json = dict[str, Any]

DOMAIN = "getdbt.com"
OWNER, TAGS = f"{DOMAIN}/owner", f"{DOMAIN}/tags"
_PII = ("contains_pii", "pii")
_NAMELESS = "table"
_TABLES = ("models", "seeds", "snapshots")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KNOWN_OF_TABLE = (
    *("name", "description", "columns", "constraints", "config", "meta", "tags", "data_tests", "tests", "identifier"),
    *("docs", "alias"),
)
_KNOWN_OF_CONFIG = ("contract", "meta", "tags", "partition_by", "schema")
_KNOWN_OF_COLUMN = (
    *("name", "data_type", "description", "constraints", "data_tests", "tests", "meta", "tags", "quote", "config"),
)


def to_dbt(declared: Schema | Contract) -> tuple[Json, LossReport]:
    """`version: 2` with one model. Raises `ConversionError` for what no form can say."""
    contract = Contract.of(declared)
    refuse_broken(contract)
    space, _, name = (contract.name or _NAMELESS).rpartition(".")
    model: Json = {"name": name, **_described(contract.schema.extra)}
    config: Json = {"contract": {"enforced": True}, **({"schema": space} if space else {})}
    if contract.partition_keys:
        config["partition_by"] = list(contract.partition_keys)
    labels = tags(contract.schema.extra)
    if labels is not None:
        config["tags"] = labels
    whose = owner(contract.schema.extra)
    meta: Json = {} if whose is None else {"owner": whose}
    model["config"] = {**config, **({"meta": meta} if meta else {})}
    nullable = {f.name for f in contract.schema.fields if f.nullable}
    # The columns of a primary key are required there; another key is told by the note alone.
    if contract.primary_keys and not nullable & set(contract.primary_keys):
        model["constraints"] = [{"type": "primary_key", "columns": list(contract.primary_keys)}]
    exact = stated_exactly(contract.schema)
    model["columns"] = [_noted(_column(f, exact), f) for f in contract.schema.fields]
    out: Json = {"version": 2, "models": [model]}
    note = table_note(contract, from_dbt(out)[0])
    if note:
        model["config"] = {**config, "meta": meta | custom_properties(note, DOMAIN)}
    return out, losses_between(contract, from_dbt(out)[0])


def _described(extra: Extra) -> Json:
    return {} if extra.description is None else {"description": extra.description}


def _column(member: Field, exact: Mapping[Path, DataType]) -> Json:
    """A column, without its note."""

    def text(type_: LogicalType, path: Path, parts: tuple[str, ...]) -> str:
        return sql_text(type_, exact.get(path), parts)

    extra = member.extra
    out: Json = {"name": member.name}
    if not _PLAIN_NAME.fullmatch(member.name):
        out["quote"] = True
    out |= {"data_type": fold_at(member.type, (member.name,), text), **_described(extra)}
    constraints = [] if member.nullable or member.type == logical.Null() else [{"type": "not_null"}]
    constraints += [{"type": "unique"}] if extra.get(UNIQUE) is True else []
    if constraints:
        out["constraints"] = constraints
    values = extra.get(ENUM)
    if isinstance(values, list) and values:
        out["data_tests"] = [{"accepted_values": {"arguments": {"values": values}}}]
    labels = tags(extra)
    config: Json = {} if labels is None else {"tags": labels}
    if extra.get(PERSONAL_DATA) is True:
        config["meta"] = {_PII[0]: True}
    return {**out, "config": config} if config else out


def _noted(said: Json, member: Field) -> Json:
    note = note_of(member, _Reader().plain_field(said), whole=True)
    if not note:
        return said
    config = said.get("config", {})
    return {**said, "config": {**config, "meta": config.get("meta", {}) | custom_properties(note, DOMAIN)}}


def _plainly(member: Field) -> Field:
    """What a reader that knows no notes of this field makes of it."""
    return _Reader().plain_field(_column(member, stated_exactly(Schema((member,)))))


def from_dbt(value: Any) -> tuple[Contract, LossReport]:
    """What the only model of a file declares, and what has no place in a schema.

    Raises `ConversionError` for several models (LB2604): `tables_of_dbt` reads each.
    """
    return only_table(tables_of_dbt(value))


def tables_of_dbt(value: Any) -> tuple[tuple[Contract, LossReport], ...]:
    """What a file declares of each of its models, seeds, snapshots and tables of sources."""
    told = as_mapping(value, (), "the file")
    if not any(key in told for key in (*_TABLES, "sources")):
        refuse((), "the file declares nothing of dbt's", ", ".join((*_TABLES, "sources")), value)
    return tuple(_read_table(table, name) for table, name in _listed(told))


def _listed(told: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each table with its name; that of a source begins with the source's schema."""
    for key in _TABLES:
        for table in as_list(told.get(key, []), (), f"`{key}`"):
            known = as_mapping(table, (), f"one of `{key}`")
            name = as_text(needed(known, "name", (), f"one of `{key}`"), (), "`name`")
            space = as_mapping(known.get("config") or {}, (), "`config`").get("schema")
            yield known, f"{space}.{name}" if isinstance(space, str) and space else name
    for source in as_list(told.get("sources", []), (), "`sources`"):
        known = as_mapping(source, (), "a source")
        space = as_text(known.get("schema", needed(known, "name", (), "a source")), (), "`schema`")
        for table in as_list(known.get("tables", []), (), "`tables`"):
            of = as_mapping(table, (), "a table of a source")
            name = as_text(of.get("identifier", needed(of, "name", (), "a table")), (), "`name`")
            yield of, f"{space}.{name}"


def _read_table(table: Mapping[str, Any], name: str) -> tuple[Contract, LossReport]:
    reader = _Reader()
    config, meta = reader.config(table, (), _KNOWN_OF_CONFIG)
    columns = [as_mapping(c, (), "a column") for c in as_list(table.get("columns", []), (), "`columns`")]
    primary = _primary_key(table, columns, reader)
    required_ = frozenset(primary)
    fields = tuple(reader.field(column, required_) for column in columns)
    extra: Json = {DESCRIPTION: table["description"]} if isinstance(table.get("description"), str) else {}
    labels = config.get("tags", table.get("tags"))
    if labels:
        extra[TAGS] = [labels] if isinstance(labels, str) else labels
    if isinstance(meta.get("owner"), str):
        extra[OWNER] = meta["owner"]
    others = {key: value for key, value in meta.items() if not (key == "owner" and isinstance(value, str))}
    keys = (primary, tuple(_partition_keys(config.get("partition_by"), reader)))
    plain = Contract(Schema(fields, Extra(extra)), None if name == _NAMELESS else name, *keys)
    found = with_table_note(plain, note_in(others, DOMAIN, reader.lose_meta(())) or None)
    problems = repeated_names(found.schema.fields)
    if problems:
        raise ConversionError(*problems)
    reader.lose((), unread(table, _KNOWN_OF_TABLE))
    for key in ("data_tests", "tests"):
        reader.lose((), ["a test of the table"] if table.get(key) else [])
    return found, LossReport(tuple(reader.losses))


def _primary_key(table: Mapping[str, Any], columns: list[Mapping[str, Any]], reader: _Reader) -> tuple[str, ...]:
    """The primary key, by a constraint of the table or of its columns."""
    said: list[Any] = []
    for constraint in as_list(table.get("constraints", []), (), "`constraints`"):
        match constraint:
            case {"type": "primary_key", "columns": [*names]}:
                said = names
            case _:
                reader.lose((), ["a constraint of the table"])
    if said:
        return tuple(as_text(name, (), "a name of a column") for name in said)
    own = [c for c in columns if {"type": "primary_key"} in [_kind(x) for x in c.get("constraints") or []]]
    return tuple(as_text(needed(c, "name", (), "a column"), (), "`name`") for c in own)


def _kind(constraint: Any) -> Any:
    return {"type": constraint.get("type")} if isinstance(constraint, Mapping) else constraint


def _partition_keys(said: Any, reader: _Reader) -> Iterator[str]:
    """A name or a list of names as Spark's adapter has them, an object as BigQuery's has it."""
    for key in said if isinstance(said, list) else [] if said is None else [said]:
        match key:
            case str() if _PLAIN_NAME.fullmatch(key) or isinstance(said, list):
                yield key
            case {"field": str() as name, **rest} if rest.get("granularity", "day") == "day":
                yield name
            case _:
                reader.lose((), [f"the partition {key}"])


class _Reader:
    def __init__(self) -> None:
        self.losses: list[Loss] = []

    def lose(self, path: Path, what: list[str]) -> None:
        """Note what nobody reads."""
        self.losses += [Loss(path_text(path), f"dbt's `{name}`" if " " not in name else name) for name in what]

    def lose_meta(self, path: Path) -> Any:
        """Note a key of `meta` that can be no attribute."""
        return lambda name: self.losses.append(Loss(path_text(path), f"{name} of `meta`"))

    def config(self, of: Mapping[str, Any], path: Path, known: tuple[str, ...]) -> tuple[Json, Json]:
        """The `config` of a model or column, and its `meta`, which stood beside it before dbt 1.10."""
        config = dict(as_mapping(of.get("config") or {}, path, "`config`"))
        self.lose(path, unread(config, known))
        metas = (as_mapping(m or {}, path, "`meta`") for m in (of.get("meta"), config.get("meta")))
        return config, {key: value for meta in metas for key, value in meta.items()}

    def field(self, value: Mapping[str, Any], required_: frozenset[str]) -> Field:
        """A column with what its note says; the columns of a primary key are required."""
        plain = self.plain_field(value, required_)
        path = (plain.name,)
        self.lose(path, unread(value, _KNOWN_OF_COLUMN))
        _, meta = self.config(value, path, ("meta", "tags"))
        others = {key: item for key, item in meta.items() if not (key in _PII and item is True)}
        note = note_in(others, DOMAIN, self.lose_meta(path))
        return with_note(plain, note or None, _plainly, (), self.losses, whole=True)

    def plain_field(self, value: Mapping[str, Any], required_: frozenset[str] = frozenset()) -> Field:
        """A column, its own note left aside."""
        name = as_text(needed(value, "name", (), "a column"), (), "`name`")
        path = (name,)
        text = as_text(needed(value, "data_type", path, "the column"), path, "`data_type`")
        stated = SqlTypes(self.losses).read(text, path)
        extra: Json = {DESCRIPTION: value["description"]} if isinstance(value.get("description"), str) else {}
        is_required = self._constraints(value, path, extra) or name in required_ or stated.type == logical.Null()
        silent = _Reader()
        config, meta = silent.config(value, path, ())
        labels = config.get("tags", value.get("tags"))
        if labels:
            extra[TAGS] = [labels] if isinstance(labels, str) else labels
        if any(meta.get(key) is True for key in _PII):
            extra[PERSONAL_DATA] = True
        return StatedType(stated.type, stated.exact).or_null(not is_required).field(name, extra)

    def _constraints(self, value: Mapping[str, Any], path: Path, extra: Json) -> bool:
        """Whether a column is required; what else its constraints and tests say goes into `extra`."""
        is_required = False
        listed = as_list(value.get("constraints") or [], path, "`constraints`")
        for key in ("data_tests", "tests"):
            listed = [*listed, *as_list(value.get(key) or [], path, f"`{key}`")]
        for said in listed:
            match said:
                case {"type": "not_null" | "primary_key"} | "not_null" | {"not_null": _}:
                    is_required = True
                case {"type": "unique"} | "unique" | {"unique": _}:
                    extra[UNIQUE] = True
                case {"accepted_values": {"arguments": {"values": [*values]}} | {"values": [*values]}}:
                    extra[ENUM] = values
                case str() as name:
                    self.losses.append(Loss(path_text(path), f"the test {name}"))
                case _:
                    told = as_mapping(said, path, "a constraint or test")
                    name = told.get("type", next(iter(told), ""))
                    self.losses.append(Loss(path_text(path), f"the constraint or test {name}"))
        return is_required
