"""`lakebed explain CODE`"""

from __future__ import annotations

import click

from lakebed.cli.main import Session, common_options
from lakebed.codes import register
from lakebed.diagnostics import near_names
from lakebed.errors import NotFoundError


@click.command()
@click.argument("code", required=False)
@common_options
@click.pass_obj
def command(session: Session, code: str | None) -> None:
    """Explain CODE: what it means, why it is a problem, an example, and how to mend it. Without CODE, list them all."""
    codes = register()
    if code is None:
        listing = [{"code": c.id, "title": c.title} for c in codes.values()]
        session.output.finish(
            "explain", ok=True, result=listing, text=lambda: "\n".join(f"{c.id}  {c.title}" for c in codes.values())
        )
        return
    known = codes.get(code.upper())
    if known is None:
        raise NotFoundError.of("LB7007", f"there is no code {code!r}", suggestions=near_names(code, codes))
    result = {
        "code": known.id,
        "title": known.title,
        "why": known.why,
        "example": known.example,
        "remedy": known.remedy,
    }
    session.output.finish(
        "explain",
        ok=True,
        result=result,
        text=lambda: (
            f"{known.id}: {known.title}\n\n{known.why}\n\nExample:\n{known.example}\n\nRemedy:\n{known.remedy}"
        ),
    )
