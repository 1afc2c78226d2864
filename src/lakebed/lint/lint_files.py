"""Check files of manifests against the rules, leave out what they ignore, and mend what is safe to mend."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lakebed.catalog.names import TableName
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import ManifestError
from lakebed.lint.ignore_comments import OF_INSTRUCTIONS, Instruction, instruction_faults, read_instructions
from lakebed.lint.lint_rules import Finding, Fix, findings
from lakebed.lint.lint_settings import LintSettings
from lakebed.manifest.edit import edit_manifest
from lakebed.manifest.load import LoadedFile
from lakebed.manifest.table_manifest import SourceKind, TableManifest

#: What could not be mended, and why.
_Refused = tuple[Finding, Diagnostic]


@dataclass(frozen=True, slots=True)
class LintReport:
    """What the rules say of one file; `fixes` can be made by `fix_text`, `ignored` were told to be left out."""

    source: str
    diagnostics: tuple[Diagnostic, ...] = ()
    fixes: int = 0
    ignored: int = 0


def lint_files(files: Iterable[LoadedFile], settings: LintSettings) -> tuple[LintReport, ...]:
    """What the rules say of each file; of one that cannot be read, what is wrong with it."""
    return tuple(_report(file, settings) for file in files)


@dataclass(frozen=True, slots=True)
class MendedText:
    """The text of a file after fixes, and notes of what they could not mend, each with the reason."""

    text: str
    diagnostics: tuple[Diagnostic, ...] = ()


def fix_text(file: LoadedFile, settings: LintSettings) -> MendedText:
    """The text of a file with all that is safe to mend mended; comments and all else stay as they are.

    Only a `kind: Table` is edited. What is told to be ignored stays. What cannot be mended hinders nothing else.
    """
    text = file.text
    refused: list[tuple[str, _Refused]] = []
    instructions = read_instructions(file)
    for table in file.tables:
        kept, _ = _sorted_out(findings(table, _of(table, file, settings)), instructions)
        wanted = [finding for finding in kept if finding.fix is not None]
        text, not_mended = _mended(text, wanted, table, file)
        refused += [(table.name, each) for each in not_mended]
    # What was mended above them moved what is left.
    left = LoadedFile.parse(text, file.source, file.substitutions).tables if refused else ()
    places = {(t.name, f.code, f.path): f.position for t in left for f in findings(t, _of(t, file, settings))}
    notes = [_not_mended(replace(f, position=places.get((name, f.code, f.path))), d) for name, (f, d) in refused]
    return MendedText(text, tuple(notes))


def _mended(text: str, found: list[Finding], table: TableManifest, file: LoadedFile) -> tuple[str, list[_Refused]]:
    """The text with all mended that can be, and the others. Where not all can at once, each half is tried alone."""
    fixes = [finding.fix for finding in found if finding.fix is not None]
    if not fixes:
        return text, []
    try:
        mend, given = _one_after_other(fixes), file.substitutions
        return edit_manifest(text, mend, table=table.name, source=file.source, substitutions=given), []
    except ManifestError as error:
        if len(found) == 1 or table.source_kind is not SourceKind.TABLE:
            return text, [(finding, error.diagnostics[0]) for finding in found]
    middle = len(found) // 2
    text, first = _mended(text, found[:middle], table, file)
    text, second = _mended(text, found[middle:], table, file)
    return text, [*first, *second]


def _not_mended(finding: Finding, reason: Diagnostic) -> Diagnostic:
    what = finding.path or finding.code
    message = f"{finding.code} of {what} is not mended: {reason.message}"
    remedy = f"mend it by hand: {finding.remedy}" if finding.remedy else reason.remedy
    return Diagnostic(reason.code, message, Severity.NOTE, finding.position, finding.path, remedy=remedy)


def _one_after_other(fixes: list[Fix]) -> Fix:
    def mend(table: TableManifest) -> TableManifest:
        for fix in fixes:
            table = fix(table)
        return table

    return mend


def _report(file: LoadedFile, settings: LintSettings) -> LintReport:
    if any(d.severity is Severity.ERROR for d in file.diagnostics):
        return LintReport(file.source, file.diagnostics)
    instructions = read_instructions(file)
    told: list[Diagnostic] = []
    fixes = ignored = 0
    for table in file.tables:
        its = _of(table, file, settings)
        found, left_out = _sorted_out(findings(table, its), instructions)
        told += [_levelled(finding.diagnostic(), its) for finding in found]
        fixes += sum(finding.fix is not None for finding in found)
        ignored += left_out
    if settings.level(OF_INSTRUCTIONS) != "off":
        told += [_levelled(d, settings) for d in instruction_faults(instructions)]
    return LintReport(file.source, tuple(sorted(told, key=_place)), fixes, ignored)


def _of(table: TableManifest, file: LoadedFile, settings: LintSettings) -> LintSettings:
    """The settings for a table of a file."""
    return settings.of_table(str(TableName.parse(table.name)), file.source)


def _levelled(diagnostic: Diagnostic, settings: LintSettings) -> Diagnostic:
    return replace(diagnostic, severity=Severity(settings.level(diagnostic.code)))


def _place(diagnostic: Diagnostic) -> tuple[int, int, str]:
    position = diagnostic.position
    return (position.line if position else 0, position.column if position else 0, diagnostic.code)


def _sorted_out(found: Iterable[Finding], instructions: list[Instruction]) -> tuple[list[Finding], int]:
    """The findings that stay, and how many are ignored."""
    kept, ignored = [], 0
    for finding in found:
        asked = [i for i in instructions if i.covers(finding.code, finding.position)]
        for instruction in asked:
            instruction.used.add(finding.code)
        ignored += bool(asked)
        if not asked:
            kept.append(finding)
    return kept, ignored
