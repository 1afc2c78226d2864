"""Read the options of a batch read, warehouse, table, state and how it is read, and those of a write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from lakebed.catalog import check_time_zone
from lakebed.catalog.option_values import size_of
from lakebed.data_source.stream_options import STREAM_OPTIONS
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import LakebedError, UsageError
from lakebed.format.commit_origin import process_origin
from lakebed.redaction import redact

#: How many bytes of data files one task reads, as Spark's own sources do.
SPLIT_SIZE = 128 << 20

#: The names of the options of every read, in the order in which the documentation has them.
READ_OPTIONS = (
    *("path", "warehouse", "layout", "storage-options", "time-zone", "verify-checksums"),
    *("snapshot", "tag", "branch", "as-of", "watermark", "schema"),
    *("push-filters", "split-size"),
)


#: The same of every write.
WRITE_OPTIONS = (
    *("path", "warehouse", "layout", "storage-options", "time-zone", "verify-checksums"),
    *("branch", "run-id"),
)
#: And of a stream that is written; Spark hands on where the checkpoint is.
STREAM_WRITE_OPTIONS = (*WRITE_OPTIONS[:-1], "checkpointlocation", "stream-name", "follows")


@dataclass(frozen=True, slots=True)
class Warehouse:
    """Where tables lie and how that place is opened: the arguments of `lakebed.open`.

    `origin` is what snapshots say of who commits them: of whoever has registered the warehouse, else of this process.
    """

    location: str
    layout: str = "auto"
    storage_options: Mapping[str, Any] = field(default_factory=dict)
    time_zone: str = "UTC"
    verify_checksums: bool = True
    origin: Mapping[str, str] = field(default_factory=process_origin)

    def __repr__(self) -> str:
        return f"Warehouse({redact(self.location)!r}, {self.layout!r}, options={sorted(self.storage_options)})"


@dataclass(frozen=True, slots=True)
class DataSourceOptions:
    """The options of a read. `schema` is a version's id, "latest" or "snapshot"; `split_size` is in bytes."""

    warehouse: Warehouse
    table: str
    snapshot: int | None = None
    tag: str | None = None
    branch: str | None = None
    as_of: str | None = None
    watermark: int | None = None
    schema: int | Literal["latest", "snapshot"] | None = None
    push_filters: bool = False
    split_size: int = SPLIT_SIZE


def read_options(
    given: Mapping[str, str], bound: Warehouse | None = None, *, push_filters: bool = False
) -> DataSourceOptions:
    """Read the options `given` (names in any case). `bound` and `push_filters` hold where no option says otherwise.

    Raises UsageError (LB5600) for an option that is not known, that is missing or that has a strange value.
    """
    texts = {k.lower(): v for k, v in given.items()}
    check_names(texts, (*READ_OPTIONS, *STREAM_OPTIONS))
    if not texts.get("path"):
        raise _missing("no table is named", 'give it as .load("database.table")')
    schema = texts.get("schema")
    return DataSourceOptions(
        warehouse_of(texts, bound),
        texts["path"],
        _number(texts, "snapshot"),
        texts.get("tag"),
        texts.get("branch"),
        texts.get("as-of"),
        _number(texts, "watermark", negative=True),
        cast('Literal["latest", "snapshot"] | None', schema)
        if schema in (None, "latest", "snapshot")
        else _number(texts, "schema"),
        _truth(texts, "push-filters", push_filters),
        _size(texts, "split-size", SPLIT_SIZE),
    )


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The options of a write."""

    warehouse: Warehouse
    table: str
    branch: str | None = None
    run_id: str | None = None


def write_options(given: Mapping[str, str], bound: Warehouse | None = None) -> WriteOptions:
    """Read the options of a write as those of a read are. Raises UsageError (LB5600)."""
    texts = {k.lower(): v for k, v in given.items()}
    check_names(texts, WRITE_OPTIONS)
    return _written(texts, bound, "save")


@dataclass(frozen=True, slots=True)
class StreamWriteOptions:
    """The options of a stream that is written; see `lakebed.Table.stream_writer`."""

    write: WriteOptions
    checkpoint: str
    name: str | None = None
    follows: str | None = None


def stream_write_options(given: Mapping[str, str], bound: Warehouse | None = None) -> StreamWriteOptions:
    """Read the options of a stream that is written. Raises UsageError (LB5600)."""
    texts = {k.lower(): v for k, v in given.items()}
    check_names(texts, STREAM_WRITE_OPTIONS)
    if "checkpointlocation" not in texts:
        raise _missing("it is not said where the checkpoint is", 'set .option("checkpointLocation", PATH)')
    write = _written(texts, bound, "start")
    return StreamWriteOptions(write, texts["checkpointlocation"], texts.get("stream-name"), texts.get("follows"))


def _written(texts: Mapping[str, str], bound: Warehouse | None, call: str) -> WriteOptions:
    if not texts.get("path"):
        raise _missing("no table is named", f'give it as .{call}("database.table")')
    return WriteOptions(warehouse_of(texts, bound), texts["path"], texts.get("branch"), texts.get("run-id"))


def check_names(texts: Mapping[str, str], known: Sequence[str]) -> None:
    """Raise UsageError for options that are not among those that are known (LB5600), and for CREATE TABLE (LB5607)."""
    if texts.keys() >= {"owner", "provider"}:
        raise UsageError.of(
            "LB5607",
            "CREATE TABLE ... USING lakebed is not possible: Spark makes a table of its own of it",
            remedy="use CREATE TEMPORARY VIEW ... USING lakebed OPTIONS (path 'database.table'), "
            "or lake.register(spark), which makes a view of every table",
        )
    problems = [
        Diagnostic(
            "LB5600",
            f"the data source lakebed has no option {name!r}",
            path=name,
            expected=", ".join(known),
            found=name,
            remedy=f"the options are {', '.join(known)}",
            suggestions=near_names(name, known),
        )
        for name in texts
        if name not in known
    ]
    if problems:
        raise UsageError(*problems)


def warehouse_of(texts: Mapping[str, str], bound: Warehouse | None) -> Warehouse:
    """The options of a place belong together: those of another warehouse do not come from the one that is bound."""
    if "warehouse" not in texts:
        if bound is None:
            raise _missing(
                "it is not said which warehouse the table is in",
                'set .option("warehouse", PATH), or call lake.register(spark), which says it once',
            )
        zone = texts.get("time-zone", bound.time_zone)
        location, layout, storage = bound.location, bound.layout, bound.storage_options
    else:
        zone = texts.get("time-zone", "UTC" if bound is None else bound.time_zone)
        location, layout, storage = texts["warehouse"], "auto", {}
    check_time_zone(zone)
    if "storage-options" in texts:
        storage = _object(texts, "storage-options")
    verify = _truth(texts, "verify-checksums", bound is None or bound.verify_checksums)
    origin = process_origin() if bound is None else bound.origin
    return Warehouse(location, texts.get("layout", layout), storage, zone, verify, origin)


def _object(texts: Mapping[str, str], name: str) -> Mapping[str, Any]:
    try:
        found = json.loads(texts[name])
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        # The text may hold a secret: it is not repeated.
        raise UsageError.of("LB5600", f"option {name} is no JSON object", path=name, expected='{"key": "..."}')
    return found


def _number(texts: Mapping[str, str], name: str, *, negative: bool = False) -> int | None:
    text = texts.get(name)
    if text is None:
        return None
    digits = text.strip().removeprefix("-") if negative else text.strip()
    if not (digits.isascii() and digits.isdigit()):
        choices = 'a version\'s number, "latest" or "snapshot"' if name == "schema" else "a whole number"
        raise _bad(name, text, choices)
    return int(text)


def _truth(texts: Mapping[str, str], name: str, default: bool) -> bool:
    text = texts.get(name, str(default)).strip().lower()
    if text not in ("true", "false"):
        raise _bad(name, texts[name], "true or false")
    return text == "true"


def _size(texts: Mapping[str, str], name: str, default: int) -> int:
    try:
        size = size_of(texts, name, default)
    except UsageError:
        size = 0
    if size < 1:
        raise _bad(name, texts[name], "a size such as 64 mb")
    return size


def _missing(message: str, remedy: str) -> LakebedError:
    return UsageError.of("LB5600", message, remedy=remedy)


def _bad(name: str, text: str, expected: str) -> LakebedError:
    return UsageError.of(
        "LB5600", f"option {name} is {text!r}", path=name, expected=expected, found=text, remedy=f"give {expected}"
    )
