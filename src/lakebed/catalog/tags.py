"""What tags a branch has."""

from __future__ import annotations

from lakebed.catalog.paths import MAIN, branch_root
from lakebed.store import Store

_PREFIX = "tag-"


def tag_names(store: Store, table_path: str, branch: str = MAIN) -> list[str]:
    """The names of the tags of a branch, sorted."""
    entries = store.list(f"{branch_root(table_path, branch)}/tag")
    names = (e.name.removeprefix(_PREFIX) for e in entries if not e.is_directory and e.name.startswith(_PREFIX))
    return sorted(name for name in names if name)
