"""`lakebed check`: the compatibility of a directory of manifests with what it was, without a warehouse."""

from __future__ import annotations

import io
from datetime import date
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
    assert result.out == "Tables against git:main: 1 unchanged, 1 faulty.\n"
    assert lakebed.json_of("check", "--against", "git:main")["faulty"] == ["shop.orders"]
    alone = lakebed("check", "--against", "git:main", "schemas/orders.yaml")
    assert (alone.code, alone.out) == (1, "Tables against git:main: 1 faulty.\n")
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


BROKEN = ITEMS.replace(NOTE, "")


class TestWhatIsNotThereAnyMore:
    @pytest.mark.parametrize("words", [["one"], ["one/items.yaml"], ["./one/"], ["one", "schemas"]])
    def test_the_last_manifest_goes(self, lakebed: CommandLine, project: Path, words: list[str]) -> None:
        put("one/items.yaml", ITEMS.replace("shop.items", "shop.last"))
        commit_all()
        Path("one/items.yaml").unlink()
        result = lakebed("check", "--against", "git:HEAD", *words)
        assert (result.code, "shop.last is not declared any more" in result.out) == (11, True)
        assert lakebed("check", "--against", "git:HEAD", *words, "--allow", "LB4240").code == 0
        Path("one").rmdir()
        assert lakebed("check", "--against", "git:HEAD", *words).code == 11

    def test_of_the_present_directory_and_against_another_one(self, lakebed: CommandLine, project: Path) -> None:
        Path("schemas/items.yaml").unlink()
        Path("empty").mkdir()
        for against in ("schemas", "git:main:schemas"):
            assert lakebed("check", "--against", against, "empty").code == 11
        Path("schemas/orders.yaml").unlink()
        assert lakebed("check", "--against", "git:main").code == 11

    def test_what_never_was_is_an_error(self, lakebed: CommandLine, project: Path) -> None:
        Path("empty").mkdir()
        for name in ("nothing.yaml", "empty", "schemas/nothing.yaml"):
            result = lakebed("check", "--against", "git:main", name)
            assert (result.code, result.codes_of_text) == (1, ["LB1001"])
        assert lakebed("check", "--against", "schemas", "nothing").codes_of_text == ["LB1001"]

    @pytest.mark.parametrize("name", ["schemas/new.yaml", "schemas/deep/er/new.yaml", "other/new.yaml", "other"])
    def test_a_file_that_was_renamed_is_what_it_was(self, lakebed: CommandLine, project: Path, name: str) -> None:
        Path("schemas/items.yaml").unlink()
        put(name if name.endswith("yaml") else f"{name}/x.yaml", ITEMS)
        assert lakebed.ok("check", "--against", "git:main", name) == "Tables against git:main: 1 unchanged.\n"
        put(name if name.endswith("yaml") else f"{name}/x.yaml", BROKEN)
        assert lakebed("check", "--against", "git:main", name).code == 11

    def test_a_renamed_file_beside_the_present_directory(
        self, lakebed: CommandLine, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path("schemas/items.yaml").rename("schemas/new.yaml")
        put("schemas/new.yaml", BROKEN)
        Path("elsewhere").mkdir()
        monkeypatch.chdir("elsewhere")
        assert lakebed("check", "--against", "git:main", "../schemas/new.yaml").code == 11

    def test_standard_input_is_what_its_tables_were(
        self, lakebed: CommandLine, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BROKEN.encode())))
        assert lakebed("check", "--against", "git:main", "-").code == 11


class TestLinks:
    """A link in a commit is what it leads to, in this commit."""

    @pytest.fixture
    def linked(self, project: Path) -> Path:
        Path("more").mkdir()
        Path("more/link.yaml").symlink_to("../schemas/items.yaml")
        Path("more/twice.yaml").symlink_to("link.yaml")
        Path("folder").symlink_to("schemas")
        commit_all()
        put("schemas/items.yaml", BROKEN)
        return project

    @pytest.mark.parametrize(
        "words",
        [
            ["more/link.yaml"],
            ["more/twice.yaml"],
            ["more"],
            ["folder"],
            ["folder/items.yaml"],
            [],
            ["more/link.yaml", "more/twice.yaml", "schemas/items.yaml", "folder", "./schemas/../schemas"],
        ],
    )
    def test_a_change_behind_a_link_breaks(self, lakebed: CommandLine, linked: Path, words: list[str]) -> None:
        result = lakebed("check", "--against", "git:HEAD", *words)
        assert (result.code, result.out.count("drop column note")) == (11, 1)
        assert lakebed("check", "--against", "git:HEAD:more", "schemas/items.yaml").code == 11
        put("schemas/items.yaml", ITEMS)
        assert "unchanged" in lakebed.ok("check", "--against", "git:HEAD", *words)

    def test_a_link_that_the_commit_does_not_know(self, lakebed: CommandLine, linked: Path) -> None:
        Path("later").symlink_to("schemas")
        for name in ("later", "later/items.yaml"):
            assert lakebed("check", "--against", "git:HEAD", name).code == 11

    @pytest.mark.parametrize("target", ["nothing.yaml", "/etc/hosts", "../../outside.yaml", "bad.yaml", "line\nbreak"])
    def test_a_link_to_nowhere_is_told(self, lakebed: CommandLine, linked: Path, target: str) -> None:
        name = "more/a\nb.yaml" if "\n" in target else "more/bad.yaml"
        Path(name).symlink_to("../schemas/orders.yaml" if "\n" in target else target)
        commit_all()
        Path(name).unlink()
        put(name, MANIFEST)
        for words in ([name], ["more"]):
            assert lakebed("check", "--against", "git:HEAD", *words).codes_of_text == ["LB7062"]
        assert lakebed("diff", f"git:HEAD:{name}", name).codes_of_text == ["LB7062"]


@pytest.mark.parametrize("text", ["main", "HEAD", "main:schemas"])
def test_a_commit_without_its_prefix_is_suggested(lakebed: CommandLine, project: Path, text: str) -> None:
    for words in (["check", "--against", text], ["diff", text, "schemas"]):
        result = lakebed(*words)
        assert (result.code, result.codes_of_text) == (2, ["LB7060"])
        assert f"did you mean 'git:{text}'?" in result.err


@given(manifests.table_manifests(paimon=True))
def test_a_table_is_compatible_with_itself(table: TableManifest) -> None:
    plan = check_against([table], [table], date(2026, 1, 1), limits=limits)
    assert plan.is_noop
    assert bool(plan.tables) != any(d.severity is Severity.ERROR for d in plan.diagnostics)
