"""The strategies that are shipped: what they give is valid, and covers what they say."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, find, given, settings

from lakebed.convert.paimon import to_paimon
from lakebed.manifest import TableManifest
from lakebed.model import BY_KIND, Field, List, LogicalType, Map, Null, Option, Schema, Struct
from lakebed.testing import logical_types, paimon_schemas, paimon_types, schemas, table_manifests

only_look = settings(max_examples=2000, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
calm = settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def walk(type_: LogicalType) -> set[str]:
    match type_:
        case Option():
            return {type_.kind} | walk(type_.inner)
        case List():
            return {type_.kind} | walk(type_.item_type)
        case Map():
            return {type_.kind} | walk(type_.key_type) | walk(type_.value_type)
        case Struct():
            return {type_.kind}.union(*(walk(f.type) for f in type_.fields))
        case _:
            return {type_.kind}


def test_every_kind_is_drawn() -> None:
    for kind in BY_KIND:
        assert kind in walk(
            find(logical_types(max_leaves=2), lambda type_, kind=kind: kind in walk(type_), settings=only_look)
        )


@calm
@given(schemas())
def test_siblings_do_not_differ_only_in_case(schema: Schema) -> None:
    names = [f.name.lower() for f in schema.fields]
    assert len(set(names)) == len(names)


@calm
@given(paimon_types())
def test_paimon_types_have_no_null(type_: LogicalType) -> None:
    assert Null.kind not in walk(type_)


@calm
@given(paimon_schemas())
def test_paimon_schemas_have_carriers(schema: Schema) -> None:
    columns = to_paimon(schema)
    assert [c.name for c in columns] == [f.name for f in schema.fields]


@calm
@given(table_manifests(paimon=True))
def test_keys_are_columns(declared: TableManifest) -> None:
    assert declared.schema.fields
    fields: dict[str, Field] = {f.name: f for f in declared.schema.fields}
    assert all(not fields[key].nullable for key in declared.primary_keys)
    assert all(key in fields for key in declared.partition_keys)
