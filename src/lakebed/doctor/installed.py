"""Find which libraries are installed, and whether their versions are those that Lakebed's own metadata ask for."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from lakebed.diagnostics import Diagnostic
from lakebed.doctor.report import Check, State

OUT_OF_BOUNDS = "LB7070"
#: What is missing, by library.
_MISSING = {"pyspark": "LB6127", "pyarrow": "LB7051"}

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*([^;]*)(?:;.*extra == ['\"]([^'\"]+)['\"])?")
_BOUND = re.compile(r"(>=|<=|==|!=|>|<)\s*([0-9.]+)")
_COMPARE: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Requirement:
    """A library that Lakebed asks for, `bounds` such as `>=4.0,<5`; `extra` is None for what it always needs."""

    library: str
    bounds: str
    extra: str | None

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """A line of `Requires-Dist`. Raises `ValueError` for another text."""
        found = _REQUIREMENT.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"{text!r} is no requirement")
        return cls(found[1], found[2].strip(), found[3])

    def allows(self, version: str) -> bool:
        """Whether a version is within the bounds; what follows its numbers, as in `4.1.0.dev1`, does not count."""
        numbers = _numbers(version)
        for sign, bound in _BOUND.findall(self.bounds):
            wanted = _numbers(bound)
            length = max(len(numbers), len(wanted))
            pair = (tuple((*given, *([0] * length))[:length]) for given in (numbers, wanted))
            if not _COMPARE[sign](*pair):
                return False
        return True


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", re.match(r"[\d.]*", version)[0])))  # type: ignore[index]


def requirements() -> tuple[Requirement, ...]:
    """What the installed Lakebed asks for, extras among it; nothing where it runs without being installed."""
    try:
        return tuple(map(Requirement.parse, metadata.requires("lakebed") or ()))
    except metadata.PackageNotFoundError:
        return ()


def installed(library: str) -> str | None:
    """The version of a library; None where it is not installed."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


def check_library(library: str, extra: str) -> Check:
    """Whether a library that an extra brings is there, of a version that is asked for."""
    version = installed(library)
    if version is None:
        remedy = f"pip install 'lakebed[{extra}]', if rows are to be read or written"
        return Check(library, State.WARN, "not installed", _MISSING[library], remedy)
    wanted = next((r for r in requirements() if r.library == library and r.extra == extra), None)
    if wanted is None or wanted.allows(version):
        return Check(library, State.OK, version + (f" ({wanted.bounds})" if wanted else ""))
    return Check.of(library, _out_of_bounds(wanted, version))


def check_extras() -> Check:
    """Which extras are installed whole, and whether all that Lakebed asks for has a version that goes with it."""
    asked = requirements()
    if not asked:
        problem = "Lakebed runs without being installed: which versions it works with is not known"
        return Check("extras", State.WARN, problem, OUT_OF_BOUNDS, "pip install lakebed")
    there = {r.library: installed(r.library) for r in asked}
    names = sorted({r.extra for r in asked if r.extra is not None})
    whole = [name for name in names if all(there[r.library] is not None for r in asked if r.extra == name)]
    lacking = [name for name in names if name not in whole]
    details = [f"not installed: {', '.join(lacking)}"] if lacking else []
    wrong = {r.library: (r, v) for r in asked if (v := there[r.library]) is not None and not r.allows(v)}
    if wrong:
        first, *others = (_out_of_bounds(r, v) for r, v in wrong.values())
        return Check.of("extras", first, details=[*(d.message for d in others), *details])
    missing = [r.library for r in asked if r.extra is None and there[r.library] is None]
    if missing:
        remedy = f"pip install {' '.join(missing)}"
        return Check("extras", State.FAIL, f"{', '.join(missing)} missing", OUT_OF_BOUNDS, remedy, tuple(details))
    return Check("extras", State.OK, ", ".join(whole) or "none", details=tuple(details))


def _out_of_bounds(wanted: Requirement, version: str) -> Diagnostic:
    return Diagnostic(
        OUT_OF_BOUNDS,
        f"{wanted.library} is {version}, and Lakebed works with {wanted.bounds}",
        expected=wanted.bounds,
        found=version,
        remedy=f"pip install '{wanted.library}{wanted.bounds}'",
    )
