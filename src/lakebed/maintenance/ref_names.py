"""Check the name of a new branch or tag."""

from __future__ import annotations

from lakebed.catalog.names import bad_names, file_name_complaints
from lakebed.catalog.paths import MAIN
from lakebed.errors import ValidationError

BAD_NAME = "LB3650"

#: A file name of 255 bytes, less `branch-`.
_MAX_BYTES = 248


def check_new_name(kind: str, name: str) -> None:
    """Raise `ValidationError` with every reason why a new `branch` or `tag` cannot have this name."""
    remedy = "Use letters, digits, dots, dashes and underscores, not digits alone."
    problems = bad_names(BAD_NAME, kind, name, _complaints(kind, name), remedy)
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
    if kind == "branch" and name == MAIN:
        found.append("the table's own branch is called so")
    if kind == "branch" and "$" in name:
        found.append("other engines write a branch as TABLE$branch_NAME and cannot read a further `$`")
    return [*found, *file_name_complaints(name, _MAX_BYTES)]
