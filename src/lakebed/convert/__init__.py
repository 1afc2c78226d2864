"""Convert the logical schema from and to other type systems, one module for each.

A module `x` has `to_x` and `from_x`, or one of them. They take a schema, or give it, and a `LossReport` with it: what
the other side could not say. Two kinds have no report, since nothing is lost: `paimon`, where what columns do not say
is kept beside them (`lakebed.catalog.annotations`), and the JSON forms of Spark's and Arrow's own schemas.

Importing this package needs the standard library only; `lakebed.convert.spark` imports PySpark.
"""

from lakebed.convert.loss import Loss, LossReport
from lakebed.convert.paimon import carrier, carrier_is_exact, from_paimon, to_paimon

__all__ = ["Loss", "LossReport", "carrier", "carrier_is_exact", "from_paimon", "to_paimon"]
