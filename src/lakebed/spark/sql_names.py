"""Quote names of columns and files for Spark."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

_STRICT = {"ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}
_WITHOUT_CHECKSUMS = {
    "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "fs.file.impl.disable.cache": "true",
}
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


def file_options(paths: Iterable[str]) -> dict[str, str]:
    """Options of Spark's readers for such files: none is left out that cannot be read.

    Hadoop's usual file system takes the checksum file beside `a:b.csv` for a URL; where there is such a local file,
    another one reads, which looks for none.
    """
    colon = any("://" not in path and ":" in path.rpartition("/")[2] for path in paths)
    return {**_STRICT, **(_WITHOUT_CHECKSUMS if colon else {})}


def spark_pattern(path: str) -> str:
    """A path or URL for readers that take patterns: the URL with what they would take for one escaped."""
    return _GLOB.sub(r"\\\g<0>", spark_url(path))
