"""The parts that need no Spark: files, options, shapes of JSON, what runs are called, the search for Java."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.catalog.names import TableName
from lakebed.errors import LakebedError, NotFoundError, UnsupportedError, UsageError
from lakebed.ingest.run_history import file_run_id
from lakebed.ingest.sources.csv_header import read_header
from lakebed.ingest.sources.json_values import Shape, read_shape, unknown_keys
from lakebed.ingest.sources.source_files import SourceFile, SourceFormat, format_of, identify
from lakebed.ingest.sources.source_listing import FoundFile, find_files
from lakebed.ingest.sources.source_options import check_options
from lakebed.model import Field, Int32, List, Map, Option, String, Struct
from lakebed.spark.session import check_java, check_server
from lakebed.spark.sql_names import spark_pattern

USUAL = check_options(SourceFormat.CSV, None)


# -- shapes of JSON ------------------------------------------------------------------------------------------------


def flat(shape: Shape) -> object:
    if shape.item is not None:
        return [flat(shape.item)]
    return {name: flat(inner) for name, inner in shape.keys.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("VOID", {}),
        (None, {}),
        ("OBJECT<>", {}),
        ("OBJECT<a: BIGINT, b: DECIMAL(25,25), c: STRING>", {"a": {}, "b": {}, "c": {}}),
        ("OBJECT<a: OBJECT<u: VOID>, `a b`: ARRAY<OBJECT<`<, >`: ARRAY<VOID>>>, ````: DOUBLE>",
         {"a": {"u": {}}, "a b": [{"<, >": [{}]}], "`": {}}),
    ],
)  # fmt: skip
def test_shapes_are_read(text: str | None, expected: object) -> None:
    assert flat(read_shape(text)) == expected


names = st.text(min_size=1, max_size=5)
shapes = st.recursive(
    st.just(Shape()),
    lambda inner: st.one_of(
        st.dictionaries(names, inner, max_size=3).map(lambda keys: Shape(keys=keys)),
        inner.map(lambda item: Shape(item=item)),
    ),
    max_leaves=8,
)


def spelled(shape: Shape) -> str:
    if shape.item is not None:
        return f"ARRAY<{spelled(shape.item)}>"
    if shape.keys:
        members = (f"`{n.replace('`', '``')}`: {spelled(s)}" for n, s in shape.keys.items())
        return f"OBJECT<{', '.join(members)}>"
    return "DECIMAL(3,1)"


@given(shapes)
def test_any_shape_is_read_back(shape: Shape) -> None:
    assert flat(read_shape(spelled(shape))) == flat(shape)


def test_several_shapes_say_all_their_keys() -> None:
    texts = ["OBJECT<id: BIGINT, l: ARRAY<OBJECT<a: VOID>>>", "OBJECT<ID: BIGINT, l: ARRAY<OBJECT<b: STRING>>>"]
    found = read_shape(json.dumps(texts))
    together = "OBJECT<ID: BIGINT, id: BIGINT, l: ARRAY<OBJECT<a: VOID, b: STRING>>>"
    assert flat(found) == flat(read_shape(together))
    assert [read_shape(json.dumps(texts)).word for texts in ((), ("VOID", "BIGINT"), ("STRING", "BIGINT"))] == [
        "VOID",
        "BIGINT",
        "VARIANT",
    ]


def test_unknown_keys_have_paths() -> None:
    inner = Struct((Field("x", Int32()),))
    fields = (("a", Option(inner)), ("l", List(inner)), ("m", Map(String(), inner)), ("s", String()))
    text = (
        "OBJECT<a: OBJECT<x: BIGINT, y: BIGINT>, l: ARRAY<OBJECT<z: BIGINT>>, "
        "m: OBJECT<k: OBJECT<x: BIGINT, w: BIGINT>>, s: OBJECT<deep: BIGINT>, u: VOID>"
    )
    found = unknown_keys(read_shape(text), fields)
    assert [k.text for k in found] == ["a.y", "l[].z", "m['k'].w", "u"]
    assert [k.path for k in found] == [("a", "y"), ("l", "element", "z"), ("m", "value", "w"), ("u",)]
    assert found[0].beside == {"x", "y"}


# -- files ---------------------------------------------------------------------------------------------------------


def test_files_are_found_once_and_in_order(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", "sub/c.csv", "sub/.d.csv", "_e/f.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    expected = [str(tmp_path / n) for n in ("a.csv", "b.csv", "sub/c.csv")]
    assert list(find_files([tmp_path]).paths) == expected
    assert list(find_files([tmp_path / "a.csv", str(tmp_path / "*.csv"), tmp_path.as_uri()]).paths) == expected
    assert list(find_files([str(tmp_path / "**" / "*.csv")]).paths) == expected


def test_a_file_with_glob_characters_is_itself(tmp_path: Path) -> None:
    for name in ("a[1].csv", "a1.csv"):
        (tmp_path / name).touch()
    assert [Path(p).name for p in find_files([tmp_path / "a[1].csv"]).paths] == ["a[1].csv"]
    assert spark_pattern("/x/a[1].csv") == "file:///x/a\\[1\\].csv"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.csv", "csv"), ("a.CSV.gz", "csv"), ("a.b.jsonl", "json"), ("x.ndjson.bz2", "json"), ("p.parquet", "parquet")],
)
def test_formats_by_name(name: str, expected: str) -> None:
    assert format_of([name], None) == expected


def test_a_format_that_is_given_wins() -> None:
    assert format_of(["a.csv", "b"], "JSON") is SourceFormat.JSON
    with pytest.raises(UsageError):
        format_of(["a"], None)


def test_identity_is_path_size_and_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    (found,) = identify([FoundFile(str(tmp_path / "a"), "a")])
    assert found == SourceFile(
        str(tmp_path / "a"), 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_run_ids_of_files_depend_on_nothing_else() -> None:
    a, b = SourceFile("a", 1, "x"), SourceFile("b", 1, "y")
    name = TableName("db", "t")
    assert file_run_id(name, [a, b]) == file_run_id(name, [b, a])
    others = {file_run_id(name, f) for f in ([a], [b], [a, b], [SourceFile("a", 2, "x")], [SourceFile("a", 1, "z")])}
    others.add(file_run_id(TableName("db", "u"), [a, b]))
    assert len(others) == 6


# -- headers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (b"a,b\n1,2", {}, ("a", "b")),
        (b'\xef\xbb\xbf"a",b\r\n', {}, ("a", "b")),
        (b"\n \n#x\na;b", {"sep": ";", "comment": "#"}, ("a", "b")),
        (b"a||b\n", {"sep": "||"}, ("a", "b")),
        (b"a\tb\n", {"sep": "\\t"}, ("a", "b")),
        (b'"a,""x""", b\n', {}, ('a,"x"', " b")),
        (b'"a\\"x",b\n', {"escape": "\\"}, ('a"x', "b")),
        (b" a , b\n", {"ignoreLeadingWhiteSpace": True, "ignoreTrailingWhiteSpace": "true"}, ("a", "b")),
        (b"a,b,\n", {}, ("a", "b", "")),
        ("ü\n".encode("utf-16"), {"encoding": "UTF-16"}, ("ü",)),
        (b"", {}, None),
        (b"\n\n", {}, None),
    ],
)
def test_headers(tmp_path: Path, text: bytes, options: dict[str, object], expected: tuple[str, ...] | None) -> None:
    (tmp_path / "a.csv").write_bytes(text)
    assert read_header(str(tmp_path / "a.csv"), check_options(SourceFormat.CSV, options)) == expected


# -- Java ----------------------------------------------------------------------------------------------------------


def pretend_java(directory: Path, says: str, status: int = 0) -> None:
    (directory / "bin").mkdir(parents=True)
    program = directory / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {status}\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("says", "version"),
    [('openjdk version "17.0.9" 2023', 17), ('java version "21" LTS', 21), ('openjdk version "25-ea"', 25)],
)
def test_java_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, version: int) -> None:
    pretend_java(tmp_path / "jdk", says)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert check_java() == version
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", f"{tmp_path / 'jdk' / 'bin'}:/bin")
    assert check_java() == version


@pytest.mark.parametrize("says", ['java version "1.8.0_202"', 'openjdk version "11.0.2"', "gibberish"])
def test_an_old_java_is_told_from_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str) -> None:
    pretend_java(tmp_path / "jdk", says)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    with pytest.raises(UnsupportedError) as error:
        check_java()
    assert error.value.code == "LB6126"
    assert "install Java 17" in str(error.value)


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(NotFoundError):
        check_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotFoundError):
        check_java()
    pretend_java(tmp_path / "broken", "it broke", status=1)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "broken"))
    with pytest.raises(NotFoundError) as error:
        check_java()
    assert error.value.code == "LB6125"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("localhost:15002", "LB6451"),
        ("sc://", "LB6451"),
        ("sc://localhost:99999", "LB6451"),
        ("sc://localhost:1", "LB6450"),
    ],
)
def test_a_server_that_cannot_be_is_found_out_at_once(url: str, code: str) -> None:
    with pytest.raises(LakebedError) as error:
        check_server(url, timeout=1)
    assert error.value.code == code
