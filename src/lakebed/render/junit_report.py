"""Show a report as JUnit XML: a suite for each table or file, a case for each finding.

What lacks leave, is forbidden or is an error has failed; all else has passed. The elements are those of Jenkins' schema
that other readers know, too.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from lakebed.diagnostics import Severity
from lakebed.printable import encodable, printable
from lakebed.render.findings import Finding, PathOf, Report, Subject

_NONE = "0"
#: Beside the control characters, which `printable` escapes.
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")


def junit_report(report: Report, path_of: PathOf) -> str:
    """The XML text. A table or file of which nothing was found is a suite of one case, which has passed."""
    root = ElementTree.Element("testsuites", name=_clean(f"lakebed {report.title}"))
    subjects = [*report.subjects, *([Subject("", report.summary)] if report.about("") else [])]
    failures = tests = 0
    for subject in subjects:
        suite = _suite(subject, report, path_of)
        failures += int(suite.attrib["failures"])
        tests += int(suite.attrib["tests"])
        root.append(suite)
    root.attrib.update(tests=str(tests), failures=str(failures), errors=_NONE, time=_NONE)
    ElementTree.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ElementTree.tostring(root, encoding='unicode')}"


def _suite(subject: Subject, report: Report, path_of: PathOf) -> ElementTree.Element:
    name = _clean(subject.name or report.title)
    findings = report.about(subject.name)
    suite = ElementTree.Element("testsuite", name=name)
    for finding in findings:
        suite.append(_case(finding, name, path_of))
    if not findings:
        ElementTree.SubElement(suite, "testcase", name=_clean(subject.status), classname=name, time=_NONE)
    failed = sum(f.severity is Severity.ERROR for f in findings)
    counts = {"tests": str(max(len(findings), 1)), "failures": str(failed)}
    suite.attrib.update(counts, errors=_NONE, skipped=_NONE, time=_NONE)
    return suite


def _case(finding: Finding, classname: str, path_of: PathOf) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase", name=_clean(f"{finding.title}: {finding.message}"), classname=classname, time=_NONE
    )
    place, position = "", finding.position
    if position is not None:
        path = (path_of(position.file) if position.file else None) or position.file
        place = f"\nat {path or '<text>'}:{position.line}:{position.column}"
    said = _clean(finding.explanation + place)
    if finding.severity is Severity.ERROR:
        failure = ElementTree.SubElement(case, "failure", message=_clean(finding.message), type=finding.title)
        failure.text = said
    else:
        ElementTree.SubElement(case, "system-out").text = said
    return case


def _clean(text: str) -> str:
    """The text with escapes for what XML 1.0 cannot hold; line ends stay."""
    return _NO_CHARACTERS.sub(lambda found: found[0].encode("unicode_escape").decode(), printable(encodable(text)))
