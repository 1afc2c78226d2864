"""Two Spark applications write two tables at once: every commit that was acknowledged is there, once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

import lakebed
from referees.client import Referees
from referees.java import JavaReferee
from write.two_writers_job import both_value

pytestmark = [pytest.mark.spark, pytest.mark.slow]
#: For so long, and each kind of step twice at least, both write; `LAKEBED_WRITERS_SECONDS=60` makes it a minute.
SECONDS = float(os.environ.get("LAKEBED_WRITERS_SECONDS", "8"))
TESTS = Path(__file__).parents[1]
NAMES = ("a", "b")
STEPS = APPEND, UPSERT, RAISE_LOG, RAISE_KEYED = range(4)
LEAST = 2 * len(STEPS)
TABLES = {"db.log": (APPEND, RAISE_LOG), "db.keyed": (UPSERT, RAISE_KEYED)}


@pytest.fixture
def tables(lake: lakebed.Lake, referees: Referees) -> lakebed.Lake:
    """Both tables, each with a count."""
    options = {"commit.max-retries": "100"}
    columns = ["k STRING NOT NULL", "v INT"]
    lake.tables.create_table("db", "log", columns, options=options)
    lake.tables.create_table("db", "keyed", columns, primary_keys=["k"], options={**options, "bucket": "2"})
    for table in TABLES:
        referees.append(lake.warehouse, table, [["count", 0]])
    return lake


@pytest.fixture
def applications(tables: lakebed.Lake) -> Iterator[list[subprocess.Popen[str]]]:
    """Both, ready to write."""
    path = os.pathsep.join((str(TESTS.parent / "src"), str(TESTS)))
    environment = {**os.environ, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    with ExitStack() as stack:
        found = []
        for name in NAMES:
            job = subprocess.Popen(
                [sys.executable, "-m", "write.two_writers_job", name, tables.warehouse],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
            )
            found.append(stack.enter_context(job))
            stack.callback(job.kill)
        for job in found:
            assert answer(job) == "ready"
        yield found


def answer(job: subprocess.Popen[str]) -> Any:
    assert job.stdout is not None
    return json.loads(job.stdout.readline())


def ask(jobs: list[subprocess.Popen[str]], line: str) -> list[Any]:
    """What both answer."""
    for job in jobs:
        assert job.stdin is not None
        job.stdin.write(f"{line}\n")
        job.stdin.flush()
    return [answer(job) for job in jobs]


@dataclass(frozen=True)
class Done:
    """A commit that was acknowledged."""

    writer: str
    step: int
    number: int
    snapshot: int

    @property
    def name(self) -> str:
        return f"{self.writer}-{self.number}"


def rows_of_log(done: Sequence[Done]) -> list[tuple[str, int]]:
    appended = [(f"{d.name}{end}", d.number) for d in done if d.step == APPEND for end in ("", "!")]
    return sorted([*appended, ("count", sum(d.step == RAISE_LOG for d in done))])


def rows_of_keyed(done: Sequence[Done]) -> list[tuple[str, int]]:
    """Of a row that both write, the one of the later snapshot counts."""
    upserts = sorted((d for d in done if d.step == UPSERT), key=lambda d: d.snapshot)
    found = {d.name: d.number for d in upserts} | {"count": sum(d.step == RAISE_KEYED for d in done)}
    if upserts:
        found["both"] = both_value(upserts[-1].writer, upserts[-1].number)
    return sorted(found.items())


def test_every_acknowledged_commit_is_there_once(
    tables: lakebed.Lake, applications: list[subprocess.Popen[str]], referees: Referees, java: JavaReferee
) -> None:
    done, number, until = [], 0, time.time() + SECONDS
    while number < LEAST or time.time() < until:
        # Both begin the same at the same time, so that one of them is too late.
        step = number % len(STEPS)
        made = ask(applications, f"{step} {number}")
        done += [Done(name, step, number, snapshot) for name, snapshot in zip(NAMES, made, strict=True) if snapshot]
        number += 1
    seen = ask(applications, "read")
    counts = reduce(Counter.__add__, map(Counter, ask(applications, "end")))
    # What is printed is seen with `-s`, or where this fails.
    print(f"{len(done)} of {2 * number} writes acknowledged", dict(counts))
    assert counts["lost races"] + counts["changes made again"]
    assert {d.writer for d in done} == set(NAMES)
    for table, steps in TABLES.items():
        handle = tables.table(table)
        mine = [d for d in done if d.step in steps]
        # Each has a snapshot of its own, and no snapshot is there that nobody was told of.
        assert sorted(d.snapshot for d in mine) == handle.snapshots.ids()[1:]
        users = {s.id: s.commit_user for s in handle.snapshots.newest_first()}
        assert {d.snapshot: d.name for d in mine} == {number: user for number, user in users.items() if number > 1}
        assert handle.orphan_files(min_age=timedelta(0)).files == ()

    wanted = {"db.log": rows_of_log(done), "db.keyed": rows_of_keyed(done)}
    for found in seen:
        assert {table: in_order(rows) for table, rows in found.items()} == wanted
    for table, rows in wanted.items():
        for reader in ("pypaimon", "rust"):
            assert in_order(referees.rows(reader, tables.warehouse, table)) == rows
        assert in_order(java.rows(tables.warehouse, table)) == rows


def in_order(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, rows))
