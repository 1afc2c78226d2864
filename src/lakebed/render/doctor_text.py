"""Show what the doctor's checks have found: a line each, and what to do about those that are not ok."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lakebed.printable import one_line
from lakebed.render.terminal import plain, styled, wrapped

if TYPE_CHECKING:
    from lakebed.doctor import Check, DoctorReport

_STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}
_STATE = max(map(len, _STYLES))


def doctor_text(report: DoctorReport, *, colour: bool = False, width: int | None = None) -> str:
    """The checks one below the other, then how many are not ok."""
    longest = max((len(check.name) for check in report.checks), default=0)
    lines = [line for check in report.checks for line in _check(check, longest, colour, width)]
    return "\n".join([*lines, "", _total(report)])


def _check(check: Check, longest: int, colour: bool, width: int | None) -> list[str]:
    indent = " " * (_STATE + longest + 4)
    said = [check.found, *check.details]
    if check.code is not None:
        said.append(f"{check.code}: `lakebed explain {check.code}`")
    if check.remedy is not None:
        said.append(f"remedy: {check.remedy}")
    room = None if width is None else width - len(indent)
    first, *others = (plain(line, colour) for text in said for line in wrapped(one_line(text), room))
    state = styled(check.state.value.ljust(_STATE), _STYLES[check.state.value], colour)
    return [f"{state}  {check.name.ljust(longest)}  {first}", *(indent + line for line in others)]


def _total(report: DoctorReport) -> str:
    states = Counter(check.state.value for check in report.checks)
    if not states["fail"] and not states["warn"]:
        return f"All {len(report.checks)} checks are ok."
    return f"{states['ok']} checks are ok, {states['warn']} warn, {states['fail']} failed."
