"""Read the comments that tell to ignore findings, and say what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lakebed.codes import register
from lakebed.diagnostics import Diagnostic, Position, near_names
from lakebed.errors import ManifestError
from lakebed.lint.lint_settings import DEFAULT_LEVELS, is_rule
from lakebed.manifest.load import LoadedFile
from lakebed.manifest.text_layout import comments_of, read_layout, subjects_of

OF_INSTRUCTIONS = "LB1711"
_MARK = "lakebed:"
_INSTRUCTION = re.compile(r"#\s*lakebed:\s*(.*)")
_IGNORE = re.compile(r"ignore\s+(LB\d{4}(?:\s*,\s*LB\d{4})*)\s*(.*)")
_Place = tuple[int, int]


@dataclass(slots=True)
class Instruction:
    """A comment that tells to leave findings out, and from where to where: lines and columns from 1, end excluded."""

    codes: tuple[str, ...]
    reason: str
    position: Position
    begin: _Place
    end: _Place
    used: set[str] = field(default_factory=set)

    def covers(self, code: str, position: Position | None) -> bool:
        """Whether it is about findings of this code at this place, and says why."""
        if position is None or code not in self.codes or not self.reason:
            return False
        return self.begin <= (position.line, position.column) < self.end


def read_instructions(file: LoadedFile) -> list[Instruction]:
    """The instructions of a file. Each is about the key or the item that it stands above or beside."""
    if _MARK not in file.text:
        return []
    text = re.sub("\r\n?", "\n", file.text)
    try:
        documents = read_layout(text, file.source)
    except ManifestError:
        # A text that has no layout, such as one behind a directive of YAML, gives no instructions.
        return []
    subjects = {comment.at: (begin, end) for comment, begin, end in subjects_of(documents)}
    found = []
    for at, comment in comments_of(text, documents):
        match = _INSTRUCTION.match(comment)
        if match is not None:
            asked = _IGNORE.fullmatch(match[1].strip())
            codes = tuple(re.findall(r"LB\d{4}", asked[1])) if asked is not None else ()
            begin, end = (_place(text, i) for i in subjects.get(at, (at, at)))
            where = Position(file.source, *_place(text, at))
            found.append(Instruction(codes, asked[2] if asked is not None else "", where, begin, end))
    return found


def _place(text: str, at: int) -> _Place:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def instruction_faults(instructions: Iterable[Instruction]) -> Iterator[Diagnostic]:
    """What is wrong with instructions: no code, no reason, a code that is no rule's, nothing to ignore."""
    for instruction in instructions:
        message, known = _fault(instruction)
        if message is not None:
            asked = ", ".join(code for code in instruction.codes if is_rule(code)) or "LB1705"
            remedy = f"write `# lakebed: ignore {asked} why that is right here`, or take it out"
            yield Diagnostic(OF_INSTRUCTIONS, message, position=instruction.position, remedy=remedy, suggestions=known)


def _fault(instruction: Instruction) -> tuple[str | None, tuple[str, ...]]:
    if not instruction.codes:
        return "the comment gives an instruction that is none", ()
    for code in instruction.codes:
        if not is_rule(code):
            what = "a code of no rule" if code in register() else "no code"
            return f"{code} is {what}, and cannot be ignored", near_names(code, DEFAULT_LEVELS)
    if not instruction.reason:
        return f"the comment does not say why {', '.join(instruction.codes)} is ignored, so it is not", ()
    unused = [code for code in instruction.codes if code not in instruction.used]
    if not unused:
        return None, ()
    what = ", ".join(unused)
    return f"{what} is not found in what the comment stands above or beside, and need not be ignored", ()
