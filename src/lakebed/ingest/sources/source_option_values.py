"""Check the values of a source reader's options on which Spark would fail late or unclearly."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping

from lakebed.diagnostics import Diagnostic

BAD_OPTION = "LB6107"

_Rule = tuple[Callable[[str], bool], str]

_FLAG: _Rule = (lambda text: text.lower() in ("true", "false"), "true or false")
_ONE: _Rule = (lambda text: len(text) == 1, "one character")
_ONE_OR_NONE: _Rule = (lambda text: len(text) <= 1, "one character, or nothing")
_SOME: _Rule = (lambda text: text != "", "at least one character")
_COUNT: _Rule = (lambda text: text.isdecimal() and 0 < int(text) < 2**31, "a number from 1")
_COUNT_OR_ALL: _Rule = (lambda text: text == "-1" or _COUNT[0](text), "a number from 1, or -1 for no limit")
_END: _Rule = (lambda text: 0 < len(text) <= 2, "one or two characters")
_ON_QUOTES = ("STOP_AT_CLOSING_QUOTE", "BACK_TO_DELIMITER", "STOP_AT_DELIMITER", "SKIP_VALUE", "RAISE_ERROR")
_QUOTES: _Rule = (lambda text: text.upper() in _ON_QUOTES, ", ".join(_ON_QUOTES))
_WIDE = ("utf-16", "utf-32")


LATIN_1 = "ISO-8859-1"
#: The encodings that Spark knows, by what Python calls them.
_SPARK_NAMES = {
    "ascii": "US-ASCII",
    "iso8859-1": LATIN_1,
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-be": "UTF-16BE",
    "utf-16-le": "UTF-16LE",
    "utf-32": "UTF-32",
}


def text_encoding(name: str) -> str | None:
    """What Python calls an encoding of text; None where it has no such encoding, or one of something else."""
    try:
        found = codecs.lookup(name).name
        "".encode(found)
    except (LookupError, ValueError):
        return None
    return found


def _is_encoding(text: str) -> bool:
    """Whether a name, of Java or of Python, is that of an encoding that Spark reads."""
    return text_encoding(text) in _SPARK_NAMES


_ENCODINGS = ", ".join(_SPARK_NAMES.values())
_ENCODING: _Rule = (_is_encoding, f"one of {_ENCODINGS}")
_CONVERT = "convert the source to UTF-8, for example with iconv -f WINDOWS-1252 -t UTF-8 in.csv > out.csv"


def _is_separator(text: str) -> bool:
    """Whether a text can separate the digits of a number: one character that no number has."""
    return len(text) == 1 and not (text.isalnum() or text in '+-\r\n"' or "\ud800" <= text <= "\udfff")


_SEPARATOR: _Rule = (_is_separator, "one character that is no letter, digit, sign or quote")
_PATTERN: _Rule = (lambda text: all(line.strip() for line in text.split("\n")), "datetime patterns that are not empty")

_RULES: dict[str, _Rule] = {
    "decimalseparator": _SEPARATOR,
    "groupingseparator": _SEPARATOR,
    "dateformat": _PATTERN,
    "timestampformat": _PATTERN,
    "timestampntzformat": _PATTERN,
    "sep": _SOME,
    "delimiter": _SOME,
    "encoding": _ENCODING,
    "charset": _ENCODING,
    "quote": _ONE_OR_NONE,
    "escape": _ONE_OR_NONE,
    "chartoescapequoteescaping": _ONE_OR_NONE,
    "comment": _ONE,
    "header": _FLAG,
    "multiline": _FLAG,
    "linesep": _END,
    "ignoreleadingwhitespace": _FLAG,
    "ignoretrailingwhitespace": _FLAG,
    "maxcolumns": _COUNT,
    "maxcharspercolumn": _COUNT_OR_ALL,
    "unescapedquotehandling": _QUOTES,
}


def spark_encoding(text: str) -> str:
    """An encoding by the name that Spark has for it; any other text as it is."""
    return _SPARK_NAMES.get(text_encoding(text) or "", text)


def option_problems(texts: Mapping[str, str], names: Mapping[str, str]) -> list[Diagnostic]:
    """What is wrong with the values of options, by their names in lower case; `names` has the usual spelling."""
    found = []
    for key, text in texts.items():
        takes, expected = _RULES.get(key, (_anything, ""))
        if not takes(text):
            name = names.get(key, key)
            message = f"the reader's option {name} cannot be {text!r}"
            remedy = f"the encodings are {_ENCODINGS}; {_CONVERT}" if takes is _is_encoding else f"give {expected}"
            found.append(Diagnostic(BAD_OPTION, message, path=name, expected=expected, found=text, remedy=remedy))
    if not found:
        found += [*_torn_lines(texts), *_clashing_separators(texts)]
    return found


def _torn_lines(texts: Mapping[str, str]) -> list[Diagnostic]:
    encoding = texts.get("encoding", texts.get("charset", "UTF-8"))
    if texts.get("multiline", "true").lower() == "true" or not is_wide(encoding):
        return []
    message = f"a CSV file in {encoding} cannot be read line by line: Spark would split it inside of characters"
    remedy = "leave multiLine out: it is on for such a file"
    expected, given = "multiLine=true", "multiLine=false"
    return [Diagnostic(BAD_OPTION, message, path="multiLine", expected=expected, found=given, remedy=remedy)]


def _clashing_separators(texts: Mapping[str, str]) -> list[Diagnostic]:
    """Separators of numbers that are the same, or are those of the values of a line without quotes."""
    decimal, grouping = texts.get("decimalseparator", "."), texts.get("groupingseparator", "")
    found = []
    if decimal == grouping:
        message = f"decimalSeparator and groupingSeparator are both {decimal!r}"
        remedy = "give both: decimalSeparator is a point unless it is said"
        found.append(Diagnostic(BAD_OPTION, message, path="groupingSeparator", found=grouping, remedy=remedy))
    between = texts.get("sep", texts.get("delimiter", ","))
    if texts.get("quote") == "":
        for name, text in (("decimalSeparator", decimal), ("groupingSeparator", grouping)):
            if text == between:
                message = f"{name} is {text!r}, which is also between the values of a line, and nothing is quoted"
                remedy = "give sep, or quote"
                found.append(Diagnostic(BAD_OPTION, message, path=name, found=text, remedy=remedy))
    return found


def lines_encoding_problems(encoding: str) -> list[Diagnostic]:
    """What is wrong with an encoding of JSON lines: the wide ones could hide a line break inside of a character."""
    if not is_wide(encoding):
        return []
    message = f"JSON lines in {encoding} are not read"
    narrow = ", ".join(name for name in _SPARK_NAMES.values() if not is_wide(name))
    remedy = f"the encodings are {narrow}; {_CONVERT}"
    return [Diagnostic(BAD_OPTION, message, path="encoding", expected=narrow, found=encoding, remedy=remedy)]


def is_wide(encoding: str) -> bool:
    """Whether Spark's splitting into lines would tear characters of the encoding apart."""
    return codecs.lookup(encoding).name.startswith(_WIDE)


def _anything(_: str) -> bool:
    return True
