"""Codes of versions, branches, tags and clean-up: LB3650 to LB3699."""

from __future__ import annotations

from lakebed.codes import Code

_BRANCHES = (
    Code(
        "LB3650",
        "A new branch or tag cannot have this name",
        "The name becomes the name of a file or directory that every engine has to find, and must not be taken for a "
        "snapshot's number.",
        "    lakebed tag create shop.orders 2024",
        "Use letters, digits, dots, dashes and underscores, not digits alone.",
    ),
    Code(
        "LB3651",
        "There is such a branch already",
        "A branch is never overwritten; it may hold rows that nothing else has. It starts from one thing: a tag, a "
        "snapshot, or nothing.",
        "    lakebed branch create shop.orders dev      # a second time",
        "Choose another name, or delete that branch first.",
    ),
    Code(
        "LB3652",
        "There is no such branch",
        "The table has no branch of this name.",
        "    lakebed branch delete shop.orders dve",
        "`lakebed branch list TABLE` lists them.",
    ),
    Code(
        "LB3653",
        "The branch is the table itself",
        "`main` is the table; it can be dropped, but it is not one of its branches.",
        "    lakebed branch delete shop.orders main",
        "Name another branch, or drop the table.",
    ),
    Code(
        "LB3654",
        "A branch is half made or half deleted",
        "On a storage without directories a branch is made and deleted file by file. A marker in it says that it is "
        "not complete, and Lakebed does not take it for a branch. Other programs may.",
        "    a machine that lost its power while it made a branch on an object store",
        "If nobody is at it, `lakebed branch delete` removes what is there; then create the branch again.",
    ),
    Code(
        "LB3655",
        "The table cannot be brought forward to the branch",
        "A fast-forward only adds what the branch has gained. The table has gained something too since the branch was "
        "made, which would be lost.",
        "    two snapshots were committed to the table after the branch was made",
        "Roll the table back to the snapshot, and then to the schema, from which the branch began; or copy the "
        "branch's rows into the table.",
    ),
    Code(
        "LB3656",
        "The branch has no snapshot",
        "A branch without rows has nothing to bring the table forward to. Its schema may hold changes that are allowed "
        "only while there are no rows.",
        "    lakebed branch fast-forward shop.orders dev    # right after `branch create`",
        "Write to the branch first, or change the table's own schema by a plan.",
    ),
    Code(
        "LB3666",
        "An option of the table names the branch",
        "Readers of the table read the branch too (`scan.fallback-branch`, `scan.primary-branch`), and would fail.",
        "    options: {scan.fallback-branch: dev}",
        "Remove the option first.",
    ),
)

_TAGS = (
    Code(
        "LB3657",
        "There is such a tag already",
        "A tag is never moved silently: whoever reads it expects the same rows again.",
        "    lakebed tag create shop.orders audit-q1    # a second time",
        "Choose another name, or delete that tag first.",
    ),
    Code(
        "LB3658",
        "There is no snapshot to tag",
        "A tag keeps a snapshot, and the table has none yet.",
        "    lakebed tag create shop.orders first       # nothing was ingested",
        "Ingest rows first.",
    ),
    Code(
        "LB3659",
        "A branch needs the tag",
        "A branch shares its data files with the table. Engines that expire the table's snapshots delete files that "
        "neither a snapshot nor a tag of the table has, and do not look at branches.",
        "    lakebed tag delete shop.orders audit-q1    # branch dev was made from it",
        "Delete the branch first, or fast-forward and then delete it.",
    ),
    Code(
        "LB3665",
        "A length of time makes no sense",
        "It has to be a whole number with a unit; a minimum age is 0 or more, the retention of a tag more than 0.",
        "    --min-age soon",
        "Write for example 7d, 12h, 30m or 90s.",
    ),
    Code(
        "LB3667",
        "The snapshot expired while it was tagged",
        "Another engine deleted it at that moment, and with it maybe data files. No tag was made.",
        "    a job expires snapshots every minute",
        "Tag a later snapshot.",
    ),
)

_VERSIONS = (
    Code(
        "LB3660",
        "A later schema version is needed",
        "The schema can only be rolled back past versions that nothing refers to: no snapshot, tag, changelog, branch, "
        "statistics, manifest or data file. Rows that were written under such a version could not be read any more.",
        "    lakebed rollback shop.orders --to 2        # snapshot 7 was written under schema 3",
        "Roll the table back to a snapshot from before that schema, delete the tags or branches that need it, or "
        "change the schema forwards with a plan.",
    ),
    Code(
        "LB3661",
        "Tags keep later snapshots",
        "Rolling the table back to a snapshot gives the numbers of later ones out again, so their tags have to go. "
        "What they keep would be lost.",
        "    lakebed rollback shop.orders --to snap:5   # tag audit-q1 is of snapshot 6",
        "Delete the tags first, or give `--delete-tags`.",
    ),
    Code(
        "LB3662",
        "Somebody wrote to the table at the same time",
        "Several files have to change together, which no storage can do in one step. A commit came in between.",
        "    a stream commits while the table is rolled back",
        "Stop the writers and try again. The message says what the table's state is.",
    ),
    Code(
        "LB3668",
        "What is looked after is a table or a branch",
        "One version, snapshot or tag has no versions, tags or branches of its own; a roll back goes to one place.",
        "    lakebed versions shop.orders@snap:5",
        "Name the table, or TABLE@branch:NAME.",
    ),
    Code(
        "LB3663",
        "Versions of the mini layout cannot be removed",
        "Its schema files hold no field ids: each version means something only after the ones before it.",
        "    lakebed versions shop.orders               # a Mini Paimon warehouse",
        "Nothing needs to be done; or move the table to a warehouse of the paimon layout.",
    ),
    Code(
        "LB3664",
        "What is still needed cannot be told",
        "A snapshot, tag, changelog, manifest, statistics or schema file cannot be read. It may refer to what would be "
        "deleted, so nothing is deleted.",
        "    a manifest that a copy of the warehouse left out",
        "Try again if other jobs are at work; else mend or remove the file that is named.",
    ),
)

CODES = (*_BRANCHES, *_TAGS, *_VERSIONS)
