"""What notebooks show: escaped, well formed, readable on light and dark backgrounds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakebed
from lakebed.catalog import TableName
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.doctor import Check, DoctorReport, State
from lakebed.evolve.apply import AppliedPlan, AppliedTable
from lakebed.ingest.run_history import IngestResult
from lakebed.inspection.system_table import SystemTable
from lakebed.model import Extra, Field, Int32, Schema
from lakebed.model.compare import compare
from lakebed.printable import encodable, one_line
from lakebed.readable import Displayable, Readable
from lakebed.render import markup

#: A name that would do harm, were it taken for HTML, for a command of a terminal, or for the direction of text.
HOSTILE = "<script>alert('1')</script>\"><img src=x onerror=alert(2)>&amp;\x1b[31m\u202e"
SHOWN = one_line(HOSTILE)
TAGS = {"div", "style", "p", "table", "thead", "tbody", "tr", "th", "td", "br", "span", "pre", "code"}


class Page(HTMLParser):
    """Reads HTML and fails for what is not closed, or is no element that a notebook is given."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text: list[str] = []
        self.tags: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        assert {name for name, _ in attrs} <= {"class", "scope"}, attrs
        self.tags.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text.append(data)

    def handle_comment(self, data: str) -> None:
        pytest.fail(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def page(value: Any) -> Page:
    return Page(value._repr_html_())


MANIFEST = """\
kind: Table
version: 1
content:
  name: db.t
  schema:
    fields:
      - {name: id, type: Int64}
      - {name: "<b>note</b>", type: {kind: Option, inner: String}}
      - {name: at, type: {kind: Struct, fields: [{name: x, type: Int32}]}}
"""


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    (tmp_path / "lake").mkdir()
    (tmp_path / "t.yaml").write_text(MANIFEST)
    lake = lakebed.open(tmp_path / "lake")
    lake.apply(lake.plan(tmp_path / "t.yaml"))
    return lake


def test_a_plan(lake: lakebed.Lake, tmp_path: Path) -> None:
    fields = MANIFEST.replace("      - {name: id, type: Int64}\n", "      - {name: id, type: Int32}\n")
    dropped = "".join(line for line in fields.splitlines(keepends=True) if "note" not in line)
    (tmp_path / "t.yaml").write_text(dropped)
    plan = lake.plan(tmp_path / "t.yaml")
    shown = page(plan).text
    for text in ("db.t: schema 0 to 1", "breaking", "drop column <b>note</b> (Option<String>)"):
        assert text in shown, shown
    assert 'lake.apply(plan, allow=["LB4203:<b>note</b>"])' in shown
    assert shown[-1].startswith("Tables: 1 to change.")
    assert "approved by LB4203" in page(plan.approved(["LB4203"])).text
    assert any(text.startswith("upgrade first: ") and "<b>note</b>" in text for text in shown), shown
    approval = "  approvals: [{code: LB4203, reason: unread since May, until: 2099-01-01}]\n  schema:"
    (tmp_path / "t.yaml").write_text(dropped.replace("  schema:", approval))
    assert any("unread since May" in text for text in page(lake.plan(tmp_path / "t.yaml")).text)
    assert page(plan.tables[0]).text[0] == "db.t: schema 0 to 1"
    (tmp_path / "t.yaml").write_text(MANIFEST.replace("db.t", "db.new"))
    assert "add column <b>note</b>: Option<String>" in page(lake.plan(tmp_path / "t.yaml")).text
    (tmp_path / "t.yaml").write_text(MANIFEST)
    assert page(lake.plan(tmp_path / "t.yaml")).text == ["No changes: db.t is as declared (schema 0)."]


def test_a_plan_that_undoes_what_others_made(lake: lakebed.Lake, tmp_path: Path) -> None:
    lake.tables.alter_table("db", "t", [{"action": "dropColumn", "fieldNames": ["<b>note</b>"]}])
    shown = page(lake.plan(tmp_path / "t.yaml")).text
    assert any("made outside of apply, which made version 0 last" in text for text in shown), shown
    assert "drop column <b>note</b> (Option<String>)" in shown


def test_schemas_histories_and_reads(lake: lakebed.Lake) -> None:
    schema = lake.schema("db.t")
    texts = page(schema).text
    assert texts[0] == "schema 0"
    assert {"<b>note</b>", "  x", "Int64"} <= set(texts)
    assert "<b>note</b>" in page(schema.logical).text
    assert page(lake.history("db.t")).text[0] == "db.t"
    assert "first version" in page(lake.history("db.t")).text
    assert "main, no snapshot, read as schema 0" in page(lake.explain_read("db.t")).text
    assert page(lake.inspect("db.t$schemas")).tags.count("tr") == 2
    changed = Schema(tuple(f for f in schema.logical.fields if f.name != "id"))
    assert {"different", "id", "removed", "Breaks consumers."} <= set(page(compare(schema.logical, changed)).text)


def test_what_a_read_opens_and_leaves_out(shared: Path) -> None:
    """With files: a table of another engine."""
    lake = lakebed.open(shared / "tables" / "parquet")
    found = lake.explain_read("parquet_append_table.parquet_append_table", where="f3 > 10000")
    texts = page(found).text
    assert {"files that are left out", "statistics: no row has f3 > 10000", "0 files, 0 rows, 0 bytes"} <= set(texts)
    texts = page(lake.explain_read("parquet_append_table.parquet_append_table")).text
    assert {"files that are read", "as it is"} <= set(texts)


def hostile_values() -> Iterator[Any]:
    warning = Diagnostic("LB4223", HOSTILE, Severity.WARNING, remedy=HOSTILE)
    yield IngestResult(HOSTILE, HOSTILE, 3, 5, 4, 1, 7, 8, skipped_files=(HOSTILE,), notices=(warning,))
    yield IngestResult(HOSTILE, HOSTILE, 3, 5, 4, 0, None, None, dry_run=True, ignored_columns=(HOSTILE,))
    yield AppliedPlan((AppliedTable(HOSTILE, 1, False, True, (HOSTILE, "x")),), (warning,))
    yield DoctorReport((Check(HOSTILE, State.FAIL, HOSTILE, "LB7070", HOSTILE, (HOSTILE,)),))
    yield SystemTable(HOSTILE, (), ())
    yield Schema((Field(HOSTILE, Int32()),), Extra({"x.org/y": HOSTILE}))


@pytest.mark.parametrize("value", list(hostile_values()), ids=lambda value: type(value).__name__)
def test_names_are_names_whatever_is_in_them(value: Any) -> None:
    assert SHOWN in "".join(page(value).text)


def test_stored_names_too(lake: lakebed.Lake) -> None:
    schema = lake.schema("db.t")
    fields = tuple(replace(field, name=HOSTILE, description=HOSTILE) for field in schema.fields[:1])
    assert SHOWN in "".join(page(replace(schema, fields=fields, comment=HOSTILE, options={HOSTILE: HOSTILE})).text)
    history = lake.history("db.t")
    version = replace(history.versions[0], changes=(HOSTILE,))
    assert SHOWN in page(replace(history, versions=(version,), name=TableName("a", "b"))).text


@given(st.text())
def test_any_text(value: str) -> None:
    assert "".join(Page(f"<p>{markup.text(value)}</p>").text) == one_line(encodable(value))


def test_long_tables_are_cut() -> None:
    rows = [(str(n),) for n in range(markup.MOST_ROWS + 3)]
    shown = Page(markup.table(("n",), rows))
    assert (shown.tags.count("tr"), shown.text[-1]) == (markup.MOST_ROWS + 1, "and 3 more")


def test_whatever_prints_is_shown() -> None:
    """Every class has a function that is there; where it has none of its own, its text is shown as it prints."""
    for cls in [Displayable, *subclasses(Displayable)]:
        module, _, function = cls.html_renderer.partition(":")
        assert callable(getattr(import_module(module), function)), cls
    own = {cls.__name__ for cls in subclasses(Displayable) if cls.html_renderer != Displayable.html_renderer}
    wanted = "Plan TablePlan AppliedPlan TableSchema Schema History IngestResult ReadExplanation SystemTable Comparison"
    assert own >= set(wanted.split())
    for cls in subclasses(Displayable):
        assert issubclass(cls, Readable) or cls.__name__ in own


def subclasses(cls: type) -> set[Any]:
    return {each for below in cls.__subclasses__() for each in (below, *subclasses(below))}


def test_other_results_are_shown_as_they_print(lake: lakebed.Lake) -> None:
    health = lake.health()
    assert "".join(page(health).text) == str(health)


# -- colours ----------------------------------------------------------------------------------------------------------

#: Background and text of JupyterLab, VS Code and GitHub, light and dark.
THEMES = {
    "jupyter light": ((255, 255, 255), (33, 33, 33)),
    "jupyter dark": ((17, 17, 17), (222, 222, 222)),
    "vscode light": ((255, 255, 255), (59, 59, 59)),
    "vscode dark": ((31, 31, 31), (204, 204, 204)),
    "github dark": ((13, 17, 23), (230, 237, 243)),
}


def test_no_colour_is_fixed() -> None:
    """Text has the colour of its surroundings, and what lies behind it lets them shine through."""
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgb\(|\bhsl\(|[:,]\s*(?:white|black)\b", markup._STYLE)
    assert set(re.findall(r"[;{]color:([^;}]+)", markup._STYLE)) == {"inherit"}
    assert set(re.findall(r"background:([a-z]+)", markup._STYLE)) == {"none", "rgba"}


@pytest.mark.parametrize("theme", THEMES)
def test_marks_can_be_read(theme: str) -> None:
    """WCAG's contrast of 4.5 between the text of each theme and the tint over its background."""
    background, text = THEMES[theme]
    tints = re.findall(r"background:rgba\((\d+),(\d+),(\d+),(\.\d+)\)", markup._STYLE)
    assert len(tints) == 4
    for red, green, blue, alpha in tints:
        colour = zip((int(red), int(green), int(blue)), background, strict=True)
        tinted = tuple(float(alpha) * over + (1 - float(alpha)) * under for over, under in colour)
        assert contrast(tinted, text) >= 4.5, (theme, red, green, blue)
        # And it can be told from the background.
        assert contrast(tinted, background) >= 1.1


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: tuple[float, ...]) -> float:
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (x / 255 for x in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_who_has_approved_a_change_and_who_upgrades_first(lake: lakebed.Lake, tmp_path: Path) -> None:
    kept = "".join(line for line in MANIFEST.splitlines(keepends=True) if "note" not in line)
    entry = '{code: LB4203, reason: "nobody <reads> it", until: 9999-12-31, by: shop}'
    (tmp_path / "t.yaml").write_text(kept.replace("  schema:", f"  approvals: [{entry}]\n  schema:"))
    plan = lake.plan(tmp_path / "t.yaml")
    shown = " ".join(page(plan).text)
    assert "approved by shop until 9999-12-31: nobody <reads> it (LB4203" in shown
    assert "upgrade first: readers of <b>note</b>; writers of <b>note</b>" in shown
    lake.apply(plan)
    assert "approved LB4203 by shop until 9999-12-31: nobody <reads> it" in " ".join(page(lake.history("db.t")).text)
