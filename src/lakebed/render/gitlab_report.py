"""Show a report as a code quality report of GitLab, which shows findings on the lines of a merge request.

The form is the part of Code Climate's issues that GitLab reads: `description`, `check_name`, `fingerprint`, `severity`
and `location`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

from lakebed.diagnostics import Severity
from lakebed.evolve.verdicts import Verdict
from lakebed.render.findings import Finding, PathOf, Report

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.NOTE: "info"}
#: A finding has to be somewhere: what is about the warehouse is where the warehouse is named.
_NOWHERE = "lakebed.toml"


def gitlab_report(report: Report, path_of: PathOf) -> str:
    """The JSON array of the findings that ask for attention.

    The fingerprint of a finding stays where its line moves, so that GitLab tells what is new.
    """
    seen: Counter[str] = Counter()
    issues = []
    for finding in report.findings:
        if finding.severity is not None:
            path, line = _place(finding, path_of)
            identity = json.dumps([path, finding.subject, finding.code, finding.message])
            seen[identity] += 1
            fingerprint = hashlib.sha256(f"{identity} {seen[identity]}".encode()).hexdigest()
            issues.append(_issue(finding, path, line, fingerprint))
    return json.dumps(issues, indent=2)


def _issue(finding: Finding, path: str, line: int, fingerprint: str) -> dict[str, Any]:
    return {
        "description": f"{finding.title}: {finding.explanation}",
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _severity(finding),
        "location": {"path": path, "lines": {"begin": line}},
    }


def _severity(finding: Finding) -> str:
    if finding.verdict is Verdict.FORBIDDEN:
        return "blocker"
    if finding.severity is Severity.WARNING and finding.verdict is Verdict.BREAKING:
        return "major"
    return _SEVERITIES[finding.severity] if finding.severity is not None else "info"


def _place(finding: Finding, path_of: PathOf) -> tuple[str, int]:
    position = finding.position
    path = path_of(position.file) if position is not None and position.file is not None else None
    return (_NOWHERE, 1) if path is None or position is None else (path, position.line)
