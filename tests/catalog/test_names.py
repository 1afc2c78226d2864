"""Names of tables and versions: what is refused, what is quoted, and that text round trips."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.catalog.names import TableName, TableRef, database_problems, table_problems
from lakebed.errors import LakebedError, UsageError, ValidationError

HOSTILE = [
    "",
    " ",
    "\t",
    ".",
    "..",
    "../x",
    "/etc",
    "a/b",
    "a\\b",
    "a\0b",
    "a\nb",
    "\x1b[31m",
    "a\x7f",
    "x\u2028y",
    "x" * 256,
    "ü" * 128,
    ".hidden",
    "\ud800",
]
FRIENDLY = [
    "a b",
    "a.b",
    "o'clock",
    'say "x"',
    "ünï",
    "日本語",
    "😀",
    "a-b",
    "a=b",
    "100%",
    "x" * 250,
    "a`b",
    "a@b",
    "-",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_refused_in_both_places(name):
    with pytest.raises(ValidationError) as caught:
        TableName("db", name)
    assert caught.value.code == "LB3101"
    with pytest.raises(ValidationError):
        TableName(name, "t")
    assert all(d.remedy for d in caught.value.diagnostics)


@pytest.mark.parametrize("name", FRIENDLY)
def test_friendly_names_are_allowed(name):
    assert TableName(name, name).table == name


def test_a_database_leaves_room_for_its_suffix():
    assert table_problems("x" * 255) == ()
    assert database_problems("x" * 252) == ()
    assert database_problems("x" * 253)


def test_reserved_names():
    with pytest.raises(ValidationError, match="reserved for system tables"):
        TableName("sys", "t")
    with pytest.raises(ValidationError, match="`\\$`"):
        TableName("db", "t$snapshots")
    assert TableName("d$b", "sys").table == "sys"


def test_all_problems_of_a_name_are_reported():
    with pytest.raises(ValidationError) as caught:
        TableName("", "../a\0$")
    assert [d.code for d in caught.value.diagnostics] == ["LB3101", "LB3101", "LB3101", "LB3101", "LB3103"]


@pytest.mark.parametrize(
    ("text", "database", "table"),
    [
        ("t", "default", "t"),
        ("db.t", "db", "t"),
        ("lab.tide-gauge", "lab", "tide-gauge"),
        ("db.a.b", "db", "a.b"),
        ("`my.db`.t", "my.db", "t"),
        ("`my.db`.`a``b`", "my.db", "a`b"),
        ("`a.b`", "default", "a.b"),
        ("`t@3`", "default", "t@3"),
        ("a b.c d", "a b", "c d"),
    ],
)
def test_parsing(text, database, table):
    assert TableName.parse(text) == TableName(database, table)


@pytest.mark.parametrize("text", ["`a", "`a`b", "a`b", "db.`t", "`a`.`b`c", "t@3", "db.t@tag:x", "`"])
def test_text_that_is_no_table_name(text):
    with pytest.raises(UsageError) as caught:
        TableName.parse(text)
    assert caught.value.code == "LB3104"


@pytest.mark.parametrize("text", ["", ".", "db.", ".t", "``", "db./x"])
def test_text_with_a_hostile_part(text):
    with pytest.raises(ValidationError):
        TableName.parse(text)


NAMES = st.text(min_size=1, max_size=12).filter(lambda n: not table_problems(n) and not database_problems(n))


@given(NAMES, NAMES)
def test_text_round_trips(database, table):
    name = TableName(database, table)
    assert TableName.parse(str(name)) == name
    for ref in (TableRef(name), TableRef(name, schema_id=3), TableRef(name, snapshot=0), TableRef(name, tag="a@b:c")):
        assert TableRef.parse(str(ref)) == ref
    branch = TableRef(name, branch="b 1")
    assert TableRef.parse(str(branch)) == branch


@given(st.text(max_size=30))
def test_any_text_parses_or_is_refused(text):
    for parse in (TableName.parse, TableRef.parse):
        try:
            found = parse(text)
        except LakebedError:
            continue
        name = found.name if isinstance(found, TableRef) else found
        assert "/" not in name.database + name.table


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("db.t", {}),
        ("db.t@3", {"schema_id": 3}),
        ("db.t@snap:5", {"snapshot": 5}),
        ("db.t@tag:v1", {"tag": "v1"}),
        ("db.t@branch:dev", {"branch": "dev"}),
        ("db.t@tag:5", {"tag": "5"}),
    ],
)
def test_references(text, expected):
    assert TableRef.parse(text) == TableRef(TableName("db", "t"), **expected)


@pytest.mark.parametrize(
    "version", ["", "x", "latest", "snap:", "snap:x", "snap:-1", "tag:", "branch:", "tga:v1", "-1"]
)
def test_versions_that_are_none(version):
    with pytest.raises(UsageError) as caught:
        TableRef.parse(f"db.t@{version}")
    assert caught.value.code == "LB3105"


def test_a_misspelt_kind_is_suggested():
    with pytest.raises(UsageError) as caught:
        TableRef.parse("db.t@barnch:dev")
    assert caught.value.diagnostics[0].suggestions == ("branch:dev",)


def test_quarantine():
    assert TableName("db", "t").quarantine == TableName("db", "t__quarantine")
    assert TableName("db", "t__quarantine").is_quarantine
    assert not TableName("db", "t").is_quarantine


@pytest.mark.parametrize("name", [None, 5, b"db.t", ["db.t"]])
def test_what_is_no_text_is_no_name(name, tmp_path):
    import lakebed

    lake = lakebed.open(tmp_path)
    for call in (lake.schema, lake.table, lake.history, lake.infer, TableName.parse):
        with pytest.raises(UsageError) as caught:
            call(name)
        assert (caught.value.code, "it is no text" in str(caught.value)) == ("LB3104", True)
