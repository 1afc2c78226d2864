"""`--yes` of commands that take something away."""

from __future__ import annotations

from lakebed.cli.session import Session
from lakebed.errors import RefusedError


def confirm(session: Session, yes: bool, what: str) -> None:
    """Ask about `what`, such as `delete tag x`, unless `yes`. Raises `RefusedError` where there is nobody to ask."""
    if yes:
        return
    if not session.can_ask:
        raise RefusedError.of("LB7006", f"{what}: not confirmed", remedy="give --yes")
    session.confirm(f"{what[:1].upper()}{what[1:]}?")
