"""Make the events of a run by the library of OpenLineage, and send them where its configuration says.

The library reads `OPENLINEAGE_URL`, `openlineage.yml` and its other variables. What it raises becomes a warning: a run
does not fail for its events.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from posixpath import dirname
from typing import Any, TypeVar
from urllib.parse import urlsplit

from openlineage.client import OpenLineageClient, event_v2, facet_v2
from openlineage.client.event_v2 import RunState
from openlineage.client.facet_v2 import schema_dataset
from openlineage.client.uuid import generate_new_uuid

from lakebed.catalog.option_values import word
from lakebed.catalog.options import FILE_FORMAT
from lakebed.diagnostics import reason_of
from lakebed.errors import LakebedError, warn
from lakebed.format.table_branch import TableBranch
from lakebed.lineage.lineage_run import LineageInput, LineageOutput, LineageRun
from lakebed.physical.paimon_tree import children, fold, named_children
from lakebed.physical.paimon_types import DataField, DataType, with_nullability
from lakebed.redaction import redact

_Facet = TypeVar("_Facet")

NOT_SENT = "LB6590"
#: So many files are told one by one; of more their directories.
_MOST_FILES = 100
_CHANGES = {
    "overwrite": facet_v2.lifecycle_state_change_dataset.LifecycleStateChange.OVERWRITE,
    "truncate": facet_v2.lifecycle_state_change_dataset.LifecycleStateChange.TRUNCATE,
}
#: How the storage of Hadoop's other names for it is called.
_SCHEMES = {"s3a": "s3", "s3n": "s3", "": "file"}
#: Seconds for what waits to be sent when the process ends.
_LAST_WAIT = 5.0


def _lakebed_version() -> str:
    try:
        return version("lakebed")
    except PackageNotFoundError:
        return "unknown"


_VERSION = _lakebed_version()
_PRODUCER = f"urn:lakebed:{_VERSION}"


@cache
def open_client(*, with_origin: bool) -> OpenLineageClient:
    """The client of this process, which is closed when it ends. Without `with_origin` no repository of git is told."""
    hidden: dict[str, Any] = {"facets": {"source_code_location": {"disabled": True}}}
    client = OpenLineageClient(config=None if with_origin else hidden)
    atexit.register(client.close, _LAST_WAIT)
    return client


class RunEvents:
    """The events of one run: it begins, and completes or fails."""

    def __init__(self, run: LineageRun) -> None:
        self._run = run
        self._id = str(generate_new_uuid())

    def begin(self) -> None:
        """Tell that it begins, of which files, into which table."""
        self._send(RunState.START, lambda: [_output(self._run, self._run.table)])

    def complete(self, outputs: Iterable[LineageOutput]) -> None:
        """Tell what it has written."""
        self._send(RunState.COMPLETE, lambda: [_written(self._run, output) for output in outputs])

    def fail(self, error: BaseException) -> None:
        """Tell why it has failed, in the first of Lakebed's messages: those of others may show values of rows."""
        told = type(error).__name__
        if isinstance(error, LakebedError):
            told = f"{error.code}: {redact(error.diagnostics[0].message)}"
        failure = _made(facet_v2.error_message_run.ErrorMessageRunFacet, message=told, programmingLanguage="PYTHON")
        state = RunState.FAIL if isinstance(error, Exception) else RunState.ABORT
        self._send(state, lambda: [_output(self._run, self._run.table)], {"errorMessage": failure})

    def _send(
        self,
        state: RunState,
        outputs: Callable[[], list[event_v2.OutputDataset]],
        facets: Mapping[str, Any] | None = None,
    ) -> None:
        table = self._run.table
        try:
            event = event_v2.RunEvent(
                eventType=state,
                eventTime=datetime.now(UTC).isoformat(),
                run=event_v2.Run(self._id, {**self._run_facets, **(facets or {})}),
                job=self._job,
                inputs=_inputs(self._run.inputs),
                outputs=outputs(),
                producer=_PRODUCER,
            )
            open_client(with_origin=bool(table.tables.origin)).emit(event)
        except Exception as error:
            # Each way of sending fails in its own way.
            warn(
                NOT_SENT,
                f"{table.label}: an event of OpenLineage was not sent: {redact(reason_of(error))}",
                path=table.label,
                found=state.value,
                remedy="look at where OPENLINEAGE_URL or openlineage.yml say that events go",
            )

    @cached_property
    def _job(self) -> event_v2.Job:
        run = self._run
        kind = _made(
            facet_v2.job_type_job.JobTypeJobFacet,
            processingType="STREAMING" if run.of_stream else "BATCH",
            integration="LAKEBED",
            jobType=run.operation.upper(),
        )
        name = f"lakebed.{run.operation}.{run.table.label}"
        return event_v2.Job(os.environ.get("OPENLINEAGE_NAMESPACE", "default"), name, {"jobType": kind})

    @cached_property
    def _run_facets(self) -> dict[str, Any]:
        engine = facet_v2.processing_engine_run.ProcessingEngineRunFacet
        facets: dict[str, Any] = {
            "processing_engine": _made(engine, version=_VERSION, name="Lakebed", openlineageAdapterVersion=_VERSION)
        }
        if self._run.run_id is not None:
            tag = facet_v2.tags_run.TagsRunFacetFields("lakebed_run_id", self._run.run_id, "LAKEBED")
            facets["tags"] = _made(facet_v2.tags_run.TagsRunFacet, tags=[tag])
        parent = _parent(os.environ)
        if parent is not None:
            facets["parent"] = parent
        return facets


def _made(facet: Callable[..., _Facet], **parts: Any) -> _Facet:
    return facet(producer=_PRODUCER, **parts)


def _parent(environment: Mapping[str, str]) -> facet_v2.parent_run.ParentRunFacet | None:
    """The run that has started this one, `NAMESPACE/JOB/RUN`, as the integrations of schedulers hand it down."""
    said = environment.get("OPENLINEAGE_PARENT_ID")
    if not said:
        return None
    namespace, job, run = said.rsplit("/", 2)
    parts = facet_v2.parent_run
    return _made(parts.ParentRunFacet, run=parts.Run(run), job=parts.Job(namespace, job))


# --- datasets ---------------------------------------------------------------------------------------------------------


def _place(path: str) -> tuple[str, str]:
    """The namespace and the name of a dataset by its path or URL, as OpenLineage names files."""
    parts = urlsplit(path)
    scheme = _SCHEMES.get(parts.scheme, parts.scheme)
    if scheme == "file":
        return "file", parts.path
    return f"{scheme}://{parts.netloc}", parts.path.strip("/") or "/"


def _inputs(files: Sequence[LineageInput]) -> list[event_v2.InputDataset]:
    sizes: dict[str, list[int]] = {}
    for file in files:
        known = sizes.setdefault(file.path if len(files) <= _MOST_FILES else dirname(file.path), [])
        known += [] if file.size is None else [file.size]
    return [_input(path, known) for path, known in sizes.items()]


def _input(path: str, sizes: Sequence[int]) -> event_v2.InputDataset:
    read = facet_v2.input_statistics_input_dataset.InputStatisticsInputDatasetFacet
    counted: dict[str, Any] = {}
    if sizes:
        counted["inputStatistics"] = _made(read, size=sum(sizes), fileCount=len(sizes))
    return event_v2.InputDataset(*_place(path), inputFacets=counted)


def _output(run: LineageRun, table: TableBranch) -> event_v2.OutputDataset:
    """A table, by where its branch lies; its name in the warehouse is another one that it has."""
    schema, symlinks = table.schemas.load_latest_schema(), facet_v2.symlinks_dataset
    warehouse, _ = _place(redact(table.tables.path_factory.warehouse))
    name = symlinks.Identifier(warehouse, table.label, "TABLE")
    storage = facet_v2.storage_dataset.StorageDatasetFacet
    facets: dict[str, Any] = {
        "schema": _made(schema_dataset.SchemaDatasetFacet, fields=[_field(f) for f in schema.fields]),
        "storage": _made(storage, storageLayer="paimon", fileFormat=word(schema.options, FILE_FORMAT)),
        "symlinks": _made(symlinks.SymlinksDatasetFacet, identifiers=[name]),
    }
    if run.operation in _CHANGES and table == run.table:
        changed = facet_v2.lifecycle_state_change_dataset.LifecycleStateChangeDatasetFacet
        facets["lifecycleStateChange"] = _made(changed, lifecycleStateChange=_CHANGES[run.operation])
    return event_v2.OutputDataset(*_place(redact(table.root)), facets=facets)


def _written(run: LineageRun, output: LineageOutput) -> event_v2.OutputDataset:
    dataset = _output(run, output.table)
    if output.snapshot_id is not None:
        state = facet_v2.dataset_version_dataset.DatasetVersionDatasetFacet
        statistics = facet_v2.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet
        counts = {"rowCount": output.rows, "size": output.bytes, "fileCount": output.files}
        dataset.facets = {**(dataset.facets or {}), "version": _made(state, datasetVersion=str(output.snapshot_id))}
        dataset.outputFacets = {"outputStatistics": _made(statistics, **counts)}
    return dataset


def _field(field: DataField) -> schema_dataset.SchemaDatasetFacetFields:
    return schema_dataset.SchemaDatasetFacetFields(
        field.name, _type_text(field.type), field.description, fields=fold(field.type, _members)
    )


def _members(
    type_: DataType, below: tuple[list[schema_dataset.SchemaDatasetFacetFields], ...]
) -> list[schema_dataset.SchemaDatasetFacetFields]:
    """The parts of a nested type as fields, each with what it is made of."""
    return [
        schema_dataset.SchemaDatasetFacetFields(name, _type_text(part), fields=inner)
        for (name, part), inner in zip(named_children(type_), below, strict=True)
    ]


def _type_text(type_: DataType) -> str:
    return type_.root if children(type_) else str(with_nullability(type_, True))
