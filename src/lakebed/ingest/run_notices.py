"""Warn of files read otherwise than before or than they are, rows ingested twice, and runs without a good row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lakebed.diagnostics import Diagnostic, Severity
from lakebed.ingest import run_history as runs
from lakebed.ingest.run_history import IngestResult
from lakebed.ingest.run_memory import RunRecord
from lakebed.ingest.sources.remedies import AGAIN, REPLAY, say
from lakebed.ingest.sources.source_files import SourceFile
from lakebed.ingest.sources.source_parts import label

READ_OTHERWISE = "LB6134"
ROWS_TWICE = "LB6135"
ALL_BAD = "LB6137"
NO_ROWS = "LB6138"


def read_otherwise(before: Iterable[tuple[SourceFile, RunRecord]], read_as: str) -> tuple[Diagnostic, ...]:
    """A warning for files that are skipped, and that earlier runs have read in another way than `read_as`."""
    ways: dict[str, set[str]] = {}
    for file, record in before:
        ways.setdefault(file.path, set()).add(record.properties.get(runs.READ_AS, read_as))
    # A file that some run has read in this way is done; a run that does not say how it read is taken for one.
    paths = [path for path, found in ways.items() if read_as not in found]
    if not paths:
        return ()
    return (
        Diagnostic(
            READ_OTHERWISE,
            f"skipped{label(paths)}: ingested before, read with other options",
            Severity.WARNING,
            path=paths[0],
            **say(
                "{} with these options ingests the rows that were bad; to ingest all rows with them, roll the table "
                "back to before that run, or delete its rows, and then give {}, which by itself would put the good "
                "rows into the table twice",
                REPLAY,
                AGAIN,
            ).parts,
        ),
    )


def rows_twice(before: Sequence[tuple[SourceFile, RunRecord]], result: IngestResult) -> tuple[Diagnostic, ...]:
    """A warning where the run has ingested files whose good rows were in the table."""
    there = [(file, record) for file, record in before if record.number(runs.ROWS_WRITTEN)]
    if not there or not result.rows_written:
        return ()
    paths = list(dict.fromkeys(file.path for file, _ in there))
    ids = ", ".join(dict.fromkeys(record.run_id for _, record in there))
    return (
        Diagnostic(
            ROWS_TWICE,
            f"the good rows of{label(paths)} are in {result.table} twice now: they were ingested before (run {ids})",
            Severity.WARNING,
            path=paths[0],
            found=ids,
            remedy=f"if that is not wanted, roll the table back to before this run (snapshot {result.snapshot_id})",
        ),
    )


def read_in_part(proven: Sequence[Diagnostic], result: IngestResult) -> tuple[Diagnostic, ...]:
    """Warnings for files that are proven to be something else than they were read as, where rows came out all the same.

    A header is a row of texts like others, and the last line of a JSON array may be an object.
    """
    return tuple(replace(note, severity=Severity.WARNING) for note in proven) if result.rows_written else ()


def all_bad(result: IngestResult) -> tuple[Diagnostic, ...]:
    """A warning where no row was good."""
    if result.rows_written or not result.rows_quarantined:
        return ()
    return (
        Diagnostic(
            ALL_BAD,
            "the only row is bad and in quarantine"
            if result.rows_quarantined == 1
            else f"all {result.rows_quarantined} rows are bad and in quarantine",
            Severity.WARNING,
            path=result.table,
            remedy="look at their problems; the format or the reader's options may not be those of the source",
        ),
    )


def no_rows(files: Sequence[SourceFile], result: IngestResult) -> tuple[Diagnostic, ...]:
    """A note where the files that were read had no row, such as those that are empty or only a header."""
    if result.rows_read or not files:
        return ()
    paths = [file.path for file in files]
    what = "is empty" if len(files) == 1 and not files[0].size else "has no rows" if len(files) == 1 else "have no rows"
    return (
        Diagnostic(
            NO_ROWS,
            f"{label(paths).strip()} {what}; nothing was written",
            Severity.NOTE,
            path=paths[0],
            remedy="look at what made the source, if it should have rows",
        ),
    )
