"""Check files of manifests against the rules, leave out what they ignore, and mend what is safe to mend."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from lakebed.codes import register
from lakebed.diagnostics import Diagnostic, Position, Severity, near_names
from lakebed.errors import ManifestError
from lakebed.lint.lint_rules import Finding, Fix, findings
from lakebed.lint.lint_settings import DEFAULT_LEVELS, LintSettings, is_rule
from lakebed.manifest.edit import edit_manifest
from lakebed.manifest.load import LoadedFile
from lakebed.manifest.table_manifest import TableManifest
from lakebed.manifest.text_layout import comments_of, read_layout

_MARK = "lakebed:"
_INSTRUCTION = re.compile(r"#\s*lakebed:\s*(.*)")
_IGNORE = re.compile(r"ignore\s+(LB\d{4}(?:\s*,\s*LB\d{4})*)\s*(.*)")
_OF_INSTRUCTIONS = "LB1711"


@dataclass(frozen=True, slots=True)
class LintReport:
    """What the rules say of one file; `fixes` can be made by `fix_text`, `ignored` were told to be left out."""

    source: str
    diagnostics: tuple[Diagnostic, ...] = ()
    fixes: int = 0
    ignored: int = 0


@dataclass(slots=True)
class _Instruction:
    """A comment that tells to leave findings of a line out."""

    codes: tuple[str, ...]
    reason: str
    position: Position
    line: int
    used: set[str] = field(default_factory=set)


def lint_files(files: Iterable[LoadedFile], settings: LintSettings) -> tuple[LintReport, ...]:
    """What the rules say of each file; of one that cannot be read, what is wrong with it."""
    return tuple(_report(file, settings) for file in files)


def fix_text(file: LoadedFile, settings: LintSettings) -> str:
    """The text of a file with all that is safe to mend mended; comments and all else stay as they are.

    Only a `kind: Table` is edited. What is told to be ignored stays.
    """
    text = file.text
    instructions = _instructions(file)
    for table in file.tables:
        kept, _ = _sorted_out(findings(table, settings), instructions)
        fixes = [finding.fix for finding in kept if finding.fix is not None]
        try:
            text = edit_manifest(text, _one_after_other(fixes), table=table.name, source=file.source) if fixes else text
        except ManifestError:
            # A document of another kind, or a place that only its author can edit: the finding stays.
            continue
    return text


def _one_after_other(fixes: list[Fix]) -> Fix:
    def mend(table: TableManifest) -> TableManifest:
        for fix in fixes:
            table = fix(table)
        return table

    return mend


def _report(file: LoadedFile, settings: LintSettings) -> LintReport:
    if any(d.severity is Severity.ERROR for d in file.diagnostics):
        return LintReport(file.source, file.diagnostics)
    instructions = _instructions(file)
    kept: list[Finding] = []
    ignored = 0
    for table in file.tables:
        found, left_out = _sorted_out(findings(table, settings), instructions)
        kept += found
        ignored += left_out
    own = list(_faults(file, instructions)) if settings.level(_OF_INSTRUCTIONS) != "off" else []
    told = [_levelled(d, settings) for d in [*(finding.diagnostic() for finding in kept), *own]]
    fixes = sum(finding.fix is not None for finding in kept)
    return LintReport(file.source, tuple(sorted(told, key=_place)), fixes, ignored)


def _levelled(diagnostic: Diagnostic, settings: LintSettings) -> Diagnostic:
    return replace(diagnostic, severity=Severity(settings.level(diagnostic.code)))


def _place(diagnostic: Diagnostic) -> tuple[int, int, str]:
    position = diagnostic.position
    return (position.line if position else 0, position.column if position else 0, diagnostic.code)


def _sorted_out(found: Iterable[Finding], instructions: list[_Instruction]) -> tuple[list[Finding], int]:
    """The findings that stay, and how many are ignored."""
    kept, ignored = [], 0
    for finding in found:
        line = finding.position.line if finding.position is not None else None
        asked = [i for i in instructions if i.line == line and finding.code in i.codes and i.reason]
        for instruction in asked:
            instruction.used.add(finding.code)
        ignored += bool(asked)
        if not asked:
            kept.append(finding)
    return kept, ignored


def _instructions(file: LoadedFile) -> list[_Instruction]:
    """The instructions of a file: one beside a line is about it, one on a line of its own about what comes next."""
    lines = file.text.split("\n")
    found: list[_Instruction] = []
    if _MARK not in file.text:
        return found
    try:
        documents = read_layout(file.text, file.source)
    except ManifestError:
        # A text that has no layout, such as one behind a directive of YAML, gives no instructions.
        return found
    for at, comment in comments_of(file.text, documents):
        match = _INSTRUCTION.match(comment)
        if match is None:
            continue
        number = file.text.count("\n", 0, at)
        column = at - (file.text.rfind("\n", 0, at) + 1)
        asked = _IGNORE.fullmatch(match[1].strip())
        codes = tuple(re.findall(r"LB\d{4}", asked[1])) if asked is not None else ()
        about = number if lines[number][:column].strip() else _next_line(lines, number + 1)
        reason = asked[2] if asked is not None else ""
        found.append(_Instruction(codes, reason, Position(file.source, number + 1, column + 1), about + 1))
    return found


def _next_line(lines: list[str], number: int) -> int:
    """The next line that is neither empty nor a comment."""
    while number < len(lines) and (not lines[number].strip() or lines[number].lstrip().startswith("#")):
        number += 1
    return number


def _faults(file: LoadedFile, instructions: list[_Instruction]) -> Iterator[Diagnostic]:
    """What is wrong with instructions: no code, no reason, a code that is no rule's, nothing to ignore."""
    for instruction in instructions:
        message, known = _fault(instruction)
        if message is not None:
            remedy = "write `# lakebed: ignore LB1705 why that is right here`, or take it out"
            yield Diagnostic(_OF_INSTRUCTIONS, message, position=instruction.position, remedy=remedy, suggestions=known)


def _fault(instruction: _Instruction) -> tuple[str | None, tuple[str, ...]]:
    if not instruction.codes:
        return "the comment gives an instruction that is none", ()
    for code in instruction.codes:
        if not is_rule(code):
            what = "a code of no rule" if code in register() else "no code"
            return f"{code} is {what}, and cannot be ignored", near_names(code, DEFAULT_LEVELS)
    if not instruction.reason:
        return f"the comment does not say why {', '.join(instruction.codes)} is ignored, so it is not", ()
    unused = [code for code in instruction.codes if code not in instruction.used]
    return (f"{', '.join(unused)} is not found here, and need not be ignored" if unused else None), ()
