"""Read the manifest files that commands take: paths, and `-` for standard input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakebed.manifest import Manifest

STANDARD_INPUT = "-"


def manifest_sources(files: tuple[str, ...]) -> list[str | Manifest]:
    """What `Lake.plan` takes for these files. Raises `ManifestError` for what standard input holds."""
    from lakebed.manifest import parse_manifest

    return [
        parse_manifest(sys.stdin.buffer.read(), source="<stdin>") if file == STANDARD_INPUT else file for file in files
    ]
