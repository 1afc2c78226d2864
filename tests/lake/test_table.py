"""`Table` is wiring: it has what `Lake` has for a table, and each method asks one thing of a room below."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints
from unittest import mock

import pyarrow as pa
import pytest

import lakebed
from lakebed import table
from lakebed.catalog import TableRef
from lakebed.errors import LakebedError, NotFoundError, UnsupportedError, UsageError
from lakebed.ingest import arguments
from lakebed.read.request import ReadKeywords, ReadRequest, Travel, TravelKeywords, read_request
from lakebed.table import Table
from read.keyed_tables import INSERT, KeyedTable, Record

MANIFEST = """kind: Table
version: 1
content:
  name: db.t
  schema:
    fields:
    - {name: a, type: Int32}
"""
MOST_LINES = 8
TABLE_METHODS = [
    name
    for name, method in inspect.getmembers(lakebed.Lake, inspect.isfunction)
    if not name.startswith("_") and "table" in inspect.signature(method).parameters
]
READS = ("read", "count", "explain_read", "check_read", "cast_errors", "inspect")


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    (tmp_path / "t.yaml").write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "warehouse").mkdir()
    lake = lakebed.open(tmp_path / "warehouse")
    lake.apply(lake.plan(tmp_path / "t.yaml"))
    return lake


def methods() -> list[ast.FunctionDef]:
    tree = ast.parse(Path(table.__file__).read_text(encoding="utf-8"))
    (cls,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return [node for node in cls.body if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("method", methods(), ids=lambda m: m.name)
def test_a_method_holds_wiring_only(method: ast.FunctionDef) -> None:
    statements = [
        node
        for node in method.body
        if not isinstance(node, ast.ImportFrom)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    if isinstance(statements[-1], ast.Return) and isinstance(statements[-1].value, ast.Call):
        # A call with a line for each argument is one thing that is asked.
        statements[-1].end_lineno = statements[-1].lineno
    lines = {n for node in statements for n in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    assert len(lines) <= MOST_LINES
    assert not [n for node in statements for n in ast.walk(node) if isinstance(n, ast.For | ast.While | ast.Try)]


@pytest.mark.parametrize("name", TABLE_METHODS)
def test_a_table_has_what_a_lake_has_for_it(name: str) -> None:
    assert inspect.isfunction(getattr(Table, name))


@pytest.mark.parametrize("name", READS)
def test_every_call_that_reads_can_choose_a_state(name: str) -> None:
    parameters = inspect.signature(getattr(lakebed.Lake, name)).parameters
    assert TravelKeywords.__annotations__.keys() <= parameters.keys()


def test_a_request_has_a_member_for_every_keyword() -> None:
    members = {*ReadRequest.__dataclass_fields__, *Travel.__dataclass_fields__}
    assert get_type_hints(ReadKeywords).keys() <= members
    assert get_type_hints(ReadKeywords).keys() == inspect.signature(lakebed.Lake.read).parameters.keys() - {
        *("self", "spark", "table", "scratch")
    }


def test_keywords_go_before_what_the_name_says() -> None:
    ref = TableRef.parse("db.t@snap:5")
    assert read_request(ref).travel == Travel(snapshot=5)
    assert read_request(ref, snapshot=3, branch="b").travel == Travel(snapshot=3, branch="b")
    assert read_request(TableRef.parse("db.t@3")).schema == 3
    assert read_request(TableRef.parse("db.t@3"), schema="latest").schema == "latest"
    assert read_request(ref, snapshot=None) == read_request(ref)


def test_a_table_says_what_its_name_says(lake: lakebed.Lake) -> None:
    main = lake.table("db.t")
    assert (str(main.name), main.branch, main.label) == ("db.t", "main", "db.t")
    assert main.schema() == lake.schema("db.t") == main.schemas.load_latest_schema()
    assert main.history() == lake.history("db.t")
    assert main.snapshots.latest() is None
    assert main.count() == lake.count("db.t") == 0
    assert main.inspect("schemas") == lake.inspect("db.t$schemas")
    main.branches().create("b")
    branch = lake.table("db.t@branch:b")
    assert (branch.branch, branch.label, branch.table_path) == ("b", "db.t@branch:b", main.table_path)
    assert branch.tags().branch == "b"
    assert branch.schema() == main.schema()


def test_a_state_is_not_looked_after_and_a_missing_table_is_told_when_it_is_asked(lake: lakebed.Lake) -> None:
    with pytest.raises(UsageError, match="LB3668"):
        lake.table("db.t@3").tags()
    with pytest.raises(NotFoundError):
        lake.table("db.other").schema()
    with pytest.raises(NotFoundError, match="LB5590"):
        lake.table("db.t").inspect("nothing")


def set_as_another_engine(lake: lakebed.Lake, table: str, **changes: Any) -> None:
    """What Lakebed itself does not set, it still has to notice."""
    schemas = lake.table(table).schemas
    path = schemas.path(schemas.ids()[-1])
    stored = json.loads(lake.store.read(path))
    stored |= changes | {"options": stored["options"] | changes.get("options", {})}
    lake.store.replace(path, json.dumps(stored).encode())


def another_primary_branch(lake: lakebed.Lake) -> None:
    set_as_another_engine(lake, "db.t", options={"scan.primary-branch": "b"})


def another_type_on_the_fallback_branch(lake: lakebed.Lake) -> None:
    lake.branches("db.t").create("b")
    lake.tables.alter_table("db", "t", [{"action": "updateColumnType", "fieldNames": ["a"], "newDataType": "BIGINT"}])
    set_as_another_engine(lake, "db.t", options={"scan.fallback-branch": "b"})


def an_unreadable_fallback_branch(lake: lakebed.Lake) -> None:
    lake.branches("db.t").create("b")
    set_as_another_engine(lake, "db.t@branch:b", options={"scan.primary-branch": "c"})
    set_as_another_engine(lake, "db.t", options={"scan.fallback-branch": "b"})


@pytest.mark.parametrize("name", [name for name in READS if name != "inspect"])
@pytest.mark.parametrize(
    "fault", [another_primary_branch, another_type_on_the_fallback_branch, an_unreadable_fallback_branch]
)
def test_every_call_refuses_what_a_read_refuses(
    lake: lakebed.Lake, fault: Callable[[lakebed.Lake], None], name: str
) -> None:
    fault(lake)
    spark = {} if name in ("count", "explain_read", "check_read") else {"spark": mock.MagicMock()}
    with pytest.raises(UnsupportedError, match="LB5053"):
        getattr(lake, name)(table="db.t", **spark)


@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize("name", [name for name in READS if name != "inspect"])
@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("LB5500", {"merge-engine": "keep-some"}),
        ("LB5506", {"merge-engine": "aggregation", "fields.v.nested-sequence-field": "x"}),
        ("LB5509", {"sequence.field": "w"}),
    ],
)
def test_rules_of_a_merge_are_refused_where_rows_are_merged(
    tmp_path: Path, code: str, options: dict[str, str], name: str, files: int
) -> None:
    made = KeyedTable(tmp_path, "t", {"k": ("INT", pa.int32()), "v": ("INT", pa.int32())}, options=options)
    for number in range(files):
        made.add([Record(INSERT, number, {"k": 1, "v": number})])
    made.commit()
    lake = lakebed.open(tmp_path)
    call = partial(getattr(lake, name), table="db.t")
    if name in ("read", "cast_errors"):
        call = partial(call, spark=mock.MagicMock())
    if files > 1 or code == "LB5500":
        with pytest.raises(LakebedError) as caught:
            call()
        assert caught.value.code == code
    elif name not in ("read", "cast_errors"):
        call()


@pytest.mark.parametrize(
    ("method", "keyword", "said"),
    [
        ("explain_read", "snapshots", "did you mean 'snapshot'"),
        ("explain_read", "on_cast_error", "there are snapshot"),
        ("count", "limit", "there are spark, scratch, snapshot"),
        ("count", "scrach", "did you mean 'scratch'"),
        ("check_read", "wheer", "did you mean 'where'"),
        ("request", "watermarks", "did you mean 'watermark'"),
    ],
)
def test_keywords_that_a_call_does_not_take_are_refused(
    lake: lakebed.Lake, method: str, keyword: str, said: str
) -> None:
    with pytest.raises(TypeError, match=keyword) as caught:
        getattr(lake.table("db.t"), method)(**{keyword: None})
    assert str(caught.value).startswith(f"Table.{method}() got an unexpected keyword argument {keyword!r}; ")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "method", ["ingest", "read", "cast_errors", "read_changes", "inspect", "read_system_table", "drop_partitions"]
)
def test_calls_with_more_parameters_refuse_them_too(lake: lakebed.Lake, method: str) -> None:
    more = {"read_changes": {"since": 0}, "read_system_table": {"system": "files"}, "ingest": {"source": "x"}}
    with pytest.raises(TypeError, match=rf"Table\.{method}\(\) got an unexpected keyword argument 'nothing'"):
        getattr(lake.table("db.t"), method)("files", nothing=1, **more.get(method, {}))


def test_help_lists_the_keywords_that_a_call_takes() -> None:
    classes = vars(arguments) | vars(table)
    checked = 0
    for name, method in inspect.getmembers(Table, inspect.isfunction):
        asked = inspect.signature(method).parameters.get("asked")
        if asked is not None:
            said = re.findall("`([a-z_]+)`", (method.__doc__ or "").partition("Keywords: ")[2])
            keywords = classes[asked.annotation.removeprefix("Unpack[").removesuffix("]")]
            assert sorted(said) == sorted(keywords.__annotations__), name
            checked += 1
    assert checked > 10


def test_one_metadata_column_may_be_a_name(lake: lakebed.Lake) -> None:
    assert lake.table("db.t").request(metadata_columns="_ROW_ID").metadata_columns == ("_ROW_ID",)
