"""Verdicts that rest on the stored rows: proven or refuted as a look at each row says it, by as few files as can be."""

from __future__ import annotations

import json
import math
import re
import struct
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lakebed
from lakebed.arrow import check_rows
from lakebed.arrow.java_patterns import LINE_ENDS, same_pattern
from lakebed.catalog import TableName
from lakebed.errors import RefusedError, StalePlanError
from lakebed.evolve import Plan
from lakebed.evolve.evidence import Outcome
from lakebed.evolve.plan import PlannedChange
from lakebed.evolve.value_rules import Among, Present, Test, Unique, ValueRule, Within
from lakebed.evolve.verdicts import Verdict
from lakebed.format.table_branch import TableBranch
from lakebed.manifest import parse_manifest
from lakebed.model import Int64
from lakebed.physical import parse
from lakebed.physical.paimon_tree import places_inside
from lakebed.physical.paimon_types import Row
from lakebed.row_level.prove_changes import RowProver
from read.foreign_files import FORMATS
from read.generated_tables import TABLES, make
from read.lakes import declare
from row_level.stored_rows import COLUMNS, StoredRows, declared, option, sources

_DAY = date(2024, 2, 29)
DAYS = (_DAY - date(1970, 1, 1)).days
NOON = DAYS * 86_400_000_000 + 43_200_000_000


def fits_single(value: float) -> bool:
    try:
        return math.isnan(value) or struct.unpack("<f", struct.pack("<f", value))[0] == value
    except OverflowError:
        return False


def is_day(text: str) -> bool:
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


#: A column, what it is declared as, and whether a value that is no NULL fits.
CASES: list[tuple[str, str, Callable[[Any], bool]]] = [
    ("k", option("Int8"), lambda v: -128 <= v <= 127),
    ("k", option("UInt16"), lambda v: 0 <= v < 1 << 16),
    ("k", option("{kind: Decimal, precision: 4, scale: 1}"), lambda v: abs(v) <= 999),
    ("k", option("Float32"), lambda v: abs(v) <= 1 << 24),
    ("k", option("Int64") + " | {lakebed.dev/minimum: -5}", lambda v: v >= -5),
    ("k", option("Int64") + " | {lakebed.dev/enum: [0, 7, 300]}", lambda v: v in (0, 7, 300)),
    ("s", option("Int8"), lambda v: bool(re.fullmatch("0|-?[1-9][0-9]*", v)) and -128 <= int(v) <= 127),
    ("s", option("Date"), is_day),
    ("s", option("Bool"), lambda v: v in ("true", "false")),
    ("s", option("String") + " | {paimon.apache.org/type: VARCHAR(3)}", lambda v: len(v) <= 3),
    ("s", option("String") + " | {paimon.apache.org/type: CHAR(3)}", lambda v: len(v) == 3),
    ("s", option("String") + " | {lakebed.dev/enum: ['7', 'ab', 'abc']}", lambda v: v in ("7", "ab", "abc")),
    ("s", option("String") + " | {lakebed.dev/pattern: '[a-c]+|7'}", lambda v: bool(re.fullmatch("[a-c]+|7", v))),
    ("f", option("Int16"), lambda v: v == v and abs(v) < 1e300 and v == int(v) and -(2**15) <= v < 2**15),
    ("f", option("Float32"), fits_single),
    ("f", option("Float64") + " | {lakebed.dev/minimum: 0.0}", lambda v: v >= 0),
    ("f", option("Float64") + " | {lakebed.dev/maximum: 1.5}", lambda v: v <= 1.5),
    ("f", option("Float64") + " | {lakebed.dev/enum: [0.0, 1.5]}", lambda v: v in (0.0, 1.5)),
    ("d", option("{kind: Decimal, precision: 4, scale: 2}"), lambda v: abs(v) < 100),
    ("d", option("{kind: Decimal, precision: 5, scale: 1}"), lambda v: v == round(v, 1)),
    ("d", option("Int8"), lambda v: v == int(v) and -128 <= v <= 127),
    ("d", COLUMNS["d"] + " | {lakebed.dev/maximum: '99.5'}", lambda v: v <= Decimal("99.5")),
    ("t", option("{kind: Timestamp, unit: Millisecond}"), lambda v: v % 1000 == 0),
    ("t", COLUMNS["t"] + " | {lakebed.dev/minimum: '2024-02-29T12:00:00Z'}", lambda v: v >= NOON),
    ("day", option("Date") + " | {lakebed.dev/minimum: '2024-02-29'}", lambda v: v >= DAYS),
    ("day", option("Date") + " | {lakebed.dev/enum: ['2024-02-29']}", lambda v: v == DAYS),
    ("l", COLUMNS["l"].replace(option("String"), "String"), lambda v: None not in v),
    ("r", COLUMNS["r"].replace(option("Int32"), "Int32"), lambda v: v["a"] is not None),
    ("r", COLUMNS["r"].replace("Int32", "Int8"), lambda v: v["a"] is None or -128 <= v["a"] <= 127),
]
VALUES: dict[str, list[Any]] = {
    "k": [0, 7, -5, -6, 300, 70_000, -(2**31), 2**24 + 1],
    "s": ["7", "007", "128", "", "ab", "abc", "abcd", "äöü", "2024-02-29", "2023-02-29", "true", "c\n"],
    "f": [0.0, -0.0, 1.5, 0.1, -1.0, 40_000.0, math.nan, math.inf, 1e300],
    "d": [Decimal(text) for text in ("0.00", "99.50", "99.55", "-100.00", "127.00", "128.00", "-9999.99")],
    "t": [NOON, NOON + 1, NOON + 1000, NOON - 1_000_000],
    "day": [DAYS, DAYS - 1, DAYS + 1],
    "l": [[], ["a"], ["a", None]],
    "r": [{"a": None}, {"a": 7}, {"a": 300}],
}
#: In each file values come from a few, so that statistics often decide.
_FEW = st.sets(st.integers(0, 11), min_size=1, max_size=3)


@st.composite
def rows_of(draw: st.DrawFn, column: str) -> list[dict[str, Any]]:
    values = VALUES[column]
    chosen = [values[place % len(values)] for place in sorted(draw(_FEW))]
    if draw(st.booleans()):
        chosen.append(None)
    return [{column: v} for v in draw(st.lists(st.sampled_from(chosen), min_size=1, max_size=5))]


def required(column: str) -> str:
    """The type of a column without the Option."""
    return "Int64" if column == "k" else COLUMNS[column].removeprefix("{kind: Option, inner: ")[:-1]


def change(lake: lakebed.Lake, **changed: str) -> PlannedChange:
    """The one change that a declaration asks for, in the light of the rows."""
    (found,) = lake.plan(sources(**changed), data=True).tables[0].changes
    return found


@settings(max_examples=60)
@given(st.data(), st.sampled_from(CASES) | st.sampled_from(sorted(COLUMNS)))
def test_rows_prove_and_refute_as_a_look_at_each_says(data: st.DataObject, case: Any) -> None:
    # A bare column is to be required.
    column, text, fits = (case, None, None) if isinstance(case, str) else case
    with tempfile.TemporaryDirectory() as directory:
        made = StoredRows.of(Path(directory))
        for version in range(2):
            for _ in range(data.draw(st.integers(0, 2))):
                rows = data.draw(rows_of(column))
                gone = data.draw(st.sets(st.integers(0, len(rows) - 1), max_size=2).map(sorted))
                # What ORC files say of moments depends on clocks of Java.
                formats = [format for format in FORMATS if (column, format) != ("t", "orc")]
                made.add(data.draw(st.sampled_from(formats)), rows, stats=data.draw(st.booleans()), gone=gone)
            if not version:
                made.widen()
        made.commit()
        found = change(made.lake, **{column: text or required(column)})
    values = [row[column] for row in made.rows]
    unfit = values.count(None) if fits is None else sum(v is not None and not fits(v) for v in values)
    evidence = found.evidence
    assert evidence is not None
    assert (evidence.rows, evidence.unfit, evidence.snapshot) == (len(values), unfit, 1), evidence.text
    assert evidence.outcome is (Outcome.REFUTED if unfit else Outcome.PROVEN)
    assert found.verdict is (Verdict.BREAKING if unfit else Verdict.SAFE)


@given(st.lists(rows_of("s") | rows_of("s"), max_size=3))
@settings(max_examples=15)
def test_repeated_values(files: list[list[dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        made = StoredRows.of(Path(directory))
        made.widen()
        for rows in files:
            made.add("parquet", rows)
        made.commit()
        found = change(made.lake, s=option("String") + " | {lakebed.dev/unique: true}")
    count = Counter(row["s"] for row in made.rows if row["s"] is not None)
    assert found.evidence is not None
    assert found.evidence.unfit == sum(n for n in count.values() if n > 1)
    assert found.verdict is (Verdict.BREAKING if found.evidence.unfit else Verdict.SAFE)


# --- tables of every kind ---------------------------------------------------------------------------------------------

#: A place of a generated table, the rule, and whether what it holds breaks it.
RULES: list[tuple[tuple[str, ...], Test, Callable[[Any], bool]]] = [
    (("v",), Present(), lambda v: v is None),
    (("k",), Within(low=3), lambda k: k is not None and k < 3),
    (("k",), Within(high=2**33), lambda k: k is not None and k > 2**33),
    (("p",), Among((1, 2)), lambda p: p is not None and p not in (1, 2)),
    (("r", "c"), Present(), lambda r: r is not None and r["c"] is None),
    (
        ("l", "element", "c"),
        Within(low=2),
        lambda items: any(i and i["c"] is not None and i["c"] < 2 for i in items or ()),
    ),
    (("m", "value"), Present(), lambda pairs: any(v is None for _, v in pairs or ())),
]


@pytest.mark.parametrize("kind", sorted(TABLES))
def test_tables_of_every_kind_are_read_as_ever(kind: str, tmp_path: Path) -> None:
    for seed in range(2):
        lake = make(kind, seed, tmp_path).lake
        table = TableBranch(lake.tables, TableName("db", "t"))
        prove = RowProver(table, "UTC", verify_checksums=True)
        base, rows = lake.schema("db.t"), lake.table("db.t").to_arrow().to_pylist()
        types = dict(places_inside(Row(base.fields)))
        asked = [one for one in RULES if one[0] in types]
        rules = [ValueRule(path, types[path], Int64(), test) for path, test, _ in asked]
        for (path, test, is_unfit), evidence in zip(asked, prove(base, rules), strict=True):
            unfit = sum(is_unfit(row[path[0]]) for row in rows)
            assert (evidence.unfit, evidence.outcome) == (
                unfit,
                Outcome.REFUTED if unfit else Outcome.PROVEN,
            ), f"{kind} {seed} {path} {test}: {evidence.text}"
            assert evidence.rows in (None, len(rows))


# --- what a plan says -------------------------------------------------------------------------------------------------


@pytest.fixture
def made(tmp_path: Path) -> StoredRows:
    """Three files, of which statistics tell all but of the last one."""
    found = StoredRows.of(tmp_path)
    found.widen()
    for low in (0, 100):
        found.add("parquet", [{"k": low + n, "s": f"s{n}", "f": 0.5} for n in range(5)])
    found.add("orc", [{"k": 1, "s": None, "f": math.nan}], stats=False)
    found.commit()
    return found


def test_files_that_statistics_tell_of_are_not_opened(made: StoredRows) -> None:
    opened: list[str] = []

    def noting(store: object, work: Any) -> Any:
        opened.extend(Path(part.path).name for part in work.parts)
        return real(store, work)

    real = check_rows.open_rows
    with mock.patch.object(check_rows, "open_rows", noting):
        found = change(made.lake, k="Int64")
        assert found.evidence is not None
        assert found.evidence.text == "none of 11 rows is NULL (1 of 3 files read, snapshot 1)"
        assert change(made.lake, k=option("Int8")).evidence is not None
        assert opened == ["2.orc"] * 2
        # A text is cut in statistics, and NaN is not in them: such files are opened.
        opened.clear()
        found = change(made.lake, s=option("String") + " | {lakebed.dev/enum: [s0, s1]}")
        assert found.evidence is not None
        assert (found.evidence.unfit, found.evidence.files, found.evidence.read) == (6, 2, 3)
        assert found.evidence.text == (
            "6 of 11 rows are none of s0, s1, such as s2, s3, s4, in 2 files: 0.parquet, 1.parquet (snapshot 1)"
        )
        assert opened == ["0.parquet", "1.parquet", "2.orc"]


def test_statistics_alone_prove(tmp_path: Path) -> None:
    made = StoredRows.of(tmp_path)
    made.add("parquet", [{"k": n, "d": Decimal(n)} for n in range(3)])
    made.widen()
    made.commit()
    with mock.patch.object(check_rows, "open_rows", side_effect=AssertionError):
        for changed in (
            {"k": "Int64"},
            {"k": option("UInt8")},
            {"d": option("{kind: Decimal, precision: 4, scale: 2}")},
        ):
            found = change(made.lake, **changed)
            assert found.verdict is Verdict.SAFE
            assert found.evidence is not None
            assert "by statistics of 1 file" in found.evidence.text
            assert found.evidence.read == 0


def test_a_table_without_rows_has_none_that_do_not_fit(tmp_path: Path) -> None:
    made = StoredRows.of(tmp_path)
    made.widen()
    found = change(made.lake, k=option("Int8"))
    assert found.evidence is not None
    assert (found.verdict, found.evidence.text, found.evidence.snapshot) == (
        Verdict.SAFE,
        "the table has no rows",
        None,
    )


def test_what_the_option_forbids_stays_forbidden_with_another_remedy(made: StoredRows) -> None:
    def plan(**changed: str) -> PlannedChange:
        text = declared(**changed).replace("'false'", "'true'")
        found = made.lake.plan(parse_manifest(text, source="t.yaml"), data=True).tables[0].changes
        return next(one for one in found if one.code == "LB4210")

    declare(made.lake, declared().replace("'false'", "'true'"))
    assert plan(k="Int64").verdict is plan(s="String").verdict is Verdict.FORBIDDEN
    assert "set option" in (plan(k="Int64").remedy or "")
    assert "mend or delete the rows" in (plan(s="String").remedy or "")


def test_unknown_stays_as_it_was_and_says_why(made: StoredRows) -> None:
    for text, verdict, why in (
        (r"{lakebed.dev/pattern: '(?i)s\d'}", Verdict.CAUTION, "only Spark understands the pattern"),
        # RE2 takes each of the repetitions, but not both.
        ("{lakebed.dev/pattern: '(s{999}){999}'}", Verdict.CAUTION, "only Spark understands the pattern"),
        ("{opendatafabric.org/type: Did}", Verdict.CAUTION, "stored values are not held against"),
    ):
        found = change(made.lake, s=f"{option('String')} | {text}")
        assert found.evidence is not None
        assert (found.verdict, found.evidence.outcome) == (verdict, Outcome.UNKNOWN)
        assert why in found.evidence.text
    for column, type_ in (("f", "{kind: Decimal, precision: 9, scale: 2}"), ("k", "Float16")):
        found = change(made.lake, **{column: option(type_)})
        assert found.evidence is not None
        assert (found.verdict, found.evidence.outcome) == (Verdict.BREAKING, Outcome.UNKNOWN)
    # Who reads texts where numbers were is not helped by any rows.
    assert change(made.lake, k=option("String")).evidence is None


def test_values_that_are_cast_already_do_not_tell_what_they_are_cast_to_next(tmp_path: Path) -> None:
    made = StoredRows.of(tmp_path)
    made.add("parquet", [{"k": 65_541, "r": {"a": 65_541}}])
    narrow = {"k": option("Int16"), "r": COLUMNS["r"].replace("Int32", "Int16")}
    declare(made.lake, declared(**narrow))
    made.table.evolve(made.lake.schema("db.t"))
    made.add("parquet", [{"k": 1, "r": {"a": 1}}])
    made.commit()
    assert made.lake.table("db.t").to_arrow().column("k").to_pylist() == [5, 1]
    for name, type_ in narrow.items():
        found = change(made.lake, **{**narrow, name: type_.replace("Int16", "Int8")})
        assert found.evidence is not None
        assert (found.verdict, found.evidence.outcome) == (Verdict.BREAKING, Outcome.UNKNOWN)
        assert "files of version 0 hold INT there" in found.evidence.text
    # What does not cast them asks for the values as they are read.
    found = change(made.lake, **{**narrow, "k": "Int16"})
    assert found.verdict is Verdict.SAFE


def test_personal_data_is_not_shown(tmp_path: Path) -> None:
    made = StoredRows.of(tmp_path)
    made.widen()
    personal = option("String") + " | {lakebed.dev/personalData: true"
    declare(made.lake, declared(s=personal + "}"))
    made.table.evolve(made.lake.schema("db.t"))
    made.add("parquet", [{"s": "Ada Lovelace"}])
    made.commit()
    found = change(made.lake, s=personal + ", lakebed.dev/enum: [nobody]}")
    assert found.evidence is not None
    assert (found.evidence.unfit, found.evidence.values) == (1, ())
    assert "Ada" not in found.evidence.text
    # It also counts where it is declared by the same change, or not any more.
    open_, none = option("String"), option("String") + " | {lakebed.dev/enum: [nobody]}"
    assert "Ada" not in str(made.lake.plan(sources(s=none), data=True))
    declare(made.lake, declared(s=open_))
    assert "Ada" in str(made.lake.plan(sources(s=none), data=True))
    assert "Ada" not in str(made.lake.plan(sources(s=personal + ", lakebed.dev/enum: [nobody]}"), data=True))


def test_leave_is_asked_for_what_rows_refute(made: StoredRows) -> None:
    enum = option("String") + " | {lakebed.dev/enum: [s0]}"
    plan = made.lake.plan(sources(s=enum), data=True)
    assert plan.approvals_missing() == ("LB4234:s",)
    assert all("8 of 11 rows are none of s0" in shown for shown in (str(plan), plan._repr_html_()))
    with pytest.raises(RefusedError, match=r"LB4234.*8 of 11 rows are none of s0"):
        made.lake.apply(plan)
    approvals = "  approvals:\n    - {code: LB4234, path: s, reason: they are mended, until: 2999-01-01}\n  schema:"
    approved = parse_manifest(declared(s=enum).replace("  schema:", approvals), source="t.yaml")
    plan = made.lake.plan(approved, data=True)
    assert not plan.approvals_missing()
    made.lake.apply(plan)
    assert made.lake.history("db.t").versions[-1].approvals


def test_a_saved_plan_holds_for_the_rows_that_were_asked(made: StoredRows) -> None:
    plan = Plan.from_json(json.loads(json.dumps(made.lake.plan(sources(k="Int64"), data=True).to_json())))
    assert plan.tables[0].changes[0].evidence is not None
    made.add("parquet", [{"k": None}])
    made.commit()
    with pytest.raises(StalePlanError, match=r"LB4309.*asked at snapshot 1, and the newest is 2"):
        made.lake.apply(plan)
    with pytest.raises(RefusedError, match="1 of 12 rows is NULL"):
        made.lake.apply(made.lake.plan(sources(k="Int64"), data=True))
    made.lake.apply(plan, allow=["LB4210:k"])
    # What only allows less asks for no leave, and holds for rows to come.
    plan = made.lake.plan(sources(k="Int64 | {lakebed.dev/maximum: 1000}"), data=True)
    made.commit()
    made.lake.apply(plan)


def test_a_branch_is_asked_for_its_own_rows(made: StoredRows) -> None:
    made.lake.branches("db.t").create("b", snapshot=1)
    made.add("parquet", [{"k": None}])
    made.commit()
    for branch, unfit in (("b", 0), (None, 1)):
        (found,) = made.lake.plan(sources(k="Int64"), branch=branch, data=True).tables[0].changes
        assert found.evidence is not None
        assert found.evidence.unfit == unfit


def test_a_key_where_there_was_none_stays_forbidden_and_its_rows_are_asked(tmp_path: Path) -> None:
    made = StoredRows.of(tmp_path)
    made.widen()
    made.add("parquet", [{"k": 1, "s": "a"}, {"k": 1, "s": "b"}, {"k": 2, "s": "b"}])
    made.add("orc", [{"k": 2, "s": "b"}, {"k": None, "s": "b"}])
    made.commit()
    for keys, unfit in (("k", 5), ("k, s", 3), ("s", 4), ("k, s, f", 5)):
        text = declared().replace("  options:", f"  primaryKeys: [{keys}]\n  options:")
        changes = made.lake.plan(parse_manifest(text, source="t.yaml"), data=True).tables[0].changes
        found = next(one for one in changes if one.code == "LB4217")
        assert found.evidence is not None
        assert (found.verdict, found.evidence.unfit) == (Verdict.FORBIDDEN, unfit), found.evidence.text


def test_the_primary_key_is_unique_without_a_look_at_rows(tmp_path: Path) -> None:
    lake = make("keys", 0, tmp_path).lake
    base = lake.schema("db.t")
    prove = RowProver(TableBranch(lake.tables, TableName("db", "t")), "UTC", verify_checksums=True)
    rules = [ValueRule((name,), parse("INT"), Int64(), Unique((name,))) for name in ("k", "v")]
    with mock.patch.object(check_rows, "open_rows", return_value=iter(())) as opened:
        assert [one.outcome for one in prove(base, rules[:1])] == [Outcome.PROVEN]
        assert not opened.called
    values = Counter(lake.table("db.t").to_arrow(columns=["v"]).column("v").drop_null().to_pylist())
    (evidence,) = prove(base, rules[1:])
    assert evidence.unfit == sum(n for n in values.values() if n > 1)


@pytest.mark.parametrize(("zone", "outcome"), [("UTC", Outcome.REFUTED), ("Europe/Berlin", Outcome.UNKNOWN)])
def test_a_moment_without_an_offset_is_only_known_in_a_fixed_zone(tmp_path: Path, zone: str, outcome: Outcome) -> None:
    made = StoredRows.of(tmp_path)
    made.widen()
    made.add("parquet", [{"t": NOON}])
    made.commit()
    lake = lakebed.open(made.lake.warehouse, time_zone=zone)
    found = change(lake, t=COLUMNS["t"] + " | {lakebed.dev/minimum: '2024-02-29 18:00:00'}")
    assert found.evidence is not None
    assert found.evidence.outcome is outcome, found.evidence.text


def test_spark_says_the_same_and_more(spark: Any, made: StoredRows) -> None:
    made.add("orc", [{"t": NOON, "s": "7", "k": 1}, {"t": NOON + 1, "s": None, "k": None, "l": ["a", None]}])
    made.commit()
    changed = {
        "k": "Int8 | {lakebed.dev/unique: true}",
        "s": option("String") + r" | {lakebed.dev/pattern: '(?i)S\d'}",
        "f": option("Float32"),
        "t": option("{kind: Timestamp, unit: Millisecond}"),
        "l": COLUMNS["l"].replace(option("String"), "String"),
    }

    def evidence(data: Any, **asked: Any) -> dict[str, Any]:
        changes = made.lake.plan(sources(**changed), data=data, **asked).tables[0].changes
        return {f"{one.code} {one.kind} {one.column}": one.evidence for one in changes}

    alone, both, only_spark = evidence(True), evidence(True, spark=spark), evidence("spark", spark=spark)
    unknown = [key for key, one in alone.items() if one.outcome is Outcome.UNKNOWN]
    assert {**both, **{key: alone[key] for key in unknown}} == alone
    unfit = {key: one.unfit for key, one in both.items()}
    assert unfit == {key: one.unfit for key, one in only_spark.items()}
    assert {key: (unfit[key], both[key].examples) for key in unknown} == {
        "LB4206 type t": (1, ()),
        "LB4234 annotation s": (1, ()),
    }


#: Patterns that mean the same to both, and some that do not.
SHARED = (
    *("a", "a.c", "[a-c]+", "[^a]*", "a|bc", "^ab$", r"\d{2,3}", r"\w+@\w+\.com", "(?:ab)*c?", "(a)(b|c)", "x?", ".*"),
    *(r"a\.b", "[a-c_-]{1,2}", r"\D", r"\W+", "ä", "a+?b", r"[\d.]+", "a{2}", "", "a b", "a#b", r"\[a\]"),
)
OTHERS = (
    *("(?i)a", r"\s", r"\bab", "a*+", "[a[b]]", "[a-z&&[^b]]", r"\p{L}", "(?=a)a", r"(a)\1", "^a|b$", "a$b", r"\h"),
    *("(?<n>a)", "[^]a]", "[ä-ü]", "a{2", "(", "*a", r"a\$", r"\x41"),
)
TEXTS = (
    *("", "a", "ab", "abc", "bc", "a.c", "a\nc", "a\rc", "a\u2028c", "12", "123", "1.5", "x@y.com", "ababc", "A", "ä"),
    *("aab", "ab\n", "\n", "\r", "\u0085", "\x0b", "_-", "-", "aa", "a b", "a#b", "[a]", "\U0001f600", "٣", "z\u0085"),
)


def test_patterns_that_arrow_takes_mean_what_they_mean_to_java(spark: Any) -> None:
    assert [pattern for pattern in OTHERS if same_pattern(pattern) is not None] == [r"a\$"]
    frame = spark.createDataFrame([(n, text) for n, text in enumerate(TEXTS)], "n INT, v STRING").coalesce(1)
    columns = [frame["v"].rlike(rf"^(?:{pattern})\z").alias(f"p{n}") for n, pattern in enumerate(SHARED)]
    said = {row["n"]: row for row in frame.select("n", *columns).collect()}
    for at, pattern in enumerate(SHARED):
        texts = [n for n, text in enumerate(TEXTS) if not ("." in pattern and re.search(LINE_ENDS, text))]
        found = pc.match_substring_regex(pa.array([TEXTS[n] for n in texts]), same_pattern(pattern)).to_pylist()
        assert found == [said[n][f"p{at}"] for n in texts], pattern
