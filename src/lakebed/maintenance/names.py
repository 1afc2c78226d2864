"""What a new branch or tag may be called: what all engines can write as one file name and tell from a number."""

from __future__ import annotations

import re

from lakebed.catalog.paths import MAIN
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ValidationError

BAD_NAME = "LB3650"

#: A file name of 255 bytes, less `branch-`.
_MAX_BYTES = 248
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def check_new_name(kind: str, name: str) -> None:
    """Raise `ValidationError` with every reason why a new `branch` or `tag` cannot have this name."""
    problems = tuple(
        Diagnostic(
            BAD_NAME,
            f"{name[:80]!r} cannot be the name of a {kind}: {complaint}",
            found=name[:80].encode("unicode_escape").decode(),
            remedy="Use letters, digits, dots, dashes and underscores, not digits alone.",
        )
        for complaint in _complaints(kind, name)
    )
    if problems:
        raise ValidationError(*problems)


def _complaints(kind: str, name: str) -> list[str]:
    if not name.strip():
        return ["it is empty or blank"]
    found = []
    if name != name.strip():
        found.append("it starts or ends with a blank")
    if name.isdigit():
        found.append("digits alone would be taken for a snapshot's number")
    if "/" in name or "\\" in name or name in (".", ".."):
        found.append("it is or holds a path")
    if _CONTROL.search(name):
        found.append("it holds a control character")
    if kind == "branch" and name == MAIN:
        found.append("the table's own branch is called so")
    if kind == "branch" and "$" in name:
        found.append("other engines write a branch as TABLE$branch_NAME and cannot read a further `$`")
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        found.append("it is not valid Unicode text")
        return found
    if size > _MAX_BYTES:
        found.append(f"it has {size} bytes, more than {_MAX_BYTES}")
    return found
