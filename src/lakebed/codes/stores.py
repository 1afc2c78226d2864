"""Codes of what a storage holds in the wrong place, refuses or cannot do: LB3608 to LB3649, and LB3413 to LB3419."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB3608",
        "Something stands in the way of a file",
        "A version, snapshot or tag is a file that is made once. A directory of its name, or a link that leads to "
        "nothing, takes the name and is none of them; trying again would never end.",
        "    warehouse/shop.db/orders/schema/schema-4/, a directory, while version 3 is the newest",
        "Look at what is there and move it away, then repeat the command.",
    ),
    Code(
        "LB3609",
        "Too many lost races",
        "Others have made a version of the table each time before this change could be published. Nothing was written.",
        "    a job that changes the table over and over",
        "Find out who changes the table, and repeat the command when it is quiet.",
    ),
    Code(
        "LB3610",
        "A deletion that would leave the directory",
        "Clean-ups, roll backs and drops delete only what really lies in the directory of the table. What is behind a "
        "link is perhaps somebody else's.",
        "    warehouse/shop.db/orders/tag, a link to a directory of another table",
        "Put the directory itself where the link is, or delete the file by hand if it is yours.",
    ),
    Code(
        "LB3611",
        "The storage does not permit it",
        "The file system is read-only, or the user has no right to do it. Nothing was done.",
        "    a warehouse that is mounted read-only",
        "Give the user the right, or use another place.",
    ),
    Code(
        "LB3612",
        "The storage is full",
        "There is no room for the file, or the quota of the user is used up. The file was not published.",
        "    No space left on device",
        "Make room, then repeat the command.",
    ),
    Code(
        "LB3613",
        "The change was made, but not all that goes with it",
        "What makes the change visible was done; what comes after it, such as removing what is left over, failed. The "
        "change stands and is not to be repeated.",
        "    a branch that was deleted, and a file of it that cannot be removed",
        "Do what the message says; nothing is lost.",
    ),
    Code(
        "LB3614",
        "A storage that cannot be opened",
        "The driver of the URL is there, but connecting failed: no such host or archive, wrong credentials, no net.",
        "    lakebed tables --warehouse ftp://files.example.org/warehouse",
        "Check the URL, the network and the credentials.",
    ),
    Code(
        "LB3413",
        "The record of a table is behind its schema",
        "A version was made, or a table was made or renamed; the `metadata` record beside it, a convenience for other "
        "programs, could not be written. Readers go by the schema files. In the mini layout the record holds the "
        "options and the comment too: there the change is an error, which says what was made without them.",
        "    warehouse/shop.db/orders/metadata, a directory",
        "Look at what is there and mend or remove it; the next change writes the record again.",
    ),
    Code(
        "LB3415",
        "A text that no file can hold",
        "A name, a comment or an option holds a lone surrogate: half of a character, which UTF-8 cannot say. Such "
        "texts come from bytes that were decoded in the wrong way.",
        '    lake.tables.create_table("d", "t", [("a\\udcff", "INT")])',
        "Take the character out, or decode the bytes in their own encoding.",
    ),
)
