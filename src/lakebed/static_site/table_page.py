"""Build the page of a table: columns, options, problems, what would change, history and the compared versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from lakebed.catalog.time_zone import zone_of
from lakebed.convert.people import owner, tags
from lakebed.evolve import describe_changes
from lakebed.format.commit_origin import operation_of
from lakebed.format.snapshot import Snapshot
from lakebed.ingest.nulled_values import parse_nulled
from lakebed.ingest.run_history import NULLED, ROWS_QUARANTINED
from lakebed.inspection.history import History, Version
from lakebed.manifest.compatibility import stored_compatibility, stored_consumers
from lakebed.model import Field, required
from lakebed.model.compare import compare
from lakebed.model.encoding import strip_encoding
from lakebed.model.extra import PAIMON_TYPE
from lakebed.model.logical_tree import fields_inside
from lakebed.model.type_name import type_name
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import Path
from lakebed.physical.paimon_tree import fields_inside as stored_fields
from lakebed.printable import encodable, one_line
from lakebed.render.comparison_text import broken_parties
from lakebed.render.history_text import approval_line, origin_text
from lakebed.render.iso_times import time_text
from lakebed.render.markup import Markup, data_block, element, lines, mark, void
from lakebed.render.notebook_html import SEVERITY_LOOKS, VERDICT_LOOKS
from lakebed.render.schema_text import shown_options
from lakebed.static_site.page_frame import (
    Frame,
    attributes,
    chips,
    facts,
    is_personal,
    paragraphs,
    personal_mark,
    row,
    scrolled,
    section,
)
from lakebed.static_site.site_content import SiteTable

#: Of so many versions, the newest, any two are compared; of older ones what each changed is told, one after the other.
MOST_COMPARED = 16
#: A page tells the newest snapshots: there may be thousands.
MOST_SNAPSHOTS = 200
_COLUMNS = ("column", "type", "null", "description", "id")


def table_page(table: SiteTable, frame: Frame, time_zone: str) -> str:
    """The whole page."""
    logical = strip_encoding(table.schema.logical)
    shown = [
        element("p", element("a", "Tables", href=frame.root + "index.html"), f" / {table.name.database}", kind="way"),
        paragraphs(table.schema.comment),
        facts(_facts(table)),
        section("columns", "Columns", *_columns(table)),
        section("options", "Options", _options(table)),
        section("consumers", "Consumers", _consumers(table)),
        section("attributes", "Attributes", facts(attributes(logical.extra))),
        section("changes", "Not applied yet", _planned(table, frame)),
        section("problems", "Problems", _problems(table, frame)),
        section("bad-rows", "Bad rows", *_bad_rows(table, frame)),
    ]
    if table.history is not None:
        compared = compare_versions(table.history.versions, table.shown)
        shown += [
            section("compare", "Compare versions", *_comparison(compared)),
            section("history", "History", *_history(table, table.history, compared, time_zone)),
            section("branches", "Branches", _branches(table)),
        ]
    return frame.page(str(table.name), *shown, kind="table")


def _facts(table: SiteTable) -> Iterator[tuple[str, object]]:
    schema, newest = table.schema, table.newest_snapshot
    extra = schema.logical.extra
    who, labels = owner(extra), tags(extra)
    if who is not None:
        yield "owner", who
    if labels:
        yield "tags", chips(labels)
    if table.history is None:
        yield "state", "declared, not in the warehouse" if table.planned is not None else "declared"
    else:
        yield "schema", f"version {schema.id}"
        yield "rows", "none yet" if newest is None else f"{_count(newest.total_record_count)} in snapshot {newest.id}"
    mode = stored_compatibility(extra) if table.declared is None else table.declared.compatibility
    if mode is not None:
        yield "compatibility", mode.value
    for label, keys in (("primary keys", schema.primary_keys), ("partition keys", schema.partition_keys)):
        if keys:
            yield label, ", ".join(keys)
    if table.declared is not None and table.declared.position is not None and table.declared.position.file:
        yield "declared in", str(table.declared.position).rpartition(":")[0]


def _columns(table: SiteTable) -> Iterator[Markup]:
    """A box that finds columns, which the script shows, then a row a column; nested ones have their parent's number."""
    fields = strip_encoding(table.schema.logical).fields
    numbers = {path: str(f.id) for path, f in stored_fields(table.schema.fields)}
    known: dict[Path, tuple[str, int]] = {}
    rows = []
    for order, (path, field) in enumerate(fields_inside(fields)):
        parent = next((path[:end] for end in range(len(path) - 1, 0, -1) if path[:end] in known), ())
        above, depth = known.get(parent, ("", 0))
        anchor = column_anchor(numbers.get(path), order)
        known[path] = (anchor, depth + 1)
        rows.append(_column(table, field, path_text(path[len(parent) :]), anchor, above, depth, numbers.get(path, "")))
    find = void("input", type="search", id="find-column", placeholder="Find columns", autocomplete="off")
    label = element("label", "Find columns", **{"for": "find-column"}, kind="unseen")
    yield element("div", label, find, kind="finder", hidden="")
    yield scrolled(_COLUMNS, rows, "Columns", "columns-table")


def column_anchor(number: str | None, order: int) -> str:
    """The name of a column on its page: by the id that it keeps whatever it is called; else by its place."""
    return f"column-{number}" if number is not None else f"place-{order}"


def _column(table: SiteTable, field: Field, name: str, anchor: str, above: str, depth: int, number: str) -> Markup:
    schema, own = table.schema, required(field.type)
    top = depth == 0
    marks = [mark("primary key", "good")] if top and field.name in schema.primary_keys else []
    marks += [mark("partition", "good")] if top and field.name in schema.partition_keys else []
    marks += [personal_mark()] if is_personal(field.extra) else []
    labels = tags(field.extra) or []
    notes = [element("code", f"{key}={value}", kind="attribute") for key, value in attributes(field.extra)]
    said = " ".join((field.description or "").split())
    parts = [each for each in (said, chips(labels), lines(notes)) if each]
    shown = element("span", element("span", name, kind="name"), *marks)
    type_ = type_name(own, members=False, hint=field.extra.get(PAIMON_TYPE))
    given = {"id": anchor, "data-depth": str(depth)} | ({"data-parent": above} if above else {})
    cells = (shown, element("code", type_), "yes" if field.nullable else "", lines(parts), number)
    return row(*cells, **given, kind=f"depth-{min(depth, 8)}")


def _options(table: SiteTable) -> Markup:
    rows = [
        row(element("code", key), element("code", table.shown(value))) for key, value in shown_options(table.schema)
    ]
    return scrolled(("option", "value"), rows, "Options", "options-table") if rows else Markup()


def _consumers(table: SiteTable) -> Markup:
    """Who reads which columns, and in which mode."""
    rows = [
        row(*map(table.shown, (each.name, each.owner or "", ", ".join(each.columns) or "all", each.mode.value)))
        for each in stored_consumers(table.schema.logical.extra)
    ]
    return scrolled(("name", "owner", "columns", "mode"), rows, "Consumers", "consumers-table") if rows else Markup()


def _planned(table: SiteTable, frame: Frame) -> Markup:
    """What applying the manifest would change of a stored table."""
    planned = table.planned
    if planned is None or planned.create or planned.is_noop:
        return Markup()
    rows = [
        row(
            table.shown(change.summary),
            mark(change.verdict.value, VERDICT_LOOKS[change.verdict]),
            element("span", frame.code(change.code), f" {change.reason}"),
        )
        for change in planned.changes
    ]
    return scrolled(("change", "verdict", "why"), rows, "What applying the manifest would change", "changes-table")


def _problems(table: SiteTable, frame: Frame) -> Markup:
    rows = [
        row(
            frame.code(d.code),
            mark(d.severity.value, SEVERITY_LOOKS[d.severity]),
            lines(table.shown(said) for said in (d.message, *([f"remedy: {d.remedy}"] if d.remedy else []))),
            "" if d.position is None else str(d.position),
        )
        for d in table.diagnostics
    ]
    columns = ("code", "level", "what", "where")
    return scrolled(columns, rows, "Problems", "problems-table") if rows else Markup()


def _bad_rows(table: SiteTable, frame: Frame) -> Iterator[Markup]:
    """The rows in quarantine; by code those values that became NULL: snapshots say no more."""
    if table.quarantined:
        command = element("code", f"lakebed quarantine list {table.name}")
        yield element("p", f"{table.quarantined:,} rows in quarantine; ", command, " tells why.")
    snapshots = table.history.snapshots if table.history is not None else ()
    rows = [
        row(frame.code(nulled.code), nulled.column, f"{nulled.rows:,}", f"snapshot {snapshot.id}")
        for snapshot in reversed(snapshots[-MOST_SNAPSHOTS:])
        for nulled in parse_nulled((snapshot.properties or {}).get(NULLED))
    ]
    if rows:
        yield scrolled(("code", "column", "values", "when"), rows, "Bad values that became NULL", "nulled-table")


def _comparison(found: Comparisons) -> Iterator[Markup]:
    """Two choices for the script, and what leads from one version to another."""
    ids = found.versions
    if len(ids) < 2:
        return
    for name, label, chosen in (("from", "From version", ids[-2]), ("to", "to version", ids[-1])):
        choices = [
            element("option", str(i), value=str(i), **({"selected": ""} if i == chosen else {})) for i in reversed(ids)
        ]
        picker = element("select", *choices, id=f"compare-{name}")
        yield element("span", element("label", label, **{"for": f"compare-{name}"}), " ", picker, kind="picker")
    yield element("div", id="compared", role="status", **{"aria-live": "polite"})
    yield element("noscript", element("p", "What each version changed stands in the history below."))
    yield data_block("comparisons", found.to_json())


@dataclass(frozen=True, slots=True)
class Comparisons:
    """What leads from an earlier version to a later one, and whom that breaks, for pairs of versions."""

    versions: tuple[int, ...]
    changes: Mapping[tuple[int, int], tuple[str, ...]]
    breaks: Mapping[tuple[int, int], tuple[str, ...]]

    def to_json(self) -> dict[str, Any]:
        """For the script: every line once, and for each pair the numbers of its lines."""
        numbers: dict[str, int] = {}
        pairs = {
            name: {f"{a}-{b}": [numbers.setdefault(line, len(numbers)) for line in told] for (a, b), told in of.items()}
            for name, of in (("changes", self.changes), ("breaks", self.breaks))
        }
        return {"versions": self.versions, **pairs, "lines": list(numbers)}


def compare_versions(versions: Sequence[Version], shown: Callable[[str], str] = str) -> Comparisons:
    """Each version with the one before it, and any two of the newest; `shown` is what a page shows of a line."""
    logical = {v.schema.id: strip_encoding(v.schema.logical) for v in versions}
    told = {(old.schema.id, new.schema.id): new.changes for old, new in pairwise(versions)}
    for old, new in combinations([v.schema for v in versions[-MOST_COMPARED:]], 2):
        if (old.id, new.id) not in told:
            told[old.id, new.id] = describe_changes(old, new)
    broken = {(a, b): broken_parties(compare(logical[a], logical[b]), f"version {a}") for a, b in told}
    changes, breaks = (
        {pair: tuple(one_line(encodable(shown(line))) for line in of) for pair, of in lines.items()}
        for lines in (told, broken)
    )
    return Comparisons(
        tuple(v.schema.id for v in versions), changes, {p: lines for p, lines in breaks.items() if lines}
    )


def _history(table: SiteTable, history: History, compared: Comparisons, time_zone: str) -> Iterator[Markup]:
    """Versions, snapshots and tags by their time, the newest first."""
    zone = zone_of(time_zone)
    named: dict[int, list[str]] = {}
    for tag in table.tags:
        named.setdefault(tag.snapshot.id, []).append(tag.name)
    kept = {s.id for s in history.snapshots[-MOST_SNAPSHOTS:]}
    # What tags keep is told however old it is, be its snapshot expired or not.
    snapshots = {s.id: s for s in history.snapshots if s.id in kept} | {t.snapshot.id: t.snapshot for t in table.tags}
    before = dict(zip(compared.versions[1:], compared.versions, strict=False))
    broken = {new: compared.breaks.get((old, new), ()) for new, old in before.items()}
    events = [(v.schema.time_millis, 0, _version(table, v, broken.get(v.schema.id, ()))) for v in history.versions]
    events += [(s.time_millis, 1, _snapshot(s, named.get(s.id, []))) for s in snapshots.values()]
    yield element("p", f"Times are in {time_zone}, the newest is first.")
    items = [
        element("li", element("time", time_text(millis, zone)), *content[1], kind=content[0])
        for millis, _, content in sorted(events, key=lambda event: event[:2], reverse=True)
    ]
    yield element("ol", *items, kind="timeline")
    more = sum(s.id not in snapshots for s in history.snapshots)
    if more:
        yield element("p", f"and {more:,} older ones")


def _version(table: SiteTable, version: Version, broken: Sequence[str]) -> tuple[str, list[Markup]]:
    count = len(version.schema.fields)
    name = f"schema {version.schema.id}"
    head = element("strong", name, id=f"version-{version.schema.id}")
    said = [*version.changes, *broken, *map(approval_line, version.approvals)]
    told = [element("ul", *(element("li", table.shown(line)) for line in said))] if said else []
    return "version", [head, element("span", f"{count} column{'' if count == 1 else 's'}"), *told]


def _snapshot(snapshot: Snapshot, named: Sequence[str]) -> tuple[str, list[Markup]]:
    head = element("strong", f"snapshot {snapshot.id}", id=f"snapshot-{snapshot.id}")
    rows = f"{_count(snapshot.delta_record_count, '+')} rows = {_count(snapshot.total_record_count)}"
    bad = (snapshot.properties or {}).get(ROWS_QUARANTINED, "0")
    aside = f", {bad} bad rows to quarantine" if bad.isdecimal() and int(bad) else ""
    done = f"{rows}: {operation_of(snapshot)}, schema {snapshot.schema_id}{aside}{origin_text(snapshot)}"
    marks = [mark(f"tag {name}", "good") for name in named]
    return "snapshot", [head, *marks, element("span", done)]


def _branches(table: SiteTable) -> Markup:
    rows = [row(b.name, b.schema_id, _or_none(b.first_snapshot), _or_none(b.latest_snapshot)) for b in table.branches]
    columns = ("branch", "schema", "first snapshot", "newest snapshot")
    return scrolled(columns, rows, "Branches", "branches-table") if rows else Markup()


def _or_none(number: int | None) -> str:
    return "none" if number is None else str(number)


def _count(count: int | None, sign: str = "") -> str:
    return "?" if count is None else f"{count:{sign},}"
