"""What is advised about the options of a source: flags that a shell takes as they are, and arguments of Python."""

from __future__ import annotations

import shlex

import pytest

from lakebed.errors import UsageError
from lakebed.ingest.sources.remedies import reader_options, say, source_format
from lakebed.ingest.sources.source_files import SourceFormat, format_of
from lakebed.ingest.sources.source_options import check_options

CSV, JSON = SourceFormat.CSV, SourceFormat.JSON


@pytest.mark.parametrize("value", [";", "|", "\\t", "a b", "'", "$x"])
def test_a_shell_takes_the_flags_as_they_are(value: str) -> None:
    given = reader_options(sep=value)
    assert shlex.split(given.command) == ["--option", f"sep={value}"]
    assert given.python == f"options={ {'sep': value}!r}"


def test_a_sentence_for_each() -> None:
    said = say("give {}", source_format("json"))
    assert (said.command, said.python) == ("give --format json", "give format='json'")


def test_options_that_lines_and_documents_do_not_take() -> None:
    with pytest.raises(UsageError, match="JSON lines are read line by line") as error:
        check_options(JSON, {"multiLine": True})
    assert "`read: {kind: Json}`" in (error.value.diagnostics[0].remedy or "")
    with pytest.raises(UsageError, match="a JSON document is read as a whole") as error:
        check_options(JSON, {"multiLine": True}, is_document=True)
    assert "kind: Json" not in (error.value.diagnostics[0].remedy or "")


@pytest.mark.parametrize("option", ["multiLine", "nullValue"])
def test_a_read_that_overrides_the_name_is_told(option: str) -> None:
    with pytest.raises(UsageError, match=r"the table's `read` says what files are.*\(csv\)") as error:
        check_options(JSON, {option: "x"}, is_document=True, named=CSV)
    assert "--format csv" in (error.value.diagnostics[0].remedy or "")
    assert "format='csv'" in (error.value.diagnostics[0].python_remedy or "")


def test_problems_of_options_say_what_to_do() -> None:
    for format_, options in (
        (CSV, {"nulValue": "x"}),
        (CSV, {"encoding": "windows-1252"}),
        (CSV, {"header": "x"}),
        (CSV, {"encoding": "UTF-16", "multiLine": False}),
        (JSON, {"encoding": "UTF-16"}),
    ):
        with pytest.raises(UsageError) as error:
            check_options(format_, options)
        assert all(d.remedy for d in error.value.diagnostics), options
    with pytest.raises(UsageError) as error:
        check_options(CSV, {"encoding": "windows-1252"})
    remedy = error.value.diagnostics[0].remedy or ""
    assert "ISO-8859-1" in remedy
    assert "iconv -f WINDOWS-1252" in remedy


def test_a_name_that_says_no_format() -> None:
    with pytest.raises(UsageError) as error:
        format_of(["a.txt"], None)
    assert "--exclude" in (error.value.diagnostics[0].remedy or "")
    assert 'format="csv"' in (error.value.diagnostics[0].python_remedy or "")
