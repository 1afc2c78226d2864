"""`-` is standard input for every command that says so: read once, never a file, and told where it is closed."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from cli.command_line import CommandLine
from cli.conftest import MANIFEST
from cli.git_repository import put

COMMANDS = [
    "validate -",
    "fmt -",
    "fmt --check -",
    "lint -",
    "check --against . -",
    "diff - a.yaml",
    "convert - --from odf-yaml --to ddl",
    "event inspect -",
    "plan -",
    "apply -",
]


@pytest.fixture(autouse=True)
def project(here: Path, lakebed: CommandLine) -> None:
    put("a.yaml", MANIFEST)
    lakebed.ok("init", "lake")


def given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.mark.parametrize("words", COMMANDS)
def test_a_closed_one_is_told(lakebed: CommandLine, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.setattr("sys.stdin", None)
    result = lakebed(*words.split())
    assert (result.code, result.codes_of_text) == (2, ["LB7031"])


@pytest.mark.parametrize("words", ["validate - -", "plan - -", "lint - -", "check --against - -"])
def test_it_is_read_once(lakebed: CommandLine, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    given(monkeypatch, MANIFEST)
    assert lakebed(*words.split()).codes_of_text == ["LB7030"]


@pytest.mark.parametrize("words", [*COMMANDS, "validate - a.yaml"])
def test_what_is_quoted_is_what_was_given(lakebed: CommandLine, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    for name in ("<stdin>", "-"):
        Path(name).write_text("of another file\n" * 20, encoding="utf-8")
    given(monkeypatch, MANIFEST.replace("Int32", "Int33"))
    result = lakebed(*words.split())
    assert "of another file" not in result.out + result.err
    if words not in ("fmt -", "fmt --check -", "event inspect -"):
        assert (result.code > 0, "| " in result.err, "Int33" in result.err.split("|")[1]) == (True, True, True)
    assert Path("<stdin>").read_text(encoding="utf-8") == "of another file\n" * 20


@pytest.mark.parametrize("mode", [[], ["--json"]])
@pytest.mark.parametrize("words", COMMANDS)
def test_no_file_of_its_name_is_made(
    lakebed: CommandLine, monkeypatch: pytest.MonkeyPatch, words: str, mode: list[str]
) -> None:
    given(monkeypatch, MANIFEST.replace("type: Int32", "type:   Int32"))
    before = {path.name for path in Path().iterdir()}
    lakebed(*mode, *words.split())
    assert {path.name for path in Path().iterdir()} == before


def test_json_holds_the_canonical_form(lakebed: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, MANIFEST.replace("kind: Table", "kind:   Table"))
    (told,) = lakebed.json("fmt", "-")["files"]
    assert (told["file"], told["changed"], told["text"]) == ("<stdin>", True, MANIFEST)
