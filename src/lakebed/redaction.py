"""URLs without their secrets: what users, logs and files get to see of a URL that may hold a password."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

HIDDEN = "***"
#: A shorter value of an option says nothing, and may be part of any word.
_SHORTEST = 4

#: `user:password@`, be there slashes and at-signs in the password; a port is none.
_LOGIN = re.compile(r"(?<=://)[^\s/?#@:'\"]*:(?!\s)(?!\d+(?:[/?#\s'\"),;]|$))\S*@")
_USER = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^\s/?#@:'\"]+)@")
#: Where a user or a container stands before the `@`; elsewhere it may be a token.
_USER_IS_KNOWN = frozenset(("abfs", "abfss", "wasb", "wasbs", "sftp", "ssh", "ftp", "hdfs", "webhdfs", "smb"))
#: `key=value` after a question mark, an ampersand or a hash; what ends the sentence is not of the value.
_PARAMETER = re.compile(r"(?<=[?&#;])([^\s=&#;'\"<>]+)=([^\s&#;'\"<>]+?)(?=[,.:)\]]*(?:[\s&#;'\"<>]|$))")
_SECRET = re.compile(
    r"sig|token|secret|passw|pwd|key|credential|auth|session|^sas$|^code$|^access|private|^pass$", re.IGNORECASE
)
_HIDES = re.compile(r"://|[?&]")


def redact(text: str) -> str:
    """The text, in which every URL has `***` in the place of its user and password, token, signature and key."""
    if not _HIDES.search(text):
        return text
    shown = _LOGIN.sub(f"{HIDDEN}@", text)
    return _PARAMETER.sub(_without_secret, _USER.sub(_without_token, shown))


def _without_token(user: re.Match[str]) -> str:
    return user[0] if user[1].lower() in _USER_IS_KNOWN else f"{user[1]}://{HIDDEN}@"


def _without_secret(parameter: re.Match[str]) -> str:
    return f"{parameter[1]}={HIDDEN}" if _SECRET.search(unquote(parameter[1])) else parameter[0]


def secrets_of(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The values of options that are secret by their names, such as `secret` or `account_key`, at any depth."""
    found: list[str] = []
    for name, value in options.items():
        if isinstance(value, Mapping):
            found += secrets_of(value)
        elif isinstance(value, str) and len(value) >= _SHORTEST and _SECRET.search(str(name)):
            found.append(value)
    return tuple(found)


def without(text: str, secrets: Iterable[str]) -> str:
    """The text with `***` in the place of every one of the secrets."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def cause_to_show(error: BaseException) -> BaseException | None:
    """The error itself for `raise ... from`; None where its text would show a secret in a traceback."""
    while_handled: BaseException | None = error
    while while_handled is not None:
        text = str(while_handled)
        if redact(text) != text:
            return None
        while_handled = while_handled.__cause__ or while_handled.__context__
    return error
