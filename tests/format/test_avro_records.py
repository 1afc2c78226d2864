"""Records are decoded as the Avro library decodes them, whatever their schema; damaged ones are errors."""

from __future__ import annotations

import io
import json
import struct
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.format.avro_container import read_header, with_stored_values
from lakebed.format.avro_records import MissingPartError, decoder

LONGS = st.one_of(st.integers(-70, 70), st.integers(-(2**63), 2**63 - 1))
PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": LONGS,
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "bytes": st.binary(max_size=80),
    "string": st.text(max_size=80),
}
DAMAGE = (ValueError, EOFError, IndexError, TypeError, struct.error)
#: A schema, and its values.
Typed = tuple[Any, st.SearchStrategy[Any]]


@st.composite
def schemas(draw: st.DrawFn, depth: int = 2) -> Typed:
    """A schema with the values that it has; names are given afterwards."""
    kinds = ["plain", "plain", "plain", "fixed", "enum"] + ["array", "map", "optional", "record"] * (depth > 0)
    match draw(st.sampled_from(kinds)):
        case "fixed":
            size = draw(st.integers(1, 5))
            return {"type": "fixed", "size": size}, st.binary(min_size=size, max_size=size)
        case "enum":
            return {"type": "enum", "symbols": ["A", "B", "C"]}, st.sampled_from("ABC")
        case "array":
            items, values = draw(schemas(depth - 1).filter(lambda found: found[0] != "null"))
            return {"type": "array", "items": items}, st.lists(values, max_size=3)
        case "map":
            items, values = draw(schemas(depth - 1))
            return {"type": "map", "values": items}, st.dictionaries(st.text(max_size=5), values, max_size=3)
        case "optional":
            inner, values = draw(
                schemas(depth - 1).filter(lambda found: found[0] != "null" and type(found[0]) is not list)
            )
            return ["null", inner], st.one_of(st.none(), values)
        case "record":
            return draw(records(depth - 1))
    kind = draw(st.sampled_from(sorted(PLAIN)))
    return kind, PLAIN[kind]


@st.composite
def records(draw: st.DrawFn, depth: int = 2) -> Typed:
    """The schema of a record, and its values."""
    members = draw(st.lists(schemas(depth), min_size=1, max_size=4))
    names = [f"f{number}" for number in range(len(members))]
    fields = [{"name": name, "type": type_} for name, (type_, _) in zip(names, members, strict=True)]
    values = {name: values for name, (_, values) in zip(names, members, strict=True)}
    return {"type": "record", "fields": fields}, st.fixed_dictionaries(values)


def named(schema: Any, numbers: Any) -> Any:
    """The schema with a name of its own for each type in it that needs one."""
    match schema:
        case list():
            return [named(part, numbers) for part in schema]
        case dict():
            out = {
                key: named(part, numbers) if key in ("type", "items", "values") else part
                for key, part in schema.items()
            }
            if "fields" in schema:
                out["fields"] = [{**field, "type": named(field["type"], numbers)} for field in schema["fields"]]
            return {**out, "name": f"n{next(numbers)}"} if schema["type"] in ("record", "fixed", "enum") else out
        case _:
            return schema


@st.composite
def containers(draw: st.DrawFn) -> tuple[Any, list[Any]]:
    """A schema of records, and some of them."""
    schema, values = draw(records().filter(lambda found: takes_bytes(found[0])))
    return named(schema, iter(range(1000))), draw(st.lists(values, max_size=4))


def takes_bytes(schema: Any) -> bool:
    """Whether no array in it holds values that take no bytes: how many there are could not be checked."""
    match schema:
        case list():
            return all(takes_bytes(part) for part in schema)
        case {"type": "array", "items": inner}:
            return not is_empty(inner) and takes_bytes(inner)
        case {"type": "map", "values": inner}:
            return takes_bytes(inner)
        case {"type": "record", "fields": fields}:
            return all(takes_bytes(field["type"]) for field in fields)
        case _:
            return True


def is_empty(schema: Any) -> bool:
    match schema:
        case "null":
            return True
        case {"type": "record", "fields": fields}:
            return all(is_empty(field["type"]) for field in fields)
        case _:
            return False


def written(schema: Any, values: list[Any]) -> bytes:
    out = io.BytesIO()
    fastavro.writer(out, schema, values, codec="null", sync_interval=60)
    return out.getvalue()


def blocks(data: bytes) -> list[tuple[bytes, int]]:
    return [(block.bytes_.getvalue(), block.num_records) for block in fastavro.block_reader(io.BytesIO(data))]


@given(containers())
def test_records_are_what_the_library_reads(container: tuple[Any, list[Any]]) -> None:
    data = written(*container)
    header = read_header(data)
    expected = list(fastavro.reader(io.BytesIO(with_stored_values(data, header))))
    decode = decoder(header.text)
    assert [record for block in blocks(data) for (record,) in decode(*block)] == expected
    names = [field["name"] for field in container[0]["fields"]]
    decode = decoder(header.text, tuple(((name,), True) for name in reversed(names)))
    found = [values for block in blocks(data) for values in decode(*block)]
    assert found == [tuple(record[name] for name in reversed(names)) for record in expected]


@given(containers(), st.data())
def test_damage_is_an_error_or_other_records(container: tuple[Any, list[Any]], data: st.DataObject) -> None:
    content = written(*container)
    decode = decoder(read_header(content).text)
    for block, count in blocks(content):
        if not block:
            continue
        at = data.draw(st.integers(0, len(block) - 1))
        changed = bytearray(block)
        changed[at] = data.draw(st.integers(0, 255))
        for damaged in (bytes(changed), block[:at]):
            try:
                assert len(list(decode(damaged, count))) == count
            except DAMAGE:
                continue
            assert damaged != block[:at], "a block that was cut off gave all of its records"


RECORD = {
    "type": "record",
    "name": "r",
    "fields": [
        {"name": "a", "type": {"type": "record", "name": "space.inner", "fields": [{"name": "x", "type": "int"}]}},
        {"name": "b", "type": ["null", "space.inner"]},
        {"name": "c", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}


def test_parts_of_records_inside() -> None:
    schema = json.dumps(RECORD).encode()
    wanted = ((("b", "x"), True), (("c",), True), (("a", "x"), True), (("d",), False), (("a", "y"), False))
    data = bytes([2, 2, 4, 6, 8, 0, 10])
    assert list(decoder(schema, wanted)(data, 2)) == [(2, 3, 1, None, None), (None, 5, 4, None, None)]
    whole = [{"a": {"x": 1}, "b": {"x": 2}, "c": 3}, {"a": {"x": 4}, "b": None, "c": 5}]
    assert [record for (record,) in decoder(schema)(data, 2)] == whole


def test_a_part_that_every_file_has_is_asked_for() -> None:
    with pytest.raises(MissingPartError, match="y"):
        decoder(json.dumps(RECORD).encode(), ((("a", "y"), True),))


@pytest.mark.parametrize(
    "type_",
    [
        {"type": "array", "items": "null"},
        {"type": "fixed", "name": "f", "size": -1},
        "of another time",
        {"type": "record", "name": "r2", "fields": [{"name": "x", "type": ["null", "r2"]}] * 8},
        5,
    ],
)
def test_what_is_no_schema_to_read_by_is_refused(type_: Any) -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": type_}]}
    with pytest.raises((ValueError, KeyError)):
        decoder(json.dumps(schema).encode())


def test_names_are_no_code() -> None:
    name = "x'}, print('code'), {'y"
    schema = {"type": "record", "name": "r", "fields": [{"name": name, "type": "int"}]}
    assert list(decoder(json.dumps(schema).encode())(bytes([2]), 1)) == [({name: 1},)]


@pytest.mark.parametrize("data", [b"\xff" * 11 + b"\x00", b"\x03", b"\x80", b"", b"\x02", b"\x02\x02\x02"])
def test_lengths_and_numbers_that_cannot_be(data: bytes) -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "bytes"}]}
    with pytest.raises(DAMAGE):
        list(decoder(json.dumps(schema).encode())(data, 1))
