"""Partition values of every type come from the manifests, in files of every format and both styles of directories."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import lakebed
from read.foreign_files import FORMATS, put_rows
from referees.encoding import spark_rows

SECOND = 1_000_000_000
LATE = 253_402_300_799 * SECOND
#: Type, three internal values beside NULL, and how these come out; timestamps are nanoseconds, cut to microseconds.
KEYS: dict[str, tuple[str, list[Any], list[Any]]] = {
    "flag": ("BOOLEAN", [True, False, True], [True, False, True]),
    "tiny": ("TINYINT", [-128, 127, 0], [-128, 127, 0]),
    "small": ("SMALLINT", [-(2**15), 2**15 - 1, 0], [-(2**15), 2**15 - 1, 0]),
    "i": ("INT", [-(2**31), 2**31 - 1, 0], [-(2**31), 2**31 - 1, 0]),
    "big": ("BIGINT", [-(2**63), 2**63 - 1, 0], [-(2**63), 2**63 - 1, 0]),
    "f": ("FLOAT", [-0.0, float("nan"), 0.5], [-0.0, "NaN", 0.5]),
    "x": ("DOUBLE", [1e300, float("-inf"), 5e-324], [1e300, "-Infinity", 5e-324]),
    "q": ("DECIMAL(9, 2)", [Decimal("-1234567.89"), Decimal("0.00"), Decimal("1.10")], ["-1234567.89", "0.00", "1.10"]),
    "huge": (
        "DECIMAL(38, 10)",
        [Decimal("9" * 28 + ".9999999999"), Decimal("-0.0000000001"), Decimal("0E-10")],
        ["9" * 28 + ".9999999999", "-0.0000000001", "0.0000000000"],
    ),
    "c": ("CHAR(3)", ["é", "abc", "%41"], ["é", "abc", "%41"]),
    "v": ("VARCHAR(9)", ["a/b=c d", "#?*:", "{x}"], ["a/b=c d", "#?*:", "{x}"]),
    "s": ("STRING", ["", "\n\x7f\"'\\", "nix"], ["", "\n\x7f\"'\\", "nix"]),
    "d": ("DATE", [-719_162, 2_932_896, -1], ["0001-01-01", "9999-12-31", "1969-12-31"]),
    "t": ("TIME(3)", [0, 86_399_999, 1], [0, 86_399_999, 1]),
    "t0": ("TIMESTAMP(0)", [0, LATE, -SECOND], ["1970-01-01T00:00:00", "9999-12-31T23:59:59", "1969-12-31T23:59:59"]),
    "t3": (
        "TIMESTAMP(3)",
        [1_000_000, LATE, -1_000_000],
        ["1970-01-01T00:00:00.001", "9999-12-31T23:59:59", "1969-12-31T23:59:59.999"],
    ),
    "t6": (
        "TIMESTAMP(6)",
        [1_000, LATE, -1_000],
        ["1970-01-01T00:00:00.000001", "9999-12-31T23:59:59", "1969-12-31T23:59:59.999999"],
    ),
    "t9": (
        "TIMESTAMP(9)",
        [1_999, LATE, -1],
        ["1970-01-01T00:00:00.000001", "9999-12-31T23:59:59", "1969-12-31T23:59:59.999999"],
    ),
}
for _digits in (0, 3, 6, 9):
    _type, _values, _texts = KEYS[f"t{_digits}"]
    KEYS[f"z{_digits}"] = (f"{_type} WITH LOCAL TIME ZONE", _values, [f"{t}Z" for t in _texts])
BYTES: tuple[str, list[Any], list[Any]] = ("BYTES", [b"\x00\xff", b"", b"abc"], ["hex:00ff", "hex:", "hex:616263"])


def keys_of(legacy: bool) -> dict[str, tuple[str, list[Any], list[Any]]]:
    """Bytes have no directory in the legacy style."""
    return KEYS if legacy else KEYS | {"y": BYTES}


@pytest.mark.parametrize("legacy", [True, False], ids=["legacy", "text"])
def test_values_of_every_type(tmp_path: Path, spark: SparkSession, legacy: bool) -> None:
    lake = lakebed.open(tmp_path)
    keys = keys_of(legacy)
    options = {"partition.legacy-name": str(legacy).lower(), "partition.default-name": "nix"}
    columns = [("id", "INT"), *((name, kind) for name, (kind, _, _) in keys.items())]
    lake.tables.create_table("db", "t", columns, partition_keys=list(keys), options=options)
    expected: list[list[Any]] = []
    for i in range(4):
        partition = tuple(None if i == 3 else values[i] for _, values, _ in keys.values())
        shown = [None if i == 3 else texts[i] for _, _, texts in keys.values()]
        for format in FORMATS:
            # The values in the file are none, so that they cannot come from there.
            put_rows(lake, "db.t", format, [{"id": len(expected)}], partition=partition)
            expected.append([len(expected), *shown])
    found = sorted(spark_rows(lake.read(spark, "db.t")), key=lambda row: row[0])
    assert [[plain(v) for v in row] for row in found] == [[plain(v) for v in row] for row in expected]


def plain(value: Any) -> Any:
    """Without the zeros at the end of a fraction, and with -0.0 told from 0.0."""
    if isinstance(value, str) and value[10:11] == "T":
        zone = "Z" if value.endswith("Z") else ""
        text = value.removesuffix("Z")
        return (text.rstrip("0").rstrip(".") if "." in text else text) + zone
    return repr(value) if isinstance(value, float) else value


def test_filters_on_partitions_open_only_their_files(tmp_path: Path, spark: SparkSession) -> None:
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("db", "t", [("id", "INT"), ("z", "TIMESTAMP(6)"), ("y", "BYTES")],
                             partition_keys=["z", "y"], options={"partition.legacy-name": "false"})  # fmt: skip
    places = []
    for i, format in enumerate(FORMATS * 2):
        partition = (None if i == 5 else i * SECOND, bytes([i]))
        places.append(put_rows(lake, "db.t", format, [{"id": i}], partition=partition))
    frame = lake.read(spark, "db.t")
    # Files that are not wanted need not even be there.
    for i in (0, 3):
        places[i].unlink()
    assert frame.where("y = X'04'").first().id == 4  # type: ignore[union-attr]
    assert frame.where("z is null").first().id == 5  # type: ignore[union-attr]
