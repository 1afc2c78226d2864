from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.render.iso_times import day_text, moment_text
from lakebed.render.rows import json_value, problems_first, row_encoder, rows_text
from lakebed.render.terminal import cell_width


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (None, None),
        (True, True),
        (2**63, 2**63),
        ("ü", "ü"),
        (1.5, 1.5),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (Decimal("0E-18"), "0.000000000000000000"),
        (Decimal("1E+3"), "1000"),
        (date(1, 1, 1), "0001-01-01"),
        (datetime(2024, 1, 1, 1, 2, 3, 4), "2024-01-01T01:02:03.000004"),
        (datetime(2024, 1, 1, tzinfo=UTC), "2024-01-01T00:00:00+00:00"),
        (time(1, 2), "01:02:00"),
        (timedelta(days=1, seconds=1), "1 day, 0:00:01"),
        (b"\x00\xff", "AP8="),
        (bytearray(b"a"), "YQ=="),
        ([1, [None]], [1, [None]]),
        ({"a": Decimal("1.0")}, {"a": "1.0"}),
        ({1: "x", 2: None}, [[1, "x"], [2, None]]),
        (1j, "1j"),
    ],
)
def test_a_value_as_json(value: Any, encoded: Any) -> None:
    assert json_value(value) == encoded
    assert json_value(encoded) == encoded


class TestSparkRows:
    @pytest.fixture
    def t(self) -> Any:
        return pytest.importorskip("pyspark.sql.types")

    def test_instants_at_every_depth_are_in_the_zone(self, t: Any) -> None:
        stamp = t.TimestampType()
        schema = t.StructType(
            [
                t.StructField("at", stamp),
                t.StructField("wall", t.TimestampNTZType()),
                t.StructField("list", t.ArrayType(t.StructType([t.StructField("at", stamp)]))),
                t.StructField("map", t.MapType(stamp, t.ArrayType(stamp))),
            ]
        )
        instant = datetime(2024, 7, 1, 12, tzinfo=UTC)
        naive = instant.astimezone().replace(tzinfo=None)
        said = "2024-07-01T14:00:00+02:00"
        row = t.Row("at", "wall", "list", "map")(naive, naive, [t.Row("at")(naive), None], {naive: [None, naive]})
        assert row_encoder(schema, "Europe/Paris")(row) == [
            said,
            naive.isoformat(),
            [{"at": said}, None],
            [[said, [None, said]]],
        ]
        assert row_encoder(schema, "Europe/Paris")((None, None, None, None)) == [None] * 4

    def test_maps_are_objects_by_their_type_not_by_their_content(self, t: Any) -> None:
        schema = t.StructType(
            [
                t.StructField("texts", t.MapType(t.StringType(), t.IntegerType())),
                t.StructField("numbers", t.MapType(t.IntegerType(), t.IntegerType())),
            ]
        )
        encode = row_encoder(schema, "UTC")
        assert encode(({}, {})) == [{}, []]
        assert encode(({"a": 1}, {1: 2})) == [{"a": 1}, [[1, 2]]]

    def test_two_columns_of_one_name(self, t: Any) -> None:
        schema = t.StructType([t.StructField("a", t.IntegerType()), t.StructField("a", t.IntegerType())])
        assert row_encoder(schema, "UTC")((1, 2)) == [1, 2]

    def test_variants_are_their_json(self, t: Any) -> None:
        schema = t.StructType([t.StructField("v", t.VariantType())])
        value = t.VariantVal.parseJson('{"a": [1, null]}')
        assert row_encoder(schema, "UTC")((value,)) == [{"a": [1, None]}]


class TestText:
    def test_complete_where_nothing_limits_it(self) -> None:
        text = rows_text(["id", "name"], [[1, "x" * 300], [20, None]])
        assert text.splitlines() == [
            "id   name",
            "─" * 120,
            " 1   " + "x" * 300,
            "20   NULL",
            "(2 rows)",
        ]

    def test_no_rows_and_no_columns(self) -> None:
        assert rows_text(["a"], []).splitlines() == ["a", "─", "(0 rows)"]
        assert rows_text([], [[]]).splitlines()[-1] == "(1 row)"

    def test_what_breaks_lines_or_commands_a_terminal_is_escaped(self) -> None:
        text = rows_text(["a\nb"], [["x\ty\r\n\x1b[31m\u2028\u202e"], [{"k": "\n"}]])
        assert text.splitlines() == [
            "a\\nb",
            "─" * 28,
            "x\\ty\\r\\n\\x1b[31m\\u2028\\u202e",
            '{"k": "\\n"}',
            "(2 rows)",
        ]

    def test_wide_characters_are_aligned(self) -> None:
        lines = rows_text(["a", "b"], [["日本", "x"], ["ab", "y"]]).splitlines()
        assert lines[2:4] == ["日本   x", "ab     y"]

    def test_a_terminal_cuts_the_longest_cells_first(self) -> None:
        text = rows_text(["short", "long", "longer"], [["abc", "m" * 30, "n" * 90]], width=80)
        lines = text.splitlines()
        assert lines[2] == f"abc     {'m' * 30}   {'n' * 38}…"
        assert lines[3:] == ["(1 row)", "(long values are cut; a file or a pipe gets all)"]
        assert max(map(len, lines[:3])) == 80
        assert rows_text(["a"], [["b" * 80]], width=80).splitlines()[2:] == ["b" * 80, "(1 row)"]

    def test_then_it_leaves_out_columns(self) -> None:
        columns = [f"column_{i:02}" for i in range(30)]
        text = rows_text(columns, [["value" * 5] * 30], width=80, more=True)
        lines = text.splitlines()
        assert max(map(len, lines[:-1])) <= 80
        shown = len(lines[0].split())
        assert 2 <= shown < 30
        assert lines[-2:] == [
            "(the first row; there are more)",
            f"({shown} of 30 columns; a file or a pipe gets all)",
        ]

    @pytest.mark.parametrize("width", [1, 5, 20, 200])
    def test_every_width_shows_something(self, width: int) -> None:
        text = rows_text(["日本語" * 10, "b"], [["日本語" * 20, 1]], width=width)
        assert len(text.splitlines()) in (4, 5)
        assert text.splitlines()[2].strip()

    def test_columns_that_are_shown_share_all_of_the_width(self) -> None:
        lines = rows_text(["first", "second", "third"], [["x" * 200] * 3], width=41).splitlines()
        assert lines[2] == "x" * 40 + "…"
        lines = rows_text(list("abcde"), [["x" * 200] * 5], width=70).splitlines()
        assert lines[2] == "x" * 32 + "…   " + "x" * 32 + "…"


class TestQuarantine:
    COLUMNS = ("run_id", "ingested_at", "source_file", "source_offset", "raw", "schema_id", "problems")
    PROBLEMS = (
        {"path": "age", "code": "LB6203", "expected": "Int32", "found": "abc"},
        {"path": None, "code": "LB6210", "expected": None, "found": None},
    )
    ROW = ("7" * 36, "2024-01-01T00:00:00+00:00", "in/a.csv", 3, "1,abc", 0, list(PROBLEMS))

    def test_what_is_wrong_comes_first(self) -> None:
        columns, rows = problems_first(self.COLUMNS, [self.ROW], ordered=False)
        assert columns == ["problems", "raw", "source_file", "source_offset", "run_id", "ingested_at", "schema_id"]
        told = "age: LB6203, expected Int32, found abc; LB6210"
        assert rows == [[told, "1,abc", "in/a.csv", 3, self.ROW[0], self.ROW[1], 0]]

    @pytest.mark.parametrize("width", [40, 60, 80, 110, 130, 150, 300])
    def test_every_terminal_shows_it(self, width: int) -> None:
        columns, rows = problems_first(self.COLUMNS, [self.ROW], ordered=False)
        lines = rows_text(columns, rows, width=width, readable=2).splitlines()
        assert lines[2].startswith("age: LB6203, expected Int32,")
        assert max(map(len, lines[:3])) <= width
        assert "   1,abc" in lines[2]

    @pytest.mark.parametrize("width", [20, 40, 60, 61, 62, 80, 110, 200])
    def test_what_is_wrong_and_the_text_are_readable_at_every_width(self, width: int) -> None:
        row = (*self.ROW[:4], "12,some text that is as long as the line of a file of measured values", *self.ROW[5:])
        columns, rows = problems_first(self.COLUMNS, [row, row], ordered=False)
        lines = rows_text(columns, rows, width=width, readable=2).splitlines()
        assert max(map(cell_width, lines[:-2])) <= width
        text = "".join(lines).replace(" ", "")
        assert text.count("LB6203,expectedInt32") == text.count("12,sometextthatisaslo") == 2
        if width == 60:
            assert lines[:5] == [
                "problems: age: LB6203, expected Int32, found abc; LB6210",
                "raw: 12,some text that is as long as the line of a file of",
                "measured values",
                "source_file: in/a.csv",
                "source_offset: 3",
            ]
            assert lines[-3:] == ["─" * 60, "(2 rows)", "(long values are cut; a file or a pipe gets all)"]

    def test_columns_that_were_asked_for_stay_in_their_order(self) -> None:
        columns, rows = problems_first(["raw", "problems", "n"], [["x", [self.PROBLEMS[1]], 1]], ordered=True)
        assert (columns, rows) == (["raw", "problems", "n"], [["x", "LB6210", 1]])

    def test_a_column_of_this_name_that_is_something_else_stays_what_it_is(self) -> None:
        assert problems_first(["problems"], [[3], [None], [["x"]]], ordered=True)[1] == [[3], [None], [["x"]]]


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)),
    st.integers(-700, 700),
    st.sampled_from(["", "UTC", "America/New_York", "Asia/Kolkata"]),
)
def test_moments_of_any_year_repeat_themselves_after_400_years(moment: datetime, cycles: int, name: str) -> None:
    zone = None if name == "" else ZoneInfo(name)
    micros = (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    plain = moment.replace(tzinfo=UTC).astimezone(zone).isoformat() if zone else moment.isoformat()
    assert moment_text(micros, zone) == plain
    far = moment_text(micros + cycles * 146_097 * 86_400_000_000, None)
    year = moment.year + 400 * cycles
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    assert far == f"{sign}{abs(year):04d}{moment.isoformat()[4:]}"
    assert day_text(moment.toordinal() - 719_163 + cycles * 146_097) == far.partition("T")[0]
