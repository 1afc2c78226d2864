"""Verify a chain of metadata blocks: hashes, links, numbers, times, and the rule by which schemas may change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import CorruptMetadataError, LakebedError
from lakebed.events import instant
from lakebed.events.block import Block, block_hash, decode_block
from lakebed.events.chain import BLOCKS, HEAD
from lakebed.events.event_schema import CURRENT_RULES, ReaderRules
from lakebed.events.multihash import Multihash
from lakebed.model import Schema, schema_json
from lakebed.model.migration_rule import migration_problems

_LONGEST_HEAD = 1024


@dataclass(frozen=True, slots=True)
class ChainBlock:
    """One block of a chain that was checked."""

    hash: Multihash
    block: Block

    def to_json(self) -> dict[str, Any]:
        """Number, hash, time and kind of event."""
        return {
            "sequence_number": self.block.sequence_number,
            "hash": str(self.hash),
            "system_time": instant.text(self.block.system_time),
            "event": self.block.event.kind,
        }


@dataclass(frozen=True, slots=True)
class ChainReport:
    """The blocks that the head leads to, the first one first, and everything that is wrong with them.

    Where a block is missing or cannot be read, the blocks before it are not in the report. `schema` is the one in force
    at the head, None where there is none. `broken_rules` are those of the diagnostics that say of a schema event that
    it breaks the rule of Open Data Fabric.
    """

    head: Multihash | None
    blocks: tuple[ChainBlock, ...]
    schema: Schema | None
    diagnostics: tuple[Diagnostic, ...]
    broken_rules: tuple[Diagnostic, ...] = ()

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """The errors, warnings left out."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.ERROR)

    @property
    def is_sound(self) -> bool:
        """Whether hashes, links, numbers and times hold: whether this is the history that was written."""
        return all(problem in self.broken_rules for problem in self.problems)

    @property
    def is_valid(self) -> bool:
        """Whether it is sound and no schema event breaks the rule of Open Data Fabric."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed event verify --json`."""
        return {
            "head": str(self.head) if self.head is not None else None,
            "is_sound": self.is_sound,
            "is_valid": self.is_valid,
            "blocks": [block.to_json() for block in self.blocks],
            "schema": schema_json(self.schema) if self.schema is not None else None,
        }


def verify_chain(
    files: Mapping[str, bytes], head: bytes | str | None, *, rules: ReaderRules = CURRENT_RULES
) -> ChainReport:
    """Check a chain. `files` are the contents of `blocks/` by file name, `head` that of `refs/head`.

    Everything that is wrong is in the report; nothing is raised for what the files hold.
    """
    return _Verifier(files, rules).report(head)


@dataclass(slots=True)
class _Verifier:
    files: Mapping[str, bytes]
    rules: ReaderRules
    found: list[Diagnostic] = field(default_factory=list)
    broken: list[Diagnostic] = field(default_factory=list)

    def report(self, head: bytes | str | None) -> ChainReport:
        first = self._head(head)
        for name, data in sorted(self.files.items()):
            self._check_name(name, data)
        backwards = list(self._walk(first)) if first is not None else []
        blocks = tuple(reversed(backwards))
        if first is not None:
            self._check_leftovers(blocks)
        schema = self._check_order(blocks)
        return ChainReport(first, blocks, schema, tuple(self.found), tuple(self.broken))

    def _error(self, code: str, message: str, **parts: Any) -> None:
        self.found.append(Diagnostic(code, message, **parts))

    def _head(self, head: bytes | str | None) -> Multihash | None:
        if head is None:
            self._error("LB2520", f"there is no `{HEAD}`", remedy="give the directory that holds `blocks` and `refs`")
            return None
        text = head.decode("ascii", errors="replace") if isinstance(head, bytes) else head
        try:
            return Multihash.parse(text[:_LONGEST_HEAD].strip())
        except CorruptMetadataError as error:
            self._error("LB2520", f"`{HEAD}` holds no hash of a block", found=error.diagnostics[0].found)
            return None

    def _check_name(self, name: str, data: bytes) -> None:
        try:
            named = Multihash.parse(name)
        except CorruptMetadataError:
            self._leftover(f"{BLOCKS}/{name} is not named by a hash")
            return
        actual = block_hash(data)
        if named != actual:
            message = f"{BLOCKS}/{name} has other bytes than its name says"
            self._error("LB2522", message, path=name, expected=str(named), found=str(actual))

    def _walk(self, first: Multihash) -> Iterator[ChainBlock]:
        """Blocks from the head back, as far as they can be followed. Hashes are checked, so there is no way round."""
        wanted: Multihash | None = first
        by: str = f"`{HEAD}`"
        while wanted is not None:
            data = self.files.get(str(wanted))
            if data is None:
                self._error("LB2521", f"the block {wanted} is missing; {by} leads to it", path=str(wanted))
                return
            if block_hash(data) != wanted:
                return
            try:
                block = decode_block(data, rules=self.rules)
            except LakebedError as error:
                problem = error.diagnostics[0]
                message = f"the block {wanted} cannot be read: {problem.message} ({problem.code})"
                self._error("LB2526", message, path=str(wanted), found=problem.found, remedy=problem.remedy)
                return
            self.found += [_about(wanted, block, warning) for warning in block.event.diagnostics]
            yield ChainBlock(wanted, block)
            by, wanted = f"block {block.sequence_number} ({wanted.short})", block.previous

    def _check_leftovers(self, blocks: tuple[ChainBlock, ...]) -> None:
        if not blocks or blocks[0].block.previous is not None:
            return
        reached = {str(b.hash) for b in blocks}
        for name, data in sorted(self.files.items()):
            if name not in reached and name == str(block_hash(data)):
                self._leftover(f"the head does not lead to {BLOCKS}/{name}")

    def _leftover(self, message: str) -> None:
        self.found.append(Diagnostic("LB2528", message, Severity.WARNING))

    def _check_order(self, blocks: tuple[ChainBlock, ...]) -> Schema | None:
        """Everything that a block has to keep in respect of those before it. The schema in force at the end."""
        before: ChainBlock | None = None
        schema: ChainBlock | None = None
        for this in blocks:
            if before is None:
                self._check_first(this)
            else:
                self._check_follows(before, this)
            if this.block.event.schema is not None:
                self._check_rule(schema, this)
                schema = this
            elif schema is None and _adds_data(this.block):
                self._error("LB2527", f"{_name(this)} adds data, and no schema is said before it", path=str(this.hash))
            before = this
        return schema.block.event.schema if schema is not None else None

    def _check_first(self, first: ChainBlock) -> None:
        if first.block.previous is not None:
            return
        if first.block.sequence_number != 0:
            message = f"the first block has the number {first.block.sequence_number}"
            self._error("LB2523", message, path=str(first.hash), expected="0", found=str(first.block.sequence_number))
        if first.block.event.kind != "Seed":
            message = f"the first event is {first.block.event.kind}"
            self._error("LB2525", message, path=str(first.hash), expected="Seed", found=first.block.event.kind)

    def _check_follows(self, before: ChainBlock, this: ChainBlock) -> None:
        expected, found = before.block.sequence_number + 1, this.block.sequence_number
        if found != expected:
            message = f"the block {this.hash.short} has the number {found} and follows block {expected - 1}"
            self._error("LB2523", message, path=str(this.hash), expected=str(expected), found=str(found))
        if this.block.system_time < before.block.system_time:
            earlier, later = instant.text(this.block.system_time), instant.text(before.block.system_time)
            message = f"{_name(this)} is of {earlier}, before the block that it follows ({later})"
            self._error("LB2524", message, path=str(this.hash), expected=f"{later} or later", found=earlier)
        if this.block.event.kind == "Seed":
            self._error("LB2525", f"{_name(this)} is a second Seed", path=str(this.hash))

    def _check_rule(self, before: ChainBlock | None, this: ChainBlock) -> None:
        old = before.block.event if before is not None else None
        new = this.block.event
        if before is None or old is None or old.schema is None or new.schema is None:
            return
        if old.unknown or new.unknown or new.is_legacy:
            return
        for problem in migration_problems(old.schema, new.schema, legacy=old.is_legacy):
            message = f"{_name(this)}: {problem.message} (against block {before.block.sequence_number})"
            self.broken.append(replace(problem, message=message))
            self.found.append(self.broken[-1])


def _adds_data(block: Block) -> bool:
    return block.event.kind in ("AddData", "ExecuteTransform") and "newData" in block.event.value


def _about(hash_: Multihash, block: Block, warning: Diagnostic) -> Diagnostic:
    return replace(warning, message=f"block {block.sequence_number} ({hash_.short}): {warning.message}")


def _name(this: ChainBlock) -> str:
    return f"block {this.block.sequence_number} ({this.hash.short})"
