"""The pages that go through the specifications statement by statement: every test that they name exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {name: ROOT / "docs/reference" / f"{name}-specification.md" for name in ("paimon", "mini-paimon")}
PAGES["odf"] = ROOT / "docs/reference/odf-rfc-016.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def rows(page: str) -> list[tuple[str, str]]:
    lines = PAGES[page].read_text(encoding="utf-8").splitlines()
    cells = [[c.strip() for c in line.strip("|").split(" | ")] for line in lines if line.startswith("|")]
    return [(c[0], c[1]) for c in cells if len(c) == 2 and c[1] not in ("shown by", "today")]


def names_in(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


@pytest.mark.parametrize(("page", "at_least"), [("paimon", 28), ("mini-paimon", 40), ("odf", 45)])
def test_every_statement_has_a_test_or_a_decision_and_every_test_exists(page: str, at_least: int) -> None:
    found = rows(page)
    assert len(found) >= at_least
    missing = []
    for statement, shown in found:
        named = NAMED.findall(shown)
        assert named or "Decision:" in shown or shown in ("This page.",) or shown.startswith("The same"), statement
        for file, name in named:
            path = ROOT / file
            if not path.is_file() or (name and not any(n == name for n in names_in(path))):
                missing.append(f"{file}::{name}")
    assert missing == []


def test_a_wrong_name_would_be_noticed() -> None:
    assert NAMED.findall("`tests/a/test_b.py::test_c`, `tests/d.py`") == [
        ("tests/a/test_b.py", "test_c"),
        ("tests/d.py", ""),
    ]
    assert "test_a_wrong_name_would_be_noticed" in names_in(Path(__file__))
    assert "test_what_is_not_there" not in names_in(Path(__file__))


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def test_the_pages_leave_nothing_out(shared: Path) -> None:
    """Every section of Paimon's page, every method and every JSON member of both."""
    paimon = (shared / "specs/paimon-schema.rst").read_text(encoding="utf-8")
    page = PAGES["paimon"].read_text(encoding="utf-8")
    sections = [title for title, line in re.findall(r"^(\w[\w ]*)\n([=-]{4,})$", paimon, re.M) if line]
    assert len(sections) == 5
    assert [s for s in sections if f"\n## {s}\n" not in page] == []
    members = set(re.findall(r'"(\w+)" :', paimon)) | set(re.findall(r"^\d\. ``(\w+)``", paimon, re.M))
    assert {m for m in members if f"`{m}`" not in page} == set()

    mini = (shared / "specs/mini-paimon-schema-management.md").read_text(encoding="utf-8")
    page = PAGES["mini-paimon"].read_text(encoding="utf-8")
    methods = {snake(name) for name in re.findall(r"^- `(\w+)\(", mini, re.M)}
    assert len(methods) == 11
    assert {m for m in methods if f"`{m}(" not in page} == set()
    used = {snake(name) for name in re.findall(r"\.(\w+)\(\n?", mini.split("```java")[1].split("```")[0])}
    assert {m for m in used - {"as_list", "singleton_list", "empty_list"} if m not in page} == set()
    assert {m for m in re.findall(r'"(\w+)" :', mini) if f"`{m}`" not in page} == set()
    assert {n for n in re.findall(r"# (\d+) 字节", mini) if n not in page} == set()


def test_every_section_of_the_rfc_is_gone_through(shared: Path) -> None:
    """The rejected alternatives and prior art are one section there and here."""
    rfc = (shared / "specs/odf-rfc-016.md").read_text(encoding="utf-8")
    sections = [title.strip() for title in re.findall(r"^#{2,3} (.+)$", rfc, re.M)]
    page = PAGES["odf"].read_text(encoding="utf-8").lower()
    wanted = [s for s in sections if not s.startswith("Rejected") and s not in ("Summary", "Motivation", "Prior art")]
    assert len(wanted) > 15
    assert [s for s in wanted if f"# {s.lower()}" not in page] == []
