"""`lakebed init [DIR]`"""

from __future__ import annotations

from pathlib import Path

import click

from lakebed.cli.configuration import FILE_NAME, find_configuration
from lakebed.cli.main import Session, common_options
from lakebed.errors import AlreadyExistsError, UsageError


@click.command()
@click.argument("directory", required=False)
@common_options
@click.pass_obj
def command(session: Session, directory: str | None) -> None:
    """Make the warehouse DIRECTORY and, where there is none yet, a lakebed.toml here that names it.

    Without DIRECTORY the warehouse is the one that --warehouse, LAKEBED_WAREHOUSE or lakebed.toml names.
    """
    from lakebed.store import open_store

    wanted = directory or session.warehouse or find_configuration(None).warehouse
    store, root = open_store(wanted)
    if store.exists(root) and store.list(root) and not _looks_like_warehouse([e.name for e in store.list(root)]):
        raise AlreadyExistsError.of(
            "LB7003",
            f"{wanted} is not empty and is no warehouse",
            remedy="name an empty or a new directory",
        )
    store.make_directory(root)
    settings = Path(FILE_NAME)
    made = not settings.exists()
    if made:
        if '"' in wanted or "\n" in wanted:
            raise UsageError.of("LB7003", f"{wanted!r} cannot be written into {FILE_NAME}")
        settings.write_text(f'warehouse = "{wanted}"\n', encoding="utf-8")
    session.output.finish(
        "init",
        ok=True,
        result={"warehouse": root, "configuration": str(settings.absolute()) if made else None},
        text=lambda: f"Warehouse {root} is ready." + (f" {FILE_NAME} names it." if made else ""),
    )


def _looks_like_warehouse(names: list[str]) -> bool:
    return any(n.endswith(".db") for n in names) or all(n.startswith(".") for n in names)
