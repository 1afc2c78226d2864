"""Find the tables, versions, columns, codes and the like that complete a word, for `shell_complete` of parameters.

Each takes what click gives: the context with what stands before, the parameter, and the word so far. What cannot be
found out proposes nothing: nobody asked for a message. A storage has `_PATIENCE` to answer.
"""

from __future__ import annotations

import functools
import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import click
from click.shell_completion import CompletionItem

from lakebed.cli.invocation import Session
from lakebed.cli.warehouse_names import WarehouseNames
from lakebed.codes import titles
from lakebed.errors import LakebedError, NotFoundError

_LOG = logging.getLogger(__name__)

Items: TypeAlias = "list[CompletionItem[str]]"
Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], Items]

#: Seconds.
_PATIENCE = 4.0
#: What may follow `TABLE@`: a number, `snap:`, `tag:` or `branch:`.
_STATES = ("", "snap", "tag", "branch")
_IDENTIFIER = re.compile(r"[\w.]*$")


def _completer(propose: Callable[[click.Context, str], Iterable[str | CompletionItem[str]]]) -> Completer:
    """A completer of a function that proposes texts, with or without their meaning; those that fit are taken."""

    @functools.wraps(propose)
    def complete(context: click.Context, parameter: click.Parameter, word: str) -> Items:
        found: Items = []

        def look() -> None:
            try:
                every = (CompletionItem(p) if isinstance(p, str) else p for p in propose(context, word))
                found.extend(item for item in every if item.type != "plain" or item.value.startswith(word))
            except (LakebedError, OSError) as error:
                _LOG.debug("nothing is proposed: %s", error)

        looking = threading.Thread(target=look, daemon=True)
        looking.start()
        looking.join(_PATIENCE)
        return list(found)

    return complete


@_completer
def complete_tables(context: click.Context, word: str) -> Iterator[str]:
    """Tables, and after `@` their branches."""
    yield from _tables(context, word, ("branch",))


@_completer
def complete_states(context: click.Context, word: str) -> Iterator[str]:
    """Tables, and after `@` their versions, snapshots, tags and branches."""
    yield from _tables(context, word, _STATES)


@_completer
def complete_sources(context: click.Context, word: str) -> Iterator[str | CompletionItem[str]]:
    """Tables with their versions, `git:REF`, or, where none begins so, files."""
    yield from _or_files(word, lambda: list(_refs_of_git(word)) or _tables(context, word, _STATES))


@_completer
def complete_against(context: click.Context, word: str) -> Iterator[str | CompletionItem[str]]:
    """`git:REF`, or, where none begins so, files."""
    yield from _or_files(word, lambda: _refs_of_git(word))


def _or_files(word: str, look: Callable[[], Iterable[str]]) -> list[str] | list[CompletionItem[str]]:
    try:
        found = [text for text in look() if text.startswith(word)]
    except (LakebedError, OSError) as error:
        _LOG.debug("files are proposed: %s", error)
        found = []
    return found or [CompletionItem("", type="file")]


@_completer
def complete_databases(context: click.Context, word: str) -> Iterator[str]:
    """Databases."""
    yield from _names(context).databases()


@_completer
def complete_readable_versions(context: click.Context, word: str) -> Iterator[str]:
    """Schema versions of the table, and what `read --schema` takes beside."""
    yield from ("latest", "snapshot", *_names(context).versions(_table(context)))


@_completer
def complete_targets(context: click.Context, word: str) -> Iterator[str]:
    """What a table is rolled back to: a schema version, `snap:ID` or `tag:NAME`."""
    yield from _states(_names(context), _table(context), word, ("", "snap", "tag"))


@_completer
def complete_snapshots(context: click.Context, word: str) -> Iterator[str]:
    """The newest snapshots of the table."""
    yield from _names(context).snapshots(_table(context))


@_completer
def complete_tags(context: click.Context, word: str) -> Iterator[str]:
    """Tags of the table."""
    yield from _names(context).tags(_table(context))


@_completer
def complete_branches(context: click.Context, word: str) -> Iterator[str]:
    """Branches of the table; for a plan those of any table."""
    names = _names(context)
    tables = [_table(context)] if _table(context) else names.tables()
    yield from sorted({branch for table in tables for branch in names.branches(table)})


@_completer
def complete_columns(context: click.Context, word: str) -> Iterator[str]:
    """Columns of the table, without members of structs."""
    yield from _names(context).columns(_table(context))


@_completer
def complete_new_values(context: click.Context, word: str) -> Iterator[str]:
    """`COLUMN=` of the table."""
    yield from (f"{name}=" for name in _names(context).columns(_table(context)))


@_completer
def complete_expression(context: click.Context, word: str) -> Iterator[str]:
    """Columns and members of structs in an expression over the table, in the place of its last name."""
    found = _IDENTIFIER.search(word)
    before = word[: found.start()] if found else word
    yield from (before + path for path in _names(context).columns(_table(context), members=True))


@_completer
def complete_codes(context: click.Context, word: str) -> Iterator[CompletionItem[str]]:
    """Codes, with their titles."""
    yield from (CompletionItem(code, help=title) for code, title in titles().items())


@_completer
def complete_approvals(context: click.Context, word: str) -> Iterator[str | CompletionItem[str]]:
    """What a saved plan lacks leave for; else codes of changes, and after `CODE:` columns of the tables."""
    plans = [plan for file in context.params.get("files") or () if (plan := _missing_leave(file)) is not None]
    if plans:
        yield from (text for plan in plans for text in plan)
        return
    code, colon, _ = word.partition(":")
    if not colon:
        yield from (CompletionItem(code, help=title) for code, title in titles("evolution").items())
        return
    yield from (f"{code}:{path}" for path in _columns_of_declared(context))


def _names(context: click.Context) -> WarehouseNames:
    """What the warehouse of the line has."""
    return WarehouseNames(context.ensure_object(Session).configuration())


def _table(context: click.Context) -> str:
    """The table that stands before, as an argument `table`; empty where none does."""
    return context.params.get("table") or ""


def _tables(context: click.Context, word: str, kinds: tuple[str, ...]) -> Iterator[str]:
    names = _names(context)
    table, at, version = word.partition("@")
    base, dollar, _ = table.partition("$")
    if at:
        yield from (f"{table}@{state}" for state in _states(names, table, version, kinds))
    elif dollar and kinds == _STATES:
        yield from (f"{base}${name}" for name in _system_tables())
    else:
        database, dot, _ = word.partition(".")
        yield from (names.tables(database) if dot and "`" not in database else []) or names.tables()


def _system_tables() -> tuple[str, ...]:
    from lakebed.inspection.system_table import NAMES

    return tuple(sorted(NAMES))


def _states(names: WarehouseNames, table: str, version: str, kinds: tuple[str, ...]) -> Iterator[str]:
    """What may follow `TABLE@`; the names of a kind once it is written, such as `tag:`."""
    kind, colon, _ = version.partition(":")
    if not colon:
        yield from names.versions(table) if "" in kinds else ()
        yield from (f"{each}:" for each in kinds if each)
    elif kind in kinds:
        found = {"snap": names.snapshots, "tag": names.tags, "branch": names.branches}
        yield from (f"{kind}:{name}" for name in found[kind](table))


def _missing_leave(file: str) -> list[str] | None:
    """What a saved plan lacks leave for; None where the file is none."""
    from lakebed.cli.commands.saved_plans import load_plan

    plan = load_plan(file)
    return None if plan is None else list(plan.approvals_missing())


def _columns_of_declared(context: click.Context) -> Iterator[str]:
    """The columns, as they are stored, of the tables of the manifests that stand before."""
    from lakebed.manifest.load import load_each

    files = [file for file in context.params.get("files") or () if file != "-"]
    names, given = _names(context), context.ensure_object(Session).substitutions()
    for table in (table for loaded in load_each(files, given) for table in loaded.tables):
        try:
            yield from names.columns(table.name, members=True)
        except NotFoundError:
            continue


def _refs_of_git(word: str) -> Iterator[str]:
    """`git:REF` for the branches and tags of the repository, once `git:` is begun."""
    from lakebed.cli.git_files import PREFIX, ref_names

    if word and word != PREFIX and PREFIX.startswith(word):
        yield PREFIX
    elif word.startswith(PREFIX):
        yield from (f"{PREFIX}{ref}" for ref in ref_names())
