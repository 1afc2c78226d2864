"""Export the schema versions of a table as a hash-linked chain of metadata blocks.

A chain starts with a `Seed`, which gives the dataset its identity; each later block names the one before it by its
hash. A dataset keeps its blocks as files named by their hash in `blocks/`, and the hash of the last in `refs/head`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lakebed.diagnostics import Diagnostic, Severity
from lakebed.events.block import Block, block_hash, encode_block
from lakebed.events.event import Event
from lakebed.events.multihash import DatasetId, Multihash
from lakebed.model import Schema
from lakebed.model.differences import differences
from lakebed.model.encoding import ENCODING_KEYS, without_attributes
from lakebed.model.extra import PAIMON_TYPE, READ
from lakebed.model.migration_rule import migration_problems

HEAD = "refs/head"
BLOCKS = "blocks"

_NANOS_PER_MILLI = 1_000_000


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """One version of a table's schema; `time_millis` is when it was written, in milliseconds since 1970."""

    number: int
    schema: Schema
    time_millis: int


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """A block as it is stored. `version` is the schema version that it declares, None for the Seed."""

    block: Block
    data: bytes
    hash: Multihash
    version: int | None = None

    @property
    def path(self) -> str:
        """Where the block lies within its dataset."""
        return f"{BLOCKS}/{self.hash}"


@dataclass(frozen=True, slots=True)
class Chain:
    """Blocks in order, the Seed first. `diagnostics` are warnings about versions that do not make a clean history."""

    blocks: tuple[StoredBlock, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def head(self) -> Multihash:
        """The hash of the last block: the content of `refs/head`."""
        return self.blocks[-1].hash


def export_chain(
    versions: Iterable[SchemaVersion],
    dataset_id: DatasetId,
    *,
    dataset_kind: str = "Root",
    keep_encodings: bool = False,
) -> Chain:
    """The chain of a Seed and one `SetDataSchema` for each version, in ascending order of their numbers.

    The same versions give the same bytes. Encoding hints are left out unless they are to be kept, and how
    sources are read (`lakebed.dev/read`) always is. A version that
    then says the same as the one before it makes no block, and time never goes back; both are told in the
    diagnostics, as are versions that ODF's migration rule refuses. There has to be at least one version.
    """
    ordered = sorted(versions, key=lambda version: version.number)
    seed = Event("Seed", {"datasetId": str(dataset_id), "datasetKind": dataset_kind})
    time = ordered[0].time_millis * _NANOS_PER_MILLI
    stored = [_stored(Block(seed, time), None)]
    warnings: list[Diagnostic] = []
    current: SchemaVersion | None = None
    for version in ordered:
        # How sources are read is no part of a schema: Open Data Fabric has events of its own for it.
        said = replace(version, schema=replace(version.schema, extra=version.schema.extra.without(READ)))
        said = said if keep_encodings else replace(said, schema=without_encodings(said.schema))
        if current is not None:
            if not differences(current.schema, said.schema):
                warnings.append(_no_block(current, said))
                continue
            warnings += [_refused(said, problem) for problem in migration_problems(current.schema, said.schema)]
        written = said.time_millis * _NANOS_PER_MILLI
        if written < time:
            warnings.append(_moved(said))
        time = max(time, written)
        block = Block(Event.set_data_schema(said.schema), time, len(stored), stored[-1].hash)
        stored.append(_stored(block, said.number))
        current = said
    return Chain(tuple(stored), tuple(warnings))


def without_encodings(schema: Schema) -> Schema:
    """The schema without hints about how values are stored: Arrow's, and the types of Paimon that ODF lacks."""
    return without_attributes(schema, ENCODING_KEYS | {PAIMON_TYPE})


def _stored(block: Block, version: int | None) -> StoredBlock:
    data = encode_block(block)
    return StoredBlock(block, data, block_hash(data), version)


def _no_block(before: SchemaVersion, version: SchemaVersion) -> Diagnostic:
    message = f"schema {version.number} declares what schema {before.number} declares, so there is no block for it"
    return Diagnostic("LB2530", message, Severity.NOTE)


def _moved(version: SchemaVersion) -> Diagnostic:
    message = f"schema {version.number} is older than the one before it; its block has the time of that one"
    return Diagnostic("LB2531", message, Severity.WARNING)


def _refused(version: SchemaVersion, problem: Diagnostic) -> Diagnostic:
    message = f"schema {version.number}: {problem.message}; Open Data Fabric's rule does not allow it in one dataset"
    return replace(problem, message=message, severity=Severity.WARNING, remedy=None)
