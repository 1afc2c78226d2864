"""Find the manifests below a directory."""

from __future__ import annotations

import os
import re
from pathlib import Path

ENDINGS = (".yaml", ".yml")
#: A declaration of a project's attributes may lie among the manifests, and is none.
_ATTRIBUTES = re.compile(rb"""^(?:["']?kind["']?\s*:\s*)["']?Attributes["']?\s*(?:#.*)?$""", re.MULTILINE)


def manifest_files(directory: str | os.PathLike[str]) -> tuple[str, ...]:
    """The files `*.yaml` and `*.yml` below a directory, sorted by path.

    Hidden files and directories are left out, and so are declarations of a project's attributes. Links to directories
    are not followed.
    """
    found: list[str] = []
    for where, inner, names in os.walk(directory):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        paths = (os.path.join(where, name) for name in names if _is_named_so(name))
        found += [path for path in paths if not _declares_attributes(path)]
    return tuple(sorted(found))


def _is_named_so(name: str) -> bool:
    return not name.startswith(".") and name.lower().endswith(ENDINGS)


def _declares_attributes(path: str) -> bool:
    """Whether a file does; one that cannot be read is for the reader of manifests to report."""
    try:
        return bool(_ATTRIBUTES.search(Path(path).read_bytes()))
    except OSError:
        return False
