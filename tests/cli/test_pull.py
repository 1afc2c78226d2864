"""`lakebed pull`, and what `plan --drift` makes of changes that undo what others did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli.command_line import CommandLine
from cli.conftest import MANIFEST
from cli.other_engine import add_column, rename_column, set_option

COMMENTED = MANIFEST.replace("  description:", "  # Ask the shop team first.\n  description:").replace(
    "      - {name: note,", "      # Free text.\n      - {name: note,"
)
WISH = "      - {name: wish, type: {kind: Option, inner: String}}\n"
ASKED = COMMENTED + WISH


@pytest.fixture
def drifted(lakebed: CommandLine, orders: Path, warehouse: Path) -> Path:
    """A manifest with comments that asks for a column, of a table to which others did two things."""
    orders.write_text(ASKED, encoding="utf-8")
    add_column(warehouse, "shop.orders", "theirs", "STRING")
    set_option(warehouse, "shop.orders", "snapshot.num-retained.max", "20")
    return orders


def summaries(result: Any) -> list[str]:
    """What changes, in words."""
    return [change["summary"] for table in result["tables"] for change in table["changes"]]


class TestPull:
    def test_what_others_did_is_written_and_everything_else_stays(self, lakebed: CommandLine, drifted: Path) -> None:
        result = lakebed("pull")
        assert (result.code, result.out.splitlines()) == (
            0,
            [
                "orders.yaml: shop.orders, what versions 1 to 2 did outside of `apply`",
                "  add column theirs: Option<String>",
                "  set option snapshot.num-retained.max to 20",
            ],
        )
        text = drifted.read_text(encoding="utf-8")
        assert [line for line in text.splitlines() if line not in ASKED.splitlines()] == [
            "      - {name: theirs, type: {kind: Option, inner: String}}",
            '  options: {snapshot.num-retained.max: "20"}',
        ]
        assert [line for line in ASKED.splitlines() if line not in text.splitlines()] == []
        assert [c["summary"] for c in lakebed.json("plan", "orders.yaml")["tables"][0]["changes"]] == [
            "add column wish: Option<String>"
        ]
        assert lakebed.ok("pull").strip() == "Nothing to pull: the manifests declare what was made outside of `apply`."

    @pytest.mark.parametrize("renamed_before", [False, True])
    def test_a_rename_by_others_is_declared_as_one(
        self, lakebed: CommandLine, orders: Path, warehouse: Path, renamed_before: bool
    ) -> None:
        """So that no other warehouse, and nobody who compares with the old manifest, takes it for a drop."""
        name = "note"
        if renamed_before:
            name = "remark"
            text = MANIFEST.replace("name: note,", "name: remark, extra: {lakebed.dev/renamedFrom: note},")
            orders.write_text(text, encoding="utf-8")
            lakebed.ok("apply", "orders.yaml", "--yes")
        old = orders.read_text(encoding="utf-8")
        rename_column(warehouse, "shop.orders", name, "theirs")
        assert summaries(lakebed.json("plan", "orders.yaml")) == [f"rename column theirs to {name}"]
        lakebed.ok("pull")
        assert f"lakebed.dev/renamedFrom: {name}" in orders.read_text(encoding="utf-8")
        assert summaries(lakebed.json("plan", "orders.yaml")) == []
        Path("old.yaml").write_text(old, encoding="utf-8")
        assert lakebed.json("diff", "old.yaml", "orders.yaml")["changes"] == [f"rename column {name} to theirs"]

    @pytest.mark.parametrize(("flag", "code"), [("--check", 13), ("--diff", 0)])
    @pytest.mark.parametrize("named", ["shop.orders --manifest orders.yaml", "orders.yaml", "shop.orders orders.yaml"])
    def test_a_dry_run_writes_nothing(
        self, lakebed: CommandLine, drifted: Path, named: str, flag: str, code: int
    ) -> None:
        result = lakebed("pull", *named.split(), flag)
        assert (result.code, "+      - {name: theirs" in result.out) == (code, flag == "--diff")
        assert drifted.read_text(encoding="utf-8") == ASKED
        assert lakebed("pull", "--json", "--check").json["result"] == {
            "tables": [
                {
                    "table": "shop.orders",
                    "file": "orders.yaml",
                    "versions": "versions 1 to 2",
                    "changes": ["add column theirs: Option<String>", "set option snapshot.num-retained.max to 20"],
                }
            ],
            "files": ["orders.yaml"],
            "written": False,
        }

    def test_the_whole_table_where_it_is_asked_for_or_nothing_was_applied(
        self, lakebed: CommandLine, drifted: Path, warehouse: Path
    ) -> None:
        import lakebed as library

        library.open(warehouse).tables.create_table("shop", "foreign", ["id INT", "more STRING"])
        foreign = "kind: Table\nversion: 1\ncontent:\n  name: shop.foreign\n  schema:\n    fields:\n"
        Path("foreign.yaml").write_text(foreign + "      - {name: id, type: {kind: Option, inner: Int32}}  # a\n")
        assert lakebed.ok("pull", "--whole").splitlines()[0] == "foreign.yaml: shop.foreign, the table as it is"
        assert "# a\n      - {name: more," in Path("foreign.yaml").read_text()
        assert "wish" not in drifted.read_text(encoding="utf-8")
        assert "No changes: 2 tables are as declared." in lakebed.ok("plan", "--all")

    def test_a_table_that_no_manifest_declares(self, lakebed: CommandLine, drifted: Path) -> None:
        assert lakebed("pull", "shop.ordres").codes_of_text == ["LB1633"]

    def test_what_cannot_be_written_is_told_and_nothing_is(self, lakebed: CommandLine, drifted: Path) -> None:
        shared = ASKED.replace("  schema:", "  options: &kept {}\n  schema:").replace(
            "String}}\n", "String}, extra: *kept}\n"
        )
        drifted.write_text(shared, encoding="utf-8")
        result = lakebed("pull")
        assert (result.code, result.codes_of_text) == (1, ["LB1631", "LB1009"])
        assert drifted.read_text(encoding="utf-8") == shared


class TestDrift:
    def test_what_others_did_is_13_and_what_is_not_applied_10(self, lakebed: CommandLine, drifted: Path) -> None:
        result = lakebed("drift", "--exit-code")
        assert (result.code, result.out.splitlines()[-3:]) == (
            13,
            [
                "  to keep it: lakebed pull shop.orders",
                "",
                "Tables: 1 drifted, 1 with changes that are not applied.",
            ],
        )
        (table,) = lakebed.json("drift", "orders.yaml", "--files")["tables"]
        assert (table["drift"], table["files"], [v["schema_id"] for v in table["versions"]]) == (True, 0, [1, 2])
        lakebed.ok("pull")
        assert lakebed("drift", "--exit-code").code == 10
        lakebed.ok("apply", "orders.yaml", "--yes")
        result = lakebed("drift", "--exit-code")
        assert (result.code, result.out.strip()) == (0, "Tables: 1 as declared.")


class TestRules:
    def test_refused_whatever_leave_there_is(self, lakebed: CommandLine, drifted: Path) -> None:
        leave = ("--allow", "LB4231", "--allow", "LB4203")
        result = lakebed("plan", "orders.yaml", "--drift", "refuse", "--exit-code", *leave)
        assert (result.code, "cannot be changed as declared" in result.out) == (13, True)
        refused = lakebed("apply", "orders.yaml", "--yes", "--drift", "refuse", *leave)
        assert (refused.code, refused.codes_of_text) == (11, ["LB4231", "LB4231"])
        # No leave is offered that would not help.
        refused = lakebed("apply", "orders.yaml", "--yes", "--drift", "refuse")
        assert (refused.codes_of_text, "--allow" in refused.err) == (["LB4231", "LB4231"], False)

    def test_adopted_until_the_manifest_declares_it(self, lakebed: CommandLine, drifted: Path) -> None:
        Path("lakebed.toml").write_text(Path("lakebed.toml").read_text() + 'drift = "adopt"\n')
        result = lakebed("plan", "orders.yaml")
        assert "add column wish" in result.out
        assert "theirs" not in result.out.replace("    add column theirs: Option<String>", "")
        assert "warning[LB4244]" in result.err
        assert lakebed("apply", "orders.yaml", "--yes").code == 0
        # The mark stays where it was: without the setting nothing of the others' work is undone without leave.
        plain = lakebed("plan", "orders.yaml", "--drift", "ask", "--json")
        assert all(change["undoes_others"] for change in plain.json["result"]["tables"][0]["changes"])
        # Nothing is left to do, and what the manifest does not say is not called declared.
        adopted = lakebed.ok("plan", "orders.yaml").splitlines()
        assert adopted[0] == "No changes: shop.orders is as declared but for what others did (schema 3)."
        lakebed.ok("pull")
        assert "No changes: shop.orders is as declared (schema 3)." in lakebed.ok("plan", "orders.yaml")
        taken = "Tables: 1 as declared, 1 of these with versions of others, which the manifest has taken over."
        assert lakebed.ok("drift").strip() == taken

    def test_reverted_as_if_there_were_leave(self, lakebed: CommandLine, drifted: Path) -> None:
        result = lakebed("plan", "orders.yaml", "--drift", "revert")
        assert "Next: lakebed apply --drift revert orders.yaml --allow LB4203:theirs" in result.out
        for form in ("text", "markdown"):
            said = lakebed.ok("plan", "orders.yaml", "--drift", "revert", "--format", form)
            assert ("approved by --drift revert" in said, "--allow LB4231" in said) == (True, False)
        assert lakebed("apply", "orders.yaml", "--yes", "--drift", "revert").codes_of_text == ["LB4203"]
        assert lakebed("apply", "orders.yaml", "--yes", "--drift", "revert", "--allow", "LB4203:theirs").code == 0
        assert "No changes" in lakebed.ok("plan", "orders.yaml")

    def test_a_rule_that_is_none(self, lakebed: CommandLine, drifted: Path) -> None:
        Path("lakebed.toml").write_text(Path("lakebed.toml").read_text() + 'drift = "undo"\n')
        assert lakebed("plan", "orders.yaml").codes_of_text == ["LB4310"]
        assert lakebed("config", "show").codes_of_text == ["LB4310"]

    def test_a_saved_plan_has_followed_a_rule(self, lakebed: CommandLine, drifted: Path) -> None:
        lakebed.ok("plan", "orders.yaml", "--drift", "adopt", "--out", "plan.json")
        assert lakebed("apply", "plan.json", "--drift", "revert").codes_of_text == ["LB7004"]
        assert lakebed("apply", "plan.json", "--yes").code == 0
