"""Add the flag `--encodings` to commands that show schemas: without it only logical types show (RFC-016)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def encodings_option(function: F) -> F:
    """Add `--encodings`, given to the command as `encodings`."""
    text = "Show the hints of how values are encoded in Arrow, too."
    return click.option("--encodings", is_flag=True, help=text)(function)
