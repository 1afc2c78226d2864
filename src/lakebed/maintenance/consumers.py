"""Read and note what consumers of a table, such as streams, still have to read: no expiry goes past that.

A consumer is a file `consumer/consumer-ID` of the branch, with the snapshot that it reads next (Paimon, "Consumer ID").
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping

from lakebed.catalog.option_values import duration_of
from lakebed.catalog.options import CONSUMER_EXPIRATION_TIME, CONSUMER_ID
from lakebed.errors import LakebedError, NotFoundError, RefusedError, UsageError
from lakebed.format.table_branch import TableBranch
from lakebed.maintenance.durations import millis_of
from lakebed.maintenance.references import UNREADABLE
from lakebed.store import Entry

BAD_CONSUMER = "LB5615"

_CONSUMER = re.compile(r"consumer-(.+)", re.DOTALL)
#: What is the name of a file on every storage.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.=-]{0,199}")


def check_consumer(name: str) -> None:
    """Raise `UsageError` (LB5615) for what cannot be the id of a consumer."""
    if not _NAME.fullmatch(name):
        raise UsageError.of(
            BAD_CONSUMER,
            f"option {CONSUMER_ID} is {name!r}",
            path=CONSUMER_ID,
            expected="letters, digits and _ . = -, 200 at most",
            found=name,
            remedy="give a name of letters, digits and _ . = -",
        )


def note_consumer(table: TableBranch, name: str, following: int, *, at_most: bool = False) -> None:
    """Write down that a consumer reads this snapshot next; `at_most`: or an earlier one that it has said before."""
    file = f"consumer-{name}"
    known = _next_of(table, file) if at_most else None
    if known is None or known > following:
        content = json.dumps({"nextSnapshot": following}, indent=2, separators=(",", " : "))
        table.store.replace(f"{table.root}/consumer/{file}", content.encode())


def waiting_consumers(table: TableBranch, *, but: Collection[str] = ()) -> dict[str, int]:
    """The consumers of a branch by their ids, each with the snapshot that it reads next, but some.

    Raises `RefusedError` (LB3664) for one that cannot be read.
    """
    found = {}
    for name, entry in _consumers(table).items():
        following = None if name in but else _next_of(table, entry.name)
        if following is not None:
            found[name] = following
    return found


def silent_consumers(table: TableBranch, options: Mapping[str, str], now: int) -> tuple[str, ...]:
    """The ids of consumers that have noted nothing for longer than `consumer.expiration-time`; none without it.

    `now` is in milliseconds since 1970.
    """
    if CONSUMER_EXPIRATION_TIME not in options:
        return ()
    oldest = now - millis_of(duration_of(options, CONSUMER_EXPIRATION_TIME))
    entries = _consumers(table).items()
    return tuple(sorted(name for name, entry in entries if entry.modified is not None and entry.modified < oldest))


def forget_consumers(table: TableBranch, names: Iterable[str]) -> None:
    """Remove what consumers have noted."""
    for name in names:
        table.inside.delete(f"{table.root}/consumer/consumer-{name}")


def _consumers(table: TableBranch) -> dict[str, Entry]:
    """The files of the consumers of a branch, by their ids."""
    entries = (entry for entry in table.store.list(f"{table.root}/consumer") if not entry.is_directory)
    return {match[1]: entry for entry in entries if (match := _CONSUMER.fullmatch(entry.name))}


def _next_of(table: TableBranch, name: str) -> int | None:
    path = f"{table.root}/consumer/{name}"
    try:
        return int(json.loads(table.store.read(path))["nextSnapshot"])
    except NotFoundError:
        return None
    except (LakebedError, ArithmeticError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise RefusedError.of(
            UNREADABLE,
            f"what consumer {name!r} of {table.label} still reads cannot be told, so nothing is deleted",
            path=path,
            remedy="Mend or remove the file that is named.",
        ) from error
