"""Read the manifest files that commands take: paths, and `-` for standard input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakebed.manifest import Manifest
    from lakebed.manifest.load import LoadedFile

STANDARD_INPUT = "-"
#: What positions in standard input say in the place of a file.
_NAME_OF_INPUT = "<stdin>"
_HERE = (".",)


def manifest_sources(files: tuple[str, ...]) -> list[str | Manifest]:
    """What `Lake.plan` takes for these files. Raises `ManifestError` for what standard input holds."""
    from lakebed.manifest import parse_manifest

    return [
        parse_manifest(sys.stdin.buffer.read(), source=_NAME_OF_INPUT) if file == STANDARD_INPUT else file
        for file in files
    ]


def load_files(files: tuple[str, ...]) -> list[LoadedFile]:
    """What these files, or those of the present directory, declare, each with what is wrong with it."""
    from lakebed.manifest.load import LoadedFile, load_each

    found: list[LoadedFile] = []
    for file in files or _HERE:
        if file == STANDARD_INPUT:
            found.append(LoadedFile.parse(sys.stdin.buffer.read(), _NAME_OF_INPUT))
        else:
            found += load_each([file])
    return list({loaded.source: loaded for loaded in found}.values())
