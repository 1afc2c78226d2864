"""Random sequences of changes, made by Lakebed and by pypaimon: where both accept, the schemas are the same."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from interop.change_steps import batches, tables
from interop.known_changes import KNOWN, Known, Step, our_answer, their_answer
from lakebed.catalog.schema_file import dumps, loads
from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve.schema_changes import Change, from_json, to_json
from referees.client import Referees

#: How many sequences; `HYPOTHESIS_PROFILE=explore` looks at many more, and at other ones each time.
EXPLORE = os.environ.get("HYPOTHESIS_PROFILE") == "explore"
#: To make a failing sequence small asks the referee very often.
PHASES = (Phase.generate, Phase.shrink) if EXPLORE else (Phase.generate,)
SEQUENCES, LENGTH = (1500, 15) if EXPLORE else (300, 8)


def steps(referees: Referees, asked: list[tuple[TableSchema, tuple[Change, ...]]]) -> list[Step]:
    """What both make of each, pypaimon in one request."""
    answers = referees.evolve((before.to_json(), [to_json(c) for c in changes]) for before, changes in asked)
    return [
        Step(before, changes, our_answer(before, changes), their_answer(answer))
        for (before, changes), answer in zip(asked, answers, strict=True)
    ]


def explanations(step: Step) -> list[Known]:
    """What explains a difference; where Lakebed has several reasons to refuse, each needs an explanation."""
    parts = [replace(step, ours=(code,)) for code in step.codes] or [step]
    found = [next((known for known in KNOWN if known.explains(part)), None) for part in parts]
    return [] if None in found else [known for known in found if known is not None]


def machine_of(referees: Referees, seen: Counter[str]) -> type[RuleBasedStateMachine]:
    """A machine that keeps a table as Lakebed has it and asks the referee at the end of each sequence."""

    class Changes(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.schema: TableSchema | None = None
            self.asked: list[tuple[TableSchema, tuple[Change, ...]]] = []

        @initialize(schema=tables())
        def create(self, schema: TableSchema) -> None:
            self.schema = schema

        @rule(data=st.data())
        def change(self, data: st.DataObject) -> None:
            assert self.schema is not None
            changes = tuple(data.draw(batches(self.schema)))
            assert tuple(from_json(to_json(c)) for c in changes) == changes
            if not changes:
                return
            self.asked.append((self.schema, changes))
            found = our_answer(self.schema, changes)
            if isinstance(found, TableSchema):
                assert loads(dumps(found), source="ours", expected_id=1) == found
                assert found.highest_field_id >= self.schema.highest_field_id
                self.schema = replace(found, id=0)

        def teardown(self) -> None:
            for step in steps(referees, self.asked):
                seen["steps"] += 1
                seen["both accept"] += step.agree and isinstance(step.ours, TableSchema)
                assert step.agree or explanations(step), f"a difference that is not known: {step}"

    return Changes


def test_random_changes_lead_to_the_same_schemas(referees: Referees) -> None:
    seen: Counter[str] = Counter()
    size = settings(max_examples=SEQUENCES, stateful_step_count=LENGTH, phases=PHASES)
    how = settings(size, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(machine_of(referees, seen), settings=how)
    # A machine whose changes are nearly all refused would show little.
    assert seen["both accept"] > 0.4 * seen["steps"], seen


@pytest.mark.parametrize("known", KNOWN, ids=lambda k: f"{k.number or 'unnumbered'} {k.name}")
def test_a_known_difference_is_still_one(known: Known, referees: Referees) -> None:
    (step,) = steps(referees, [(known.before, known.changes)])
    assert not step.agree, f"pypaimon and Lakebed agree now: take the entry {known.name!r} out of the table"
    assert known in explanations(step), step
