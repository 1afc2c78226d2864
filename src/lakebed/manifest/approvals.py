"""Decode approvals: changes of a table that may happen although they need leave, each with a reason and an expiry.

A plan is gated by them as by `--allow` on the command line; see `lakebed.evolve.manifest_approvals`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from lakebed.codes import register
from lakebed.diagnostics import Position, near_names
from lakebed.manifest.nodes import Node, ScalarNode, SequenceNode, clipped, is_null
from lakebed.manifest.problems import Problems
from lakebed.manifest.properties import Properties, wrong_shape

_EXAMPLE = "{code: LB4203, path: note, reason: nobody reads it, until: 2026-12-31}"
#: A day as ISO 8601 writes it with dashes, and nothing else that Python takes for one.
DAY_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


@dataclass(frozen=True, slots=True)
class Approval:
    """Leave for changes of one code, of one column or of all of the table.

    `path` is what stands behind `CODE:` in `--allow`: a column's path, an option, or `.comment` and the like for a part
    of the table itself; None for every change of the code. `until` is the last day on which it counts, in the lake's
    time zone. `by` says who has given it.
    """

    code: str
    reason: str
    until: date
    path: str | None = None
    by: str | None = None
    position: Position | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """As `--allow` would say it: `CODE` or `CODE:path`."""
        return self.code if self.path is None else f"{self.code}:{self.path}"

    def covers(self, code: str, path: str) -> bool:
        """Whether it gives leave for a change of a code, by what it is approved as."""
        return self.code == code and self.path in (None, path)

    def to_json(self) -> dict[str, Any]:
        """As it stands in a manifest."""
        parts = {"code": self.code, "path": self.path, "reason": self.reason, "until": self.until.isoformat()}
        return {name: value for name, value in {**parts, "by": self.by}.items() if value is not None}


def decode_approvals(node: Node | None, what: str, problems: Problems) -> tuple[Approval, ...]:
    """The approvals in a list; faulty ones are noted and left out."""
    if node is None or is_null(node):
        return ()
    if not isinstance(node, SequenceNode):
        wrong_shape(problems, node, f"`{what}`", "a list of approvals", remedy=f"Write for example `- {_EXAMPLE}`.")
        return ()
    found = [_approval(item, f"an approval in `{what}`", problems) for item in node.items]
    return tuple(approval for approval in found if approval is not None)


def _approval(node: Node, what: str, problems: Problems) -> Approval | None:
    given = Properties.of(node, what, problems)
    if given is None:
        return None
    code = _code(given.name("code", "code: LB4203"), problems)
    path = given.text("path")
    reason = _reason(given.name("reason", "reason: nobody reads it any more"), what, problems)
    until = _day(given.name("until", "until: 2026-12-31"), problems)
    by = given.text("by")
    given.close()
    if code is None or reason is None or until is None:
        return None
    return Approval(code, reason, until, path, by, node.position)


def _code(node: ScalarNode | None, problems: Problems) -> str | None:
    if node is None or node.text in register():
        return None if node is None else node.text
    problems.error(
        "LB1085",
        f"{clipped(node.text)} is no code, and approves nothing",
        node,
        expected="a code that a plan tells, such as LB4203",
        found=node.text,
        suggestions=near_names(node.text, register()),
        remedy="Write the code that `lakebed plan` tells beside the change.",
    )
    return None


def _reason(node: ScalarNode | None, what: str, problems: Problems) -> str | None:
    if node is None or node.text.strip():
        return None if node is None else node.text
    wrong_shape(problems, node, f"`reason` of {what}", "a text that is not blank")
    return None


def _day(node: ScalarNode | None, problems: Problems) -> date | None:
    if node is None:
        return None
    try:
        if re.fullmatch(DAY_PATTERN, node.text, re.ASCII):
            return date.fromisoformat(node.text)
    except ValueError:
        pass  # A day that no month has is told as any other text is.
    message = f"{clipped(node.text)} is no day: an approval counts until one, that day included"
    remedy = "Write the year, the month and the day, as in `until: 2026-12-31`."
    problems.error("LB1086", message, node, expected="YYYY-MM-DD", found=node.text, remedy=remedy)
    return None
