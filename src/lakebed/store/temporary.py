"""Name temporary files and directories, and recognise those that a crash has left.

Whoever writes something temporary takes its name from here, so that the clean-up of orphan files knows all of them.
"""

from __future__ import annotations

import os
import re
import uuid

_HEX = "[0-9a-f]{32}"
#: The longest name of a file, in bytes.
_MAX_NAME = 255

#: Beside metadata: files on their way to their names, also those of other engines, and probes of a storage.
_FILE = re.compile(rf"\..+\.tmp|\.lakebed-{_HEX}", re.DOTALL)
#: In a table's directory: rows on their way to the directories of their partitions.
_STAGING = re.compile(r"\.staging-.+", re.DOTALL)
#: In the directory of the branches: a branch that is being made or deleted.
_HALF_BRANCH = re.compile(rf"\.(creating|deleted)-{_HEX}")
#: In a warehouse: lists of files that Spark reads, and tables that a migration puts together; a directory a run.
SCRATCH, MIGRATION = ".lakebed-scratch", ".lakebed-migration"
_SCRATCH_LIST, _MIGRATION_RUN = re.compile(f"lakebed-{_HEX}"), re.compile(_HEX)


def sibling(name: str) -> str:
    """The name of a file that will get another one."""
    suffix = f".{uuid.uuid4().hex}.tmp"
    stem = os.fsencode(name)[: _MAX_NAME - len(suffix) - 1].decode(errors="ignore")
    return f".{stem}{suffix}"


def probe() -> str:
    """The name of an object that is written to see what a storage does."""
    return f".lakebed-{uuid.uuid4().hex}"


def staging(id_: str) -> str:
    """The name of a directory of rows that are not in their places yet."""
    return f".staging-{id_}"


def new_branch() -> str:
    """The name of the directory of a branch that is being made."""
    return f".creating-{uuid.uuid4().hex}"


def old_branch() -> str:
    """The name of the directory of a branch that is being deleted."""
    return f".deleted-{uuid.uuid4().hex}"


def scratch_list() -> str:
    """The name of the directory of a list of files for Spark."""
    return f"lakebed-{uuid.uuid4().hex}"


def migration_run() -> str:
    """The name of the directory of a run of a migration."""
    return uuid.uuid4().hex


def is_temporary_file(name: str) -> bool:
    """Whether a file beside metadata is one on its way, or a probe."""
    return _FILE.fullmatch(name) is not None


def is_staging(name: str) -> bool:
    """Whether a directory in a table's directory holds rows on their way."""
    return _STAGING.fullmatch(name) is not None


def is_half_branch(name: str) -> bool:
    """Whether a directory among the branches is one on its way in or out."""
    return _HALF_BRANCH.fullmatch(name) is not None


def is_run(parent: str, name: str) -> bool:
    """Whether a directory in `SCRATCH` or `MIGRATION` is that of a list or of a run."""
    return {SCRATCH: _SCRATCH_LIST, MIGRATION: _MIGRATION_RUN}[parent].fullmatch(name) is not None
