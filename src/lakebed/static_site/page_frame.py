"""Build what all pages of a site share: head, navigation, links to tables and codes, lists of facts and problems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from lakebed.codes import register
from lakebed.model import Extra
from lakebed.model.extra import COMPATIBILITY, CONSUMERS, DESCRIPTION, PERSONAL_DATA
from lakebed.redaction import redact
from lakebed.render.markup import Markup, element, mark, text, void
from lakebed.render.schema_text import attribute_text

STYLE, SCRIPT, DIAGRAM, INDEX = "site.css", "site.js", "diagram.html", "index.html"
TABLES, CODES = "tables", "codes"
#: Pages load their own style and script, from beside them, and nothing else.
POLICY = (
    "default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
#: Attributes that have a place of their own.
_PLACED = ("tags", "owner")


@dataclass(frozen=True, slots=True)
class Frame:
    """What surrounds pages. `site` is the name of what the site is of, `codes` are those that have a page.

    `made` says when and by what it was made. `depth` is how many directories the page is below the first one.
    """

    site: str
    codes: frozenset[str]
    made: str
    depth: int = 0

    @property
    def root(self) -> str:
        """The way to the first directory."""
        return "../" * self.depth

    def page(self, title: str, *content: object, kind: str = "page") -> str:
        """A whole page of HTML."""
        head = element(
            "head",
            void("meta", charset="utf-8"),
            void("meta", name="viewport", content="width=device-width, initial-scale=1"),
            void("meta", **{"http-equiv": "Content-Security-Policy", "content": POLICY}),
            void("meta", name="color-scheme", content="light dark"),
            void("meta", name="referrer", content="no-referrer"),
            element("title", f"{title} · {self.site}" if title != self.site else title),
            void("link", rel="icon", href="data:,"),
            void("link", rel="stylesheet", href=self.root + STYLE),
            element("script", src=self.root + SCRIPT, defer=""),
        )
        pages = [(INDEX, "Tables"), (DIAGRAM, "Diagram"), (f"{CODES}/{INDEX}", "Codes")]
        links = [element("a", shown, href=self.root + target) for target, shown in pages]
        body = element(
            "body",
            element("a", "Skip to the content", href="#content", kind="skip"),
            element(
                "header",
                element("a", self.site, href=self.root + INDEX, kind="site"),
                element("nav", *links, **{"aria-label": "Pages"}),
            ),
            element("main", element("h1", title), *content, id="content", kind=kind),
            element("footer", self.made),
        )
        return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"

    def table_link(self, name: object, page: str, anchor: str = "") -> Markup:
        """A link to the page of a table."""
        return element("a", name, href=f"{self.root}{TABLES}/{page}{anchor}")

    def code(self, code: str) -> Markup:
        """A code, linked to its page where there is one."""
        if code not in self.codes:
            return element("code", code)
        return element("a", element("code", code), href=f"{self.root}{CODES}/{quote(code)}.html")


def known_codes(found: Iterable[str]) -> frozenset[str]:
    """Those that the register explains: what is stored may say others."""
    return frozenset(found) & register().keys()


def facts(pairs: Iterable[tuple[str, object]]) -> Markup:
    """Names with what there is to say of each; nothing for none."""
    shown = [element("div", element("dt", name), element("dd", value)) for name, value in pairs]
    return element("dl", *shown) if shown else Markup()


def section(name: str, title: str, *content: object) -> Markup:
    """A part of a page with a heading; nothing where it has no content."""
    if not any(content):
        return Markup()
    label = element("h2", title, id=f"{name}-title")
    return element("section", label, *content, id=name, **{"aria-labelledby": f"{name}-title"})


def scrolled(columns: Sequence[str], rows: Iterable[Markup], caption: str, name: str) -> Markup:
    """A table that scrolls by itself where the screen is narrow; it takes the focus for that, for the keyboard."""
    head = element("thead", element("tr", *(element("th", c, scope="col") for c in columns)))
    shown = element("table", element("caption", caption, kind="unseen"), head, element("tbody", *rows), id=name)
    return element("div", shown, kind="scrolled", tabindex="0", role="region", **{"aria-label": caption})


def row(*cells: object, **attributes: str) -> Markup:
    """A row of a table; the first cell names it."""
    first, *others = cells
    named = element("th", first, scope="row")
    return element("tr", named, *(element("td", cell) for cell in others), **attributes)


def paragraphs(said: str | None) -> Markup:
    """A text of several paragraphs."""
    parts = [" ".join(part.split()) for part in (said or "").split("\n\n")]
    return Markup("".join(element("p", part) for part in parts if part))


def prose(markdown: str) -> Markup:
    """A text of the register, with what stands between backticks as code."""
    parts = markdown.split("`")
    return element("p", *(element("code", part) if i % 2 else text(part) for i, part in enumerate(parts)))


def chips(texts: Iterable[str]) -> Markup:
    """Tags, one beside the other."""
    return Markup(" ".join(element("span", each, kind="chip") for each in texts))


def is_personal(extra: Extra) -> bool:
    """Whether an attribute says that it is personal data."""
    return bool(extra.get(PERSONAL_DATA))


def personal_mark() -> Markup:
    """What marks personal data."""
    return mark("personal data", "notice")


def attributes(extra: Extra) -> list[tuple[str, str]]:
    """The attributes that have no place of their own, with their values."""
    placed = (COMPATIBILITY, CONSUMERS, DESCRIPTION, PERSONAL_DATA)
    return [
        (key, redact(attribute_text(value)))
        for key, value in extra.items()
        if key not in placed and key.partition("/")[2] not in _PLACED
    ]
