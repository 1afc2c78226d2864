"""Reports in the formats of other programs: whatever names and texts hold, it is read back as it was."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lakebed.diagnostics import Position, Severity
from lakebed.evolve.verdicts import Verdict
from lakebed.printable import encodable, one_line
from lakebed.render.findings import ChangedPart, Finding, Report, Subject
from lakebed.render.github_annotations import github_annotations
from lakebed.render.gitlab_report import gitlab_report
from lakebed.render.junit_report import junit_report
from lakebed.render.markdown_report import MOST_CHARACTERS, code_span, markdown_report, plain_text

MARKDOWN = MarkdownIt("commonmark").enable("table").enable("strikethrough")
TEXTS = st.text(max_size=30) | st.text("`|\\*_<>&#@[]()~:1.-+= \n\tax", max_size=20)
PLACES = st.builds(Position, st.sampled_from(["a.yaml", "b/c.yaml", "<stdin>"]), st.integers(1, 99), st.just(3))


def path_of(file: str) -> str | None:
    return None if file.startswith("<") else f"schemas/{file}"


FINDINGS = st.builds(
    Finding,
    st.sampled_from(["LB4203", "LB4206"]),
    st.none() | st.sampled_from(Severity),
    TEXTS,
    st.sampled_from(["", "shop.a", "shop.b"]),
    st.none() | TEXTS,
    st.lists(TEXTS, max_size=2).map(tuple),
    st.none() | PLACES,
    st.none() | st.sampled_from(Verdict),
    st.none() | st.builds(ChangedPart, st.sampled_from("+~->"), TEXTS, st.none() | st.integers(0, 9), TEXTS, TEXTS),
)
REPORTS = st.builds(
    Report,
    st.sampled_from(["plan", "plan env=prod"]),
    TEXTS,
    st.just((Subject("shop.a", "new table"), Subject("shop.b", "schema 1 to 2", ("a line",)))),
    st.lists(FINDINGS, max_size=5).map(tuple),
    st.lists(TEXTS, max_size=2).map(tuple),
    st.none() | TEXTS,
)


def shown(markdown: str) -> str:
    """The text that a paragraph of Markdown shows: no element in it but text, code and breaks."""
    opening, inline, closing = MARKDOWN.parse(markdown or "x")
    assert (opening.type, closing.type) == ("paragraph_open", "paragraph_close")
    return _text(inline) if markdown else ""


def _text(inline: object) -> str:
    out = []
    for token in inline.children:  # type: ignore[attr-defined]
        assert token.type in ("text", "text_special", "code_inline", "html_inline"), token
        out.append("" if token.type == "html_inline" else token.content)
    return "".join(out).replace("\u200b", "")


class TestMarkdown:
    @given(TEXTS)
    def test_a_text_is_read_as_it_was(self, text: str) -> None:
        wanted = one_line(encodable(" ".join(text.split()))).replace("\u200b", "")
        assert shown(plain_text(text)).strip() == wanted.strip()

    @given(TEXTS)
    def test_code_is_read_as_it_was(self, text: str) -> None:
        wanted = one_line(encodable(text)).strip().replace("\u200b", "")
        assert shown(code_span(text)) == wanted

    @given(st.lists(TEXTS, min_size=8, max_size=8))
    def test_a_row_has_its_cells(self, texts: list[str]) -> None:
        change = ChangedPart("~", texts[0], 3, texts[1], texts[2])
        finding = Finding("LB4205", None, "m", "t", texts[3], verdict=Verdict.SAFE, change=change)
        report = Report("plan", "one", (Subject("t", "schema 0 to 1"),), (finding,))
        tokens = MARKDOWN.parse(markdown_report(report, path_of))
        cells = [_text(tokens[i + 1]) for i, token in enumerate(tokens) if token.type == "td_open"]
        code = [one_line(encodable(text)).strip().replace("\u200b", "") for text in texts[:3]]
        reason = one_line(encodable(" ".join(texts[3].split()))).strip().replace("\u200b", "")
        assert [cell.strip() for cell in cells] == ["~", "3", *code, "safe", "LB4205", reason]

    @pytest.mark.parametrize("text", ["ask @team", "#12", "see @team/#3", "a:tada:", ":+1:", "GH a@b.c"])
    def test_nobody_is_mentioned_and_nothing_referred_to(self, text: str) -> None:
        assert "&#8203;" in plain_text(text)

    @given(REPORTS)
    def test_its_first_line_is_always_the_same(self, report: Report) -> None:
        made = markdown_report(report, path_of)
        assert made.startswith(f"<!-- lakebed {report.title} -->\n")
        assert made.count("-->") == 1
        assert made.count("<details>") == made.count("</details>")

    def test_a_name_cannot_end_the_comment_that_is_not_shown(self) -> None:
        made = markdown_report(Report("plan env=--><b>", ""), path_of)
        assert made.startswith("<!-- lakebed plan env=___b_ -->\n")

    def test_a_comment_is_no_longer_than_a_comment_may_be(self) -> None:
        findings = [
            Finding("LB4203", Severity.ERROR, "drop", f"shop.t{i}", "r" * 300, change=ChangedPart("-", "c", i))
            for i in range(400)
        ]
        subjects = tuple(Subject(f.subject, "schema 0 to 1") for f in findings)
        report = Report("plan", "many", subjects, tuple(findings), next_command="lakebed apply .")
        made = markdown_report(report, path_of)
        assert MOST_CHARACTERS - 1000 < len(made) <= MOST_CHARACTERS + 100
        assert made.endswith("Next: `lakebed apply .`")
        left = 400 - made.count("#### ")
        assert f"\n{left} more: too long for a comment.\n" in made

    def test_of_a_long_table_what_matters_is_shown(self) -> None:
        changes = [
            Finding("LB4205", Severity.ERROR if i % 50 == 49 else None, "m", "t", change=ChangedPart("~", f"c{i}", i))
            for i in range(1000)
        ]
        made = markdown_report(Report("plan", "", (Subject("t", "schema 0 to 1"),), tuple(changes)), path_of)
        shown = [i for i in range(1000) if f"| `c{i}` |" in made]
        assert (len(shown), [i for i in shown if i % 50 == 49]) == (100, list(range(49, 1000, 50)))
        assert "\n900 more changes.\n" in made


class TestGitLab:
    @given(REPORTS)
    def test_every_finding_that_asks_for_attention_is_an_issue(self, report: Report) -> None:
        issues = json.loads(gitlab_report(report, path_of))
        told = [f for f in report.findings if f.severity is not None]
        assert [i["check_name"] for i in issues] == [f.code for f in told]
        assert len({i["fingerprint"] for i in issues}) == len(issues)
        for issue, finding in zip(issues, told, strict=True):
            assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
            assert (issue["severity"] in ("critical", "blocker")) == (
                finding.severity is Severity.ERROR or finding.verdict is Verdict.FORBIDDEN
            )
            known = finding.position is not None and finding.position.file != "<stdin>"
            place = issue["location"]["path"], issue["location"]["lines"]["begin"]
            wanted = (f"schemas/{finding.position.file}", finding.position.line) if known and finding.position else None
            assert place == (wanted or ("lakebed.toml", 1))

    @given(FINDINGS.filter(lambda f: f.severity is not None and f.position is not None), st.integers(1, 99))
    def test_a_line_that_moves_is_no_new_finding(self, finding: Finding, line: int) -> None:
        assert finding.position is not None
        moved = replace(finding, position=replace(finding.position, line=line))
        first, second = (json.loads(gitlab_report(Report("plan", "", (), (f,)), path_of)) for f in (finding, moved))
        assert first[0]["fingerprint"] == second[0]["fingerprint"]


#: What Jenkins' schema allows of what is written: attributes, those that have to be there marked, and elements inside.
JUNIT = {
    "testsuites": ({"name", "tests", "failures", "errors", "time"}, {"testsuite"}),
    "testsuite": ({"name!", "tests!", "failures!", "errors!", "skipped", "time"}, {"testcase"}),
    "testcase": ({"name!", "classname", "time"}, {"failure", "system-out"}),
    "failure": ({"type", "message"}, set()),
    "system-out": (set(), set()),
}


class TestJUnit:
    @given(REPORTS)
    def test_it_is_what_the_schema_says_and_counts_right(self, report: Report) -> None:
        root = ElementTree.fromstring(junit_report(report, path_of).encode())
        for element in root.iter():
            attributes, inside = JUNIT[element.tag]
            assert set(element.attrib) <= {name.rstrip("!") for name in attributes}
            assert {name[:-1] for name in attributes if name.endswith("!")} <= set(element.attrib)
            assert {child.tag for child in element} <= inside
        suites = list(root)
        assert [s.get("name") for s in suites][:2] == ["shop.a", "shop.b"]
        assert len(suites) == 2 + bool(report.about(""))
        for suite in suites:
            assert int(suite.get("tests", "")) == len(suite) >= 1
            assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
        failed = sum(f.severity is Severity.ERROR for f in report.findings)
        assert (int(root.get("failures", "")), len(root.findall("*/*/failure"))) == (failed, failed)

    def test_characters_that_xml_does_not_have_are_escapes(self) -> None:
        report = Report("plan", "\ud800\ufffe", (Subject("a\x00", "b\x1b"),))
        root = ElementTree.fromstring(junit_report(report, path_of).encode())
        assert (root[0].get("name"), root[0][0].get("name")) == ("a\\x00", "b\\x1b")


class TestGitHub:
    @given(REPORTS)
    def test_a_line_for_each_finding_that_asks_for_attention(self, report: Report) -> None:
        told = [f for f in report.findings if f.severity is not None]
        lines = github_annotations(report, path_of).split("\n")
        assert [line.split(" ")[0] for line in lines if line] == [
            {"error": "::error", "warning": "::warning", "note": "::notice"}[f.severity or ""] for f in told
        ]
