"""Give each remedy of an ingest as flags of the command line and as arguments of Python."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Remedy:
    """A remedy as it is said to who uses the command line, and to who calls `lake.ingest`."""

    command: str
    python: str

    def after(self, text: str) -> Remedy:
        """The same with this text before it."""
        return Remedy(text + self.command, text + self.python)

    @property
    def parts(self) -> dict[str, Any]:
        """The fields of a `Diagnostic`."""
        return {"remedy": self.command, "python_remedy": self.python}


def both(text: str) -> Remedy:
    """A remedy that both are told in the same words."""
    return Remedy(text, text)


def reader_options(**values: str) -> Remedy:
    """Reader options as flags that a shell takes as they are, and as an argument."""
    flags = " ".join(f"--option {shlex.quote(f'{name}={value}')}" for name, value in values.items())
    return Remedy(flags, f"options={values!r}")


def source_format(name: str) -> Remedy:
    """The format of a source as a flag and as an argument."""
    return Remedy(f"--format {name}", f"format={str(name)!r}")


def say(text: str, *given: Remedy) -> Remedy:
    """A sentence of our own whose `{}` are what is given; what a source says may have braces and goes before it."""
    return Remedy(text.format(*(g.command for g in given)), text.format(*(g.python for g in given)))


IGNORE_UNKNOWN = Remedy("--ignore-unknown-columns", 'unknown_columns="ignore" (ingest, overwrite_from)')
IGNORE_FOLDERS = Remedy("--ignore-folders", 'folders="ignore"')
AGAIN = Remedy("--again", "again=True")
REPLAY = Remedy("lakebed quarantine replay", "lake.quarantine(table).replay")
EXCLUDE = Remedy("--exclude", "exclude")
INCLUDE = Remedy("--include", "include")
