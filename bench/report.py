"""Write `results.md` and its pictures from the results of the measurements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.goals import GOALS, PEERS, Goal, Results, growths

REPORT = Path(__file__).with_name("results.md")
IMAGES = Path(__file__).parents[1] / "docs" / "images"
_HEAD = """# Measurements

Written by `make bench`, which runs all of them in less than half an hour; `make bench BENCH='NAME...'` runs some again
and keeps the others. Figures are medians, and ratios are those of medians of one process, in which the ways took turns.
What each measures is in [README.md](README.md).
"""


def write_report(results: Results) -> None:
    """Write the report and, where there is something to show, the pictures."""
    from bench.pictures import draw_growth, draw_peers

    REPORT.write_text(report(results), encoding="utf-8")
    IMAGES.mkdir(exist_ok=True)
    if any(beside.value(results) is not None for beside in PEERS):
        draw_peers(results, IMAGES / "peers.png")
    if growths(results):
        draw_growth(results, IMAGES / "growth.png")


def report(results: Results) -> str:
    """The report in Markdown."""
    parts = [_HEAD, _ran_on(results), _goals(results), _growth(results), _failures(results)]
    parts += [_measurement(name, results[name]) for name in sorted(results) if "found" in results[name]]
    return "".join(parts)


def _table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def _ran_on(results: Results) -> str:
    rows: dict[tuple[str, str], list[str]] = {}
    for name, result in sorted(results.items()):
        told = ", ".join(f"{package} {version}" for package, version in result["versions"].items())
        rows.setdefault((result["machine"], told), []).append(f"{name} ({_seconds(result)}, {result['load before']})")
    text = "The load is how many processes ran or waited for a core before: above 1 something else was going on."
    head = ("machine", "versions", "measurements (seconds in all, load)")
    return f"\n{text}\n\n{_table(head, [(*on, ', '.join(names)) for on, names in rows.items()])}"


def _seconds(result: Mapping[str, Any]) -> str:
    return f"{result['took']} s" if "took" in result else "failed"


def _goals(results: Results) -> str:
    rows = [(goal.what, *_judged(goal, results)) for goal in GOALS]
    met = sum(row[-1] == "yes" for row in rows)
    missed = sum(row[-1] == "no" for row in rows)
    head = ("work", "measured", "goal", "met")
    text = f"Met: {met}. Not met: {missed}. Not measured: {len(rows) - met - missed}."
    return f"\n## Goals\n\n{text}\n\n{_table(head, rows)}"


def _judged(goal: Goal, results: Results) -> tuple[str, str, str]:
    value = goal.value(results)
    wanted = f"at {'least' if goal.at_least else 'most'} {goal.limit:g} {goal.unit}"
    if value is None:
        return "not measured", wanted, "?"
    return f"{value:g} {goal.unit}", wanted, "yes" if goal.is_met(value) else "no"


def _growth(results: Results) -> str:
    found = growths(results)
    if not found:
        return ""
    rows: list[tuple[object, ...]] = [
        (grown["with"], grown["what"], _costs(grown), f"{grown['exponent']:g}")
        for grown in sorted(found, key=lambda g: (g["with"], g["what"]))
    ]
    text = (
        "The exponent is that of a power law through the measured sizes: 0 does not grow, 1 is linear, 2 is the square."
    )
    return f"\n## Growth\n\n{text}\n\n{_table(('with', 'work', 'cost by size', 'exponent'), rows)}"


def _costs(grown: Mapping[str, Any]) -> str:
    return ", ".join(f"{int(size):,}: {cost:g}" for size, cost in grown["by"].items()) + f" {grown['unit']}"


def _failures(results: Results) -> str:
    failed = {name: result["failed"] for name, result in sorted(results.items()) if "failed" in result}
    lines = "".join(f"- `{name}` {_plain(why)}\n" for name, why in failed.items())
    return f"\n## Not measured\n\n{lines}" if failed else ""


def _plain(text: str) -> str:
    """Text of a message with no path of this machine in it."""
    return " ".join("..." if word.lstrip("'\"(").startswith("/") else word for word in text.split())


def _measurement(name: str, result: Mapping[str, Any]) -> str:
    found = {key: value for key, value in result["found"].items() if key != "growth"}
    rows: list[tuple[object, ...]] = [(" · ".join(path), value) for path, value in _leaves(found, ())]
    return f"\n## {name}\n\n{_table(('what', 'value'), rows)}"


def _leaves(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, (*path, str(key)))
    else:
        yield path, f"{value:,g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else value
