"""Codes of metadata events, blocks and chains of Open Data Fabric: LB2500 to LB2559."""

from __future__ import annotations

from lakebed.codes import Code

_BYTES: tuple[Code, ...] = (
    Code(
        "LB2500",
        "The bytes of an event or block are damaged",
        "An offset, a size or a text does not hold. Nothing is read from such bytes: what stands where an offset leads "
        "may be anything.",
        "A file that was cut short, or a file that is no event at all.",
        "Fetch the file again. If its hash is the one that it is named by, it was written wrongly.",
    ),
    Code(
        "LB2501",
        "The file is not a metadata block",
        "The envelope says in its first number what it holds, and this one holds something else.",
        "A dataset snapshot (0x400001) where a block (0x400000) is expected.",
        "Give the file of a block: it is named by its hash and lies in `blocks/` of a dataset.",
    ),
    Code(
        "LB2502",
        "The version of a block cannot be read",
        "Versions 2 and 3 are understood. Version 1 had no sequence numbers; a later one may mean something else.",
        "`version: 4`.",
        "Use a newer Lakebed for a newer version. Upgrade an old dataset with the tool that wrote it.",
    ),
    Code(
        "LB2503",
        "A required part of an event is missing",
        "What is left says nothing: a field without a type, a block without an event, a schema event with neither of "
        "its two forms.",
        "A `SetDataSchema` with neither `schema` nor `rawArrowSchema`.",
        "Whoever wrote the event has to write it again.",
    ),
    Code(
        "LB2504",
        "A value of an event means nothing",
        "A hash, an identity, a time or the JSON text of attributes is not what its place needs.",
        "Day 366 of a year that has 365; a hash of 31 bytes that says it has 32; attributes that are a list.",
        "Whoever wrote the event has to write it again.",
    ),
    Code(
        "LB2505",
        "An event is too large or nested too deeply",
        "Limits keep hostile files from exhausting memory and stack: 16 MiB, 250 000 tables, 128 tables within tables.",
        "A schema whose lists hold lists, two hundred levels deep.",
        "Flatten the type; put large attachments elsewhere.",
    ),
    Code(
        "LB2506",
        "A part of a newer writer was left out",
        "A type, an event or a value has a number that this version does not know. Everything beside it is read. The "
        "column is not in the schema that is shown, and the bytes stay as they are.",
        "`data type 25`.",
        "Use a newer Lakebed.",
    ),
    Code(
        "LB2507",
        "A schema event holds its schema twice",
        "An event should have either the legacy Arrow form or the ODF schema. The ODF schema counts.",
        "`SetDataSchema` with `rawArrowSchema` and `schema`.",
        "Nothing needs to be done to read it. Writers should fill `schema` alone.",
    ),
    Code(
        "LB2508",
        "An event holds something that a manifest could not",
        "It is read as it is, because history cannot be changed, but other tools may refuse it or read it otherwise.",
        "Two fields of one name; an attribute without a domain; an Option of an Option.",
        "Mend it with the next schema event.",
    ),
    Code(
        "LB2509",
        "A legacy Arrow schema cannot be read",
        "Events before RFC-016 hold the schema in Arrow's own form, which PyArrow reads.",
        "A dataset that was made before September 2025, on a machine without PyArrow.",
        "Install Lakebed with the extra `arrow`. If it is installed, the bytes are no Arrow schema.",
    ),
    Code(
        "LB2510",
        "An event cannot be written",
        "The layout has no place for what the event says.",
        "`fixedLength: -1`; an event `SetColour`; a property that the event does not have.",
        "Correct the property that the message names.",
    ),
    Code(
        "LB2511",
        "There is no such kind of event",
        "An event that stands alone does not say of which kind it is, so it has to be named, and the name is unknown.",
        "`--kind SetSchema`.",
        "Use one of the kinds of Open Data Fabric, such as SetDataSchema or SetInfo.",
    ),
)

_CHAIN: tuple[Code, ...] = (
    Code(
        "LB2520",
        "A chain has no head",
        "`refs/head` names the last block. Without it nobody can tell which blocks are history and which are left.",
        "A directory without `refs/head`, or one where it holds something else than a hash.",
        "Give the directory of a dataset, the one that holds `blocks` and `refs`.",
    ),
    Code(
        "LB2521",
        "A block of a chain is missing",
        "Each block names the one before it by its hash. That block is not there, so what came before is unknown.",
        "A copy that was stopped half way.",
        "Copy the missing block into `blocks/`.",
    ),
    Code(
        "LB2522",
        "A block is not what its name says",
        "A block is named by the hash of its bytes. These bytes have another hash: they were changed or damaged.",
        "One byte of a file in `blocks/` was altered.",
        "Copy the block again from where it came from.",
    ),
    Code(
        "LB2523",
        "The numbers of a chain do not follow each other",
        "The first block has the number 0 and no block before it; each other one has the number after that of the "
        "block before it.",
        "Block 4 after block 2.",
        "The chain was not written by the rules. Take it from a source that keeps them.",
    ),
    Code(
        "LB2524",
        "Time goes back in a chain",
        "A block says that it was written before the block that it follows.",
        "A clock that was set back.",
        "Nothing mends blocks that are written. On export, times never go back.",
    ),
    Code(
        "LB2525",
        "A chain does not start with its Seed",
        "The Seed gives a dataset its identity. It is the first event, and there is only one.",
        "A chain whose first block is a `SetDataSchema`.",
        "Export the table again: `lakebed event export` writes the Seed.",
    ),
    Code(
        "LB2526",
        "A block of a chain cannot be read",
        "Its hash is right, so it is what its writer wrote, but it is not a valid block.",
        "A block of a version that is not understood.",
        "See the reason in the message; `lakebed event inspect` shows a single block.",
    ),
    Code(
        "LB2527",
        "Data stand before the schema",
        "A chain has to say the schema before it adds data, so that every slice can be read.",
        "`AddData` as the second block, with new data and no `SetDataSchema` before it.",
        "The chain was not written by the rules. Take it from a source that keeps them.",
    ),
    Code(
        "LB2528",
        "A file is no part of the chain",
        "A block that the head does not lead to, or a file that is not named like a block. It is not history, and it "
        "does no harm.",
        "A block that was written by a run that was stopped before it moved the head.",
        "Delete it, or leave it.",
    ),
    Code(
        "LB2529",
        "Another chain is in the directory",
        "The head there is not a block of this table's history. Writing here would orphan that chain.",
        "The chain of another table, or one that another tool has added blocks to.",
        "Export to an empty directory.",
    ),
    Code(
        "LB2530",
        "A version of a schema has no block",
        "It declares what the version before it declares: only options or storage types changed, or encodings, which "
        "are left out. An event that changes nothing is refused by those who verify a chain.",
        "A version that sets `snapshot.num-retained.max`.",
        "Nothing needs to be done. With `--keep-encodings` changes of encodings are events too.",
    ),
    Code(
        "LB2531",
        "The time of a block was moved forward",
        "The schema version says that it was written before the one before it. Time may not go back in a chain, so its "
        "block has the time of the block before it.",
        "A schema file that was written on a machine whose clock was behind.",
        "Nothing needs to be done.",
    ),
)

CODES = _BYTES + _CHAIN
