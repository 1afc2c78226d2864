"""Export chains of metadata blocks to a directory, and verify them there: `blocks/<hash>` and `refs/head`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lakebed.catalog import SchemaManager, TableName
from lakebed.errors import ConflictError, CorruptMetadataError, NotFoundError
from lakebed.events import (
    Chain,
    ChainReport,
    DatasetId,
    ReaderRules,
    SchemaVersion,
    export_chain,
    instant,
    verify_chain,
)
from lakebed.events.buffer_cursor import MAX_BYTES
from lakebed.events.chain import BLOCKS, HEAD
from lakebed.events.event_schema import CURRENT_RULES
from lakebed.store.base import Store


@dataclass(frozen=True, slots=True)
class ExportedChain:
    """What an export left in a directory. `new_blocks` is how many of the chain's blocks were not there before."""

    chain: Chain
    dataset_id: DatasetId
    new_blocks: int

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed event export --json`."""
        return {
            "dataset_id": str(self.dataset_id),
            "head": str(self.chain.head),
            "new_blocks": self.new_blocks,
            "blocks": [
                {
                    "sequence_number": stored.block.sequence_number,
                    "hash": str(stored.hash),
                    "system_time": instant.text(stored.block.system_time),
                    "event": stored.block.event.kind,
                    "schema_id": stored.version,
                }
                for stored in self.chain.blocks
            ],
        }


def export_history(
    name: TableName,
    schemas: SchemaManager,
    store: Store,
    root: str,
    *,
    up_to: int | None = None,
    dataset_id: DatasetId | None = None,
    dataset_kind: str = "Root",
    keep_encodings: bool = False,
) -> ExportedChain:
    """Write the chain of a table's schema versions to the directory `root`, or add the new ones to the chain there.

    Without an identity, the dataset has that of the chain that is there, else one that follows from the table's name
    and first version. Blocks are written first and the head last, so that an export that is stopped can be repeated.

    Raises `NotFoundError` for a table that does not exist, `ConflictError` where the directory holds another chain.
    """
    loaded = [schemas.load_schema(i) for i in schemas.ids() if up_to is None or i <= up_to]
    loaded = loaded or [schemas.load_latest_schema()]
    versions = [SchemaVersion(found.id, found.logical, found.time_millis) for found in loaded]
    present = read_chain(store, root) if store.exists(f"{root}/{HEAD}") else None
    identity = dataset_id or _identity(present)
    if identity is None:
        first = loaded[0]
        identity = DatasetId.derived(str(name), str(first.time_millis), first.logical.fingerprint)
    chain = export_chain(versions, identity, dataset_kind=dataset_kind, keep_encodings=keep_encodings)
    if present is not None and present.head not in [block.hash for block in chain.blocks]:
        raise ConflictError.of(
            "LB2529",
            f"the chain in {root} is not the beginning of the history of {name}",
            path=f"{root}/{HEAD}",
            expected=str(chain.head),
            found=str(present.head),
            remedy="export to an empty directory, or with the options of the first export",
        )
    return ExportedChain(chain, identity, _write(store, root, chain))


def read_chain(store: Store, root: str, *, rules: ReaderRules = CURRENT_RULES) -> ChainReport:
    """Check the chain in a directory. Raises `NotFoundError` where there is neither a head nor a block."""
    names = [entry.name for entry in store.list(f"{root}/{BLOCKS}") if not entry.is_directory]
    head = store.read(f"{root}/{HEAD}") if store.exists(f"{root}/{HEAD}") else None
    if head is None and not names:
        remedy = "give the directory that holds `blocks` and `refs`"
        raise NotFoundError.of("LB2520", f"{root} holds no chain of blocks", path=root, remedy=remedy)
    files = {name: store.read_range(f"{root}/{BLOCKS}/{name}", 0, MAX_BYTES + 1) for name in names}
    return verify_chain(files, head, rules=rules)


def _identity(present: ChainReport | None) -> DatasetId | None:
    first = present.blocks[0].block.event if present is not None and present.blocks else None
    return DatasetId.parse(str(first.value["datasetId"])) if first is not None and "datasetId" in first.value else None


def _write(store: Store, root: str, chain: Chain) -> int:
    new = 0
    store.make_directory(f"{root}/{BLOCKS}")
    store.make_directory(f"{root}/{HEAD}".rpartition("/")[0])
    for block in chain.blocks:
        path = f"{root}/{block.path}"
        if store.create_if_absent(path, block.data):
            new += 1
        elif store.read(path) != block.data:
            message = f"{path} has other bytes than its name says"
            raise CorruptMetadataError.of("LB2522", message, path=path, remedy="delete the file")
    head = str(chain.head).encode("ascii")
    if new or not store.exists(f"{root}/{HEAD}") or store.read(f"{root}/{HEAD}") != head:
        store.replace(f"{root}/{HEAD}", head)
    return new
