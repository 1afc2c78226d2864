"""Tell how much a session's memory allows to be sent to every task."""

from __future__ import annotations

import re

from pyspark.sql import SparkSession

#: The share of the memory of a process that what it is sent may take.
_SHARE = 6
_DEFAULT = "1g"
_UNITS = {"": 20, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_SIZE = re.compile(r"(\d+)([bkmgt]?)b?", re.IGNORECASE)


def broadcast_bytes(spark: SparkSession) -> int:
    """How many bytes of values, about. The driver makes of them what tasks look up, so that its memory counts too."""
    memory = [_bytes(spark.conf.get("spark.driver.memory", _DEFAULT))]
    if not (spark.conf.get("spark.master", "") or "").startswith("local"):
        memory.append(_bytes(spark.conf.get("spark.executor.memory", _DEFAULT)))
    return min(memory) // _SHARE


def _bytes(text: str | None) -> int:
    """A size as Spark writes sizes of memory: a number without a unit counts megabytes."""
    found = _SIZE.fullmatch((text or _DEFAULT).strip())
    return int(found[1]) << _UNITS[found[2].lower()] if found else 0
