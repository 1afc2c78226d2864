"""`--format`: one story in every format, what each does with a failure, and `plan --all`.

`LAKEBED_GOLDEN=write` writes the files of `golden/` anew; the diff is part of the change.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.command_line import CommandLine
from cli.conftest import MANIFEST
from cli.git_repository import commit_all, put
from cli.other_engine import add_column

GOLDEN = Path(__file__).with_name("golden")
ENDINGS = {
    "text": "txt",
    "json": "json",
    "markdown": "md",
    "github": "github.txt",
    "gitlab": "gitlab.json",
    "junit": "xml",
}
APPROVALS = """\
  approvals:
    - {code: LB4203, path: note, reason: "nobody reads it | see @shop", until: 2026-12-31, by: data team}
    - {code: LB4203, path: noet, reason: a slip, until: 2026-12-31}
    - {code: LB4206, path: amount, reason: agreed long ago, until: 2026-05-31}
"""
ITEMS = """\
kind: Table
version: 1
content:
  name: shop.items
  primaryKeys: [id]
  options: {bucket: -2}
  compatibility: ODF
  schema:
    fields:
      - {name: id, type: Int64}
      - {name: colour, type: {kind: Option, inner: String}}
"""
DATASET = """\
kind: DatasetSnapshot
version: 1
content:
  name: lab.t
  kind: Root
  metadata:
    - kind: SetDataSchema
      schema:
        fields:
          - {name: id, type: Int32}
"""
JUNE = 1_780_272_000  # 2026-06-01 in seconds


@pytest.fixture
def june(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: JUNE * 1_000_000_000)
    monkeypatch.setattr(time, "time", lambda: float(JUNE))


@pytest.fixture
def story(lakebed: CommandLine, warehouse: Path, june: None) -> None:
    """Tables that were applied and committed, and manifests that ask for all kinds of changes of them."""
    put("tables/orders.yaml", MANIFEST)
    put("tables/items.yaml", ITEMS)
    put("tables/gone.yaml", ITEMS.replace("shop.items", "shop.gone"))
    lakebed.ok("apply", "tables", "--yes")
    commit_all()
    changed = MANIFEST.replace("  schema:", f"{APPROVALS}  schema:")
    changed = changed.replace("type: Int32", "type: Int64").replace("precision: 9", "precision: 5")
    changed = changed.replace("      - {name: note, type: {kind: Option, inner: String}}\n", "")
    put(
        "tables/orders.yaml",
        changed + "      - {name: must, type: Int8}\n      - {name: may, type: {kind: Option, inner: Date}}\n",
    )
    put("tables/items.yaml", ITEMS.replace("name: colour", "extra: {lakebed.dev/renamedFrom: colour}, name: color"))
    put("tables/new.yaml", ITEMS.replace("shop.items", "shop.new").replace("  compatibility: ODF\n", ""))
    Path("tables/gone.yaml").unlink()


def check_golden(name: str, made: str) -> None:
    path = GOLDEN / name
    if os.environ.get("LAKEBED_GOLDEN") == "write":
        path.write_text(made, encoding="utf-8")
    assert made == path.read_text(encoding="utf-8"), f"{path} differs; where that is intended: LAKEBED_GOLDEN=write"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("plan tables --exit-code --all", 11),
        ("check --against git:HEAD tables", 11),
        ("validate tables", 0),
        ("lint tables", 0),
        ("diff git:HEAD:tables tables", 0),
    ],
)
@pytest.mark.usefixtures("story")
def test_a_story_in_every_format(lakebed: CommandLine, command: str, code: int) -> None:
    words = command.split()
    is_diff = words[0] == "diff"
    for form, ending in ENDINGS.items():
        result = lakebed(*words, "--format", form)
        if is_diff and form not in ("text", "json", "markdown"):
            assert result.code == 2
            continue
        assert result.code == code
        assert (result.err == "") == (form != "text" or is_diff)
        if form == "json":
            # What is in it is told by other tests; here it is that `--json` says the same.
            assert result.out == lakebed(*words, "--json").out
        else:
            check_golden(f"{words[0]}.{ending}", result.out)


@pytest.mark.usefixtures("story")
def test_what_keeps_a_command_from_its_report_is_the_report(lakebed: CommandLine) -> None:
    put("tables/new.yaml", ITEMS.replace("Int64", "Int46"))
    for command in ("plan tables", "check --against git:HEAD tables", "lint tables", "validate tables"):
        words = command.split()
        assert lakebed(*words).code == 1
        (line,) = [w for w in lakebed(*words, "--format", "github").out.splitlines() if w.startswith("::error")]
        assert line.startswith("::error file=tables/new.yaml,line=10,col=26,title=LB1050::unknown type kind 'Int46'")
        (issue,) = [i for i in json.loads(lakebed(*words, "--format", "gitlab").out) if i["severity"] == "critical"]
        assert issue["location"] == {"path": "tables/new.yaml", "lines": {"begin": 10}}
        assert "LB1050" in lakebed(*words, "--format", "markdown").out
        suites = ElementTree.fromstring(lakebed(*words, "--format", "junit").out.encode())
        assert suites.get("failures") == "1"


def test_a_report_that_goes_into_a_file_leaves_problems_on_the_screen(lakebed: CommandLine, warehouse: Path) -> None:
    for form in ("markdown", "gitlab", "junit"):
        assert lakebed("plan", "nope.yaml", "--format", form).codes_of_text == ["LB1001"]
    assert lakebed("plan", "nope.yaml", "--format", "github").err == ""


@pytest.mark.parametrize("words", [["--json", "--format", "markdown"], ["--format", "junit", "--json"]])
def test_two_formats_are_refused(lakebed: CommandLine, words: list[str]) -> None:
    result = lakebed("validate", *words)
    assert (result.code, result.codes) == (2, ["LB7008"])


def test_the_comment_of_each_environment_is_found_again(lakebed: CommandLine, warehouse: Path, here: Path) -> None:
    put("lakebed.toml", 'warehouse = "warehouse"\n[env.prod]\nwarehouse = "warehouse"\n')
    put("orders.yaml", MANIFEST)
    made = lakebed.ok("plan", "orders.yaml", "--env", "prod", "--format", "markdown")
    assert made.startswith("<!-- lakebed plan env=prod -->\n")
    assert made.endswith("Next: `lakebed apply --env prod orders.yaml`\n")


def test_the_work_of_others_that_would_be_undone_is_in_the_comment(
    lakebed: CommandLine, orders: Path, here: Path
) -> None:
    add_column(here / "warehouse", "shop.orders", "theirs", "INT")
    made = lakebed.ok("plan", "orders.yaml", "--format", "markdown")
    said = "version 1 made outside of apply, which made version 0 last:"
    assert f"\n- {said}\n- add column theirs: Option&#60;Int32&#62;\n" in made
    assert "`--allow LB4203:theirs --allow LB4231:theirs`" in made


class TestAll:
    """`plan --all`: the manifests of the project, and the tables of the warehouse that it does not declare."""

    def test_tables_that_nobody_declares_and_those_that_lost_their_manifest(
        self, lakebed: CommandLine, orders: Path, here: Path
    ) -> None:
        assert lakebed("plan", "--all", "--exit-code").code == 0
        put("more.yaml", MANIFEST.replace("shop.orders", "shop.more"))
        lakebed.ok("apply", "more.yaml", "--yes")
        Path("more.yaml").unlink()
        lakebed.ok("infer", "shop.more")
        result = lakebed("plan", "--all", "--json")
        assert (result.code, result.codes) == (0, ["LB4240"])
        assert result.json["result"]["undeclared"] == result.json["result"]["abandoned"] == ["shop.more"]
        assert lakebed("plan", "--all", "--exit-code").code == 13
        # A directory alone names them, and gates nothing.
        named = lakebed("plan", ".", "--exit-code", "--json")
        assert (named.code, named.codes, named.json["result"]["undeclared"]) == (0, [], ["shop.more"])
        assert lakebed("plan", "--all", "--exit-code", "--allow", "LB4240:shop.more").code == 0
        assert lakebed("plan", "--all", "--exit-code", "--allow", "LB4235").code == 13

    def test_a_table_that_another_program_has_made(self, lakebed: CommandLine, orders: Path, here: Path) -> None:
        import lakebed as package

        package.open(here / "warehouse").tables.create_table("shop", "scratch", [package.Field("a", "INT")])
        result = lakebed("plan", "--all", "--exit-code")
        assert (result.code, "warning[LB4235]: no manifest declares the table shop.scratch" in result.err) == (13, True)
        assert lakebed("plan", "--all", "--exit-code", "--allow", "LB4235:shop.scratch").code == 0
        vain = lakebed("plan", "--all", "--allow", "LB4235:shop.nothing", "--json")
        assert vain.codes == ["LB4235", "LB4223"]

    def test_what_cannot_be_read_is_told_and_hides_nothing(
        self, lakebed: CommandLine, orders: Path, here: Path
    ) -> None:
        import lakebed as package

        lake = package.open(here / "warehouse")
        lake.tables.create_table("shop", "broken", [package.Field("a", "INT")])
        Path(f"{lake.tables.table_path('shop.broken')}/schema/schema-0").write_text("{")
        result = lakebed("plan", "--all", "--json")
        assert result.code == 0
        assert {d["severity"] for d in result.json["diagnostics"]} == {"warning"}
        assert result.codes[-1] == "LB4235"
        assert len(result.codes) > 1

    def test_changes_that_lack_leave_are_worse(self, lakebed: CommandLine, orders: Path, here: Path) -> None:
        put("more.yaml", MANIFEST.replace("shop.orders", "shop.more"))
        lakebed.ok("apply", "more.yaml", "--yes")
        Path("more.yaml").unlink()
        orders.write_text(MANIFEST.replace("precision: 9", "precision: 5"))
        assert lakebed("plan", "--all", "--exit-code").code == 11
        assert lakebed("plan", "--all", "--exit-code", "--allow", "LB4206").code == 13

    def test_every_manifest_is_gone(self, lakebed: CommandLine, orders: Path) -> None:
        orders.unlink()
        result = lakebed("plan", "--all", "--exit-code", "--json")
        assert (result.code, result.codes) == (13, ["LB4240"])
        assert lakebed("plan", ".", "--all").codes_of_text == ["LB1001"]

    def test_the_project_is_where_its_settings_are(
        self, lakebed: CommandLine, orders: Path, here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (here / "deep/er").mkdir(parents=True)
        monkeypatch.chdir("deep/er")
        orders.write_text(MANIFEST.replace("type: Int32", "type: Int64"))
        assert lakebed.ok("plan", "--all").endswith("\nNext: lakebed apply ../..\n")

    def test_files_are_asked_for_otherwise(self, lakebed: CommandLine, warehouse: Path) -> None:
        assert (lakebed("plan").code, lakebed("plan").codes_of_text) == (2, ["LB7008"])


class TestNextCommand:
    def test_it_makes_the_changes(self, lakebed: CommandLine, orders: Path) -> None:
        orders.write_text(MANIFEST.replace("precision: 9", "precision: 5"))
        for words, last in (
            ([], "lakebed apply orders.yaml --allow LB4206:amount"),
            (["--allow", "LB4206"], "lakebed apply orders.yaml --allow LB4206"),
            (["--out", "a plan.json"], "lakebed apply 'a plan.json' --allow LB4206:amount"),
            (["--out", "p.json", "--allow", "LB4206"], "lakebed apply p.json"),
        ):
            out = lakebed.ok("plan", "orders.yaml", *words)
            assert out.splitlines()[-1] == f"Next: {last}"
        assert lakebed.ok("show", "p.json").splitlines()[-1] == "Next: lakebed apply p.json"
        assert lakebed("apply", "p.json", "--yes").code == 0
        assert "Next" not in lakebed.ok("plan", "orders.yaml")

    def test_none_is_told_where_nothing_can_be_made(self, lakebed: CommandLine, orders: Path) -> None:
        orders.write_text(MANIFEST + "      - {name: must, type: Int8}\n")
        assert "Next" not in lakebed.ok("plan", "orders.yaml")


def test_odfs_rule_is_told_where_it_is_asked_for(lakebed: CommandLine, orders: Path) -> None:
    orders.write_text(MANIFEST.replace("type: Int32", "type: Int64"))
    assert "ODF" not in lakebed.ok("plan", "orders.yaml")
    assert "ODF migration rule (LB4220): refused for id; does not gate" in lakebed.ok("plan", "orders.yaml", "--odf")


class TestApprovals:
    CHANGED = MANIFEST.replace("precision: 9", "precision: 5")

    def approved(self, until: str = "2026-06-01", path: str = "amount") -> str:
        entry = f"{{code: LB4206, path: {path}, reason: no larger amount, until: {until}, by: shop}}"
        return self.CHANGED.replace("  schema:", f"  approvals: [{entry}]\n  schema:")

    @pytest.mark.usefixtures("june")
    def test_it_counts_until_its_day_and_is_kept_in_the_history(self, lakebed: CommandLine, orders: Path) -> None:
        orders.write_text(self.approved("2026-05-31"))
        late = lakebed("plan", "orders.yaml", "--exit-code", "--json")
        assert (late.code, late.codes) == (11, ["LB4237"])
        assert lakebed("apply", "orders.yaml", "--yes").code == 11
        orders.write_text(self.approved())
        plan = (
            lakebed.ok("plan", "orders.yaml", "--exit-code") if False else lakebed("plan", "orders.yaml", "--exit-code")
        )
        assert plan.code == 10
        assert "approved by shop until 2026-06-01: no larger amount (LB4206:amount, orders.yaml:7:15)" in plan.out
        assert plan.out.endswith("Next: lakebed apply orders.yaml\n")
        assert lakebed("apply", "orders.yaml", "--yes").code == 0
        assert "approved LB4206:amount by shop until 2026-06-01: no larger amount" in lakebed.ok(
            "history", "shop.orders"
        )
        first, second = lakebed.json("history", "shop.orders")["versions"]
        kept = {"code": "LB4206", "path": "amount", "reason": "no larger amount", "until": "2026-06-01", "by": "shop"}
        assert (first["approvals"], second["approvals"]) == ([], [kept])

    @pytest.mark.usefixtures("june")
    def test_what_has_done_its_work_is_a_note_and_what_does_nothing_a_warning(
        self, lakebed: CommandLine, orders: Path, here: Path
    ) -> None:
        orders.write_text(self.approved())
        lakebed.ok("apply", "orders.yaml", "--yes")
        (note,) = lakebed("plan", "orders.yaml", "--json").json["diagnostics"]
        assert (note["code"], note["severity"], note["position"]["line"]) == ("LB4238", "note", 7)
        orders.write_text(self.approved(path="amuont"))
        (warning,) = lakebed("plan", "orders.yaml", "--json").json["diagnostics"]
        assert (warning["code"], warning["severity"]) == ("LB4238", "warning")
        # The next version was made without it, by whomever.
        add_column(here / "warehouse", "shop.orders", "theirs", "INT")
        assert [len(v["approvals"]) for v in lakebed.json("history", "shop.orders")["versions"]] == [0, 1, 0]

    @pytest.mark.usefixtures("june")
    def test_a_saved_plan_is_refused_once_its_approval_has_ended(
        self, lakebed: CommandLine, orders: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        orders.write_text(self.approved())
        lakebed.ok("plan", "orders.yaml", "--out", "plan.json")
        monkeypatch.setattr(time, "time_ns", lambda: (JUNE + 86_400) * 1_000_000_000)
        refused = lakebed("apply", "plan.json", "--yes", "--json")
        assert (refused.code, refused.codes) == (11, ["LB4206", "LB4237"])
        assert lakebed("apply", "plan.json", "--yes", "--allow", "LB4206").code == 0

    @pytest.mark.usefixtures("june")
    def test_the_day_is_that_of_the_time_zone(
        self, lakebed: CommandLine, orders: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        orders.write_text(self.approved("2026-05-31"))
        assert lakebed("plan", "orders.yaml", "--exit-code").code == 11
        monkeypatch.setenv("LAKEBED_TIME_ZONE", "America/New_York")
        assert lakebed("plan", "orders.yaml", "--exit-code").code == 10

    @pytest.mark.usefixtures("june")
    def test_check_honours_it_and_says_nothing_of_what_was_known(self, lakebed: CommandLine, here: Path) -> None:
        put("orders.yaml", MANIFEST)
        commit_all()
        put("orders.yaml", self.approved())
        assert lakebed("check", "--against", "git:HEAD").code == 0
        put("orders.yaml", self.approved("2026-05-31"))
        late = lakebed("check", "--against", "git:HEAD", "--json")
        assert (late.code, late.codes) == (11, ["LB4237"])
        put("orders.yaml", self.approved(path="amuont"))
        assert lakebed("check", "--against", "git:HEAD", "--json").codes == ["LB4238"]
        put("orders.yaml", self.approved())
        commit_all()
        assert lakebed("check", "--against", "git:HEAD", "--json").codes == []

    @pytest.mark.usefixtures("june")
    def test_a_dataset_says_it_among_its_attributes(self, lakebed: CommandLine, warehouse: Path) -> None:
        note = "{name: note, type: {kind: Option, inner: String}}"
        put("t.yaml", DATASET + f"          - {note}\n")
        lakebed.ok("apply", "t.yaml", "--yes")
        approved = "{lakebed.dev/approvals: [{code: LB4203, reason: gone, until: 2026-06-30}]}"
        put("t.yaml", f"{DATASET}        extra: {approved}\n")
        assert lakebed("plan", "t.yaml", "--exit-code").code == 10
        lakebed.ok("apply", "t.yaml", "--yes")
        assert "approved LB4203 until 2026-06-30: gone" in lakebed.ok("history", "lab.t")
        assert lakebed("plan", "t.yaml", "--exit-code").code == 0

    def test_bringing_a_manifest_up_to_date_keeps_it(self, lakebed: CommandLine, orders: Path, here: Path) -> None:
        orders.write_text(MANIFEST.replace("  schema:", f"{APPROVALS}  schema:"))
        add_column(here / "warehouse", "shop.orders", "theirs", "INT")
        lakebed.ok("infer", "shop.orders", "--update", "orders.yaml")
        assert APPROVALS in orders.read_text()
        assert "theirs" in orders.read_text()


@pytest.mark.parametrize("form", ENDINGS)
def test_every_format_names_the_team_that_breaks(
    lakebed: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    consumers = "  consumers: [{name: report, owner: Finance, columns: [id]}, {name: other, columns: [colour]}]\n"
    declared = ITEMS.replace("  compatibility: ODF\n", f"  compatibility: FULL_TRANSITIVE\n{consumers}")
    put("old/items.yaml", declared)
    put("new/items.yaml", declared.replace("Int64", "Int32"))
    assert lakebed("check", "--against", "new", "old", "--format", form).code == 11
    out = lakebed("check", "--against", "new", "old", "--format", form).out
    assert "LB4242" in out
    assert "LB4243" in out
    assert "report" in out
    assert "Finance" in out
    assert "other" not in out
