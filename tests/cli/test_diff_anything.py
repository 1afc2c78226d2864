"""`lakebed diff` of files, directories and commits of git, without a warehouse."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.command_line import CommandLine
from cli.conftest import MANIFEST
from cli.git_repository import commit_all, git, put

ITEMS = MANIFEST.replace("shop.orders", "shop.items")
WIDER = MANIFEST.replace("type: Int32", "type: Int64")


@pytest.fixture
def repository(here: Path) -> Path:
    """`orders` and `items` in a commit that is `main` and tagged `v1`; in the directory since then others."""
    put("schemas/orders.yaml", MANIFEST)
    put("schemas/items.yaml", ITEMS)
    put("schemas/.hidden.yaml", "not a manifest")
    commit_all()
    git("tag", "v1")
    put("schemas/orders.yaml", WIDER)
    put("schemas/more.yaml", MANIFEST.replace("shop.orders", "shop.more"))
    Path("schemas/items.yaml").unlink()
    return here


class TestFiles:
    def test_two_directories(self, lakebed: CommandLine) -> None:
        put("a/orders.yaml", MANIFEST)
        put("a/items.yaml", ITEMS)
        put("b/all.yaml", WIDER + "---\n" + ITEMS)
        assert lakebed.ok("diff", "a", "b").splitlines() == [
            "~ shop.orders: changed",
            "    change type of id from Int32 to Int64",
            "",
            "    Breaks consumers (who reads the columns of A): id",
            "1 table is the same.",
        ]
        assert lakebed.ok("diff", "a", "a", "--exit-code") == "No differences in 2 tables.\n"
        assert lakebed("diff", "a", "b", "--exit-code").code == 10

    def test_a_directory_and_one_table_of_it(self, lakebed: CommandLine) -> None:
        put("a/orders.yaml", MANIFEST)
        put("a/items.yaml", ITEMS)
        put("new.yaml", WIDER)
        assert lakebed.ok("diff", "a", "new.yaml").startswith("change type of id from Int32 to Int64\n")

    def test_tables_on_one_side_only(self, lakebed: CommandLine) -> None:
        put("a.yaml", MANIFEST + "---\n" + ITEMS)
        put("b.yaml", ITEMS + "---\n" + MANIFEST.replace("shop.orders", "shop.new"))
        assert lakebed.ok("diff", "a.yaml", "b.yaml").splitlines() == [
            "+ shop.new: added",
            "- shop.orders: removed",
            "1 table is the same.",
        ]
        tables = lakebed.json("diff", "a.yaml", "b.yaml")["tables"]
        assert [(t["name"], t["status"]) for t in tables] == [
            ("shop.items", "same"),
            ("shop.new", "added"),
            ("shop.orders", "removed"),
        ]

    def test_a_rename_that_is_declared(self, lakebed: CommandLine) -> None:
        put("a.yaml", MANIFEST)
        old, new = "{name: note, type: {kind: Option, inner: String}}", "extra: {lakebed.dev/renamedFrom: note}}"
        put("b.yaml", MANIFEST.replace(old, "{name: comment, type: {kind: Option, inner: String}, " + new))
        assert lakebed.ok("diff", "a.yaml", "b.yaml").splitlines()[0] == "rename column note to comment"

    def test_a_rename_that_pins_tell(self, lakebed: CommandLine) -> None:
        pinned = MANIFEST.replace("name: id, type: Int32", "name: id, type: Int32, extra: {lakebed.dev/fieldId: 7}")
        put("a.yaml", pinned)
        put("b.yaml", pinned.replace("name: id,", "name: order_id,"))
        assert lakebed.ok("diff", "a.yaml", "b.yaml").splitlines()[0] == "rename column id to order_id"

    def test_ddl_and_a_bare_schema(self, lakebed: CommandLine) -> None:
        put("a.ddl", "id INT NOT NULL, day DATE")
        put("b.yaml", "fields:\n  - {name: id, type: Int32}\n  - {name: day, type: {kind: Option, inner: Date}}\n")
        assert lakebed.ok("diff", "a.ddl", "b.yaml") == "No differences.\n"

    def test_a_parquet_file(self, lakebed: CommandLine) -> None:
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pa.table({"id": pa.array([1], pa.int64())}), "rows.parquet")
        put("b.yaml", "fields:\n  - {name: id, type: {kind: Option, inner: Int32}}\n")
        assert lakebed.ok("diff", "rows.parquet", "b.yaml").startswith("change type of id from Int64 to Int32\n")

    @pytest.mark.parametrize("missing", ["rows.parquet", "t.ddl", "no/such.arrow"])
    def test_a_file_that_is_not_there(self, lakebed: CommandLine, missing: str) -> None:
        put("b.yaml", MANIFEST)
        result = lakebed("diff", missing, "b.yaml")
        assert (result.code, result.err.splitlines()[0]) == (1, f"error[LB7009]: {missing}: No such file")

    def test_every_problem_of_a_directory_is_told(self, lakebed: CommandLine) -> None:
        put("a/x.yaml", MANIFEST.replace("Int32", "Int33"))
        put("a/y.yaml", MANIFEST.replace("Date", "Dat"))
        put("b.yaml", MANIFEST)
        assert lakebed("diff", "a", "b.yaml").codes_of_text == ["LB1050", "LB1050"]

    @pytest.mark.parametrize("settings", ["", 'warehouse = "none"'])
    def test_tables_of_one_side_need_no_warehouse(self, lakebed: CommandLine, here: Path, settings: str) -> None:
        put("lakebed.toml", settings)
        for name in ("a/x", "a/y", "b/x", "b/z"):
            put(f"{name}.yaml", MANIFEST.replace("shop.orders", f"shop.{name[-1]}"))
        assert lakebed.ok("diff", "a", "b").splitlines()[:2] == ["- shop.y: removed", "+ shop.z: added"]
        Path("b/z.yaml").unlink()
        assert lakebed.ok("diff", "a", "b").startswith("- shop.y: removed")

    @pytest.mark.parametrize("settings", ["", 'warehouse = "none"'])
    @pytest.mark.parametrize("name", ["./none", "none/", "README.md", "none"])
    def test_what_is_no_file_is_said_to_be_none(
        self, lakebed: CommandLine, here: Path, name: str, settings: str
    ) -> None:
        put("lakebed.toml", settings)
        put("a.yaml", MANIFEST)
        for words in ([name, "a.yaml"], ["a.yaml", name]):
            result = lakebed("diff", *words)
            code = "LB7009" if "/" in name else "LB3112" if settings else "LB7001"
            assert (result.codes_of_text, f"{name}: No such file" in result.err) == ([code], True)

    @pytest.mark.parametrize(
        ("forbidden", "line"),
        [
            ("      - {name: must, type: Int32}\n", "add column must: Int32"),
            ("  partitionKeys: [amount]\n", "change partition keys from day to amount"),
            ("  partitionKeys: []\n", "change partition keys from day to none"),
        ],
    )
    @pytest.mark.parametrize("how", ["lakebed.dev/renamedFrom: note", "lakebed.dev/fieldId: 9"])
    def test_a_rename_is_one_beside_what_is_forbidden(
        self, lakebed: CommandLine, here: Path, forbidden: str, line: str, how: str
    ) -> None:
        pinned = MANIFEST.replace("name: note,", "name: note, extra: {lakebed.dev/fieldId: 9},")
        put("old.yaml", pinned if "fieldId" in how else MANIFEST)
        new = MANIFEST.replace("name: note,", f"name: comment, extra: {{{how}}},")
        is_key = forbidden.startswith("  p")
        put("new.yaml", new.replace("  partitionKeys: [day]\n", forbidden) if is_key else new + forbidden)
        lines = lakebed.ok("diff", "old.yaml", "new.yaml").split("\n\n")[0].splitlines()
        assert sorted(lines) == sorted([line, "rename column note to comment"])
        assert "rename column note to comment" in lakebed("check", "--against", "old.yaml", "new.yaml").out

    def test_a_key_that_is_only_renamed_is_the_same_key(self, lakebed: CommandLine, here: Path) -> None:
        put("old.yaml", MANIFEST)
        new = MANIFEST.replace("[day]", "[date]").replace(
            "name: day,", "name: date, extra: {lakebed.dev/renamedFrom: day},"
        )
        put("new.yaml", new)
        assert lakebed.ok("diff", "old.yaml", "new.yaml").split("\n\n")[0] == "rename column day to date"


class TestGit:
    def test_a_link_is_what_it_leads_to(self, lakebed: CommandLine, repository: Path) -> None:
        Path("link.yaml").symlink_to("schemas/orders.yaml")
        Path("folder").symlink_to("schemas")
        commit_all()
        for words in (["git:HEAD:link.yaml", "link.yaml"], ["git:HEAD:folder/orders.yaml", "link.yaml"]):
            assert lakebed.ok("diff", *words) == "No differences.\n"
        for words in (["git:HEAD", "."], ["git:HEAD:folder", "folder"]):
            assert lakebed.ok("diff", *words).startswith("No differences in")

    @pytest.mark.parametrize("ref", ["main", "v1", "HEAD", "HEAD~0"])
    def test_a_file_in_a_commit(self, lakebed: CommandLine, repository: Path, ref: str) -> None:
        out = lakebed.ok("diff", f"git:{ref}:schemas/orders.yaml", "schemas/orders.yaml")
        assert out.startswith("change type of id from Int32 to Int64\n")

    def test_a_directory_in_a_commit(self, lakebed: CommandLine, repository: Path) -> None:
        heads = ["- shop.items: removed", "+ shop.more: added", "~ shop.orders: changed"]
        for old, new in (("git:main:schemas", "schemas"), ("git:main", "."), ("git:v1:./schemas/", "schemas")):
            lines = lakebed.ok("diff", old, new).splitlines()
            assert [line for line in lines if line[0:1] in ("+", "-", "~")] == heads

    def test_paths_are_relative_to_the_present_directory(
        self, lakebed: CommandLine, repository: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(repository / "schemas")
        assert lakebed.ok("diff", "git:main:orders.yaml", "orders.yaml").startswith("change type of id")
        assert "~ shop.orders: changed" in lakebed.ok("diff", "git:main", ".")
        (repository / "other").mkdir()
        monkeypatch.chdir(repository / "other")
        assert lakebed.ok("diff", "git:main:../schemas/orders.yaml", "../schemas/orders.yaml").startswith("change")
        assert "~ shop.orders: changed" in lakebed.ok("diff", "git:main:../schemas", "../schemas")

    @pytest.mark.parametrize(
        ("place", "code", "said"),
        [
            ("git:mian:schemas", "LB7061", "git knows no commit 'mian' (did you mean 'main'?)"),
            ("git:--output=x:schemas", "LB7061", "git knows no commit '--output=x'"),
            ("git:main:nothing.yaml", "LB7062", "there is no nothing.yaml in main"),
            ("git::schemas", "LB7060", "names no commit"),
        ],
    )
    def test_what_is_not_there(self, lakebed: CommandLine, repository: Path, place: str, code: str, said: str) -> None:
        result = lakebed("diff", place, "schemas/orders.yaml")
        assert (result.codes_of_text, result.out) == ([code], "")
        assert said in result.err

    def test_no_repository_and_no_git(self, lakebed: CommandLine, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        put("a.yaml", MANIFEST)
        assert "is in no repository of git" in lakebed("diff", "git:main:a.yaml", "a.yaml").err
        monkeypatch.setenv("PATH", str(here))
        assert "there is no program git" in lakebed("diff", "git:main:a.yaml", "a.yaml").err

    def test_files_with_odd_names_and_contents(self, lakebed: CommandLine, repository: Path) -> None:
        names = ["a b.yaml", "é.yaml", "-c.yaml", "line\nbreak.yaml", "'q\".yaml"]
        for number, name in enumerate(names):
            put(f"odd/{name}", MANIFEST.replace("shop.orders", f"shop.t{number}").rstrip("\n"))
        commit_all()
        assert lakebed.ok("diff", "git:HEAD:odd", "odd") == "No differences in 5 tables.\n"

    def test_a_fault_in_a_commit_has_its_place(self, lakebed: CommandLine, repository: Path) -> None:
        put("schemas/orders.yaml", MANIFEST.replace("Int32", "Int33"))
        git("commit", "-q", "-a", "-m", "faulty")
        put("schemas/orders.yaml", MANIFEST)
        result = lakebed("diff", "git:HEAD:schemas/orders.yaml", "schemas/orders.yaml")
        assert result.err.startswith("git:HEAD:schemas/orders.yaml:10:26: error[LB1050]")
