"""Keeps what breaks a law still, in a file of lines `MODULE: WHAT  # reason`, which can only become less."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from architecture.laws import Finding


@dataclass(frozen=True, slots=True)
class Line:
    """A finding that is let stand, and why."""

    finding: Finding
    reason: str = ""

    @classmethod
    def of(cls, text: str) -> Line:
        rule, _, reason = text.partition("  # ")
        module, _, what = rule.strip().partition(": ")
        return cls((module, what), reason.strip())

    def __str__(self) -> str:
        return ": ".join(self.finding) + (f"  # {self.reason}" if self.reason else "")


class Allowance:
    """The lines of one file, which are as many as there are findings of their kind."""

    def __init__(self, path: Path) -> None:
        self.path = path
        texts = path.read_text(encoding="utf-8").splitlines()
        self._head = [text for text in texts if text.startswith("#")]
        self.lines = [Line.of(text) for text in texts if text.strip() and not text.startswith("#")]

    def new(self, found: Iterable[Finding]) -> list[Finding]:
        """What is found and not allowed."""
        return sorted((Counter(found) - Counter(line.finding for line in self.lines)).elements())

    def stale(self, found: Iterable[Finding]) -> list[Finding]:
        """What is allowed and not found any more."""
        return sorted((Counter(line.finding for line in self.lines) - Counter(found)).elements())

    def shrink(self, found: Iterable[Finding], *, follow: bool) -> None:
        """Take stale lines away; `follow` lets one stand for the same finding in another module, if it has moved."""
        findings = list(found)
        new, stale = self.new(findings), self.stale(findings)
        kept = []
        for line in self.lines:
            if line.finding not in stale:
                kept.append(line)
                continue
            stale.remove(line.finding)
            moved = next((other for other in new if follow and other[1] == line.finding[1]), None)
            if moved is not None:
                new.remove(moved)
                kept.append(Line(moved, line.reason))
        self.lines = sorted(kept, key=str)
        self.path.write_text("\n".join([*self._head, *map(str, self.lines)]) + "\n", encoding="utf-8")
