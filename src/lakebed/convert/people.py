"""Name the attributes that contracts have places for: tags, an owner, a classification, whatever their domain is."""

from __future__ import annotations

from typing import Any

from lakebed.model import Extra


def tags(extra: Extra) -> list[str] | None:
    """The tags: the first attribute called `tags`, such as `example.org/tags`, that is a list of texts."""
    return next(
        (v for v in _called(extra, "tags") if isinstance(v, list) and v and all(isinstance(t, str) for t in v)), None
    )


def owner(extra: Extra) -> str | None:
    """Who answers for the table: the first attribute called `owner` that is a text."""
    return next((v for v in _called(extra, "owner") if isinstance(v, str) and v), None)


def classification(extra: Extra) -> str | None:
    """How sensitive the values are: the first attribute called `classification` that is a text."""
    return next((v for v in _called(extra, "classification") if isinstance(v, str) and v), None)


def _called(extra: Extra, name: str) -> list[Any]:
    return [extra[key] for key in sorted(extra) if key.partition("/")[2] == name]
