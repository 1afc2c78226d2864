"""What a scalar means: text where text is expected, a JSON value where one is; the same for every YAML loader."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from ruamel.yaml import YAML

from lakebed.manifest import TableManifest, dump_table, parse_manifest
from lakebed.manifest.yaml_text import yaml_text
from lakebed.testing import json_values
from manifest.marked import table

# Words, numbers and dates that loaders of YAML 1.1 or 1.2 take for something other than text.
WORDS = (
    *("no", "No", "NO", "off", "yes", "on", "y", "n", "Y", "N", "true", "True", "false", "null", "Null", "NULL", "~"),
    *("1", "0", "-1", "+1", "0777", "0o17", "0x1F", "0b101", "1_000", "1e3", "1E3", "1.5", ".5", "1.", ".inf", "-.inf"),
    *(".nan", "12:30", "12:30:45", "190:20:30", "2024-01-01", "2024-01-01T10:00:00Z", "2024-01-01 10:00:00", "=", "<<"),
)
WORDS_AS_WRITTEN = [word for word in WORDS if word not in ("=", "<<")]


def loaded(text: str) -> TableManifest:
    return parse_manifest(text).tables[0]


@pytest.mark.parametrize("word", WORDS)
def test_names_are_text_as_it_is_written(word: str) -> None:
    fields = f"- name: {word}\n  type: String\n  extra: {{lakebed.dev/renamedFrom: {word}x}}"
    declared = loaded(table(fields, content=f"primaryKeys: [{word}]\noptions: {{{word}: {word}}}"))
    assert declared.schema.fields[0].name == word
    assert declared.primary_keys == (word,)
    assert dict(declared.options) == {word: word}


@pytest.mark.parametrize("word", WORDS_AS_WRITTEN)
def test_names_of_members_and_former_names_are_text_too(word: str) -> None:
    member = f"{{name: {word}, type: Int8, extra: {{lakebed.dev/renamedFrom: old}}}}"
    renamed = f"{{name: new, type: Int8, extra: {{lakebed.dev/renamedFrom: {word}}}}}"
    declared = loaded(table(f"- {{name: x, type: {{kind: Struct, fields: [{member}, {renamed}]}}}}"))
    members: Any = declared.schema.fields[0].type
    assert [m.name for m in members.fields] == [word, "new"]
    assert members.fields[1].extra == {"lakebed.dev/renamedFrom": word}


@pytest.mark.parametrize("word", [w for w in WORDS_AS_WRITTEN if w.lower() not in ("null", "~")])
def test_descriptions_are_text_as_it_is_written(word: str) -> None:
    fields = f"- {{name: x, type: String, extra: {{opendatafabric.org/description: {word}}}}}"
    declared = loaded(table(fields, content=f"description: {word}"))
    assert declared.description == word
    assert declared.schema.fields[0].description == word


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *((word, word) for word in ("no", "on", "y", "off", "yes", "2024-01-01", "12:30", "1_000", "0b1", "=", "<<")),
        *((word, None) for word in ("null", "~", "", "Null")),
        *(("true", True), ("False", False), ('"true"', "true"), ("'1'", "1"), ("! 1", "1"), ("!!str 1", "1")),
        *(("1", 1), ("-1", -1), ("+1", 1), ("0", 0), ("0x1F", 31), ("0o17", 15), ("18446744073709551616", 2**64)),
        *(("1e3", 1000.0), ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("-1E-3", -0.001), ("!!int 7", 7)),
        *(("0777", "0777"), ("-007", "-007"), ("00.5", 0.5)),
        *(("[1, [no]]", [1, ["no"]]), ("{no: {1: 2}}", {"no": {"1": 2}}), ("{}", {}), ("[]", [])),
        *(('"\\ud83d\\ude00"', "😀"), ('"\\u00e9\\n"', "é\n"), ('"a\\/b"', "a/b")),
    ],
)
def test_attributes_are_json_values_by_the_core_schema(written: str, value: object) -> None:
    declared = loaded(table(f"- name: x\n  type: String\n  extra:\n    a/b: {written}"))
    found = declared.schema.fields[0].extra["a/b"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("word", WORDS)
def test_what_is_written_is_text_for_loaders_of_both_versions(word: str) -> None:
    document: dict[str, Any] = {"key": word, word: [word, {word: word}]}
    for version in ((1, 1), (1, 2)):
        assert _as_loaded(yaml_text(document), version) == document


@given(json_values())
def test_any_json_value_is_read_alike_by_loaders_of_both_versions(value: Any) -> None:
    for version in ((1, 1), (1, 2)):
        assert _as_loaded(yaml_text({"value": value}), version) == {"value": value}


def _as_loaded(text: str, version: tuple[int, int]) -> Any:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = version  # type: ignore[assignment]
    return yaml.load(text)


def test_json_is_read_as_it_is() -> None:
    text = """{
\t"kind": "Table", "version": 1,
\t"content": {"name":"a.b","options":{"bucket":4,"x":true},"description":null,
\t\t"schema":{"fields":[{"name":"a","type":{"kind":"Timestamp","unit":null},"extra":{"a/b":[1.0,null]}}],"extra":null}}
}"""
    declared = loaded(text)
    assert declared.options == {"bucket": "4", "x": "true"}
    assert declared.description is None
    assert declared.schema.fields[0].extra["a/b"] == [1.0, None]


def test_values_for_a_column_keep_their_digits() -> None:
    price = "- {name: price, type: {kind: Decimal, precision: 4, scale: 2}, extra: {lakebed.dev/default: 1.10}}"
    day = "- {name: day, type: {kind: Option, inner: Date}, extra: {lakebed.dev/enum: [2024-01-01, 2024-01-02]}}"
    flag = "- {name: flag, type: Bool, extra: {lakebed.dev/default: false}}"
    count = '- {name: count, type: Int8, extra: {lakebed.dev/default: "7", lakebed.dev/enum: [7, 8]}}'
    parts = "- {name: parts, type: {kind: List, itemType: Int8}, extra: {lakebed.dev/default: [1, 2]}}"
    fields = loaded(table("\n".join((price, day, flag, count, parts)))).schema.fields
    assert fields[0].extra == {"lakebed.dev/default": "1.10"}
    assert fields[1].extra == {"lakebed.dev/enum": ["2024-01-01", "2024-01-02"]}
    assert fields[2].extra == {"lakebed.dev/default": False}
    assert fields[3].extra == {"lakebed.dev/default": "7", "lakebed.dev/enum": [7, 8]}
    assert fields[4].extra == {"lakebed.dev/default": [1, 2]}


def test_short_extended_types_become_long() -> None:
    link = "{kind: ObjectLink, linkType: Multihash}"
    fields = f"""
- {{name: a, type: String, extra: {{opendatafabric.org/type: Did}}}}
- {{name: b, type: String, extra: {{opendatafabric.org/type: {link}}}}}
- {{name: c, type: String, extra: {{opendatafabric.org/type: {{kind: Foobar, x: 1}}}}}}
"""
    extras = [f.extra["opendatafabric.org/type"] for f in loaded(table(fields)).schema.fields]
    assert extras == [
        {"kind": "Did"},
        {"kind": "ObjectLink", "linkType": {"kind": "Multihash"}},
        {"kind": "Foobar", "x": 1},
    ]


def test_texts_of_several_lines_are_written_for_people_to_read() -> None:
    text = yaml_text({"description": "First line.\nSecond: line # here.\n\nThird.", "odd": " x\ny", "end": "x\n"})
    assert text == ('description: |-\n  First line.\n  Second: line # here.\n\n  Third.\nodd: " x\\ny"\nend: "x\\n"\n')
    assert dump_table(loaded(table("- {name: x, type: String}"))).endswith("type:\n          kind: String\n")


@pytest.mark.parametrize("value", ["1", "[1, 2]", "{c: [1]}", "[{c: 1}, [2]]", '"a\\nb"'])
def test_long_keys_are_read_back(value: str) -> None:
    key = "a/" + "b" * 2000
    declared = loaded(table(f"- name: x\n  type: String\n  extra:\n    ? {key}\n    : {value}\n    a/c: 1"))
    assert list(declared.schema.fields[0].extra) == [key, "a/c"]
    assert loaded(dump_table(declared)) == declared
