"""The site in a headless Chromium, from files and from the server: search, nested columns, compared versions, looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from lakebed.static_site import collect_site, write_site
from lakebed.static_site.serve_site import open_server
from static_site.chromium import Page, find_chromium, started_page
from static_site.warehouse import hostile_lake

PROGRAM = find_chromium()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("browser")
    write_site(collect_site(hostile_lake(directory / "warehouse")), directory / "site")
    return directory / "site"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    assert PROGRAM is not None
    with started_page(PROGRAM, tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    """The tab, of which every test has to hold: no complaint."""
    tab.requests.clear()
    tab.errors.clear()
    tab.look(width=1280)
    yield tab
    assert tab.errors == []


_SEEN = (
    "[...document.querySelectorAll('{} tbody tr')].filter(r => !r.hidden).map(r => r.querySelector('{}').textContent)"
)
SHOWN = _SEEN.format("#tables", "a")
COLUMNS = _SEEN.format("#columns-table", ".name")


def test_tables_and_columns_are_found_by_the_keyboard_alone(page: Page, site: Path) -> None:
    page.open((site / "index.html").as_uri())
    assert len(page.run(SHOWN)) == 3
    page.press("/", "/")
    assert page.run("document.activeElement.id") == "find"
    page.type("latitude")
    assert page.run(SHOWN) == ["shop.orders"]
    assert page.run("document.getElementById('found').textContent") == "1 of 3 tables"
    assert page.run("document.querySelector('.hits a').textContent") == "address.place.latitude"
    page.type(" nothing")
    assert page.run(SHOWN) == []
    page.press("Escape")
    assert len(page.run(SHOWN)) == 3
    # Words may be in the table and in its columns.
    page.type("gold contact")
    assert page.run(SHOWN) == ["shop.orders"]


def test_a_found_column_is_opened_where_it_is(page: Page, site: Path) -> None:
    page.open((site / "index.html").as_uri())
    page.press("/", "/")
    page.type("latitude")
    page.open(page.run("document.querySelector('.hits a').href"))
    assert page.run("document.querySelector('tr:target .name').textContent") == "latitude"
    assert page.run("document.querySelector('tr:target').offsetHeight") > 0


def test_nested_columns_open_and_close_by_the_keyboard(page: Page, site: Path) -> None:
    page.open((site / "tables/shop.orders.html").as_uri())
    top = page.run(COLUMNS)
    assert "street" not in top
    page.run("document.querySelector('.expand').focus()")
    page.press("Enter", "\r")
    assert page.run("document.querySelector('.expand').getAttribute('aria-expanded')") == "true"
    assert {"street", "place"} == {*page.run(COLUMNS)} - {*top}
    page.press("Enter", "\r")
    assert page.run(COLUMNS) == top
    page.run("document.getElementById('find-column').focus()")
    page.type("latit")
    assert page.run(COLUMNS) == ["address", "place", "latitude"]


def test_two_versions_are_compared(page: Page, site: Path) -> None:
    page.open((site / "tables/shop.orders.html").as_uri())
    told = "[...document.querySelectorAll('#compared li')].map(e => e.textContent)"
    assert page.run(told) == ["add column quantity: Option<Int32>"]
    choose = (
        "(e => {{ e.value = '{1}'; e.dispatchEvent(new Event('change')) }})(document.getElementById('compare-{0}'))"
    )
    page.run(choose.format("from", 0))
    assert page.run("document.querySelector('#compared h3').textContent") == "From version 0 to version 2"
    assert page.run(told) == ["add column note: Option<String>", "add column quantity: Option<Int32>"]
    page.run(choose.format("to", 0))
    assert page.run("document.getElementById('compared').textContent") == "From version 0 to version 0Nothing differs."


def test_every_page_is_quiet_narrow_enough_and_asks_for_nothing_else(page: Page, site: Path) -> None:
    for path in sorted(site.rglob("*.html")):
        for width, dark in ((1280, False), (360, True)):
            page.look(width=width, dark=dark)
            page.open(path.as_uri())
            assert page.run("document.documentElement.scrollWidth") <= width, (path, width)
            back = page.run("getComputedStyle(document.body).backgroundColor")
            assert back == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")
    assert page.requests
    strangers = [url for url in page.requests if not url.startswith((site.as_uri(), "data:"))]
    assert strangers == []


def test_the_served_site_is_the_same(page: Page, site: Path) -> None:
    with open_server(site, 0) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}/"
            page.open(url)
            page.press("/", "/")
            page.type("orders")
            assert page.run("document.querySelectorAll('#tables tbody tr:not([hidden])').length") == 2
            assert [u for u in page.requests if not u.startswith((url, "data:"))] == []
        finally:
            server.shutdown()
            thread.join()
