"""Every code of the catalog, of evolution and of the stores is registered, and every registered one is used."""

from __future__ import annotations

import re
from pathlib import Path

import lakebed.catalog
import lakebed.evolve
import lakebed.maintenance
import lakebed.store
from lakebed.codes import register


def test_codes_are_registered_and_used():
    folders = [
        Path(module.__file__).parent for module in (lakebed.catalog, lakebed.evolve, lakebed.maintenance, lakebed.store)
    ]
    text = "".join(path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.glob("*.py")))
    used = set(re.findall(r"\bLB3\d{3}\b", text))
    assert len(used) > 70
    registered = {code for code in register() if code.startswith("LB3")}
    # Other rooms have codes in the last hundreds too.
    assert used <= registered
    assert {code for code in registered if code < "LB3750"} <= used
