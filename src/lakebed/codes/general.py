from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = ()
