"""Show a report as Markdown for a comment on a pull request: totals, changes in tables, details folded away.

The dialect is GitHub's, which GitLab reads too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from lakebed.diagnostics import Severity
from lakebed.evolve.verdicts import Verdict
from lakebed.printable import encodable, one_line
from lakebed.render.findings import Finding, PathOf, Report, Subject

#: GitHub takes no longer comment than 65,536 characters.
MOST_CHARACTERS = 60_000
#: What Markdown or HTML takes for more than text, wherever it stands; a mention of somebody, a reference to an issue
#: and an emoji; and what begins a list or a heading where it stands first.
_SPECIAL = re.compile(
    r"(?P<escaped>[\\`*_\[\]~])|(?P<html>[<>|&])"
    r"|(?P<meaningful>[@#](?=\w)|:(?=(?:[a-z][a-z0-9_+-]*|[+-]1|100|1234):))"
)
_MARKUP = re.compile(r"[\\`*_\[\]~<>|&@#:!]")
_AT_START = re.compile(r"^([0-9]*)([-+#=.)])")
#: A space of no width, which is not seen and ends a name.
_NOTHING = "&#8203;"
#: A table shows so many changes at most, those that ask for attention before the others.
_MOST_CHANGES = 100
#: More rows than so many are folded away where all are safe, as those of a new table are.
_MOST_SAFE = 10
_LEVELS = {Severity.ERROR: "**error**", Severity.WARNING: "warning", Severity.NOTE: "note", None: ""}
_RANKS = {severity: rank for rank, severity in enumerate((*Severity, None))}
_VERDICTS = {
    Verdict.SAFE: "safe",
    Verdict.CAUTION: "caution",
    Verdict.BREAKING: "**breaking**",
    Verdict.FORBIDDEN: "**forbidden**",
}


def markdown_report(report: Report, path_of: PathOf) -> str:
    """The Markdown text. Its first line is a comment that is not shown, by which a bot finds what it wrote before.

    Where it would be longer than a comment may be, tables at the end are counted only.
    """
    head = [f"<!-- lakebed {_hidden(report.title)} -->", f"### lakebed {plain_text(report.title)}", ""]
    head += [plain_text(report.summary), ""]
    tail = list(_advice(report))
    room = MOST_CHARACTERS - sum(len(line) + 1 for line in (*head, *tail))
    blocks = [block for subject in report.subjects if (block := _subject(subject, report, path_of))]
    general = _problems(report.about(""), path_of)
    shown: list[str] = []
    for block in [*([general] if general else []), *blocks]:
        room -= len(block) + 2
        if room < 0:
            break
        shown += [block, ""]
    left = len(blocks) + bool(general) - len(shown) // 2
    if left:
        shown += [f"{left:,} more: too long for a comment.", ""]
    return "\n".join([*head, *shown, *tail]).rstrip("\n")


def code_span(text: str) -> str:
    """The text in a font of fixed width, whatever it holds, also in a cell of a table; nothing for an empty text."""
    text = one_line(encodable(text)).strip()
    if not text:
        return ""
    if "|" in text:
        # A bar would end the cell, and no escape of it is read alike by all.
        return f"<code>{_MARKUP.sub(_entity, text)}</code>"
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if "`" in (text[0], text[-1]) else ""
    return f"{fence}{space}{text}{space}{fence}"


def plain_text(text: str) -> str:
    """The text as it is read, whatever it holds, without mentions, references or links; line breaks become spaces."""
    text = _SPECIAL.sub(_as_text, one_line(encodable(" ".join(text.split()))))
    return _AT_START.sub(r"\1\\\2", text)


def _as_text(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "escaped":
            return f"\\{found[0]}"
        case "html":
            return _entity(found)
        case _:
            return found[0] + _NOTHING


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


def _hidden(text: str) -> str:
    """The text for a comment of HTML, which two dashes might end."""
    return re.sub("[^A-Za-z0-9_.=: -]|--", "_", text)


def _advice(report: Report) -> Iterator[str]:
    for line in report.advice:
        yield f"- {plain_text(line)}"
    if report.advice:
        yield ""
    if report.next_command is not None:
        yield f"Next: {code_span(report.next_command)}"


def _subject(subject: Subject, report: Report, path_of: PathOf) -> str:
    """What is said of one table or file; nothing where nothing was found."""
    findings = report.about(subject.name)
    if not findings and not subject.lines:
        return ""
    found = f"{len(findings):,} finding{'' if len(findings) == 1 else 's'}"
    status = subject.status if subject.file is None else found
    blocks = [f"#### {code_span(subject.name)}: {plain_text(status)}"]
    changes, left = _most_important([f for f in findings if f.change is not None])
    if changes and len(changes) > _MOST_SAFE and all(f.severity is None for f in changes):
        blocks.append(_folded(f"{len(changes):,} changes", [_changes(changes)]))
    elif changes:
        blocks.append(_changes(changes))
    if left:
        blocks.append(f"{left:,} more changes.")
    if subject.lines:
        blocks.append("\n".join(f"- {plain_text(line)}" for line in subject.lines))
    problems = _problems([f for f in findings if f.change is None], path_of)
    if problems:
        blocks.append(problems)
    details = [line for f in changes for line in _details(f, path_of)]
    if details:
        blocks.append(_folded("Details", details))
    return "\n\n".join(blocks)


def _most_important(changes: Sequence[Finding]) -> tuple[Sequence[Finding], int]:
    """The changes that are shown, in their order, and how many are not."""
    ranked = sorted(range(len(changes)), key=lambda i: _RANKS[changes[i].severity])
    return [changes[i] for i in sorted(ranked[:_MOST_CHANGES])], max(len(changes) - _MOST_CHANGES, 0)


def _folded(summary: str, lines: Iterable[str]) -> str:
    return "\n".join([f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"])


def _changes(findings: Sequence[Finding]) -> str:
    """A row for each change."""
    rows = [_change(f) for f in findings]
    return _table(("", "id", "what", "before", "after", "verdict", "code", "reason"), rows)


def _change(finding: Finding) -> tuple[str, ...]:
    change = finding.change
    assert change is not None, "only changes are rows"
    verdict = _VERDICTS[finding.verdict] if finding.verdict is not None else ""
    if finding.severity is Severity.WARNING and finding.verdict is Verdict.BREAKING:
        verdict += " (approved)"
    return (
        code_span(change.sign),
        "" if change.field_id is None else str(change.field_id),
        code_span(change.name),
        code_span(change.before or ""),
        code_span(change.after or ""),
        verdict,
        finding.code,
        plain_text(finding.reason or ""),
    )


def _details(finding: Finding, path_of: PathOf) -> Iterator[str]:
    """What can be done about a change, and where it was declared; nothing of a safe one."""
    if finding.severity is not None:
        place = _place(finding, path_of)
        yield f"- {plain_text(finding.message)}{f', at {place}' if place else ''}"
        yield from (f"  - {_remedy(remedy)}" for remedy in finding.remedies)


def _remedy(remedy: str) -> str:
    """A remedy; what gives leave can be copied."""
    word, colon, command = remedy.partition(": ")
    return f"{word}{colon}{code_span(command)}" if word == "leave" else plain_text(remedy)


def _problems(findings: Iterable[Finding], path_of: PathOf) -> str:
    """A row for each finding that is no change; nothing where there is none."""
    rows = [
        (_LEVELS[f.severity], f.code, _place(f, path_of), "<br>".join(map(plain_text, f.explanation.split("\n"))))
        for f in findings
    ]
    return _table(("level", "code", "place", "what"), rows) if rows else ""


def _place(finding: Finding, path_of: PathOf) -> str:
    position = finding.position
    if position is None or position.file is None:
        return ""
    return code_span(f"{path_of(position.file) or position.file}:{position.line}:{position.column}")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
