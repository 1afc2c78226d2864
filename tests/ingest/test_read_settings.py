"""How a run was told to read is kept, and what cannot be read again in this way is told."""

from __future__ import annotations

import pytest

from lakebed.errors import UnsupportedError
from lakebed.ingest.columns.column_names import UnknownColumns
from lakebed.ingest.read_settings import ReadSettings
from lakebed.ingest.sources.declared_source import DeclaredSource
from lakebed.ingest.sources.raw_source import RawSource
from lakebed.ingest.sources.source_files import SourceFormat
from lakebed.ingest.sources.source_options import check_options
from lakebed.physical import DataField, parse

SAID = ReadSettings(
    "csv", {"sep": ";", "header": "true"}, UnknownColumns.QUARANTINE, False, "op", ("a", "b"), {"a": "string"}
)


def test_what_is_kept_is_read() -> None:
    assert ReadSettings.parse(SAID.text) == SAID
    given = ReadSettings.given("csv", {"header": True}, unknown=UnknownColumns.FAIL, folders=True)
    assert given.options == {"header": "true"}


def test_what_runs_of_earlier_versions_said_of_unknown_columns() -> None:
    assert ReadSettings.parse('{"ignore_unknown":true}').unknown is UnknownColumns.IGNORE
    assert ReadSettings.parse('{"ignore_unknown":false}').unknown is UnknownColumns.FAIL


@pytest.mark.parametrize(
    "text", [None, "", "[]", "null", "{", '{"options": 1}', '{"header": 7}', '{"unknown_columns": "x"}']
)
def test_what_somebody_else_wrote_says_nothing(text: str | None) -> None:
    assert ReadSettings.parse(text) == ReadSettings()


def test_what_is_said_now_goes_before() -> None:
    assert SAID.put_over(None, {"SEP": ","}).options == {"header": "true", "SEP": ","}
    assert SAID.put_over("csv", None) == SAID
    other = SAID.put_over("json", {"dateFormat": "d.M.yyyy"})
    assert (other.format, other.options, other.row_kinds) == ("json", {"dateFormat": "d.M.yyyy"}, "op")


@pytest.mark.parametrize(
    ("was", "is_now", "refused"),
    [
        ("string", "BYTES", True),
        ("array<string>", {"type": "ARRAY", "element": "BYTES"}, True),
        ("binary", "BYTES", False),
        ("binary", "STRING", True),
        ("timestamp", "STRING", True),
        ("timestamp", "TIMESTAMP(6)", False),
        ("map<string,timestamp>", {"type": "MAP", "key": "STRING", "value": "TIMESTAMP(6)"}, False),
        ("string", "STRING", False),
        (None, "BYTES", True),
        (None, "STRING", False),
    ],
)
def test_what_json_would_make_another_value_of(was: str | None, is_now: object, refused: bool) -> None:
    settings = ReadSettings(types={} if was is None else {"c": was})
    fields = (DataField(0, "c", parse(is_now)), DataField(1, "d", parse("INT")))
    source = RawSource(
        DeclaredSource(SourceFormat.PARQUET, {}, None), check_options(None, None), settings, fields, (), is_typed=True
    )
    if not refused:
        source.refuse_other_values()
        return
    with pytest.raises(UnsupportedError, match="LB6561"):
        source.refuse_other_values()
