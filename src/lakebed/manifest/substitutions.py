"""Give manifests the values of variables, and the names that databases have in an environment.

`${name}` may stand in every value of a `kind: Table` but in its columns, which are the same in every environment, and
what has one is text; `$${name}` is the text `${name}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lakebed.diagnostics import near_names
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode
from lakebed.manifest.problems import Problems
from lakebed.manifest.table_names import join_table_name, split_table_name

#: What a variable may be called.
VARIABLE_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_USE = re.compile(rf"\$(?P<escape>\$?)\{{(?P<name>{VARIABLE_NAME})\}}")


def escaped(value: Any) -> Any:
    """A JSON value as a manifest says it where variables may stand: what looks like one is the text itself."""
    match value:
        case str():
            return _USE.sub(lambda use: f"${use[0]}", value)
        case list():
            return [escaped(item) for item in value]
        case dict():
            return {key: escaped(item) for key, item in value.items()}
        case _:
            return value


@dataclass(frozen=True, slots=True)
class Substitutions:
    """What stands in manifests for something else.

    `variables` are the values of `${name}`. A table that is declared in the database `shop` lies in
    `databases["shop"]`, else in the database of that name with `database_prefix` before it.
    """

    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    databases: Mapping[str, str] = field(default_factory=dict, hash=False)
    database_prefix: str = ""

    def table_name(self, declared: str) -> str:
        """The name that a declared table has in the warehouse; what is no name stays as it is."""
        database, table = split_table_name(declared) or ("", "")
        there = self.databases.get(database, self.database_prefix + database)
        return declared if not table or there == database else join_table_name(there, table)

    def content(self, content: MappingNode, problems: Problems) -> MappingNode:
        """The content of a table with the values of variables; one that has no value is noted."""
        entries = tuple((key, self._property(key.text, value, problems)) for key, value in content.entries)
        return replace(content, entries=entries)

    def _property(self, name: str, value: Node, problems: Problems) -> Node:
        if name != "schema" or not isinstance(value, MappingNode):
            return self._node(value, problems)
        about = ((key, v if key.text == "fields" else self._node(v, problems)) for key, v in value.entries)
        return replace(value, entries=tuple(about))

    def _node(self, node: Node, problems: Problems) -> Node:
        match node:
            case MappingNode():
                entries = tuple((key, self._node(value, problems)) for key, value in node.entries)
                return replace(node, entries=entries)
            case SequenceNode():
                return replace(node, items=tuple(self._node(item, problems) for item in node.items))
            case ScalarNode():
                return self._scalar(node, problems)

    def _scalar(self, node: ScalarNode, problems: Problems) -> ScalarNode:
        if _USE.search(node.text) is None:
            return node
        return replace(node, text=_USE.sub(lambda use: self._value(use, node, problems), node.text), plain=False)

    def _value(self, use: re.Match[str], node: ScalarNode, problems: Problems) -> str:
        name = use["name"]
        if use["escape"]:
            return use[0][1:]
        if name not in self.variables:
            column = node.position.column if node.column is None else node.column + use.start()
            problems.error(
                "LB1031",
                f"the variable {name} has no value",
                replace(node.position, column=column),
                expected=", ".join(self.variables) or None,
                found=use[0],
                suggestions=near_names(name, self.variables),
                remedy=f"give it with --var {name}=VALUE, the environment variable LAKEBED_VAR_{name}, or under "
                "[variables] in lakebed.toml; the text itself is written with a second $ before it",
                python_remedy="give it to lakebed.open, or load_manifest, with substitutions=",
            )
        return self.variables.get(name, use[0])
