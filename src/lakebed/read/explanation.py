"""Explain a read: the files that it opens and how, those it leaves out and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from lakebed.format.live_files import DataFile
from lakebed.format.merge_plan import MergePlan
from lakebed.format.table_branch import TableBranch
from lakebed.printable import one_line
from lakebed.read.needed_files import EVERY_ROW, Dropped, ReadPlan, Stage
from lakebed.read.plan_read import PlannedState, plan_read
from lakebed.read.predicate import Opaque, leaves
from lakebed.read.predicate_text import text
from lakebed.read.request import ReadRequest
from lakebed.read.where_sql import unknown_names
from lakebed.readable import Displayable

#: How many files of each kind are listed for people.
_LISTED = 20
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_KILO = 1024


class Way(StrEnum):
    """How the rows of a file become the table's."""

    AS_IS = "as it is"
    MERGED = "merged"
    TOGETHER = "put together"


@dataclass(frozen=True, slots=True)
class Tally:
    """Data files, their rows (deleted ones among them) and their bytes."""

    files: int
    rows: int
    bytes: int

    @classmethod
    def of(cls, files: Iterable[DataFile]) -> Tally:
        """The sums over files."""
        found = list(files)
        return cls(len(found), sum(f.meta.row_count for f in found), sum(f.size for f in found))

    def to_json(self) -> dict[str, int]:
        """An object of these three."""
        return {"files": self.files, "rows": self.rows, "bytes": self.bytes}

    def __str__(self) -> str:
        return f"{_counted(self.files, 'file')}, {_counted(self.rows, 'row')}, {_size(self.bytes)}"


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file that is read. `group` numbers, from 1, the files that are merged or put together with each other."""

    file: DataFile
    way: Way
    group: int | None = None

    @property
    def how(self) -> str:
        """The way in words."""
        deleted = "" if self.file.deletions is None else ", less deleted rows"
        return f"{self.way}{'' if self.group is None else f' in group {self.group}'}{deleted}"


@dataclass(frozen=True, slots=True)
class StateExplanation:
    """The plan for one state of a table: branch (None is main), snapshot (None without data), and schema to read as.

    `unknown` are names in the filter that are no columns.
    """

    table_path: str
    branch: str | None
    snapshot: int | None
    schema: int
    plan: ReadPlan
    unknown: tuple[str, ...] = ()

    @property
    def kept(self) -> tuple[KeptFile, ...]:
        """The files that are read."""
        way = Way.MERGED if isinstance(self.plan.parts, MergePlan) else Way.TOGETHER
        alone = (KeptFile(file, Way.AS_IS) for file in self.plan.as_they_are)
        groups = enumerate(self.plan.groups, 1)
        return (*alone, *(KeptFile(file, way, number) for number, group in groups for file in group))

    @property
    def left_to_spark(self) -> tuple[str, ...]:
        """The parts of the filter that choose no files: only Spark can judge them."""
        return tuple(dict.fromkeys(leaf.text for leaf in leaves(self.plan.predicate) if isinstance(leaf, Opaque)))

    def by_stage(self) -> Iterator[tuple[Stage, Tally]]:
        """What each stage leaves out."""
        for stage in Stage:
            files = [d.file for d in self.plan.dropped if d.stage is stage]
            if files:
                yield stage, Tally.of(files)

    def short(self, file: DataFile) -> str:
        """A file's path below the table's directory, or all of it."""
        return file.path.removeprefix(f"{self.table_path}/")

    def _all_of(self, kept: KeptFile) -> str:
        filtered = self.plan.predicate != EVERY_ROW
        return ", all rows match" if filtered and kept.file.path in self.plan.certain else ""

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        plan = self.plan
        return {
            "branch": self.branch or "main",
            "snapshot": self.snapshot,
            "schema": self.schema,
            "filter": None if plan.predicate == EVERY_ROW else text(plan.predicate),
            "left_to_spark": list(self.left_to_spark),
            "unknown_names": list(self.unknown),
            "manifests": {"total": plan.manifests.total, "skipped": plan.manifests.skipped},
            "kept": Tally.of(plan.files).to_json(),
            "dropped": {str(stage): tally.to_json() for stage, tally in self.by_stage()},
            "files": [
                {
                    "path": kept.file.path,
                    "rows": kept.file.meta.row_count,
                    "bytes": kept.file.size,
                    "way": str(kept.way),
                    "group": kept.group,
                    "deletions": kept.file.deletions is not None,
                    "all_rows_match": kept.file.path in plan.certain,
                }
                for kept in self.kept
            ],
            "dropped_files": [
                {
                    "path": dropped.file.path,
                    "rows": dropped.file.meta.row_count,
                    "bytes": dropped.file.size,
                    "stage": str(dropped.stage),
                    "why": dropped.why,
                }
                for dropped in plan.dropped
            ],
        }

    def summary(self) -> Iterator[str]:
        """The state, the filter and the sums for people, each line after the word that says what it is about."""
        plan = self.plan
        at = "no snapshot" if self.snapshot is None else f"snapshot {self.snapshot}"
        yield f"  state      {self.branch or 'main'}, {at}, read as schema {self.schema}"
        if plan.predicate != EVERY_ROW:
            yield f"  filter     {text(plan.predicate)}"
        for part in self.left_to_spark:
            yield f"             {part}: chooses no files, Spark applies it"
        for name in self.unknown:
            yield f"             {name} is no column of this schema: Spark refuses the filter"
        if plan.manifests.total:
            yield f"  manifests  {plan.manifests.total:,}, {_unneeded(plan.manifests.skipped)}"
        yield f"  read       {Tally.of(plan.files)}"
        for stage, tally in self.by_stage():
            yield f"  left out   {tally}, by {stage}"

    def lines(self) -> Iterator[str]:
        """All of it for people, long lists of files cut short."""
        plan = self.plan
        yield from self.summary()
        if plan.files:
            yield "  files that are read"
            yield from _listed([f"    {self.short(kept.file)}  {kept.how}{self._all_of(kept)}" for kept in self.kept])
        if plan.dropped:
            yield "  files that are left out"
            yield from _listed([f"    {self.short(d.file)}  {file_reason(d)}" for d in plan.dropped])


@dataclass(frozen=True, slots=True)
class ReadExplanation(Displayable):
    """What a read of a table would do; a fallback branch is a second state."""

    html_renderer: ClassVar[str] = "lakebed.render.notebook_html:explanation_html"

    table: str
    states: tuple[StateExplanation, ...]

    def to_json(self) -> dict[str, Any]:
        """One object; the totals are those of all states."""
        kept = [file for state in self.states for file in state.plan.files]
        dropped = [d.file for state in self.states for d in state.plan.dropped]
        return {
            "table": self.table,
            "kept": Tally.of(kept).to_json(),
            "dropped": Tally.of(dropped).to_json(),
            "states": [state.to_json() for state in self.states],
        }

    def __str__(self) -> str:
        states = ("\n".join(map(one_line, state.lines())) for state in self.states)
        return f"{self.table}\n" + "\n\n".join(states)


def explain_read(table: TableBranch, request: ReadRequest) -> ReadExplanation:
    """Explain a read; see `plan_read` for what it raises."""
    planned = plan_read(table, request, list_partitions=True)
    return ReadExplanation(str(table.name), tuple(_explained(one, request.where) for one in planned.states))


def _explained(planned: PlannedState, where: str | None) -> StateExplanation:
    state = planned.state
    return StateExplanation(
        state.table_path,
        planned.branch,
        None if state.snapshot is None else state.snapshot.id,
        state.schema.id,
        planned.plan,
        () if where is None else unknown_names(where, state.schema),
    )


def file_reason(dropped: Dropped) -> str:
    """Why a file is left out, in words."""
    is_whole = dropped.stage in (Stage.BUCKET, Stage.LIMIT)
    return f"{dropped.stage}: {dropped.why if is_whole else f'no row has {dropped.why}'}"


def _unneeded(manifests: int) -> str:
    return f"{manifests:,} of them not needed" if manifests else "all needed"


def _listed(lines: list[str]) -> list[str]:
    more = len(lines) - _LISTED
    return lines if more <= 0 else [*lines[:_LISTED], f"    ... and {more:,} more; --json lists all"]


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _size(size: int) -> str:
    value, unit = float(size), 0
    while value >= _KILO and unit < len(_UNITS) - 1:
        value, unit = value / _KILO, unit + 1
    return f"{size:,} bytes" if not unit else f"{value:.1f} {_UNITS[unit]}"
