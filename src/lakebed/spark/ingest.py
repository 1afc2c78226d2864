"""Ingest: rows of a source into an append table under its declared schema, all or nothing.

One pass reads, checks and writes the good rows and counts all of them; a second one writes the bad rows, if there are
any. What was written has to agree with what was counted. Then the quarantine is committed, then the table, both under
one run id. Whatever fails before leaves nothing that anybody sees; a run that was cut off between the two commits is
finished when it is repeated.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal
from uuid import uuid4

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.names import TableName
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import IngestError, LakebedError, StoreError, UsageError
from lakebed.model.extra import ON_BAD_ROW
from lakebed.spark import runs
from lakebed.spark.checks import missing_column, unknown_column
from lakebed.spark.json_values import read_shape, shape_of_all, unknown_keys
from lakebed.spark.prepare import prepare
from lakebed.spark.quarantine import ensure_quarantine, quarantine_rows
from lakebed.spark.runs import IngestResult, RunCounts, RunMemory
from lakebed.spark.source_files import SourceFile, SourceFormat, check_unchanged, find_files, format_of, identify
from lakebed.spark.source_options import SourceOptions, check_options
from lakebed.spark.sources import SourcePart, open_files, open_frame
from lakebed.spark.stamp_forms import stamp_forms
from lakebed.spark.values import Rules
from lakebed.spark.write import Staging, refuse_legacy_dates
from lakebed.store.base import Store
from lakebed.table.commit import NewFile, TableStorage, append
from lakebed.table.snapshot import Snapshot
from lakebed.table.support import refuse_unwritable

__all__ = ["BadRowsError", "IngestContext", "IngestResult", "ingest"]
