"""Draw Lakebed beside its peers, and how costs grow: on a light card, so that both are read on light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from bench.goals import PEERS, Results, growths

#: Pages show the pictures 800 pixels wide, which are 8 inches here; twice as many pixels for sharp screens.
WIDTH, DPI = 8, 200
CARD, BORDER, TEXT, QUIET, LINES = "#ffffff", "#d0d7de", "#1f2328", "#59636e", "#e6eaef"
FASTER, SLOWER = "#0f766e", "#b45309"
#: As many works are shown of each kind of growth.
COLOURS = ("#b45309", "#0f766e", "#4f46e5", "#be185d", "#57534e")
GROWN = ("rows", "files", "versions", "columns")
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": TEXT,
    "axes.labelcolor": QUIET,
    "axes.edgecolor": BORDER,
    "xtick.color": QUIET,
    "ytick.color": TEXT,
}


def draw_peers(results: Results, path: Path) -> None:
    """Bars to the right where Lakebed is faster than the peer, to the left where it is slower."""
    bars = [(b, value) for b in PEERS if (value := b.times_faster(results)) is not None]
    bars.sort(key=lambda bar: bar[1])
    with mpl.rc_context(STYLE):
        figure = _card(
            0.34 * len(bars) + 1.2, "Lakebed beside its peers", "how many times as fast, on a logarithmic scale"
        )
        axes = figure.add_axes((0.44, 0.42 / figure.get_figheight(), 0.52, 1 - 1.22 / figure.get_figheight()))
        _draw_bars(axes, [(f"{b.what}\nagainst {b.peer}", value) for b, value in bars])
        _save(figure, path)


def _draw_bars(axes: Axes, bars: list[tuple[str, float]]) -> None:
    values = [value for _, value in bars]
    axes.set_xscale("log")
    axes.set_xlim(min([0.4, *values]) * 0.8, max([2.5, *values]) * 6)
    for place, (text, value) in enumerate(bars):
        colour = FASTER if value >= 1 else SLOWER
        axes.barh(place, value - 1, left=1, height=0.62, color=colour)
        end = max(value, 1)
        place_of_text = {"xytext": (5, 0), "textcoords": "offset points", "ha": "left", "va": "center"}
        axes.annotate(_told(value), (end, place), color=colour, fontsize=9, **place_of_text)
        what, peer = text.split("\n")
        axes.text(-0.02, place + 0.13, what, transform=axes.get_yaxis_transform(), ha="right", va="center")
        axes.text(
            -0.02,
            place - 0.27,
            peer,
            transform=axes.get_yaxis_transform(),
            ha="right",
            va="center",
            fontsize=7.5,
            color=QUIET,
        )
    axes.axvline(1, color=TEXT, linewidth=1)
    axes.set_yticks([])
    axes.xaxis.set_major_locator(
        FixedLocator([t for t in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if _shown(axes, t)])
    )
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    _plain(axes, "x")


def _told(times: float) -> str:
    if 0.995 < times < 1.005:
        return "the same"
    return f"{times:.3g} times faster" if times > 1 else f"{1 / times:.3g} times as long"


def _shown(axes: Axes, tick: float) -> bool:
    low, high = axes.get_xlim()
    return low <= tick <= high


def draw_growth(results: Results, path: Path) -> None:
    """One chart for each of what grows: costs by size, both logarithmic, so that linear growth is a slope of one."""
    found = growths(results)
    shown = [grown for grown in GROWN if any(one["with"] == grown for one in found)]
    rows = (len(shown) + 1) // 2
    with mpl.rc_context(STYLE):
        height = 2.8 * rows + 0.75
        figure = _card(
            height,
            "How costs grow",
            "time by size, both logarithmic; behind each work its exponent: 1 is linear, as the dashed line",
        )
        for place, grown in enumerate(shown):
            row, column = divmod(place, 2)
            bottom = 1 - (1.1 + 2.8 * row + 2.05) / height
            axes = figure.add_axes((0.085 + 0.49 * column, bottom, 0.40, 2.05 / height))
            _draw_costs(axes, grown, [one for one in found if one["with"] == grown])
        _save(figure, path)


def _draw_costs(axes: Axes, grown: str, found: list[Mapping[str, Any]]) -> None:
    """Seconds by size, of the works that grow most."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    steepest = sorted(found, key=lambda one: -one["exponent"])[: len(COLOURS)]
    for colour, one in zip(COLOURS, steepest, strict=False):
        by = {int(size): max(cost, 1e-4) for size, cost in one["by"].items()}
        label = f"{one['what']}: {one['exponent']:g}"
        axes.plot(list(by), list(by.values()), marker="o", markersize=4, linewidth=1.8, color=colour, label=label)
    sizes = sorted({int(size) for one in steepest for size in one["by"]})
    costs = [max(cost, 1e-4) for one in steepest for cost in one["by"].values()]
    # Whole powers of ten, and room for what the lines are.
    low, high = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)))
    axes.set_ylim(10**low, 10 ** (high + (high - low) * (0.06 + 0.13 * len(steepest))))
    grown_most = min(sizes[-1] / sizes[0], 10**high / min(costs))
    linear = [min(costs), min(costs) * grown_most]
    axes.plot([sizes[0], sizes[0] * grown_most], linear, "--", color=QUIET, linewidth=1, zorder=1)
    axes.set_title(f"with {grown}", loc="left", fontsize=10.5, color=TEXT, pad=6)
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: _short(size)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda cost, _: f"{cost:g} s" if cost >= 1 else f"{cost * 1000:g} ms"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="y", colors=QUIET)
    _plain(axes, "both")
    axes.legend(loc="upper left", fontsize=7.6, frameon=False, labelcolor=TEXT, handlelength=1.4, borderaxespad=0.1)


def _short(size: float) -> str:
    for unit, text in ((1_000_000, "M"), (1_000, "k")):
        if size >= unit:
            return f"{size / unit:g}{text}"
    return f"{size:g}"


def _plain(axes: Axes, grid: str) -> None:
    axes.set_facecolor("none")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis=grid, color=LINES, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=8.5)
    for side in axes.spines.values():
        side.set_visible(False)


def _card(height: float, title: str, subtitle: str) -> Figure:
    """A figure with a card on it whose corners let the page through."""
    figure = Figure(figsize=(WIDTH, height), facecolor="none")
    edge = 0.03
    figure.add_artist(
        FancyBboxPatch(
            (edge, edge),
            WIDTH - 2 * edge,
            height - 2 * edge,
            boxstyle="round,pad=0,rounding_size=0.12",
            transform=figure.dpi_scale_trans,
            facecolor=CARD,
            edgecolor=BORDER,
            zorder=-1,
        )
    )
    figure.text(0.028, 1 - 0.34 / height, title, fontsize=13, fontweight="bold", va="center")
    figure.text(0.028, 1 - 0.58 / height, subtitle, fontsize=9, color=QUIET, va="center")
    return figure


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=DPI, transparent=True, metadata={"Software": None})
