"""Remove secrets from URLs, texts and errors before users, logs and files see them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

HIDDEN = "***"
#: A shorter value of an option says nothing, and may be part of any word.
_SHORTEST = 4

#: `user:password@`, be there slashes and at-signs in the password; a port is none. A URL may lack its scheme.
_LOGIN = re.compile(r"(?:(?<=[\s:'\"(\[=,]//)|(?<=\A//))[^\s/?#@:'\"]*:(?!\s)(?!\d+(?:[/?#\s'\"),;]|$))\S*@")
_USER = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^\s/?#@:'\"]+)@")
#: Where a user or a container stands before the `@`; elsewhere it may be a token.
_USER_IS_KNOWN = frozenset(("abfs", "abfss", "wasb", "wasbs", "sftp", "ssh", "ftp", "hdfs", "webhdfs", "smb"))
#: `key=value` after a question mark, an ampersand or a hash; what ends the sentence is not of the value.
_PARAMETER = re.compile(r"(?<=[?&#;])([^\s=&#;'\"<>]+)=([^\s&#;'\"<>]+?)(?=[,.:)\]]*(?:[\s&#;'\"<>]|$))")
_SECRET = re.compile(
    r"sig|token|secret|passw|passphrase|passcode|pwd|key|credential|auth|session|^sas$|^code$|^access|private|^pass$"
    r"|^pw$|^psw$|delegation|bearer|jwt|assertion|ticket|cookie|hmac|saml|^otp$|^pin$",
    re.IGNORECASE,
)
_HIDES = re.compile(r"//|[?&]")


def redact(text: str) -> str:
    """The text, in which every URL has `***` in the place of its user and password, token, signature and key.

    A login that a URL of the text has is hidden everywhere in it: drivers take URLs apart before they complain.
    """
    if not _HIDES.search(text):
        return text
    text = without(text, logins_of(text))
    shown = _LOGIN.sub(f"{HIDDEN}@", text)
    return _PARAMETER.sub(_without_secret, _USER.sub(_without_token, shown))


def logins_of(text: str) -> tuple[str, ...]:
    """`user:password` and the password of every URL of the text, as written and with `%xx` decoded, longest first.

    Short passwords are not named alone, as they may be part of any word.
    """
    found: set[str] = set()
    for match in _LOGIN.finditer(text):
        login = match[0].removesuffix("@")
        password = login.partition(":")[2]
        for part in (login, password, login.partition("@")[0]):
            if len(part) >= _SHORTEST and HIDDEN not in part:
                found |= {part, unquote(part)}
    return tuple(sorted(found, key=lambda part: (-len(part), part)))


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


def cause_to_show(error: BaseException, url: str = "") -> BaseException | None:
    """The error itself for `raise ... from`; None where its text would show a secret, such as the login of `url`."""
    logins = logins_of(url)
    while_handled: BaseException | None = error
    while while_handled is not None:
        text = str(while_handled)
        if redact(text) != text or without(text, logins) != text:
            return None
        while_handled = while_handled.__cause__ or while_handled.__context__
    return error
