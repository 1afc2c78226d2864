"""Show branches, tags, versions, roll backs and orphan files."""

from __future__ import annotations

from datetime import timedelta

from lakebed.catalog.paths import MAIN
from lakebed.catalog.time_zone import zone_of
from lakebed.maintenance.branches import Branch
from lakebed.maintenance.durations import duration_text, millis_of
from lakebed.maintenance.expiry import Expiry
from lakebed.maintenance.fast_forward import FastForward
from lakebed.maintenance.orphans import OrphanReport
from lakebed.maintenance.rollback import RollBack
from lakebed.maintenance.tags import Tag
from lakebed.maintenance.versions import VersionReport
from lakebed.printable import one_line
from lakebed.render.iso_times import time_text
from lakebed.render.table_text import table_text

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_SHOWN = 20


def branches_text(table: str, branches: tuple[Branch, ...], *, width: int | None = None) -> str:
    """One line a branch."""
    if not branches:
        return f"{table} has no branches."
    rows = [(one_line(b.name), str(b.schema_id), _snapshots(b)) for b in branches]
    return table_text(("branch", "schema", "snapshots"), rows, right={1}, width=width)


def tags_text(table: str, tags: tuple[Tag, ...], time_zone: str, *, width: int | None = None) -> str:
    """One line a tag, the oldest snapshot first."""
    if not tags:
        return f"{table} has no tags."
    rows = [
        (
            one_line(tag.name),
            str(tag.snapshot.id),
            str(tag.snapshot.schema_id),
            "?" if tag.snapshot.total_record_count is None else f"{tag.snapshot.total_record_count:,}",
            time_text(tag.snapshot.time_millis, zone_of(time_zone)),
            "" if tag.retained is None else _duration(tag.retained),
        )
        for tag in sorted(tags, key=lambda tag: (tag.snapshot.id, tag.name))
    ]
    columns = ("tag", "snapshot", "schema", "rows", f"committed ({time_zone})", "kept for")
    return table_text(columns, rows, right={1, 2, 3}, width=width)


def fast_forward_text(gained: FastForward) -> str:
    """What the table gained."""
    parts = [
        *numbers_text("schema", gained.versions),
        *numbers_text("snapshot", gained.snapshots),
        *([f"tag{'s' if len(gained.tags) > 1 else ''} {', '.join(map(one_line, gained.tags))}"] if gained.tags else []),
    ]
    branch = one_line(gained.branch)
    if not parts:
        return f"{gained.name} is where branch {branch} is already."
    return f"{gained.name} is where branch {branch} is now: it gained {', '.join(parts)}."


def rollback_text(found: RollBack) -> str:
    """What goes, or went."""
    where = one_line(found.target)
    if found.is_noop and not found.done:
        return f"{found.name} is at {where} already."
    parts = [
        *numbers_text("schema", found.versions),
        *numbers_text("snapshot", found.snapshots),
        *([f"tag{'s' if len(found.tags) > 1 else ''} {', '.join(map(one_line, found.tags))}"] if found.tags else []),
        *numbers_text("changelog", found.changelogs),
    ]
    removed = ", ".join(parts) or "nothing"
    if found.done:
        return f"{found.name} is at {where} again. Removed: {removed}."
    return f"Rolling {found.name} back to {where} removes {removed}."


def expiry_text(found: Expiry) -> str:
    """What expires, or expired, and what keeps the rest."""
    name = str(found.name) if found.branch == MAIN else f"{found.name}@branch:{one_line(found.branch)}"
    held = f" Consumers keep later ones: {', '.join(map(one_line, found.held_by))}." if found.held_by else ""
    silent = ""
    if found.consumers:
        verb = "Removed" if found.done else "Would remove"
        names = ", ".join(map(one_line, found.consumers))
        silent = f" {verb} consumer{'s' if len(found.consumers) > 1 else ''} {names}, silent for too long."
    if not (found.snapshots or found.tags):
        return f"No snapshot of {name} expires.{held}{silent}"
    tags = [f"tag{'s' if len(found.tags) > 1 else ''} {', '.join(map(one_line, found.tags))}"] if found.tags else []
    what = ", ".join((*numbers_text("snapshot", found.snapshots), *tags))
    size = f"about {size_text(found.bytes)}"
    files = f"{count_text(found.data_files, 'data file')}, {count_text(found.metadata_files, 'metadata file')}, {size}"
    outside = f" {count_text(found.outside, 'file')} outside of the table stay." if found.outside else ""
    verb = "Removed" if found.done else "Would remove"
    return f"{verb} {what} of {name}: {files}. The first snapshot is {found.first}.{held}{outside}{silent}"


def versions_text(report: VersionReport, *, command_line: bool = False, width: int | None = None) -> str:
    """One line a version with what keeps it, and what can be or was removed, there or in Python."""
    gone = set(report.removed)
    rows = [(str(v.schema_id), _use(v.schema_id in gone, v.reasons)) for v in report.versions]
    table = table_text(("schema", "kept because of"), rows, right={0}, width=width)
    count = len(report.unused)
    if report.put_back:
        end = f"Put back, since a commit came to need them: {', '.join(map(str, report.put_back))}."
    elif gone:
        end = f"Removed {len(gone):,} of {count_text(len(report.versions), 'version')}."
    elif count:
        how = "--remove" if command_line else "lake.remove_versions"
        end = f"{count:,} of {count_text(len(report.versions), 'version')} can be removed; {how} does it."
    else:
        end = "No version can be removed."
    return f"{table}\n\n{end}"


def orphans_text(report: OrphanReport, *, command_line: bool = False) -> str:
    """The files that nothing refers to and how they are removed, there or in Python; or how many were."""
    all_of_them, how = ("--json lists all", "--remove") if command_line else ("`files` has all", "lake.remove_orphans")
    total = f"{count_text(len(report.files), 'file')}, {size_text(report.size)}"
    young = f" {count_text(report.young, 'younger file')} may be of a commit that is under way." if report.young else ""
    if report.removed:
        return f"Removed {total}.{young}"
    if not report.files:
        where = "the warehouse beside its tables" if report.name is None else report.name
        return f"No file of {where} that is older than {_duration(report.min_age)} is without use.{young}"
    shown = [f"{size_text(file.size):>10}  {one_line(file.path)}" for file in report.files[:_SHOWN]]
    more = len(report.files) - len(shown)
    lines = [*shown, *([f"{'':>10}  and {more:,} more ({all_of_them})"] if more else [])]
    return "\n".join([*lines, "", f"Nothing refers to {total}; {how} removes them.{young}"])


def _use(is_gone: bool, reasons: tuple[str, ...]) -> str:
    if is_gone:
        return "removed"
    return "; ".join(map(one_line, reasons)) or "nothing: can be removed"


def _snapshots(branch: Branch) -> str:
    if branch.latest_snapshot is None:
        return "none"
    if branch.first_snapshot in (None, branch.latest_snapshot):
        return str(branch.latest_snapshot)
    return f"{branch.first_snapshot} to {branch.latest_snapshot}"


def numbers_text(word: str, numbers: tuple[int, ...]) -> list[str]:
    """`snapshots 3 to 7` for a run, `snapshots 3, 5` for others."""
    if not numbers:
        return []
    plural = f"{word}s" if len(numbers) > 1 else word
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return [f"{plural} {numbers[0]} to {numbers[-1]}"]
    return [f"{plural} {', '.join(map(str, numbers))}"]


def count_text(count: int, word: str) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def size_text(size: int) -> str:
    """A size in bytes for people, in powers of 1024."""
    number, unit = float(size), 0
    while number >= 1024 and unit < len(_UNITS) - 1:
        number, unit = number / 1024, unit + 1
    return f"{size} B" if unit == 0 else f"{number:.1f} {_UNITS[unit]}"


def _duration(duration: timedelta) -> str:
    return duration_text(millis_of(duration))
