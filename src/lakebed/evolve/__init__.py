"""Evolve schemas: changes, their evaluation, the difference of versions, plans, and applying them."""

from lakebed.evolve.apply import AppliedPlan, AppliedTable, apply
from lakebed.evolve.describe_edits import describe_changes
from lakebed.evolve.diff import diff
from lakebed.evolve.evaluate import evaluate
from lakebed.evolve.inverse import inverse, inverses
from lakebed.evolve.make_version import with_changes, with_columns, with_fields
from lakebed.evolve.plan import Plan, PlannedChange, TablePlan
from lakebed.evolve.planner import plan_table
from lakebed.evolve.schema_changes import Change, Move, MoveKind
from lakebed.evolve.verdicts import Verdict

__all__ = [
    "AppliedPlan",
    "AppliedTable",
    "Change",
    "Move",
    "MoveKind",
    "Plan",
    "PlannedChange",
    "TablePlan",
    "Verdict",
    "apply",
    "describe_changes",
    "diff",
    "evaluate",
    "inverse",
    "inverses",
    "plan_table",
    "with_changes",
    "with_columns",
    "with_fields",
]
