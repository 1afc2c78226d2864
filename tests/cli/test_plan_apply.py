"""`lakebed plan` and `lakebed apply`, and how they end."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from cli.command_line import CommandLine, on_terminal
from cli.conftest import MANIFEST
from cli.other_engine import add_column, retype, set_option


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def widened(orders: Path) -> str:
    """Two safe changes."""
    text = MANIFEST.replace("type: Int32", "type: Int64")
    return write(orders.parent / "widened.yaml", text + "      - {name: extra, type: {kind: Option, inner: String}}\n")


@pytest.fixture
def dropped(orders: Path) -> str:
    """A breaking change."""
    return write(orders.parent / "dropped.yaml", MANIFEST.replace(MANIFEST.splitlines()[-1] + "\n", ""))


@pytest.fixture
def forbidden(orders: Path) -> str:
    return write(orders.parent / "forbidden.yaml", MANIFEST + "      - {name: required, type: Int32}\n")


class TestPlan:
    def test_a_new_table(self, lakebed: CommandLine, warehouse: Path, here: Path) -> None:
        write(here / "orders.yaml", MANIFEST)
        result = lakebed("plan", "orders.yaml")
        assert (result.code, result.err) == (0, "")
        assert result.out.splitlines() == [
            "shop.orders: new table",
            "  + day: Date",
            "  + id: Int32",
            "  + amount: Decimal(9, 2)",
            "  + note: Option<String>",
            "  + partition keys: day",
            '  + set description of the table to "Orders of the shop"',
            "",
            "Tables: 1 to create.",
            "Next: lakebed apply orders.yaml",
        ]
        assert list((here / "warehouse").iterdir()) == []

    def test_what_to_name_is_said(self, lakebed: CommandLine, here: Path) -> None:
        for command, hint in (("plan", "--all"), ("apply", "`.` for all below here")):
            result = lakebed(command)
            assert (result.code, hint in result.err) == (2, True)

    @pytest.mark.parametrize("settings", ["", 'warehouse = "none"'])
    @pytest.mark.parametrize("command", ["plan", "apply"])
    def test_a_manifest_that_is_not_there_is_told_before_the_warehouse(
        self, lakebed: CommandLine, here: Path, settings: str, command: str
    ) -> None:
        write(here / "lakebed.toml", settings)
        write(here / "orders.yaml", MANIFEST)
        assert lakebed(command, "nope.yaml").codes_of_text == ["LB1001"]
        assert lakebed(command, "orders.yaml").codes_of_text == (["LB3112"] if settings else ["LB7001"])

    def test_the_problems_of_all_tables_are_told(self, lakebed: CommandLine, orders: Path) -> None:
        for name in ("x", "y"):
            text = MANIFEST.replace("shop.orders", f"shop.{name}")
            Path(f"{name}.yaml").write_text(
                text.replace("  schema:", "  options: {bucket: many, bukcet: '1'}\n  schema:")
            )
        result = lakebed("plan", "x.yaml", "y.yaml", "--json")
        found = [(d["position"]["file"], d["code"]) for d in result.json["diagnostics"]]
        assert (result.code, found) == (1, [(f, c) for f in ("x.yaml", "y.yaml") for c in ("LB3332", "LB4024")])

    def test_exit_codes_only_where_asked_for(
        self, lakebed: CommandLine, orders: Path, widened: str, dropped: str, forbidden: str
    ) -> None:
        expected = {str(orders): 0, widened: 10, dropped: 11, forbidden: 11}
        for file, code in expected.items():
            assert lakebed("plan", file).code == 0
            assert lakebed("plan", file, "--exit-code").code == code
            envelope = lakebed("plan", file, "--exit-code", "--json")
            assert (envelope.code, envelope.json["ok"]) == (code, code in (0, 10))
            assert envelope.json["result"]["format_version"] == 3
        assert lakebed("plan", dropped, "--exit-code", "--allow", "LB4203:note").code == 10
        assert lakebed("plan", dropped, "--exit-code", "--allow", "LB4203").code == 10
        vain = lakebed("plan", dropped, "--exit-code", "--allow", "LB4203:notes")
        assert vain.code == 11
        assert vain.err.startswith(
            "warning[LB4223]: the approval LB4203:notes matches no change of the plan (did you mean"
        )
        assert lakebed("plan", forbidden, "--exit-code", "--allow", "LB4202").code == 11

    def test_over_several_tables_the_most_severe_wins(
        self, lakebed: CommandLine, orders: Path, dropped: str, here: Path
    ) -> None:
        other = write(here / "other.yaml", MANIFEST.replace("shop.orders", "shop.others"))
        assert lakebed("plan", str(orders), other, "--exit-code").code == 10
        assert lakebed("plan", other, dropped, "--exit-code").code == 11

    def test_drift_is_13_and_what_is_refused_is_worse(self, lakebed: CommandLine, warehouse: Path, here: Path) -> None:
        text = MANIFEST.replace("type: Int32", "type: UInt8")
        unsigned, wide = write(here / "unsigned.yaml", text), write(here / "wide.yaml", text.replace("UInt8", "Int64"))
        lakebed.ok("apply", unsigned, "--yes")
        assert lakebed("plan", unsigned, "--exit-code").code == 0
        retype(warehouse, "shop.orders", "id", "BIGINT NOT NULL")
        result = lakebed("plan", wide, "--exit-code")
        assert result.code == 13
        assert result.err.startswith("warning[LB3513]: shop.orders: the column 'id' was declared as UInt8 but")
        assert lakebed("plan", wide).code == 0
        assert lakebed("plan", wide, "--exit-code", "--json").json["ok"] is False
        assert [t["annotations_drifted"] for t in lakebed.json("plan", wide)["tables"]] == [True]
        assert lakebed("plan", unsigned, "--exit-code").code == 11
        assert lakebed("plan", unsigned, "--exit-code", "--allow", "LB4206:id").code == 13

    def test_what_others_made_is_told_and_undone_with_leave_only(
        self, lakebed: CommandLine, orders: Path, widened: str, warehouse: Path
    ) -> None:
        set_option(warehouse, "shop.orders", "consumer.expiration-time", "7 d")
        set_option(warehouse, "shop.orders", "snapshot.time-retained", "1 h")
        leave = ("--allow", "LB4231:consumer.expiration-time", "--allow", "LB4231:snapshot.time-retained")
        result = lakebed("plan", str(orders), "--exit-code")
        assert result.code == 13
        assert result.out.splitlines()[:8] == [
            "shop.orders: schema 2 to 3",
            "  versions 1 to 2 made outside of apply, which made version 0 last:",
            "    set option consumer.expiration-time to 7 d",
            "    set option snapshot.time-retained to 1 h",
            "  ~ breaking   remove option consumer.expiration-time (was 7 d)",
            "               LB4231: it undoes or changes what versions 1 to 2 did outside of `apply`; every "
            "engine that writes or reads the table follows it",
            "               remedy: declare it as it is now, as `lakebed pull` does, or give leave to undo it",
            "               leave: --allow LB4231:consumer.expiration-time",
        ]
        assert lakebed("plan", str(orders), "--exit-code", *leave).code == 10
        assert lakebed("plan", str(orders), "--exit-code", *leave[:2]).code == 13
        assert [c["undoes_others"] for c in lakebed.json("plan", widened)["tables"][0]["changes"]].count(True) == 2
        refused = lakebed("apply", str(orders), "--yes")
        assert refused.code == 11
        assert refused.err.count("LB4231") == 4
        lakebed.ok("apply", widened, "--yes", *leave)
        assert lakebed("plan", widened, "--exit-code").code == 0

    def test_the_most_severe_of_what_lacks_leave_counts(
        self, lakebed: CommandLine, orders: Path, warehouse: Path
    ) -> None:
        add_column(warehouse, "shop.orders", "extra", "INT")
        own, drift = ("--allow", "LB4203:extra"), ("--allow", "LB4231:extra")
        for leave, code in (((), 11), (drift, 11), (own, 13), ((*own, *drift), 10)):
            assert lakebed("plan", str(orders), "--exit-code", *leave).code == code

    def test_options_of_others_are_ignored(self, lakebed: CommandLine, orders: Path, warehouse: Path) -> None:
        set_option(warehouse, "shop.orders", "consumer.expiration-time", "7 d")
        ignoring = MANIFEST.replace("  schema:", "  ignoreOptions: [consumer.*]\n  schema:")
        assert lakebed("plan", write(orders.parent / "ignoring.yaml", ignoring), "--exit-code").code == 0

    def test_it_saves_the_plan_and_says_so(self, lakebed: CommandLine, widened: str, here: Path) -> None:
        result = lakebed("plan", widened, "--out", "plan.json")
        assert result.err == "Saved as plan.json: `lakebed apply plan.json` makes exactly these changes.\n"
        assert json.loads((here / "plan.json").read_text(encoding="utf-8")) == lakebed.json("plan", widened)

    def test_it_does_not_save_over_the_manifest(self, lakebed: CommandLine, orders: Path) -> None:
        result = lakebed("plan", str(orders), "--out", "orders.yaml")
        assert (result.code, result.out) == (2, "")
        assert orders.read_text(encoding="utf-8") == MANIFEST

    def test_standard_input(
        self, lakebed: CommandLine, orders: Path, widened: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def feed(text: str) -> None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

        feed(MANIFEST)
        assert lakebed("plan", "-", "--exit-code").code == 0
        feed(Path(widened).read_text(encoding="utf-8"))
        assert lakebed.ok("apply", "-", "--yes").startswith("shop.orders: now at schema 1\n")
        feed("kind: Tabel\n")
        result = lakebed("plan", "-")
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith("<stdin>:1:")


class TestDirectories:
    @pytest.fixture
    def tables(self, warehouse: Path, here: Path) -> Path:
        root = here / "tables"
        (root / "deep" / "er").mkdir(parents=True)
        (root / ".hidden").mkdir()
        write(root / "b.yml", MANIFEST.replace("shop.orders", "shop.b"))
        write(root / "deep" / "er" / "a.yaml", MANIFEST.replace("shop.orders", "shop.a"))
        write(root / ".hidden" / "x.yaml", "no manifest")
        write(root / ".y.yaml", "no manifest")
        write(root / "readme.txt", "no manifest")
        write(root / "own.yaml", "kind: Attributes\nversion: 1\ncontent:\n  domains: [x.org]\n")
        return root

    def test_every_manifest_at_any_depth(self, lakebed: CommandLine, tables: Path) -> None:
        result = lakebed.json("plan", "tables")
        assert [t["name"] for t in result["tables"]] == ["shop.b", "shop.a"]
        assert lakebed.ok("apply", str(tables), "--yes").count(": created, schema 0") == 2
        assert lakebed.ok("plan", "tables") == "No changes: 2 tables are as declared.\n"

    def test_tables_that_nothing_declares(self, lakebed: CommandLine, orders: Path, tables: Path) -> None:
        lakebed.ok("apply", "tables", "--yes")
        assert lakebed.ok("plan", "tables").splitlines() == [
            "No manifest declares: shop.orders",
            "",
            "No changes: 2 tables are as declared.",
        ]
        assert lakebed.json("plan", "tables")["undeclared"] == ["shop.orders"]
        assert lakebed.json("plan", "tables", str(orders))["undeclared"] == []
        assert lakebed.json("plan", str(orders))["undeclared"] == []
        assert lakebed.json("plan", str(orders), "--undeclared")["undeclared"] == ["shop.a", "shop.b"]
        assert lakebed("plan", "tables", "--exit-code").code == 0

    def test_a_directory_without_manifests(self, lakebed: CommandLine, tables: Path) -> None:
        result = lakebed("plan", "tables/.hidden/..", "nothing.yaml", "tables/deep")
        assert (result.code, "nothing.yaml" in result.err, "holds no manifest" in result.err) == (1, True, False)
        (tables / "deep" / "er" / "a.yaml").unlink()
        result = lakebed("plan", "tables/deep", "--json")
        assert (result.code, result.codes) == (1, ["LB1001"])

    def test_a_faulty_manifest_in_it_is_no_silence(self, lakebed: CommandLine, tables: Path) -> None:
        write(tables / "deep" / "c.yaml", "kind: Tabel\n")
        result = lakebed("plan", "tables")
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith("tables/deep/c.yaml:1:")

    def test_a_plan_is_not_saved_over_a_manifest_in_it(self, lakebed: CommandLine, tables: Path) -> None:
        assert lakebed("plan", "tables", "--out", "tables/deep/er/a.yaml").code == 2
        assert "kind: Table" in (tables / "deep" / "er" / "a.yaml").read_text(encoding="utf-8")


class TestBadManifests:
    TEXT = """\
kind: Table
version: 1
content:
  name: shop.bad
  partitonKeys: [day]
  schema:
    fields:
      - {name: day, type: Dat}
      - name: amount
        type: {kind: Decimal, precision: 9}
"""

    def test_all_problems_with_their_places(self, lakebed: CommandLine, warehouse: Path, here: Path) -> None:
        write(here / "bad.yaml", self.TEXT)
        for command in ("plan", "apply"):
            result = lakebed(command, "bad.yaml")
            assert (result.code, result.out) == (1, "")
            heads = [line for line in result.err.splitlines() if not line.startswith(" ")]
            assert [line.split(": ")[0] for line in heads] == ["bad.yaml:5:3", "bad.yaml:8:27", "bad.yaml:10:15"]
            assert all("error[LB1" in line for line in heads)
            assert "(did you mean 'partitionKeys'" in heads[0]

    def test_of_all_files_and_as_json(self, lakebed: CommandLine, warehouse: Path, here: Path) -> None:
        write(here / "bad.yaml", self.TEXT)
        result = lakebed("--json", "plan", "bad.yaml", "missing.yaml")
        assert (result.code, result.err) == (1, "")
        assert (result.json["ok"], result.json["result"]) == (False, None)
        assert [d.get("position", {}).get("line") for d in result.json["diagnostics"]] == [5, 8, 10, None]
        assert result.codes[-1] == "LB1001"


class TestApply:
    def test_it_makes_the_table_then_versions_then_nothing(
        self, lakebed: CommandLine, warehouse: Path, here: Path, request: pytest.FixtureRequest
    ) -> None:
        path = write(here / "o.yaml", MANIFEST)
        made = lakebed.ok("apply", path, "--yes").splitlines()
        assert made[:2] == ["shop.orders: created, schema 0", "  create table shop.orders (4 columns)"]
        assert made[-2:] == ["  partition keys: day", '  set description of the table to "Orders of the shop"']
        assert lakebed.ok("apply", path, "--yes") == "shop.orders: unchanged, at schema 0\n"
        write(here / "o.yaml", MANIFEST.replace("Price paid", "Paid"))
        assert lakebed.json("apply", path, "--yes") == {
            "tables": [
                {
                    "name": "shop.orders",
                    "schema_id": 1,
                    "created": False,
                    "changed": True,
                    "changes": ['change description of amount from "Price paid" to "Paid"'],
                }
            ]
        }
        files = sorted(p.name for p in (warehouse / "shop.db" / "orders" / "schema").iterdir())
        assert files == ["schema-0", "schema-1"]

    def test_breaking_needs_leave(self, lakebed: CommandLine, dropped: str) -> None:
        result = lakebed("apply", dropped, "--yes")
        assert (result.code, result.out) == (11, "")
        assert "error[LB4203]: shop.orders: leave is needed to drop column note" in result.err
        assert "remedy: --allow LB4203:note" in result.err
        assert lakebed("apply", dropped, "--allow", "LB4203:id", "--json", "--yes").codes == ["LB4203"]
        done = lakebed.ok("apply", dropped, "--allow", "LB4203:note", "--yes")
        assert done == "shop.orders: now at schema 1\n  drop column note (Option<String>)\n"
        again = lakebed("apply", dropped, "--allow", "LB4203:note", "--yes")
        assert (again.code, "warning[LB4223]" in again.err) == (0, True)

    def test_a_saved_plan_carries_its_approvals_and_is_shown_again(self, lakebed: CommandLine, dropped: str) -> None:
        planned = lakebed.ok("plan", dropped, "--allow", "LB4203:note", "--out", "plan.json")
        assert "approved by --allow LB4203:note" in planned
        assert lakebed.ok("show", "plan.json") == planned
        assert lakebed.json("show", "plan.json")["approvals"] == ["LB4203:note"]
        assert lakebed.ok("apply", "plan.json", "--yes").startswith("shop.orders: now at schema 1\n")
        assert lakebed("show", "plan.json").code == 0
        assert "applied already" in lakebed.ok("apply", "plan.json", "--yes")

    def test_a_saved_plan_without_approval_needs_it_later(self, lakebed: CommandLine, dropped: str) -> None:
        lakebed.ok("plan", dropped, "--out", "plan.json")
        assert lakebed("apply", "plan.json", "--yes").code == 11
        assert lakebed("apply", "plan.json", "--yes", "--allow", "LB4203").code == 0

    def test_leave_by_a_code_that_does_not_exist(self, lakebed: CommandLine, dropped: str) -> None:
        result = lakebed("apply", dropped, "--allow", "LB4230", "--yes")
        assert result.code == 2
        assert "error[LB4307]" in result.err

    def test_forbidden_stays_forbidden(self, lakebed: CommandLine, forbidden: str) -> None:
        result = lakebed("apply", forbidden, "--allow", "LB4202", "--yes")
        assert (result.code, result.out) == (11, "")
        assert "forbidden.yaml:17:16: " in result.err
        assert "error[LB4202]" in result.err

    def test_a_saved_plan_runs_once(self, lakebed: CommandLine, widened: str) -> None:
        lakebed.ok("plan", widened, "--out", "plan")
        assert lakebed.ok("apply", "plan", "--yes").startswith("shop.orders: now at schema 1\n")
        assert lakebed.ok("apply", "plan", "--yes") == "shop.orders: applied already, at schema 1\n"
        (table,) = lakebed("--json", "apply", "plan", "--yes").json["result"]["tables"]
        assert (table["changed"], table["already_applied"], table["schema_id"]) == (False, True, 1)

    def test_a_plan_is_stale_after_somebody_elses_change(
        self, lakebed: CommandLine, orders: Path, widened: str
    ) -> None:
        lakebed.ok("plan", widened, "--out", "plan.json")
        write(orders, MANIFEST.replace("Price paid", "Paid"))
        lakebed.ok("apply", str(orders), "--yes")
        assert lakebed("apply", "plan.json", "--yes").code == 12

    def test_a_saved_plan_is_applied_alone(self, lakebed: CommandLine, orders: Path, widened: str) -> None:
        lakebed.ok("plan", widened, "--out", "plan.json")
        result = lakebed("apply", "plan.json", str(orders), "--yes")
        assert result.code == 2
        assert result.err.startswith("error[LB7004]: a saved plan is applied alone")

    def test_an_edited_plan_is_refused(self, lakebed: CommandLine, widened: str, here: Path) -> None:
        lakebed.ok("plan", widened, "--out", "plan.json")
        write(here / "plan.json", (here / "plan.json").read_text(encoding="utf-8").replace("BIGINT", "INT"))
        assert lakebed("apply", "plan.json", "--json", "--yes").codes == ["LB4302"]

    @pytest.mark.parametrize("text", ["{", "{}", '{"format_version": 1}', "[]", "\xff", ""])
    def test_a_damaged_file_is_judged_as_a_manifest(
        self, lakebed: CommandLine, warehouse: Path, here: Path, text: str
    ) -> None:
        (here / "plan.json").write_bytes(text.encode("latin-1"))
        result = lakebed("apply", "plan.json", "--yes")
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith("plan.json:1:")

    def test_a_manifest_may_be_json(self, lakebed: CommandLine, warehouse: Path, here: Path) -> None:
        field = {"name": "id", "type": "Int32"}
        manifest = {"kind": "Table", "version": 1, "content": {"name": "a.b", "schema": {"fields": [field]}}}
        write(here / "b.json", json.dumps(manifest))
        made = lakebed.ok("apply", "b.json", "--yes")
        assert made.splitlines() == [
            "a.b: created, schema 0",
            "  create table a.b (1 column)",
            "  add column id: Int32",
        ]

    def test_without_a_terminal_it_needs_yes(self, lakebed: CommandLine, orders: Path, widened: str) -> None:
        lakebed.ok("plan", widened, "--out", "plan.json")
        for file in (widened, "plan.json"):
            result = lakebed("apply", file)
            assert (result.code, result.out) == (2, "")
            assert "~ safe       change type of id from Int32 to Int64" in result.err
            assert "\nerror[LB7006]: apply the plan: not confirmed, nothing was changed\n" in result.err
            assert lakebed("plan", widened, "--exit-code").code == 10
        assert lakebed("apply", widened, "--json").codes == ["LB7006"]
        assert lakebed.ok("apply", str(orders)) == "shop.orders: unchanged, at schema 0\n"
        assert lakebed.ok("apply", widened, "--yes").splitlines() == [
            "shop.orders: now at schema 1",
            "  change type of id from Int32 to Int64",
            "  add column extra: Option<String>",
        ]


class TestOnATerminal:
    def test_it_shows_the_plan_and_asks(self, orders: Path, widened: str, lakebed: CommandLine) -> None:
        code, screen = on_terminal("apply", widened, answers={"Apply? [y/N]": "y\n"}, NO_COLOR="1")
        assert code == 0
        shown, _, after = screen.partition("Apply? [y/N]")
        assert "~ safe       change type of id from Int32 to Int64" in shown
        assert "shop.orders: now at schema 1" in after.splitlines()

    @pytest.mark.parametrize("answer", ["n\n", "\n", "\x04"], ids=["no", "nothing", "end"])
    def test_everything_but_yes_changes_nothing(self, widened: str, lakebed: CommandLine, answer: str) -> None:
        code, screen = on_terminal("apply", widened, answers={"Apply? [y/N]": answer}, NO_COLOR="1")
        assert code == 1
        assert screen.splitlines()[-1] == "error[LB7006]: not confirmed; nothing was changed"
        assert "Traceback" not in screen
        assert lakebed("plan", widened, "--exit-code").code == 10

    def test_ctrl_c_at_the_question_is_a_no(
        self, lakebed: CommandLine, widened: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(_: str) -> str:
            raise KeyboardInterrupt

        monkeypatch.setattr("click.termui.visible_prompt_func", interrupted)
        monkeypatch.setattr("lakebed.cli.invocation.Session.can_ask", True)
        result = lakebed("apply", widened)
        assert (result.code, result.out) == (1, "")
        assert result.err.endswith("\n\nerror[LB7006]: not confirmed; nothing was changed\n")
        assert lakebed("plan", widened, "--exit-code").code == 10

    def test_it_asks_nothing_without_need(self, orders: Path, widened: str, dropped: str, lakebed: CommandLine) -> None:
        assert on_terminal("apply", str(orders), NO_COLOR="1") == (0, "shop.orders: unchanged, at schema 0\n")
        code, screen = on_terminal("apply", dropped)
        assert (code, "Apply?" in screen) == (11, False)
        code, screen = on_terminal("apply", widened, "--yes")
        assert (code, screen.splitlines()[0]) == (0, "shop.orders: now at schema 1")

    def test_colours_and_lines_that_fit(self, dropped: str) -> None:
        code, screen = on_terminal("plan", dropped, columns=60)
        assert code == 0
        assert "\x1b[1mshop.orders\x1b[0m" in screen
        assert "\x1b[31mbreaking \x1b[0m" in screen
        _, plain = on_terminal("plan", Path(dropped).name, columns=60, NO_COLOR="1")
        assert "\x1b" not in plain
        assert max(map(len, plain.splitlines())) <= 60
        assert on_terminal("plan", dropped, columns=60, COLUMNS="200", TERM="dumb")[1].count("\n") < plain.count("\n")
