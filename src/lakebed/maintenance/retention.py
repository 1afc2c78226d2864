"""Choose the snapshots that expire: by number, by age, and by what consumers still have to read.

As Paimon's `snapshot.num-retained.min`, `snapshot.num-retained.max` and `snapshot.time-retained` say, or as is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from lakebed.catalog import options as table_options
from lakebed.catalog.option_values import duration_of, whole_number
from lakebed.errors import UnsupportedError, UsageError
from lakebed.format.snapshot import Snapshot
from lakebed.format.table_branch import TableBranch
from lakebed.maintenance.durations import millis_of

BAD_RETENTION = "LB3669"
KEEPS_CHANGELOGS = "LB3670"

#: Changelogs that are kept longer than snapshots have files of their own, which an expiry would have to make.
_DECOUPLED = (
    (table_options.CHANGELOG_NUM_RETAINED_MIN, table_options.SNAPSHOT_NUM_RETAINED_MIN),
    (table_options.CHANGELOG_NUM_RETAINED_MAX, table_options.SNAPSHOT_NUM_RETAINED_MAX),
    (table_options.CHANGELOG_TIME_RETAINED, table_options.SNAPSHOT_TIME_RETAINED),
)


@dataclass(frozen=True, slots=True)
class Retention:
    """What stays: at least `least` snapshots, at most `most` whatever their age, and what was newest within `age`."""

    least: int
    most: int
    age: timedelta

    @classmethod
    def of(
        cls, options: Mapping[str, str], least: int | None = None, most: int | None = None, age: timedelta | None = None
    ) -> Retention:
        """What is asked, and for the rest what the options say. Raises `UsageError` (LB3669) for what cannot be."""
        found = cls(
            whole_number(options, table_options.SNAPSHOT_NUM_RETAINED_MIN) if least is None else least,
            whole_number(options, table_options.SNAPSHOT_NUM_RETAINED_MAX) if most is None else most,
            duration_of(options, table_options.SNAPSHOT_TIME_RETAINED) if age is None else age,
        )
        if least is None and most is not None and most < found.least:
            # Who asks for fewer than the options keep has asked for these.
            found = cls(most, most, found.age)
        if found.least < 1 or found.most < found.least or found.age < timedelta(0):
            raise UsageError.of(
                BAD_RETENTION,
                f"at least {found.least} and at most {found.most} snapshots cannot be kept for {found.age}",
                expected="at least 1 snapshot, at most as many or more, and an age of 0 or more",
                remedy="The newest snapshot always stays: give 1 or more.",
            )
        return found

    def kept_from(self, snapshots: Sequence[Snapshot], now: int) -> int:
        """The place of the first that stays, of snapshots in ascending order.

        The state of every moment within the age stays: a snapshot goes when the next one is older than that.
        """
        oldest = now - millis_of(self.age)
        last = max(len(snapshots) - self.least, 0)
        by_number = min(max(len(snapshots) - self.most, 0), last)
        for place in range(by_number, last):
            if snapshots[place + 1].time_millis > oldest:
                return place
        return last


def refuse_longer_changelogs(table: TableBranch, options: Mapping[str, str]) -> None:
    """Raise `UnsupportedError` (LB3670) for a table whose changelogs outlive its snapshots."""
    for option, of_snapshots in _DECOUPLED:
        if option in options and options[option] != options.get(of_snapshots):
            raise UnsupportedError.of(
                KEEPS_CHANGELOGS,
                f"snapshots of {table.label} are not expired: it keeps changelogs longer, by {option}",
                path=option,
                found=options[option],
                remedy="let the engine that keeps them expire the table, or take the option out",
            )
