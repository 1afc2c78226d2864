"""Read the register of stable codes `LBnnnn` from TOML files, one for each thousand.

Every diagnostic names a code `LBnnnn`. The first digit is the room: 1 manifest, 2 types and conversions, 3 catalog and
schema files, 4 evolution, 5 table format, 6 rows (ingest, quarantine, read), 7 command line. A code never changes its
meaning and is never given to something else. The register feeds `lakebed explain` and the docs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    # Only who asks for a code's text pays for this.
    import tomllib

    found: dict[str, Code] = {}
    for text in _files():
        for code, texts in tomllib.loads(text).items():
            if code in found:
                raise ValueError(f"code {code} is registered twice")
            found[code] = _code(code, **texts)
    return MappingProxyType(found)


def titles(room: str | None = None) -> dict[str, str]:
    """The titles of all codes, or of a room's, by id, in order; many times faster than the register: for a key press.

    `room` is what the name of its file says, such as `evolution`.
    """
    import re

    title = re.compile(r'^\[(LB\d{4})\]\ntitle = "(.*)"$', re.MULTILINE)
    return {code: said.replace('\\"', '"') for text in _files(room) for code, said in title.findall(text)}


def _files(room: str | None = None) -> Iterator[str]:
    """The files of the register, in the order of their codes, or that of a room."""
    from importlib.resources import files

    ending = ".toml" if room is None else f"_{room}.toml"
    for file in sorted(files(__name__).iterdir(), key=lambda file: file.name):
        if file.name.endswith(ending):
            yield file.read_text(encoding="utf-8")


def _code(code: str, *, title: str, why: str, example: str, remedy: str) -> Code:
    """A code of the texts of its table; the lines of an example are kept, those of prose are put together."""
    return Code(code, _prose(title), _prose(why), example.removesuffix("\n"), _prose(remedy))


def _prose(text: str) -> str:
    return " ".join(text.splitlines())
