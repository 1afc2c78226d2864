"""Report columns that a source lacks, and those of it that the table does not have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lakebed.diagnostics import Diagnostic, near_names
from lakebed.evolve.former_names import FORMER_NAME
from lakebed.ingest.sources.remedies import IGNORE_FOLDERS, IGNORE_UNKNOWN, Remedy, reader_options, say
from lakebed.physical import path_text

MISSING = "LB6111"
NONE_KNOWN = "LB6140"
UNKNOWN = "LB6112"

_NO_BLANKS = reader_options(ignoreLeadingWhiteSpace="true", ignoreTrailingWhiteSpace="true")


class UnknownColumns(StrEnum):
    """What becomes of columns of a source that the table does not have: they fail the run, are left out, or make the
    rows bad that have a value there.
    """

    FAIL = "fail"
    IGNORE = "ignore"
    QUARANTINE = "quarantine"


@dataclass(frozen=True, slots=True)
class Names:
    """The names at one level: those that the source has, of which folders say some, and those that the table has.

    `where` names the source in a message, with a space before.
    """

    found: Collection[str]
    declared: Sequence[str]
    where: str = ""
    folders: Collection[str] = ()

    @property
    def unknown(self) -> list[str]:
        """Those that only the source has."""
        return [n for n in self.found if n not in self.declared]

    @property
    def absent(self) -> list[str]:
        """Those that only the table has."""
        return [n for n in self.declared if n not in self.found]


def missing_column(path: Sequence[str], expected: str, names: Names) -> Diagnostic:
    """A required column that the source does not have; `names` are those of its level."""
    name, own = path_text(path), path[-1]
    alike = _in_another_case(own, names.unknown) or _alike(own, names.unknown, lone=len(names.absent) == 1)
    remedy = "add the column to the source, or declare it as an Option"
    if alike:
        named = " or ".join(alike)
        remedy += f"; if it is called {named} now, declare that name with `lakebed.dev/renamedFrom: {own}`"
    return Diagnostic(
        MISSING,
        f"the source{names.where} has no column {name}, which is required",
        path=name,
        expected=expected,
        found=", ".join(names.found) or "no columns",
        suggestions=alike,
        remedy=remedy,
    )


def unknown_column(
    path: str, name: str, names: Names, former: Sequence[str], *, ignore: bool = False
) -> Iterator[Diagnostic]:
    """What there is to say of a column of the source that is not declared.

    `former` are the columns that bore its name before. `ignore` says that what is not declared is left out; not so a
    column that the source has under a former name only.
    """
    if former and not (ignore and any(other in names.found for other in former)):
        named = " and ".join(former)
        yield Diagnostic(
            FORMER_NAME,
            f"the source{names.where} has a column {path}, as {named} of the table was called before",
            path=path,
            expected=named,
            found=name,
            suggestions=tuple(former),
            remedy=f"call it {named} in the source too; if it is something else, declare it as a column of its own",
        )
    elif not ignore and name in names.folders:
        yield Diagnostic(
            UNKNOWN,
            f"the source{names.where} lies in folders {path}=..., and the table has no column {path}",
            path=path,
            suggestions=_in_another_case(name, names.declared) or near_names(name, names.absent),
            **say("declare the column, or give {}: folders are no columns then", IGNORE_FOLDERS).parts,
        )
    elif not ignore:
        bare, lone = name.strip(), len(names.unknown) == 1
        # Rows of JSON may have one name each: the other may be there, and be meant.
        alike = _in_another_case(bare, names.declared) or _alike(bare, names.absent, lone=lone)
        yield Diagnostic(
            UNKNOWN,
            f"the source{names.where} has a column {path}, which the table does not have",
            path=path,
            suggestions=alike,
            **_unknown_remedy(name, [n for n in alike if n in names.absent]).parts,
        )


def none_known(found: Sequence[str], declared: Sequence[str], where: str = "") -> Iterator[Diagnostic]:
    """What there is to say of a source of whose columns the table has none: not even one row of it means anything."""
    if not set(found) & set(declared):
        yield Diagnostic(
            NONE_KNOWN,
            f"the source{where} has none of the table's columns",
            expected=", ".join(declared),
            found=", ".join(found) or None,
            remedy="give a source that has some of them; columns that are not declared are left out, but not all",
        )


def _in_another_case(name: str, others: Iterable[str]) -> tuple[str, ...]:
    """The names that differ from this one in case only: whatever else is near, one of them is meant."""
    return tuple(other for other in others if other.strip().casefold() == name.strip().casefold())


def _alike(name: str, others: Sequence[str], *, lone: bool) -> tuple[str, ...]:
    """The names that may be meant: near ones, else those with a word in common, else the only one for a lone name."""
    words = set(name.casefold().split("_"))
    common = tuple(other for other in others if words & set(other.casefold().split("_")))
    return near_names(name, others) or common[:2] or (tuple(others) if lone and len(others) == 1 else ())


def _unknown_remedy(name: str, absent: Sequence[str]) -> Remedy:
    if name != name.strip():
        return say(
            "take the blanks out of the name (for CSV with {}), declare it, or give {}", _NO_BLANKS, IGNORE_UNKNOWN
        )
    renamed = f" (with `lakebed.dev/renamedFrom: {absent[0]}` where it is that column)" if absent else ""
    named = "rename it in the source (names match case-sensitively), leave it out there"
    return IGNORE_UNKNOWN.after(f"declare it{renamed}, {named}, or give ")
