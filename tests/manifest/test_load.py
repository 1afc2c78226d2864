"""Files: what cannot be read, several files as one manifest, and what is imported for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import lakebed
from lakebed.errors import ManifestError
from lakebed.manifest import load_all, load_manifest, parse_manifest
from manifest.marked import table


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_missing_file_suggests_the_one_beside_it(tmp_path: Path) -> None:
    written(tmp_path / "orders.yaml", table("- {name: x, type: Int8}"))
    with pytest.raises(ManifestError) as error:
        load_manifest(tmp_path / "oders.yaml")
    (problem,) = error.value.diagnostics
    assert problem.code == "LB1001"
    assert problem.suggestions == (str(tmp_path / "orders.yaml"),)


@pytest.mark.parametrize("name", ["", "no/where.yaml"])
def test_a_path_that_is_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(ManifestError) as error:
        load_manifest(tmp_path / name)
    assert error.value.code == "LB1001"


def test_problems_name_the_file_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "t.yaml", table("- {name: x, type: Nope}"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ManifestError, match=r"^t\.yaml:7:23: error\[LB1050\]"):
        lakebed.load_manifest("t.yaml")


def test_several_files_are_one_manifest(tmp_path: Path) -> None:
    one = table("- {name: x, type: Int8}")
    first = written(tmp_path / "a.yaml", one)
    second = written(tmp_path / "b.yaml", one.replace("a.b", "a.c"))
    loaded = parse_manifest(one.replace("a.b", "a.d"))
    assert [t.name for t in load_all([first, str(second), loaded]).tables] == ["a.b", "a.c", "a.d"]
    assert load_all(first) == load_manifest(first)
    assert load_all(loaded) == loaded


def test_all_problems_of_all_files_are_said(tmp_path: Path) -> None:
    bad = written(tmp_path / "a.yaml", table("- {name: x, type: Nope}"))
    worse = written(tmp_path / "b.yaml", table("- {name: x, type: [1]}\n- {name: y}"))
    with pytest.raises(ManifestError) as error:
        load_all([bad, worse, tmp_path / "c.yaml"])
    assert [d.code for d in error.value.diagnostics] == ["LB1050", "LB1040", "LB1042", "LB1001"]


def test_one_table_in_two_files(tmp_path: Path) -> None:
    one = table("- {name: x, type: Int8}")
    first = written(tmp_path / "a.yaml", one.replace("a.b", "b"))
    second = written(tmp_path / "b.yaml", one.replace("a.b", "default.b"))
    with pytest.raises(ManifestError) as error:
        load_all([first, second])
    (problem,) = error.value.diagnostics
    assert problem.code == "LB1026"
    assert problem.position is not None
    assert problem.position.file == str(second)
    assert f"{first}:4:9" in problem.message


def test_yaml_is_imported_only_for_manifests() -> None:
    script = """
import sys, lakebed, lakebed.model, lakebed.errors, lakebed.codes
assert not any(m.startswith("ruamel") for m in sys.modules), "ruamel"
lakebed.load_manifest
heavy = {"pyspark", "pyarrow", "fastavro", "hypothesis"} & set(sys.modules)
assert not heavy, heavy
"""
    source = str(Path(lakebed.__file__).parents[1])
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": source})
