"""Reads the modules of a source tree and who imports whom, without importing any of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGE = "lakebed"


@dataclass(frozen=True)
class Module:
    """One file of the tree; `name` is dotted, and that of the package for an `__init__`."""

    name: str
    text: str
    is_package: bool = False

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @cached_property
    def used(self) -> frozenset[str]:
        """The names that occur in it, but in its imports."""
        return frozenset(node.id for node in self.nodes if isinstance(node, ast.Name))

    @property
    def base_name(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())


class Modules:
    """The modules of a tree, by their dotted names."""

    def __init__(self, found: Mapping[str, Module]) -> None:
        self._found = dict(found)

    @classmethod
    def of(cls, source: Path) -> Modules:
        """Those below the directory of the package."""
        return cls.of_texts(
            {str(p.relative_to(source)): p.read_text(encoding="utf-8") for p in sorted(source.rglob("*.py"))}
        )

    @classmethod
    def of_texts(cls, texts: Mapping[str, str]) -> Modules:
        """A tree from paths below the package, such as `catalog/names.py`, and what they hold."""
        found = {}
        for path, text in texts.items():
            parts = [PACKAGE, *path.removesuffix(".py").split("/")]
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            found[name] = Module(name, text, is_package)
        return cls(found)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._found.values())

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __getitem__(self, name: str) -> Module:
        return self._found[name]

    def imports(self, module: Module) -> Iterator[tuple[str, str | None]]:
        """The modules of the tree that a module imports anywhere in it, each with the name taken from it, or None."""
        for node in module.nodes:
            if isinstance(node, ast.Import):
                yield from ((alias.name, None) for alias in node.names if alias.name in self)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    below = f"{node.module}.{alias.name}"
                    if below in self:
                        yield below, None
                    elif node.module in self:
                        yield node.module, alias.name

    @cached_property
    def imported(self) -> dict[str, set[str]]:
        """For each module those that it imports, at the top, in a function, or for a type checker alone."""
        return {m.name: {name for name, _ in self.imports(m)} - {m.name} for m in self}

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """For each module those that use it, also where they take a name of it from a package that passes it on."""
        found: dict[str, set[str]] = {m.name: set() for m in self}
        for module in self:
            for name, taken in self.imports(module):
                home = self._home(name, taken)
                passed_on = module.is_package and home.startswith(f"{module.name}.") and taken not in module.used
                if home != module.name and not passed_on:
                    found[home].add(module.name)
        return found

    def _home(self, name: str, taken: str | None) -> str:
        """The module that defines what is taken from a module."""
        module = self[name]
        if module.is_package and taken is not None:
            for node in module.tree.body:
                if isinstance(node, ast.ImportFrom) and node.module in self and node.module != name:
                    for alias in node.names:
                        if (alias.asname or alias.name) == taken:
                            below = f"{node.module}.{alias.name}"
                            return below if below in self else self._home(node.module or "", alias.name)
        return name

    def circles(self) -> list[list[str]]:
        """The sets of modules that import each other in a ring, each sorted (Tarjan's components of more than one)."""
        index: dict[str, int] = {}
        low: dict[str, int] = {}
        stack: list[str] = []
        found: list[list[str]] = []

        def visit(name: str) -> None:
            index[name] = low[name] = len(index)
            stack.append(name)
            for other in sorted(self.imported[name]):
                if other not in index:
                    visit(other)
                    low[name] = min(low[name], low[other])
                elif other in stack:
                    low[name] = min(low[name], index[other])
            if low[name] == index[name]:
                ring = stack[stack.index(name) :]
                del stack[len(stack) - len(ring) :]
                if len(ring) > 1:
                    found.append(sorted(ring))

        for module in self:
            if module.name not in index:
                visit(module.name)
        return found
