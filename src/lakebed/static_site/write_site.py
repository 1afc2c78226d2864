"""Write a site into a directory, with nothing left of an earlier one; take over no other directory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import lakebed
from lakebed.codes import register
from lakebed.errors import UsageError
from lakebed.static_site.page_frame import CODES, DIAGRAM, INDEX, SCRIPT, STYLE, TABLES, Frame, known_codes
from lakebed.static_site.site_content import SiteContent, SiteTable
from lakebed.static_site.site_pages import code_page, codes_page, diagram_page, index_page
from lakebed.static_site.table_page import table_page

TAKEN = "LB7080"
#: What says that a directory holds a site.
_MARK = "lakebed-site.json"
_FORMAT = 1


def write_site(
    content: SiteContent, out: str | os.PathLike[str], *, title: str = "Lakebed", made_at: datetime | None = None
) -> int:
    """Write the site and return how many pages it has. `title` is what it is called; `made_at` is now, if not given.

    Pages of an earlier site that are not made again are removed. Raises `UsageError` (LB7080) for a directory that
    holds anything else, and `OSError` for what the file system refuses.
    """
    root = Path(out)
    _claim(root)
    written = set()
    for name, text in site_pages(content, title, made_at or datetime.now(UTC)):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        written.add(path)
    for old in (old for room in (TABLES, CODES) for old in (root / room).glob("*.html") if old not in written):
        old.unlink()
    return sum(path.suffix == ".html" for path in written)


def _claim(root: Path) -> None:
    """Make the directory, or take that of an earlier site."""
    if root.is_dir() and any(root.iterdir()) and not (root / _MARK).is_file():
        raise UsageError.of(
            TAKEN,
            f"{root} holds other things than a site",
            found=str(root),
            expected="an empty directory, a new one, or an earlier site",
            remedy="name a directory of its own",
        )
    root.mkdir(parents=True, exist_ok=True)
    # First, so that what an interrupted run has left is known as a site.
    (root / _MARK).write_text(json.dumps({"format_version": _FORMAT}) + "\n", encoding="utf-8")


def site_pages(content: SiteContent, title: str, made_at: datetime) -> Iterator[tuple[str, str]]:
    """Every file of the site by its name, which has `/` between directories, with its text."""
    for name in (STYLE, SCRIPT):
        yield name, files("lakebed.static_site").joinpath(name).read_text(encoding="utf-8")
    where: dict[str, list[tuple[SiteTable, str]]] = {}
    for table in content.tables:
        for code, said in table.occurrences():
            where.setdefault(code, []).append((table, said))
    told = {d.code for problems in content.unreadable.values() for d in problems}
    codes = known_codes({*where, *told})
    made = f"Made by Lakebed {lakebed.__version__} at {made_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC."
    frame, below = Frame(title, codes, made), Frame(title, codes, made, depth=1)
    yield INDEX, index_page(content, frame)
    yield DIAGRAM, diagram_page(content, frame)
    for table in content.tables:
        yield f"{TABLES}/{table.page}", table_page(table, below, content.time_zone)
    known = [register()[code] for code in sorted(codes)]
    yield f"{CODES}/{INDEX}", codes_page([(code, len(where.get(code.id, ()))) for code in known], below)
    for entry in known:
        yield f"{CODES}/{entry.id}.html", code_page(entry, where.get(entry.id, ()), below)
