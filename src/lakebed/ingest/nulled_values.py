"""Count values that were bad and became NULL, by column and by what was wrong with them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakebed.manifest.attributes import BAD_ROW_ACTIONS
from lakebed.model import JsonValue, canonical_json

if TYPE_CHECKING:
    from pyspark.sql import Column

#: What may become of a bad row.
QUARANTINE, NULL, FAIL = BAD_ROW_ACTIONS


@dataclass(frozen=True, slots=True)
class NulledValues:
    """How many values of a column were bad for one reason, and became NULL in rows that are good."""

    column: str
    code: str
    rows: int

    def __str__(self) -> str:
        return f"{self.rows:,} {'value' if self.rows == 1 else 'values'} of column {self.column} ({self.code})"

    def to_json(self) -> dict[str, JsonValue]:
        """The object of `--json`."""
        return {"column": self.column, "code": self.code, "rows": self.rows}


@dataclass(frozen=True, slots=True)
class NullableColumn:
    """A column whose bad values become NULL: its place, its name, and the codes of what may be wrong with them."""

    index: int
    name: str
    codes: tuple[str, ...]

    @property
    def metrics(self) -> tuple[Column, ...]:
        """How many there are for each code in rows that are good."""
        # Who reads what a snapshot says of them needs no Spark.
        from pyspark.sql import functions as F

        code = F.col(code_column(self.index))
        return tuple(F.count_if(~F.col("bad") & (code == known)).alias(self._alias(known)) for known in self.codes)

    def counted(self, found: Mapping[str, Any]) -> tuple[NulledValues, ...]:
        """What the metrics have counted."""
        counts = ((code, found.get(self._alias(code)) or 0) for code in self.codes)
        return tuple(NulledValues(self.name, code, rows) for code, rows in counts if rows)

    def _alias(self, code: str) -> str:
        return f"nulled_{self.index}_{code}"


def nullable_columns(found: Iterable[tuple[int, str, tuple[str, ...]]]) -> tuple[NullableColumn, ...]:
    """The columns of some places, each with its name and codes: one of each place, with all codes."""
    known: dict[int, NullableColumn] = {}
    for index, name, codes in found:
        before = known[index].codes if index in known else ()
        known[index] = NullableColumn(index, name, tuple(dict.fromkeys((*before, *codes))))
    return tuple(known.values())


def code_column(index: int) -> str:
    """The name under which rows have the code of what was wrong with a value that became NULL."""
    return f"z{index}"


def summed(found: Iterable[NulledValues]) -> tuple[NulledValues, ...]:
    """One of each column and code, the most frequent first."""
    rows: dict[tuple[str, str], int] = {}
    for one in found:
        rows[one.column, one.code] = rows.get((one.column, one.code), 0) + one.rows
    ordered = sorted(rows.items(), key=lambda item: (-item[1], item[0]))
    return tuple(NulledValues(column, code, count) for (column, code), count in ordered)


def nulled_text(found: Sequence[NulledValues]) -> str:
    """What a snapshot says of them."""
    return canonical_json([[one.column, one.code, one.rows] for one in found])


def parse_nulled(text: str | None) -> tuple[NulledValues, ...]:
    """What a snapshot says of them; properties are anybody's to write."""
    try:
        return tuple(NulledValues(str(column), str(code), int(rows)) for column, code, rows in json.loads(text or "[]"))
    except (ValueError, TypeError, RecursionError):
        return ()
