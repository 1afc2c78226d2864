"""JSON that goes into text, and numbers that a VARIANT does not keep, are the characters of the source."""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from ingest.ingest_lake import SmallLake
from ingest.test_read_schemas import applied
from lakebed.errors import IngestError
from lakebed.ingest.sources.json_exact import DEPTH, in_doubt, wanted, written_again
from lakebed.ingest.sources.json_values import parse
from lakebed.model import Decimal, Field, Float32, Float64, Int32, List, Map, Option, String, Struct, UInt64
from lakebed.physical.paimon_types import STRING, Array, DataField, Row
from lakebed.physical.paimon_types import Map as StoredMap

#: Values as they are written, of which a VARIANT keeps the last four only.
WRITTEN = [
    "1.10",
    "1e23",
    "1e400",
    "-0",
    "-0.0",
    "1.0",
    "123456789012345678901234567890123456789012",
    '{"b": 1.10, "a" : {"z":[1e5 , "x\\"}"], "\\u0061": null}}',
    '[1.10,  2, {"k":-0}]',
    "[ ]",
    "true",
    "17",
    "1.5",
    "0",
]
TEXT = "{kind: Option, inner: String}"
NESTED = (
    f"{{kind: Struct, fields: [{{name: t, type: {TEXT}}}, {{name: l, type: {{kind: Option, inner: {{kind: List, "
    f"itemType: {TEXT}}}}}}}, {{name: m, type: {{kind: Option, inner: {{kind: Map, keyType: String, "
    f"valueType: {TEXT}}}}}}}]}}"
)
FIELDS = (
    f"{{name: i, type: Int32}}, {{name: t, type: {TEXT}}}, {{name: n, type: {{kind: Option, inner: {NESTED}}}}}, "
    f"{{name: d, type: {{kind: Option, inner: {{kind: List, itemType: {NESTED}}}}}}}"
)


@pytest.mark.parametrize("kind", ["NdJson", "Json"])
def test_text_is_what_the_source_says_at_every_nesting(tmp_path: Path, spark: SparkSession, kind: str) -> None:
    lake = applied(tmp_path, spark, f"{{kind: {kind}}}", FIELDS)
    nested = [f'{{"t": {w}, "l": ["a", {w}, null], "m": {{"{i}": {w}, "s": "1"}}}}' for i, w in enumerate(WRITTEN)]
    lines = [
        f'{{"i": {i}, "t": {w}, "n": {n}, "d":[{n}]}}' for i, (w, n) in enumerate(zip(WRITTEN, nested, strict=True))
    ]
    lines += ['{"i": 90, "t": "1.10", "n": null}', '{"i": 91, "n": {"t": "\\"{", "l": ["\\u00e9"]}, "\\u0074": 1.0}']
    text = "\n".join(lines) if kind == "NdJson" else "[" + ",\n".join(lines) + "]"
    result = lake.ingest(lake.file("a.json", text + "\n"))
    assert (result.rows_quarantined, result.rows_written) == (0, len(lines))
    rows = lake.rows(order="i")
    for row, written in zip(rows, WRITTEN, strict=False):
        made = {"t": written, "l": ["a", written, None], "m": [(str(row["i"]), written), ("s", "1")]}
        assert row == {"i": row["i"], "t": written, "n": made, "d": [made]}
    assert [(r["t"], r["n"]) for r in rows[-2:]] == [("1.10", None), ("1.0", {"t": '"{', "l": ["é"], "m": None})]


#: Numbers of great exponents, and what is wrong with each in a column of whole numbers.
EXPONENTS = {
    "1e-999999": "LB6204",
    "-1e-2147483648": "LB6204",
    "1e400": "LB6203",
    "-1e2147483647": "LB6203",
    "1E+2147483648": "LB6203",
    "1e99999999999999999999": "LB6203",
    "12345678901234567890": "LB6203",
}


@pytest.mark.parametrize("kind", ["NdJson", "Json"])
def test_numbers_of_great_exponents_are_kept_as_text_and_bad_as_numbers(
    tmp_path: Path, spark: SparkSession, kind: str
) -> None:
    types = {"t": "String", "i": "Int64", "d": "{kind: Decimal, precision: 38, scale: 10}", "b": "Int8"}
    parts = ", ".join(f"{{name: {n}, type: {{kind: Option, inner: {t}}}}}" for n, t in types.items())
    inner = f"{{kind: Struct, fields: [{parts}]}}"
    listed, mapped = f"{{kind: List, itemType: {inner}}}", f"{{kind: Map, keyType: Int64, valueType: {inner}}}"
    nested = ", ".join(
        f"{{name: {n}, type: {{kind: Option, inner: {t}}}}}" for n, t in (("s", inner), ("l", listed), ("m", mapped))
    )
    lake = applied(tmp_path, spark, f"{{kind: {kind}}}", f"{{name: k, type: Int32}}, {parts}, {nested}")
    shapes = {"": "{}", "s.": '"s": {{{}}}', "l[0].": '"l": [{{{}}}]', "m['7'].": '"m": {{"7": {{{}}}}}'}
    made = [
        (f"{path}{name}", shape.format(f'"{name}": {written}'), number)
        for number in EXPONENTS
        for written in (number, f'"{number}"')
        for path, shape in shapes.items()
        for name in types
    ]
    made += [("m.keys[0]", f'"m": {{"{number}": {{}}}}', number) for number in EXPONENTS]
    lines = [f'{{"k": {k}, {text}}}' for k, (_, text, _) in enumerate(made)]
    lake.ingest(lake.file("a.json", "\n".join(lines) if kind == "NdJson" else "[" + ",".join(lines) + "]"))
    fits = [(path, number) for path, _, number in made if path[-1] == "t"]
    fits += [(path, number) for path, _, number in made if path[-1] == "d" and number.isdigit()]
    found = [
        (path, str(value).removesuffix("." + "0" * 10))
        for row in lake.rows(order="k")
        for path, value in _leaves("", {name: value for name, value in row.items() if name != "k"})
    ]
    assert sorted(found) == sorted(fits)
    assert lake.problems() == {
        (path, EXPONENTS[number], number) for path, _, number in made if (path, number) not in fits
    }


def _leaves(path: str, value: Any) -> list[tuple[str, Any]]:
    """What is there, with the path of each as problems show it."""
    match value:
        case None:
            return []
        case dict():
            return [leaf for name, inner in value.items() for leaf in _leaves(f"{path}.{name}".lstrip("."), inner)]
        case [(key, inner)]:
            return _leaves(f"{path}['{key}']", inner)
        case [inner]:
            return _leaves(f"{path}[0]", inner)
        case _:
            return [(path, value)]


@pytest.mark.parametrize("kind", ["NdJson", "Json"])
def test_a_number_is_a_day_or_bytes_by_its_characters(tmp_path: Path, spark: SparkSession, kind: str) -> None:
    flat = {"b": "Binary", "d": "Date", "t": "{kind: Timestamp, unit: Microsecond}"}
    parts = ", ".join(f"{{name: {n}, type: {{kind: Option, inner: {t}}}}}" for n, t in flat.items())
    inner = f"{{kind: Option, inner: {{kind: Struct, fields: [{parts}]}}}}"
    listed = f"{{kind: Option, inner: {{kind: List, itemType: {inner}}}}}"
    mapped = f"{{kind: Option, inner: {{kind: Map, keyType: String, valueType: {inner}}}}}"
    fields = f"{{name: s, type: {inner}}}, {{name: l, type: {listed}}}, {{name: m, type: {mapped}}}"
    read = f"{{kind: {kind}, dateFormat: [yyyy.MM, yyyyMMdd], timestampFormat: yyyyMMdd.HHmm}}"
    lake = applied(tmp_path, spark, read, f"{{name: k, type: Int32}}, {parts}, {fields}")
    day, moment = datetime.date(2024, 10, 1), datetime.datetime(2024, 10, 1, 12, 30, tzinfo=datetime.UTC)
    values = [
        ("d", "2024.10", day),
        ("d", '"2024.10"', day),
        ("d", "20241001", day),
        ("d", "2024.1", None),
        ("d", "-0", None),
        ("t", "20241001.1230", moment),
        ("t", "20241001.123", None),
        ("b", "1e400", None),
        ("b", "-1e400", None),
        ("b", "1e40", b"\xd5\xee4"),
        ("b", '"1e40"', b"\xd5\xee4"),
        ("b", "1.10", None),
    ]
    shapes = ["{}", '"s": {{{}}}', '"l": [{{{}}}]', '"m": {{"x": {{{}}}}}']
    texts = [shape.format(f'"{name}": {written}') for shape in shapes for name, written, _ in values]
    lines = [f'{{"k": {k}, {text}}}' for k, text in enumerate(texts)]
    lake.ingest(lake.file("a.json", "\n".join(lines) if kind == "NdJson" else "[" + ",".join(lines) + "]"))
    paths = ["", "s.", "l[0].", "m['x']."]
    assert [leaf for row in lake.rows(order="k") for leaf in _leaves("", {**row, "k": None})] == [
        (path + name, value) for path in paths for name, _, value in values if value is not None
    ]
    assert lake.problems() == {
        (path + name, "LB6202", written) for path in paths for name, written, value in values if value is None
    }


def test_numbers_that_are_out_of_range_or_have_too_many_digits_are_bad(lake: SmallLake) -> None:
    inner = Struct((Field("f", Option(Float32())), Field("d", Option(Decimal(10, 2)))))
    lake.create(
        Field("i", Int32()),
        Field("f", Option(Float64())),
        Field("g", Option(Float32())),
        Field("d", Option(Decimal(10, 2))),
        Field("s", Option(inner)),
        Field("l", Option(List(Float64()))),
        Field("m", Option(Map(String(), Float64()))),
    )
    big = "9" * 400
    lines = [
        '"f": 1e400',
        '"f": "1e400"',
        f'"f": -{big}',
        '"g": 1e39',
        '"d": 1e-400',
        '"s": {"f": 1e39, "d": 1e-400}',
        '"l": [1.0, 1e400]',
        '"m": {"a": -1e400}',
        '"f": 1e-400, "g": 1.10, "d": 1.10, "s": {"d": 2.50}, "l": [5e-324, 1e308], "m": {"a": 1e5}',
        '"f": "Infinity", "l": ["-Infinity"]',
    ]
    result = lake.ingest(lake.file("a.json", "".join(f'{{"i": {i}, {line}}}\n' for i, line in enumerate(lines))))
    assert lake.problems() == {
        ("f", "LB6203", "1e400"),
        ("f", "LB6203", f"-{big}"[:200] + "…"),
        ("g", "LB6203", "1.0E39"),
        ("d", "LB6204", "1e-400"),
        ("s.f", "LB6203", "1e39"),
        ("s.d", "LB6204", "1e-400"),
        ("l[1]", "LB6203", "1e400"),
        ("m['a']", "LB6203", "-1e400"),
    }
    assert (result.rows_quarantined, result.rows_written) == (8, 2)
    small, infinite = lake.rows(order="i")
    assert (small["f"], small["l"], small["m"]) == (0.0, [5e-324, 1e308], [("a", 1e5)])
    assert (infinite["f"], infinite["l"]) == (math.inf, [-math.inf])


def test_decimals_have_all_their_digits_or_are_bad(lake: SmallLake) -> None:
    lake.create(Field("k", Int32()), Field("d", Option(Decimal(38, 2))), Field("u", Option(UInt64())))
    written = {
        1: "0.3000000000000000001e0",
        2: "1.000000000000000000000000000000000000000001",
        3: "1.00000000000000001e0",
        4: "0." + "0" * 400 + "1",
        5: "0.3" + "0" * 45 + "1",
        6: "0.10e1",
        7: "123456789012345678.25",
        8: "100000000000000001",
    }
    lines = [f'\t {{"k":{k},"d":{text}}}\n' for k, text in written.items()]
    lake.ingest(lake.file("a.jsonl", "".join([*lines, ' \t \n{"k":9,"u":18446744073709551615}\n'])))
    assert {(code, found) for _, code, found in lake.problems()} == {
        ("LB6204", text if len(text) <= 200 else text[:200] + "…") for k, text in written.items() if k <= 5
    }
    assert [(row["k"], str(row["d"])) for row in lake.rows(order="k") if row["k"] != 9] == [
        (6, "1.00"),
        (7, "123456789012345678.25"),
        (8, "100000000000000001.00"),
    ]


def test_json_in_a_csv_cell_and_json_by_allowed_grammar(lake: SmallLake) -> None:
    inner = Struct((Field("t", Option(String())), Field("u", Option(String()))))
    lake.create(Field("s", Option(inner)))
    lake.ingest(lake.file("a.csv", 's\n"{""t"": 1.10, ""u"": {""b"": [1e5, 2]}}"\n'))
    options = {"allowSingleQuotes": True, "allowComments": True, "allowUnquotedFieldNames": True}
    text = "{s: {'t': 1.10, /* it's } */ u : {'b': \"1\", a: 1.0}}}\n{'s': {'t': '1.0', u: 0}}\n"
    lake.ingest(lake.file("b.json", text), options=options)
    found = {(r["s"]["t"], r["s"]["u"]) for r in lake.rows()}
    assert found == {("1.0", "0"), ("1.10", "{'b': \"1\", a: 1.0}"), ("1.10", '{"b": [1e5, 2]}')}


def test_what_is_nested_too_deeply_is_bad_only_where_it_is_taken_apart(lake: SmallLake) -> None:
    lake.create(Field("i", Int32()), Field("t", Option(String())))
    fits, deep = ("[" * n + "]" * n for n in (DEPTH, DEPTH + 2))
    lines = [f'{{"i": 1, "t": {fits}}}', f'{{"i": 2, "t": {deep}}}', f'{{"i": 3, "t": {json.dumps(deep)}}}']
    lake.ingest(lake.file("a.json", "\n".join(lines)))
    assert [(r["i"], r["t"]) for r in lake.rows(order="i")] == [(1, fits), (3, deep)]
    assert [(p["code"], r["raw"]) for r in lake.bad() for p in r["problems"]] == [("LB6210", lines[1])]


def test_what_is_in_no_doubt_is_kept_and_all_else_is_written_again(
    spark: SparkSession,
) -> None:
    member = DataField(0, "a", STRING)
    types = [Array(STRING), StoredMap(STRING, STRING), Row((member,)), Array(Row((member,))), Array(Array(STRING))]
    values = ["1", "1.50", "-0", '"x"', "null", "true", "{}", '{"a":1}', '{"a": "[1,"}', "[]", '["b",2.0]', "[[1]]"]
    given = [make(v) for v in values for make in (lambda v: v, lambda v: f"[{v}]", lambda v: f'{{"a":{v}}}')]
    frame = spark.createDataFrame([(g,) for g in given], "x string")
    for type_ in types:
        want = wanted(type_)
        columns = [
            in_doubt(F.col("x"), want, {}),
            written_again(F.col("x"), want, {}),
            F.to_json(parse(F.col("x"))),
        ]
        for doubt, again, parsed, row in frame.select(*columns, "x").collect():
            expected = _strings(json.loads(row, parse_float=_Written, parse_int=_Written), type_)
            for text in [again] if doubt else [again, parsed]:
                made = _strings(json.loads(text, parse_float=_Written, parse_int=_Written), type_)
                assert _plain(made) == _plain(expected), (type_, row, text)


class _Written(str):
    """A number by its characters."""


def _strings(value: Any, type_: Any) -> Any:
    """The value with what has to be text as text, by the type."""
    match type_, value:
        case Array(element=element), list():
            return [_strings(v, element) for v in value]
        case StoredMap(value=inner), dict():
            return {k: _strings(v, inner) for k, v in value.items()}
        case Row(fields=fields), dict():
            types = {f.name: f.type for f in fields}
            return {k: _strings(v, types[k]) if k in types else v for k, v in value.items()}
        case _, (None | str()) if not isinstance(value, _Written) or type_ == STRING:
            return None if value is None else str(value)
        case _, bool() if type_ == STRING:
            return "true" if value else "false"
        case _, (dict() | list()) if type_ == STRING:
            return _source(value)
        case _, _Written():
            return "#"
        case _, list():
            return [_strings(v, None) for v in value]
        case _, dict():
            return {k: _strings(v, None) for k, v in value.items()}
        case _:
            return value


def _source(value: Any) -> str:
    """A value as JSON, numbers as they are written."""
    match value:
        case _Written():
            return str(value)
        case dict():
            return "{" + ",".join(f"{json.dumps(k)}:{_source(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_source, value)) + "]"
        case _:
            return json.dumps(value)


def _plain(value: Any) -> str:
    return json.dumps(value).replace(" ", "")


def test_a_key_that_is_there_twice_is_told_from_what_is_no_json(lake: SmallLake) -> None:
    lake.create(Field("t", Option(String())))
    twice = ['{"t":1,"t":2}', '{"t":{"a":1,"a":1}}', '{"t": "", "o": [{"a": 1, "a": 2}]}']
    broken = ['{"t":1}}', '{"t":1}{"t":2}', '{"t":1}, {"t":2}', '{"t":', "7"]
    lake.ingest(lake.file("a.json", "\n".join(twice + broken)))
    told = {r["raw"]: [(p["code"], p["expected"]) for p in r["problems"]] for r in lake.bad()}
    assert [told[line] for line in twice] == [[("LB6208", "one JSON object in which no key is there twice")]] * 3
    assert [told[line] for line in broken] == [[("LB6208", "one JSON object")]] * 5


def test_equal_names_of_a_struct_are_called_that(lake: SmallLake) -> None:
    lake.create(Field("t", Option(String())))
    for query, words in (("select 1 t, 2 t", "a name more than once"), ("select 1 t, 2 T", "differ only in case")):
        with pytest.raises(IngestError) as caught:
            lake.ingest(lake.spark.sql(query))
        assert words in caught.value.diagnostics[0].message
