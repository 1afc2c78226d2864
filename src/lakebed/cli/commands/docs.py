"""`lakebed docs build|serve`: make a static site of tables, and show it to a browser of this machine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.commands.manifest_files import load_files
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options, variable_option
from lakebed.errors import NoWarehouseError

if TYPE_CHECKING:
    from lakebed.lake import Lake
    from lakebed.manifest.load import LoadedFile
    from lakebed.static_site import SiteContent

_USUAL_PORT = 8421


@click.group(no_args_is_help=False)
@common_options
def command() -> None:
    """A static site of tables: searchable columns, histories, the difference of any two versions, problems, a diagram.

    It is made of the warehouse, of manifests, or of both, from metadata alone, and needs no network.
    """


def _site_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What both commands take."""
    function = variable_option(function)
    function = click.option("--title", default="Lakebed", show_default=True, help="What the site is called.")(function)
    return click.argument("files", nargs=-1, type=click.Path(allow_dash=True))(function)


@command.command("build")
@_site_options
@click.option("--out", required=True, metavar="DIR", type=click.Path(file_okay=False), help="Where the site goes.")
@common_options
@click.pass_obj
def build(session: Session, files: tuple[str, ...], title: str, out: str) -> ExitCode:
    """Write the site of the warehouse, and of the manifests FILES, into DIR.

    FILES are files and directories. Where nothing names a warehouse, the site is of FILES alone. DIR is an empty
    directory, a new one, or one that holds an earlier site. A table that cannot be read is told, does not hide the
    others, and makes the command end with 1.
    """
    from lakebed.static_site import write_site

    content = _content(session, files)
    pages = write_site(content, out, title=title)
    result = {
        "out": out,
        "pages": pages,
        "tables": [str(table.name) for table in content.tables],
        "unreadable": [str(name) for name in content.unreadable],
    }
    page = Path(out) / "index.html"
    return session.finish(result, lambda _: f"{_counted(content)}, {pages:,} pages: {page}", code=_code(content))


@command.command("serve")
@_site_options
@click.option(
    "--port", type=click.IntRange(0, 65535), default=_USUAL_PORT, show_default=True, help="The port; 0 is any free one."
)
@common_options
@click.pass_obj
def serve(session: Session, files: tuple[str, ...], title: str, port: int) -> ExitCode:
    """Make the site in a temporary directory, and serve it on 127.0.0.1 until Ctrl-C.

    FILES are as those of `lakebed docs build`. What changes meanwhile is seen when the command is run again.
    """
    from tempfile import TemporaryDirectory

    from lakebed.static_site import write_site
    from lakebed.static_site.serve_site import LOOPBACK, open_server

    with TemporaryDirectory(prefix="lakebed-site-") as directory, open_server(directory, port) as server:
        content = _content(session, files)
        pages = write_site(content, directory, title=title)
        url = f"http://{LOOPBACK}:{server.server_port}/"
        # Before it answers: this command ends only when it is stopped.
        session.finish({"url": url, "pages": pages}, lambda _: f"{_counted(content)}: {url} (Ctrl-C stops)")
        # Ctrl-C is how it ends, and no failure.
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    return _code(content)


def _content(session: Session, files: tuple[str, ...]) -> SiteContent:
    """What the site tells; problems of tables that cannot be read are told here."""
    from lakebed.lint import LintSettings
    from lakebed.static_site import collect_site

    settings = LintSettings.of(session.setting("lint"), session.setting("engines"))
    loaded = _loaded(session, files) if files else []
    content = collect_site(_lake(session, bool(files)), loaded, settings)
    session.output.diagnose(d for problems in content.unreadable.values() for d in problems)
    return content


def _loaded(session: Session, files: tuple[str, ...]) -> list[LoadedFile]:
    from lakebed.evolve.without_warehouse import validate_files
    from lakebed.format.refuse_unsupported import limits

    return list(validate_files(load_files(session, files), session.attributes(), limits))


def _lake(session: Session, has_files: bool) -> Lake | None:
    """The warehouse; None where nothing names one, and manifests are enough."""
    try:
        return session.lake()
    except NoWarehouseError:
        if has_files:
            return None
        raise


def _counted(content: SiteContent) -> str:
    count = len(content.tables)
    return f"{count:,} table{'' if count == 1 else 's'}"


def _code(content: SiteContent) -> ExitCode:
    return ExitCode.FAILURE if content.unreadable else ExitCode.OK
