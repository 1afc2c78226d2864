"""Read system tables and the history of a table from metadata, as rows. No engine takes part."""

from lakebed.inspection.inspect import inspect
from lakebed.inspection.system_table import NAMES, OF_A_STATE, SystemTable, SystemTableRef, check_system

__all__ = ["NAMES", "OF_A_STATE", "SystemTable", "SystemTableRef", "check_system", "inspect"]
