"""Laws of the house that no linter knows, each with a list of what breaks it still. The lists only become shorter.

A line of a list is `MODULE: WHAT  # reason`, where MODULE is a base name, so that a room can be renamed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lakebed
from architecture import laws
from architecture.allowance import Allowance
from architecture.laws import Finding
from architecture.modules import Modules

SOURCE = Path(__file__).resolve().parents[2] / "src" / "lakebed"
ALLOWED = Path(__file__).with_name("allowed")
#: What takes away the lines that are not needed any more, and follows what has moved.
COMMAND = "LAKEBED_ALLOWED=shrink python -m pytest tests/architecture/test_laws.py"
PUBLIC = {
    f"{v.__module__}.{v.__qualname__}" for v in map(lakebed.__getattr__, lakebed.__all__) if hasattr(v, "__name__")
}


@dataclass(frozen=True, slots=True)
class Law:
    """How to find what breaks a law, and what to do about it; `follow` is whether a finding may move as it is."""

    find: Callable[[Modules], list[Finding]]
    remedy: str
    follow: bool = False


LAWS = {
    "options": Law(laws.spelt_options, "take the name of an option from the table of options", follow=True),
    "codes": Law(laws.compared_codes, "let a type of error or a property decide, not a code", follow=True),
    "same_names": Law(laws.same_names, "give each module a name of its own"),
    "circles": Law(laws.circles, "cut the circle, also where an import is in a function or for a type checker"),
    "classes_above_lake": Law(lambda _: laws.classes_above(lakebed.Lake), "let `Lake` hold a part, not inherit it"),
    "parameters": Law(
        lambda modules: laws.many_parameters(modules, PUBLIC), "put what belongs together into a class", follow=True
    ),
    "walks": Law(laws.walks_by_hand, "use `fold` or `transform` of the tree of its types, or a `Node`", follow=True),
    "small_modules": Law(laws.small_modules, "put it where it is used, or say in the list why it stands alone"),
    "docstrings": Law(
        laws.docstrings, "begin with an imperative of verbs.txt (Read, not Reads) and say shortly what the module does"
    ),
}


@pytest.fixture(scope="module")
def modules() -> Modules:
    return Modules.of(SOURCE)


@pytest.mark.parametrize("name", LAWS)
def test_nothing_breaks_the_law_but_what_the_list_names(name: str, modules: Modules) -> None:
    law = LAWS[name]
    check(law, Allowance(ALLOWED / f"{name}.txt"), law.find(modules))


def check(law: Law, allowed: Allowance, found: list[Finding]) -> None:
    if os.environ.get("LAKEBED_ALLOWED") == "shrink":
        allowed.shrink(found, follow=law.follow)
    name = f"{ALLOWED.name}/{allowed.path.name}"
    said = [f"  {': '.join(finding)}: {law.remedy}" for finding in allowed.new(found)]
    said += [f"  {': '.join(finding)}: is in {name}, but is no longer so" for finding in allowed.stale(found)]
    if said:
        shrinks = f"Where things were moved or mended: {COMMAND}"
        pytest.fail("\n".join([f"{name} says what may break this law:", *said, shrinks]), pytrace=False)


@pytest.mark.parametrize("name", ["small_modules", "walks"])
def test_what_stands_alone_or_walks_by_hand_has_a_reason(name: str) -> None:
    assert [str(line) for line in Allowance(ALLOWED / f"{name}.txt").lines if not line.reason] == []


class TestTheLists:
    """A list can only become shorter."""

    LAW = Law(lambda _: [], "mend it")

    @pytest.fixture
    def path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.delenv("LAKEBED_ALLOWED", raising=False)
        path = tmp_path / "law.txt"
        path.write_text("# What it is.\na: x  # a reason\nb: y z\nb: y z\n", encoding="utf-8")
        return path

    def test_what_is_allowed(self, path: Path) -> None:
        check(self.LAW, Allowance(path), [("b", "y z"), ("a", "x"), ("b", "y z")])

    @pytest.mark.parametrize("more", [("d", "x"), ("a", "y z"), ("b", "y z")])
    def test_more_is_refused(self, path: Path, more: Finding, monkeypatch: pytest.MonkeyPatch) -> None:
        for mode in ("", "shrink"):
            monkeypatch.setenv("LAKEBED_ALLOWED", mode)
            with pytest.raises(pytest.fail.Exception, match=f"{': '.join(more)}: mend it"):
                check(self.LAW, Allowance(path), [("b", "y z"), ("a", "x"), ("b", "y z"), more])

    def test_less_is_refused_until_the_list_says_so(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for found in ([("b", "y z"), ("b", "y z")], [("a", "x"), ("b", "y z")]):
            with pytest.raises(pytest.fail.Exception, match="but is no longer so"):
                check(self.LAW, Allowance(path), found)
        monkeypatch.setenv("LAKEBED_ALLOWED", "shrink")
        check(self.LAW, Allowance(path), [("a", "x"), ("b", "y z")])
        assert path.read_text(encoding="utf-8") == "# What it is.\na: x  # a reason\nb: y z\n"

    def test_what_has_moved_is_followed_where_it_may(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LAKEBED_ALLOWED", "shrink")
        found = [("c", "x"), ("b", "y z"), ("b", "y z")]
        check(Law(self.LAW.find, "mend it", follow=True), Allowance(path), found)
        assert path.read_text(encoding="utf-8") == "# What it is.\nb: y z\nb: y z\nc: x  # a reason\n"
        with pytest.raises(pytest.fail.Exception, match="d: x: mend it"):
            check(self.LAW, Allowance(path), [("d", "x"), ("b", "y z"), ("b", "y z")])


class TestWhatIsFound:
    """Each law finds what it forbids in a small tree, and nothing else."""

    def test_a_spelt_option(self) -> None:
        found = laws.spelt_options(
            Modules.of_texts(
                {
                    laws.OPTIONS.replace(".", "/").removeprefix("lakebed/") + ".py": 'ENGINE = "merge-engine"\n',
                    "table/a.py": '"""merge-engine is told here."""\nx = options.get("merge-engine")\ny = "bucket"\n',
                    "table/b.py": 'def f():\n    return {"file.format": f"merge-engine {x}"}\n',
                }
            ),
            {"merge-engine", "file.format"},
        )
        assert found == [("a", "merge-engine"), ("b", "file.format")]
        assert {"merge-engine", "file.format"} <= laws.option_names()
        assert "bucket" not in laws.option_names()

    @pytest.mark.parametrize(
        "line",
        [
            'error.code == "LB1234"',
            '"LB1234" != error.code',
            'code in ("LB1234", "LB1235")',
            "error.code not in SOME",
            "problem.code == ONE",
            "problem.code == OTHERS",
            "problem.code in MORE",
            "problem.code == codes.NOT_EMPTY",
            "problem.code == NOT_THERE",
            'problem.code.startswith("LB47")',
            'problem.code.startswith("LB")',
            "problem.code in TABLE",
            "problem.code in SEVERAL",
        ],
    )
    def test_a_compared_code(self, line: str) -> None:
        assert self._codes(f"if {line}:\n        pass") == [("a", "f")]

    def test_a_matched_code(self) -> None:
        assert self._codes('match error.code:\n        case "LB1234":\n            pass') == [("a", "f")]

    @pytest.mark.parametrize(
        "line",
        [
            'raise E.of("LB1234", "x")',
            "return ONE",
            "return code in allow",
            'return coding.code == "?"',
            "return found.code != SHA",
            "return TABLE[problem.code]",
        ],
    )
    def test_no_compared_code(self, line: str) -> None:
        assert self._codes(line) == []

    def _codes(self, line: str) -> list[Finding]:
        text = (
            "from lakebed.b import MORE, OTHERS\nfrom lakebed.codes.rows import NOT_THERE\n"
            'ONE = "LB1234"\nSHA = 22\nSOME: frozenset[str] = frozenset({"LB1234"})\nTABLE = {"LB1234": 1}\n'
            "SEVERAL = (OTHERS,)\n"
            f"def f(allow):\n    {line}\n"
        )
        return laws.compared_codes(
            Modules.of_texts({"a.py": text, "b.py": 'OTHERS = "LB1235"\nMORE = ("LB1235",)\n', "codes/rows.py": ""})
        )

    def test_two_modules_of_one_name(self) -> None:
        names = ("__init__", "__main__", "a/__init__", "a/x", "b/x", "b/__main__", "c/x", "c/y", "x/__init__")
        found = laws.same_names(Modules.of_texts({f"{name}.py": "" for name in names}))
        assert found == [("x", "2"), ("x", "3")]

    @pytest.mark.parametrize(
        "back",
        [
            "from lakebed.a import f",
            "import lakebed.a",
            "from lakebed import a",
            "def g():\n    from lakebed.a import f",
            "if TYPE_CHECKING:\n    from lakebed.a import f",
        ],
    )
    def test_a_circle(self, back: str) -> None:
        texts = {"a.py": "from lakebed.b import g\n", "c.py": back}
        assert laws.circles(Modules.of_texts({**texts, "b.py": "from lakebed.c import g"})) == [("a", "b c")]
        assert laws.circles(Modules.of_texts({**texts, "b.py": ""})) == []

    def test_a_class_above(self) -> None:
        class Mixin: ...

        class Door(Mixin): ...

        class Plain:
            part: Any

        assert laws.classes_above(Door) == [("Door", "Mixin")]
        assert laws.classes_above(Plain) == []

    def test_many_parameters(self) -> None:
        seven = "a, b, c, d, *, e, f, g"
        text = (
            f"def enough({seven}): ...\ndef many({seven}, **h): ...\ndef public({seven}, h): ...\n"
            f"class A:\n    def enough(self, {seven}): ...\n    def many(self, {seven}, h=1): ...\n"
        )
        found = laws.many_parameters(Modules.of_texts({"x.py": text, "lake.py": text}), {"lakebed.x.public"})
        assert found == [("x", "many"), ("x", "A.many")]

    def test_a_small_module_with_one_importer(self) -> None:
        long = "x = 1\n" * laws.FEWEST_LINES
        texts = {
            "a/__init__.py": "from lakebed.a.small import f\n",
            "a/small.py": "def f(): ...\n",
            "a/long.py": long,
            "a/shared.py": "",
            "b.py": f"from lakebed.a import f\nfrom lakebed.a import long\nimport lakebed.a.shared\n{long}",
            "c.py": f"def f():\n    from lakebed.a import shared\n{long}",
        }
        assert laws.small_modules(Modules.of_texts(texts)) == [("small", "one importer")]

    @pytest.mark.parametrize(
        ("docstring", "found"),
        [
            ("Read a file.", []),
            ("Fast-forward a branch, as\nothers do.\n\nWhat else there is.", []),
            ("`lakebed drop TABLE`: drop a table.", []),
            ("Read it." + " word" * 30, []),
            ("Plan" + " word" * 19 + ".", []),
            ("Plan" + " word" * 20 + ".", ["21 words"]),
            ("What is read.", ["What"]),
            ("Reads a file.", ["Reads"]),
            ("Tables: how they are made.", ["Tables"]),
            ("`Table`: read it.", ["`Table`"]),
            ("`lakebed drop TABLE`", ["`lakebed"]),
            ("", ["no docstring"]),
        ],
    )
    def test_a_docstring_that_does_not_say_what_its_module_does(self, docstring: str, found: list[str]) -> None:
        text = f'"""{docstring}"""\n' if docstring else ""
        assert laws.docstrings(Modules.of_texts({"a.py": text})) == [("a", what) for what in found]

    def test_a_walk_by_hand(self) -> None:
        imports = (
            "from lakebed.model import types as logical\nfrom lakebed.physical import Array as A, Row\n"
            "from lakebed.physical.paimon_types import Int\nfrom pyspark.sql.types import MapType\n"
            "from pyspark.sql import types as T\n"
        )
        walks = """
def itself(t):
    match t:
        case logical.List():
            return itself(t.item_type)

def by_others(t):
    return [other(f) for f in t.fields] if isinstance(t, (Int, Row)) else []

def other(f):
    return by_others(f.type)

def handed_on(t):
    return list(map(handed_on, t.parts)) if isinstance(t, A) else []

def of_spark(t):
    return isinstance(t, MapType) and of_spark(t.valueType)

def of_spark_as_well(t):
    match t:
        case T.StructType():
            return [of_spark_as_well(f.dataType) for f in t.fields]

class Walker:
    def type(self, t):
        match t, t:
            case _, Row(fields=fields):
                return [self.field(f) for f in fields]

    def field(self, f):
        return self.type(f.type)
"""
        none = """
def once(t):
    return isinstance(t, Row) and fold(t, combine)

def combine(t, inner):
    match t:
        case logical.List():
            return t.once

def of_others(t):
    match t:
        case Others.Map():
            return of_others(t.value)

def of_flat_ones(t):
    return of_flat_ones(t) if isinstance(t, Int) else t
"""
        trees = {tree.replace(".", "/").removeprefix("lakebed/") + ".py": imports + walks for tree in laws.TREES}
        found = laws.walks_by_hand(Modules.of_texts({"a.py": imports + walks, "b.py": imports + none, **trees}))
        names = ("Walker.type", "by_others", "handed_on", "itself", "of_spark", "of_spark_as_well")
        assert found == [("a", name) for name in names]
