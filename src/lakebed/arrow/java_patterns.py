"""Tell which regular expressions of Java mean the same to Arrow, which has RE2's."""

from __future__ import annotations

import re

#: Parts that mean the same to both: characters, escapes, classes, groups without a name, repetitions, ends.
_PART = re.compile(
    r"""
    [^\\\[\]{}()^$*+?|]
    | \\[dwDW.\\\[\]{}()^$*+?|/_\-]
    | \[\^?(?:[^\\\[\]&^~-]|\\[dw.\\\[\]\-^]|[A-Za-z0-9]-[A-Za-z0-9])+-?\]
    | \((?:\?:)? | \) | \|
    """,
    re.VERBOSE | re.ASCII,
)
_REPEATED = re.compile(r"(?:[*+?]|\{[0-9]{1,3}(?:,[0-9]{0,3})?\})\??(?![*+?{])")
#: Some of what `.` does not match in Java, and RE2's does.
LINE_ENDS = "[\r\u0085\u2028\u2029]"


def same_pattern(pattern: str) -> str | None:
    """The expression for RE2 that matches a whole text where Java's does; None for what may mean another thing.

    A `.` matches more line ends in RE2: see `LINE_ENDS`.
    """
    body = pattern.removeprefix("^")
    if body.endswith("$") and not body.endswith(r"\$"):
        body = body[:-1]
    # An end binds stronger than an alternative, unless there is none.
    if body != pattern and "|" in body:
        return None
    return rf"^(?:{body})\z" if _is_known(body) else None


def _is_known(body: str) -> bool:
    at, may_repeat = 0, False
    while at < len(body):
        found = (_REPEATED.match(body, at) if may_repeat else None) or _PART.match(body, at)
        if found is None:
            return False
        may_repeat = found.re is _PART and not found[0].startswith("(") and found[0] != "|"
        at = found.end()
    return _compiles(body)


def _compiles(body: str) -> bool:
    try:
        re.compile(body)
    except re.error:
        return False
    return True
