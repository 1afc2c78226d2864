"""Read the register of stable codes `LBnnnn` from TOML files, one for each thousand.

Every diagnostic names a code `LBnnnn`. The first digit is the room: 1 manifest, 2 types and conversions, 3 catalog and
schema files, 4 evolution, 5 table format, 6 rows (ingest, quarantine, read), 7 command line. A code never changes its
meaning and is never given to something else. The register feeds `lakebed explain` and the docs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Code:
    """One entry: what happened, why it is a problem, an example, and how to mend it. Markdown text."""

    id: str
    title: str
    why: str
    example: str
    remedy: str


@cache
def register() -> Mapping[str, Code]:
    """All codes by id, in order; the files are read when this is first asked for."""
    # Only who asks for a code's text pays for these.
    import tomllib
    from importlib.resources import files

    found: dict[str, Code] = {}
    for file in sorted(files(__name__).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            for code, texts in tomllib.loads(file.read_text(encoding="utf-8")).items():
                if code in found:
                    raise ValueError(f"code {code} is registered twice")
                found[code] = _code(code, **texts)
    return MappingProxyType(found)


def _code(code: str, *, title: str, why: str, example: str, remedy: str) -> Code:
    """A code of the texts of its table; the lines of an example are kept, those of prose are put together."""
    return Code(code, _prose(title), _prose(why), example.removesuffix("\n"), _prose(remedy))


def _prose(text: str) -> str:
    return " ".join(text.splitlines())
