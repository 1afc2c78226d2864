"""An existing table as a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings

from lakebed.manifest import dump_table, parse_manifest, table_manifest_of
from lakebed.model import Extra, Field, Int8, Schema
from lakebed.testing import paimon_schemas


@dataclass
class Table:
    logical: Schema
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None


def test_keys_and_options_are_declared_and_annotations_are_not_an_option() -> None:
    schema = Schema((Field("a", Int8()), Field("b", Int8())))
    table = Table(schema, ("a",), ("b",), {"bucket": "2", "lakebed.schema": "{}"})
    declared = table_manifest_of("a.b", table)
    assert declared.primary_keys == ("a",)
    assert declared.partition_keys == ("b",)
    assert declared.options == {"bucket": "2"}
    assert declared.schema == schema
    assert declared.position_of(("a",)) is None


def test_the_comment_is_the_description_whatever_the_annotations_say() -> None:
    schema = Schema((), Extra({"opendatafabric.org/description": "old", "a/b": 1}))
    assert table_manifest_of("t", Table(schema, comment="new")).schema.extra == {
        "opendatafabric.org/description": "new",
        "a/b": 1,
    }
    assert table_manifest_of("t", Table(schema)).description is None


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(paimon_schemas())
def test_what_is_inferred_can_be_loaded(schema: Schema) -> None:
    declared = table_manifest_of("`a.b`.c", Table(schema, comment=schema.extra.description))
    assert parse_manifest(dump_table(declared)).tables == (declared,)
