"""`lakebed check`: the compatibility of a directory of manifests with what it was, without a warehouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from cli.command_line import CommandLine
from cli.conftest import MANIFEST
from cli.git_repository import commit_all, put
from lakebed.diagnostics import Severity
from lakebed.evolve.without_warehouse import check_against
from lakebed.format.refuse_unsupported import limits
from lakebed.manifest import TableManifest
from lakebed.testing import manifests

ITEMS = MANIFEST.replace("shop.orders", "shop.items")
NOTE = "      - {name: note, type: {kind: Option, inner: String}}\n"


@pytest.fixture
def project(here: Path) -> Path:
    """Two tables that are in the commit `main`."""
    put("schemas/orders.yaml", MANIFEST)
    put("schemas/items.yaml", ITEMS)
    commit_all()
    return here


def test_nothing_has_changed(lakebed: CommandLine, project: Path) -> None:
    put("schemas/orders.yaml", "# moved\n" + MANIFEST)
    for words in ([], ["schemas"], ["schemas/orders.yaml", "schemas/items.yaml"]):
        result = lakebed("check", "--against", "git:main", *words)
        assert (result.code, result.out, result.err) == (0, "Tables against git:main: 2 unchanged.\n", "")


@pytest.mark.parametrize(
    ("old", "new", "code", "verdicts"),
    [
        ("type: Int32", "type: Int64", 0, ["safe LB4205"]),
        (NOTE, "", 11, ["breaking LB4203"]),
        (NOTE, NOTE + NOTE.replace("note", "more"), 0, ["safe LB4201"]),
        (NOTE, NOTE + "      - {name: must, type: Int8}\n", 11, ["forbidden LB4202"]),
        ("precision: 9", "precision: 5", 11, ["breaking LB4206"]),
        ("type: Int32", "type: {kind: Option, inner: Int32}", 0, ["caution LB4209"]),
        ("partitionKeys: [day]", "partitionKeys: [id]", 11, ["forbidden LB4218"]),
        ("name: note", "extra: {lakebed.dev/renamedFrom: note}, name: comment", 0, ["caution LB4204"]),
        ("  schema:", "  options: {file.format: orc}\n  schema:", 0, ["caution LB4215"]),
        ("shop.orders", "shop.others", 11, ["breaking LB4240"]),
    ],
)
def test_each_change_has_its_verdict(
    lakebed: CommandLine, project: Path, old: str, new: str, code: int, verdicts: list[str]
) -> None:
    put("schemas/orders.yaml", MANIFEST.replace(old, new))
    result = lakebed("check", "--against", "git:main", "--json")
    assert (result.code, result.json["ok"]) == (code, code == 0)
    assert result.json["result"]["breaks"] is (code == 11)
    changes = [change for table in result.json["result"]["tables"] for change in table["changes"]]
    assert sorted(f"{c['verdict']} {c['code']}" for c in changes) == verdicts
    assert lakebed("check", "--against", "git:main").code == code


def test_leave_is_given_on_the_command_line(lakebed: CommandLine, project: Path) -> None:
    put("schemas/orders.yaml", MANIFEST.replace(NOTE, ""))
    Path("schemas/items.yaml").unlink()
    missing = lakebed.json_of("check", "--against", "git:main")["approvals_missing"]
    assert missing == ["LB4240:shop.items", "LB4203:note"]
    for leave in (["LB4240", "LB4203:note"], ["LB4240:shop.items", "LB4203"]):
        words = [word for code in leave for word in ("--allow", code)]
        assert lakebed("check", "--against", "git:main", *words).code == 0
    assert lakebed("check", "--against", "git:main", "--allow", "LB4203").code == 11
    assert lakebed("check", "--against", "git:main", "--allow", "LB42").codes_of_text == ["LB4307"]


def test_annotations_stand_on_the_lines_of_the_manifests(
    lakebed: CommandLine, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("schemas/orders.yaml", MANIFEST.replace("precision: 9", "precision: 5").replace("type: Int32", "type: Int64"))
    monkeypatch.chdir("schemas")
    result = lakebed("check", "--against", "git:main", "--format", "github")
    assert (result.code, result.err) == (11, "")
    (line,) = result.out.splitlines()
    assert line.startswith("::error file=schemas/orders.yaml,line=11,col=15,title=LB4206 breaking::shop.orders: change")
    assert line.endswith("%0Aleave: --allow LB4206:amount")
    allowed = lakebed("check", "--against", "git:main", "--format", "github", "--allow", "LB4206")
    assert (allowed.code, allowed.out.partition(" ")[0]) == (0, "::warning")


def test_against_a_directory_and_another_path(lakebed: CommandLine, project: Path) -> None:
    put("new/orders.yaml", MANIFEST.replace(NOTE, ""))
    put("new/items.yaml", ITEMS)
    for against in ("schemas", "git:main:schemas"):
        result = lakebed("check", "--against", against, "new")
        assert (result.code, "breaking   drop column note" in result.out) == (11, True)
        assert result.out.endswith(f"Tables against {against}: 1 changed, 1 unchanged. Changes: 1 breaking.\n")


def test_a_directory_that_is_new_in_this_commit(lakebed: CommandLine, project: Path) -> None:
    put("more/t.yaml", MANIFEST.replace("shop.orders", "shop.more"))
    assert lakebed.ok("check", "--against", "git:main", "more") == (
        "shop.more: new table\n\nTables against git:main: 1 new.\n"
    )


def test_faults_are_told_and_hide_no_other_table(lakebed: CommandLine, project: Path) -> None:
    renamed = NOTE.replace("name: note", "name: comment, extra: {lakebed.dev/renamedFrom: nothing}")
    put("schemas/orders.yaml", MANIFEST.replace(NOTE, renamed))
    result = lakebed("check", "--against", "git:main")
    assert (result.code, result.codes_of_text) == (1, ["LB4103"])
    put("schemas/items.yaml", ITEMS.replace(NOTE, ""))
    assert lakebed("check", "--against", "git:main").code == 11
    put("schemas/items.yaml", ITEMS.replace("Int32", "Int33"))
    assert lakebed("check", "--against", "git:main").codes_of_text == ["LB1050"]


def test_odfs_rule_gates_where_it_is_asked_for(lakebed: CommandLine, project: Path) -> None:
    wider = MANIFEST.replace("type: Int32", "type: Int64")
    put("schemas/orders.yaml", wider.replace("  schema:", "  compatibility: ODF\n  schema:"))
    result = lakebed("check", "--against", "git:main")
    assert (result.code, "ODF migration rule (LB4220)" in result.out) == (11, True)
    put("schemas/orders.yaml", wider)
    assert "ODF" not in lakebed.ok("check", "--against", "git:main")


@given(manifests.table_manifests(paimon=True))
def test_a_table_is_compatible_with_itself(table: TableManifest) -> None:
    plan = check_against([table], [table], limits=limits)
    assert plan.is_noop
    assert bool(plan.tables) != any(d.severity is Severity.ERROR for d in plan.diagnostics)
