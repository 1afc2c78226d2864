"""Convert nodes to JSON values, for attributes and events that are kept as they are."""

from __future__ import annotations

from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode, scalar_value
from lakebed.manifest.problems import Problems
from lakebed.model import JsonValue


def json_value(node: Node, problems: Problems) -> JsonValue:
    """The JSON value of a node; a scalar that JSON cannot hold is noted and becomes None."""
    match node:
        case ScalarNode():
            try:
                return scalar_value(node)
            except ValueError as error:
                remedy = "Put it in quotes to keep it as text."
                problems.error("LB1010", f"JSON cannot hold this value: {error}", node, remedy=remedy)
                return None
        case SequenceNode():
            items: list[JsonValue] = []
            for item in node.items:
                items.append(json_value(item, problems))
            return items
        case MappingNode():
            members: dict[str, JsonValue] = {}
            for key, value in node.entries:
                members[key.text] = json_value(value, problems)
            return members
