"""Describes what users see of Lakebed as JSON: names and signatures, pages of help, the register of codes.

Types are told by their names alone, never by the module that they lie in: a file that moves changes nothing here.
"""

from __future__ import annotations

import ast
import enum
import functools
import hashlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import click

MODULES = ("lakebed", "lakebed.catalog", "lakebed.errors", "lakebed.testing")
#: How far to go from `Lake`: 1 is what its methods return, 2 is what the members of those return.
DEPTH = 2
#: Methods without a name of their own that are used by what one writes.
OPERATORS = (
    *("__iter__", "__len__", "__contains__", "__getitem__", "__call__", "__bool__", "__str__"),
    *("__enter__", "__exit__", "__add__", "__or__", "__lt__", "__index__"),
)


class _LastNames(ast.NodeTransformer):
    """`model.Schema` becomes `Schema`, and a quoted name a plain one."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return ast.Name(node.attr)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name | ast.Attribute) and ast.unparse(node.value).endswith("Literal"):
            return node
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        # `ForwardRef('Field')`
        return self.visit(node.args[0])

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return self.visit(_tree(node.value)) if isinstance(node.value, str) else node


def _tree(annotation: str) -> ast.expr:
    return ast.parse(annotation, mode="eval").body


def type_text(annotation: Any) -> str:
    """An annotation, with the last part of each name."""
    if not isinstance(annotation, str):
        annotation = annotation.__qualname__ if isinstance(annotation, type) else str(annotation)
    return ast.unparse(_LastNames().visit(_tree(annotation)))


def _default_text(value: Any) -> str:
    if inspect.isfunction(value) or inspect.isbuiltin(value) or isinstance(value, type):
        return value.__name__
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    text = repr(value)
    return f"<{type(value).__name__}>" if " at 0x" in text else text


def signature_text(function: Callable[..., Any], *, bound: bool = False) -> str:
    """`(table: str, *, limit: int | None = None) -> History`; without the first parameter where it is `bound`."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())[1 if bound else 0 :]
    shown, before = [], None
    for parameter in parameters:
        kind = parameter.kind
        if before is kind.POSITIONAL_ONLY and kind is not before:
            shown.append("/")
        if kind is kind.KEYWORD_ONLY and before not in (kind.KEYWORD_ONLY, kind.VAR_POSITIONAL):
            shown.append("*")
        before = kind
        text = {kind.VAR_POSITIONAL: "*", kind.VAR_KEYWORD: "**"}.get(kind, "") + parameter.name
        if parameter.annotation is not parameter.empty:
            text += f": {type_text(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            text += f" = {_default_text(parameter.default)}"
        shown.append(text)
    if before is inspect.Parameter.POSITIONAL_ONLY:
        shown.append("/")
    result = signature.return_annotation
    return f"({', '.join(shown)})" + ("" if result is signature.empty else f" -> {type_text(result)}")


def describe(value: Any) -> Any:
    """A public name's value: a class with its members, a function with its signature, or what kind it is."""
    if inspect.isclass(value):
        return describe_class(value)
    if callable(value) and hasattr(value, "__name__"):
        return signature_text(value)
    if isinstance(value, str | int | float | bool | tuple | frozenset):
        return f"{type(value).__name__} {value!r}"
    return type(value).__name__ if " at 0x" in repr(value) else type_text(str(value))


def describe_class(cls: type) -> dict[str, Any]:
    """How a class is made, and its public attributes and methods, wherever it has them from."""
    found: dict[str, Any] = {}
    if issubclass(cls, BaseException):
        found["is a"] = [c.__name__ for c in cls.__mro__[1:-2] if issubclass(c, BaseException)]
    if issubclass(cls, enum.Enum):
        found["members"] = {m.name: m.value for m in cls}
    elif "__init__" in vars(cls) or not issubclass(cls, BaseException | str | int | tuple):
        found["made by"] = signature_text(cls.__init__, bound=True) if cls.__init__ is not object.__init__ else "()"
    found["has"] = dict(sorted(_members(cls)))
    return found


def _members(cls: type) -> Iterator[tuple[str, str]]:
    attributes = dict(_attributes(cls))
    yield from attributes.items()
    for name, value in _own(cls).items():
        is_told = name in attributes or (issubclass(cls, enum.Enum) and isinstance(value, cls))
        if (name[0] != "_" or (name in OPERATORS and inspect.isfunction(value))) and not is_told:
            yield name, _member_text(value)


def _own(cls: type) -> dict[str, Any]:
    """What a class and the classes of Lakebed above it define."""
    return {k: v for c in reversed(cls.__mro__) if c.__module__.split(".")[0] == "lakebed" for k, v in vars(c).items()}


def _member_text(value: Any) -> str:
    match value:
        case staticmethod():
            return "static " + signature_text(value.__func__)
        case classmethod():
            return "class " + signature_text(value.__func__, bound=True)
        case property():
            return "property" + signature_text(value.fget, bound=True)[len("()") :]
        case functools.cached_property():
            return "property" + signature_text(value.func, bound=True)[len("()") :]
        case _ if inspect.isfunction(value):
            return signature_text(value, bound=True)
        case _ if callable(value):
            return type(value).__name__
        case _:
            return f"= {_default_text(value)}"


def _attributes(cls: type) -> Iterator[tuple[str, str]]:
    """The public fields of a data class, and what `__init__` and the body of the class say that instances have."""
    if is_dataclass(cls):
        yield from ((f.name, f"attribute: {type_text(f.type)}") for f in fields(cls) if f.name[0] != "_")
    for owner in (c for c in reversed(cls.__mro__) if c.__module__.split(".")[0] == "lakebed"):
        if not is_dataclass(owner):
            for name, text in inspect.get_annotations(owner).items():
                if name[0] != "_":
                    value = vars(owner).get(name)
                    yield (
                        name,
                        f"attribute: {type_text(text)}" + (f" = {value!r}" if isinstance(value, int | str) else ""),
                    )
        if inspect.isfunction(made := vars(owner).get("__init__")) and not is_dataclass(owner):
            yield from _assigned(made)


def _assigned(made: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    signature = inspect.signature(made)
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(made)))):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value):
                known = signature.parameters.get(value.id) if isinstance(value, ast.Name) else None
                text = f"attribute: {type_text(known.annotation)}" if known is not None else "attribute"
            case ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=name), annotation=annotation):
                text = f"attribute: {type_text(ast.unparse(annotation))}"
            case _:
                continue
        if name[0] != "_":
            yield name, text


def modules_surface() -> dict[str, Any]:
    """The public names of the public modules; what two of them have is described in the first."""
    told: dict[int, str] = {}
    found: dict[str, Any] = {}
    for module in MODULES:
        values = public_names(import_module(module))
        found[module] = {k: told[id(v)] if id(v) in told else describe(v) for k, v in values.items()}
        told |= {id(v): f"{module}.{k}" for k, v in values.items() if id(v) not in told}
    return found


def public_names(module: ModuleType) -> dict[str, Any]:
    """Those of `__all__`, or else what the module itself defines."""
    named = getattr(module, "__all__", None)
    own = [n for n, v in vars(module).items() if n[0] != "_" and getattr(v, "__module__", None) == module.__name__]
    return {name: getattr(module, name) for name in sorted(own if named is None else named)}


def lake_surface() -> dict[str, Any]:
    """The classes of Lakebed that one gets hold of from `Lake`, by their names."""
    import lakebed

    found: dict[str, type] = {"Lake": lakebed.Lake}
    edge = [lakebed.Lake]
    for _ in range(DEPTH):
        edge = [c for cls in edge for c in _reached(cls) if found.setdefault(c.__name__, c) is c]
        edge = [c for c in dict.fromkeys(edge) if c is not lakebed.Lake]
    public = [value for module in MODULES for value in public_names(import_module(module)).values()]
    return {name: describe_class(cls) for name, cls in sorted(found.items()) if cls not in public}


def _reached(cls: type) -> Iterator[type]:
    """The public classes of Lakebed in what the public members of a class return or are."""
    for name, value in _own(cls).items():
        function = getattr(value, "fget", None) or getattr(value, "__func__", None) or getattr(value, "func", value)
        if name[0] == "_" or not inspect.isfunction(function):
            continue
        annotation = inspect.signature(function).return_annotation
        yield from _classes(annotation, inspect.unwrap(function).__module__)
    if is_dataclass(cls):
        for owner in (c for c in cls.__mro__ if is_dataclass(c)):
            for name, annotation in inspect.get_annotations(owner).items():
                if name[0] != "_":
                    yield from _classes(annotation, owner.__module__)


def _classes(annotation: Any, module: str) -> Iterator[type]:
    """The classes of Lakebed that an annotation in a module names."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    for node in ast.walk(_tree(text)):
        if isinstance(node, ast.Name | ast.Attribute):
            value = _value_of(ast.unparse(node), module)
            if inspect.isclass(value) and value.__module__.split(".")[0] == "lakebed" and value.__name__[0] != "_":
                yield value


def _value_of(name: str, module: str) -> Any:
    """What a name, dotted or not, stands for in a module, also where only a type checker imports it."""
    first, *rest = name.split(".")
    value = getattr(sys.modules[module], first, None) or _imported(module).get(first, lambda: None)()
    for part in rest:
        value = getattr(value, part, None)
    return value


@functools.cache
def _imported(module: str) -> dict[str, Callable[[], Any]]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    found: dict[str, Callable[[], Any]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "lakebed":
            for alias in node.names:
                found[alias.asname or alias.name] = functools.partial(_taken, node.module, alias.name)
    return found


def _taken(module: str, name: str) -> Any:
    home = import_module(module)
    return getattr(home, name) if hasattr(home, name) else import_module(f"{module}.{name}")


def help_pages(width: int = 100) -> dict[str, list[str]]:
    """The lines of `--help` of each command and of each command of a group."""
    from lakebed.cli.main import cli

    def pages(command: click.Command, context: click.Context) -> Iterable[tuple[str, list[str]]]:
        yield context.command_path, command.get_help(context).splitlines()
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                yield from pages(below, _context(below, name, context, width))

    return dict(pages(cli, _context(cli, "lakebed", None, width)))


def _context(command: click.Command, name: str, parent: click.Context | None, width: int) -> click.Context:
    # No terminal and no variable has a say in this width.
    settings = command.context_settings
    return click.Context(
        command, info_name=name, parent=parent, terminal_width=width, max_content_width=width, **settings
    )


def codes() -> dict[str, str]:
    """Each code with its title and, in brackets, a digest of its reason, example and remedy."""
    from lakebed.codes import register

    def digest(*texts: str) -> str:
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]

    return {c.id: f"{c.title} [{digest(c.why, c.example, c.remedy)}]" for c in register().values()}
