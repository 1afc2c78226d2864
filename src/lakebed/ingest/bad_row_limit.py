"""Tell whether more rows of a run are bad than may be, by number and by share."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class BadRowLimit:
    """How many rows may be bad: `rows` of them, and the share `share`, 0 to 1, of all that are read; None for any."""

    rows: int | None = None
    share: float | None = None

    def passed_by(self, bad: int, read: int) -> str | None:
        """What is said of a limit that so many bad rows of those read pass, such as `more than 10`; None for none."""
        if self.rows is not None and bad > self.rows:
            return f"more than {self.rows}"
        # As it is written: 0.29 of 100 rows are 29, and not what binary fractions make of it.
        if self.share is not None and bad > read * Fraction(str(self.share)):
            return f"more than {share_text(self.share)} of them"
        return None


def share_text(share: float) -> str:
    """A share as a percentage: `5%`, `0.25%`."""
    percent = Fraction(str(share)) * 100
    return f"{percent.numerator if percent.denominator == 1 else float(percent)}%"
