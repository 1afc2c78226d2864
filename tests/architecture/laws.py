"""Finds what the laws of the house forbid in a tree of modules: the base name of a module, and what is wrong there."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from architecture.modules import PACKAGE, Module, Modules

#: The one table of options; every name of an option in it is spelt nowhere else.
OPTIONS = f"{PACKAGE}.catalog.options"
#: Where functions may have as many parameters as users need.
FRONT_DOOR = {f"{PACKAGE}.lake", f"{PACKAGE}.table"}
MOST_PARAMETERS = 7
#: The one walk of each system of types, and the one of stored types and their meanings side by side.
TREES = {
    f"{PACKAGE}.model.logical_tree",
    f"{PACKAGE}.physical.paimon_tree",
    f"{PACKAGE}.convert.spark_tree",
    f"{PACKAGE}.catalog.node",
}
#: The types of a system that hold others.
CONTAINERS = {"Struct", "List", "Map", "Option", "Row", "Array", "Multiset", "Vector"}
SPARK_CONTAINERS = {"StructType", "ArrayType", "MapType"}
_SPARK = "pyspark.sql"
_TYPES = (f"{PACKAGE}.model", f"{PACKAGE}.physical")
FEWEST_LINES = 60
#: The words of the first sentence of a docstring.
MOST_WORDS = 20
#: What docstrings of modules begin with, a verb a line; one that is missing is added there.
VERBS = frozenset(Path(__file__).with_name("verbs.txt").read_text(encoding="utf-8").split())

#: The base name of a module, which stays where a room is renamed, and what is wrong there.
Finding: TypeAlias = tuple[str, str]
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

# One word alone, such as `bucket` or `path`, may be anything.
_OPTION = re.compile(r"[a-z0-9]+([.-][a-zA-Z0-9-]+)+")
_CODE = re.compile(r"LB\d*")
_COMMAND = re.compile(r"^`lakebed [^`]+`: ")


def option_names() -> set[str]:
    """The names in the table of options that cannot be anything else."""
    return {name for name in import_module(OPTIONS).KNOWN if _OPTION.fullmatch(name)}


def spelt_options(modules: Modules, names: Collection[str] | None = None) -> list[Finding]:
    """Names of options as literals outside the table of options."""
    known = option_names() if names is None else names
    return [
        (module.base_name, name)
        for module in modules
        if module.name != OPTIONS
        for name in sorted({n.value for n in module.nodes if isinstance(n, ast.Constant)} & set(known))
    ]


def compared_codes(modules: Modules) -> list[Finding]:
    """Comparisons with codes, by the function that they are in."""
    known = _code_constants(modules)
    return [
        (module.base_name, where)
        for module in modules
        for where in sorted({w for w, node in _within(module.tree) if _compares_code(node, known[module.name])})
    ]


def _code_constants(modules: Modules) -> dict[str, set[str]]:
    """For each module the names that stand there for a code or for several, its own and those that it imports."""
    known: dict[str, set[str]] = {m.name: set() for m in modules}
    before = -1
    while before != (before := sum(map(len, known.values()))):
        for module in modules:
            names = known[module.name]
            for node in module.nodes:
                if isinstance(node, ast.ImportFrom) and node.module:
                    of_codes = node.module.startswith(f"{PACKAGE}.codes")
                    theirs = known.get(node.module, ())
                    names |= {
                        a.asname or a.name for a in node.names if a.name in theirs or (of_codes and a.name.isupper())
                    }
            names |= {name for name, value in _assigned(module) if _has_code(value, names)}
    return known


def _assigned(module: Module) -> Iterator[tuple[str, ast.expr]]:
    for node in module.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value


def _has_code(node: ast.expr | None, known: set[str]) -> bool:
    """Whether it is a code, a collection of codes or of pairs that begin with one, or a name that stands for those."""
    match node:
        case ast.Constant(value=str(text)):
            return _CODE.fullmatch(text) is not None
        case ast.Name(id=name):
            return name in known
        case ast.Attribute(value=ast.Name(id="codes"), attr=name):
            return name.isupper()
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(_has_code(part, known) for part in parts)
        case ast.Dict(keys=keys):
            return any(_has_code(key, known) for key in keys)
        case ast.Call(func=ast.Name(id="frozenset" | "set" | "tuple"), args=[inner]):
            return _has_code(inner, known)
        case _:
            return False


def _compares_code(node: ast.AST, known: set[str]) -> bool:
    match node:
        case ast.Compare(left=left, comparators=others):
            sides = [left, *others]
            return any(_has_code(s, known) for s in sides) and not all(_has_code(s, known) for s in sides)
        case ast.Call(func=ast.Attribute(attr="startswith" | "endswith"), args=[argument, *_]):
            return _has_code(argument, known)
        case ast.MatchValue(value=value):
            return _has_code(value, known)
        case _:
            return False


def _within(tree: ast.AST, where: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Every node, with the dotted name of the class and function that it is in."""
    for node in ast.iter_child_nodes(tree):
        inner = where
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{where}.{node.name}" if where else node.name
        yield inner or "the module", node
        yield from _within(node, inner)


def same_names(modules: Modules) -> list[Finding]:
    """Base names that several modules have; each module but the first is one finding, with its number."""
    bases = [m.base_name for m in modules if m.base_name != "__main__" and not m.is_package]
    return [(base, str(number)) for base in sorted(set(bases)) for number in range(2, bases.count(base) + 1)]


def circles(modules: Modules) -> list[Finding]:
    """Modules that import each other in a ring, also in functions and for type checkers: the first, and the others."""
    names = [sorted(modules[name].base_name for name in ring) for ring in modules.circles()]
    return [(first, " ".join(others)) for first, *others in sorted(names)]


def classes_above(cls: type) -> list[Finding]:
    """The classes but `object` that a class has its members from."""
    return [(cls.__name__, above.__name__) for above in cls.__mro__[1:] if above is not object]


def many_parameters(modules: Modules, public: Iterable[str] = ()) -> list[Finding]:
    """Functions with too many parameters that are neither at the front door nor `public`, as `module.function`."""
    at_the_door = set(public)
    return [
        (module.base_name, where)
        for module in modules
        if module.name not in FRONT_DOOR
        for where, node in _within(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and _parameters(node) > MOST_PARAMETERS
        and f"{module.name}.{where}" not in at_the_door
    ]


def _parameters(node: Function) -> int:
    """How many there are, but `self` and `cls`."""
    named = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    rest = [a for a in (node.args.vararg, node.args.kwarg) if a is not None]
    return len(named) + len(rest) - (named[:1] in (["self"], ["cls"]))


def small_modules(modules: Modules) -> list[Finding]:
    """Small modules that one module alone imports."""
    return [
        (module.base_name, "one importer")
        for module in modules
        if module.base_name != "__main__" and not module.is_package
        if module.lines < FEWEST_LINES and len(modules.importers[module.name]) == 1
    ]


def docstrings(modules: Modules) -> list[Finding]:
    """Modules whose docstring does not begin with a verb, by its first word, or has a long first sentence."""
    return [(module.base_name, what) for module in modules for what in _faults_of_docstring(module)]


def _faults_of_docstring(module: Module) -> Iterator[str]:
    sentence = _first_sentence(ast.get_docstring(module.tree) or "")
    words = sentence.split()
    first = words[0].rstrip(":,.") if words else "no docstring"
    if first.lower() not in VERBS:
        yield first
    if len(words) > MOST_WORDS:
        yield f"{len(words)} words"


def _first_sentence(docstring: str) -> str:
    """Without the form of the command that a module of the command line begins with: `` `lakebed drop TABLE`: ``."""
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    return _COMMAND.sub("", paragraph).partition(". ")[0]


def walks_by_hand(modules: Modules) -> list[Finding]:
    """Functions that ask which container a type is, and that call themselves, also by way of others in the module."""
    return [
        (module.base_name, where)
        for module in modules
        if module.name not in TREES
        for where in _asking_for_containers(module)
        if where in _called_from(module, where)
    ]


def _asking_for_containers(module: Module) -> list[str]:
    """The functions of a module that match a container or ask `isinstance` for one."""
    known = _names_of_types(module)
    asked = {w for w, node in _within(module.tree) if any(_is_container(n, known) for n in _classes_asked_for(node))}
    return sorted(asked - {"the module"})


def _names_of_types(module: Module) -> dict[str, str]:
    """What a module has from the rooms of types: their names there by the names here."""
    if module.name.startswith(_TYPES):
        own = {n.name: n.name for n in module.tree.body if isinstance(n, ast.ClassDef)}
    else:
        own = {}
    imports = [n for n in module.nodes if isinstance(n, ast.ImportFrom) and (n.module or "").startswith(_TYPES)]
    package = [n for n in module.nodes if isinstance(n, ast.ImportFrom) and n.module == PACKAGE]
    sparks = [n for n in module.nodes if isinstance(n, ast.ImportFrom) and (n.module or "").startswith(_SPARK)]
    of_spark = {a.asname or a.name: a.name for n in sparks for a in n.names if a.name in {"types", *SPARK_CONTAINERS}}
    of_package = {a.asname or a.name: a.name for n in package for a in n.names if a.name in ("model", "physical")}
    return own | of_spark | of_package | {a.asname or a.name: a.name for n in imports for a in n.names}


def _classes_asked_for(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.MatchClass(cls=cls):
            yield cls
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, classes]):
            yield from (n for n in ast.walk(classes) if isinstance(n, ast.Name | ast.Attribute))


def _is_container(node: ast.expr, known: dict[str, str]) -> bool:
    match node:
        case ast.Name(id=name):
            return known.get(name) in CONTAINERS | SPARK_CONTAINERS
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            return name in known and attr in CONTAINERS | SPARK_CONTAINERS
        case _:
            return False


def _called_from(module: Module, where: str) -> set[str]:
    """The functions of a module that one of them comes to, by their bare names and those of methods of `self`."""
    by_name: dict[str, set[str]] = {}
    used: dict[str, set[str]] = {}
    for outer, node in _within(module.tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                by_name.setdefault(node.name, set()).add(outer)
            case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                used.setdefault(outer, set()).add(name)
    found: set[str] = set()
    new = {where}
    while new:
        new = {f for caller in new for name in used.get(caller, ()) for f in by_name.get(name, ())} - found
        found |= new
    return found
