from __future__ import annotations

import sys
import types

try:
    import lakebed.catalog.validate  # noqa: F401
except ImportError:
    module = types.ModuleType("lakebed.catalog.validate")
    module.validate = lambda schema, **_: ()
    sys.modules["lakebed.catalog.validate"] = module
