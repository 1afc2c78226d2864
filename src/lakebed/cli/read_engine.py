"""Choose whether a command reads rows by Spark, or as Arrow batches in its own process where nothing needs Spark."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from lakebed.errors import LakebedWarning, UnsupportedError, UsageError

if TYPE_CHECKING:
    from lakebed.arrow.read_batches import BatchRead
    from lakebed.lake import Lake

AUTO, SPARK, ARROW = "auto", "spark", "arrow"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|`[^`]+`", re.ASCII)


def engine_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--engine`."""
    return click.option(
        "--engine",
        type=click.Choice([AUTO, SPARK, ARROW]),
        default=AUTO,
        show_default=True,
        help="What reads rows: Arrow in this process, which starts at once, or Spark; auto is Arrow wherever rows come "
        "out as by Spark, and no --remote is given.",
    )(function)


@dataclass(frozen=True, slots=True)
class Reading:
    """A read of a table: the engine that is asked for, the Spark server that is named, and what the read is asked."""

    engine: str
    remote: str | None
    table: str
    asked: Mapping[str, Any]

    def planned(
        self, lake: Lake, columns: Sequence[str] | None, limit: int | None, needs_spark: str | None
    ) -> BatchRead | None:
        """The read as Arrow batches; None where Spark is to read. `needs_spark` is what only Spark does for it.

        Raises UsageError (LB7014) and what `plan_batches` raises where Arrow is asked for and cannot.
        """
        if self.engine == ARROW and needs_spark is not None:
            raise UsageError.of(
                "LB7014",
                f"{needs_spark} needs Spark",
                found="--engine arrow",
                remedy="leave --engine out, or one of both",
            )
        if needs_spark is not None or not self._may_be_arrow:
            return None
        return _plan(lake, self.table, columns, {**self.asked, "limit": limit})

    def counted(self, lake: Lake) -> int | None:
        """How many rows there are, by reading them as Arrow batches; None where Spark is to count."""
        if not self._may_be_arrow:
            return None
        with self.or_spark():
            rows: Iterator[int] = (batch.num_rows for batch in _plan(lake, self.table, (), self.asked).batches())
            return sum(rows)
        return None

    def spark_columns(self, lake: Lake, expressions: Sequence[str]) -> list[str]:
        """The columns that expressions of Spark SQL may look at."""
        from lakebed.format.table_branch import TableBranch
        from lakebed.read.plan_read import find_state
        from lakebed.read.where_sql import may_name

        handle = lake.table(self.table)
        with warnings.catch_warnings():
            # The read itself warns of what it leaves out.
            warnings.simplefilter("ignore", LakebedWarning)
            state = find_state(TableBranch(lake.tables, handle.name), handle.request(**self.asked))
        return [field.name for field in may_name(",".join(expressions), state.schema.fields)]

    def or_spark(self) -> suppress:
        """What Arrow refuses is left to Spark, unless Arrow was asked for."""
        refusals = () if self.engine == ARROW else (UnsupportedError, UsageError)
        return suppress(*refusals)

    @property
    def _may_be_arrow(self) -> bool:
        return self.engine == ARROW or (self.engine == AUTO and not self.remote and find_spec("pyarrow") is not None)


def _plan(lake: Lake, table: str, columns: Sequence[str] | None, asked: Mapping[str, Any]) -> BatchRead:
    from lakebed.arrow import require_libraries

    require_libraries(pyarrow="lakebed[arrow]")
    _look_for_pandas_in_vain()
    from lakebed.arrow.read_batches import plan_batches
    from lakebed.format.table_branch import TableBranch

    handle = lake.table(table)
    return plan_batches(TableBranch(lake.tables, handle.name), handle.request(**asked), columns)


class _WithoutPandas:
    """Finds no pandas."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def _look_for_pandas_in_vain() -> None:
    """Spare the command the import of pandas, which takes a third of its time.

    PyArrow imports it for the first value of Python that it converts, in case that is one of pandas; it looks again
    where something asks for pandas itself.
    """
    import pyarrow as pa

    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, _WithoutPandas)
        try:
            pa.scalar(0)
        finally:
            sys.meta_path.remove(_WithoutPandas)


def plain_names(expressions: Sequence[str]) -> list[str] | None:
    """The columns that expressions of Spark SQL name and do nothing else with; None where one is more than a name."""
    from lakebed.read.where_sql import BARE_FUNCTIONS

    words = {*BARE_FUNCTIONS, "true", "false", "null"}
    if any(not _NAME.fullmatch(text) or text.casefold() in words for text in expressions):
        return None
    return [text.strip("`") for text in expressions]
