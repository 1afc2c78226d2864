"""What is written in each form of contracts and then damaged is read, or refused with what is wrong with it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from convert.contracts import EVERYTHING
from lakebed.contract_forms import READ_FORMS, parse_yaml, write_contract
from lakebed.errors import LakebedError
from lakebed.schema_forms import read_schema

JUNK = (None, True, 3, -1, 2.5, "x", "", [], {}, [None], {"type": "x"}, {"a": 1}, "null", ["null", "int"], 10**20)
TRIES = 100


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside of a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield (*path, key)
        yield from places(part, (*path, key))


def damaged(value: Any, choice: random.Random) -> Any:
    """The value without a part, or with another one in its place, in one to three places."""
    made = json.loads(json.dumps(value))
    for _ in range(choice.randint(1, 3)):
        *around, last = choice.choice([*places(made)])
        inside = made
        for step in around:
            inside = inside[step]
        if choice.random() < 0.3:
            del inside[last]
        else:
            inside[last] = choice.choice(JUNK)
    return made


@pytest.mark.parametrize("form", READ_FORMS)
def test_what_is_damaged_is_read_or_refused_with_what_is_wrong(form: str) -> None:
    whole = parse_yaml(write_contract(EVERYTHING, form)[0].encode(), "x")
    choice = random.Random(form)
    codes = []
    for _ in range(TRIES):
        data = json.dumps(damaged(whole, choice)).encode()
        try:
            read_schema(data, form, name="x")
        except LakebedError as error:
            codes += [d.code for d in error.diagnostics]
    assert len(codes) > TRIES / 5, "most damages are seen"
    assert "LB7052" not in codes, "what is wrong is said, not only that something is"
