"""`lakebed explain CODE`: explain a code: why, an example, the remedy."""

from __future__ import annotations

import click

from lakebed.cli.completers import complete_codes
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.codes import Code, register
from lakebed.diagnostics import near_names
from lakebed.errors import NotFoundError
from lakebed.render.terminal import wrapped

#: Long lines are hard to read, however wide the terminal is.
_WIDEST = 100


@click.command()
@click.argument("code", required=False, shell_complete=complete_codes)
@common_options
@click.pass_obj
def command(session: Session, code: str | None) -> ExitCode:
    """Explain CODE: what it means, why it is a problem, an example, and how to mend it. Without CODE, list them all."""
    codes = register()
    if code is None:
        listing = [{"code": c.id, "title": c.title} for c in codes.values()]
        return session.finish({"codes": listing}, lambda _: "\n".join(f"{c.id}  {c.title}" for c in codes.values()))
    known = codes.get(_spelt_out(code))
    if known is None:
        raise NotFoundError.of(
            "LB7007",
            f"there is no code {code!r}",
            suggestions=near_names(code, codes),
            remedy="`lakebed explain` lists them all",
        )
    result = {
        "code": known.id,
        "title": known.title,
        "why": known.why,
        "example": known.example,
        "remedy": known.remedy,
    }
    return session.finish(result, lambda look: _text(known, look.width))


def _spelt_out(code: str) -> str:
    """`LB4203` for `4203` and `lb4203`."""
    text = code.strip().upper()
    return f"LB{text}" if text.isdecimal() else text


def _text(code: Code, width: int | None) -> str:
    room = None if width is None else min(width, _WIDEST)
    why, remedy = ("\n".join(wrapped(text, room)) for text in (code.why, code.remedy))
    return f"{code.id}: {code.title}\n\n{why}\n\nExample:\n{code.example}\n\nRemedy:\n{remedy}"
