"""Codes of what a storage holds in the wrong place, refuses or cannot do: LB3608 to LB3649."""

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
)
