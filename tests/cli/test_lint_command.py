"""`lakebed lint`: what it prints, how it ends, and what it writes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from cli.command_line import CommandLine
from cli.conftest import MANIFEST
from cli.git_repository import put

EMAIL = MANIFEST.replace("name: note,", "name: email,")


@pytest.fixture(autouse=True)
def project(here: Path) -> None:
    put("schemas/a.yaml", EMAIL)
    put("schemas/b.yaml", MANIFEST.replace("shop.orders", "shop.Items"))


def test_findings_are_told_with_their_lines(lakebed: CommandLine) -> None:
    result = lakebed("lint")
    assert (result.code, result.out) == (0, "2 files: 2 warnings; 1 can be mended with --fix.\n")
    heads = [line.partition(": the ")[0] for line in result.err.splitlines() if "warning[" in line]
    assert heads == ["schemas/a.yaml:16:16: warning[LB1705]", "schemas/b.yaml:4:9: warning[LB1701]"]
    assert lakebed("lint", "--strict").code == 1


def test_levels_of_the_project(lakebed: CommandLine) -> None:
    put("lakebed.toml", '[lint]\nLB1701 = "error"\nLB1705 = "off"\n')
    result = lakebed("lint", "schemas")
    assert (result.code, result.codes_of_text, result.out) == (1, ["LB1701"], "2 files: 1 error.\n")
    put("lakebed.toml", '[lint]\nLB1701 = "loud"\n')
    assert lakebed("lint").codes_of_text == ["LB7002"]
    put("lakebed.toml", 'engines = "spark"\n')
    assert "the setting 'engines' must be a list" in lakebed("lint").err


def test_fix_writes_what_is_safe(lakebed: CommandLine) -> None:
    before = Path("schemas/b.yaml").stat().st_mtime_ns
    assert lakebed.ok("lint", "--fix") == "mended schemas/a.yaml\n2 files: 1 warning.\n"
    text = Path("schemas/a.yaml").read_text(encoding="utf-8")
    assert "extra: {lakebed.dev/personalData: true}}" in text
    assert Path("schemas/b.yaml").stat().st_mtime_ns == before
    assert lakebed("fmt", "--check").code == 0


def test_json_and_annotations(lakebed: CommandLine) -> None:
    files = lakebed.json("lint")["files"]
    assert files == [
        {"file": "schemas/a.yaml", "findings": {"LB1705": 1}, "fixable": 1, "ignored": 0},
        {"file": "schemas/b.yaml", "findings": {"LB1701": 1}, "fixable": 0, "ignored": 0},
    ]
    result = lakebed("lint", "--format", "github")
    first = "::warning file=schemas/a.yaml,line=16,col=16,title=LB1705::the column email looks like personal data"
    assert (result.out.splitlines()[0].startswith(first), result.err) == (True, "")


def test_a_faulty_manifest_fails_and_hides_no_other(lakebed: CommandLine) -> None:
    put("schemas/b.yaml", MANIFEST.replace("Int32", "Int33"))
    result = lakebed("lint")
    assert (result.code, result.codes_of_text, "LB1705" in result.err) == (1, ["LB1050"], True)


def test_what_cannot_be_mended_is_told(lakebed: CommandLine) -> None:
    shared = EMAIL.replace("name: email,", "name: email, extra: *x,")
    put("schemas/a.yaml", shared.replace("type: Date", "type: Date, extra: &x {a.b/c: 1}"))
    result = lakebed("lint", "--fix", "schemas/a.yaml")
    assert (result.code, result.out) == (0, "1 file: 1 warning, 1 note; 1 could not be mended.\n")
    assert ": note[LB1631]: LB1705 of email is not mended: " in result.err


@pytest.mark.parametrize("words", [["-"], ["-", "schemas/a.yaml"]])
def test_standard_input_is_not_mended(lakebed: CommandLine, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(EMAIL.encode())))
    assert lakebed("lint", "--fix", *words).codes_of_text == ["LB7031"]
    assert Path("schemas/a.yaml").read_text(encoding="utf-8") == EMAIL
