"""Generate declared tables: `kind: Table`, and the envelopes of Open Data Fabric."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from lakebed.catalog.options import FILE_FORMAT, SNAPSHOT_NUM_RETAINED_MAX
from lakebed.diagnostics import path_text
from lakebed.manifest import (
    Compatibility,
    Consumer,
    OdfDocument,
    OdfEvent,
    ReadOptions,
    SourceKind,
    SystemColumns,
    TableManifest,
)
from lakebed.manifest.approvals import Approval
from lakebed.manifest.table_properties import with_system_columns
from lakebed.model import Option, Schema
from lakebed.testing.schemas import json_values, paimon_schemas, schemas

_NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,8}(\.[a-z][a-z0-9_-]{0,8})?", fullmatch=True) | st.just("`a.b`.`c``d`")
_OPTION_KEYS = st.sampled_from(["bucket", FILE_FORMAT, SNAPSHOT_NUM_RETAINED_MAX, "on", "x y"])
_OPTIONS = st.dictionaries(
    _OPTION_KEYS, st.sampled_from(["4", "true", "no", "1e3", "", "a: b", "~", "a\nb"]), max_size=3
)
_PATTERNS = st.lists(st.sampled_from(["write-*", "*", "consumer.id", "no"]), max_size=2, unique=True).map(tuple)
_SOME_TEXTS = st.sampled_from(["no", "1e3", "a: b", "nobody reads it", "2026-01-01"])
_APPROVALS = st.lists(
    st.builds(
        Approval,
        st.sampled_from(["LB4203", "LB4206"]),
        _SOME_TEXTS,
        st.dates(date(1970, 1, 1)),
        st.none() | st.sampled_from(["a", ".comment", "`b.c`", "null"]),
        st.none() | _SOME_TEXTS,
    ),
    max_size=2,
).map(tuple)
_MODES = st.sampled_from([mode for mode in Compatibility if mode is not Compatibility.ODF])
_EVENT_KINDS = st.sampled_from(["SetVocab", "SetInfo", "SetLicense", "AddPushSource"])


@st.composite
def table_manifests(draw: DrawFn, *, paimon: bool = False) -> TableManifest:
    """A `kind: Table`; with `paimon`, one that a Paimon table can be made of."""
    schema = draw(paimon_schemas() if paimon else schemas())
    primary, partition = _keys(draw, schema)
    table = TableManifest(
        draw(_NAMES),
        schema,
        primary,
        partition,
        {} if paimon else draw(_OPTIONS),
        compatibility=draw(st.none() | st.sampled_from(Compatibility)),
        read=draw(st.none() | st.builds(ReadOptions, st.none() | st.just("csv"), _OPTIONS)),
        ignore_options=draw(_PATTERNS),
        approvals=draw(_APPROVALS),
        consumers=draw(_consumers(schema)),
    )
    taken = {"offset", "op", "system_time", "event_time"} & {f.name.lower() for f in schema.fields}
    if taken or paimon or not draw(st.booleans()):
        return table
    who = draw(st.sampled_from(SystemColumns))
    return replace(table, schema=with_system_columns(schema, who), system_columns=who)


@st.composite
def odf_manifests(draw: DrawFn) -> TableManifest:
    """A table declared by a dataset snapshot, a resource, a metadata event or a list of events."""
    schema = draw(schemas())
    primary, partition = _keys(draw, schema)
    kind = draw(st.sampled_from([kind for kind in SourceKind if kind is not SourceKind.TABLE]))
    keys, options, ignored = (primary, partition), draw(_OPTIONS), draw(_PATTERNS)
    table = TableManifest(draw(_NAMES), schema, *keys, options, source_kind=kind, ignore_options=ignored)
    compatibility = draw(st.none() | st.sampled_from(Compatibility))
    table = replace(table, approvals=draw(_APPROVALS), compatibility=compatibility, consumers=draw(_consumers(schema)))
    if kind is SourceKind.METADATA_EVENT:
        return replace(table, odf=OdfDocument())
    events = tuple(draw(st.lists(_events(), max_size=3)))
    document = OdfDocument(events, draw(st.integers(0, len(events))))
    if kind is not SourceKind.EVENTS:
        document = replace(document, dataset_kind=draw(st.none() | st.sampled_from(["Root", "Derivative"])))
    if kind is SourceKind.DATASET_RESOURCE:
        schema_id = "https://opendatafabric.org/schemas/dataset/v1alpha1/Dataset"
        document = replace(document, schema_id=schema_id, headers=draw(st.none() | _json_texts({"id": "x"})))
    return replace(table, odf=document)


def _consumers(schema: Schema) -> SearchStrategy[tuple[Consumer, ...]]:
    names = [path_text((f.name,)) for f in schema.fields]
    columns = st.lists(st.sampled_from(names), max_size=2, unique=True).map(tuple) if names else st.just(())
    consumer = st.builds(Consumer, _SOME_TEXTS, columns, st.none() | _SOME_TEXTS, _MODES)
    return st.lists(consumer, max_size=2, unique_by=lambda c: c.name).map(tuple)


def _keys(draw: DrawFn, schema: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names = [f.name for f in schema.fields]
    required = [f.name for f in schema.fields if not isinstance(f.type, Option)]

    def chosen(known: list[str]) -> tuple[str, ...]:
        return tuple(draw(st.lists(st.sampled_from(known), max_size=2, unique=True))) if known else ()

    return chosen(required), chosen(names)


def _events() -> SearchStrategy[OdfEvent]:
    def event(kind: str, content: Any) -> OdfEvent:
        return OdfEvent(kind, json.dumps({"kind": kind, "content": content}, ensure_ascii=False))

    return st.builds(event, _EVENT_KINDS, json_values())


def _json_texts(value: dict[str, Any]) -> SearchStrategy[str]:
    return json_values().map(lambda more: json.dumps({**value, "more": more}, ensure_ascii=False))
