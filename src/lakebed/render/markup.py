"""Build HTML of texts that may hold anything: all is escaped, but what was built here.

What is built takes its colours from where it is shown: text has that of its surroundings, and marks are tinted with
colours that let light and dark backgrounds shine through, so that both stay readable.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape

from lakebed.printable import encodable, one_line

#: Tables of more rows than so many are cut: a notebook keeps what it shows.
MOST_ROWS = 500

_STYLE = """\
.lakebed{font:inherit;color:inherit;line-height:1.5}
.lakebed p{margin:.2em 0}
.lakebed .head{font-weight:600;margin:.8em 0 .2em}
.lakebed table{font:inherit;border-collapse:collapse;border:0;margin:.2em 0 .6em;color:inherit;background:none}
.lakebed tr{background:none}
.lakebed th,.lakebed td{text-align:left;vertical-align:top;padding:.15em 1em .15em 0;border:0;\
border-bottom:1px solid rgba(128,128,128,.4);color:inherit;background:none;white-space:pre-wrap;max-width:60em}
.lakebed th{font-weight:600;white-space:nowrap}
.lakebed .number{text-align:right;font-variant-numeric:tabular-nums}
.lakebed pre,.lakebed code{font-family:monospace;color:inherit;background:none;padding:0}
.lakebed pre{overflow-x:auto;margin:0}
.lakebed .mark{padding:0 .5em;border-radius:.3em;white-space:nowrap}
.lakebed .good{background:rgba(46,160,67,.22)}
.lakebed .notice{background:rgba(210,153,34,.28)}
.lakebed .bad{background:rgba(229,83,75,.28)}
.lakebed .worst{background:rgba(229,83,75,.28);font-weight:700;outline:1px solid}
"""


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Markup:
    """A text as HTML; what would command a terminal or turn the direction of text is shown as an escape."""
    return value if isinstance(value, Markup) else Markup(escape(one_line(encodable(str(value)))))


def element(name: str, /, *content: object, kind: str | None = None, **attributes: str) -> Markup:
    """An element; `kind` is its class in the style."""
    return Markup(f"<{name}{_shown(kind, attributes)}>{''.join(map(text, content))}</{name}>")


def void(name: str, /, *, kind: str | None = None, **attributes: str) -> Markup:
    """An element that has no content and no end, such as `input`."""
    return Markup(f"<{name}{_shown(kind, attributes)}>")


def _shown(kind: str | None, attributes: Mapping[str, str]) -> str:
    given = attributes if kind is None else {"class": kind, **attributes}
    if not given:
        return ""
    return "".join(f' {key}="{escape(one_line(encodable(value)))}"' for key, value in given.items())


def data_block(name: str, value: object) -> Markup:
    """A value as JSON, for scripts of the page, which find it by its name; nothing in it ends the element."""
    shown = json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{escape(name)}">{shown}</script>')


def lines(texts: Iterable[object]) -> Markup:
    """Texts one below the other."""
    return Markup("<br>".join(map(text, texts)))


def head(value: object) -> Markup:
    """A line above what it is about."""
    return element("p", value, kind="head")


def mark(word: str, look: str) -> Markup:
    """A word on a tint: `good`, `notice`, `bad` or `worst`."""
    return element("span", word, kind=f"mark {look}")


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, right: Collection[int] = ()) -> Markup:
    """A table; the columns of the indices `right` are aligned to the right. More than `MOST_ROWS` are counted only."""
    if not rows:
        return Markup()
    kinds = ["number" if number in right else None for number in range(len(columns))]
    names = [element("th", c, kind=k, scope="col") for c, k in zip(columns, kinds, strict=True)]
    body = [
        element("tr", *(element("td", cell, kind=kind) for cell, kind in zip(row, kinds, strict=True)))
        for row in rows[:MOST_ROWS]
    ]
    heading = element("thead", element("tr", *names)) if any(columns) else Markup()
    shown = element("table", heading, element("tbody", *body))
    more = len(rows) - MOST_ROWS
    return Markup(shown + element("p", f"and {more:,} more")) if more > 0 else shown


def preformatted(value: str) -> Markup:
    """A text of several lines, as it is aligned."""
    return element("pre", Markup("\n".join(map(text, value.split("\n")))))


def block(*content: object) -> Markup:
    """What a notebook shows: the content, and the style that it needs."""
    return element("div", element("style", Markup(_STYLE)), *content, kind="lakebed")
