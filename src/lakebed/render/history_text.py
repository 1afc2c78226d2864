"""Show the history of a table: versions with what they changed, and snapshots, in order of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakebed.catalog.option_values import is_flagged
from lakebed.catalog.options import DELETION_VECTORS_ENABLED
from lakebed.catalog.time_zone import zone_of
from lakebed.format.commit_origin import CommitOrigin, operation_of
from lakebed.format.snapshot import Snapshot
from lakebed.inspection.history import History, Version
from lakebed.printable import one_line
from lakebed.render.iso_times import time_text
from lakebed.render.terminal import wrapped

#: Said of tables whose files may hold more rows than the table.
_OF_FILES = "; rows are those that files hold"
#: So much of the commit of git is shown.
_SHORT = 12
_INDENT = " " * len("2013-01-01 00:00:00  ")


def history_text(history: History, time_zone: str = "UTC", *, width: int | None = None) -> str:
    """Times are shown in `time_zone`, to the second. In `width` columns of a terminal long changes are wrapped."""
    zone = zone_of(time_zone)
    numbers = [v.schema.id for v in history.versions] + [s.id for s in history.snapshots]
    digits = max((len(str(n)) for n in numbers), default=1)
    deltas = [_count(s.delta_record_count, sign="+") for s in history.snapshots]
    longest = max(map(len, deltas), default=0)
    room = None if width is None else width - len(_INDENT) - 2
    events = [(v.schema.time_millis, _version(v, digits, room)) for v in history.versions]
    events += [
        (s.time_millis, _snapshot(s, digits, delta.rjust(longest)))
        for s, delta in zip(history.snapshots, deltas, strict=True)
    ]
    lines = [f"{history.name}  (times in {time_zone}{_OF_FILES if _holds_more(history) else ''})"]
    for millis, (first, *others) in sorted(events, key=lambda e: e[0]):
        lines.append(f"{time_text(millis, zone)}  {first}")
        lines += [_INDENT + line for line in others]
    return "\n".join(lines)


def _version(version: Version, digits: int, room: int | None) -> list[str]:
    columns = len(version.schema.fields)
    head = f"{_label('schema', version.schema.id, digits)}  {columns} column{'' if columns == 1 else 's'}"
    changes = [line for change in version.changes for line in _indented(one_line(change), room)]
    approvals = [line for a in version.approvals for line in _indented(one_line(approval_line(a)), room)]
    return [head, *changes, *approvals]


def approval_line(approval: Mapping[str, Any]) -> str:
    """An approval as the version keeps it."""
    code, path, until, by, reason = (approval.get(key) for key in ("code", "path", "until", "by", "reason"))
    return f"approved {code}{f':{path}' if path else ''}{f' by {by}' if by else ''} until {until}: {reason}"


def _indented(text: str, room: int | None) -> list[str]:
    return [f"{'' if i == 0 else '  '}{line}" for i, line in enumerate(wrapped(text, room))]


def _holds_more(history: History) -> bool:
    """Whether files may hold rows that are none of the table: older ones of a key, or such as a vector takes out."""
    if not (history.versions and history.snapshots):
        return False
    schema = history.versions[-1].schema
    return bool(schema.primary_keys) or is_flagged(schema.options, DELETION_VECTORS_ENABLED)


def _snapshot(snapshot: Snapshot, digits: int, delta: str) -> list[str]:
    total = _count(snapshot.total_record_count)
    what = f"{delta} rows = {total}  {one_line(operation_of(snapshot))}, schema {snapshot.schema_id}"
    return [f"{_label('snapshot', snapshot.id, digits)}  {what}{origin_text(snapshot)}"]


def origin_text(snapshot: Snapshot) -> str:
    """Who made it and from where, as far as it says so; the commit user where nothing else tells writers apart."""
    found = CommitOrigin.of(snapshot)
    who = "@".join(filter(None, (found.user, found.host)))
    commit = found.git_commit and f"git {found.git_commit[:_SHORT]}"
    parts = [part for part in (who, commit, found.engine) if part]
    return "".join(f", {one_line(part)}" for part in parts or [f"user {snapshot.commit_user}"])


def _label(kind: str, number: int, digits: int) -> str:
    return f"{kind} {number}".ljust(len("snapshot ") + digits)


def _count(count: int | None, *, sign: str = "") -> str:
    """A number of rows; very old snapshots do not know theirs."""
    return "?" if count is None else f"{count:{sign},}"
