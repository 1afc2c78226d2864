"""Find the command, run it, and turn errors into exit codes.

Commands are imported when they are called, so that `lakebed --help` needs neither PySpark nor PyArrow.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import click

from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.interrupts import Interrupts, ignore_interrupts, noted_interrupts
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.log_records import hidden_records
from lakebed.cli.output import ReaderGoneError, TextOutput, prepare_streams
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import LakebedError, LakebedWarning, UsageError

#: Command name -> what `lakebed --help` says of it. The module of the same name holds `command`, but for those below.
COMMANDS = {
    "init": "Make a warehouse and a lakebed.toml that names it.",
    "validate": "Tell every problem of manifests, without a warehouse.",
    "fmt": "Write manifests in canonical form, with their comments.",
    "lint": "Check manifests against the rules of the project, and mend what is safe to mend.",
    "check": "Tell which changes of manifests since a commit break whom, without a warehouse.",
    "plan": "Show what applying manifests would change, and how safe that is.",
    "drift": "Tell what was done to tables outside of `apply`, and by which engine.",
    "pull": "Write what was made outside of `apply` into manifests.",
    "apply": "Apply manifests, or a saved plan.",
    "ingest": "Ingest files into a table; bad rows go to quarantine.",
    "quarantine": "Bad rows of a table: list, show, replay, purge.",
    "read": "Print rows of a table under its newest schema, or an older one.",
    "history": "Show the schema versions and snapshots of a table.",
    "show": "Show one version of a table's schema, or a saved plan.",
    "diff": "Compare two schemas.",
    "tables": "List the tables of the warehouse.",
    "infer": "Print a manifest for an existing table, whoever made it.",
    "convert": "Put a schema into another form: ODF, Arrow, Spark, Paimon, Iceberg, Delta, Avro and more.",
    "schema": "Print the JSON Schema of manifests, for editors.",
    "event": "Metadata blocks of Open Data Fabric: export, verify, inspect.",
    "delete": "Delete the rows of a table that a filter names.",
    "update": "Give the rows of a table that a filter names new values.",
    "merge": "Merge the rows of files into a table: update, delete, insert.",
    "overwrite": "Put the rows of files in the place of partitions, of all rows, or of those of a filter.",
    "truncate": "Remove all rows of a table.",
    "drop-partitions": "Remove all rows of some partitions of a table.",
    "tag": "Name a snapshot so that it is kept: create, list, delete.",
    "branch": "Branches of a table: create, list, delete, fast-forward.",
    "rollback": "Roll a table back to an earlier schema version, snapshot or tag.",
    "health": "Tell how tables are, from metadata: files, snapshots, deletions, bad rows.",
    "maintain": "Do what is due by the options of tables: expire, compact, clean up.",
    "compact": "Write the small files of a table together as large ones.",
    "analyze": "Count rows and describe columns, for the planners of engines.",
    "expire": "Take old snapshots of a table away, and the files that only they need.",
    "expire-partitions": "Remove the partitions of a table whose time has passed.",
    "versions": "Show what keeps each schema version, and remove those that nothing does.",
    "orphans": "Find and remove files that nothing refers to.",
    "database": "Databases: create, drop, list.",
    "rename": "Rename a table and its quarantine.",
    "migrate": "Turn a Mini Paimon warehouse into a Paimon warehouse.",
    "drop": "Drop a table and its quarantine.",
    "config": "Show the settings that are in force, and where each is from.",
    "docs": "Make a static site of tables and their histories, or serve it on this machine.",
    "doctor": "Check Java, Spark, libraries, settings and the storage of the warehouse.",
    "explain": "Explain a code such as LB4203.",
    "completion": "Let bash, zsh or fish complete commands, tables, versions, columns and codes.",
}
#: Set where a shell asks for completions.
_COMPLETION = "_LAKEBED_COMPLETE"
#: Modules that are not called like their commands, as others are called so.
MODULES = {"validate": "validate_manifests", "drift": "show_drift"}


class _Commands(click.Group):
    """A group whose commands are imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = MODULES.get(cmd_name, cmd_name.replace("-", "_"))
        command: click.Command = import_module(f"lakebed.cli.commands.{module}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in COMMANDS:
            ctx.ensure_object(Session).command = args[0]
        elif not ctx.resilient_parsing:
            raise UsageError.of(
                "LB7008",
                f"there is no command {args[0]!r}",
                suggestions=near_names(args[0], COMMANDS),
                remedy="`lakebed --help` lists the commands",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lakebed", message="lakebed %(version)s")
@common_options
@click.pass_context
def cli(context: click.Context) -> None:
    """Schema as code for lakehouse tables: declare, plan, apply, ingest, read.

    Data goes to standard output, talk to standard error. Exit codes: 0 done, 1 failure, 2 usage, 10 changes pending
    (with --exit-code), 11 breaking or refused, 12 stale plan or lost race, 13 drift (with --exit-code), 14 bad rows
    (all, or more than allowed).
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code. `arguments` None means those of the process."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if _COMPLETION in os.environ:
        from lakebed.cli.shells import register_shells

        register_shells()
    session = Session()
    try:
        with hidden_records(), _told_warnings(session), noted_interrupts() as interrupts:
            return _run(session, words, interrupts)
    except ReaderGoneError:
        return ExitCode.READER_GONE


@contextmanager
def _told_warnings(session: Session) -> Iterator[None]:
    """Show Lakebed's own warnings as it shows problems; others as Python does."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", LakebedWarning)
        show = warnings.showwarning

        def tell(message: Warning | str, *where: Any, **parts: Any) -> None:
            if isinstance(message, LakebedWarning):
                session.output.diagnose([message.diagnostic])
            else:
                show(message, *where, **parts)

        warnings.showwarning = tell
        yield


def _run(session: Session, words: list[str], interrupts: Interrupts) -> int:
    try:
        code = cli.main(args=words, prog_name="lakebed", obj=session, standalone_mode=False)
    except BaseException as error:
        # An interrupted question to Spark fails in many ways, and so do the ones after it.
        if interrupts.seen or isinstance(error, click.Abort):
            return _stop(session, words)
        return _report(session, words, _end_of_jvm(error) or error)
    return code if isinstance(code, int) else ExitCode.OK


def _end_of_jvm(error: BaseException) -> LakebedError | None:
    """What to report instead of an error where the JVM of this process has ended: all others follow from that."""
    has_lost_jvm = getattr(sys.modules.get("lakebed.spark.session"), "has_lost_jvm", None)
    if has_lost_jvm is None or not isinstance(error, Exception) or not has_lost_jvm():
        return None
    from lakebed.spark.spark_errors import jvm_ended

    return jvm_ended()


def _stop(session: Session, words: list[str]) -> ExitCode:
    if "lakebed.spark.session" in sys.modules:
        # A second interrupt does not wait for Spark; its JVM ends with this process.
        with suppress(KeyboardInterrupt):
            from lakebed.spark.session import stop_session

            stop_session()
    remedy = "repeat the command: nothing is left half done"
    return _fail(session, words, [Diagnostic("LB7010", "stopped", remedy=remedy)], ExitCode.INTERRUPTED)


def _report(session: Session, words: list[str], error: BaseException) -> ExitCode:
    match error:
        case LakebedError():
            return _fail(session, words, error.diagnostics, ExitCode(error.exit_code))
        case click.ClickException():
            return _fail(session, words, [_usage_problem(error)], ExitCode.USAGE)
        case OSError():
            return _fail(session, words, [Diagnostic("LB7009", _system_problem(error))], ExitCode.FAILURE)
        case _:
            raise error


def _fail(session: Session, words: list[str], diagnostics: Iterable[Diagnostic], code: ExitCode) -> ExitCode:
    # Where the command line could not be parsed, its options were not looked at.
    session.json_mode = session.json_mode or "--json" in words
    try:
        session.output.diagnose(diagnostics)
        if session.is_for_programs:
            session.finish(None, lambda _: "", code=code)
    except OSError:
        # Standard output cannot take it, for example because its disk is full.
        TextOutput().diagnose(diagnostics)
    return code


def _usage_problem(error: click.ClickException) -> Diagnostic:
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "lakebed"
    usage = " ".join([path, *(_usage_pieces(context) if context else [])])
    message = " ".join(error.format_message().split()).rstrip(".")
    return Diagnostic(
        "LB7008",
        message[:1].lower() + message[1:],
        expected=usage,
        remedy=f"write `{usage}`; `{path} --help` says more",
    )


def _usage_pieces(context: click.Context) -> list[str]:
    """What stands behind a command: `[OPTIONS]`, the options that it cannot do without, arguments."""
    needed = [p for p in context.command.params if isinstance(p, click.Option) and p.required]
    options, *arguments = context.command.collect_usage_pieces(context)
    return [options, *(f"{p.opts[0]} {p.metavar or str(p.name).upper()}" for p in needed), *arguments]


def _system_problem(error: OSError) -> str:
    what = error.strerror or str(error)
    return f"{error.filename}: {what}" if error.filename is not None else what


def main() -> None:
    """The console script."""
    prepare_streams()
    code = run()
    ignore_interrupts()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = ExitCode.READER_GONE
    if code == ExitCode.READER_GONE:
        # What is still in the buffer has no reader; Python would complain about it when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
