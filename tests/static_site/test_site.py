"""What a site of tables holds, and that nothing in names and texts becomes part of its pages."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lakebed
from lakebed.catalog.names import TableName
from lakebed.codes import register
from lakebed.errors import ManifestError, UsageError
from lakebed.evolve import describe_changes
from lakebed.evolve.without_warehouse import plan_as_new
from lakebed.format.snapshot import Snapshot
from lakebed.lake import Lake
from lakebed.maintenance.tags import Tag
from lakebed.manifest import parse_manifest
from lakebed.manifest.load import LoadedFile
from lakebed.render.markup import data_block
from lakebed.static_site import collect_site, write_site
from lakebed.static_site.serve_site import open_server
from lakebed.static_site.site_content import SiteContent, SiteTable
from lakebed.static_site.table_page import MOST_COMPARED, MOST_SNAPSHOTS, compare_versions
from static_site.warehouse import IMAGE, NOTE, ORDERS, QUANTITY, SECRET, WEIRD, hostile_lake

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_VOID = {"meta", "link", "input", "br"}
#: All that a page is made of: whatever else there is was let in by what was not escaped.
_ELEMENTS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "link",
        "script",
        "body",
        "header",
        "nav",
        "main",
        "footer",
        "section",
        "noscript",
    ),
    *("h1", "h2", "p", "a", "div", "span", "code", "pre", "br", "strong", "time", "ul", "ol", "li", "dl", "dt", "dd"),
    *("label", "input", "select", "option", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("svg", "rect", "text", "circle"),
}


class _Reader(HTMLParser):
    """The elements of a page with their attributes, and whether each is closed where it was opened."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute of {tag} is given twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return hostile_lake(tmp_path_factory.mktemp("site") / "warehouse")


@pytest.fixture(scope="module")
def site(lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "out"
    declared = LoadedFile.parse(ORDERS + NOTE.replace("String", "Int32"), "orders.yaml")
    write_site(collect_site(lake, [declared]), out, title=f"Shop {IMAGE}", made_at=AT)
    return out


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def block_of(text: str, name: str) -> object:
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', text)
    assert found is not None
    return json.loads(found[1])


def test_a_page_a_table_and_a_page_a_code(site: Path) -> None:
    names = {str(path.relative_to(site)) for path in pages(site)}
    assert {"index.html", "diagram.html", "codes/index.html", "tables/shop.orders.html"} <= names
    assert len([name for name in names if name.startswith("tables/")]) == 3
    codes = {Path(name).stem for name in names if name.startswith("codes/LB")}
    # What the manifest would change, and what the rules of the project say of it.
    assert codes
    assert codes <= register().keys()
    shown = (site / "tables/shop.orders.html").read_text()
    assert {Path(href).stem for href in re.findall(r'href="\.\./codes/(LB[^"]+)"', shown)} == codes


def test_nothing_but_what_was_built_is_in_a_page(site: Path) -> None:
    for path in pages(site):
        found = _Reader(path.read_text(encoding="utf-8"))
        assert {tag for tag, _ in found.elements} <= _ELEMENTS, path
        for tag, attributes in found.elements:
            assert not [name for name in attributes if name.startswith("on") or name == "style"], (path, tag)
        scripts = [a for tag, a in found.elements if tag == "script"]
        assert all("src" in a or a.get("type") == "application/json" for a in scripts)
        assert SECRET not in path.read_text(encoding="utf-8")


def test_hostile_texts_are_read_as_they_are(site: Path) -> None:
    shown = " ".join(_Reader((site / "tables/shop.orders.html").read_text(encoding="utf-8")).texts)
    for text in ("Orders of the shop <script>alert('x')</script>", f"`{IMAGE}`", "***", "team-shop", IMAGE):
        assert text in shown, text
    assert WEIRD in " ".join(_Reader((site / "index.html").read_text(encoding="utf-8")).texts)


def test_every_link_is_relative_and_leads_somewhere(site: Path) -> None:
    ids = {
        path: {a["id"] for _, a in _Reader(path.read_text(encoding="utf-8")).elements if "id" in a}
        for path in pages(site)
    }
    seen = 0
    for path in pages(site):
        for _, attributes in _Reader(path.read_text(encoding="utf-8")).elements:
            for link in filter(None, (attributes.get("href"), attributes.get("src"))):
                parts = urlsplit(link)
                if link == "data:,":
                    continue
                assert not parts.scheme, link
                assert not parts.netloc, link
                assert not parts.path.startswith("/"), link
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
                assert target.is_file(), (path, link)
                assert not parts.fragment or parts.fragment in ids[target], (path, link)
                seen += 1
    assert seen > 50


def test_ids_of_a_page_are_its_own(site: Path) -> None:
    for path in pages(site):
        ids = [a["id"] for _, a in _Reader(path.read_text(encoding="utf-8")).elements if "id" in a]
        assert len(ids) == len(set(ids)), path


def test_columns_are_told_with_what_is_known_of_them(site: Path) -> None:
    text = (site / "tables/shop.orders.html").read_text(encoding="utf-8")
    rows = {a["id"]: a for tag, a in _Reader(text).elements if tag == "tr" and "id" in a}
    by_depth = [rows[name]["data-depth"] for name in rows]
    assert by_depth == ["0", "0", "0", "1", "1", "2", "0", "0", "0"]
    nested = [a for a in rows.values() if a["data-depth"] == "2"]
    assert rows[nested[0]["data-parent"]]["data-depth"] == "1"
    for words in ("personal data", "primary key", "contact", "example.org/why=", "Option", "Int64"):
        assert words in text, words


def test_any_two_versions_are_compared_as_diff_compares_them(lake: Lake, site: Path) -> None:
    found = block_of((site / "tables/shop.orders.html").read_text(encoding="utf-8"), "comparisons")
    assert isinstance(found, dict)
    assert found["versions"] == [0, 1, 2]
    versions = [lake.schema(f"shop.orders@{i}") for i in (0, 1, 2)]
    for a, b in ((0, 1), (0, 2), (1, 2)):
        told = [found["lines"][i] for i in found["changes"][f"{a}-{b}"]]
        assert told == list(describe_changes(versions[a], versions[b]))
    assert len(found["changes"]["0-2"]) == 2
    assert found["breaks"] == {}


def test_of_many_versions_the_newest_are_compared_with_each_other(tmp_path: Path) -> None:
    lake = lakebed.open(str(tmp_path))
    count = MOST_COMPARED + 3
    for number in range(count):
        text = ORDERS.replace("Orders of the shop", f"Orders {number}")
        lake.apply(lake.plan(parse_manifest(text)))
    pairs = compare_versions(lake.history("shop.orders").versions).changes.keys()
    assert {(i, i + 1) for i in range(count - 1)} <= pairs
    assert (3, count - 1) in pairs
    assert (0, 2) not in pairs


def test_whom_a_version_breaks_is_told(tmp_path: Path) -> None:
    lake = lakebed.open(str(tmp_path))
    for text in (ORDERS + NOTE, ORDERS):
        lake.apply(lake.plan(parse_manifest(text)), allow=["LB4203"])
    found = compare_versions(lake.history("shop.orders").versions)
    told = ("producers (who writes rows of", "consumers (who reads the columns of")
    assert found.breaks == {(0, 1): tuple(f"Breaks {party} version 0): note" for party in told)}


def test_history_and_branches_and_what_is_not_applied(site: Path) -> None:
    text = (site / "tables/shop.orders.html").read_text(encoding="utf-8")
    assert [text.index(f'id="version-{i}"') for i in (2, 1, 0)] == sorted(
        text.index(f'id="version-{i}"') for i in range(3)
    )
    assert "add column quantity: Option&lt;Int32&gt;" in text
    assert '<th scope="row">dev</th>' in text
    assert "drop column quantity" in text[text.index('id="changes"') : text.index('id="compare"')]


def _snapshot(number: int, properties: dict[str, str] | None = None) -> Snapshot:
    counts = {"total_record_count": 10 * number, "delta_record_count": 10}
    made = {"commit_user": "u", "commit_identifier": number, "commit_kind": "APPEND", "time_millis": 1000 * number}
    lists = {"base_manifest_list": "b", "delta_manifest_list": "d"}
    return Snapshot(id=number, schema_id=0, properties=properties, **lists, **made, **counts)


def test_snapshots_tell_tags_and_bad_rows(lake: Lake, tmp_path: Path) -> None:
    nulled = {"lakebed.values-nulled": f'[["{IMAGE}","LB6201",7]]', "lakebed.rows-quarantined": "12"}
    count = MOST_SNAPSHOTS + 5
    snapshots = tuple(_snapshot(n, nulled if n == count else None) for n in range(1, count + 1))
    (table,) = (table for table in collect_site(lake).tables if str(table.name) == "shop.orders")
    assert table.history is not None
    told = replace(
        table,
        history=replace(table.history, snapshots=snapshots),
        tags=(Tag(f"first {IMAGE}", snapshots[0]), Tag("gone", _snapshot(9999))),
        quarantined=345,
    )
    write_site(SiteContent((told,), {}), tmp_path)
    text = (tmp_path / "tables/shop.orders.html").read_text(encoding="utf-8")
    shown = " ".join(_Reader(text).texts)
    for words in ("12 bad rows to quarantine", f"tag first {IMAGE}", "345 rows in quarantine", "and 4 older ones"):
        assert words in shown, words
    # What a tag keeps is told, be its snapshot older than those that are told, or expired.
    assert [f'id="snapshot-{n}"' in text for n in (1, 2, 5, 6, count, 9999)] == [True, False, False, True, True, True]
    assert "snapshot 205: 7 bad values" in (tmp_path / "codes/LB6201.html").read_text(encoding="utf-8")


def test_manifests_alone_make_a_site(tmp_path: Path) -> None:
    files = [LoadedFile.parse(ORDERS + QUANTITY, "orders.yaml")]
    content = collect_site(None, files)
    assert write_site(content, tmp_path / "site", made_at=AT) > 3
    text = (tmp_path / "site/tables/shop.orders.html").read_text(encoding="utf-8")
    assert "orders.yaml:4" in text
    assert 'id="history"' not in text
    for code, _ in content.tables[0].occurrences():
        assert (tmp_path / f"site/codes/{code}.html").is_file()


@pytest.mark.parametrize("stored", [True, False])
def test_compatibility_and_consumers_have_their_place(tmp_path: Path, stored: bool) -> None:
    said = "[{name: billing, owner: finance, columns: [id]}, {name: dash, mode: BACKWARD}]"
    head = f"compatibility: FULL\n  consumers: {said}"
    text = (
        f"kind: Table\nversion: 1\ncontent:\n  name: a.b\n  {head}\n  schema: {{fields: [{{name: id, type: Int32}}]}}\n"
    )
    lake = lakebed.open(str(tmp_path)) if stored else None
    if lake is not None:
        lake.apply(lake.plan(parse_manifest(text)))
    write_site(collect_site(lake, () if stored else [LoadedFile.parse(text, "t.yaml")]), tmp_path / "out")
    (page,) = (tmp_path / "out/tables").glob("*.html")
    shown = " ".join(_Reader(page.read_text(encoding="utf-8")).texts)
    for part in ("compatibility FULL", "billing finance id FORWARD", "dash all BACKWARD"):
        assert part in shown
    assert "lakebed.dev/" not in shown


def test_faulty_manifests_make_none() -> None:
    with pytest.raises(ManifestError):
        collect_site(None, [LoadedFile.parse("kind: Table\nversion: 1\ncontent: {}\n", "x.yaml")])


def test_a_table_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    lake = hostile_lake(tmp_path / "warehouse")
    (tmp_path / "warehouse/shop.db/orders/schema/schema-1").write_text("{", encoding="utf-8")
    content = collect_site(lake)
    assert [str(name) for name in content.unreadable] == ["shop.orders"]
    assert len(content.tables) == 2
    write_site(content, tmp_path / "site")
    text = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    (code,) = {d.code for d in content.unreadable[TableName("shop", "orders")]}
    assert f'href="codes/{code}.html"' in text


def test_the_same_tables_are_the_same_bytes(lake: Lake, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_site(collect_site(lake), tmp_path / name, made_at=AT)
    first, second = (
        {p.relative_to(tmp_path / n): p.read_bytes() for p in (tmp_path / n).rglob("*") if p.is_file()} for n in "ab"
    )
    assert first == second


def test_a_site_takes_the_place_of_an_earlier_one_and_of_nothing_else(lake: Lake, tmp_path: Path) -> None:
    out = tmp_path / "site"
    write_site(collect_site(lake), out)
    (out / "tables/gone.db.html").write_text("old", encoding="utf-8")
    (out / "CNAME").write_text("kept", encoding="utf-8")
    write_site(collect_site(lake), out)
    assert not (out / "tables/gone.db.html").exists()
    assert (out / "CNAME").exists()
    other = tmp_path / "documents"
    (other / "tables").mkdir(parents=True)
    (other / "tables/mine.html").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        write_site(collect_site(lake), other)
    assert caught.value.diagnostics[0].code == "LB7080"
    assert [p.name for p in other.rglob("*")] == ["tables", "mine.html"]


_SCHEMA = plan_as_new(parse_manifest(ORDERS).tables[0]).target
_NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=40)


@given(st.lists(st.tuples(_NAMES, _NAMES), min_size=2, max_size=6, unique=True))
def test_pages_are_plain_files_of_their_own(names: list[tuple[str, str]]) -> None:
    assert _SCHEMA is not None
    found = []
    for database, table in names:
        try:
            found.append(SiteTable(TableName(database, table), _SCHEMA).page)
        except lakebed.LakebedError:
            continue
    assert all(re.fullmatch(r"[a-z0-9_.-]{1,130}\.html", page) for page in found)
    assert len({page.lower() for page in found}) == len(found)


@settings(max_examples=50)
@given(
    st.recursive(
        st.text() | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_a_block_of_data_ends_where_it_should(value: object) -> None:
    text = data_block("x", value)
    inside = text.removeprefix('<script type="application/json" id="x">').removesuffix("</script>")
    assert "<" not in inside
    assert json.loads(inside) == value


def test_the_server_is_for_this_machine(site: Path) -> None:
    with open_server(site, 0) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}"
            assert server.server_address[0] == "127.0.0.1"
            with urllib.request.urlopen(f"{url}/") as answer:
                assert b"shop.orders" in answer.read()
                assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            for path, host, status in (
                ("/", "evil.example:80", 403),
                ("/tables/", "localhost:1", 404),
                ("/../../etc/passwd", "localhost:1", 404),
            ):
                with pytest.raises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(urllib.request.Request(url + path, headers={"Host": host}))
                assert refused.value.code == status
                refused.value.close()
            with pytest.raises(lakebed.LakebedError) as taken:
                open_server(site, server.server_port)
            assert taken.value.diagnostics[0].code == "LB7081"
        finally:
            server.shutdown()
            thread.join()
