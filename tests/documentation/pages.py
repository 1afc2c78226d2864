"""Read the pages of the documentation: their blocks of code, what stands before each, their links and headings."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = sorted([REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")])


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code: its language, empty where none is said, its text, its line, and the paragraph before it."""

    language: str
    text: str
    line: int
    before: str

    @property
    def commands(self) -> list[list[str]]:
        """The words of the lines that call `lakebed`, without comments and what the shell does with the output."""
        lines = re.sub(r"\\\n\s*", " ", self.text).splitlines()
        return [_words(line) for line in lines if line.startswith("lakebed ")]


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&<>;")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if set(word) <= set("|&<>;"):
            break
        words.append(word)
    return words[1:]


def blocks(page: Path) -> Iterator[Block]:
    before = ""
    for token in _tokens(page):
        if token.type == "inline":
            before = token.content
        elif token.type in ("fence", "code_block"):
            yield Block(token.info.strip(), token.content, (token.map or [0])[0] + 1, before)
            before = ""


def links(page: Path) -> Iterator[str]:
    for token in _tokens(page):
        for child in token.children or ():
            if child.type == "link_open":
                yield str(child.attrs["href"])


def anchors(page: Path) -> set[str]:
    """The names by which headings are linked to, as forges make them."""
    tokens = _tokens(page)
    titles = (after.content for token, after in pairwise(tokens) if token.type == "heading_open")
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def _tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
