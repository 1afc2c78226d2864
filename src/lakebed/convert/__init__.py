"""Convert the logical schema from and to other type systems, one module for each.

Importing this package needs the standard library only; `lakebed.convert.spark` imports PySpark.
"""

from lakebed.convert.loss import Loss, LossReport
from lakebed.convert.paimon import carrier, carrier_is_exact, to_logical, to_paimon

__all__ = ["Loss", "LossReport", "carrier", "carrier_is_exact", "to_logical", "to_paimon"]
