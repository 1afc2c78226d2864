"""Tables, terminals, diagnostics, schemas and histories as text."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.catalog import TableName, TableSchema
from lakebed.diagnostics import Diagnostic, Position, Severity
from lakebed.errors import LakebedError, LakebedWarning
from lakebed.evolve import describe_changes
from lakebed.format.snapshot import Snapshot
from lakebed.ingest.columns.expected_text import expected_text
from lakebed.inspection.history import History, Version
from lakebed.model.type_name import type_name
from lakebed.physical import DataField
from lakebed.physical import paimon_types as t
from lakebed.printable import one_line, printable
from lakebed.render.diagnostic_text import diagnostic_text
from lakebed.render.history_text import history_text
from lakebed.render.schema_text import schema_text
from lakebed.render.table_text import table_text
from lakebed.render.terminal import cell_width, cut, plain, styled, wrapped
from lakebed.render.write_text import write_text
from lakebed.write.write_result import WriteResult

CELLS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Mn", "Me", "Zl", "Zp"]), max_size=12)


class TestTerminal:
    @given(st.text())
    def test_what_is_printable_commands_nothing(self, text: str) -> None:
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in printable(text) if c not in "\t\n")
        assert printable(printable(text)) == printable(text)
        assert len(one_line(text).splitlines()) <= 1

    def test_ordinary_text_is_left_alone(self) -> None:
        text = "naïve 日本 😀 a\\b [x]\n\tend"
        assert printable(text) == text

    @given(st.text(), st.integers(1, 20))
    def test_what_is_cut_fits(self, text: str, width: int) -> None:
        text = one_line(text)
        assert cell_width(cut(text, width)) <= width
        assert cut(text, cell_width(text)) == text

    def test_styles_are_only_where_there_is_colour(self) -> None:
        assert styled("x\x1b", "red", True) == "\x1b[31mx\\x1b\x1b[0m"
        assert styled("x\x1b", "red", False) == "x\x1b"
        assert (plain("\x1b", True), plain("\x1b", False)) == ("\\x1b", "\x1b")

    def test_words_are_wrapped_whole(self) -> None:
        assert wrapped("a b", None) == ["a b"]
        assert wrapped("", 40) == [""]
        assert wrapped("word " * 9 + "x" * 50, 40) == ["word word word word word word word word", "word", "x" * 50]


class TestTable:
    @given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1)))
    def test_columns_start_below_each_other(self, rows: list[list[str]]) -> None:
        lines = table_text([""] * len(rows[0]), rows).split("\n")
        assert len(lines) == len(rows) + 2
        starts = [sum(max(cell_width(row[i]) for row in rows) + 3 for i in range(n)) for n in range(len(rows[0]))]
        for row, line in zip(rows, lines[2:], strict=True):
            for cell, start in zip(row, starts, strict=True):
                assert not cell.strip() or _from_cell(line, start).startswith(cell.rstrip())

    def test_the_last_column_is_wrapped(self) -> None:
        text = table_text(("a", "b"), [("x", "one two three four five six seven"), ("y", "z")], width=34)
        assert text.split("\n")[2:] == ["x   one two three four five six", "    seven", "y   z"]


def _from_cell(line: str, cell: int) -> str:
    """The line from a column of the terminal on."""
    for i in range(len(line) + 1):
        if cell_width(line[:i]) >= cell:
            return line[i:]
    return ""


class TestDiagnostics:
    def test_it_reads_like_a_compilers_with_and_without_colour(self) -> None:
        found = Diagnostic(
            "LB1050",
            "unknown type kind '[bold]\x1b'",
            Severity.WARNING,
            Position("f.yaml", 3, 7),
            remedy="write Int32",
            suggestions=("Int32",),
        )
        assert diagnostic_text(found) == str(found)
        assert diagnostic_text(found, colour=True) == (
            "f.yaml:3:7: \x1b[33mwarning[LB1050]\x1b[0m: unknown type kind '[bold]\\x1b' (did you mean 'Int32'?)\n"
            "    remedy: write Int32"
        )

    @given(st.text(st.characters(codec=None), min_size=1), st.text(st.characters(codec=None)))
    def test_nothing_that_a_name_holds_commands_a_terminal_or_makes_a_line(self, name: str, other: str) -> None:
        """In a terminal or not, in an error, a warning and a notice; as data it is what it is."""
        found = Diagnostic(
            "LB6112",
            f"the source has a column {name}",
            Severity.NOTE,
            Position(name, 1, 1),
            path=name,
            found=other,
            remedy=f"declare {name}",
            suggestions=(other,),
        )
        for text in (str(found), diagnostic_text(found), str(LakebedError(found)), str(LakebedWarning(found))):
            first, second = text.split("\n")
            assert first == one_line(first)
            assert second == one_line(second)
            text.encode()
        told = json.loads(json.dumps(found.to_json()))
        assert told["path"] == found.path
        assert Diagnostic("LB6112", "m", path="a\x00\n").to_json()["path"] == "a\x00\n"


def schema(*fields: tuple[str, t.DataType], **parts: object) -> TableSchema:
    columns = tuple(DataField(i, name, type_) for i, (name, type_) in enumerate(fields))
    return TableSchema(0, columns, len(columns) - 1, **parts)  # type: ignore[arg-type]


class TestSchema:
    def test_head_and_nested_columns_with_their_ids(self) -> None:
        inner = t.Row((DataField(7, "x", t.Int()), DataField(8, "y", t.Array(t.Row((DataField(9, "z", t.STRING),))))))
        found = schema(
            ("id", t.BigInt(nullable=False)),
            ("list", t.Array(inner)),
            ("by_name", t.Map(replace(t.STRING, nullable=False), t.Row((DataField(5, "v", t.Date()),)))),
            options={"bucket": "-1", "lakebed.schema": '{"format":1,"fields":{}}'},
            comment="two\nlines",
        )
        assert schema_text("db.t", found).splitlines() == [
            "db.t  schema 0",
            "two\\nlines",
            "option bucket: -1",
            "",
            "id   column    type                          null   description",
            "─" * 63,
            " 0   id        Int64",
            " 1   list      List<Option<Struct>>          yes",
            " 7     x       Int32                         yes",
            " 8     y       List<Option<Struct>>          yes",
            " 9       z     String                        yes",
            " 2   by_name   Map<String, Option<Struct>>   yes",
            " 5     v       Date                          yes",
        ]

    def test_a_wall_clock_is_in_no_time_zone(self) -> None:
        shown = schema_text("db.t", schema(("w", t.Timestamp(3)), ("i", t.LocalZonedTimestamp(3))))
        wall, instant = shown.splitlines()[-2:]
        assert "Timestamp(Millisecond, no time zone)" in wall
        assert "paimon.apache.org/type=TIMESTAMP(3)" in wall
        assert "Timestamp(Millisecond, UTC)" in instant

    def test_a_type_is_spelt_alike_in_listings_plans_and_problems_of_rows(self) -> None:
        types = [t.Timestamp(3), t.LocalZonedTimestamp(6), t.Int(), t.Array(t.Int(nullable=False)), t.Time(3)]
        new = schema(*((f"c{i}", type_) for i, type_ in enumerate(types)), ("k", t.BigInt()))
        old = replace(new, fields=new.fields[-1:])
        retyped = replace(new, fields=(DataField(0, "c0", t.LocalZonedTimestamp(3)), *new.fields[1:]))
        listed = schema_text("db.t", new)
        added = describe_changes(old, new)
        for field in new.logical.fields[:-1]:
            name = expected_text(field.type, field.extra)
            assert name in listed
            assert f"add column {field.name}: Option<{name}>" in added
        assert "change type of c0 from Timestamp(Millisecond, no time zone) to Timestamp(Millisecond, UTC)" in (
            describe_changes(new, retyped)
        )

    def test_names_of_types(self) -> None:
        found = schema(
            ("a", t.Decimal(12, 2)),
            ("b", t.Binary(4)),
            ("c", t.LocalZonedTimestamp(6)),
            ("d", t.Time(0)),
        )
        names = [type_name(f.type) for f in found.logical.fields]
        assert names == [
            "Option<Decimal(12, 2)>",
            "Option<Binary(4)>",
            "Option<Timestamp(Microsecond, UTC)>",
            "Option<Time(Second)>",
        ]


class TestHistory:
    SNAPSHOT = Snapshot(
        id=1,
        schema_id=0,
        base_manifest_list="",
        delta_manifest_list="",
        commit_user="u",
        commit_identifier=1,
        commit_kind="OVERWRITE",
        time_millis=0,
    )

    def history(self, *snapshots: Snapshot) -> History:
        version = Version(schema(("a", t.Int())), ("drop column a long name of a column", "x\ny"))
        return History(TableName("db", "t"), (version,), snapshots)

    def test_times_are_told_in_zones_that_are_offsets(self) -> None:
        lines = history_text(self.history(self.SNAPSHOT), "+02:00").splitlines()
        assert lines[0].endswith("(times in +02:00)")
        assert lines[-1].startswith("1970-01-01 02:00:00")

    def test_unknown_counts_and_losses(self) -> None:
        lost = replace(self.SNAPSHOT, id=12, delta_record_count=-1200, total_record_count=0)
        text = history_text(self.history(self.SNAPSHOT, lost), "UTC")
        assert text.splitlines() == [
            "db.t  (times in UTC)",
            "1970-01-01 00:00:00  schema 0     1 column",
            "                     drop column a long name of a column",
            "                     x\\ny",
            "1970-01-01 00:00:00  snapshot 1        ? rows = ?  overwrite, schema 0, user u",
            "1970-01-01 00:00:00  snapshot 12  -1,200 rows = 0  overwrite, schema 0, user u",
        ]

    def test_what_a_commit_did_is_said_by_its_operation(self) -> None:
        operations = (None, "WRITE", "MERGE INTO", "UPDATE")
        made = [replace(self.SNAPSHOT, commit_kind="APPEND", operation=o) for o in operations]
        lines = history_text(self.history(*made)).splitlines()[-4:]
        assert [line.split("= ?  ")[1] for line in lines] == [
            "append, schema 0, user u",
            "append, schema 0, user u",
            "merge into, schema 0, user u",
            "update, schema 0, user u",
        ]

    @pytest.mark.parametrize(
        ("keys", "options", "says"),
        [((), {}, False), (("a",), {}, True), ((), {"deletion-vectors.enabled": "true"}, True)],
        ids=["append", "keyed", "deletion vectors"],
    )
    def test_rows_of_files_are_called_so(self, keys: tuple[str, ...], options: dict[str, str], says: bool) -> None:
        keyed = replace(schema(("a", t.Int())), primary_keys=keys, options=options)
        history = replace(self.history(self.SNAPSHOT), versions=(Version(keyed, ()),))
        assert history_text(history).splitlines()[0].endswith("; rows are those that files hold)") == says

    def test_changes_are_wrapped_with_an_indent(self) -> None:
        lines = history_text(self.history(), "UTC", width=53).splitlines()
        assert lines[2:4] == [" " * 21 + "drop column a long name of a", " " * 21 + "  column"]

    @pytest.mark.parametrize("millis", [2**62, -(2**62), 253402300800000])
    def test_a_time_that_is_none(self, millis: int) -> None:
        text = history_text(self.history(replace(self.SNAPSHOT, time_millis=millis)), "UTC")
        assert f"{millis} ms" in text

    def test_the_newest_of_both_kinds(self) -> None:
        snapshots = [replace(self.SNAPSHOT, id=i, time_millis=i) for i in range(1, 5)]
        history = self.history(*snapshots)
        assert [s.id for s in history.newest(2).snapshots] == [3, 4]
        assert history.newest(2).versions == ()
        assert history.newest(99) == history


def test_a_compaction_under_a_run_id_without_work_does_not_count_to_zero() -> None:
    result = WriteResult("db.t", "compact", 0, 19, run_id="nightly")
    noted = "db.t: there was nothing to compact, and the run is noted (snapshot 19, schema 0)"
    assert write_text(result) == noted
    assert write_text(replace(result, repeated=True)) == f"{noted}\nthis run was done before; nothing was done now"
    assert write_text(replace(result, snapshot_id=None)) == "db.t: there is nothing to compact."
