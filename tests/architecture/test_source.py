"""Rules of the house that no linter knows."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "src" / "lakebed"
MODULES = sorted(SOURCE.rglob("*.py"))

# Spark Connect knows none of these: rows go through the public data frame API alone.
BEYOND_CONNECT = re.compile(r"\b_jvm\b|\b_jsc\b|\b_jdf\b|\bsparkContext\b|\.rdd\b|\bpy4j\b")
#: Spark warns of these with two arguments in the log of every user; `btrim` says the same and is not warned of.
TRIMS = re.compile(r"\bF\.[lr]?trim\([^()]*(\([^()]*\)[^()]*)*,")
PYTHON_UDF = re.compile(r"\b(pandas_udf|arrow_udf|functions\.udf|F\.udf|udf\()")
ONE_MACHINE = re.compile(r"(?<![\w.])/(work|farm|root|home|Users)/")
CODE = re.compile(r"\bLB\d{4}\b")
TEXT_FILES = {".py", ".md", ".toml", ".txt", ".yaml", ".yml", ".json", ".sh", ".cfg", ".ini", ""}


def hits(pattern: re.Pattern[str], files: list[Path]) -> list[str]:
    """`file:line: text` of every line that matches."""
    return [
        f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def tracked_files() -> list[Path]:
    """The text files that are or would be in the repository."""
    listing = ["git", "-C", str(REPOSITORY), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.split("\0")
    paths = [REPOSITORY / name for name in names if name]
    return [path for path in paths if path.suffix in TEXT_FILES and path.is_file()]


def test_the_source_is_found() -> None:
    assert len(MODULES) > 30


def test_the_patterns_can_match() -> None:
    assert BEYOND_CONNECT.search("spark._jvm.x")
    assert BEYOND_CONNECT.search("frame.rdd.map")
    assert PYTHON_UDF.search("F.udf(f)")
    assert ONE_MACHINE.search('open("/' + 'home/me/x")')
    assert not ONE_MACHINE.search("https://example.org/home/x")


def test_spark_is_used_through_its_public_api_only() -> None:
    assert hits(BEYOND_CONNECT, MODULES) == []


def test_spark_warns_of_no_trim() -> None:
    assert TRIMS.search('F.trim(x, F.lit("0"))')
    assert TRIMS.search('F.rtrim(F.col("x"), F.lit("0"))')
    assert not TRIMS.search('F.trim(F.col("x"))')
    assert hits(TRIMS, MODULES) == []


def test_zones_are_made_of_their_names_in_one_place() -> None:
    # Python's own class knows no offsets, such as +02:00, and a lake may have one.
    elsewhere = [path for path in MODULES if path.name not in ("time_zone.py", "time_zones.py")]
    assert hits(re.compile(r"\bZoneInfo\b"), elsewhere) == []


def test_no_python_function_runs_per_row() -> None:
    assert hits(PYTHON_UDF, MODULES) == []


#: The front door is signatures and their documentation: no method does more than ask a `Table`. Options are one table.
MOST_LINES = {"lake.py": 740, "table.py": 870, "options.py": 560}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_is_one_room(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES.get(path.name, 500)


def test_no_path_of_one_machine_is_in_the_tree() -> None:
    assert hits(ONE_MACHINE, tracked_files()) == []


# What a user is told is in words: `KeyError('x')` and "'int' object is not subscriptable" are Python's.
_PYTHONS_OWN = {"KeyError", "LookupError", "IndexError", "AttributeError", "TypeError", "Exception", "BaseException"}


def _shows_an_exception(source: str) -> list[int]:
    """The lines of f-strings that show a `repr` or a class of an exception, or one that is Python's own as it is."""
    found = []
    for handler in (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ExceptHandler) and n.name):
        caught = {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)} if handler.type else set()
        for part in (n for n in ast.walk(handler) if isinstance(n, ast.FormattedValue)):
            text = ast.unparse(part.value)
            bare = text == handler.name and (part.conversion == ord("r") or caught & _PYTHONS_OWN)
            if bare or text == f"type({handler.name}).__name__":
                found.append(part.lineno)
    return found


def test_the_search_for_exceptions_in_messages_can_find_them() -> None:
    for shown in ("{e!r}", "{type(e).__name__}", "{e}"):
        assert _shows_an_exception(f"try:\n    f()\nexcept (ValueError, KeyError) as e:\n    g(f'{shown}')") == [4]
    assert _shows_an_exception("try:\n    f()\nexcept ValueError as e:\n    g(f'{e}')") == []


def test_no_message_shows_an_exception_of_python() -> None:
    shown = {str(p.relative_to(SOURCE)): _shows_an_exception(p.read_text(encoding="utf-8")) for p in MODULES}
    assert {path: lines for path, lines in shown.items() if lines} == {}


def test_a_reason_is_said_in_words() -> None:
    from lakebed.diagnostics import reason_of

    def of(code: str) -> str:
        try:
            eval(code)
        except Exception as error:
            return reason_of(error)
        raise AssertionError(code)

    assert of("{}['x']") == "there is no 'x'"
    assert of("__import__('zoneinfo').ZoneInfo('x/y')") == "No time zone found with key x/y"
    assert of("int(3)['x']") == of("(3).x") == "a part of it is of another kind than expected"
    assert of("[][1]") == "it ends too early"
    assert of("b'ab\\xff'.decode()") == "byte 2 is not UTF-8"
    assert of("int('x')") == "invalid literal for int() with base 10: 'x'"
    assert of("__import__('json').loads('[' * 200_000)") == "it is nested too deeply"
    assert reason_of(ValueError()) == "ValueError"
    assert reason_of(ValueError("first\nsecond")) == "first"


def test_every_code_in_use_is_registered_and_the_other_way_round() -> None:
    from lakebed.codes import register

    used = {code for path in MODULES for code in CODE.findall(path.read_text(encoding="utf-8"))}
    registered = set(register())
    assert sorted(used - registered) == [], "used but not registered"
    assert sorted(registered - used) == [], "registered but not used"


def test_types_are_spelt_for_people_in_one_way() -> None:
    """The text of a nested type is JSON; `physical.type_line` is what people read."""
    spelt = re.compile(r"(found|expected)=str\((\w+\.)?(type_?|have|want|given)\)")
    assert spelt.search("found=str(field.type)")
    foreign = {"arrow", "convert", "parquet_source.py"}
    assert hits(spelt, [m for m in MODULES if not foreign & set(m.parts)]) == []


def test_remedies_of_the_command_line_have_a_python_spelling_too() -> None:
    """An error in a program does not talk of flags; the command line itself may."""
    flag = re.compile(r"(^|[\s(`'])--[a-z]")
    found = []
    for path in MODULES:
        if {"cli", "codes", "demo"} & set(path.parts):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            said = {k.arg: ast.unparse(k.value) for k in node.keywords if k.arg} if isinstance(node, ast.Call) else {}
            if flag.search(said.get("remedy", "")) and "python_remedy" not in said and "`lakebed" not in said["remedy"]:
                found.append(f"{path.relative_to(REPOSITORY)}:{node.lineno}")
            assert not flag.search(said.get("python_remedy", "")), path
    assert found == []


def test_every_code_says_what_to_do() -> None:
    from lakebed.codes import register

    for code in register().values():
        texts = (code.title, code.why, code.example, code.remedy)
        assert all(text.strip() for text in texts), code.id
        assert [text for text in texts if text != code.example and text != " ".join(text.split())] == [], code.id


def test_the_register_is_sorted_and_each_code_is_in_the_file_of_its_thousand() -> None:
    from lakebed.codes import register

    files = sorted((SOURCE / "codes").glob("*.toml"))
    written = [re.findall(r"^\[(LB\d{4})\]$", path.read_text(encoding="utf-8"), re.MULTILINE) for path in files]
    assert len(files) == 7
    for path, codes in zip(files, written, strict=True):
        assert {code[:3] for code in codes} == {path.name.partition("_")[0]}
    assert list(register()) == sorted(register()) == [code for codes in written for code in codes]


def test_only_the_store_deletes_without_looking_at_links() -> None:
    """`lakebed.store.safe_delete.Inside` sees to it that no deletion leaves a directory through a link."""
    deletes = re.compile(
        r"[sS]tores?\)?\.(delete|delete_tree|remove_directory)\b|\b(shutil\.rmtree|os\.(unlink|remove|rmdir))\b"
    )
    assert deletes.search("self._store.delete_tree(path)")
    assert hits(deletes, [m for m in MODULES if m.parent.name != "store"]) == []


def test_an_error_of_one_problem_is_made_by_of() -> None:
    """`X.of(CODE, message, ...)`, not `X(Diagnostic(CODE, message, ...))`, so that errors are raised in one way."""

    def lone(tree: ast.AST) -> list[int]:
        found = []
        for node in ast.walk(tree):
            match node:
                case ast.Call(ast.Name(name), [ast.Call(ast.Name("Diagnostic"))], []) if name.endswith("Error"):
                    found.append(node.lineno)
        return found

    assert lone(ast.parse('raise AError(Diagnostic("LB1234", "x", path="y"))')) == [1]
    assert lone(ast.parse('raise AError.of("LB1234", "x")\nraise AError(*found, Diagnostic("LB1234", "x"))')) == []
    assert {path.name: lines for path in MODULES if (lines := lone(ast.parse(path.read_text(encoding="utf-8"))))} == {}
