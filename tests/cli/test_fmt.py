"""`lakebed fmt`: files in canonical form, whole or as they were."""

from __future__ import annotations

import io
import stat
from pathlib import Path

import pytest

from cli.command_line import CommandLine, on_terminal
from cli.conftest import MANIFEST
from lakebed.manifest.parse_yaml import MAX_DEPTH

LOOSE = MANIFEST.replace("partitionKeys: [day]", "partitionKeys:   [ day ]   # by day")
TIGHT = MANIFEST.replace("partitionKeys: [day]", "partitionKeys: [day]  # by day")


@pytest.fixture
def files(here: Path) -> tuple[Path, Path]:
    """One that is to be formatted, and one that is in canonical form."""
    loose, tight = here / "schemas" / "a.yaml", here / "schemas" / "deep" / "b.yml"
    tight.parent.mkdir(parents=True)
    loose.write_text(LOOSE, encoding="utf-8")
    tight.write_text(TIGHT, encoding="utf-8")
    return loose, tight


def test_files_are_written_once(lakebed: CommandLine, files: tuple[Path, Path]) -> None:
    loose, tight = files
    loose.chmod(0o640)
    before = tight.stat().st_mtime_ns
    assert lakebed.ok("fmt") == "formatted schemas/a.yaml\n1 file formatted, 1 file is in canonical form.\n"
    assert (loose.read_text(encoding="utf-8"), stat.S_IMODE(loose.stat().st_mode)) == (TIGHT, 0o640)
    assert tight.stat().st_mtime_ns == before
    assert lakebed.ok("fmt", "schemas", "schemas/a.yaml") == "2 files are in canonical form.\n"


def test_check_writes_nothing_and_ends_with_10(lakebed: CommandLine, files: tuple[Path, Path]) -> None:
    result = lakebed("fmt", "--check", "schemas")
    assert (result.code, result.err) == (10, "")
    assert result.out == "would format schemas/a.yaml\n1 file would be formatted, 1 file is in canonical form.\n"
    assert files[0].read_text(encoding="utf-8") == LOOSE
    assert lakebed("fmt", "--check", "schemas/deep").code == 0


def test_diff_shows_what_would_change(lakebed: CommandLine, files: tuple[Path, Path]) -> None:
    out = lakebed.ok("fmt", "--diff")
    assert out.startswith("--- schemas/a.yaml\n+++ schemas/a.yaml\n@@ ")
    assert "\n-  partitionKeys:   [ day ]   # by day\n+  partitionKeys: [day]  # by day\n" in out
    assert files[0].read_text(encoding="utf-8") == LOOSE
    assert lakebed("fmt", "--diff", "--check").code == 10


@pytest.mark.parametrize("change", [("\n", "\r"), ("\n", "\r\n"), ("[day]", "[ day ]"), ("kind", "\ufeffkind")])
def test_a_diff_tells_every_kind_of_change(lakebed: CommandLine, here: Path, change: tuple[str, str]) -> None:
    (here / "a.yaml").write_bytes(MANIFEST.replace(*change, 30).encode())
    assert lakebed.ok("fmt", "--diff", "a.yaml").startswith("--- a.yaml\n+++ a.yaml\n@@ ")
    (here / "a.yaml").write_bytes(MANIFEST.encode().removesuffix(b"\n"))
    assert "\\ No newline at end of file\n" in lakebed.ok("fmt", "--diff", "a.yaml")


def test_a_diff_has_colours_on_a_terminal_only(lakebed: CommandLine, files: tuple[Path, Path]) -> None:
    assert "\x1b[31m-  partitionKeys" in on_terminal("fmt", "--diff")[1]
    assert "\x1b" not in on_terminal("fmt", "--diff", NO_COLOR="1")[1]


def test_json(lakebed: CommandLine, files: tuple[Path, Path]) -> None:
    result = lakebed("fmt", "--check", "--json")
    assert (result.code, result.json["ok"]) == (10, True)
    assert result.json["result"]["files"] == [
        {"file": "schemas/a.yaml", "changed": True, "ok": True},
        {"file": "schemas/deep/b.yml", "changed": False, "ok": True},
    ]


def test_standard_input_is_put_out(lakebed: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LOOSE.encode())))
    assert lakebed.ok("fmt", "-") == TIGHT
    assert lakebed("fmt", "-", "a.yaml").codes_of_text == ["LB7030"]


def test_a_file_that_cannot_be_formatted_stops_no_other(lakebed: CommandLine, files: tuple[Path, Path]) -> None:
    bad = files[0].with_name("bad.yaml")
    bad.write_text("a: [\n", encoding="utf-8")
    result = lakebed("fmt")
    assert (result.code, result.codes_of_text) == (1, ["LB1003"])
    assert result.out.endswith("1 file formatted, 1 file is in canonical form, 1 file cannot be formatted.\n")
    assert (bad.read_text(encoding="utf-8"), files[0].read_text(encoding="utf-8")) == ("a: [\n", TIGHT)


@pytest.mark.parametrize("depth", [300, 340, 400])
def test_deep_nesting_stops_no_other(lakebed: CommandLine, files: tuple[Path, Path], depth: int) -> None:
    deep = MANIFEST.replace("  schema:", f"  schema:\n    extra: {{x.org/a: {'[' * depth}{']' * depth}}}")
    files[0].with_name("deep.yaml").write_text(deep, encoding="utf-8")
    result = lakebed("--json", "fmt")
    is_fine = depth < MAX_DEPTH
    told = [(each["ok"], each["changed"]) for each in result.json["result"]["files"]]
    assert told == [(True, True), (is_fine, is_fine), (True, False)]
    assert (result.code, result.codes) == ((0, []) if is_fine else (1, ["LB1005"]))
    assert files[0].read_text(encoding="utf-8") == TIGHT


def test_what_infer_prints_is_in_canonical_form(lakebed: CommandLine, orders: Path, here: Path) -> None:
    (here / "inferred.yaml").write_text(lakebed.ok("infer", "shop.orders"), encoding="utf-8")
    assert lakebed.ok("fmt", "--check", "inferred.yaml") == "1 file is in canonical form.\n"
    assert "type: Int32\n" in (here / "inferred.yaml").read_text(encoding="utf-8")
