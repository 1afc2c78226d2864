"""What the documentation shows is so: manifests, settings, commands with their options, Python, links."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from documentation.pages import PAGES, REPOSITORY, Block, anchors, blocks, links
from lakebed.cli.configuration import Flags, find_settings, profile_names
from lakebed.cli.invocation import Session
from lakebed.cli.main import cli
from lakebed.errors import LakebedError
from lakebed.manifest import Substitutions, parse_manifest


def page_name(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


def faults(page: Path, wanted: Callable[[Block], bool], check: Callable[[Block], None]) -> list[str]:
    found = []
    for block in filter(wanted, blocks(page)):
        try:
            check(block)
        except (LakebedError, ValueError, SyntaxError, click.ClickException) as error:
            message = error.format_message() if isinstance(error, click.ClickException) else str(error)
            found.append(f"{page_name(page)}:{block.line}: {message}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_settings_and_python_and_manifests_are_valid(page: Path, tmp_path: Path) -> None:
    def settings(block: Block) -> None:
        tomllib.loads(block.text)
        if "pyproject" not in block.before:
            (tmp_path / "lakebed.toml").write_text(block.text, encoding="utf-8")
            for profile in (None, *profile_names(tmp_path)):
                find_settings(Flags(None, profile), {}, tmp_path)

    def manifest(block: Block) -> None:
        parse_manifest(block.text, substitutions=Substitutions(_Any()))

    assert faults(page, lambda b: b.language == "toml", settings) == []
    assert faults(page, lambda b: b.language == "python", lambda b: ast.parse(b.text) and None) == []
    assert faults(page, lambda b: b.language == "yaml" and b.text.startswith("kind: Table"), manifest) == []


class _Any(dict[str, str]):
    """A value for every variable."""

    def __missing__(self, name: str) -> str:
        return name

    def __contains__(self, name: object) -> bool:
        return True

    def get(self, name: str, default: object = None) -> str:  # type: ignore[override]
        return name


def parse_command(words: list[str]) -> None:
    """Raise what click says of a command line that it would not take."""
    command: click.Command = cli
    parent: click.Context | None = None
    rest, session = words, Session()
    while True:
        context = command.make_context(command.name, list(rest), parent=parent, obj=session)
        if not isinstance(command, click.Group):
            return
        rest = [*context._protected_args, *context.args]
        name, found, rest = command.resolve_command(context, rest)
        assert found is not None, name
        command, parent = found, context


def command_lines(page: Path) -> Iterator[list[str]]:
    for block in blocks(page):
        if block.language in ("", "sh", "bash"):
            yield from block.commands


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_commands_have_these_options(page: Path) -> None:
    refused = []
    for words in command_lines(page):
        if {"--help", "-h", "--version"} & {*words} or "..." in words:
            continue
        try:
            parse_command(words)
        except click.ClickException as error:
            refused.append(f"lakebed {' '.join(words)}: {error.format_message()}")
    assert refused == []


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []
