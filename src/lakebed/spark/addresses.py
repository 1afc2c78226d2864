"""How columns and files are named to Spark."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

#: What a reader would take for a pattern.
_GLOB = re.compile(r"[\\{}\[\]*?]")


def quote_name(name: str) -> str:
    """A column name in backticks, for `F.col` and SQL text."""
    return "`" + name.replace("`", "``") + "`"


def spark_url(path: str) -> str:
    """A path or URL as a URL whose characters stand for themselves."""
    return path if "://" in path else f"file://{Path(path).absolute()}"


def plain_url(url: str) -> str:
    """The path of a file as people write it, from the quoted URL that Spark gives."""
    return unquote(re.sub("^file:(//)?(?=/)", "", url))


def spark_pattern(path: str) -> str:
    """A path or URL for readers that take patterns: the URL with what they would take for one escaped."""
    return _GLOB.sub(r"\\\g<0>", spark_url(path))
