"""Build the pages about all tables: the list with its search, the diagram, and the codes that occur."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from itertools import groupby
from textwrap import dedent

from lakebed.catalog.names import TableName
from lakebed.catalog.time_zone import zone_of
from lakebed.codes import Code
from lakebed.convert.people import owner, tags
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.model import Schema
from lakebed.model.logical_tree import fields_inside
from lakebed.model.type_name import type_name
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import fields_inside as stored_fields
from lakebed.printable import encodable, one_line
from lakebed.render.iso_times import time_text
from lakebed.render.markup import Markup, data_block, element, lines, mark, preformatted, void
from lakebed.render.notebook_html import SEVERITY_LOOKS
from lakebed.static_site.page_frame import (
    Frame,
    chips,
    facts,
    is_personal,
    personal_mark,
    prose,
    row,
    scrolled,
    section,
)
from lakebed.static_site.site_content import SiteContent, SiteTable
from lakebed.static_site.table_page import column_anchor

_HEADING = ("table", "description", "owner and tags", "columns", "schema", "rows", "changed")
#: Sizes of the diagram, in pixels of a screen that shows it as it is.
_WIDE, _HIGH, _GAP, _ACROSS, _TITLE = 190, 44, 10, 5, 30
#: A box shows so many characters of a name; the whole one is its title.
_LETTERS = 22
#: Of tables that have the same problem a page of a code tells so many.
MOST_OCCURRENCES = 500


def index_page(content: SiteContent, frame: Frame) -> str:
    """The tables, with a box that finds them and their columns."""
    zone = zone_of(content.time_zone)
    rows = [_row(table, frame, zone) for table in content.tables]
    find = void("input", type="search", id="find", placeholder="Find tables and columns", autocomplete="off")
    label = element("label", "Find tables and columns", **{"for": "find"}, kind="unseen")
    count = element("p", id="found", role="status", **{"aria-live": "polite"})
    finder = element("div", label, find, count, kind="finder", hidden="")
    listed = scrolled(_HEADING, rows, "Tables", "tables") if rows else element("p", "There are no tables.")
    unreadable = section("unreadable", "Tables that cannot be read", _unreadable(content.unreadable, frame))
    words = data_block("columns", [_words(table) for table in content.tables])
    return frame.page(frame.site, _totals(content), finder, listed, unreadable, words, kind="index")


def _totals(content: SiteContent) -> Markup:
    databases = len({table.name.database for table in content.tables})
    told = [("tables", f"{len(content.tables):,}"), ("databases", f"{databases:,}")]
    told += [("columns", f"{sum(len(table.schema.fields) for table in content.tables):,}")]
    return facts(told)


def _row(table: SiteTable, frame: Frame, zone: tzinfo) -> Markup:
    logical, newest = table.schema.logical, table.newest_snapshot
    who, labels = owner(logical.extra), tags(logical.extra) or []
    marks = [personal_mark()] if _is_personal(logical) else []
    levels = {d.severity for d in table.diagnostics} - {Severity.NOTE}
    if levels:
        marks.append(mark("problems", SEVERITY_LOOKS[min(levels, key=list(Severity).index)]))
    if table.history is None:
        marks.append(mark("declared", "good"))
    elif table.planned is not None and not table.planned.is_noop:
        marks.append(mark("not applied yet", "notice"))
    moments = [table.schema.time_millis, newest.time_millis if newest is not None else 0]
    cells = (
        element("span", frame.table_link(table.name, table.page), *marks),
        " ".join((table.schema.comment or "").split()),
        lines([*([who] if who else []), *([chips(labels)] if labels else [])]),
        f"{len(table.schema.fields):,}",
        "" if table.history is None else table.schema.id,
        "" if newest is None or newest.total_record_count is None else f"{newest.total_record_count:,}",
        element("time", time_text(max(moments), zone)) if table.history is not None else "",
    )
    return row(*cells)


def _is_personal(logical: Schema) -> bool:
    return any(is_personal(field.extra) for _, field in fields_inside(logical.fields))


def _words(table: SiteTable) -> list[list[str]]:
    """What the search finds of the columns of a table: path, type, description and tags, place on the page."""
    numbers = {path: str(f.id) for path, f in stored_fields(table.schema.fields)}
    return [
        [
            one_line(encodable(path_text(path))),
            type_name(field.type, members=False),
            one_line(encodable(" ".join([field.description or "", *(tags(field.extra) or [])]))).strip(),
            column_anchor(numbers.get(path), order),
        ]
        for order, (path, field) in enumerate(fields_inside(table.schema.logical.fields))
    ]


def _unreadable(found: Mapping[TableName, Sequence[Diagnostic]], frame: Frame) -> Markup:
    rows = [row(name, frame.code(d.code), d.message) for name, told in found.items() for d in told]
    return (
        scrolled(("table", "code", "why"), rows, "Tables that cannot be read", "unreadable-table") if rows else Markup()
    )


def diagram_page(content: SiteContent, frame: Frame) -> str:
    """The tables by database, as boxes that are links."""
    shown = []
    for database, tables in groupby(content.tables, key=lambda table: table.name.database):
        shown.append(_database(database, list(tables), frame))
    return frame.page(
        "Diagram",
        element("p", "Each box is a table, with its columns and keys; a dot is personal data.") if shown else "",
        *(shown or [element("p", "There are no tables.")]),
        kind="diagram",
    )


def _database(database: str, tables: Sequence[SiteTable], frame: Frame) -> Markup:
    across = min(len(tables), _ACROSS)
    down = -(-len(tables) // _ACROSS)
    width = max(across, 2) * (_WIDE + _GAP) + _GAP
    height = _TITLE + down * (_HIGH + _GAP) + _GAP
    frame_box = element("rect", x="1", y="1", width=str(width - 2), height=str(height - 2), rx="8", kind="database")
    title = element("text", _cut(database, 2 * _LETTERS), x=str(_GAP + 4), y="21", kind="title")
    boxes = [
        _box(table, frame, _GAP + (i % _ACROSS) * (_WIDE + _GAP), _TITLE + (i // _ACROSS) * (_HIGH + _GAP))
        for i, table in enumerate(tables)
    ]
    said = f"{database}: {len(tables):,} table{'' if len(tables) == 1 else 's'}"
    size = {"width": str(width), "height": str(height), "viewBox": f"0 0 {width} {height}"}
    drawn = element("svg", element("title", said), frame_box, title, *boxes, role="group", **size)
    return element("div", drawn, kind="scrolled", tabindex="0", role="region", **{"aria-label": said})


def _box(table: SiteTable, frame: Frame, x: int, y: int) -> Markup:
    schema = table.schema
    count = len(schema.fields)
    keys = [f"key {', '.join(schema.primary_keys)}"] if schema.primary_keys else []
    said = ", ".join([f"{count} column{'' if count == 1 else 's'}", *keys])
    is_personal_too = _is_personal(schema.logical)
    parts = [
        element("title", f"{table.name}: {said}{', personal data' if is_personal_too else ''}"),
        element("rect", x=str(x), y=str(y), width=str(_WIDE), height=str(_HIGH), rx="5", kind="table"),
        element("text", _cut(table.name.table, _LETTERS), x=str(x + 9), y=str(y + 18), kind="name"),
        element("text", _cut(said, _LETTERS + 6), x=str(x + 9), y=str(y + 35), kind="said"),
    ]
    if is_personal_too:
        parts.append(element("circle", cx=str(x + _WIDE - 12), cy=str(y + 13), r="4", kind="personal"))
    return element("a", *parts, href=f"{frame.root}tables/{table.page}")


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def codes_page(found: Iterable[tuple[Code, int]], frame: Frame) -> str:
    """The codes that occur, each with how often."""
    rows = [row(frame.code(code.id), prose(code.title), f"{count:,}") for code, count in found]
    listed = scrolled(("code", "what", "times"), rows, "Codes that occur", "codes") if rows else None
    return frame.page("Codes", listed or element("p", "No code occurs: there is nothing to say of the tables."))


def code_page(code: Code, occurrences: Sequence[tuple[SiteTable, str]], frame: Frame) -> str:
    """What a code means, as `lakebed explain` tells it, and where it occurs."""
    return frame.page(
        code.id,
        prose(code.title),
        section("why", "Why", prose(code.why)),
        section("example", "Example", preformatted(dedent(code.example))),
        section("remedy", "Remedy", prose(code.remedy)),
        section("where", "Where it occurs", *_occurrences(occurrences, frame)),
    )


def _occurrences(found: Sequence[tuple[SiteTable, str]], frame: Frame) -> Iterator[Markup]:
    rows = [row(frame.table_link(table.name, table.page), said) for table, said in found[:MOST_OCCURRENCES]]
    if rows:
        yield scrolled(("table", "what"), rows, "Where it occurs", "occurrences")
    if len(found) > MOST_OCCURRENCES:
        yield element("p", f"and {len(found) - MOST_OCCURRENCES:,} more")
