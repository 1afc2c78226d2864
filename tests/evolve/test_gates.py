"""Options that allow what the columns do, changed in one step with the columns: each stands where it must."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evolve.tables import refused, run, table
from lakebed.evolve import diff
from lakebed.evolve.schema_changes import Change, RemoveOption, SetOption, UpdateColumnNullability, UpdateColumnType
from lakebed.physical import paimon_types as t

CASTING = "disable-explicit-type-casting"
NOT_NULL = "alter-column-null-to-not-null.disabled"
CAST = UpdateColumnType(("c",), t.Int(), keep_nullability=True)
MADE_REQUIRED = UpdateColumnNullability(("c",), False)


@pytest.mark.parametrize(
    ("before", "after", "column", "gate", "opens"),
    [
        ({CASTING: "true"}, {}, t.Int(), RemoveOption(CASTING), True),
        ({CASTING: "TRUE"}, {CASTING: "false"}, t.Int(), SetOption(CASTING, "false"), True),
        ({}, {CASTING: "true"}, t.Int(), SetOption(CASTING, "true"), False),
        ({CASTING: "false"}, {CASTING: "true"}, t.Int(), SetOption(CASTING, "true"), False),
        ({}, {NOT_NULL: "false"}, t.BigInt(False), SetOption(NOT_NULL, "false"), True),
        ({NOT_NULL: "true"}, {NOT_NULL: "false"}, t.BigInt(False), SetOption(NOT_NULL, "false"), True),
        ({NOT_NULL: "false"}, {}, t.BigInt(False), RemoveOption(NOT_NULL), False),
        ({NOT_NULL: "false"}, {NOT_NULL: "true"}, t.BigInt(False), SetOption(NOT_NULL, "true"), False),
    ],
)
def test_a_gate_is_opened_before_and_closed_after_what_needs_it(
    before: dict[str, str], after: dict[str, str], column: t.DataType, gate: Change, opens: bool
) -> None:
    base = table(("a", t.Int()), ("c", t.BigInt()), options=before)
    fields = (base.fields[0], replace(base.fields[1], type=column))
    target = replace(base, fields=fields, options=after)
    changes = diff(base, target)
    of_column = next(c for c in changes if c != gate)
    assert list(changes) == ([gate, of_column] if opens else [of_column, gate])
    reached = run(base, *changes)
    assert (reached.fields, reached.options) == (target.fields, target.options)
    # In the other order the table would refuse: the order is no matter of taste.
    assert refused(base, *reversed(changes)) == (["LB4012"] if isinstance(of_column, UpdateColumnType) else ["LB4011"])
