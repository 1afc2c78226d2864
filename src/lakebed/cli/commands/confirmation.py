"""Ask before commands change or delete what exists, unless `--yes` is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from lakebed.cli.invocation import Session
from lakebed.errors import UsageError


def yes_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """The option `--yes`, which `confirm` takes."""
    text = "Do not ask. Needed where there is no terminal to ask on."
    return click.option("--yes", is_flag=True, help=text)(function)


def confirm(session: Session, yes: bool, what: str, *, question: str | None = None) -> None:
    """Ask about `what`, such as `delete tag x`, unless `yes`; `question` is what is asked where that is not enough.

    Raises `UsageError` where there is nobody to ask, `LakebedError` for every answer but yes.
    """
    if yes:
        return
    if not session.can_ask:
        message = f"{what}: not confirmed, nothing was changed"
        raise UsageError.of("LB7006", message, remedy="give --yes, since there is no terminal to ask on")
    session.confirm(question or f"{what[:1].upper()}{what[1:]}?")
