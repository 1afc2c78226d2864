"""Chains: what an export writes is valid, and whatever is changed in it is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.newer import newer_writer
from events.reference import legacy_event
from lakebed.diagnostics import Severity
from lakebed.events import (
    Block,
    Chain,
    ChainReport,
    DatasetId,
    Event,
    Multihash,
    SchemaVersion,
    block_hash,
    decode_block,
    encode_block,
    encode_set_data_schema,
    event_from_json,
    export_chain,
    verify_chain,
    without_encodings,
)
from lakebed.model import Bool, Extra, Field, Int32, Int64, List, Map, Option, Schema, String, Struct, optional
from lakebed.testing import paimon_fields, paimon_schemas

IDENTITY = DatasetId.derived("test")
SEED = Event("Seed", {"datasetId": str(IDENTITY), "datasetKind": "Root"})
BASE = Schema((Field("id", Int64()), Field("city", Option(String()))))
BUFFER = "arrow.apache.org/bufferEncoding"
VIEW = {"kind": "View", "offsetBitWidth": 32}


def versions(*schemas: Schema, start: int = 1_700_000_000_000) -> list[SchemaVersion]:
    return [SchemaVersion(i, schema, start + 1000 * i) for i, schema in enumerate(schemas)]


def files_of(chain: Chain) -> dict[str, bytes]:
    return {str(block.hash): block.data for block in chain.blocks}


def check(chain: Chain) -> ChainReport:
    return verify_chain(files_of(chain), str(chain.head))


def chained(*events: Event, times: tuple[int, ...] = (), numbers: tuple[int, ...] = ()) -> tuple[dict[str, bytes], str]:
    """Blocks of any events, whose links and hashes are right."""
    files: dict[str, bytes] = {}
    previous: Multihash | None = None
    for place, event in enumerate(events):
        time = times[place] if times else place
        number = numbers[place] if numbers else place
        data = encode_block(Block(event, time, number, previous))
        previous = block_hash(data)
        files[str(previous)] = data
    return files, str(previous)


def codes(files: dict[str, bytes], head: str | None) -> list[str]:
    return [d.code for d in verify_chain(files, head).diagnostics]


@st.composite
def histories(draw: st.DrawFn) -> list[Schema]:
    """Schemas that follow each other by the rule: new optional columns, other attributes, another order."""
    schema = draw(paimon_schemas(max_size=3))
    found = [schema]
    for _ in range(draw(st.integers(0, 3))):
        taken = {f.name for f in schema.fields}
        new = draw(paimon_fields().filter(lambda f, taken=taken: f.name not in taken))
        fields = [*schema.fields, replace(new, type=optional(new.type))]
        schema = Schema(tuple(draw(st.permutations(fields))), draw(st.just(schema.extra) | st.just(Extra({"a/b": 1}))))
        found.append(schema)
    return found


@settings(max_examples=60)
@given(histories(), st.booleans())
def test_a_history_by_the_rule_makes_a_valid_chain(history: list[Schema], keep: bool) -> None:
    chain = export_chain(versions(*history), IDENTITY, keep_encodings=keep)
    assert chain == export_chain(reversed(versions(*history)), IDENTITY, keep_encodings=keep)
    report = check(chain)
    assert report.is_valid, report.diagnostics
    assert not chain.diagnostics
    assert [b.block.event.kind for b in report.blocks] == ["Seed", *["SetDataSchema"] * len(history)]
    assert [b.block.sequence_number for b in report.blocks] == list(range(len(history) + 1))
    wanted = history[-1] if keep else without_encodings(history[-1])
    assert report.schema == wanted
    for stored in chain.blocks[1:]:
        assert "rawArrowSchema" not in decode_block(stored.data).event.value


@settings(max_examples=40)
@given(st.data())
def test_any_change_of_any_block_is_found(data: st.DataObject) -> None:
    files = files_of(CHAIN)
    name = data.draw(st.sampled_from(sorted(files)))
    at = data.draw(st.integers(0, len(files[name]) - 1))
    changed = files[name][:at] + bytes([files[name][at] ^ data.draw(st.integers(1, 255))]) + files[name][at + 1 :]
    report = verify_chain({**files, name: changed}, str(CHAIN.head))
    assert not report.is_sound
    assert "LB2522" in [d.code for d in report.problems]
    # Named by its new hash it is another block, to which nothing leads; the old one is then missing.
    moved = {n: d for n, d in files.items() if n != name} | {str(block_hash(changed)): changed}
    found = [d.code for d in verify_chain(moved, str(CHAIN.head)).diagnostics]
    assert "LB2521" in found


WIDER = Schema((*BASE.fields, Field("area", Option(Int32()))))
CHAIN = export_chain(versions(BASE, WIDER), IDENTITY)


def test_the_same_versions_give_the_same_bytes_for_ever() -> None:
    assert str(CHAIN.head) == "f1620aee0ec2ee9619e4b35c10e4a945be2a3cb96c6b5cfc9f6bb6a3c5aaaa38ff8e8"


@pytest.mark.parametrize("missing", range(3))
def test_a_missing_block_is_named(missing: int) -> None:
    files = files_of(CHAIN)
    del files[str(CHAIN.blocks[missing].hash)]
    report = verify_chain(files, str(CHAIN.head))
    assert [d.code for d in report.diagnostics] == ["LB2521"]
    assert report.diagnostics[0].path == str(CHAIN.blocks[missing].hash)
    assert len(report.blocks) == 2 - missing


@pytest.mark.parametrize("head", [None, "", "nothing", b"\xff\xfe", "f1620", "x" * 5000])
def test_a_head_that_is_none(head: Any) -> None:
    assert codes(files_of(CHAIN), head)[:1] == ["LB2520"]


def test_a_head_may_end_with_a_line_break_and_be_behind() -> None:
    files = files_of(CHAIN)
    assert verify_chain(files, f"{CHAIN.head}\n").is_valid
    behind = verify_chain(files, str(CHAIN.blocks[1].hash))
    assert behind.is_valid
    assert [(d.code, d.severity) for d in behind.diagnostics] == [("LB2528", Severity.WARNING)]
    assert behind.schema == BASE


def test_other_files_are_told() -> None:
    report = verify_chain({**files_of(CHAIN), "README": b""}, str(CHAIN.head))
    assert report.is_valid
    assert [d.code for d in report.diagnostics] == ["LB2528"]


def declared(schema: Schema) -> Event:
    return Event.set_data_schema(schema)


@pytest.mark.parametrize(
    ("events", "times", "numbers", "found"),
    [
        ((SEED, declared(BASE)), (), (0, 2), ["LB2523"]),
        ((SEED, declared(BASE)), (), (1, 2), ["LB2523"]),
        ((SEED, declared(BASE)), (), (0, 0), ["LB2523"]),
        ((SEED, declared(BASE)), (5, 4), (), ["LB2524"]),
        ((SEED, declared(BASE)), (5, 5), (), []),
        ((declared(BASE),), (), (), ["LB2525"]),
        ((SEED, SEED), (), (), ["LB2525"]),
        ((SEED, Event("AddData")), (), (), []),
        ((SEED, event_from_json({"kind": "AddData", "newData": {"size": 1}})), (), (), ["LB2527"]),
        ((SEED, declared(BASE), event_from_json({"kind": "AddData", "newData": {"size": 1}})), (), (), []),
        ((SEED, Event("SetInfo", {"description": "x"})), (), (), []),
    ],
)
def test_order(events: tuple[Event, ...], times: tuple[int, ...], numbers: tuple[int, ...], found: list[str]) -> None:
    assert codes(*chained(*events, times=times, numbers=numbers)) == found


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        (BASE, ["LB4706"]),
        (Schema((Field("id", Int64()),)), ["LB4700"]),
        (Schema((Field("id", Int64()), Field("town", Option(String())))), ["LB4700"]),
        (Schema((Field("id", Int32()), Field("city", Option(String())))), ["LB4701"]),
        (Schema((*BASE.fields, Field("area", Int32()))), ["LB4702"]),
        (Schema((Field("id", Option(Int64())), Field("city", Option(String())))), ["LB4704"]),
        (Schema((Field("id", Int64()), Field("city", String()))), ["LB4705"]),
        (Schema((Field("id", Int32()), Field("city", Option(String())), Field("area", Option(Int32())))), ["LB4701"]),
        (Schema(tuple(reversed(BASE.fields))), []),
        (Schema(BASE.fields, Extra({"a/b": 1})), []),
        (WIDER, []),
    ],
)
def test_the_rule(schema: Schema, found: list[str]) -> None:
    """The last of those that are refused hides the change of a type behind a new column."""
    files, head = chained(SEED, declared(BASE), declared(schema))
    report = verify_chain(files, head)
    assert sorted({d.code for d in report.problems} - {"LB4702"}) == sorted(set(found) - {"LB4702"})
    assert bool(report.problems) is bool(found)
    assert report.is_sound
    assert report.is_valid is not bool(found)
    exported = export_chain(versions(BASE, schema), IDENTITY)
    if found == ["LB4706"]:
        assert [(d.code, d.severity) for d in exported.diagnostics] == [("LB2530", Severity.NOTE)]
    else:
        assert {d.code for d in exported.diagnostics} == {d.code for d in report.problems}
        assert all(d.severity is Severity.WARNING for d in exported.diagnostics)


def test_the_first_upgrade_of_a_legacy_schema_may_change_optionality_once() -> None:
    pytest.importorskip("pyarrow")
    optional_ = Schema((Field("a", Option(Int64())), Field("b", Bool())))
    assert codes(*chained(SEED, legacy_event(), declared(optional_))) == []
    retyped = Schema((Field("a", Option(Int32())), Field("b", Bool())))
    assert "LB4701" in codes(*chained(SEED, legacy_event(), declared(retyped)))
    again = Schema((Field("a", Int64()), Field("b", Bool())))
    assert codes(*chained(SEED, legacy_event(), declared(optional_), declared(again))) == ["LB4705"]


def test_an_unreadable_block_ends_the_walk_and_is_named() -> None:
    files, head = chained(SEED, declared(BASE))
    broken = b"whatever it is"
    data = encode_block(Block(declared(WIDER), 3, 2, block_hash(broken)))
    files |= {str(block_hash(broken)): broken, str(block_hash(data)): data}
    report = verify_chain(files, str(block_hash(data)))
    assert [d.code for d in report.problems] == ["LB2526"]
    assert "(LB2500)" in report.problems[0].message
    assert report.schema == WIDER
    assert head in files


def test_events_of_a_newer_writer_do_not_stop_the_walk() -> None:
    with newer_writer():
        files, head = chained(SEED, Event("SetColour", {"description": "red"}), declared(BASE))
    report = verify_chain(files, head)
    assert report.is_valid
    assert [b.block.event.kind for b in report.blocks] == ["Seed", "metadata event 14", "SetDataSchema"]
    assert [d.code for d in report.diagnostics] == ["LB2506"]


HINTS = Schema(
    (
        Field("s", String(), Extra({BUFFER: VIEW, "paimon.apache.org/type": "VARCHAR(5)", "x.org/unit": "m"})),
        Field(
            "l",
            List(Map(String(), Struct((Field("d", Option(String()), Extra({"paimon.apache.org/type": "CHAR(2)"})),)))),
            Extra({"x.org/keep": {"paimon.apache.org/type": "kept"}}),
        ),
    ),
    Extra({"x.org/owner": "me"}),
)


def test_encodings_are_left_out_at_every_depth_unless_they_are_kept() -> None:
    plain = without_encodings(HINTS)
    assert plain.to_json() == {
        "fields": [
            {"name": "s", "type": {"kind": "String"}, "extra": {"x.org/unit": "m"}},
            {
                "name": "l",
                "type": {
                    "kind": "List",
                    "itemType": {
                        "kind": "Map",
                        "keyType": {"kind": "String"},
                        "valueType": {
                            "kind": "Struct",
                            "fields": [{"name": "d", "type": {"kind": "Option", "inner": {"kind": "String"}}}],
                        },
                    },
                },
                "extra": {"x.org/keep": {"paimon.apache.org/type": "kept"}},
            },
        ],
        "extra": {"x.org/owner": "me"},
    }
    assert check(export_chain(versions(HINTS), IDENTITY)).schema == plain
    assert check(export_chain(versions(HINTS), IDENTITY, keep_encodings=True)).schema == HINTS
    only_hints = versions(plain, HINTS)
    assert len(export_chain(only_hints, IDENTITY).blocks) == 2
    assert len(export_chain(only_hints, IDENTITY, keep_encodings=True).blocks) == 3


def test_the_writer_itself_keeps_what_it_is_given() -> None:
    assert b"bufferEncoding" in encode_set_data_schema(HINTS)


def test_time_never_goes_back_and_it_is_told() -> None:
    late, early = SchemaVersion(0, BASE, 5000), SchemaVersion(1, WIDER, 4000)
    chain = export_chain([late, early], IDENTITY)
    assert [b.block.system_time for b in chain.blocks] == [5000 * 10**6] * 3
    assert [d.code for d in chain.diagnostics] == ["LB2531"]
    assert check(chain).is_valid


def test_how_sources_are_read_is_no_part_of_a_chain() -> None:
    read = {"lakebed.dev/read": {"kind": "Csv"}, "example.org/owner": "x"}
    other = {**read, "lakebed.dev/read": {"kind": "NdJson"}}
    first, second = (replace(BASE, extra=Extra(said)) for said in (read, other))
    for keep in (False, True):
        chain = export_chain(versions(first, second), IDENTITY, keep_encodings=keep)
        assert len(chain.blocks) == 2
        assert b"lakebed.dev/read" not in chain.blocks[1].data
        assert b"example.org/owner" in chain.blocks[1].data
