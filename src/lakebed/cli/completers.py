"""Find the tables, versions, columns, codes and the like that complete a word, for `shell_complete` of parameters.

Each takes what click gives: the context with what stands before, the parameter, and the word so far. What cannot be
found out proposes nothing: nobody asked for a message. A warehouse behind a URL has `_PATIENCE` to answer.
"""

from __future__ import annotations

import functools
import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import click
from click.shell_completion import CompletionItem

from lakebed.cli.invocation import Session
from lakebed.codes import titles
from lakebed.diagnostics import path_text
from lakebed.errors import LakebedError

if TYPE_CHECKING:
    from lakebed.catalog import TableManager, TableSchema
    from lakebed.catalog.names import TableRef
    from lakebed.format.snapshot import SnapshotManager

_LOG = logging.getLogger(__name__)

Items: TypeAlias = "list[CompletionItem[str]]"
Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], Items]

#: Seconds.
_PATIENCE = 1.5
#: What may follow `TABLE@`: a number, `snap:`, `tag:` or `branch:`.
_STATES = ("", "snap", "tag", "branch")
#: So many of the newest snapshots are proposed.
_SNAPSHOTS = 20
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
    yield from _manager(context).list_databases()


@_completer
def complete_versions(context: click.Context, word: str) -> Iterator[str]:
    """Schema versions of the table."""
    table = _table(context)
    schemas = _manager(context).get_schema_manager(table.name.database, table.name.table, table.branch or "main")
    yield from map(str, reversed(schemas.ids()))


@_completer
def complete_readable_versions(context: click.Context, word: str) -> Iterator[str]:
    """Schema versions of the table, and what `read --schema` takes beside."""
    yield from ("latest", "snapshot", *(item.value for item in _asked(complete_versions, context, word)))


@_completer
def complete_targets(context: click.Context, word: str) -> Iterator[str]:
    """What a table is rolled back to: a schema version, `snap:ID` or `tag:NAME`."""
    table = str(_table(context))
    yield from _states(context, _manager(context), table, word, ("", "snap", "tag"))


@_completer
def complete_snapshots(context: click.Context, word: str) -> Iterator[str]:
    """The newest snapshots of the table."""
    yield from map(str, _newest(_snapshots(context, _table(context))))


@_completer
def complete_tags(context: click.Context, word: str) -> Iterator[str]:
    """Tags of the table."""
    yield from _snapshots(context, _table(context)).tags()


@_completer
def complete_branches(context: click.Context, word: str) -> Iterator[str]:
    """Branches of the table; for a plan those of any table."""
    manager = _manager(context)
    tables = [context.params["table"]] if context.params.get("table") else manager.list_tables()
    yield from sorted({name for table in tables for name in _branches(manager, table)})


@_completer
def complete_columns(context: click.Context, word: str) -> Iterator[str]:
    """Columns of the table, without members of structs."""
    yield from (field.name for field in _schema(context).fields)


@_completer
def complete_new_values(context: click.Context, word: str) -> Iterator[str]:
    """`COLUMN=` of the table."""
    yield from (f"{field.name}=" for field in _schema(context).fields)


@_completer
def complete_expression(context: click.Context, word: str) -> Iterator[str]:
    """Columns and members of structs in an expression over the table, in the place of its last name."""
    found = _IDENTIFIER.search(word)
    before = word[: found.start()] if found else word
    yield from (before + path for path in _paths(_schema(context)))


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
    for schema in _declared_and_stored(context):
        yield from (f"{code}:{path}" for path in _paths(schema))


def _asked(completer: Completer, context: click.Context, word: str) -> Items:
    return completer(context, context.command.params[0], word)


def _manager(context: click.Context) -> TableManager:
    """The tables of the warehouse, only to look at."""
    from lakebed.catalog import TableManager, open_warehouse

    settings = context.ensure_object(Session).configuration()
    paths, store = open_warehouse(settings.warehouse, layout=settings.layout, storage_options=settings.storage)
    return TableManager(paths, store)


def _tables(context: click.Context, word: str, kinds: tuple[str, ...]) -> Iterator[str]:
    table, at, version = word.partition("@")
    manager = _manager(context)
    if at:
        yield from (f"{table}@{state}" for state in _states(context, manager, table, version, kinds))
        return
    database, dot, _ = word.partition(".")
    if dot and "`" not in database and manager.database_exists(database):
        from lakebed.catalog import TableName

        yield from (str(TableName(database, name)) for name in manager.list_tables(database, include_quarantine=True))
    else:
        yield from manager.list_tables()


def _states(
    context: click.Context, manager: TableManager, table: str, version: str, kinds: tuple[str, ...]
) -> Iterator[str]:
    """What may follow `TABLE@`; the names of a kind once it is written, such as `tag:`."""
    from lakebed.catalog import TableRef

    ref = TableRef.parse(table)
    kind, colon, _ = version.partition(":")
    if not colon:
        if "" in kinds:
            schemas = manager.get_schema_manager(ref.name.database, ref.name.table, ref.branch or "main")
            yield from map(str, reversed(schemas.ids()))
        yield from (f"{each}:" for each in kinds if each)
    elif kind in kinds:
        names: dict[str, Callable[[], Iterable[object]]] = {
            "snap": lambda: _newest(_snapshots(context, ref)),
            "tag": lambda: _snapshots(context, ref).tags(),
            "branch": lambda: _branches(manager, table),
        }
        yield from (f"{kind}:{name}" for name in names[kind]())


def _table(context: click.Context) -> TableRef:
    """The table that stands before, as an argument `table`."""
    from lakebed.catalog import TableRef

    return TableRef.parse(context.params.get("table") or "")


def _schema(context: click.Context) -> TableSchema:
    """The newest schema of the table that stands before, or the version that it says."""
    table = _table(context)
    schemas = _manager(context).get_schema_manager(table.name.database, table.name.table, table.branch or "main")
    return schemas.load_latest_schema() if table.schema_id is None else schemas.load_schema(table.schema_id)


def _paths(schema: TableSchema) -> Iterator[str]:
    """Columns, and the members of structs in them."""
    from lakebed.physical.paimon_tree import fields_inside

    yield from (path_text(path) for path, _ in fields_inside(schema.fields))


def _snapshots(context: click.Context, table: TableRef) -> SnapshotManager:
    from lakebed.format.snapshot import SnapshotManager

    manager = _manager(context)
    return SnapshotManager(manager.store, manager.table_path(table.name), table.branch or "main")


def _newest(snapshots: SnapshotManager) -> list[int]:
    return snapshots.ids()[: -_SNAPSHOTS - 1 : -1]


def _branches(manager: TableManager, table: str) -> list[str]:
    from lakebed.catalog import TableRef
    from lakebed.catalog.paths import branch_names

    return branch_names(manager.store, manager.table_path(TableRef.parse(table).name))


def _missing_leave(file: str) -> list[str] | None:
    """What a saved plan lacks leave for; None where the file is none."""
    from lakebed.cli.commands.saved_plans import load_plan

    plan = load_plan(file)
    return None if plan is None else list(plan.approvals_missing())


def _declared_and_stored(context: click.Context) -> Iterator[TableSchema]:
    """The tables of the manifests that stand before, as they are stored."""
    from lakebed.catalog import TableName
    from lakebed.manifest.load import load_each

    files = [file for file in context.params.get("files") or () if file != "-"]
    manager = _manager(context)
    for table in (table for loaded in load_each(files) for table in loaded.tables):
        name = TableName.parse(table.name)
        if manager.exists(name):
            yield manager.get_schema_manager(name.database, name.table).load_latest_schema()


def _refs_of_git(word: str) -> Iterator[str]:
    """`git:REF` for the branches and tags of the repository, once `git:` is begun."""
    from lakebed.cli.git_files import PREFIX, ref_names

    if word and word != PREFIX and PREFIX.startswith(word):
        yield PREFIX
    elif word.startswith(PREFIX):
        yield from (f"{PREFIX}{ref}" for ref in ref_names())
