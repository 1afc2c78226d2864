"""The commands that only look, and `drop`."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.command_line import CommandLine, on_terminal
from cli.conftest import MANIFEST
from cli.other_engine import retype, write_snapshot
from lakebed.catalog import PathFactory, TableManager
from lakebed.format.snapshot import Snapshot, SnapshotManager
from lakebed.store.local import LocalStore


@pytest.fixture
def changed(lakebed: CommandLine, orders: Path) -> Path:
    """Schema 1: `id` is wider and `note` is called `comment`."""
    text = MANIFEST.replace("type: Int32", "type: Int64").replace(
        "{name: note, type: {kind: Option, inner: String}}",
        "{name: comment, type: {kind: Option, inner: String}, extra: {lakebed.dev/renamedFrom: note}}",
    )
    orders.write_text(text, encoding="utf-8")
    lakebed.ok("apply", str(orders), "--yes")
    return orders


class TestShow:
    def test_the_newest_and_an_older_one(self, lakebed: CommandLine, changed: Path) -> None:
        assert lakebed.ok("show", "shop.orders").splitlines() == [
            "shop.orders  schema 1",
            "Orders of the shop",
            "partition keys: day",
            "",
            "id   column    type            null   description",
            "─" * 68,
            " 0   day       Date",
            " 1   id        Int64",
            " 2   amount    Decimal(9, 2)          Price paid [x.org/unit=EUR]",
            " 3   comment   String          yes    [lakebed.dev/renamedFrom=note]",
        ]
        old = lakebed.ok("show", "shop.orders@0")
        assert old.startswith("shop.orders  schema 0\n")
        assert "Int32" in old

    def test_as_json(self, lakebed: CommandLine, changed: Path) -> None:
        result = lakebed.json("show", "shop.orders@0")
        assert (result["table"], result["schema_id"]) == ("shop.orders", 0)
        assert result["physical"]["fields"][1] == {"id": 1, "name": "id", "type": "INT NOT NULL"}
        assert result["logical"]["fields"][1]["type"] == {"kind": "Int32"}

    def test_the_schema_file_itself(self, lakebed: CommandLine, changed: Path, here: Path) -> None:
        path = here / "warehouse" / "shop.db" / "orders" / "schema" / "schema-1"
        assert lakebed.ok("show", "shop.orders", "--physical") == path.read_text(encoding="utf-8") + "\n"

    def test_every_form_of_a_version(self, lakebed: CommandLine, changed: Path, here: Path) -> None:
        write_snapshot(here / "warehouse", "shop.orders", 1, schema_id=0)
        write_snapshot(here / "warehouse", "shop.orders", 2, schema_id=1)
        for text, number in (("", 1), ("@0", 0), ("@1", 1), ("@snap:1", 0), ("@snap:2", 1)):
            assert lakebed.json("show", f"shop.orders{text}")["schema_id"] == number

    @pytest.mark.parametrize(
        ("text", "code", "said"),
        [
            ("shop.orders@9", 1, "shop.orders has no schema version 9"),
            ("shop.orders@snap:9", 1, "snapshot 9 does not exist"),
            ("shop.orders@tag:x", 1, "tag 'x' does not exist"),
            ("shop.orders@branch:x", 1, "has no branch 'x'"),
            ("shop.orders@snp:1", 2, "did you mean 'snap:1'?"),
            ("shop.orders@", 2, "names no version"),
            ("shop.oders", 1, "did you mean 'shop.orders'?"),
            ("shp.orders", 1, "no database shp"),
            ("orders", 1, "no table default.orders"),
            ("shop.`orders", 2, "a backtick is not closed"),
            ("../x", 1, "it holds a path separator"),
        ],
    )
    def test_what_is_not_there(self, lakebed: CommandLine, orders: Path, text: str, code: int, said: str) -> None:
        result = lakebed("show", text)
        assert (result.code, result.out) == (code, "")
        assert said in result.err
        assert lakebed("show", text, "--json").code == code

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("bad.json", '{"a": 1}', "it is JSON of another kind"),
            ("list.json", "[1]", "it is JSON of another kind"),
            ("cut.json", '{"format_version": 2, "tables": [', "it is not JSON, or was cut off"),
            ("empty.json", "", "it is not JSON, or was cut off"),
            ("shop.yaml", MANIFEST, "`lakebed plan shop.yaml`"),
            ("./deep/bad.json", "{}", "it is JSON of another kind"),
            ("folder.json", None, "is a directory"),
            ("folder/", None, "is a directory"),
        ],
    )
    def test_a_file_that_is_no_plan_is_no_table_that_is_missing(
        self, lakebed: CommandLine, orders: Path, here: Path, name: str, content: str | None, said: str
    ) -> None:
        path = here / name
        if content is None:
            path.mkdir()
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8")
        result = lakebed("show", name)
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith(f"error[LB4232]: {name} is ")
        assert said in result.err
        assert [d["code"] for d in lakebed("show", name, "--json").json["diagnostics"]] == ["LB4232"]

    def test_a_table_is_shown_even_if_a_file_bears_its_name(
        self, lakebed: CommandLine, orders: Path, here: Path
    ) -> None:
        (here / "shop.orders").write_text("a note", encoding="utf-8")
        assert lakebed.ok("show", "shop.orders").startswith("shop.orders  schema 0\n")

    def test_drift_is_told_and_gates_where_asked(self, lakebed: CommandLine, orders: Path, here: Path) -> None:
        orders.write_text(MANIFEST.replace("type: Int32", "type: UInt8"), encoding="utf-8")
        lakebed.ok("apply", "orders.yaml", "--allow", "LB4206", "--yes")
        assert lakebed("show", "shop.orders", "--exit-code").code == 0
        retype(here / "warehouse", "shop.orders", "id", "BIGINT NOT NULL")
        result = lakebed("show", "shop.orders")
        assert (result.code, result.err[:16]) == (0, "warning[LB3513]:")
        assert lakebed("show", "shop.orders", "--exit-code").code == 13
        assert lakebed("show", "shop.orders", "--exit-code", "--json").json["ok"] is False

    def test_a_terminal_wraps_descriptions_and_a_pipe_does_not(self, lakebed: CommandLine, orders: Path) -> None:
        text = "A long description. " * 10
        orders.write_text(MANIFEST.replace("Price paid", text.strip()), encoding="utf-8")
        lakebed.ok("apply", "orders.yaml", "--yes")
        assert text.strip() in lakebed.ok("show", "shop.orders")
        code, screen = on_terminal("show", "shop.orders", columns=80)
        assert code == 0
        assert max(map(len, screen.splitlines())) <= 80
        assert " ".join(screen.split()).count("description.") == 10

    def test_a_poor_terminal(self, orders: Path) -> None:
        poor = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
        code, screen = on_terminal("show", "shop.orders", **poor)
        assert code == 0
        assert screen.isascii()
        assert "---" in screen

    def test_a_terminal_does_not_obey_what_it_shows(self, lakebed: CommandLine, orders: Path) -> None:
        orders.write_text(MANIFEST.replace("Price paid", '"\\e[31mred\\e]0;title\\a"'), encoding="utf-8")
        lakebed.ok("apply", "orders.yaml", "--yes")
        code, screen = on_terminal("show", "shop.orders")
        assert code == 0
        assert "\x1b" not in screen
        assert "\\x1b[31mred" in screen


class TestHistory:
    def test_versions_and_snapshots_in_order_of_time(self, lakebed: CommandLine, changed: Path, here: Path) -> None:
        for number in range(1, 12):
            write_snapshot(here / "warehouse", "shop.orders", number, schema_id=0, rows=500)
        lines = lakebed.ok("history", "shop.orders").splitlines()
        assert lines[0] == "shop.orders  (times in UTC)"
        assert lines[1] == "2023-11-14 22:13:21  snapshot 1   +500 rows = 500  append, schema 0, user other"
        assert lines[11] == "2023-11-14 22:13:31  snapshot 11  +500 rows = 5,500  append, schema 0, user other"
        assert lines[12].endswith("  schema 0     4 columns")
        assert lines[13].endswith("  schema 1     4 columns")
        assert [line.strip() for line in lines[14:]] == [
            "rename column note to comment",
            "change type of id from Int32 to Int64",
        ]

    def test_as_json(self, lakebed: CommandLine, changed: Path, here: Path) -> None:
        write_snapshot(here / "warehouse", "shop.orders", 1, schema_id=1)
        result = lakebed.json("history", "shop.orders")
        assert list(result) == ["table", "versions", "snapshots"]
        assert [v["schema_id"] for v in result["versions"]] == [0, 1]
        assert result["versions"][0]["changes"] == []
        assert result["snapshots"] == [
            {
                "id": 1,
                "schema_id": 1,
                "time_millis": 1_700_000_001_000,
                "kind": "APPEND",
                "operation": None,
                "did": "append",
                "duration_ms": None,
                "user": "other",
                "origin": {"engine": None, "user": None, "host": None, "git_commit": None},
                "delta_record_count": 5,
                "total_record_count": 5,
                "properties": {},
            }
        ]

    def test_a_long_one_can_be_cut(self, lakebed: CommandLine, changed: Path, here: Path) -> None:
        for number in range(1, 31):
            write_snapshot(here / "warehouse", "shop.orders", number, schema_id=0)
        assert len(lakebed.json("history", "shop.orders")["snapshots"]) == 30
        result = lakebed.json("history", "shop.orders", "--limit", "4")
        assert [v["schema_id"] for v in result["versions"]] == [0, 1]
        assert [s["id"] for s in result["snapshots"]] == [29, 30]

    def test_times_are_in_the_lakes_zone(self, lakebed: CommandLine, orders: Path, here: Path) -> None:
        write_snapshot(here / "warehouse", "shop.orders", 1, schema_id=0)
        settings = 'warehouse = "warehouse"\ntime_zone = "Asia/Tokyo"\n'
        (here / "lakebed.toml").write_text(settings, encoding="utf-8")
        assert lakebed.ok("history", "shop.orders").splitlines()[:2] == [
            "shop.orders  (times in Asia/Tokyo)",
            "2023-11-15 07:13:21  snapshot 1  +5 rows = 5  append, schema 0, user other",
        ]

    def test_no_such_table(self, lakebed: CommandLine, orders: Path) -> None:
        assert lakebed("history", "shop.nothing").code == 1


class TestDiff:
    def test_versions_of_a_table_are_compared_by_id(self, lakebed: CommandLine, changed: Path) -> None:
        assert lakebed.ok("diff", "shop.orders@0", "shop.orders").splitlines() == [
            "rename column note to comment",
            "change type of id from Int32 to Int64",
            "",
            "Breaks producers (who writes rows of A): note",
            "Breaks consumers (who reads the columns of A): id, note",
        ]
        assert "rename column comment to note" in lakebed.ok("diff", "shop.orders", "shop.orders@0")

    def test_exit_codes(self, lakebed: CommandLine, changed: Path) -> None:
        assert lakebed.ok("diff", "shop.orders", "shop.orders@1", "--exit-code") == "No differences.\n"
        assert lakebed("diff", "shop.orders@0", "shop.orders").code == 0
        result = lakebed("diff", "shop.orders@0", "shop.orders", "--exit-code", "--json")
        assert (result.code, result.json["ok"]) == (10, True)
        assert result.json["result"]["identical"] is False
        assert len(result.json["result"]["changes"]) == 2

    def test_a_manifest_is_the_version_that_it_would_make(
        self, lakebed: CommandLine, changed: Path, here: Path
    ) -> None:
        assert lakebed.ok("diff", "shop.orders", "orders.yaml") == "No differences.\n"
        (here / "first.yaml").write_text(MANIFEST, encoding="utf-8")
        assert lakebed.ok("diff", "orders.yaml", "first.yaml").splitlines()[:1] == [
            "drop column comment (Option<String>)"
        ]

    def test_a_forbidden_manifest_is_compared_by_name(self, lakebed: CommandLine, orders: Path, here: Path) -> None:
        text = MANIFEST.replace("    fields:\n", "    fields:\n      - {name: first, type: Int32}\n")
        (here / "more.yaml").write_text(text, encoding="utf-8")
        assert lakebed.ok("diff", "shop.orders", "more.yaml").splitlines() == [
            "add column first: Int32",
            "",
            "Breaks producers (who writes rows of A): first",
        ]

    def test_tables_are_compared_by_name(self, lakebed: CommandLine, changed: Path, here: Path) -> None:
        (here / "other.yaml").write_text(MANIFEST.replace("shop.orders", "shop.other"), encoding="utf-8")
        lakebed.ok("apply", "other.yaml", "--yes")
        assert lakebed.ok("diff", "shop.other", "shop.orders@0") == "No differences.\n"
        assert "drop column note" in lakebed.ok("diff", "shop.other", "shop.orders")

    @pytest.mark.parametrize("missing", ["nothing.yaml", "no/such.yml", "./gone.json"])
    def test_a_file_that_is_not_there(self, lakebed: CommandLine, orders: Path, missing: str) -> None:
        result = lakebed("diff", "shop.orders", missing)
        assert (result.code, result.out) == (1, "")
        assert f"error[LB1001]: the file {missing} cannot be read" in result.err

    def test_a_table_whose_name_ends_like_a_file(self, lakebed: CommandLine, orders: Path, here: Path) -> None:
        (here / "raw.yaml").write_text(MANIFEST.replace("shop.orders", "raw.json"), encoding="utf-8")
        lakebed.ok("apply", "raw.yaml", "--yes")
        assert lakebed.ok("diff", "raw.json", "shop.orders") == "No differences.\n"

    def test_two_tables_in_a_file(self, lakebed: CommandLine, orders: Path, here: Path) -> None:
        (here / "two.yaml").write_text(f"{MANIFEST}---\n{MANIFEST.replace('orders', 'o')}", encoding="utf-8")
        assert lakebed.ok("diff", "two.yaml", "shop.orders") == "No differences.\n"
        others = MANIFEST.replace("orders", "p"), MANIFEST.replace("orders", "o")
        (here / "two.yaml").write_text("---\n".join(others), encoding="utf-8")
        result = lakebed("diff", "two.yaml", "shop.orders")
        assert result.code == 2
        assert result.err.startswith("error[LB7005]: two.yaml declares 2 tables")


class TestTables:
    def test_all_and_of_one_database(self, lakebed: CommandLine, orders: Path, here: Path) -> None:
        for number, name in enumerate(["a.t", "default.plain", "shop.`dotted.name`"]):
            (here / f"{number}.yaml").write_text(MANIFEST.replace("shop.orders", f'"{name}"'), encoding="utf-8")
            lakebed.ok("apply", f"{number}.yaml", "--yes")
        TableManager(PathFactory("warehouse")).create_table("shop", "orders__quarantine", [("raw", "STRING")])
        names = ["a.t", "default.plain", "shop.`dotted.name`", "shop.orders"]
        assert lakebed.ok("tables", "--names").split() == names
        assert lakebed.ok("tables", "a", "--names") == "a.t\n"
        assert lakebed.json("tables", "shop", "--quarantine", "--names") == {
            "tables": [*names[2:], "shop.orders__quarantine"]
        }

    def test_none(self, lakebed: CommandLine, warehouse: Path) -> None:
        result = lakebed("tables")
        assert (result.code, result.out, result.err) == (0, "", "There are no tables.\n")

    def test_no_such_database(self, lakebed: CommandLine, orders: Path) -> None:
        result = lakebed("tables", "shp")
        assert (result.code, result.out) == (1, "")

    def test_names_in_backticks_work_everywhere(self, lakebed: CommandLine, warehouse: Path, here: Path) -> None:
        name = "`my.db`.`a@b c`"
        (here / "o.yaml").write_text(MANIFEST.replace("shop.orders", f'"{name}"'), encoding="utf-8")
        assert lakebed.ok("apply", "o.yaml", "--yes").startswith(f"{name}: created, schema 0\n")
        assert lakebed.ok("tables", "--names") == f"{name}\n"
        assert lakebed.ok("show", f"{name}@0").startswith(f"{name}  schema 0\n")
        assert lakebed.ok("history", name).startswith(f"{name}  (times")
        assert lakebed.ok("diff", name, f"{name}@0") == "No differences.\n"
        assert f"name: {name}" in lakebed.ok("infer", name).replace('"', "").replace("'", "")
        assert lakebed.ok("drop", name, "--yes") == f"Dropped {name}.\n"


class TestInfer:
    def test_planning_it_gives_no_change(self, lakebed: CommandLine, changed: Path, here: Path) -> None:
        (here / "inferred.yaml").write_text(lakebed.ok("infer", "shop.orders"), encoding="utf-8")
        assert lakebed("plan", "inferred.yaml", "--exit-code").code == 0

    def test_as_json(self, lakebed: CommandLine, orders: Path) -> None:
        result = lakebed.json("infer", "shop.orders@0")
        assert result["table"] == "shop.orders"
        assert result["manifest"] == lakebed.ok("infer", "shop.orders")


class TestInferWhatCannotBeDeclared:
    """What other engines store and no manifest can say."""

    @pytest.fixture
    def foreign(self, warehouse: Path) -> Callable[..., None]:
        def made(*names: str) -> None:
            fields = [{"id": i, "name": name, "type": "INT"} for i, name in enumerate(names)]
            schema = {"version": 3, "id": 0, "fields": fields, "highestFieldId": len(names), "partitionKeys": []}
            directory = warehouse / "shop.db" / "foreign" / "schema"
            directory.mkdir(parents=True, exist_ok=True)
            text = json.dumps({**schema, "primaryKeys": [], "options": {}, "timeMillis": 0})
            (directory / "schema-0").write_text(text, encoding="utf-8")

        return made

    @pytest.mark.parametrize(
        ("names", "place", "code"),
        [
            (("id", "ID"), "11:15", "LB1061"),
            (("_ROW_ID", "b"), "7:15", "LB1063"),
            (("_KEY_x", "b"), "7:15", "LB1063"),
        ],
    )
    def test_it_says_so_beside_the_manifest(
        self,
        lakebed: CommandLine,
        foreign: Callable[..., None],
        here: Path,
        names: tuple[str, str],
        place: str,
        code: str,
    ) -> None:
        foreign(*names)
        result = lakebed("infer", "shop.foreign")
        assert result.code == 1
        assert result.err.startswith("error[LB4026]: the table has what no manifest can declare")
        assert f"<stdout>:{place}: error[{code}]" in result.err
        assert names[1] in result.out
        (here / "inferred.yaml").write_text(result.out, encoding="utf-8")
        refused = lakebed("plan", "inferred.yaml")
        assert (refused.code, f"inferred.yaml:{place}: error[{code}]" in refused.err) == (1, True)
        envelope = lakebed("infer", "shop.foreign", "--json")
        assert (envelope.codes, envelope.json["ok"]) == (["LB4026", code], False)
        assert envelope.json["result"]["manifest"] == result.out

    def test_a_file_that_is_brought_up_keeps_what_only_it_knows(
        self, lakebed: CommandLine, here: Path, warehouse: Path
    ) -> None:
        head = "kind: Table\nversion: 1\ncontent:\n  name: d.t\n"
        text = f"{head}  ignoreOptions: [snapshot.*]   # theirs\n  schema:\n    fields:\n"
        (here / "t.yaml").write_text(f"{text}      - {{name: id, type: Int64}}   # key\n", encoding="utf-8")
        lakebed.ok("apply", "t.yaml", "--yes")
        later = {"action": "addColumn", "fieldNames": ["later"], "dataType": "INT"}
        set_ = ({"action": "setOption", "key": k, "value": "5"} for k in ("snapshot.num-retained.min", "x.y"))
        TableManager(PathFactory(str(warehouse))).alter_table("d", "t", [later, *set_])
        lakebed.ok("infer", "d.t", "--update", "t.yaml")
        assert (here / "t.yaml").read_text(encoding="utf-8") == (
            f"{text}      - {{name: id, type: Int64}}   # key\n"
            "      - {name: later, type: {kind: Option, inner: Int32}}\n"
            '  options: {x.y: "5"}\n'
        )
        assert "No changes" in lakebed.ok("plan", "t.yaml")

    def test_a_file_is_not_brought_up_to_what_plan_refuses(
        self, lakebed: CommandLine, foreign: Callable[..., None], here: Path
    ) -> None:
        foreign("id", "b")
        (here / "foreign.yaml").write_text(lakebed.ok("infer", "shop.foreign"), encoding="utf-8")
        before = (here / "foreign.yaml").read_text(encoding="utf-8")
        foreign("id", "ID")
        assert lakebed("infer", "shop.foreign", "--update", "foreign.yaml").code == 1
        assert (here / "foreign.yaml").read_text(encoding="utf-8") == before


class TestListing:
    def test_schema_rows_and_time(self, lakebed: CommandLine, orders: Path, warehouse: Path) -> None:
        snapshot = Snapshot(
            id=1,
            schema_id=0,
            base_manifest_list="",
            delta_manifest_list="",
            commit_user="u",
            commit_identifier=1,
            commit_kind="APPEND",
            time_millis=1_700_000_000_000,
            total_record_count=12_345,
        )
        assert SnapshotManager(LocalStore(), str(warehouse / "shop.db" / "orders")).publish(snapshot)
        write_text = orders.read_text(encoding="utf-8").replace("shop.orders", "shop.empty")
        (orders.parent / "empty.yaml").write_text(write_text, encoding="utf-8")
        lakebed.ok("apply", "empty.yaml", "--yes")
        head, _, empty, full = lakebed.ok("tables").splitlines()
        assert head.split() == ["table", "schema", "rows", "committed", "(UTC)"]
        assert empty.split() == ["shop.empty", "0", "none"]
        assert full.split() == ["shop.orders", "0", "12,345", "2023-11-14", "22:13:20"]
        states = lakebed.json("tables")["states"]
        assert [(s["table"], s["rows"], s["snapshot_id"]) for s in states] == [
            ("shop.empty", None, None),
            ("shop.orders", 12_345, 1),
        ]

    def test_one_that_cannot_be_read_hides_no_other(self, lakebed: CommandLine, orders: Path, warehouse: Path) -> None:
        directory = warehouse / "shop.db" / "orders" / "snapshot"
        directory.mkdir()
        (directory / "snapshot-1").write_text("{", encoding="utf-8")
        result = lakebed("tables")
        assert (result.code, result.out.splitlines()[-1].split()) == (0, ["shop.orders", "?", "?"])
        assert "error[LB50" in result.err


class TestTwoFiles:
    """Manifests are compared without a warehouse, from files, pipes and standard input."""

    def manifests(self, here: Path) -> tuple[str, str]:
        (here / "a.yaml").write_text(MANIFEST, encoding="utf-8")
        (here / "b.yaml").write_text(MANIFEST.replace("type: Int32", "type: Int64"), encoding="utf-8")
        return "a.yaml", "b.yaml"

    def test_without_a_warehouse(self, lakebed: CommandLine, here: Path) -> None:
        old, new = self.manifests(here)
        assert lakebed.ok("diff", old, new).splitlines()[0] == "change type of id from Int32 to Int64"
        assert lakebed.ok("diff", old, old) == "No differences.\n"
        assert lakebed("diff", old, "shop.orders").codes_of_text == ["LB7001"]

    def test_standard_input(self, lakebed: CommandLine, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        old, new = self.manifests(here)
        data = (here / new).read_bytes()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert "from Int32 to Int64" in lakebed.ok("diff", old, "-")
        assert lakebed("diff", "-", "-").codes_of_text == ["LB7030"]

    def test_a_pipe(self, lakebed: CommandLine, here: Path) -> None:
        old, new = self.manifests(here)
        data = (here / new).read_bytes()
        os.mkfifo(here / "pipe")
        writer = threading.Thread(target=lambda: (here / "pipe").write_bytes(data))
        writer.start()
        try:
            assert "from Int32 to Int64" in lakebed.ok("diff", old, "pipe")
        finally:
            writer.join(timeout=30)

    def test_with_a_warehouse_they_stand_for_their_tables(self, lakebed: CommandLine, orders: Path) -> None:
        self.manifests(orders.parent)
        assert "change type of id from Int32 to Int64" in lakebed.ok("diff", "shop.orders", "b.yaml")


class TestDrop:
    def test_without_a_terminal_it_needs_yes(self, lakebed: CommandLine, orders: Path) -> None:
        result = lakebed("drop", "shop.orders")
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("error[LB7006]: drop shop.orders, all that is in ")
        assert result.err.endswith(
            "not confirmed, nothing was changed\n    remedy: give --yes, since there is no terminal to ask on\n"
        )
        assert lakebed.ok("tables", "--names") == "shop.orders\n"
        assert lakebed.json("drop", "shop.orders", "--yes") == {"dropped": "shop.orders"}
        assert lakebed("tables").out == ""

    def test_on_a_terminal_it_asks(self, lakebed: CommandLine, orders: Path, here: Path) -> None:
        question = f"Drop shop.orders, all that is in {here}/warehouse/shop.db/orders? [y/N]"
        code, screen = on_terminal("drop", "shop.orders", columns=300, answers={question: "n\n"}, NO_COLOR="1")
        assert (code, screen.splitlines()[-1]) == (1, "error[LB7006]: not confirmed; nothing was changed")
        assert lakebed.ok("tables", "--names") == "shop.orders\n"
        code, screen = on_terminal("drop", "shop.orders", columns=300, answers={question: "y\n"})
        assert (code, screen.splitlines()[-1]) == (0, "Dropped shop.orders.")
        assert lakebed("tables").out == ""

    @pytest.mark.parametrize(("name", "code"), [("shop.nothing", 1), ("shop.orders@0", 2)])
    def test_what_cannot_be_dropped(self, lakebed: CommandLine, orders: Path, name: str, code: int) -> None:
        for words in ((), ("--yes",)):
            assert lakebed("drop", name, *words).code == code
        assert lakebed.ok("tables", "--names") == "shop.orders\n"


class TestExplain:
    def test_a_code(self, lakebed: CommandLine) -> None:
        text = lakebed.ok("explain", "lb4203")
        assert lakebed.ok("explain", "4203") == text
        assert text.startswith("LB4203: A column is dropped\n\n")
        assert "\n\nExample:\n    " in text
        assert "\n\nRemedy:\n" in text
        assert lakebed.json("explain", "LB4203")["code"] == "LB4203"

    def test_all(self, lakebed: CommandLine) -> None:
        lines = lakebed.ok("explain").splitlines()
        assert lines == sorted(lines)
        assert [c["code"] for c in lakebed.json("explain")["codes"]] == [line.split()[0] for line in lines]

    def test_every_one_can_be_shown(self, lakebed: CommandLine) -> None:
        for entry in lakebed.json("explain")["codes"]:
            assert lakebed.ok("explain", entry["code"]).startswith(f"{entry['code']}: {entry['title']}\n")

    def test_none_of_ours(self, lakebed: CommandLine) -> None:
        result = lakebed("explain", "LB4230")
        assert (result.code, result.out) == (1, "")
        assert "there is no code 'LB4230' (did you mean" in result.err

    def test_a_terminal_wraps_between_words(self, lakebed: CommandLine) -> None:
        code, screen = on_terminal("explain", "LB4203", columns=60)
        assert code == 0
        assert max(map(len, screen.splitlines())) <= 60
        assert screen.split() == lakebed.ok("explain", "LB4203").split()


def test_json_is_the_same_on_a_terminal_and_not_coloured(orders: Path, lakebed: CommandLine) -> None:
    code, screen = on_terminal("--json", "plan", "orders.yaml")
    assert code == 0
    assert json.loads(screen) == lakebed("--json", "plan", "orders.yaml").json


HINTED = """\
kind: Table
version: 1
content:
  name: shop.hinted
  schema:
    fields:
      - name: id
        type: Int64
      - name: note
        type: {kind: Option, inner: String}
        extra:
          arrow.apache.org/bufferEncoding: {kind: View, offsetBitWidth: 32}
          shop.org/kept: 1
"""


class TestEncodings:
    """Logical types only, unless encodings are asked for."""

    @pytest.fixture
    def hinted(self, lakebed: CommandLine, orders: Path, here: Path) -> None:
        (here / "hinted.yaml").write_text(HINTED, encoding="utf-8")
        lakebed.ok("apply", "hinted.yaml", "--yes")
        (here / "hinted.yaml").write_text(HINTED.replace("32", "64"), encoding="utf-8")
        lakebed.ok("apply", "hinted.yaml", "--yes")

    @pytest.mark.usefixtures("hinted")
    @pytest.mark.parametrize("words", [("show", "shop.hinted"), ("diff", "shop.hinted@0", "shop.hinted")])
    def test_hidden_unless_asked_for(self, lakebed: CommandLine, words: tuple[str, ...]) -> None:
        for more in ((), ("--json",)):
            shown = lakebed.ok(*words, *more).replace('"physical"', "\0").split("\0")[0]
            assert "bufferEncoding" not in shown
            assert (
                "bufferEncoding" in lakebed.ok(*words, *more, "--encodings").replace('"physical"', "\0").split("\0")[0]
            )
        if words[0] == "show":
            assert "shop.org/kept" in shown

    @pytest.mark.usefixtures("hinted")
    def test_history_sums_them_up(self, lakebed: CommandLine) -> None:
        assert "  change encoding hints of 1 column\n" in lakebed.ok("history", "shop.hinted")
        assert "bufferEncoding" in lakebed.ok("history", "shop.hinted", "--encodings")

    @pytest.mark.usefixtures("hinted")
    def test_an_inferred_manifest_keeps_them_so_that_planning_it_changes_nothing(
        self, lakebed: CommandLine, here: Path
    ) -> None:
        (here / "inferred.yaml").write_text(lakebed.ok("infer", "shop.hinted"), encoding="utf-8")
        assert "as declared" in lakebed.ok("plan", "inferred.yaml")
        assert "bufferEncoding" not in lakebed.ok("infer", "shop.hinted", "--no-encodings")
