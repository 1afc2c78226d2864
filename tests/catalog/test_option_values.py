"""The texts of options are read as the reference implementation reads them, and everywhere in one way.

The reference is Paimon's `OptionsUtils.convertToBoolean` and the like. The options that keep columns from changing are
read in Java's `SchemaManager` with `Boolean.parseBoolean` instead, to which every text is a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lakebed.catalog import TableSchema, option_values, validate
from lakebed.catalog.options import (
    ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED,
    MANIFEST_TARGET_FILE_SIZE,
    PARTITION_LEGACY_NAME,
    WRITE_ONLY,
)
from lakebed.errors import LakebedError
from lakebed.physical.paimon_types import DataField, Int
from referees.java import JavaReferee

Value = bool | int | float | str | None

MB, GB, TB = 1 << 20, 1 << 30, 1 << 40
HOUR = 3_600_000.0

#: Kind of value, text, and what Java reads in it: None where it refuses the text.
VECTORS: dict[str, dict[str, Value]] = {
    "boolean": {
        **dict.fromkeys(("true", "TRUE", "True", "tRUE"), True),
        **dict.fromkeys(("false", "FALSE", "False"), False),
        **dict.fromkeys((" true", "true ", "\ttrue", " false", "false\n"), None),
        **dict.fromkeys(("", " ", "yes", "no", "on", "off", "1", "0", "t", "y", "tru", "null"), None),
    },
    "parseBoolean": {
        **dict.fromkeys(("true", "TRUE", "tRUE"), True),
        **dict.fromkeys(("false", "FALSE", " true", "true ", " false", "", "yes", "no", "1", "0", "tru"), False),
    },
    "int": {
        **{"0": 0, "5": 5, "-1": -1, "+7": 7, "007": 7, "2147483647": 2**31 - 1, "-2147483648": -(2**31)},
        **dict.fromkeys(("2147483648", "-2147483649"), None),
        **dict.fromkeys((" 5", "5 ", "", "-", "1.0", "1e3", "0x10", "1_000", "1,000", "5L", "five"), None),
    },
    "long": {
        **{"0": 0, "-1": -1, "+7": 7, "9223372036854775807": 2**63 - 1, "-9223372036854775808": -(2**63)},
        **dict.fromkeys(("9223372036854775808", "-9223372036854775809", " 5", "5 ", "", "1.0", "1_000", "5L"), None),
    },
    "double": {
        **{"0.5": 0.5, "1": 1.0, "-2.": -2.0, ".5": 0.5, "1e3": 1000.0, "1E-1": 0.1, " 0.5 ": 0.5},
        **{"1d": 1.0, "1.5f": 1.5, "0x1p3": 8.0},
        **dict.fromkeys(("", "1_000", "1,5", "much", "nan", "inf", "infinity"), None),
    },
    "memory": {
        **{"0": 0, "1024": 1024, "8 mb": 8 * MB, "64KB": 64 << 10, "1g": GB, "1 GB": GB, "2tb": 2 * TB, "3 T": 3 * TB},
        **{"5b": 5, "5 bytes": 5, "1 kibibytes": 1024, "1 mebibytes": MB, "1gibibytes": GB, "1 tebibytes": TB},
        **{" 8 mb ": 8 * MB, "8\tmb": 8 * MB, "8  m": 8 * MB, "9223372036854775807": 2**63 - 1},
        **dict.fromkeys(("9223372036854775808", "9223372036854775807 kb", "16777216 tb"), None),
        **dict.fromkeys(("", " ", "mb", "-1", "+1", "1.5 mb", "8 mib", "8 pb", "8 byte", "1 kilobytes", "8 m b"), None),
    },
    "duration": {
        **{"100": 100.0, "1 h": HOUR, "30s": 30_000.0, "2 days": 48 * HOUR, "1 day": 24 * HOUR, "1d": 24 * HOUR},
        **{"1 H": HOUR, "2 hour": 2 * HOUR, "2 hours": 2 * HOUR, "7 min": 420_000.0, "7 m": 420_000.0},
        **{"7 minute": 420_000.0, "7 minutes": 420_000.0, "1 sec": 1000.0, "2 secs": 2000.0, "2 seconds": 2000.0},
        **{"10 ms": 10.0, "10 milli": 10.0, "10 millis": 10.0, "10 milliseconds": 10.0, " 10  ms ": 10.0, "0 d": 0.0},
        **{"2 \u00b5s": 0.002, "2 micro": 0.002, "2 microseconds": 0.002, "5000 ns": 0.005, "5000 nanos": 0.005},
        **dict.fromkeys(
            ("", "h", "-1 s", "1.5 h", "1h 30m", "1 week", "1 w", "7 mins", "2 hs", "PT1H", "1 month"), None
        ),
        **dict.fromkeys(("2 \u03bcs", "9223372036854775808", "9223372036854775807 d"), None),
    },
    "enum": {
        **dict.fromkeys(("deduplicate", "DEDUPLICATE", "Deduplicate"), "deduplicate"),
        **dict.fromkeys(("partial-update", "Partial-Update"), "partial-update"),
        **dict.fromkeys((" deduplicate", "deduplicate ", "", "partial_update", "PARTIAL_UPDATE", "dedup"), None),
    },
}


def refused(read: Callable[[], Value]) -> Value:
    try:
        return read()
    except LakebedError:
        return None


def option(read: Callable[[Mapping[str, str], str], Value], key: str) -> Callable[[str], Value]:
    """A reader of an option that is set, as one of its text."""
    return lambda text: refused(lambda: read({key: text}, key))


def is_value(key: str) -> Callable[[str], bool]:
    """Whether a table may have the option with this text."""

    def read(text: str) -> bool:
        fields = (DataField(0, "a", Int(False)),)
        schema = TableSchema(0, fields, 0, primary_keys=("a",), options={key: text, "bucket": "1"})
        return not [d for d in validate(schema) if d.severity == "error"]

    return read


#: Who reads texts of each kind.
READERS: dict[str, Mapping[str, Callable[[str], Value]]] = {
    "boolean": {
        "boolean": option_values.boolean,
        "is_set": option(option_values.is_set, WRITE_ONLY),
        "is_set, default true": option(option_values.is_set, PARTITION_LEGACY_NAME),
    },
    "parseBoolean": {
        "parse_boolean": option_values.parse_boolean,
        "is_flagged": option(option_values.is_flagged, WRITE_ONLY),
        "is_flagged, default true": option(option_values.is_flagged, ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED),
    },
    "int": {"whole": option_values.whole},
    "long": {"long": option_values.long},
    "double": {"real": option_values.real},
    "memory": {
        "byte_size": option_values.byte_size,
        "size_of": option(option_values.size_of, MANIFEST_TARGET_FILE_SIZE),
    },
    "duration": {"duration_millis": option_values.duration_millis},
}
#: An option of each kind, to ask whether a table may have it.
KEYS = {
    "boolean": "commit.force-compact",
    "int": "write.batch-size",
    "long": "scan.watermark",
    "double": "lookup.hash-load-factor",
    "memory": "page-size",
    "duration": "commit.timeout",
    "enum": "merge-engine",
}


def cases(readers: Mapping[str, Mapping[str, Any]]) -> list[Any]:
    """Every text of a kind for every reader of it."""
    return [
        pytest.param(kind, reader, text, id=f"{kind}-{reader}-{text!r}")
        for kind, named in readers.items()
        for reader in named
        for text in VECTORS[kind]
    ]


@pytest.mark.parametrize(("kind", "reader", "text"), cases(READERS))
def test_texts_are_read_as_java_reads_them(kind: str, reader: str, text: str) -> None:
    found, expected = READERS[kind][reader](text), VECTORS[kind][text]
    assert (found, type(found)) == (expected, type(expected))


ALLOWED = {kind: {key: is_value(key)} for kind, key in KEYS.items()}


@pytest.mark.parametrize(("kind", "key", "text"), cases(ALLOWED))
def test_a_table_may_have_the_texts_that_java_reads(kind: str, key: str, text: str) -> None:
    assert ALLOWED[kind][key](text) == (VECTORS[kind][text] is not None)


def test_java_reads_the_vectors(java: JavaReferee) -> None:
    found = {kind: {text: java.option_value(kind, text) for text in texts} for kind, texts in VECTORS.items()}
    assert found == VECTORS


def test_what_counts_where_an_option_is_not_set() -> None:
    assert not option_values.is_set({}, WRITE_ONLY)
    assert option_values.is_set({}, PARTITION_LEGACY_NAME)
    assert option_values.is_flagged({}, ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED)
    assert option_values.size_of({}, MANIFEST_TARGET_FILE_SIZE) == 8 * MB
    assert option_values.size_of({}, "somebody.else", 3) == 3
    assert not option_values.is_set({}, "fields.a.distinct")
