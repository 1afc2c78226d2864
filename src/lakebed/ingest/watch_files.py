"""Ingest the files of a source as they come, each once, when they are complete.

A file is taken for complete where two looks at it, one after the other, find the same size and the same time of its
last change. What was ingested, the table remembers: a watch that has ended, however it did, goes on when begun again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from lakebed.errors import IngestError, NotFoundError, UsageError
from lakebed.ingest.arguments import BAD_ARGUMENT, NamedFiles, WatchKeywords, check_arguments, source_paths
from lakebed.ingest.ingest import table_job, untold
from lakebed.ingest.ingest_context import IngestContext
from lakebed.ingest.run_history import IngestResult
from lakebed.ingest.sources.source_listing import FoundFile, LeftOut, file_choice
from lakebed.spark.spark_errors import known_failures

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakebed.ingest.source_job import SourceJob

#: How long a watch waits between two looks unless it is told.
EVERY = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to wait between two looks, and how long nothing may come before the watch ends; None is for ever."""

    every: timedelta = EVERY
    stop_after_idle: timedelta | None = None
    sleep: Callable[[float], None] = time.sleep

    def check(self) -> None:
        """Raise `UsageError` (LB6109) for times that make no sense."""
        for name, value, least in (("every", self.every, 1), ("stop_after_idle", self.stop_after_idle, 0)):
            given: object = value
            if given is not None and not (isinstance(given, timedelta) and given >= timedelta(milliseconds=least)):
                raise UsageError.of(
                    BAD_ARGUMENT,
                    f"{name} is {value!r}",
                    expected="a timedelta, such as timedelta(seconds=10)",
                    found=repr(value),
                )


@dataclass(slots=True)
class Looks:
    """What was seen of files at the last look, and as what those were that have been taken."""

    seen: dict[str, FoundMark] = field(default_factory=dict)
    taken: dict[str, FoundMark] = field(default_factory=dict)

    def look(self, files: Sequence[FoundFile]) -> tuple[frozenset[str], bool]:
        """The paths of files that are complete and not taken yet, and whether others may become so."""
        now = {f.path: (f.size, f.modified) for f in files}
        new = {path for path, mark in now.items() if self.taken.get(path) != mark}
        complete = frozenset(path for path in new if self.seen.get(path) == now[path])
        self.seen = now
        return complete, len(complete) < len(new)

    def take(self, paths: frozenset[str]) -> None:
        """Note that files were ingested as they were last seen; what is gone is forgotten."""
        self.taken |= {path: self.seen[path] for path in paths}
        self.taken = {path: mark for path, mark in self.taken.items() if path in self.seen}


#: Size and time of last change.
FoundMark = tuple[int | None, int | None]


@dataclass(slots=True)
class _Watch:
    context: IngestContext
    spark: Callable[[], SparkSession]
    table: str
    named: NamedFiles
    asked: WatchKeywords
    pace: Pace
    looks: Looks = field(default_factory=Looks)
    left_out: frozenset[LeftOut] = frozenset()

    def results(self) -> Iterator[IngestResult]:
        waited = timedelta()
        while True:
            result, is_idle = self._look()
            if result is not None:
                yield result
            limit = self.pace.stop_after_idle
            if is_idle and limit is not None and waited >= limit:
                return
            self.pace.sleep(self.pace.every.total_seconds())
            waited = waited + self.pace.every if is_idle else timedelta()

    @known_failures(IngestError)
    def _look(self) -> tuple[IngestResult | None, bool]:
        """The result of what was complete, if anything was, and whether nothing has come."""
        job = self.job()
        found = job.listed(self.named)
        complete, may_come = self.looks.look(found.files)
        if not complete:
            return None, not may_come
        job.memory.load()
        result = job.of_files(replace(self.named, only=complete), None, again=False, dry_run=False)
        self.looks.take(complete)
        left_out = tuple(x for x in found.left_out if x not in self.left_out)
        self.left_out = frozenset(found.left_out)
        return replace(result, left_out=left_out), False

    def job(self) -> SourceJob:
        """What ingests into the table as it is now."""
        job = table_job(self.context, self.spark, self.table, self.asked)
        return replace(job, tell=self.asked.get("progress") or untold)


def watch(
    context: IngestContext,
    spark: SparkSession | Callable[[], SparkSession],
    table: str,
    source: Any,
    pace: Pace,
    asked: WatchKeywords,
) -> Iterator[IngestResult]:
    """The results of ingests of files as they come; see `lakebed.Lake.watch`."""
    pace.check()
    folders, unknown = asked.get("folders", "columns"), asked.get("unknown_columns", "fail")
    check_arguments(unknown, folders)
    choice = file_choice(asked.get("include"), asked.get("exclude"))
    paths = source_paths(source)
    named = NamedFiles(paths, choice, asked.get("format"), asked.get("options"), folders == "columns")
    opened = cache(spark if callable(spark) else lambda: spark)
    watching = _Watch(context, opened, table, named, asked, pace)
    # What makes no sense is told now, and not when the first result is asked for.
    watching.job()
    _check_there(context, paths)
    return watching.results()


def _check_there(context: IngestContext, paths: Sequence[Any]) -> None:
    """Raise `NotFoundError` (LB6101) for a place that is not there: files would never come."""
    for path in paths:
        root = context.sources.open(os.fspath(path))[1]
        # A storage of objects has no directories: where there is no object there is nothing.
        if "://" not in root and not any(sign in root for sign in "*?[") and not os.path.exists(root):
            raise NotFoundError.of(
                "LB6101",
                f"there is no {str(path)!r} to be watched",
                path=str(path),
                found=root,
                remedy="make the directory, or mend the path; files that come into a directory may come later",
            )
