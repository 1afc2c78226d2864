"""Check what Lakebed needs around it: Python, Java, Spark, libraries, time zones, and the storage of a warehouse.

from lakebed.doctor import examine

print(examine("warehouse"))
"""

from __future__ import annotations

from lakebed.doctor.examine import examine
from lakebed.doctor.report import Check, DoctorReport, State
from lakebed.doctor.storage import Place

__all__ = ["Check", "DoctorReport", "Place", "State", "examine"]
